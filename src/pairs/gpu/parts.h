/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of a list, ranges of its pairs: they are made in device memory and copied to the host, so
 * that a list may be larger than that memory.
 */
#ifndef KITH_GPU_PARTS_H
#define KITH_GPU_PARTS_H

#include "engine/gpu/gpu_state.h"
#include "pairs/pairs.h"
#include "pairs_gpu.h"

/** Describe the part of a list from pair `base` on that arrays in device memory receive, for
 *  launchers.
 *  @param out  the arrays; those that the form of the list does not have are ignored */
struct kith__gpu_list kith__gpu_part_of(const struct kith__list *list, const kith_pairs *out,
                                        int64_t base);

/** Describe the copy of n elements of a part's array to the host.
 *  @param to       the host's array; NULL: not wanted
 *  @param from     the part's array; NULL: not wanted
 *  @param begin    index of the first element of the host's array that is written
 *  @param element  size of an element [bytes]
 *  @return a copy of 0 bytes where an array is not wanted */
struct kith__gpu_copy kith__gpu_copy_of(void *to, const void *from, int64_t begin, int64_t n,
                                        size_t element);

/** Copy a part to the host. Returns when the copy is complete.
 *  @param part  the part->n pairs, in device memory
 *  @param out   the whole list, in host memory; written from pair `base` on */
kith_status kith__gpu_fetch_part(kith_ctx *ctx, const struct kith__list *list,
                                 kith_precision precision, const kith_pairs *part,
                                 const kith_pairs *out, int64_t base);

/** Copy a part, whose first pair is pair `base` of the list, to the host, and pass it to the block
 *  callback, at most `most` pairs at a time.
 *  @param rows  number of particles of the points: kith_pairs.rows of the blocks
 *  @return KITH_CANCELLED when the callback stops; KITH_OK; a failure */
kith_status kith__gpu_pass_part(kith_ctx *ctx, const struct kith__list *list,
                                kith_precision precision, int64_t rows, const kith_pairs *part,
                                int64_t base, int64_t most, kith_block_fn fn, void *user);

#endif
