/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbering the groups of union-find trees on a GPU: roots are sorted by descending size, then by
 * index.
 */
#include "rung_gpu_fof.h"

#include <cub/device/device_radix_sort.cuh>

const rung_way rung_gpu_ways[] = {
    {"5 all pairs", rung_gpu_fof_all_pairs},
    {"6 kd-tree and chains", rung_gpu_fof_tree},
    {"7 cells", rung_gpu_fof_cells},
    {"8 mainline: kith_fof_find", rung_gpu_fof_mainline},
};
const int rung_gpu_ways_n = 4;

static const uint64_t no_group = UINT64_MAX;

static __global__ void plant(int32_t *parent, int64_t n)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        parent[p] = (int32_t)p;
    }
}

/* Set parent to the root of each point, and size, at roots, to the number of points of the tree. */
static __global__ void measure(int32_t *parent, int64_t n, int32_t *size)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        const int32_t root = rung_gpu_root(parent, (int32_t)p);
        parent[p] = root;
        atomicAdd(&size[root], 1);
    }
}

static __global__ void write_keys(const int32_t *parent, const int32_t *size, int64_t n,
                                  int64_t least, uint64_t *key)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        const bool kept = parent[p] == p && size[p] >= least;
        key[p] = kept ? (uint64_t)(UINT32_MAX - (uint32_t)size[p]) << 32 | (uint32_t)p : no_group;
    }
}

/* Replace sizes by the numbers of the groups; 0: no group. */
static __global__ void number_roots(const uint64_t *key, int64_t n, int32_t *number)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < n && key[s] != no_group) {
        number[(uint32_t)key[s]] = (int32_t)s + 1;
    }
}

static __global__ void write_labels(const int32_t *parent, const int32_t *number, int64_t n,
                                    int32_t *labels)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        labels[p] = number[parent[p]];
    }
}

/* Label the points by their trees. */
static bool number(int32_t *parent, int64_t n, int64_t least, rung_gpu_memory *memory,
                   int32_t *labels)
{
    const unsigned blocks = rung_gpu_blocks_for(n);
    const size_t four = (size_t)n * sizeof(int32_t);
    int32_t *const size = (int32_t *)rung_gpu_alloc(memory, (int64_t)four);
    uint64_t *const key = (uint64_t *)rung_gpu_alloc(memory, 2 * (int64_t)four);
    uint64_t *const sorted = (uint64_t *)rung_gpu_alloc(memory, 2 * (int64_t)four);
    size_t bytes = 0;
    cub::DeviceRadixSort::SortKeys(NULL, bytes, key, sorted, n);
    void *const temporary = rung_gpu_alloc(memory, (int64_t)bytes);
    if (!size || !key || !sorted || !temporary || cudaMemset(size, 0, four) != cudaSuccess) {
        return false;
    }
    measure<<<blocks, RUNG_GPU_THREADS>>>(parent, n, size);
    write_keys<<<blocks, RUNG_GPU_THREADS>>>(parent, size, n, least, key);
    if (cudaGetLastError() != cudaSuccess ||
        cub::DeviceRadixSort::SortKeys(temporary, bytes, key, sorted, n) != cudaSuccess ||
        cudaMemset(size, 0, four) != cudaSuccess) {
        return false;
    }
    number_roots<<<blocks, RUNG_GPU_THREADS>>>(sorted, n, size);
    write_labels<<<blocks, RUNG_GPU_THREADS>>>(parent, size, n, labels);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_label(const rung_input *in, rung_gpu_link link, int64_t least, int32_t *labels,
                    int64_t *scratch)
{
    rung_gpu_memory memory = {{NULL}, 0, 0};
    int32_t *const parent = (int32_t *)rung_gpu_alloc(&memory, in->n * (int64_t)sizeof *parent);
    bool ok = parent;
    if (ok) {
        plant<<<rung_gpu_blocks_for(in->n), RUNG_GPU_THREADS>>>(parent, in->n);
        ok = cudaGetLastError() == cudaSuccess && link(in, &memory, parent) &&
             number(parent, in->n, least, &memory, labels);
    }
    *scratch = memory.bytes;
    rung_gpu_free(&memory);
    return cudaDeviceSynchronize() == cudaSuccess && ok;
}
