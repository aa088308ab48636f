/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of points: a fixed random choice of particles, in 8, 10 or 16 bytes each, as web_points
 * in web.h describes them. Host byte order is written: the machines are little-endian.
 */
#include "web.h"

#include <pool.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Apply a pseudo-random permutation of the integers below 2^bits. Each step is invertible modulo
 *  2^bits: a product with an odd number (2^64 divided by the golden ratio), a sum, an xor with the
 *  upper half. */
static uint64_t scatter(uint64_t k, int bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int half = bits / 2 + 1;
    for (int round = 0; round < 3; round++) {
        k = (k * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)round) & mask;
        k ^= k >> half;
    }
    return k;
}

bool web_choose(web_choice *choice, int64_t n, int64_t most)
{
    const int64_t chosen = n < most ? n : most;
    if (choice->of == n && choice->n >= chosen) {
        return true;
    }
    int32_t *index = realloc(choice->index, (size_t)(chosen + 1) * sizeof *index);
    if (!index) {
        return false;
    }
    int bits = 2;
    while (INT64_C(1) << bits < n) {
        bits++;
    }
    *choice = (web_choice){.of = n, .n = chosen, .index = index};
    int64_t found = 0;
    for (uint64_t k = 0; found < chosen; k++) {
        const uint64_t p = scatter(k, bits);
        if (p < (uint64_t)n) {
            index[found++] = (int32_t)p;
        }
    }
    return true;
}

void web_choice_free(web_choice *choice)
{
    free(choice->index);
    *choice = (web_choice){0};
}

/** Return element k of an array of either precision. */
static double element(const void *array, kith_precision precision, int64_t k)
{
    return precision == KITH_FLOAT ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/** Copy the vector of particle p from an array [n][3]. */
static void get(const void *array, kith_precision precision, int64_t p, double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = element(array, precision, 3 * p + k);
    }
}

/** Compute the rows of the inverse of the box: fraction k of r is inverse[k] . (r - origin). In 2-D
 *  the third row is taken as z. */
static void invert(const kith_box *box, double inverse[3][3])
{
    double row[3][3];
    memcpy(row, box->row, sizeof row);
    if (box->dim == 2) {
        memcpy(row[2], (double[3]){0, 0, 1}, sizeof row[2]);
    }
    double volume = 0;
    for (int k = 0; k < 3; k++) {
        const double *b = row[(k + 1) % 3], *c = row[(k + 2) % 3];
        for (int e = 0; e < 3; e++) {
            const int f = (e + 1) % 3, g = (e + 2) % 3;
            inverse[k][e] = b[f] * c[g] - b[g] * c[f];
        }
        volume = row[k][0] * inverse[k][0] + row[k][1] * inverse[k][1] + row[k][2] * inverse[k][2];
    }
    for (int k = 0; k < 3; k++) {
        for (int e = 0; e < 3; e++) {
            inverse[k][e] /= volume;
        }
    }
}

void web_enclose(kith_box *box, const web_scene *scene)
{
    static const double margin = 0.02, least = 1e-30; /* widening: relative, so that the box is not
                                                          widened at every step; absolute */
    for (int k = 0; k < box->dim; k++) {
        if (box->periodic[k] && box->row[k][k] != 0) {
            continue;
        }
        double low = box->origin[k], high = low + box->row[k][k];
        bool any = box->row[k][k] > 0, grown = false;
        for (int64_t p = 0; p < scene->n; p++) {
            const double x = element(scene->positions, scene->precision, 3 * p + k);
            if (isfinite(x) && (!any || x < low || x > high)) {
                low = !any || x < low ? x : low;
                high = !any || x > high ? x : high;
                any = grown = true;
            }
        }
        if (grown) {
            const double wider = margin * (high - low) + least;
            box->origin[k] = low - wider;
            memset(box->row[k], 0, sizeof box->row[k]);
            box->row[k][k] = high - low + 2 * wider;
        }
    }
}

