/* SPDX-License-Identifier: BSD-3-Clause */
#include "points.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t rng_bits(rng *r)
{
    return random_bits(r);
}

double rng_uniform(rng *r, double lo, double hi)
{
    return lo + (hi - lo) * random_unit(r);
}

int64_t rng_below(rng *r, int64_t n)
{
    return (int64_t)(rng_bits(r) % (uint64_t)n);
}

double rng_normal(rng *r)
{
    const double radius = sqrt(-2.0 * log(1.0 - rng_uniform(r, 0.0, 1.0)));
    return radius * cos(6.283185307179586 * rng_uniform(r, 0.0, 1.0));
}

static double *points_new(int64_t n)
{
    return check_malloc((size_t)n * 3 * sizeof(double));
}

double *points_uniform(rng *r, int64_t n, const double lo[3], const double hi[3])
{
    double *xyz = points_new(n);
    for (int64_t p = 0; p < n; p++)
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] = rng_uniform(r, lo[k], hi[k]);
    return xyz;
}

double *points_in_box(rng *r, int64_t n, const kith_box *box)
{
    double *xyz = points_new(n);
    for (int64_t p = 0; p < n; p++) {
        memcpy(&xyz[3 * p], box->origin, 3 * sizeof(double));
        for (int axis = 0; axis < 3; axis++) {
            const double f = rng_uniform(r, 0.0, 1.0);
            for (int k = 0; k < 3; k++)
                xyz[3 * p + k] += f * box->row[axis][k];
        }
    }
    return xyz;
}

double *points_clustered(rng *r, int64_t n, int clusters, double side, double width)
{
    const double lo[3] = {0.0, 0.0, 0.0}, hi[3] = {side, side, side};
    double *centres = points_uniform(r, clusters, lo, hi);
    double *xyz = points_new(n);
    for (int64_t p = 0; p < n; p++) {
        const int64_t cluster = rng_below(r, clusters);
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] = centres[3 * cluster + k] + width * rng_normal(r);
    }
    free(centres);
    return xyz;
}

double *points_lattice(lattice kind, int cells, double a)
{
    /* In halves of a cell: the first kind entries of its list. */
    static const int bcc[2][3] = {{0, 0, 0}, {1, 1, 1}};
    static const int fcc[4][3] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
    const int(*basis)[3] = kind == LATTICE_FCC ? fcc : bcc;
    double *xyz = points_new((int64_t)kind * cells * cells * cells);
    double *next = xyz;
    for (int c = 0; c < cells * cells * cells; c++) {
        const int cell[3] = {c % cells, c / cells % cells, c / cells / cells};
        for (int s = 0; s < (int)kind; s++)
            for (int k = 0; k < 3; k++)
                *next++ = (cell[k] + 0.5 * basis[s][k]) * a;
    }
    return xyz;
}

void points_drift(rng *r, double *xyz, int64_t n, const kith_box *box, int most)
{
    for (int64_t p = 0; p < n; p++)
        for (int axis = 0; axis < box->dim; axis++) {
            const double times = (double)(rng_below(r, 2 * most + 1) - most);
            for (int k = 0; k < 3 && box->periodic[axis]; k++)
                xyz[3 * p + k] += times * box->row[axis][k];
        }
}

double *points_copy(const double *xyz, int64_t n)
{
    return memcpy(points_new(n), xyz, (size_t)n * 3 * sizeof(double));
}

static void set_element(void *array, int64_t index, kith_precision precision, double value)
{
    if (precision == KITH_FLOAT)
        ((float *)array)[index] = (float)value;
    else
        ((double *)array)[index] = value;
}

stored stored_make(const double *xyz, int64_t n, kith_precision precision, layout how)
{
    static const int64_t strides[LAYOUTS] = {3, 1, 7};
    /* Offsets of x, y, z in elements: z comes before x in the strided layout. */
    const int64_t offsets[LAYOUTS][3] = {{0, 1, 2}, {0, n, 2 * n}, {4, 6, 1}};
    const int64_t elements = 7 * n + 7;
    const size_t size = (size_t)precision;

    stored s = {.memory = check_malloc((size_t)elements * size)};
    for (int64_t e = 0; e < elements; e++)
        set_element(s.memory, e, precision, (double)NAN);
    char *at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (char *)s.memory + (size_t)offsets[how][k] * size;
        for (int64_t p = 0; p < n; p++)
            set_element(at[k], p * strides[how], precision, xyz[3 * p + k]);
    }
    s.points = (kith_points){.n = n,
                             .x = at[0],
                             .y = at[1],
                             .z = at[2],
                             .stride = strides[how],
                             .precision = precision,
                             .memory = KITH_HOST};
    return s;
}

void stored_free(stored *s)
{
    free(s->memory);
    s->memory = NULL;
}

double points_get(const kith_points *points, int64_t p, int k)
{
    const void *const arrays[3] = {points->x, points->y, points->z};
    if (points->precision == KITH_FLOAT)
        return (double)((const float *)arrays[k])[p * points->stride];
    return ((const double *)arrays[k])[p * points->stride];
}
