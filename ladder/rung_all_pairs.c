/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 1: all pairs. Compute all n (n - 1) / 2 distances, without scratch. The algorithm is too
 * simple to be wrong: it is the oracle of the other rungs.
 */
#include "rung.h"

bool rung_all_pairs(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    *scratch = 0;
    list->n = 0;
    for (int32_t i = 0; i < in->n; i++) {
        for (int32_t j = i + 1; j < in->n; j++) {
            if (rung_is_pair(in->xyz + 3 * (int64_t)i, in->xyz + 3 * (int64_t)j, in->cutoff) &&
                !rung_append(list, i, j)) {
                return false;
            }
        }
    }
    return true;
}