/** Return the octahedral map of a direction (Meyer et al. 2010, CGF 29, 1405): the direction is
 *  projected to the octahedron |x| + |y| + |z| = 1, whose lower half is folded outwards; then x and
 *  y fill a square, a byte each. 0: no direction. All four corners of the square are the direction
 *  -z, which is therefore stored as the corner 65535, never as 0. */
static uint16_t pack_direction(const double v[3])
{
    static const double middle = 127.5;
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    if (!(size > 0) || !isfinite(size)) {
        return 0;
    }
    double x = v[0] / size, y = v[1] / size;
    if (v[2] < 0) {
        const double folded = copysign(1 - fabs(y), x);
        y = copysign(1 - fabs(x), y);
        x = folded;
    }
    const unsigned low = (unsigned)(x * middle + middle + 0.5);
    const unsigned packed = low | (unsigned)(y * middle + middle + 0.5) << 8;
    return (uint16_t)(packed > 0 ? packed : UINT16_MAX);
}

/** Return the packed direction of the velocity of particle p. */
static uint16_t direction_of(const web_scene *scene, int64_t p)
{
    double v[3];
    get(scene->velocities, scene->precision, p, v);
    return pack_direction(v);
}

/** Return the colour of particle p as a message has it, see web_points. */
static uint16_t colour_of(const web_scene *scene, int64_t p)
{
    static const double most = 65535;
    double v[3];
    if (scene->colour == WEB_MASS || scene->colour == WEB_SPECIES) {
        return scene->shades[p];
    }
    if (scene->colour == WEB_GROUP) {
        const int32_t label = scene->labels[p];
        return (uint16_t)(label > 0 ? 1 + (label - 1) % UINT16_MAX : 0);
    }
    if (scene->colour == WEB_PLAIN) {
        return 0;
    }
    if (scene->colour == WEB_HEADING) {
        return direction_of(scene, p);
    }
    get(scene->velocities, scene->precision, p, v);
    const double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    const double t = (speed - scene->range[0]) / (scene->range[1] - scene->range[0]);
    return (uint16_t)(t > 0 ? (t < 1 ? t * most : most) : 0);
}

/** Compute the position of a particle as fractions of the rows of the box, 0 to 1: wrapped along
 *  periodic axes, clamped along open ones. */
static void fractions(const web_scene *scene, double inverse[3][3], int64_t p, double f[3])
{
    double r[3];
    get(scene->positions, scene->precision, p, r);
    for (int k = 0; k < 3; k++) {
        double x = 0;
        for (int e = 0; e < (scene->box.dim == 2 ? 2 : 3); e++) {
            x += inverse[k][e] * (r[e] - scene->box.origin[e]);
        }
        x -= scene->box.periodic[k] ? floor(x) : 0;
        f[k] = k < scene->box.dim && x > 0 ? (x < 1 ? x : 1) : 0;
    }
}

/** Choose the form of points: precise scenes have 16 bytes; else 10 where a direction is known and
 *  not the colour itself, and the points are few enough to be drawn as bodies; else 8.
 *  @param[out] direction  offset of the direction in a point [byte]; 0: it has none
 *  @return the size of a point [byte] */
static size_t layout(const web_scene *scene, int64_t n, uint32_t *direction)
{
    enum { FEW_COLOUR = 6, BODY_DIRECTION = 8, MANY_DIRECTION = 14 };
    const bool moving = scene->velocities != NULL;
    if (scene->precise) {
        *direction = moving ? MANY_DIRECTION : 0;
        return WEB_MANY_BYTES;
    }
    if (moving && scene->colour != WEB_HEADING && scene->colour != WEB_PLAIN &&
        n <= WEB_MOST_BODIES) {
        *direction = BODY_DIRECTION;
        return WEB_BODY_BYTES;
    }
    *direction = scene->colour == WEB_HEADING ? FEW_COLOUR : 0;
    return WEB_FEW_BYTES;
}

