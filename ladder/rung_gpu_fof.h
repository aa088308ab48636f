/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the GPU's rungs of the ladder of groups share: trees, and numbers for them. A call of a rung
 * begins with points in device memory and ends when the labels are there.
 */
#ifndef KITH_RUNG_GPU_FOF_H
#define KITH_RUNG_GPU_FOF_H

#include "rung_fof.h"
#include "rung_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The GPU's rungs, from naive to fast, the library last; none in a build without CUDA. */
extern const rung_way rung_gpu_ways[];
extern const int rung_gpu_ways_n;

bool rung_gpu_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_gpu_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/* ------------------------------------------------------------------------------ for the kernels */

/** What a rung does in the scratch it gets: unite friends. @param parent  [n] trees of one point,
 *  in device memory. @return false without memory */
typedef bool (*rung_gpu_link)(const rung_input *in, rung_gpu_memory *memory, int32_t *parent);

/** Plant trees, link them, and number them as rung_number does; a whole rung. */
bool rung_gpu_label(const rung_input *in, rung_gpu_link link, int64_t least, int32_t *labels,
                    int64_t *scratch);

#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/** Find the root of a point's tree. */
static inline __device__ int32_t rung_gpu_root(const volatile int32_t *parent, int32_t p)
{
    for (int32_t up; (up = parent[p]) != p;) {
        p = up;
    }
    return p;
}

/** Find the root of a point, and move every second point on the way to its grandparent. Another
 *  thread may do so too: what either writes is above the point, for good. */
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

/** Hook the larger of two roots under the smaller. @return false when it no longer was a root */
static inline __device__ bool rung_gpu_hook(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t larger = a > b ? a : b;
    const int32_t smaller = a > b ? b : a;
    return larger == smaller || atomicCAS(&parent[larger], larger, smaller) == larger;
}

/** Unite the trees of two points, in which paths are shortened. */
static inline __device__ void rung_gpu_unite(int32_t *parent, int32_t a, int32_t b)
{
    do {
        a = rung_gpu_find_root(parent, a);
        b = rung_gpu_find_root(parent, b);
    } while (!rung_gpu_hook(parent, a, b));
}
#endif

#endif
