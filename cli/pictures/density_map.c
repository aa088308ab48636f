/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each particle is spread by a quadratic B-spline as wide as the finest cells that hold a few
 * others: into that one of a pyramid of grids. A coarse grid of B-splines is exactly one of half
 * the cells (Chaikin 1974), so that the pyramid is summed from the top without a seam. O(n).
 */
#include "density_map.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    FINEST = 10, /* 2^10 cells a side */
    COARSEST = 4,
    FEW = 4 /* particles in a cell that is fine enough: 36 under a B-spline's 3 x 3 */
};

/** Grids of 2^level cells a side. */
typedef struct pyramid {
    int32_t *count[FINEST + 1];
    float *weight[FINEST + 1];
    bool wraps;
} pyramid;

static int64_t cells(int level)
{
    return (int64_t)1 << 2 * level;
}

/** A neighbour's index along an axis: round the corner, or the last again. */
static int beside(const pyramid *p, int i, int level)
{
    const int side = 1 << level;
    if (p->wraps) {
        return (i + side) % side;
    }
    return i < 0 ? 0 : i >= side ? side - 1 : i;
}

static bool is_inside(const float *uv)
{
    return uv[0] >= 0 && uv[0] < 1 && uv[1] >= 0 && uv[1] < 1;
}

static void count_particles(pyramid *p, const float *uv, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        if (is_inside(&uv[2 * k])) {
            const int i = (int)(uv[2 * k] * MAP_SIDE), j = (int)(uv[2 * k + 1] * MAP_SIDE);
            p->count[FINEST][j * MAP_SIDE + i]++;
        }
    }
    for (int level = FINEST; level > COARSEST; level--) {
        const int side = 1 << level;
        for (int j = 0; j < side; j++) {
            for (int i = 0; i < side; i++) {
                p->count[level - 1][(j / 2) * (side / 2) + i / 2] += p->count[level][j * side + i];
            }
        }
    }
}

/** Weights of a quadratic B-spline at x [cells] in the cells i - 1, i, i + 1. @return i. */
static int spline(double x, double w[3])
{
    const int i = (int)x;
    const double d = x - i - 0.5;
    w[0] = 0.5 * (0.5 - d) * (0.5 - d);
    w[1] = 0.75 - d * d;
    w[2] = 0.5 * (0.5 + d) * (0.5 + d);
    return i;
}

static void spread_particle(pyramid *p, const float *uv, float weight)
{
    int level = FINEST;
    double wx[3], wy[3];
    for (; level > COARSEST; level--) {
        const int side = 1 << level;
        if (p->count[level][(int)(uv[1] * (float)side) * side + (int)(uv[0] * (float)side)] >=
            FEW) {
            break;
        }
    }
    const int side = 1 << level;
    const int i = spline((double)uv[0] * side, wx), j = spline((double)uv[1] * side, wy);
    for (int b = 0; b < 3; b++) {
        for (int a = 0; a < 3; a++) {
            const int at = beside(p, j + b - 1, level) * side + beside(p, i + a - 1, level);
            p->weight[level][at] += (float)(weight * wx[a] * wy[b]);
        }
    }
}

/** Add a grid to the next finer one. */
static void refine(pyramid *p, int level)
{
    const int side = 1 << level;
    const float *coarse = p->weight[level];
    float *fine = p->weight[level + 1];
    for (int j = 0; j < 2 * side; j++) {
        const float *near = coarse + (ptrdiff_t)(j / 2) * side;
        const float *next = coarse + (ptrdiff_t)beside(p, j / 2 + (j % 2 ? 1 : -1), level) * side;
        for (int i = 0; i < 2 * side; i++) {
            const int k = i / 2, m = beside(p, k + (i % 2 ? 1 : -1), level);
            const float sum = 9 * near[k] + 3 * near[m] + 3 * next[k] + next[m];
            fine[j * 2 * side + i] += sum / 64; /* a quarter of the weight: cells are smaller */
        }
    }
}

float *density_map(const float *uv, const float *weights, int64_t n, bool wraps)
{
    pyramid p = {.wraps = wraps};
    bool room = true;
    for (int level = COARSEST; level <= FINEST; level++) {
        p.count[level] = calloc((size_t)cells(level), sizeof *p.count[level]);
        p.weight[level] = calloc((size_t)cells(level), sizeof *p.weight[level]);
        room = room && p.count[level] && p.weight[level];
    }
    if (room) {
        count_particles(&p, uv, n);
        for (int64_t k = 0; k < n; k++) {
            if (is_inside(&uv[2 * k])) {
                spread_particle(&p, &uv[2 * k], weights ? weights[k] : 1);
            }
        }
        for (int level = COARSEST; level < FINEST; level++) {
            refine(&p, level);
        }
    }
    float *map = p.weight[FINEST];
    for (int level = COARSEST; level <= FINEST; level++) {
        free(p.count[level]);
        if (level < FINEST || !room) {
            free(p.weight[level]);
        }
    }
    return room ? map : NULL;
}
