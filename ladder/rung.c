/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that the rungs share: a list of pairs that grows, and a grid of cells over the points.
 */
#include "rung.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool rung_reserve(kith_pairs *list, int64_t pairs)
{
    if (pairs <= list->capacity) {
        return true;
    }
    int32_t *i = realloc(list->i, (size_t)pairs * sizeof *i);
    if (i) {
        list->i = i;
    }
    int32_t *j = realloc(list->j, (size_t)pairs * sizeof *j);
    if (j) {
        list->j = j;
    }
    if (!i || !j) {
        return false;
    }
    list->capacity = pairs;
    return true;
}

void rung_free(kith_pairs *list)
{
    if (list->owner) {
        kith_pairs_free(list);
        return;
    }
    free(list->i);
    free(list->j);
    memset(list, 0, sizeof *list);
}

/* The margin of 1e-9 is far above the rounding of a cell number, so that two points within the
 * cutoff are never two cells apart. */
rung_grid rung_grid_over(const rung_input *in)
{
    rung_grid grid = {.cells = 1};
    const double most = 2 * cbrt((double)in->n) + 1;
    for (int k = 0; k < 3; k++) {
        double low = in->n ? in->xyz[k] : 0, high = low;
        for (int64_t p = 1; p < in->n; p++) {
            low = fmin(low, in->xyz[3 * p + k]);
            high = fmax(high, in->xyz[3 * p + k]);
        }
        const double side = floor(fmin((high - low) / (in->cutoff * (1 + 1e-9)), most));
        grid.side[k] = side > 1 ? (int32_t)side : 1;
        grid.low[k] = low;
        grid.scale[k] = high > low ? grid.side[k] / (high - low) : 0;
        grid.cells *= grid.side[k];
    }
    return grid;
}

/* A counting sort: count, scan, and deal the points out. Dealing moves start[c] to where the cell
 * ends, which is where the next one begins, hence the shift by one. */
static void sort_points(const rung_input *in, rung_sorted *sorted)
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

bool rung_sort(const rung_input *in, rung_sorted *sorted, int64_t *bytes)
{
    const size_t n = (size_t)in->n + 1;
    *sorted = (rung_sorted){.grid = rung_grid_over(in)};
    sorted->start = malloc((size_t)(sorted->grid.cells + 1) * sizeof *sorted->start);
    sorted->id = calloc(n, sizeof *sorted->id);
    sorted->xyz = malloc(n * 3 * sizeof *sorted->xyz);
    *bytes = sorted->grid.cells * (int64_t)sizeof *sorted->start +
             in->n * (int64_t)(sizeof *sorted->id + 3 * sizeof *sorted->xyz);
    const bool ok = sorted->start && sorted->id && sorted->xyz;
    if (ok) {
        sort_points(in, sorted);
    }
    return ok;
}

void rung_sorted_free(rung_sorted *sorted)
{
    free(sorted->start);
    free(sorted->id);
    free(sorted->xyz);
}

int rung_ranges_ahead(const rung_sorted *sorted, int64_t p, int64_t from[14], int64_t to[14])
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
