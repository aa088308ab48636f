/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of the distances to nearest images beyond half the box.
 */
#ifndef KITH_CPU_NEAREST_H
#define KITH_CPU_NEAREST_H

#include "run.h"

/** Count all pairs in the tallies of the threads' sweeps, which are ready.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED. */
kith_status kith__nearest_tally(kith_ctx *ctx, const struct kith__question *question,
                                const struct kith__scale *scale);

#endif
