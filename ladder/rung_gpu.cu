/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points and lists in device memory, and points sorted by cell. Scratch is allocated from the
 * memory pool of the device, which keeps freed blocks: a repeated call needs no allocation by the
 * driver.
 */
#include "rung_gpu.h"

#include "ladder_driver.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <stdio.h>
#include <string.h>

const rung rung_gpu_rungs[] = {
    {"5 a thread for each point", rung_gpu_threads},
    {"6 candidates, then compaction", rung_gpu_candidates},
    {"7 mainline: kith_pairs_fill", rung_gpu_fill},
    {"8 mainline, in any order", rung_gpu_fill_unordered},
};
const int rung_gpu_n = 4;
const int rung_gpu_mainline = 2;

bool rung_gpu_open(rung_gpu *gpu)
{
    cudaMemPool_t pool;
    uint64_t all = UINT64_MAX;
    memset(gpu, 0, sizeof *gpu);
    gpu->ctx = ladder_open_gpu();
    if (!gpu->ctx) {
        return false;
    }
    if (cudaDeviceGetDefaultMemPool(&pool, 0) != cudaSuccess ||
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all) != cudaSuccess) {
        printf("GPU rungs skipped: the GPU has no pool of memory\n");
        kith_close(gpu->ctx);
        return false;
    }
    return true;
}

void rung_gpu_close(rung_gpu *gpu)
{
    cudaFree(gpu->xyz);
    cudaFree(gpu->labels);
    kith_groups_free(&gpu->groups);
    kith_close(gpu->ctx);
}

bool rung_gpu_put(const rung_input *in)
{
    rung_gpu *const gpu = in->gpu;
    if (!gpu) {
        return true;
    }
    const size_t bytes = (size_t)in->n * 3 * sizeof *gpu->xyz;
    cudaFree(gpu->xyz);
    cudaFree(gpu->labels);
    gpu->xyz = NULL;
    gpu->labels = NULL;
    gpu->grid = rung_grid_over(in);
    const bool ok = cudaMalloc((void **)&gpu->labels, (size_t)in->n * sizeof *gpu->labels + 1) ==
                        cudaSuccess &&
                    cudaMalloc((void **)&gpu->xyz, bytes + 1) == cudaSuccess &&
                    cudaMemcpy(gpu->xyz, in->xyz, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
    if (!ok) {
        fprintf(stderr, "ladder: no device memory for %lld points\n", (long long)in->n);
    }
    return ok;
}

bool rung_gpu_get_labels(const rung_gpu *gpu, int64_t n, int32_t *labels)
{
    return cudaMemcpy(labels, gpu->labels, (size_t)n * sizeof *labels, cudaMemcpyDeviceToHost) ==
           cudaSuccess;
}

bool rung_gpu_get(kith_pairs *list)
{
    if (list->memory != KITH_DEVICE) {
        return true;
    }
    const size_t bytes = (size_t)list->n * sizeof *list->i;
    kith_pairs copy;
    memset(&copy, 0, sizeof copy);
    const bool ok = rung_reserve(&copy, list->n + 1) &&
                    (bytes == 0 ||
                     (cudaMemcpy(copy.i, list->i, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
                      cudaMemcpy(copy.j, list->j, bytes, cudaMemcpyDeviceToHost) == cudaSuccess));
    copy.n = list->n;
    cudaFree(list->i);
    cudaFree(list->j);
    if (!ok) {
        rung_free(&copy);
    }
    *list = copy;
    return ok;
}

bool rung_gpu_reserve(kith_pairs *list, int64_t pairs)
{
    list->memory = KITH_DEVICE;
    if (list->j && pairs <= list->capacity) {
        return true;
    }
    const size_t bytes = (size_t)pairs * sizeof *list->i + 1;
    cudaFree(list->i);
    cudaFree(list->j);
    list->i = list->j = NULL;
    list->capacity = 0;
    if (cudaMalloc((void **)&list->i, bytes) != cudaSuccess ||
        cudaMalloc((void **)&list->j, bytes) != cudaSuccess) {
        return false;
    }
    list->capacity = pairs;
    return true;
}

void *rung_gpu_alloc(rung_gpu_memory *memory, int64_t bytes)
{
    void *block = NULL;
    if (memory->n == RUNG_GPU_BLOCKS ||
        cudaMallocAsync(&block, (size_t)bytes + 1, 0) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    memory->block[memory->n++] = block;
    memory->bytes += bytes;
    return block;
}

void rung_gpu_free(rung_gpu_memory *memory)
{
    while (memory->n > 0) {
        cudaFreeAsync(memory->block[--memory->n], 0);
    }
}

/* ---------------------------------------------------------------------------------------- sort */

static __global__ void number_points(const double *xyz, int64_t n, rung_grid grid, uint32_t *cell,
                                     int32_t *id)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < n) {
        cell[p] = (uint32_t)rung_grid_number(&grid, xyz + 3 * p);
        id[p] = (int32_t)p;
    }
}

static __global__ void deal_points(const double *xyz, const uint32_t *cell, rung_gpu_cells cells)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s > cells.n) {
        return;
    }
    rung_gpu_begin_cells(cell, cells.n, cells.grid.cells, s, cells.start);
    for (int k = 0; k < 3 && s < cells.n; k++) {
        cells.xyz[3 * s + k] = xyz[3 * (int64_t)cells.id[s] + k];
    }
}

