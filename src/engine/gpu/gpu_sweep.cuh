/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep on a GPU finds all pairs within the cutoff. Query particles are processed in
 * i-clusters: up to 32 particles of one cell, or of neighbouring cells of a row (64 for
 * histograms). The candidates of an i-cluster are all particles of the cells around it
 * (around.cuh).
 *
 * A warp claims work blocks from a counter in device memory (a work queue). A work block is up to
 * 32 consecutive slots; the warp processes the i-clusters that begin there. A segment is a row of
 * the cells around an i-cluster at one periodic image: a range of consecutive slots (around.cuh).
 * The warp finds the segments of several i-clusters at once, one in each lane, as in sparse
 * regions most segments are empty. Each lane then holds DEEP candidates, loops over the query
 * particles, and sets one bit of a mask for each query particle within the cutoff (i_cluster.cuh).
 * The masks are passed to the operation, a template parameter.
 *
 * An operation is a struct, of which each thread has a copy, with
 *     struct shared                       its data in shared memory, for each warp
 *     bool begin(visit, shared)           called by the whole warp before the first candidates of
 *                                         an i-cluster; false: skip the candidates of the segments
 *                                         listed now, and call it again for the next LANES
 *                                         segments, if there are more. Not called again after true
 *     void take(visit, shared, at, mask)  called by the whole warp: the masks of this lane's DEEP
 *                                         candidates
 *     void end(visit, shared)             the i-cluster ends; called where begin returned true
 * and, for work that is done once for a thread block or for a work block, overloads of
 *     begin_block(operation), end_block(operation)    called by all threads of the thread block,
 *                                                     before the first and after the last i-cluster
 *     begin_work_block(visit, operation), end_work_block(visit, operation, shared)
 *                                                     called by the warp, before and after the
 *                                                     i-clusters of a work block
 * and, for operations that test candidates without masks, overloads of
 *     visit_candidates(...)             instead of take
 *     prepare_cluster(visit, operation)    loads the query particles and scales their coordinates
 */
#ifndef KITH_GPU_SWEEP_CUH
#define KITH_GPU_SWEEP_CUH

#include "i_cluster.cuh"

/* Several i-clusters share the lanes of a warp when set b has fewer particles than this: all their
 * candidates can then be counted in 32 bits. */
static const int64_t most_shared = ((int64_t)1 << 32) / LANES;

enum {
    WARPS = 4,                     /**< warps of a thread block */
    SWEEP_THREADS = WARPS * LANES, /**< threads of a thread block */
    SWEEP_BLOCKS = 6,              /**< thread blocks on a multiprocessor: limits registers */
    DEEP = 2,                      /**< candidates in each lane at a time */
    UNROLL = 4                     /**< query particles of one iteration of the inner loop */
};

/* Candidates of one i-cluster between two tests of the stop flag (is_stopped). */
enum { ASK_EACH = 64 * DEEP * LANES };

/** The shared memory of a warp. */
template <class Operation> struct warp_shared {
    struct visit_shared visit;            /**< the i-cluster and its candidates */
    typename Operation::shared operation; /**< data of the operation */
};

/* --------------------------------------------------------------------------------- work blocks */

/** Return the first slot from p on at which an i-cluster begins; grid.a.n when there is none. */
static __device__ __forceinline__ int64_t next_cluster(const struct kith__gpu_grid &grid, int64_t p)
{
    while (p < grid.a.n) {
        const uint32_t left = grid.marks[p / KITH_GPU_WORK_BLOCK] >> p % KITH_GPU_WORK_BLOCK;
        if (left) {
            return p + __ffs((int)left) - 1;
        }
        p += KITH_GPU_WORK_BLOCK - p % KITH_GPU_WORK_BLOCK;
    }
    return grid.a.n;
}

/** List the i-clusters that begin in the work block, in shared memory. */
template <typename real> static __device__ __forceinline__ void list_clusters(const visit<real> &v)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    const int length = v.sweep->work_block;
    const int64_t first = (int64_t)v.work_block * length;
    const uint32_t all = ~0u >> (KITH_GPU_WORK_BLOCK - length);
    const uint32_t word = grid.marks[first / KITH_GPU_WORK_BLOCK];
    const uint32_t marks = word >> first % KITH_GPU_WORK_BLOCK & all;
    const int n = __popc(marks);
    if (v.lane < KITH_GPU_WORK_BLOCK && marks >> v.lane & 1) {
        v.shared->cluster[__popc(marks & ((1u << v.lane) - 1))] = (int32_t)first + v.lane;
    }
    if (v.lane == 0) {
        v.shared->cluster[n] = (int32_t)next_cluster(grid, first + length);
        v.shared->clusters = n;
    }
    sync_warp();
}

/** A batch of consecutive i-clusters whose segments a warp lists at once. */
struct cluster_batch {
    int first; /**< number of the first i-cluster in the work block */
    int n;     /**< number of i-clusters */
    int each;  /**< lanes for the segments of each i-cluster; may exceed LANES when n is 1 */
};