/** Write the point of particle p. @param directed  the direction follows the colour */
static void put_point(const web_scene *scene, double inverse[3][3], int64_t p, bool directed,
                      unsigned char *at)
{
    static const double steps = 65536;
    double f[3];
    fractions(scene, inverse, p, f);
    const uint16_t colour = colour_of(scene, p);
    const uint16_t direction = directed ? direction_of(scene, p) : 0;
    if (scene->precise) {
        const float x[3] = {(float)f[0], (float)f[1], (float)f[2]};
        const uint16_t last[2] = {colour, direction};
        memcpy(at, x, sizeof x);
        memcpy(at + sizeof x, last, sizeof last);
        return;
    }
    uint16_t x[5] = {0, 0, 0, colour, direction};
    for (int k = 0; k < 3; k++) {
        const double whole = f[k] * steps;
        x[k] = (uint16_t)(whole < UINT16_MAX ? whole : UINT16_MAX);
    }
    memcpy(at, x, directed ? WEB_BODY_BYTES : WEB_FEW_BYTES);
}

/** Write the head of a message. @param item  size of a point [byte]. @param direction  see
 *  layout */
static void put_head(const web_scene *scene, uint32_t item, uint32_t direction, unsigned char *at)
{
    const kith_box *box = &scene->box;
    const double first[3] = {scene->step, scene->time,
                             (double)(scene->all > 0 ? scene->all : scene->n)};
    const uint32_t kinds[2] = {item, scene->colour};
    const float range[2] = {(float)scene->range[0], (float)scene->range[1]};
    uint32_t axes[2] = {(uint32_t)box->dim, 0};
    float space[12] = {0};
    const uint32_t last[4] = {scene->frame, scene->epoch, direction, 0};
    for (int k = 0; k < 3; k++) {
        axes[1] |= (uint32_t)(box->periodic[k] != 0) << k;
        space[k] = (float)box->origin[k];
        for (int e = 0; e < 3; e++) {
            space[3 + 3 * k + e] = (float)box->row[k][e];
        }
    }
    memcpy(at, first, sizeof first);
    memcpy(at + 24, kinds, sizeof kinds);
    memcpy(at + 32, range, sizeof range);
    memcpy(at + 40, axes, sizeof axes);
    memcpy(at + 48, space, sizeof space);
    memcpy(at + 96, last, sizeof last);
}

/** State of the parallel loop over the points of a message. */
struct point_loop {
    const web_scene *scene;   /**< the particles */
    const web_choice *choice; /**< the chosen particles; NULL: all of the arrays */
    double inverse[3][3];     /**< rows of the inverse of the box [1 / length] */
    unsigned char *points;    /**< first byte of the points in the message */
    size_t item;              /**< size of a point [byte] */
    bool directed;            /**< directions follow the colours */
};

/** Write the points [begin, end) of the message. */
static void put_points(void *state, int64_t begin, int64_t end)
{
    struct point_loop *loop = state;
    for (int64_t k = begin; k < end; k++) {
        put_point(loop->scene, loop->inverse, loop->choice ? loop->choice->index[k] : k,
                  loop->directed, loop->points + loop->item * (size_t)k);
    }
}

web_blob *web_points(web_server *server, const web_scene *scene, const web_choice *choice,
                     int64_t n)
{
    const int64_t most = choice ? choice->n : scene->n;
    const int64_t shown = n < most ? n : most;
    uint32_t direction;
    const size_t item = layout(scene, shown, &direction);
    web_blob *blob = web_blob_new(server, WEB_POINTS, WEB_POINTS_HEAD + item * (size_t)shown);
    if (!blob) {
        return NULL;
    }
    blob->head = WEB_POINTS_HEAD;
    blob->item = item;
    put_head(scene, (uint32_t)item, direction, blob->data);
    enum { GRAIN = 1024 };
    struct point_loop loop = {.scene = scene,
                              .choice = choice,
                              .points = blob->data + WEB_POINTS_HEAD,
                              .item = item,
                              .directed = direction > 0 && item != WEB_FEW_BYTES};
    invert(&scene->box, loop.inverse);
    kith__pool_for(scene->pool, kith__pool_threads(scene->pool), shown, GRAIN, put_points, &loop);
    return blob;
}
