/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: a thread takes a clump to the parts around it that come later: in its own cell, first in
 * crowded cells only those beside it, so that most are in one tree before the rest is looked at;
 * then a row of cells ahead that is in reach. Two large clumps are left to a warp, which compares
 * them at the end of each pass if they are still in two trees.
 */
#include "seeker.cuh"

enum {
    THREADS = 128,
    RESIDENT = 10 /**< blocks on a multiprocessor: so much waiting on memory wants many warps */
};

/** Bring what is known of parts to shared memory. */
static __device__ __forceinline__ void share_parts(const struct kith__gpu_friends &f,
                                                   struct kith__parts *parts)
{
    for (int w = (int)threadIdx.x; w < (int)(sizeof *parts / sizeof(int)); w += THREADS) {
        ((int *)parts)[w] = ((const int *)&f.parts)[w];
    }
    __syncthreads();
}

/** In each clump's own cell: those beside it where that is crowded, or all. */
template <typename real>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    link_inside(const struct kith__gpu_friends f, bool beside)
{
    __shared__ struct kith__parts parts;
    share_parts(f, &parts);
    const int64_t clump = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (clump >= f.n) {
        return;
    }
    seeker<real> me;
    sit(f, parts, clump, &me);
    const int64_t cell = (int64_t)(f.key[clump] >> f.parts.bits);
    if (beside) {
        meet_beside(me, cell);
    } else {
        meet_own(me, cell);
    }
}

/** A row of cells in reach of one of the block's clumps. */
struct row {
    int16_t clump;  /**< of the block's */
    int8_t away[2]; /**< along y and z */
};

/** The rows in reach of a clump. */
struct rows {
    int low;     /**< along y, where z is not 0 */
    int high[3]; /**< along each axis */
    int begin;   /**< number of the first among the block's */
};

enum { ROOM = 8 * THREADS }; /**< rows listed at a time */

/** List those of a clump's rows that are next, from number `window` of the block's on. */
static __device__ void list_rows(const struct rows &mine, int window, struct row *list)
{
    int k = mine.begin - window;
    for (int z = 0; z <= mine.high[2]; z++) {
        for (int y = z ? mine.low : (mine.high[0] > 0 ? 0 : 1); y <= mine.high[1]; y++, k++) {
            if (k >= 0 && k < ROOM) {
                list[k].clump = (int16_t)threadIdx.x;
                list[k].away[0] = (int8_t)y;
                list[k].away[1] = (int8_t)z;
            }
        }
    }
}

/** In the cells ahead: few clumps have many cells in reach, so a block shares out the rows. */
template <typename real>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    link_across(const struct kith__gpu_friends f)
{
    __shared__ struct kith__parts parts;
    __shared__ struct row list[ROOM];
    __shared__ int64_t at[3][THREADS];
    __shared__ int n_rows;
    const int64_t from = (int64_t)blockIdx.x * THREADS;
    const int64_t clump = from + threadIdx.x;
    if (threadIdx.x == 0) {
        n_rows = 0;
    }
    share_parts(f, &parts);
    struct rows mine = {0, {0, 0, -1}, 0}; /* none */
    if (clump < f.n) {
        int part[3];
        kith__part_of(f.axis, f.key[clump], part);
        const int64_t row = row_of_cell((int64_t)(f.key[clump] >> f.parts.bits), f.axis[0].n,
                                        &at[0][threadIdx.x]);
        at[2][threadIdx.x] = row_of_cell(row, f.axis[1].n, &at[1][threadIdx.x]);
        mine.low = parts.cell_low[1][part[1]];
        for (int k = 0; k < 3; k++) {
            mine.high[k] = parts.cell_high[k][part[k]];
        }
        mine.begin = atomicAdd(&n_rows, (mine.high[0] > 0) + mine.high[1] +
                                            mine.high[2] * (mine.high[1] - mine.low + 1));
    }
    __syncthreads();
    for (int window = 0; window < n_rows; window += ROOM) {
        list_rows(mine, window, list);
        __syncthreads();
        for (int k = (int)threadIdx.x; k < ROOM && window + k < n_rows; k += THREADS) {
            seeker<real> me;
            const int whose = list[k].clump;
            int away[3] = {0, list[k].away[0], list[k].away[1]};
            sit(f, parts, from + whose, &me);
            for (int i = 0; i < 3; i++) {
                me.at[i] = at[i][whose];
            }
            meet_cells(me, away, away[1] || away[2] ? parts.cell_low[0][me.part[0]] : 1,
                       parts.cell_high[0][me.part[0]]);
        }
        __syncthreads();
    }
}