/** Choose a batch of i-clusters from o->first on, and a lane for each of their segments.
 *  @param[in,out] o     the batch; n and each are set
 *  @param[out] cluster  first slot of this lane's i-cluster
 *  @param[out] around   the cells around it
 *  @return number of this lane's segment around its i-cluster; lanes beyond those that are shared
 *          get numbers from around->segments on */
template <typename real>
static __device__ __forceinline__ int share_lanes(const visit<real> &v, struct cluster_batch *o,
                                                  int32_t *cluster, struct around *around)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    const int left = v.shared->clusters - o->first;
    const int rows = rows_around(*v.sweep);
    o->each = rows;
    while (true) {
        const int room = grid.b.n < most_shared && o->each <= LANES ? LANES / o->each : 1;
        o->n = room < left ? room : left;
        const int mine = o->n > 1 ? min(v.lane / o->each, o->n - 1) : 0;
        const int32_t *const begin = &v.shared->cluster[o->first + mine];
        *cluster = begin[0];
        *around = cells_around(*v.sweep, (int64_t)grid.a.key[begin[0]],
                               (int64_t)grid.a.key[begin[1] - 1]);
        const int each = rows * (int)max_lanes((uint32_t)around->n_sx);
        if (each <= o->each) {
            return v.lane - mine * o->each;
        }
        o->each = each; /* an i-cluster reaches more than one image of its rows */
    }
}

/** List segments of the batch of i-clusters in shared memory, one in each lane; for a single
 *  i-cluster with more segments, up to LANES segments from number s on. */
template <typename real>
static __device__ void list_segments(const visit<real> &v, struct cluster_batch *o, int s)
{
    int32_t cluster;
    struct around around;
    const int segment = share_lanes(v, o, &cluster, &around);
    int64_t begin = 0, end = 0;
    int32_t image[3] = {0, 0, 0};
    if (s + segment < around.segments) {
        find_segment(*v.sweep, around, cluster, s + segment, &begin, &end, image);
    }
    const int64_t n = end > begin ? end - begin : 0;
    const int64_t sum = scan_lanes(n, v.lane);
    v.shared->range[v.lane] = {(uint32_t)sum, (uint32_t)(begin - (sum - n)),
                               kith__pack_shift(image), 0};
    if (v.lane == LANES - 1) {
        v.shared->candidates = sum;
    }
}

/* --------------------------------------------------------------------------------------- sweep */

/** Test DEEP candidates in each lane, from number c on, against all query particles, and pass the
 *  masks to the operation.
 *  @param total            number behind the last candidate
 *  @param[in,out] segment  range in which each lane found its last candidates */
template <typename real, class Operation>
static __device__ __forceinline__ void visit_candidates(const visit<real> &v, int64_t c,
                                                        int64_t total, int segment[DEEP],
                                                        Operation &operation,
                                                        typename Operation::shared *shared)
{
    float r[DEEP][3];
    float q[DEEP];
    uint32_t mask[DEEP];
    uint32_t least[DEEP];
    struct candidate at[DEEP];
    for (int d = 0; d < DEEP; d++) {
        at[d].segment = segment[d];
        const bool is_one = find_candidate(v, c + d * LANES, total, &at[d]);
        const float square = load_candidate(v, &at[d], r[d]);
        q[d] = is_one ? square : never;
        segment[d] = at[d].segment;
        mask[d] = 0;
        least[d] = ~0u;
    }
    /* From the last query particle, padding included, to the first: each shifts the masks left, so
     * that bit k belongs to query particle k. */
    const int steps = (v.n + UNROLL - 1) / UNROLL * UNROLL;
    for (int k = steps; k > 0; k -= UNROLL) {
#pragma unroll
        for (int u = 1; u <= UNROLL; u++) {
            const float4 i = v.shared->i[k - u];
#pragma unroll
            for (int d = 0; d < DEEP; d++) {
                const float t = excess(i, r[d][0], r[d][1], r[d][2], q[d]);
                const uint32_t bits = __float_as_uint(t);
                mask[d] = mask[d] << 1 | bits >> 31;
                least[d] = min(least[d], bits);
            }
        }
    }
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        if (least[d] <= v.borderline_bits) {
            mask[d] = decide(v, at[d], r[d][0], r[d][1], r[d][2], q[d], mask[d]);
        }
        mask[d] &= allowed(v, at[d]);
    }
    operation.take(v, shared, at, mask);
}

/** Load the query particles of an i-cluster; default for operations without an overload.
 *  @return visit.borderline_bits */
template <typename real, class Operation>
static __device__ __forceinline__ uint32_t prepare_cluster(const visit<real> &v, const Operation &)
{
    return load_cluster(v);
}

/* Defaults for operations without overloads: do nothing. */

