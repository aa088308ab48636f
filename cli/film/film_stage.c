/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Converts coordinates of a file or a run to those of a film: floats, wrapped into the box, with
 * the origin in the middle of the box, or of the box around the particles of the first frame.
 */
#include "film_internal.h"
#include "common/box.h"

#include <math.h>

/** Return an orthorhombic open box around all particles, with a margin of 2 % on each side. Along
 *  an axis on which they do not differ its side is 1. */
static kith_box box_around(const io_particles *p)
{
    kith_box box = {.dim = p->dim};
    for (int a = 0; a < p->dim; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t k = 0; k < p->n; k++) {
            const double x = io_real(p->pos, 3 * k + a, p->precision);
            low = fmin(low, x);
            high = fmax(high, x);
        }
        const bool any = high > low && isfinite(high - low);
        box.row[a][a] = any ? 1.04 * (high - low) : 1;
        box.origin[a] = any ? low - 0.02 * (high - low) : (isfinite(low) ? low : 0) - 0.5;
    }
    return box;
}

stage stage_of(const kith_box *box, const io_particles *particles)
{
    stage s = {.box = *box};
    /* b x c, c x a, a x b: the inverse, but for the volume */
    const double volume = box_normals(box, s.inverse);
    for (int k = 0; k < 9; k++) {
        s.inverse[k / 3][k % 3] /= volume;
    }
    s.wraps = volume != 0 && isfinite(volume);
    if (!s.wraps) {
        s.box = box_around(particles);
    }
    for (int a = 0; a < 3; a++) {
        double half = 0;
        for (int k = 0; k < s.box.dim; k++) {
            half += s.box.row[k][a] / 2;
        }
        s.middle[a] = s.box.origin[a] + half;
        s.box.origin[a] = -half;
    }
    return s;
}

/** Shared state of the parallel loop that copies positions. */
struct place_loop {
    const stage *stage;            /* space of the film */
    const io_particles *particles; /* particles in coordinates of the file or run */
    float *out;                    /* [n][3] receives the positions */
};

/** Copy the positions of particles [begin, end). A position is moved by whole rows, one axis after
 *  the other, so that its coordinate along each periodic axis is within -1/2 and 1/2 of the row. */
static void place_range(void *state, int64_t begin, int64_t end)
{
    const struct place_loop *loop = state;
    const stage *s = loop->stage;
    const io_particles *particles = loop->particles;
    const kith_box *box = &s->box;
    for (int64_t k = begin; k < end; k++) {
        double r[3];
        for (int a = 0; a < 3; a++) {
            const double x = io_real(particles->pos, 3 * k + a, particles->precision);
            r[a] = a < box->dim ? x - s->middle[a] : 0;
        }
        for (int b = 0; s->wraps && b < box->dim; b++) {
            const double *column = s->inverse[b];
            const double boxes = floor(column[0] * r[0] + column[1] * r[1] + column[2] * r[2] +
                                       0.5);
            for (int a = 0; box->periodic[b] && a < 3; a++) {
                r[a] -= boxes * box->row[b][a];
            }
        }
        for (int a = 0; a < 3; a++) {
            loop->out[3 * k + a] = (float)r[a];
        }
    }
}

void stage_place(const stage *s, const io_particles *particles, struct kith__pool *pool, float *out)
{
    enum { GRAIN = 1024 };
    struct place_loop loop = {s, particles, out};
    kith__pool_for(pool, kith__pool_threads(pool), particles->n, GRAIN, place_range, &loop);
}
