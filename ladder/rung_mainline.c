/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 4: the library. Points are sorted by cell as in rung 3, but the candidates ahead of a row of
 * cells are read as contiguous ranges, several distances are computed at once in vector registers,
 * and the hits are compacted in registers and written once: candidates are never stored. See
 * docs/design.md.
 */
#include "rung.h"

bool rung_mainline(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    const kith_points points = kith_points_packed(in->xyz, in->n, KITH_DOUBLE);
    const kith_status status = kith_pairs_find(in->ctx, &points, NULL, in->cutoff, NULL, list);
    *scratch = kith_scratch_bytes(in->ctx);
    return status == KITH_OK;
}
