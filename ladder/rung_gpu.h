/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs on a GPU share: points and lists in device memory, scratch
 * whose size is counted, and points sorted by cell. The points are in device memory before a rung
 * is called, and the list is complete in device memory when it returns.
 */
#ifndef KITH_RUNG_GPU_H
#define KITH_RUNG_GPU_H

#include "rung.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RUNG_GPU_BLOCKS = 16 };

/** Input of a rung on a GPU. */
typedef struct rung_gpu {
    kith_ctx *ctx;      /**< context of the library, backend "cuda" */
    double *xyz;        /**< points in device memory [n][3] */
    rung_grid grid;     /**< grid over the points */
    int32_t *labels;    /**< labels in device memory, for the ladder of groups [n] */
    kith_groups groups; /**< groups of the library, whose arrays are reused */
} rung_gpu;

/** The rungs on a GPU, from naive to fast; none in a build without CUDA. */
extern const rung rung_gpu_rungs[];
extern const int rung_gpu_n;

/** Index of the rung that calls kith_pairs_fill with default options. */
extern const int rung_gpu_mainline;

/** Open the GPU. @return false if there is none, with a message printed */
bool rung_gpu_open(rung_gpu *gpu);
void rung_gpu_close(rung_gpu *gpu);

/** Copy points to in->gpu, if it is not NULL, and make the grid over them.
 *  @return false if memory is exhausted, with a message printed */
bool rung_gpu_put(const rung_input *in);

/** Copy the labels to host memory. @param[out] labels  [n] */
bool rung_gpu_get_labels(const rung_gpu *gpu, int64_t n, int32_t *labels);

/** Move a list to host memory, if it is in device memory.
 *  @return false if memory is exhausted; the list is empty then */
bool rung_gpu_get(kith_pairs *list);

/** Grow a list in device memory to a capacity of so many pairs; its pairs are lost when it grows.
 *  @return false if memory is exhausted */
bool rung_gpu_reserve(kith_pairs *list, int64_t pairs);

bool rung_gpu_threads(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_fill(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_fill_unordered(const rung_input *in, kith_pairs *list, int64_t *scratch);

/* ------------------------------------------------------------------------------ for the kernels */

/** Blocks of device memory that a call holds. Zero it first. */
typedef struct rung_gpu_memory {
    void *block[RUNG_GPU_BLOCKS]; /**< the blocks [n] */
    int n;                        /**< number of blocks */
    int64_t bytes;                /**< size of all blocks [byte] */
} rung_gpu_memory;

/** Allocate a block, which rung_gpu_free frees with all others. @return NULL: memory is
 *  exhausted */
void *rung_gpu_alloc(rung_gpu_memory *memory, int64_t bytes);
void rung_gpu_free(rung_gpu_memory *memory);

/** Points sorted by cell, in device memory. */
typedef struct rung_gpu_cells {
    rung_grid grid; /**< the grid */
    int64_t n;      /**< number of points */
    int32_t *
        start; /**< first point of each cell [cells + 1]: cell c has start[c] to start[c + 1] - 1 */
    int32_t *id; /**< index of each point in the input [n] */
    double *xyz; /**< sorted points [n][3] */
} rung_gpu_cells;

/** Sort the points by cell. @return false if memory is exhausted */
bool rung_gpu_sort(const rung_input *in, rung_gpu_memory *memory, rung_gpu_cells *cells);

/** Keys and values to be sorted, with memory for the sorted ones. All arrays are in device
 *  memory. */
typedef struct rung_gpu_keys {
    uint32_t *key;   /**< keys [n] */
    uint32_t *key2;  /**< memory for the sorted keys [n] */
    int32_t *value;  /**< values [n] */
    int32_t *value2; /**< memory for the sorted values [n] */
} rung_gpu_keys;

/** Sort values by key; the sort is stable. Arrays are swapped, so that key and value are sorted.
 *  @param most           upper bound of the keys
 *  @param temporary      memory of the sort; NULL: set *bytes alone
 *  @param[in,out] bytes  size of temporary [byte]
 *  @return false if the device fails */
bool rung_gpu_sort_keys(rung_gpu_keys *keys, int64_t n, int64_t most, void *temporary,
                        size_t *bytes);

/** Exclusive prefix sum, in place.
 *  @param count       [n + 1], in device memory; count[n] becomes the sum of all
 *  @param[out] total  the sum of all, in host memory */
bool rung_gpu_scan(rung_gpu_memory *memory, int64_t *count, int64_t n, int64_t *total);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
enum { RUNG_GPU_THREADS = 128 };

/** Blocks for n threads. */
static inline unsigned rung_gpu_blocks_for(int64_t n)
{
    return (unsigned)(n / RUNG_GPU_THREADS + 1);
}

/** Set start of all cells behind that of point s - 1, up to that of point s.
 *  @param cell        [n] cell of each point, ascending
 *  @param s           0 to n
 *  @param[out] start  [cells + 1] */
static inline __device__ void rung_gpu_begin_cells(const uint32_t *cell, int64_t n, int64_t cells,
                                                   int64_t s, int32_t *start)
{
    const int64_t first = s == 0 ? 0 : (int64_t)cell[s - 1] + 1;
    const int64_t last = s == n ? cells : (int64_t)cell[s];
    for (int64_t c = first; c <= last; c++) {
        start[c] = (int32_t)s;
    }
}

/** Find the points of the cell at `step` (rung_grid_step) from that of point p; in its own cell,
 *  step 13, the later points. @return false: outside the grid */
static inline __device__ bool rung_gpu_ahead(const rung_gpu_cells &cells, int64_t p,
                                             const int32_t cell[3], int step, int32_t *from,
                                             int32_t *to)
{
    const int64_t c = rung_grid_step(&cells.grid, cell, step);
    if (c < 0) {
        return false;
    }
    *from = step == 13 ? (int32_t)p + 1 : cells.start[c];
    *to = cells.start[c + 1];
    return true;
}
#endif

#endif