template <class Operation> static __device__ __forceinline__ void begin_block(Operation &)
{
}
template <typename real, class Operation>
static __device__ __forceinline__ void begin_work_block(const visit<real> &, Operation &)
{
}
template <typename real, class Operation>
static __device__ __forceinline__ void end_work_block(const visit<real> &, Operation &,
                                                      typename Operation::shared *)
{
}
template <class Operation> static __device__ __forceinline__ void end_block(Operation &)
{
}

/** Return true when the host has set the stop flag. Tested inside the loop over the candidates of
 *  an i-cluster, as there may be very many. The result is uniform over the warp. */
template <typename real> static __device__ __forceinline__ bool is_stopped(const visit<real> &v)
{
    const unsigned next = v.lane == 0 ? *(const volatile unsigned *)v.sweep->next : 0;
    return from_lane(next, 0) >= KITH_GPU_STOP;
}

/** Process a batch of i-clusters of the work block, from number `first` on.
 *  @return how many i-clusters were processed */
template <typename real, class Operation>
static __device__ __forceinline__ int visit_clusters(visit<real> &v, int first,
                                                     Operation &operation,
                                                     typename Operation::shared *shared)
{
    struct cluster_batch o = {first, 1, 0};
    bool begun = false; /* operation.begin is called with the first candidates, if there are any */
    for (int s = 0; s == 0 || (s < o.each && !is_stopped(v)); s += LANES) {
        sync_warp();
        list_segments(v, &o, s);
        for (int h = 0; h < o.n; h++) {
            sync_warp();
            const bool alone = o.n == 1;
            const int lane = h * o.each;
            const int64_t from = h > 0 ? v.shared->range[lane - 1].end : 0;
            const int64_t to = alone ? v.shared->candidates
                                     : v.shared->range[lane + o.each - 1].end;
            if (to > from && !begun) { /* again after each list for which begin returned false */
                v.begin = v.shared->cluster[first + h];
                v.n = v.shared->cluster[first + h + 1] - v.begin;
                v.borderline_bits = prepare_cluster(v, operation);
                sync_warp();
                begun = operation.begin(v, shared);
                if (!begun) {
                    continue;
                }
            }
            int segment[DEEP];
            for (int d = 0; d < DEEP; d++) {
                segment[d] = lane;
            }
            for (int64_t c = from; c < to; c += DEEP * LANES) {
                if ((c - from) % ASK_EACH == ASK_EACH - DEEP * LANES && is_stopped(v)) {
                    break;
                }
                visit_candidates(v, c, to, segment, operation, shared);
            }
            if (begun && (!alone || s + LANES >= o.each)) {
                operation.end(v, shared);
                begun = false;
            }
        }
    }
    return o.n;
}

/** Claim and process work blocks until none is left. */
template <typename real, class Operation>
static __global__ void __launch_bounds__(SWEEP_THREADS, SWEEP_BLOCKS)
    sweep_kernel(const struct kith__gpu_sweep sweep, const Operation prototype)
{
    __shared__ struct warp_shared<Operation> warp_shared[WARPS];
    if (sweep.grid.plan->status != KITH_OK) {
        return;
    }
    Operation operation = prototype;
    typename Operation::shared *shared = &warp_shared[my_warp()].operation;
    visit<real> v;
    v.sweep = &sweep;
    v.shared = &warp_shared[my_warp()].visit;
    v.lane = my_lane();
    begin_block(operation);
    while (true) {
        unsigned taken = 0;
        if (v.lane == 0) {
            taken = atomicAdd(sweep.next, 1u);
        }
        const int64_t work_block = sweep.first + from_lane(taken, 0);
        if (work_block >= sweep.last) {
            break;
        }
        v.work_block = (int32_t)work_block;
        list_clusters(v);
        begin_work_block(v, operation);
        for (int h = 0; h < v.shared->clusters;) {
            h += visit_clusters(v, h, operation, shared);
        }
        end_work_block(v, operation, shared);
        sync_warp();
    }
    end_block(operation);
}

/** Queue the sweep with an operation.
 *  @param operation  initial state, copied for each thread
 *  @param bytes      dynamic shared memory of each thread block */
template <typename real, class Operation>
static gpuError_t run_sweep(const struct kith__gpu_sweep *sweep, const Operation &operation,
                            gpuStream_t stream, size_t bytes = 0)
{
    gpuError_t error = gpuMemsetAsync(sweep->next, 0, sizeof *sweep->next, stream);
    if (error == gpuSuccess && bytes > 0) { /* CUDA grants more than 48 KiB on request alone */
        error = gpuFuncSetAttribute((const void *)sweep_kernel<real, Operation>,
                                    gpuFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    }
    if (error == gpuSuccess) {
        KITH_LAUNCH_SHARED((sweep_kernel<real, Operation>), sweep->blocks, SWEEP_THREADS, bytes,
                           stream, *sweep, operation);
        error = gpuGetLastError();
    }
    return error;
}

#endif
