/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arrays of a kith_pairs that the library owns, and pair searches that other questions call.
 */
#ifndef KITH_LIST_H
#define KITH_LIST_H

#include "pairs.h"

/** Make the arrays of out->owner, in the memory out->memory, hold `capacity` pairs of this list;
 *  the contents of arrays that grow are lost. Arrays that the list does not have become NULL. Sets
 *  all fields of *out but memory and size; n, width, widest and overflowed become 0. Without memory
 *  out->capacity becomes 0.
 *  @param rows      number of particles of the points: out->rows
 *  @param pairs     number of pairs of the list, for the message
 *  @param capacity  for KITH_MATRIX, number of entries of all rows
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__list_need(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t pairs, int64_t capacity, kith_pairs *out);

/** Make the arrays of out->owner hold `pairs` pairs, as kith__list_need does; a capacity that
 *  suffices stays.
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__list_grow(kith_ctx *ctx, const struct kith__list *list, kith_precision precision,
                            int64_t rows, int64_t pairs, kith_pairs *out);

/** Store the message that there is no memory for a list of `pairs` pairs.
 *  @param about     "" where `pairs` is the list's size, "about " where it is an estimate
 *  @param capacity  pairs that the arrays were to hold
 *  @return KITH_NO_MEMORY */
kith_status kith__list_too_large(kith_ctx *ctx, const char *about, int64_t pairs, int64_t capacity);

/** Read and check a caller's options.
 *  @param given     NULL: the defaults
 *  @param[out] own  the options, with all fields of this version (core/sized.h)
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__pairs_options(kith_ctx *ctx, const kith_pairs_options *given,
                                kith_pairs_options *own);

/** kith_pairs_each for use inside another public call, between its kith__enter and kith__exit. */
kith_status kith__pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                             double cutoff, const kith_pairs_options *options, kith_block_fn fn,
                             void *user);

/** kith_pairs_count for use inside another public call, between its kith__enter and kith__exit. */
kith_status kith__pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              double cutoff, const kith_pairs_options *options, int64_t *n,
                              int64_t *neighbours);

/** Return a view of pairs [first, first + n) of a list in host memory: it owns nothing. */
kith_pairs kith__list_piece(const kith_pairs *all, kith_precision precision, int64_t first,
                            int64_t n);

/** Set out->n and out->rows, and check that n pairs fit the arrays.
 *  @return KITH_OK or KITH_CAPACITY */
kith_status kith__list_set(kith_ctx *ctx, int64_t n, int64_t rows, kith_pairs *out);

/** Make the arrays of out->owner hold the rows of a KITH_MATRIX list, and set out->width. A
 *  capacity that suffices stays. The other fields are set as by kith__list_need.
 *  @param rows   number of particles of the points: out->rows
 *  @param width  entries of a row
 *  @return KITH_OK or KITH_NO_MEMORY */
kith_status kith__matrix_need(kith_ctx *ctx, const struct kith__list *list,
                              kith_precision precision, int64_t rows, int64_t width,
                              kith_pairs *out);

/** Check that no row of a KITH_MATRIX list has more than out->width neighbours.
 *  @return KITH_OK or KITH_CAPACITY */
kith_status kith__matrix_fits(kith_ctx *ctx, const kith_pairs *out);

#endif
