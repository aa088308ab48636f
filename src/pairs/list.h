/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_pairs.
 */
#ifndef KITH_LIST_H
#define KITH_LIST_H

#include "pairs.h"

/** Make out->owner's arrays hold `capacity` pairs of this list; contents are lost when they grow.
 *  out->memory says where they are.
 *  @param pairs  pairs of the list, for the message
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t pairs, int64_t capacity, kith_pairs *out);

/** Say how long a list is that there is no memory for.
 *  @param about     "" where `pairs` is the list's size, "about " where it is an estimate
 *  @param capacity  pairs that the arrays were to have room for
 *  @return KITH_NO_MEMORY */
kith_status kith__list_too_large(kith_ctx *ctx, const char *about, int64_t pairs, int64_t capacity);

/** kith_pairs_each and kith_pairs_count within another public call, which has the context. */
kith_status kith__pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                             double cutoff, const kith_pairs_options *options, kith_block_fn fn,
                             void *user);
kith_status kith__pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              double cutoff, const kith_pairs_options *options, int64_t *n,
                              int64_t *neighbours);

/** Pairs [first, first + n) of an (i, j) list in host memory, borrowed from it. */
kith_pairs kith__list_piece(const kith_pairs *all, kith_precision precision, int64_t first,
                            int64_t n);

/** Does the list fit its arrays? @return KITH_OK or KITH_CAPACITY. */
kith_status kith__list_fits(kith_ctx *ctx, const kith_pairs *out);

#endif