bool rung_gpu_sort_keys(rung_gpu_keys *keys, int64_t n, int64_t most, void *temporary,
                        size_t *bytes)
{
    int bits = 1;
    while (bits < 32 && most >> bits) {
        bits++;
    }
    cub::DoubleBuffer<uint32_t> key(keys->key, keys->key2);
    cub::DoubleBuffer<int32_t> value(keys->value, keys->value2);
    if (cub::DeviceRadixSort::SortPairs(temporary, *bytes, key, value, n, 0, bits) != cudaSuccess) {
        return false;
    }
    if (temporary) {
        *keys = {key.Current(), key.Alternate(), value.Current(), value.Alternate()};
    }
    return true;
}

bool rung_gpu_sort(const rung_input *in, rung_gpu_memory *memory, rung_gpu_cells *cells)
{
    const rung_gpu *const gpu = in->gpu;
    const int64_t n = in->n;
    const int64_t four = n * (int64_t)sizeof(int32_t);
    rung_gpu_keys keys = {
        (uint32_t *)rung_gpu_alloc(memory, four), (uint32_t *)rung_gpu_alloc(memory, four),
        (int32_t *)rung_gpu_alloc(memory, four), (int32_t *)rung_gpu_alloc(memory, four)};
    const int64_t starts = (gpu->grid.cells + 1) * (int64_t)sizeof *cells->start;
    cells->grid = gpu->grid;
    cells->n = n;
    cells->start = (int32_t *)rung_gpu_alloc(memory, starts);
    cells->xyz = (double *)rung_gpu_alloc(memory, 3 * n * (int64_t)sizeof *cells->xyz);
    if (!keys.key || !keys.key2 || !keys.value || !keys.value2 || !cells->start || !cells->xyz ||
        gpu->grid.cells > UINT32_MAX) {
        return false;
    }
    size_t bytes = 0;
    if (!rung_gpu_sort_keys(&keys, n, gpu->grid.cells, NULL, &bytes)) {
        return false;
    }
    void *const temporary = rung_gpu_alloc(memory, (int64_t)bytes);
    if (!temporary) {
        return false;
    }
    number_points<<<rung_gpu_blocks_for(n), RUNG_GPU_THREADS>>>(gpu->xyz, n, gpu->grid, keys.key,
                                                                keys.value);
    if (cudaGetLastError() != cudaSuccess ||
        !rung_gpu_sort_keys(&keys, n, gpu->grid.cells, temporary, &bytes)) {
        return false;
    }
    cells->id = keys.value;
    deal_points<<<rung_gpu_blocks_for(n + 1), RUNG_GPU_THREADS>>>(gpu->xyz, keys.key, *cells);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_scan(rung_gpu_memory *memory, int64_t *count, int64_t n, int64_t *total)
{
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(NULL, bytes, count, count, n + 1);
    void *const temporary = rung_gpu_alloc(memory, (int64_t)bytes);
    return temporary &&
           cub::DeviceScan::ExclusiveSum(temporary, bytes, count, count, n + 1) == cudaSuccess &&
           cudaMemcpy(total, count + n, sizeof *total, cudaMemcpyDeviceToHost) == cudaSuccess;
}
