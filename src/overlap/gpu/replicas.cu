/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Products of replicas (matrix multiplication), whose histogram is made while a tile of them is in
 * registers. A thread block takes two panels (replicas.h), slice by slice through shared memory
 * with double buffering; a thread holds 8 by 8 products. Pairs whose products do not decide the bin
 * (struct kith__band of overlap/overlap.h) are queued in shared memory, and decided by the
 * definition, each by 32 lanes.
 *
 * Templates: `item` is the type of numbers in panels, float, double, or uint32_t for words of 32
 * spins; `row` is the type of numbers in the rows, which the definition reads.
 */
#include "rdf/gpu/counters.cuh"
#include "replicas.h"
#include "engine/gpu/gpu_sweep.h"
#include "engine/pieces.h"

enum {
    THREADS = 256,          /**< threads of a block */
    PANEL = KITH_GPU_PANEL, /**< replicas of a panel */
    SIDE = 8,               /**< rows, and columns, of the products of a thread */
    QUAD = 4                /**< adjacent rows, or columns, of a thread; the others are half a
                                 panel away */
};

/** For each type of packed numbers: the type of sums of products, and the thread blocks that a
 *  multiprocessor is meant to hold. */
template <typename item> struct kind;
template <> struct kind<float> {
    typedef float sum;
    static const int blocks = 2;
};
template <> struct kind<double> {
    typedef double sum;
    static const int blocks = 1;
};
template <> struct kind<uint32_t> {
    typedef int sum;
    static const int blocks = 2;
};

/** Size of a slice: KITH_GPU_SLICE numbers of all replicas of a panel, the part of it that is in
 *  shared memory at a time. */
template <typename item> struct slice {
    static const int bytes = KITH_GPU_SLICE * PANEL * (int)sizeof(item); /**< its size [bytes] */
    static const int pieces = bytes / 16 / THREADS; /**< pieces of 16 bytes for each thread */
};

/** QUAD numbers of adjacent replicas, which are read by loads of 16 bytes: one, or two for doubles.
 */
template <typename item> struct alignas(16) quad {
    item of[QUAD]; /**< the numbers */
};

