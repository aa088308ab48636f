/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: cells that are not narrower than the cutoff. Points are sorted by cell, each is tested
 * against those of 14 cells ahead of it, and friends are united by union-find with path halving.
 *
 * There is no search from a root, and neighbours are adjacent in memory. But in a halo, hundreds of
 * points share a cell and soon are one group, and still every pair of them is tested. All points of
 * a cell with a diagonal of one cutoff (side b / sqrt 3) are friends; the library uses this.
 */
#include "rung_fof.h"

#include <stdlib.h>

static void link_ahead(const rung_input *in, const rung_sorted *sorted, int32_t *parent)
{
    int64_t from[14], to[14];
    for (int64_t p = 0; p < in->n; p++) {
        const int ranges = rung_ranges_ahead(sorted, p, from, to);
        for (int r = 0; r < ranges; r++) {
            for (int64_t q = from[r]; q < to[r]; q++) {
                if (rung_is_pair(sorted->xyz + 3 * p, sorted->xyz + 3 * q, in->cutoff)) {
                    rung_unite(parent, sorted->id[p], sorted->id[q]);
                }
            }
        }
    }
}

bool rung_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    rung_sorted sorted;
    int32_t *const parent = rung_plant(in->n);
    bool ok = rung_sort(in, &sorted, scratch) && parent;
    *scratch += in->n * (int64_t)sizeof *parent;
    if (ok) {
        link_ahead(in, &sorted, parent);
        ok = rung_number(parent, in->n, least, labels, scratch) >= 0;
    }
    rung_sorted_free(&sorted);
    free(parent);
    return ok;
}
