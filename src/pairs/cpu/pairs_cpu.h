/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between the files that make pair lists (pairs_cpu.c, radii_cpu.c, matrix_cpu.c) and
 * the kernels of their sweeps (pairs_kernel.c), which are compiled once for each instruction set.
 * KITH_EACH_ISA(name) declares the kernel of each instruction set (engine/cpu/isa.h).
 * engine/cpu/sweep.h defines query particle, hit, tile and work block.
 */
#ifndef KITH_PAIRS_CPU_H
#define KITH_PAIRS_CPU_H

#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"
#include "pairs/pairs.h"

/** Buffers of the context's scratch memory. pairs_batch.c, rules.c and radii_cpu.c have those with
 *  the numbers behind these. */
enum {
    KITH_CPU_OFFSETS = KITH_WORK_OF(pairs), /**< offsets of the rows of a list; or counts of each
                                                 particle (radii_cpu.c) */
    KITH_CPU_BLOCK_COUNTS,                  /**< pairs of each work block */
    KITH_CPU_MATRIX_COUNTS /**< neighbours of each particle, of a KITH_MATRIX list */
};

/** State of a pair list in one thread: sweep->state. */
struct kith__list_state {
    int64_t hits;                    /**< number of pairs that count_pairs found in this thread */
    int64_t width;                   /**< KITH_MATRIX: entries of a row */
    int32_t fill;                    /**< KITH_MATRIX: j of the entries behind the hits of a row */
    int64_t *counts;                 /**< [a.n] hits of each particle, by the caller's index */
    unsigned extras;                 /**< KITH_DISTANCES, ...: arrays to write beside i and j */
    const struct kith__rules *rules; /**< which hits are listed; NULL: all */
    const kith_pairs *out;           /**< the list whose arrays are written; NULL when counting */
    const int64_t *offsets; /**< [a.n + 1] for fill_rows: first pair of each particle's row in the
                                 whole list */
    int64_t base;    /**< for fill_rows: number, in the whole list, of the pair at index 0 of the
                          arrays of `out`; not 0 where the list is made in parts */
    int64_t *filled; /**< [a.n] hits that earlier searches have written to each row, where several
                          searches make a list (radii_cpu.c); NULL: there is one search */
    int64_t block;   /**< for append_block (pairs_cpu.c): work block that is being processed */

    /** For collect_rows: write the collected hits to their destination and discard them; called
     *  when there are too many to collect more. */
    void (*flush)(struct kith__sweep *sweep);
};

/** Return the state of a pair list in this thread. */
static inline struct kith__list_state *kith__list_of(const struct kith__sweep *sweep)
{
    return sweep->state;
}

/** Count the pairs of a work block: add them to `hits`. */
kith__work_fn KITH_EACH_ISA(count_pairs);

/** Count the hits of each query particle of a work block: add them to `counts`. With sweep->upper
 *  only the hits of a half list are counted. */
kith__work_fn KITH_EACH_ISA(count_rows);

/** Collect the hits of a work block in the sweep (sweep->rows, hit_id, ...), calling `flush` when
 *  there are too many. The hits since the last flush stay in the sweep. */
kith__work_fn KITH_EACH_ISA(collect_rows);

/** Write the row of each query particle of a work block to `out`, at its offset. With sweep->upper
 *  only the hits of a half list are written. `i` of a list that has it, and the extras, are
 *  written, too. */
kith__work_fn KITH_EACH_ISA(fill_rows);

/** Write the row of each query particle of a work block to a KITH_MATRIX list `out`, from entry
 *  index * `width` on: as many hits as fit, then entries without a neighbour. Set `counts` to the
 *  number of all hits of the particle. */
kith__work_fn KITH_EACH_ISA(fill_matrix);

/** Write the collected hits as pairs (i, j), with their extras, to the arrays of `out` from index
 *  `at` on. With the stencil KITH_FORWARD, i and j are exchanged where necessary so that i <= j. */
typedef void kith__write_rows_fn(const struct kith__sweep *sweep, int64_t at);
kith__write_rows_fn KITH_EACH_ISA(write_rows);

/** Write entries without a neighbour to a KITH_MATRIX list: j = fill, infinite distance, vector and
 *  shift 0.
 *  @param precision  of distances and vectors
 *  @param extras     KITH_DISTANCES, ...: extras that the list has
 *  @param from       first entry
 *  @param to         entry behind the last */
void kith__matrix_pad(kith_precision precision, unsigned extras, int32_t fill, int64_t from,
                      int64_t to, const kith_pairs *out);

/** Make a KITH_MATRIX list: by one sweep, or two where rows of the library's arrays have to grow.
 *  @param grid  the grid of the question's particles
 *  @param grow  the arrays are the library's
 *  @return as kith__pairs_backend.fill */
kith_status kith__matrix_fill(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *list, const struct kith__grid *grid,
                              bool grow, kith_pairs *out);

#endif
