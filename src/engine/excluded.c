/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checking the lists of bonded partners. O(n + bonds).
 */
#include "excluded.h"

kith_status kith__check_bonds(kith_ctx *ctx, const int64_t *offsets, const int32_t *bonds,
                              int64_t n, int64_t m)
{
    if (!offsets) {
        return KITH_OK;
    }
    KITH_CHECK(ctx, offsets[0] >= 0, KITH_INVALID, "options.bond_offsets[0] is %lld",
               (long long)offsets[0]);
    for (int64_t p = 0; p < n; p++) {
        KITH_CHECK(ctx, offsets[p + 1] >= offsets[p], KITH_INVALID,
                   "options.bond_offsets[%lld] is less than the one before it", (long long)p + 1);
    }
    KITH_CHECK(ctx, bonds || offsets[n] == offsets[0], KITH_INVALID, "options.bonds is NULL");
    for (int64_t at = offsets[0]; at < offsets[n] && bonds; at++) {
        KITH_CHECK(ctx, bonds[at] >= 0 && bonds[at] < m, KITH_INVALID,
                   "options.bonds[%lld] is %d, expected 0 to %lld", (long long)at, (int)bonds[at],
                   (long long)m - 1);
    }
    return KITH_OK;
}
