/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the GPU's rungs share: points and lists in device memory, scratch that is counted, and
 * points sorted by cell. A call of a rung begins with points in device memory and ends when the
 * list is there.
 */
#ifndef KITH_RUNG_GPU_H
#define KITH_RUNG_GPU_H

#include "rung.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RUNG_GPU_BLOCKS = 16 };

/** The question on a GPU. */
typedef struct rung_gpu {
    kith_ctx *ctx; /**< backend "cuda" */
    double *xyz;   /**< [n][3] in device memory */
    rung_grid grid;
    int32_t *labels;    /**< [n] in device memory, for the ladder of groups */
    kith_groups groups; /**< its mainline's, whose arrays are reused */
} rung_gpu;

/** The GPU's rungs, from naive to fast; none in a build without CUDA. */
extern const rung rung_gpu_rungs[];
extern const int rung_gpu_n;

/** Which of them is the library, as kith_pairs_fill is used by default. */
extern const int rung_gpu_mainline;

/** Open the GPU. @return false, after saying why, when there is none. */
bool rung_gpu_open(rung_gpu *gpu);
void rung_gpu_close(rung_gpu *gpu);

/** Bring points to in->gpu, if there is one, and lay the grid over them.
 *  @return false, after saying so, without memory. */
bool rung_gpu_put(const rung_input *in);

/** Copy the labels to host memory. @param[out] labels  [n] */
bool rung_gpu_get_labels(const rung_gpu *gpu, int64_t n, int32_t *labels);

/** Move a list to host memory, if it is elsewhere. @return false, with it empty, without memory. */
bool rung_gpu_get(kith_pairs *list);

/** As rung_reserve, in device memory; the contents are lost when it grows. */
bool rung_gpu_reserve(kith_pairs *list, int64_t pairs);

bool rung_gpu_threads(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_fill(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_gpu_fill_unordered(const rung_input *in, kith_pairs *list, int64_t *scratch);

/* ------------------------------------------------------------------------------ for the kernels */

/** Blocks of device memory that a call holds. Start with {0}. */
typedef struct rung_gpu_memory {
    void *block[RUNG_GPU_BLOCKS];
    int n;
    int64_t bytes;
} rung_gpu_memory;

/** Get a block, freed with all others at the end of the call. @return NULL when there is none. */
void *rung_gpu_alloc(rung_gpu_memory *memory, int64_t bytes);
void rung_gpu_free(rung_gpu_memory *memory);

/** Points sorted by cell, in device memory. */
typedef struct rung_gpu_cells {
    rung_grid grid;
    int64_t n;
    int32_t *start; /**< [cells + 1]: cell c holds the points start[c] to start[c + 1] - 1 */
    int32_t *id;    /**< [n]: where a point came from */
    double *xyz;    /**< [n][3] */
} rung_gpu_cells;

/** Sort the points by cell. @return false without memory. */
bool rung_gpu_sort(const rung_input *in, rung_gpu_memory *memory, rung_gpu_cells *cells);

/** Numbers to sort by, and what goes with each; both with room for the sorted ones. */
typedef struct rung_gpu_keys {
    uint32_t *key, *key2;    /**< [n] */
    int32_t *value, *value2; /**< [n] */
} rung_gpu_keys;

/** Sort by key, equal ones as they were; arrays change places, so that key and value are sorted.
 *  @param most           no key is larger
 *  @param temporary      NULL: nothing is done but to say how much of it is needed
 *  @return false when the device failed */
bool rung_gpu_sort_keys(rung_gpu_keys *keys, int64_t n, int64_t most, void *temporary,
                        size_t *bytes);

/** Each count becomes the sum of those before it. @param count  [n + 1]
 *  @param[out] total  their sum, in host memory; the last of count too */
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

/** Begin all cells after that of point s - 1, up to that of point s. cell: [n] rising.
 *  start: [cells + 1]; s: 0 to n */
static inline __device__ void rung_gpu_begin_cells(const uint32_t *cell, int64_t n, int64_t cells,
                                                   int64_t s, int32_t *start)
{
    const int64_t first = s == 0 ? 0 : (int64_t)cell[s - 1] + 1;
    const int64_t last = s == n ? cells : (int64_t)cell[s];
    for (int64_t c = first; c <= last; c++) {
        start[c] = (int32_t)s;
    }
}

/** Find the points of the cell that is `step` steps away from that of point p; in its own (step
 *  13) those after it. @return false outside the grid */
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
