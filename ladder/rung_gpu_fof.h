/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladder of groups on a GPU share: union-find, and
 * numbering the trees. The points are in device memory before a rung is called, and the labels are
 * complete in device memory when it returns.
 */
#ifndef KITH_RUNG_GPU_FOF_H
#define KITH_RUNG_GPU_FOF_H

#include "rung_fof.h"
#include "rung_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The rungs on a GPU, from naive to fast, the library last; none in a build without CUDA. */
extern const rung_way rung_gpu_ways[];
extern const int rung_gpu_ways_n;

bool rung_gpu_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/* ------------------------------------------------------------------------------ for the kernels */

/** Unite the trees of all friends.
 *  @param memory  for scratch
 *  @param parent  [n] trees of one point, in device memory
 *  @return false if memory is exhausted */
typedef bool (*rung_gpu_link)(const rung_input *in, rung_gpu_memory *memory, int32_t *parent);

/** A complete rung: make trees of one point, unite them by `link`, and number them as
 *  rung_number. */
bool rung_gpu_label(const rung_input *in, rung_gpu_link link, int64_t least, int32_t *labels,
                    int64_t *scratch);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/** Find the root of the tree of a point, without changing the tree. */
static inline __device__ int32_t rung_gpu_root(const volatile int32_t *parent, int32_t p)
{
    for (int32_t up; (up = parent[p]) != p;) {
        p = up;
    }
    return p;
}

/** Find the root of the tree of a point, with path halving. Threads may do this concurrently: each
 *  writes an ancestor of the point, which stays one. */
static inline __device__ int32_t rung_gpu_find_root(volatile int32_t *parent, int32_t p)
{
    for (int32_t up; (up = parent[p]) != p;) {
        const int32_t next = parent[up];
        if (next != up) {
            parent[p] = next;
        }
        p = next;
    }
    return p;
}

/** Make the smaller of two roots the parent of the larger, by compare-and-swap.
 *  @return false if the larger is no root any more */
static inline __device__ bool rung_gpu_hook(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t larger = a > b ? a : b;
    const int32_t smaller = a > b ? b : a;
    return larger == smaller || atomicCAS(&parent[larger], larger, smaller) == larger;
}

/** Unite the trees of two points, without locks. */
static inline __device__ void rung_gpu_unite(int32_t *parent, int32_t a, int32_t b)
{
    do {
        a = rung_gpu_find_root(parent, a);
        b = rung_gpu_find_root(parent, b);
    } while (!rung_gpu_hook(parent, a, b));
}
#endif

#endif
