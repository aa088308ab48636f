/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Boids in device memory, and sorting them by cell. Memory is allocated when a rung first needs it.
 */
#include "rung_flock_gpu.cuh"

#include <stdlib.h>
#include <string.h>

static const float radius[2] = {3, 5};
static const double cell_side =
    5.01;                 /* slightly more than the radius: cells of boids are computed in float */
enum { LEAST_CELLS = 3 }; /* along an axis: with fewer a boid would be in reach twice */

template <typename T> static bool need(T **array, int64_t n)
{
    return *array || cudaMalloc((void **)array, (size_t)n * sizeof **array + 1) == cudaSuccess;
}

template <typename T> static void exchange(T *&a, T *&b)
{
    T *const c = a;
    a = b;
    b = c;
}

bool rung_flock_gpu_turn(rung_flock_gpu *g)
{
    exchange(g->r, g->r2);
    exchange(g->v, g->v2);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_flock_gpu_go(rung_flock_gpu *g, int64_t steps)
{
    if (!g->one) {
        return rung_flock_gpu_mainline(g, steps);
    }
    for (int64_t s = 0; s < steps; s++) {
        if (!g->one(g)) {
            return false;
        }
    }
    return cudaDeviceSynchronize() == cudaSuccess;
}

/* ---------------------------------------------------------------------------------------- order */

static __global__ void number_cells(rung_flock_gpu g)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < g.n) {
        const float *const r = g.r + 3 * i;
        const int32_t row = cell_along(g, r[2]) * g.cells + cell_along(g, r[1]);
        g.cell[i] = (uint32_t)(row * g.cells + cell_along(g, r[0]));
        g.order[i] = (int32_t)i;
    }
}

static __global__ void begin_cells(rung_flock_gpu g, int64_t cells)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s <= g.n) {
        rung_gpu_begin_cells(g.cell, g.n, cells, s, g.start);
    }
}

static bool prepare(rung_flock_gpu *g, int64_t cells)
{
    rung_gpu_keys none = {NULL, NULL, NULL, NULL};
    return g->temporary ||
           (need(&g->cell, g->n) && need(&g->cell2, g->n) && need(&g->order, g->n) &&
            need(&g->order2, g->n) && need(&g->start, cells + 1) &&
            rung_gpu_sort_keys(&none, g->n, cells, NULL, &g->temporary_bytes) &&
            need(&g->temporary, (int64_t)g->temporary_bytes));
}

bool rung_flock_gpu_sort(rung_flock_gpu *g)
{
    const int64_t cells = (int64_t)g->cells * g->cells * g->cells;
    if (g->fault == RUNG_STALE && g->temporary) {
        return true;
    }
    if (!prepare(g, cells)) {
        return false;
    }
    number_cells<<<rung_gpu_blocks_for(g->n), RUNG_GPU_THREADS>>>(*g);
    rung_gpu_keys keys = {g->cell, g->cell2, g->order, g->order2};
    if (cudaGetLastError() != cudaSuccess ||
        !rung_gpu_sort_keys(&keys, g->n, cells, g->temporary, &g->temporary_bytes)) {
        return false;
    }
    g->cell = keys.key;
    g->cell2 = keys.key2;
    g->order = keys.value;
    g->order2 = keys.value2;
    begin_cells<<<rung_gpu_blocks_for(g->n + 1), RUNG_GPU_THREADS>>>(*g, cells);
    return cudaGetLastError() == cudaSuccess;
}

static __global__ void number_boids(rung_flock_gpu g)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < g.n) {
        g.id[i] = (int32_t)i;
    }
}

static __global__ void copy_boids(rung_flock_gpu g)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < g.n) {
        const int64_t from = g.order[s];
        for (int k = 0; k < 3; k++) {
            g.r2[3 * s + k] = g.r[3 * from + k];
            g.v2[3 * s + k] = g.v[3 * from + k];
        }
        g.id2[s] = g.id[from];
    }
}

bool rung_flock_gpu_arrange(rung_flock_gpu *g)
{
    if (!g->id) {
        if (!need(&g->id, g->n) || !need(&g->id2, g->n)) {
            return false;
        }
        number_boids<<<rung_gpu_blocks_for(g->n), RUNG_GPU_THREADS>>>(*g);
    }
    if (!rung_flock_gpu_sort(g)) {
        return false;
    }
    copy_boids<<<rung_gpu_blocks_for(g->n), RUNG_GPU_THREADS>>>(*g);
    exchange(g->id, g->id2);
    return rung_flock_gpu_turn(g);
}

/* ------------------------------------------------------------------------------------ transfers */

bool rung_flock_gpu_put(rung_flock_gpu *g, const rung_herd *herd)
{
    const size_t bytes = (size_t)herd->n * 3 * sizeof(float);
    if (!g->one) {
        return rung_flock_gpu_open(g, herd);
    }
    g->n = herd->n;
    g->side = (float)herd->side;
    g->cells = max((int32_t)(herd->side / (g->width > 0 ? g->width : cell_side)),
                   (int32_t)LEAST_CELLS);
    g->left_out = g->fault == RUNG_LAST;
    for (int k = 0; k < 2; k++) { /* the fault tests r <= radius^2, not r^2 <= radius^2 */
        const float square = radius[k] * radius[k];
        g->reach2[k] = g->fault == RUNG_SQUARE ? square * square : square;
    }
    bool ok = need(&g->r, 3 * g->n) && need(&g->v, 3 * g->n) && need(&g->r2, 3 * g->n) &&
              need(&g->v2, 3 * g->n) &&
              cudaMemcpy(g->r, herd->r, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
              cudaMemcpy(g->v, herd->v, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
    if (ok && g->id) {
        number_boids<<<rung_gpu_blocks_for(g->n), RUNG_GPU_THREADS>>>(*g);
        ok = cudaGetLastError() == cudaSuccess;
    }
    return ok;
}

bool rung_flock_gpu_get(const rung_flock_gpu *g, rung_herd *herd)
{
    if (g->flock) {
        return kith_flock_read(g->flock, herd->r, herd->v) == KITH_OK;
    }
    const size_t n = (size_t)g->n, bytes = 3 * n * sizeof(float);
    float *const r = (float *)malloc(bytes + 1), *const v = (float *)malloc(bytes + 1);
    int32_t *const id = (int32_t *)malloc(n * sizeof *id + 1);
    bool ok = r && v && id && cudaMemcpy(r, g->r, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
              cudaMemcpy(v, g->v, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    ok = ok &&
         (!g->id || cudaMemcpy(id, g->id, n * sizeof *id, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (size_t s = 0; s < n && ok; s++) {
        const size_t p = g->id ? (size_t)id[s] : s;
        memcpy(herd->r + 3 * p, r + 3 * s, 3 * sizeof *r);
        memcpy(herd->v + 3 * p, v + 3 * s, 3 * sizeof *v);
    }
    free(r);
    free(v);
    free(id);
    return ok;
}

static int64_t room(void)
{
    size_t available = 0, total = 0;
    (void)cudaMemGetInfo(&available, &total);
    return (int64_t)available;
}

int64_t rung_flock_gpu_free(rung_flock_gpu *g)
{
    void *const arrays[] = {g->r,    g->v,     g->r2,    g->v2,     g->id,    g->id2,
                            g->cell, g->cell2, g->order, g->order2, g->start, g->temporary};
    const int64_t before = room();
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        cudaFree(arrays[a]);
    }
    kith_flock_close(g->flock);
    kith_close(g->ctx);
    const rung_flock_gpu empty = {};
    *g = empty;
    return room() - before;
}
