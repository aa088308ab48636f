/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rungs of the pair ladder share: a list that grows, and cells over the points.
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
