/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 2: linked cells, as in textbooks (Hockney & Eastwood; Allen & Tildesley). Cells are not
 * narrower than the cutoff, and each is a linked list of its points: head[cell] is its last point,
 * next[p] the point before p. A point is tested against the points of its own cell and the 26 cells
 * around.
 *
 * O(n), with 4 bytes for each point and each cell. But each pair is tested twice, and one of the
 * two is discarded by i < j; the points of a cell are scattered in memory; and a linked list cannot
 * be vectorised.
 */
#include "rung.h"

#include <stdlib.h>

static bool meet(const rung_input *in, int32_t i, int32_t first, const int32_t *next,
                 kith_pairs *list)
{
    const double *const x = in->xyz + 3 * (int64_t)i;
    for (int32_t j = first; j >= 0; j = next[j]) {
        if (i < j && rung_is_pair(x, in->xyz + 3 * (int64_t)j, in->cutoff) &&
            !rung_append(list, i, j)) {
            return false;
        }
    }
    return true;
}

bool rung_cells(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    const rung_grid grid = rung_grid_over(in);
    int32_t *const head = malloc((size_t)grid.cells * sizeof *head);
    int32_t *const next = calloc((size_t)in->n + 1, sizeof *next);
    bool ok = head && next;
    *scratch = grid.cells * (int64_t)sizeof *head + in->n * (int64_t)sizeof *next;
    list->n = 0;

    for (int64_t c = 0; ok && c < grid.cells; c++) {
        head[c] = -1;
    }
    for (int32_t p = 0; ok && p < in->n; p++) {
        const int64_t c = rung_grid_number(&grid, in->xyz + 3 * (int64_t)p);
        next[p] = head[c];
        head[c] = p;
    }

    for (int64_t c = 0; ok && c < grid.cells; c++) {
        const int32_t cell[3] = {(int32_t)(c % grid.side[0]),
                                 (int32_t)(c / grid.side[0] % grid.side[1]),
                                 (int32_t)(c / grid.side[0] / grid.side[1])};
        for (int32_t i = head[c]; ok && i >= 0; i = next[i]) {
            for (int step = 0; ok && step < 27; step++) {
                const int64_t around = rung_grid_step(&grid, cell, step);
                ok = around < 0 || meet(in, i, head[around], next, list);
            }
        }
    }
    free(head);
    free(next);
    return ok;
}
