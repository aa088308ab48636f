/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 3: cells no narrower than the cutoff. Points are sorted by cell, each meets those ahead of
 * it in 14 cells, and friends are united in trees that are shortened as they are climbed.
 *
 * No search from a root, and neighbours lie together. But a cell says nothing about who is in it:
 * in a halo, where hundreds of points share a cell and long are one group, each is still compared
 * with each. Cells with a diagonal of one cutoff (side b / sqrt 3) hold friends by construction,
 * which is what the mainline adds.
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
