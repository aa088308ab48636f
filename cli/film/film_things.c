/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Obstacles of a flock in films: their images in the box, and the particles that they hide. A
 * particle is hidden when the line from the eye to it intersects a sphere before it. Cost:
 * O(particles spheres).
 */
#include "film_internal.h"
#include "common/box.h"

#include <math.h>
#include <string.h>

/** Return true when a sphere may reach into the box. Along axes without a shift it is not tested:
 *  the sphere itself is always listed.
 *  @param place  its centre, the shift included
 *  @param shift  number of rows by which it was moved along each axis */
static bool reaches(const stage *s, const double place[3], double radius, const int shift[3])
{
    for (int k = 0; k < s->box.dim; k++) {
        const double *column = s->inverse[k];
        const double at = column[0] * place[0] + column[1] * place[1] + column[2] * place[2];
        const double part = radius * box_vector_length(column);
        if (shift[k] != 0 && (at < -0.5 - part || at > 0.5 + part)) {
            return false;
        }
    }
    return true;
}

int things_spheres(const picture *shown, film_sphere out[FILM_SPHERES])
{
    const stage *s = &shown->stage;
    int n = 0;
    for (int64_t t = 0; t < shown->n_things; t++) {
        const kith_flock_thing *thing = &shown->things[t];
        for (int image = 0; image < 27 && thing->kind == KITH_SPHERE; image++) {
            const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
            double place[3];
            bool exists = n < FILM_SPHERES;
            memcpy(place, thing->place, sizeof place);
            for (int k = 0; k < 3; k++) {
                exists = exists &&
                         (shift[k] == 0 || (s->wraps && k < s->box.dim && s->box.periodic[k]));
                for (int a = 0; a < 3; a++) {
                    place[a] += shift[k] * s->box.row[k][a];
                }
            }
            if (exists && reaches(s, place, thing->radius, shift)) {
                for (int a = 0; a < 3; a++) {
                    out[n].centre[a] = (float)place[a];
                }
                out[n++].radius = (float)thing->radius;
            }
        }
    }
    return n;
}

/** Sort the corners of a convex polygon by their angle around its middle. The angle is measured in
 *  the polygon's plane, from u, a vector to the first corner, to v = normal x u. v is |normal|
 *  times as long as u, so x is scaled by |normal| too. */
static void sort_corners(int n, float corner[FILM_CORNERS][3], const double normal[3])
{
    double middle[3] = {0}, angle[FILM_CORNERS];
    double u[3] = {0};
    for (int k = 0; k < 3 * n; k++) {
        middle[k % 3] += (double)corner[k / 3][k % 3] / n;
    }
    for (int a = 0; a < 3; a++) {
        u[a] = (double)corner[0][a] - middle[a];
    }
    const double v[3] = {normal[1] * u[2] - normal[2] * u[1], normal[2] * u[0] - normal[0] * u[2],
                         normal[0] * u[1] - normal[1] * u[0]};
    for (int k = 0; k < n; k++) {
        double x = 0, y = 0;
        for (int a = 0; a < 3; a++) {
            x += ((double)corner[k][a] - middle[a]) * u[a];
            y += ((double)corner[k][a] - middle[a]) * v[a];
        }
        const double own = atan2(y, x * box_vector_length(normal));
        float moved[3];
        memcpy(moved, corner[k], sizeof moved);
        int at = k;
        for (; at > 0 && angle[at - 1] > own; at--) {
            angle[at] = angle[at - 1];
            memcpy(corner[at], corner[at - 1], sizeof moved);
        }
        angle[at] = own;
        memcpy(corner[at], moved, sizeof moved);
    }
}

int things_wall(const stage *s, const kith_flock_thing *wall, float corner[FILM_CORNERS][3])
{
    const int corners = 1 << s->box.dim;
    float at[8][3];
    const double edge = 1e-4 * box_vector_length(wall->normal) * box_half_height(&s->box);
    double above[8]; /* distance of each corner above the wall's plane, times |normal| */
    int n = 0;
    for (int k = 0; k < corners; k++) {
        camera_corner(&s->box, k, at[k]);
        above[k] = -edge; /* moves the plane inwards a little: a wall on a face is drawn, too */
        for (int a = 0; a < 3; a++) {
            above[k] += wall->normal[a] * ((double)at[k][a] - wall->place[a]);
        }
    }
    for (int k = 0; k < corners; k++) {
        for (int bit = 1; bit < corners; bit <<= 1) { /* edges of the box from corner k */
            const int other = k | bit;
            if (other != k && (above[k] < 0) != (above[other] < 0) && n < FILM_CORNERS) {
                const double t = above[k] / (above[k] - above[other]);
                for (int a = 0; a < 3; a++) {
                    corner[n][a] = (float)((1 - t) * (double)at[k][a] + t * (double)at[other][a]);
                }
                n++;
            }
        }
    }
    if (n > 2) {
        sort_corners(n, corner, wall->normal);
    }
    return n;
}

/** Shared state of the parallel loop that hides particles. */
struct hide_loop {
    float *pos;                /**< [n][3] positions; x of a hidden particle becomes NaN */
    float eye[3];              /**< position of the eye */
    const film_sphere *sphere; /**< [spheres] spheres and their images */
    int spheres;               /**< number of spheres */
};

/** Return true when the line from the eye to r intersects a sphere before r: the smaller root t of
 *  |t (r - eye) - (centre - eye)|^2 = radius^2 is below 0.999. A particle on the sphere is
 *  visible. */
static bool is_behind(const struct hide_loop *loop, const film_sphere *s, const float r[3])
{
    float way[3], from[3], length = 0, along = 0, apart = 0; /* length and apart are squares */
    for (int a = 0; a < 3; a++) {
        way[a] = r[a] - loop->eye[a];
        from[a] = s->centre[a] - loop->eye[a];
        length += way[a] * way[a];
        along += way[a] * from[a];
        apart += from[a] * from[a];
    }
    const float root = along * along - length * (apart - s->radius * s->radius);
    return root > 0 && along > 0 && along - sqrtf(root) < length * 0.999F;
}

static void hide_range(void *state, int64_t begin, int64_t end)
{
    const struct hide_loop *loop = state;
    for (int64_t k = begin; k < end; k++) {
        for (int t = 0; t < loop->spheres; t++) {
            if (is_behind(loop, &loop->sphere[t], &loop->pos[3 * k])) {
                loop->pos[3 * k] = NAN;
                break;
            }
        }
    }
}

void things_hide(picture *shown, const camera *c, struct kith__pool *pool)
{
    enum { GRAIN = 1024 };
    film_sphere sphere[FILM_SPHERES];
    struct hide_loop loop = {shown->pos, {0}, sphere, things_spheres(shown, sphere)};
    for (int a = 0; a < 3 && c->near > 0; a++) {
        loop.eye[a] = c->centre[a] - c->row[2][a] / c->near;
    }
    if (loop.spheres > 0 && c->near > 0) { /* else 2-D: no particle is behind a sphere */
        kith__pool_for(pool, kith__pool_threads(pool), shown->n, GRAIN, hide_range, &loop);
    }
}
