/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows that overlaps are of.
 */
#ifndef KITH_OVERLAP_ROWS_H
#define KITH_OVERLAP_ROWS_H

#include "context.h"
#include "overlap.h"

/** Slots of the context's scratch, behind those of roles.c. */
enum {
    KITH_OVERLAP_ROWS = KITH_WORK_SLOTS - 4,
    KITH_OVERLAP_SQUARES,
    KITH_OVERLAP_MEANS,
    KITH_OVERLAP_TABLE
};

/** Look at all values; subtract the mean; pack spins. Sets type, rows, stride, square, most and
 *  exact; n, dim and measure are set. Rows are the caller's or scratch of the context.
 *  @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_NO_MEMORY. */
kith_status kith__overlap_rows(kith_ctx *ctx, const kith_replicas *replicas, bool subtract_mean,
                               struct kith__overlap *overlap);

#endif
