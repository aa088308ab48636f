/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: list the candidates, then compact, the way of data-parallel primitives (sort, scan,
 * transform, compact), where each step is one call of a library such as Thrust:
 *
 *   sort      points by cell, so that a cell is a range of points that lie together in memory;
 *   scan      how many candidates each point has: the points after it in its own cell and all
 *             those of the 13 cells ahead, so that each pair is met once;
 *   transform write every candidate (i, j) with a flag, 1 within the cutoff;
 *   compact   keep what is flagged.
 *
 * Points lie together and each pair is met once. The price is memory: a sphere fills 4 pi / 3 of
 * the 27 cubes around it, so 27 / (4 pi / 3) = 6.45 candidates are written for each pair kept.
 */
#include "rung.h"

#include <stdlib.h>
#include <string.h>

typedef struct sorted_points {
    rung_grid grid;
    int64_t *start; /* [cells + 1]: cell c holds the points start[c] to start[c + 1] - 1 */
    int32_t *id;    /* [n]: where a point came from */
    double *xyz;    /* [n][3] */
} sorted_points;

typedef struct candidates {
    int64_t n;
    int64_t *offset; /* [points]: where the candidates of a point begin */
    int32_t *i, *j;  /* [n] */
    uint8_t *flag;   /* [n]: 1 within the cutoff */
} candidates;

/* A counting sort: count, scan, and deal the points out. Dealing moves start[c] to where the cell
 * ends, which is where the next one begins, hence the shift by one. */
static void sort_points(const rung_input *in, sorted_points *sorted)
{
    const rung_grid *const grid = &sorted->grid;
    int64_t *const start = sorted->start;
    memset(start, 0, (size_t)(grid->cells + 1) * sizeof *start);
    for (int64_t p = 0; p < in->n; p++) {
        start[rung_grid_number(grid, in->xyz + 3 * p) + 1]++;
    }
    for (int64_t c = 0; c < grid->cells; c++) {
        start[c + 1] += start[c];
    }
    for (int64_t p = 0; p < in->n; p++) {
        const int64_t to = start[rung_grid_number(grid, in->xyz + 3 * p)]++;
        sorted->id[to] = (int32_t)p;
        memcpy(sorted->xyz + 3 * to, in->xyz + 3 * p, 3 * sizeof *in->xyz);
    }
    memmove(start + 1, start, (size_t)grid->cells * sizeof *start);
    start[0] = 0;
}

/* The ranges of points ahead of point p, itself left out. */
static int ranges_ahead(const sorted_points *sorted, int64_t p, int64_t from[14], int64_t to[14])
{
    int32_t cell[3];
    int n = 0;
    rung_grid_find(&sorted->grid, sorted->xyz + 3 * p, cell);
    for (int step = 13; step < 27; step++) {
        const int64_t c = rung_grid_step(&sorted->grid, cell, step);
        if (c < 0) {
            continue;
        }
        from[n] = step == 13 ? p + 1 : sorted->start[c];
        to[n++] = sorted->start[c + 1];
    }
    return n;
}

static void scan_candidates(const sorted_points *sorted, int64_t n, candidates *all)
{
    int64_t from[14], to[14];
    all->n = 0;
    for (int64_t p = 0; p < n; p++) {
        all->offset[p] = all->n;
        const int ranges = ranges_ahead(sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            all->n += to[r] - from[r];
        }
    }
}

static void write_candidates(const sorted_points *sorted, int64_t n, double cutoff, candidates *all)
{
    int64_t from[14], to[14];
    for (int64_t p = 0; p < n; p++) {
        int64_t c = all->offset[p];
        const int ranges = ranges_ahead(sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            for (int64_t q = from[r]; q < to[r]; q++, c++) {
                all->i[c] = sorted->id[p];
                all->j[c] = sorted->id[q];
                all->flag[c] = rung_is_pair(sorted->xyz + 3 * p, sorted->xyz + 3 * q, cutoff);
            }
        }
    }
}

static bool compact(const candidates *all, kith_pairs *list)
{
    int64_t kept = 0;
    for (int64_t c = 0; c < all->n; c++) {
        kept += all->flag[c];
    }
    if (!rung_reserve(list, kept)) {
        return false;
    }
    for (int64_t c = 0; c < all->n; c++) {
        if (all->flag[c] && !rung_append(list, all->i[c], all->j[c])) {
            return false;
        }
    }
    return true;
}

bool rung_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    const size_t n = (size_t)in->n + 1;
    sorted_points sorted = {.grid = rung_grid_over(in)};
    candidates all = {0};
    list->n = 0;
    sorted.start = malloc((size_t)(sorted.grid.cells + 1) * sizeof *sorted.start);
    sorted.id = calloc(n, sizeof *sorted.id);
    sorted.xyz = malloc(n * 3 * sizeof *sorted.xyz);
    all.offset = malloc(n * sizeof *all.offset);
    bool ok = sorted.start && sorted.id && sorted.xyz && all.offset;
    if (ok) {
        sort_points(in, &sorted);
        scan_candidates(&sorted, in->n, &all);
        all.i = calloc((size_t)all.n + 1, 2 * sizeof *all.i + sizeof *all.flag);
        ok = all.i;
    }
    if (ok) {
        all.j = all.i + all.n;
        all.flag = (uint8_t *)(all.j + all.n);
        write_candidates(&sorted, in->n, in->cutoff, &all);
        ok = compact(&all, list);
    }
    *scratch = sorted.grid.cells * (int64_t)sizeof *sorted.start +
               in->n * (int64_t)(sizeof *sorted.id + 3 * sizeof *sorted.xyz + sizeof *all.offset) +
               all.n * (int64_t)(2 * sizeof *all.i + sizeof *all.flag);
    free(sorted.start);
    free(sorted.id);
    free(sorted.xyz);
    free(all.offset);
    free(all.i);
    return ok;
}
