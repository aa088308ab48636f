/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations that a backend offers for pair lists: ctx->backend->pairs, called by pairs.c, by
 * pairs_batch.c for the systems of a batch, and by src/verlet/ at a rebuild.
 */
#ifndef KITH_PAIRS_BACKEND_H
#define KITH_PAIRS_BACKEND_H

#include "core/backend.h"
#include "engine/batch.h"
#include "engine/question.h"
#include "rules.h"

/** The form of a pair list: kith_pairs_options, checked. */
struct kith__list {
    bool full;      /**< true: full list, each pair as (i, j, S) and as (j, i, -S), where the rules
                         permit both; pairs between two sets as (i, j, S). false: half list, each
                         pair once. Always true between two sets and with KITH_MATRIX */
    bool sorted;    /**< pairs are sorted by i, then j, then S[2], S[1], S[0] */
    bool unordered; /**< any order is permitted, and may vary from call to call. Ignored where
                         `sorted`, with a layout other than KITH_IJ, in host memory, with `grow`,
                         and by the cpu backend */
    bool queued;    /**< fill of a list in device memory with `grow` waits for its length alone; its
                         arrays are written later, in the order of the context's stream. Ignored
                         with KITH_MATRIX and in batches */
    kith_layout layout; /**< (i, j) pairs, rows with offsets (CSR), or rows of one width (matrix) */
    unsigned extras;    /**< KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS: arrays beside i and j */
    int64_t block_pairs; /**< most pairs of a block that `each` passes to a callback; 1 or more */
    int64_t width;       /**< KITH_MATRIX: entries of a row; where the library owns the arrays, all
                              rows are widened to the longest one if that has more */
    int32_t fill;        /**< KITH_MATRIX: j of the entries behind the neighbours of a row */
    const struct kith__rules *rules; /**< which pairs within the cutoff are listed; NULL: all */

    /** Set by the cuda backend alone: the searches between classes of radius that make the rows
     *  (gpu/class_lists.h). NULL: one search. */
    const struct kith__class_lists *classes;
};

/** The operations of a backend. All of them return KITH_OK, KITH_NOT_FINITE or KITH_LIMIT for a
 *  particle that cannot be used, KITH_LIMIT for a sorted list that takes too much memory
 *  (check_images in cpu/pairs_cpu.c), KITH_NO_MEMORY, KITH_CANCELLED or KITH_DEVICE_LOST. */
struct kith__pairs_backend {
    /** Count pairs.
     *  @param[out] n           number of pairs of the list
     *  @param[out] neighbours  [a.n] number of pairs of each particle of the points in the full
     *                          list, also where the list is half; host memory; NULL: not needed */
    kith_status (*count)(kith_ctx *ctx, const struct kith__question *question,
                         const struct kith__list *list, int64_t *n, int64_t *neighbours);

    /** Make a list.
     *  @param grow  true: out->owner's arrays are grown as needed; false: the arrays are the
     *               caller's, those that the form of the list does not have are NULL, and
     *               KITH_CAPACITY is returned, with out->n set, when they are too small; with
     *               KITH_MATRIX also out->widest and out->overflowed */
    kith_status (*fill)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__list *list, bool grow, kith_pairs *out);

    /** Make an (i, j) list (list->layout is KITH_IJ), and pass it to a callback in blocks of at
     *  most list->block_pairs pairs.
     *  @param fn    the callback, called by the calling thread
     *  @param user  argument of the callback */
    kith_status (*each)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__list *list, kith_block_fn fn, void *user);

    /** Queue the making of a list on the context's stream, and return without waiting. Points, the
     *  arrays of the list, and result are in device memory. NULL on a backend without streams.
     *  @param[out] result  number of pairs, or a negative status; KITH_MATRIX: [KITH_RESULTS]
     *  @return also KITH_UNSUPPORTED or KITH_LIMIT when it cannot be captured in a graph */
    kith_status (*enqueue)(kith_ctx *ctx, const struct kith__question *question,
                           const struct kith__list *list, const kith_pairs *out, int64_t *result);

    /** The operations above for the systems of a batch: `count`, `fill`, `each`, `enqueue`. Indices
     *  i and j are those of the particles in the whole batch. They also return KITH_INVALID or
     *  KITH_LIMIT for a box or an offset that cannot be used. */
    kith_status (*batch_count)(kith_ctx *ctx, const struct kith__batch *batch,
                               const struct kith__list *list, int64_t *n, int64_t *neighbours);
    kith_status (*batch_fill)(kith_ctx *ctx, const struct kith__batch *batch,
                              const struct kith__list *list, bool grow, kith_pairs *out);
    kith_status (*batch_each)(kith_ctx *ctx, const struct kith__batch *batch,
                              const struct kith__list *list, kith_block_fn fn, void *user);
    kith_status (*batch_enqueue)(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__list *list, const kith_pairs *out,
                                 int64_t *result);
};

extern const struct kith__pairs_backend kith__cpu_pairs, kith__cuda_pairs;

#endif
