/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stable parallel radix sort of 64-bit elements by some of their bits. O(n) for each digit of
 * KITH_SORT_DIGIT bits.
 */
#ifndef KITH_CPU_SORT_H
#define KITH_CPU_SORT_H

#include <kith.h>

#include "core/context.h"

/* Most bits of a digit, and the number of values that it has: the bins of its histogram. */
enum { KITH_SORT_DIGIT = 11, KITH_SORT_BINS = 1 << KITH_SORT_DIGIT };

/**
 * Sort n elements by bits [low, high); elements that are equal in these bits keep their order.
 * @param data   [n] the elements; overwritten
 * @param spare  [n] a second array; overwritten
 * @param bins   [ctx->threads][KITH_SORT_BINS] scratch
 * @return data or spare, whichever holds the sorted elements. When the call is cancelled they are
 *         incomplete: test kith__proceed before they are used as indices
 */
uint64_t *kith__sort(kith_ctx *ctx, uint64_t *data, uint64_t *spare, int64_t n, int low, int high,
                     int64_t *bins);

#endif
