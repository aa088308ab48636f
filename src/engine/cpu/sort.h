/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stable radix sort of 64-bit elements by some of their bits.
 */
#ifndef KITH_CPU_SORT_H
#define KITH_CPU_SORT_H

#include <kith.h>

#include "core/context.h"

enum { KITH_SORT_DIGIT = 11, KITH_SORT_BINS = 1 << KITH_SORT_DIGIT };

/**
 * Sort n elements by bits [low, high), keeping the order of equal ones, on as many threads as n
 * elements are worth.
 * @param data, spare  [n] each; both are overwritten
 * @param bins         scratch [ctx->threads][KITH_SORT_BINS]
 * @return data or spare, whichever holds the result; anything when the call is to stop: test
 *         kith__proceed before the elements are used as indices
 */
uint64_t *kith__sort(kith_ctx *ctx, uint64_t *data, uint64_t *spare, int64_t n, int low, int high,
                     int64_t *bins);

#endif