/** Return c + a * b; for words of spins, c + the number of unequal spins. */
static __device__ __forceinline__ float add_product(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
static __device__ __forceinline__ double add_product(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}
static __device__ __forceinline__ int add_product(uint32_t a, uint32_t b, int c)
{
    return c + __popc(a ^ b);
}

/* --------------------------------------------------------------------------------------- panels */

/** Return a number, or a word of spins, as it is stored in a panel: numbers times their scale. */
template <typename item> static __device__ __forceinline__ item scaled(double value, double scale)
{
    return (item)(value * scale);
}
template <typename item> static __device__ __forceinline__ item scaled(uint32_t spins, double)
{
    return spins;
}

/** Fill panels, one in each block, with one thread for each replica.
 *  @param per_row  numbers, or words of 32 spins, of a row; rows are contiguous */
template <typename item, typename row>
static __global__ void pack(const struct kith__gpu_replicas all, int64_t per_row)
{
    const int64_t r = (int64_t)blockIdx.x * PANEL + threadIdx.x;
    item *const to = (item *)all.panels + (int64_t)blockIdx.x * all.depth * PANEL + threadIdx.x;
    const bool there = r < all.overlap.n;
    const double scale = there ? all.scales[r] : 0;
    const row *const from = (const row *)all.overlap.rows + (there ? r : 0) * per_row;
    for (int64_t k = 0; k < all.depth; k++) {
        const bool has = there && k < per_row;
        to[k * PANEL] = has ? scaled<item>(from[k], scale) : (item)0;
    }
}

/** Launch `pack` for the types of panels and rows. */
template <typename item, typename row>
static gpuError_t run_pack(const struct kith__gpu_replicas *all, int64_t per_row,
                           gpuStream_t stream)
{
    KITH_LAUNCH((pack<item, row>), all->n_panels, PANEL, stream, *all, per_row);
    return gpuGetLastError();
}

gpuError_t kith__gpu_pack(const struct kith__gpu_replicas *all, gpuStream_t stream)
{
    const struct kith__overlap *o = &all->overlap;
    return o->type == KITH_BITS     ? run_pack<uint32_t, uint32_t>(all, 2 * o->stride, stream)
           : o->type == KITH_DOUBLE ? run_pack<double, double>(all, o->stride, stream)
           : all->precision == KITH_DOUBLE ? run_pack<double, float>(all, o->stride, stream)
                                           : run_pack<float, float>(all, o->stride, stream);
}

/* ------------------------------------------------------------------------------------- products */

/** Slices in shared memory: two buffers, of which one is read while the other is filled. */
template <typename item> struct slices {
    item of[2][2][KITH_GPU_SLICE][PANEL]; /**< [buffer][left or right panel][number][replica] */
};

/** Start to load the thread's pieces of slice s of two panels into registers: the loads run while
 *  the slice before is multiplied.
 *  @param left, right  first number of both panels in device memory
 *  @param[out] held    pieces of 16 bytes of both panels */
template <typename item>
static __device__ __forceinline__ void fetch(const item *left, const item *right, int64_t s,
                                             uint4 held[2][slice<item>::pieces])
{
    const int64_t at = s * (slice<item>::bytes / 16) + threadIdx.x;
#pragma unroll
    for (int p = 0; p < slice<item>::pieces; p++) {
        held[0][p] = ((const uint4 *)left)[at + p * THREADS];
        held[1][p] = ((const uint4 *)right)[at + p * THREADS];
    }
}

/** Store the thread's pieces of the loaded slices in buffer `turn` of shared memory. */
template <typename item>
static __device__ __forceinline__ void store(slices<item> *shared, int turn,
                                             const uint4 held[2][slice<item>::pieces])
{
#pragma unroll
    for (int p = 0; p < slice<item>::pieces; p++) {
        ((uint4 *)shared->of[turn][0])[threadIdx.x + p * THREADS] = held[0][p];
        ((uint4 *)shared->of[turn][1])[threadIdx.x + p * THREADS] = held[1][p];
    }
}

/** Return the first row of a thread's products. A warp has 4 by 8 threads, so that it reads each
 *  panel contiguously. */
static __device__ __forceinline__ int row_of_thread()
{
    return ((int)threadIdx.x / 64 * 4 + (int)threadIdx.x % 32 / 8) * QUAD;
}
/** Return the first column of a thread's products. */
static __device__ __forceinline__ int column_of_thread()
{
    return ((int)threadIdx.x % 64 / 32 * 8 + (int)threadIdx.x % 8) * QUAD;
}

/** Return the row or column in the tile of product m < SIDE of a thread whose first row or column
 *  is given. */
static __device__ __forceinline__ int place_of(int first, int m)
{
    return first + m % QUAD + m / QUAD * (PANEL / 2);
}

/** Add the products of a slice of both panels to the thread's sums. */
template <typename item>
static __device__ __forceinline__ void multiply_slice(const item left[][PANEL],
                                                      const item right[][PANEL],
                                                      typename kind<item>::sum sum[SIDE][SIDE])
{
    const int row = row_of_thread(), column = column_of_thread();
#pragma unroll
    for (int k = 0; k < KITH_GPU_SLICE; k++) {
        quad<item> a[2], b[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            a[h] = *(const quad<item> *)&left[k][row + h * PANEL / 2];
            b[h] = *(const quad<item> *)&right[k][column + h * PANEL / 2];
        }
#pragma unroll
        for (int m = 0; m < SIDE; m++) {
#pragma unroll
            for (int n = 0; n < SIDE; n++) {
                sum[m][n] = add_product(a[m / QUAD].of[m % QUAD], b[n / QUAD].of[n % QUAD],
                                        sum[m][n]);
            }
        }
    }
}

/** Copy the stop flag to shared memory: *is_stopped is true when the host has set it. All threads
 *  call it, and synchronise afterwards. */
static __device__ __forceinline__ void read_stop(const struct kith__gpu_replicas &all,
                                                 bool *is_stopped)
{
    if (threadIdx.x == 0) {
        *is_stopped = *(const volatile unsigned *)all.stop >= KITH_GPU_STOP;
    }
}

/** Compute the products of a thread, of the tile of panels I and J.
 *  @param[out] is_stopped  in shared memory: the host has set the stop flag. It is written between
 *                          two barriers, and read after the second
 *  @param[in,out] sum      0 before; the products of row m and column n of the thread (place_of)
 *  @return false when the host has set the stop flag: the products are incomplete */
template <typename item>
static __device__ __forceinline__ bool multiply(const struct kith__gpu_replicas &all, int64_t I,
                                                int64_t J, slices<item> *shared, bool *is_stopped,
                                                typename kind<item>::sum sum[SIDE][SIDE])
{
    enum { ASK_EACH = 1024 }; /* slices between two readings of the stop flag */
    const item *const left = (const item *)all.panels + I * all.depth * PANEL;
    const item *const right = (const item *)all.panels + J * all.depth * PANEL;
    const int64_t n = all.depth / KITH_GPU_SLICE;
    uint4 held[2][slice<item>::pieces];
    read_stop(all, is_stopped);
    fetch<item>(left, right, 0, held);
    store<item>(shared, 0, held);
    __syncthreads();
    if (*is_stopped) {
        return false;
    }
    for (int64_t s = 0; s < n; s++) {
        const int turn = (int)(s % 2);
        const bool asks = s % ASK_EACH == ASK_EACH - 1 && s + 1 < n;
        if (s + 1 < n) {
            fetch<item>(left, right, s + 1, held);
        }
        multiply_slice<item>(shared->of[turn][0], shared->of[turn][1], sum);
        if (s + 1 < n) {
            store<item>(shared, 1 - turn, held);
        }
        if (asks) {
            read_stop(all, is_stopped);
        }
        __syncthreads();
        if (asks && *is_stopped) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------ histogram */

/** Counters of a block, and its queue of pairs that the definition has to decide. */
struct tile_counters {
    struct counters fine; /**< in shared memory */
    /** [bins + 2] in device memory, when `fine` does not fit in shared memory; else NULL. */
    unsigned long long *coarse;
    uint16_t *queue;   /**< [PANEL * PANEL / 2] row * PANEL + column in the tile; overlays the
                            slices in shared memory, which are not needed then */
    unsigned *waiting; /**< number of pairs in the queue */
};

/** Count one pair at a counter, 0 to bins + 1. */
static __device__ __forceinline__ void count_pair(const struct tile_counters &c, int32_t counter)
{
    if (c.coarse) {
        atomicAdd(&c.coarse[counter], 1ull);
    } else {
        count_one(c.fine, (uint32_t)counter);
    }
}

/** Copy of struct kith__band in the precision of products; `most` is larger by 0.5, which its
 *  conversion to an integer truncates. */
template <typename real> struct scale_of_counters {
    real half, edge, factor, offset, least, most; /**< fields of the band */
    bool distance;                                /**< the measure is the distance */
};

/** Return the constants from products to counters of a call. */
template <typename real>
static __device__ __forceinline__ scale_of_counters<real> scale_of(
    const struct kith__gpu_replicas &a)
{
    const scale_of_counters<real> s = {(real)a.band.half,
                                       (real)a.band.edge,
                                       (real)a.band.factor,
                                       (real)a.band.offset,
                                       (real)a.band.least,
                                       (real)a.band.most + (real)0.5,
                                       a.overlap.measure == KITH_DISTANCE};
    return s;
}

/** Return the counter at a position among the bins, clamped to s.least and s.most. */
template <typename real>
static __device__ __forceinline__ int32_t clamp(const scale_of_counters<real> &s, real at)
{
    at = at > s.least ? at : s.least;
    return (int32_t)(at < s.most ? at : s.most);
}

/** Find the counter of a product.
 *  @param c             the product of the scaled replicas
 *  @param left, right   weights of both replicas
 *  @param[out] counter  counter of the lower end of the band
 *  @return true when the upper end of the band has this counter, too */
template <typename real>
static __device__ __forceinline__ bool find_counter(const scale_of_counters<real> &s, real c,
                                                    real left, real right, int32_t *counter)
{
    real from, to;
    if (s.distance) {
        const real square = (left + right) - 2 * c;
        const real less = square - s.half, more = square + s.half;
        from = sqrt(less > 0 ? less : (real)0) - s.edge;
        to = sqrt(more > 0 ? more : (real)0) + s.edge;
    } else {
        const real t = c * (left * right);
        from = t - (s.half + s.edge);
        to = t + (s.half + s.edge);
    }
    *counter = clamp(s, from * s.factor + s.offset);
    return *counter == clamp(s, to * s.factor + s.offset);
}

/** Return the counter of a pair by the definition. @param s  its scalar product */
static __device__ __noinline__ int32_t resolve(const struct kith__overlap &o, int64_t i, int64_t j,
                                               double s)
{
    const double value = kith__overlap_value(o.measure, s, o.square[i], o.square[j]);
    return kith__overlap_counter(o.edges, (int32_t)o.bins, o.low, o.width, value);
}

/** Decide the pairs in the queue by the definition, and count them: 32 lanes sum a scalar product,
 *  one of the KITH_OVERLAP_SUMS partial sums in each, which a butterfly of shuffles adds in the
 *  order of the definition. All threads of the block call it. */
template <typename row>
static __device__ __forceinline__ void resolve_queued(const struct kith__overlap &o,
                                                      const struct tile_counters &c, int64_t I,
                                                      int64_t J)
{
    const int lane = (int)threadIdx.x % KITH_OVERLAP_SUMS;
    const unsigned groups = THREADS / KITH_OVERLAP_SUMS;
    for (unsigned w = threadIdx.x / KITH_OVERLAP_SUMS; w < *c.waiting; w += groups) {
        const int64_t i = I * PANEL + c.queue[w] / PANEL;
        const int64_t j = J * PANEL + c.queue[w] % PANEL;
        const row *const x = (const row *)o.rows + i * o.stride;
        const row *const y = (const row *)o.rows + j * o.stride;
        double s = 0;
#pragma unroll 8
        for (int64_t k = lane; k < o.dim; k += KITH_OVERLAP_SUMS) {
            s = KITH_ADD_d(s, KITH_MUL_d((double)x[k], (double)y[k]));
        }
        for (int half = KITH_OVERLAP_SUMS / 2; half > 0; half /= 2) {
            s = KITH_ADD_d(s, from_partner(s, half));
        }
        if (lane == 0) {
            count_pair(c, resolve(o, i, j, s));
        }
    }
}

/** Count the pairs of a tile of spins, whose sums are numbers of unequal spins: exact. */
template <typename row>
static __device__ __forceinline__ void count_tile(const struct kith__gpu_replicas &all,
                                                  const struct tile_counters &c, int64_t I,
                                                  int64_t J, const int sum[SIDE][SIDE])
{
    const struct kith__overlap &o = all.overlap;
    const int64_t first_i = I * PANEL + row_of_thread(), first_j = J * PANEL + column_of_thread();
#pragma unroll
    for (int m = 0; m < SIDE; m++) {
#pragma unroll
        for (int n = 0; n < SIDE; n++) {
            const int64_t j = first_j + place_of(0, n);
            if (first_i + place_of(0, m) < j && j < o.n) {
                count_pair(c, o.table[sum[m][n]]);
            }
        }
    }
}

/** Append pairs to the queue. @param bits  bit m * SIDE + n is set for product (m, n) of a
 *  thread */
static __device__ __forceinline__ void append_to_queue(const struct tile_counters &c, uint64_t bits)
{
    for (; bits; bits &= bits - 1) {
        const int at = __ffsll((long long)bits) - 1;
        const int row = place_of(row_of_thread(), at / SIDE);
        const int column = place_of(column_of_thread(), at % SIDE);
        c.queue[atomicAdd(c.waiting, 1u)] = (uint16_t)(row * PANEL + column);
    }
}

/** Count the pairs of a tile of numbers; all threads of the block call it.
 *  @param sum  products of the thread */
template <typename row, typename real>
static __device__ __forceinline__ void count_tile(const struct kith__gpu_replicas &all,
                                                  const struct tile_counters &c, int64_t I,
                                                  int64_t J, const real sum[SIDE][SIDE])
{
    const struct kith__overlap &o = all.overlap;
    const scale_of_counters<real> scale = scale_of<real>(all);
    const int64_t first_i = I * PANEL + row_of_thread(), first_j = J * PANEL + column_of_thread();
    uint64_t undecided = 0;
#pragma unroll
    for (int m = 0; m < SIDE; m++) {
        const int64_t i = first_i + place_of(0, m);
        const real left = i < o.n ? (real)all.weights[i] : (real)0;
#pragma unroll
        for (int n = 0; n < SIDE; n++) {
            const int64_t j = first_j + place_of(0, n);
            if (i < j && j < o.n) {
                int32_t counter;
                if (find_counter(scale, sum[m][n], left, (real)all.weights[j], &counter)) {
                    count_pair(c, counter);
                } else {
                    undecided |= (uint64_t)1 << (m * SIDE + n);
                }
            }
        }
    }
    for (int half = 0; half < 2; half++) { /* the queue holds half of the pairs of a tile */
        append_to_queue(c, undecided & ((uint64_t)0xffffffffu << 32 * half));
        __syncthreads();
        resolve_queued<row>(o, c, I, J);
        __syncthreads();
        if (threadIdx.x == 0) {
            *c.waiting = 0;
        }
        __syncthreads();
    }
}

/** Find the panels I and J of a tile. Squares of tiles are the entries of an upper triangle
 *  (engine/pieces.h).
 *  @return false when the tile is below the diagonal or beyond the last panel */
static __device__ __forceinline__ bool find_tile(const struct kith__gpu_replicas &all, int64_t tile,
                                                 int64_t *I, int64_t *J)
{
    const int64_t square = tile / (KITH_GPU_SQUARE * KITH_GPU_SQUARE);
    const int inside = (int)(tile % (KITH_GPU_SQUARE * KITH_GPU_SQUARE));
    int64_t row, column;
    kith__triangle_entry(square, &row, &column);
    *I = row * KITH_GPU_SQUARE + inside / KITH_GPU_SQUARE;
    *J = column * KITH_GPU_SQUARE + inside % KITH_GPU_SQUARE;
    return *I <= *J && *J < all.n_panels;
}

/** Count all tiles of a launch, every gridDim.x-th in each block; fewer when the host sets the stop
 *  flag. */
template <typename item, typename row>
static __global__ void __launch_bounds__(THREADS, kind<item>::blocks)
    compare(const struct kith__gpu_replicas all)
{
    typedef typename kind<item>::sum sum_t;
    __shared__ slices<item> shared;
    __shared__ unsigned waiting;
    __shared__ bool is_stopped;
    const int64_t counters = all.overlap.bins + 2;
    const struct tile_counters c = {own_counters(block_counters, all.copies > 0 ? all.copies : 1),
                                    all.copies > 0 ? NULL : all.counts, (uint16_t *)&shared,
                                    &waiting};
    clear_counters(block_counters, counters, all.copies);
    waiting = 0;
    for (int64_t tile = all.begin + blockIdx.x; tile < all.end; tile += gridDim.x) {
        int64_t I, J;
        if (!find_tile(all, tile, &I, &J)) {
            continue;
        }
        sum_t sum[SIDE][SIDE] = {{0}};
        if (!multiply<item>(all, I, J, &shared, &is_stopped, sum)) {
            break;
        }
        count_tile<row>(all, c, I, J, sum);
    }
    __syncthreads();
    flush_counters(block_counters, all.copies > 0 ? counters : 0, all.copies, all.counts,
                   (int)threadIdx.x, THREADS);
}

/** Launch `compare` for the types of panels and rows. */
template <typename item, typename row>
static gpuError_t run_compare(const struct kith__gpu_replicas *all, int64_t blocks,
                              gpuStream_t stream)
{
    const size_t bytes = (size_t)((all->overlap.bins + 2) * all->copies) * sizeof(uint32_t);
    KITH_LAUNCH_SHARED((compare<item, row>), blocks, THREADS, bytes, stream, *all);
    return gpuGetLastError();
}

int kith__gpu_compare_blocks(kith_precision precision)
{
    return precision == KITH_FLOAT ? kind<float>::blocks : kind<double>::blocks;
}

gpuError_t kith__gpu_compare(const struct kith__gpu_replicas *all, int64_t blocks,
                             gpuStream_t stream)
{
    const struct kith__overlap *o = &all->overlap;
    return o->type == KITH_BITS            ? run_compare<uint32_t, uint32_t>(all, blocks, stream)
           : o->type == KITH_DOUBLE        ? run_compare<double, double>(all, blocks, stream)
           : all->precision == KITH_DOUBLE ? run_compare<double, float>(all, blocks, stream)
                                           : run_compare<float, float>(all, blocks, stream);
}
