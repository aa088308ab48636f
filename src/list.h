/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_pairs.
 */
#ifndef KITH_LIST_H
#define KITH_LIST_H

#include "backend.h"

/** Make out->owner's arrays hold `capacity` pairs of this list; contents are lost when they grow.
 *  out->memory says where they are. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t capacity, kith_pairs *out);

/** Pairs [first, first + n) of an (i, j) list in host memory, borrowed from it. */
kith_pairs kith__list_piece(const kith_pairs *all, kith_precision precision, int64_t first,
                            int64_t n);

/** Does the list fit its arrays? @return KITH_OK or KITH_CAPACITY. */
kith_status kith__list_fits(kith_ctx *ctx, const kith_pairs *out);

#endif