/** Does some particle of clump a touch one of clump b? The lanes of a warp share the larger. */
template <typename real>
static __device__ bool warp_touches(const seeker<real> &me, const struct kith__gpu_later &later)
{
    const int64_t a[2] = {me.f->first[later.a], me.f->first[later.a + 1]};
    const int64_t b[2] = {me.f->first[later.b], me.f->first[later.b + 1]};
    const bool along_b = b[1] - b[0] >= a[1] - a[0];
    const int64_t *outer = along_b ? a : b;
    const int64_t *inner = along_b ? b : a;
    int width = 1;
    while (width < LANES && width < inner[1] - inner[0]) {
        width *= 2;
    }
    for (int64_t from = outer[0]; from < outer[1]; from += LANES / width) {
        const int64_t o = from + my_lane() / width;
        bool hit = false;
        for (int64_t s = inner[0] + my_lane() % width; o < outer[1] && s < inner[1]; s += width) {
            hit = hit || apart(me, along_b ? o : s, along_b ? s : o, later.shift) <= me.cutoff2;
        }
        if (which_lanes(hit)) {
            return true;
        }
    }
    return false;
}

/** Compare the clumps that were left: a warp for each two. */
template <typename real> static __global__ void link_later(const struct kith__gpu_friends f)
{
    const unsigned long long all = f.small->n_later;
    const unsigned long long n = all < f.room_later ? all : f.room_later;
    const unsigned long long warps = (unsigned long long)gridDim.x * (THREADS / LANES);
    seeker<real> me;
    stand(f, &me);
    for (unsigned long long k = ((unsigned long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
         k < n; k += warps) {
        const struct kith__gpu_later later = f.later[k];
        const bool two = from_lane((int)(root_of(f.parent, later.a) != root_of(f.parent, later.b)),
                                   0);
        if (two && warp_touches(me, later) && my_lane() == 0) {
            unite(f.parent, later.a, later.b);
        }
    }
}

/** Compare what was left in a pass. */
template <typename real>
static gpuError_t finish_pass(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = 1024;
    if (f->by_clump) {
        KITH_LAUNCH(link_later<real>, blocks, THREADS, stream, *f);
    }
    const gpuError_t error = gpuGetLastError();
    return error == gpuSuccess
               ? gpuMemsetAsync(&f->small->n_later, 0, sizeof f->small->n_later, stream)
               : error;
}

template <typename real>
static gpuError_t link_all(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = (f->n + THREADS - 1) / THREADS;
    gpuError_t error = gpuSuccess;
    if (f->by_clump && f->crowds) {
        KITH_LAUNCH(link_inside<real>, blocks, THREADS, stream, *f, true);
        error = finish_pass<real>(f, stream);
    }
    if (error == gpuSuccess) {
        KITH_LAUNCH(link_inside<real>, blocks, THREADS, stream, *f, false);
        error = finish_pass<real>(f, stream);
    }
    if (error == gpuSuccess) {
        KITH_LAUNCH(link_across<real>, blocks, THREADS, stream, *f);
        error = finish_pass<real>(f, stream);
    }
    return error;
}

gpuError_t kith__gpu_link(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    return f->question.precision == KITH_FLOAT ? link_all<float>(f, stream)
                                               : link_all<double>(f, stream);
}
