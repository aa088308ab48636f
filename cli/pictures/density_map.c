/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An adaptive density map. A pyramid of grids has cells of several sizes. Each particle is added
 * once, to the finest grid whose cell around it holds FEW particles: its weight is spread over
 * 3 x 3 cells by a quadratic B-spline. Then each grid, from the coarsest on, is added to the next
 * finer one. A sum of quadratic B-splines on a grid is exactly a sum of B-splines of half the
 * width on the grid of half the spacing (Chaikin's subdivision, 1974), so that grids join without
 * a seam. O(n + cells).
 */
#include "density_map.h"

#include <stddef.h>
#include <stdlib.h>

enum {
    FINEST = 10,  /* level of the finest grid: 2^10 = MAP_SIDE cells a side */
    COARSEST = 4, /* level of the coarsest grid: 2^4 cells a side */
    FEW = 4       /* least particles in a cell that is fine enough: some 36 under a B-spline */
};

/** Grids of 2^level cells a side, for levels COARSEST to FINEST; v is the slower index. */
struct density_map {
    int32_t *count[FINEST + 1]; /**< [level][cells] particles in each cell */
    float *weight[FINEST + 1];  /**< [level][cells] weights that are spread at this level */
    bool wraps;                 /**< the grids are periodic */
    bool counted;               /**< all particles are counted, also in the coarser grids */
};

/** Return the number of cells of a grid. */
static int64_t cells(int level)
{
    return (int64_t)1 << 2 * level;
}

/** Return the index of a cell along an axis, for i from -1 to side: wrapped if the grid is
 *  periodic, else clamped, so that weight is not lost at the border. */
static int beside(const density_map *p, int i, int level)
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

/** Count the particles of the coarser grids, from those of the finest one. */
static void count_coarse(density_map *p)
{
    for (int level = FINEST; level > COARSEST; level--) {
        const int side = 1 << level;
        for (int j = 0; j < side; j++) {
            for (int i = 0; i < side; i++) {
                p->count[level - 1][(j / 2) * (side / 2) + i / 2] += p->count[level][j * side + i];
            }
        }
    }
}

/** Compute the weights of a quadratic B-spline at x [cells] in the cells i - 1, i and i + 1.
 *  @return i, the cell of x */
static int spline(double x, double w[3])
{
    const int i = (int)x;
    const double d = x - i - 0.5;
    w[0] = 0.5 * (0.5 - d) * (0.5 - d);
    w[1] = 0.75 - d * d;
    w[2] = 0.5 * (0.5 + d) * (0.5 + d);
    return i;
}

/** Add a particle at uv to one grid: the finest one with FEW particles in its cell. */
static void spread_particle(density_map *p, const float *uv, float weight)
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

/** Add a grid to the next finer one. A fine cell takes 9, 3, 3 and 1 sixteenths of the nearest four
 *  coarse cells (Chaikin's weights 3/4 and 1/4 along each axis). */
static void refine(density_map *p, int level)
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
            fine[j * 2 * side + i] += sum / 64; /* 1/16, and 1/4: a coarse cell has 4 fine ones */
        }
    }
}

density_map *density_map_begin(bool wraps)
{
    density_map *p = calloc(1, sizeof *p);
    bool room = p != NULL;
    for (int level = COARSEST; level <= FINEST && p; level++) {
        p->count[level] = calloc((size_t)cells(level), sizeof *p->count[level]);
        p->weight[level] = calloc((size_t)cells(level), sizeof *p->weight[level]);
        room = room && p->count[level] && p->weight[level];
    }
    if (!room && p) {
        free(density_map_end(p));
        return NULL;
    }
    if (p) {
        p->wraps = wraps;
    }
    return p;
}

void density_map_count(density_map *p, const float *uv, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        if (is_inside(&uv[2 * k])) {
            const int i = (int)(uv[2 * k] * MAP_SIDE), j = (int)(uv[2 * k + 1] * MAP_SIDE);
            p->count[FINEST][j * MAP_SIDE + i]++;
        }
    }
}

void density_map_add(density_map *p, const float *uv, const float *weights, int64_t n)
{
    if (!p->counted) {
        count_coarse(p);
        p->counted = true;
    }
    for (int64_t k = 0; k < n; k++) {
        if (is_inside(&uv[2 * k])) {
            spread_particle(p, &uv[2 * k], weights ? weights[k] : 1);
        }
    }
}

float *density_map_end(density_map *p)
{
    float *map = p->weight[FINEST];
    for (int level = COARSEST; level < FINEST && p->counted; level++) {
        refine(p, level);
    }
    for (int level = COARSEST; level <= FINEST; level++) {
        free(p->count[level]);
        if (level < FINEST) {
            free(p->weight[level]);
        }
    }
    free(p);
    return map;
}
