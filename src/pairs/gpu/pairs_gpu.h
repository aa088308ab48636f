/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers of the kernels for pair lists of one system; pairs_batch_gpu.h has those for a batch.
 * All arrays are in device memory. Launchers queue their work on a stream and return the error code
 * of the CUDA or HIP runtime. The image of a pair is its shift S; packed, by kith__pack_shift.
 * gpu_sweep.cuh defines i-cluster, query particle, candidate and work block.
 */
#ifndef KITH_GPU_PAIRS_H
#define KITH_GPU_PAIRS_H

#include "engine/gpu/gpu_sweep.h"
#include "pairs/pairs.h"

/** The part of a list that is written: pair base + k of the list goes to index k of the arrays. */
struct kith__gpu_list {
    int64_t base;     /**< first pair of the list that is written */
    int64_t capacity; /**< pairs that are written at most: room of the arrays, or fewer */
    int32_t *i;       /**< [capacity] index of the first particle; NULL: not wanted */
    int32_t *j;       /**< [capacity] index of the second particle */
    void *distances;  /**< [capacity] distance, in the precision of the points; NULL: not wanted */
    void *vectors; /**< [capacity][3] vector from i to j, in the precision of the points; NULL: not
                           wanted */
    int32_t *shifts; /**< [capacity][3] image; NULL: not wanted */

    /** Rows are sorted afterwards: instead of the extras of a pair, only its packed image is
     *  written at first, to the memory of one of the extras (kept_shift in extras.cuh). */
    bool extras_later;
};

/** Rows [first, last) of a KITH_MATRIX list. */
struct kith__gpu_matrix {
    struct kith__gpu_list
        list;            /**< the arrays, of (last - first) * width entries from base 0 on. The
                              rows are sorted when its extras_later is true */
    int64_t first;       /**< first particle */
    int64_t last;        /**< particle behind the last */
    int64_t width;       /**< entries of a row */
    int32_t fill;        /**< j of entries without a neighbour */
    int64_t *counts;     /**< [a.n] neighbours of each particle */
    int32_t *row_counts; /**< [last - first] kith_pairs.counts of these rows; NULL: not wanted */
};

/** Totals of a KITH_MATRIX list: the counters of the question (kith__gpu_small.question). */
struct kith__gpu_matrix_totals {
    unsigned long long pairs;      /**< kith_pairs.n */
    unsigned long long widest;     /**< kith_pairs.widest */
    unsigned long long overflowed; /**< kith_pairs.overflowed */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Parameter `rules` of the functions below: which hits are listed, with arrays in device memory;
 * NULL: all hits are listed. */

/** Count the hits of each work block.
 *  @param[out] counts  [n] hits by work block; elements behind the last work block become 0 */
gpuError_t kith__gpu_count_work_blocks(const struct kith__gpu_sweep *sweep,
                                       const struct kith__rules *rules, int64_t *counts, int64_t n,
                                       gpuStream_t stream);

/** Count the neighbours of each particle.
 *  @param upper           count only j after i, as in half lists
 *  @param[in,out] counts  [a.n] numbers by the caller's index; cleared by the caller */
gpuError_t kith__gpu_count_rows(const struct kith__gpu_sweep *sweep,
                                const struct kith__rules *rules, bool upper, int64_t *counts,
                                gpuStream_t stream);

/** Write the pairs of work blocks [sweep->first, sweep->last) to an (i, j) list, as far as the
 *  arrays have room. With sweep->forward the list is half, and i <= j.
 *  @param offsets     [work blocks] first pair of each work block in the list; NULL: pairs are
 *                     appended in the order in which warps find them
 *  @param[out] total  number of pairs, also of those without room; used when offsets is NULL */
gpuError_t kith__gpu_append(const struct kith__gpu_sweep *sweep, const struct kith__rules *rules,
                            const struct kith__gpu_list *list, const int64_t *offsets,
                            unsigned long long *total, gpuStream_t stream);

/** Write the rows of a list, as far as the arrays have room; where list->extras_later, without
 *  extras.
 *  @param upper    rows hold only j after i, as in half lists
 *  @param offsets  [a.n + 1] first pair of each particle's row in the list */
gpuError_t kith__gpu_fill_rows(const struct kith__gpu_sweep *sweep, const struct kith__rules *rules,
                               bool upper, const struct kith__gpu_list *list,
                               const int64_t *offsets, gpuStream_t stream);

/** Sort rows [first, last) of the list by j and image, and write their extras. Rows that the arrays
 *  do not hold as a whole are skipped.
 *  @param grid     the grid of the search: its question and plan are read
 *  @param offsets  [a.n + 1] first pair of each particle's row in the list */
gpuError_t kith__gpu_sort_rows(const struct kith__gpu_grid *grid, const struct kith__gpu_list *list,
                               const int64_t *offsets, int64_t first, int64_t last,
                               gpuStream_t stream);

/** Set *result to *total, the number of pairs, or to the status of the plan when coordinates cannot
 *  be used. */
gpuError_t kith__gpu_write_result(const struct kith__gpu_grid *grid, const int64_t *total,
                                  int64_t *result, gpuStream_t stream);

/** Write the hits of some rows of a KITH_MATRIX list, as many as fit, and count all of them.
 *  matrix->counts is cleared by the caller. */
gpuError_t kith__gpu_fill_matrix(const struct kith__gpu_sweep *sweep,
                                 const struct kith__rules *rules,
                                 const struct kith__gpu_matrix *matrix, gpuStream_t stream);

/** Where matrix->list.extras_later, sort the rows of a KITH_MATRIX list by j and image, and write
 *  their extras. Write the entries without a neighbour, and row_counts.
 *  @param[in,out] totals  the totals of these rows are added */
gpuError_t kith__gpu_finish_matrix(const struct kith__gpu_grid *grid,
                                   const struct kith__gpu_matrix *matrix,
                                   struct kith__gpu_matrix_totals *totals, gpuStream_t stream);

/** Set result [KITH_RESULTS] to the totals, or to the status of the plan when coordinates cannot be
 *  used. */
gpuError_t kith__gpu_write_totals(const struct kith__gpu_grid *grid,
                                  const struct kith__gpu_matrix_totals *totals, int64_t *result,
                                  gpuStream_t stream);

/** Write a small array in host memory to device memory, in the parameters of kernels (rules.cu): so
 *  that its contents become a part of a graph that is being captured, and nothing waits.
 *  @param bytes  size of the array, a multiple of 4 */
gpuError_t kith__gpu_put(void *to, const void *from, size_t bytes, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
