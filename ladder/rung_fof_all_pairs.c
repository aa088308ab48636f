/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 1: all pairs. Compute all distances and unite the points within the cutoff: O(n^2), without
 * cells. The algorithm is too simple to be wrong: it is the oracle of the other rungs.
 */
#include "rung_fof.h"

#include <stdlib.h>

bool rung_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    int32_t *const parent = rung_plant(in->n);
    *scratch = in->n * (int64_t)sizeof *parent;
    for (int32_t i = 0; parent && i < in->n; i++) {
        for (int32_t j = i + 1; j < in->n; j++) {
            if (rung_is_pair(in->xyz + 3 * (int64_t)i, in->xyz + 3 * (int64_t)j, in->cutoff)) {
                rung_unite(parent, i, j);
            }
        }
    }
    const bool ok = parent && rung_number(parent, in->n, least, labels, scratch) >= 0;
    free(parent);
    return ok;
}
