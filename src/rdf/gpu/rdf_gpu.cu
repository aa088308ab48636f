/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two operations of the sweep that count pairs by distance, with all images within the last edge:
 * `tally` counts all pairs near an i-cluster in batches (candidate_batch.cuh), and single_tally
 * counts hits one by one. engine/gpu/gpu_sweep.cuh defines operations, and the overloads that they
 * may have. Besides, the table for bins that are not linear is made here.
 */
#include "candidate_batch.cuh"

/** State of a warp that counts pairs. */
struct tally_state {
    struct kith__gpu_scale scale; /**< from distances to counters */
    struct bins counters;         /**< counters of the block */
    int64_t since; /**< bound on the pairs that this warp has counted since its last flush */
};

/** Flush the thread block's counters before one can reach 2^31: each of its 4 warps adds up to 2^28
 *  pairs before it flushes the counters of all, and count_by_root counts some of them twice for a
 *  moment.
 *  @param n  query particles: the warp is about to count at most DEEP * LANES * n pairs */
static __device__ __forceinline__ void make_room(struct tally_state &t, int n, int lane)
{
    const int64_t most = (int64_t)1 << 28;
    const struct kith__gpu_scale &s = t.scale;
    t.since += (int64_t)DEEP * LANES * n;
    if (t.since > most) {
        flush_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies, s.counts, lane,
                       LANES);
        t.since = 0;
    }
}

/* ---------------------------------------------------------------------------------------- plain */

/** Compute the bounding box of the query particles of an i-cluster, uniform over the warp.
 *  @param[out] low, high  smallest and largest coordinates [length] */
template <typename real>
static __device__ __forceinline__ void box_home(const visit<real> &v, real low[3], real high[3])
{
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int m = v.lane; m < v.n; m += LANES) {
        real r[3];
        read_slot(v.sweep->grid.a, v.begin + m, r);
        for (int k = 0; k < 3; k++) {
            low[k] = r[k] < low[k] ? r[k] : low[k];
            high[k] = r[k] > high[k] ? r[k] : high[k];
        }
    }
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        for (int k = 0; k < 3; k++) {
            const real a = from_partner(low[k], bits), b = from_partner(high[k], bits);
            low[k] = a < low[k] ? a : low[k];
            high[k] = b > high[k] ? b : high[k];
        }
    }
}

/** Operation: bin the distances of all candidates near the bounding box of an i-cluster, without a
 *  test of the cutoff: larger distances have no bin. */
template <typename real, int WAY> struct tally {
    typedef held<real, WAY> form;
    typedef typename form::type type;
    typedef home_batch<type> shared;
    struct tally_state t; /**< counters */
    struct queue queue;   /**< candidates that are not counted yet */
    type low[3], high[3]; /**< bounding box of the query particles [length, or reach where
                               coordinates are nearby] */
    type near2;           /**< squared distance from the box; a candidate beyond it is skipped */
    float blur;           /**< error bound of roots of nearby coordinates [scale.reach] */

    /** Begin an i-cluster: read the query particles, and set their bounding box. */
    __device__ __forceinline__ bool begin(const visit<real> &v, shared *all)
    {
        real from[3], to[3];
        box_home(v, from, to);
        const double near = v.sweep->grid.plan->near;
        queue.first = queue.waiting = 0;
        if (form::nearby) {
            look_nearby(v, from, to, near);
        } else {
            for (int k = 0; k < 3; k++) {
                low[k] = (type)from[k];
                high[k] = (type)to[k];
            }
            near2 = (type)(near * near);
        }
        load_members<real, WAY>(v, t.scale, &all->home);
        return true;
    }

    /**
     * Choose the origin of nearby coordinates, the bounding box in these, and `blur`, a bound on
     * the error of roots. In units of 2^-24, with coordinates of at most M = most + reach: each of
     * the two coordinates on three axes is off by M, so distances by 2 sqrt(3) M < 3.5 M. Relative
     * to the root, which is at most 1, differences add 1, products and sums 1.5, and the addition
     * of blur to the root 1. Both bounds, 3.5 M and 3.5, are rounded up to 4. The error of the
     * definition itself is added: definition_error is of r^2 / cutoff^2 for r near the cutoff, and
     * exceeds that of r / cutoff. That of the approximate root is in scale.factor (set_scale). In
     * an i-cluster that is too wide for floats, blur is 1: all pairs are binned by the definition.
     *
     * @param from, to  bounding box of the query particles [length]
     * @param near      largest distance of a pair, rounding errors included [length]
     */
    __device__ __forceinline__ void look_nearby(const visit<real> &v, const real from[3],
                                                const real to[3], double near)
    {
        const float roundings = 1 / 16777216.0f;
        double unit = 1 / t.scale.reach;
        float most = 0;
        for (int k = 0; k < 3; k++) {
            /* half of the extent, a little more for rounding; `reach` below, too */
            const float half = (float)(((double)to[k] - (double)from[k]) * unit) * 0.500001f;
            most = half > most ? half : most;
            high[k] = half;
            low[k] = -half;
        }
        const float reach = (float)(near * unit) * 1.0001f;
        const float widest = 100; /* largest M; NaN is too wide as well */
        near2 = reach * reach;
        blur = (4 * (most + reach) + 4) * roundings + (float)v.sweep->grid.definition_error;
        if (!(most + reach < widest)) {
            unit = 0;
            blur = 1;
            for (int k = 0; k < 3; k++) {
                low[k] = high[k] = 0;
            }
        }
        if (v.lane == 0) {
            for (int k = 0; k < 3; k++) {
                v.shared->origin[k] = (double)from[k] + ((double)to[k] - (double)from[k]) / 2;
            }
            v.shared->unit = unit;
        }
        sync_warp();
    }

    /** Return true when a candidate is within the cutoff of the i-cluster's bounding box, up to
     *  rounding errors. */
    __device__ __forceinline__ bool is_near(const visit<real> &v, const struct candidate &at) const
    {
        type r[3];
        type square = 0;
        read_held(v, at, r);
        if (!form::nearby && at.shift != no_shift) {
            const typename definition<type>::lattice &box = definition<type>::box(
                v.sweep->grid.question);
            int32_t s[3];
            kith__unpack_shift(at.shift, s);
            for (int k = 0; k < 3; k++) {
                r[k] += (type)s[2] * box.row[2][k] + (type)s[1] * box.row[1][k] +
                        (type)s[0] * box.row[0][k];
            }
        }
        for (int k = 0; k < 3; k++) {
            const type below = low[k] - r[k], above = r[k] - high[k];
            const type out = below > above ? below : above;
            square += out > 0 ? out * out : 0;
        }
        return square <= near2;
    }

    /** Count a batch of the candidates that wait, or all when there are less. */
    __device__ __forceinline__ void count_waiting(const visit<real> &v, const shared *all)
    {
        sync_warp();
        count_batch<real, WAY>(v, t.scale, t.counters, blur, all, &queue);
        sync_warp(); /* before the queue's entries are overwritten */
    }
    /** End an i-cluster: count the candidates that are left. */
    __device__ __forceinline__ void end(const visit<real> &v, shared *all)
    {
        if (queue.waiting > 0) {
            count_waiting(v, all);
        }
        sync_warp(); /* before the shared memory is reused for another i-cluster */
    }
};

/** Overload for `tally`, which has no member `take`: append those of DEEP candidates in each lane
 *  that are near the i-cluster to the queue, and count a batch when the queue holds one.
 *  @param c                number of the first candidate
 *  @param total            number behind the last candidate
 *  @param[in,out] segment  range in which each lane found its last candidates */
template <typename real, int WAY>
static __device__ __forceinline__ void visit_candidates(const visit<real> &v, int64_t c,
                                                        int64_t total, int segment[DEEP],
                                                        tally<real, WAY> &operation,
                                                        typename tally<real, WAY>::shared *all)
{
    struct queue &queue = operation.queue;
    make_room(operation.t, v.n, v.lane);
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        struct candidate at;
        at.segment = segment[d];
        const bool is_one = find_candidate(v, c + d * LANES, total, &at);
        segment[d] = at.segment;
        const bool near = is_one && operation.is_near(v, at);
        const lanes_t which = which_lanes(near);
        if (near) {
            /* stream compaction: entries are in the order of the lanes */
            const unsigned before = (unsigned)count_lanes(which & lanes_below(v.lane));
            const unsigned to = (queue.first + queue.waiting + before) % QUEUE;
            all->place[to] = at.slot;
            all->shift[to] = at.shift;
        }
        queue.waiting += (unsigned)count_lanes(which);
    }
    if (queue.waiting >= BATCH) {
        operation.count_waiting(v, all);
    }
}

/* ------------------------------------------------------------------------------------ with care */

/** Operation: count pairs one by one. For weights, excluded pairs, and counters that do not fit in
 *  shared memory. */
template <typename real> struct single_tally {
    typedef members<real, KITH_GPU_CLUSTER> shared;
    struct tally_state t; /**< counters */

    /** Begin an i-cluster: read the query particles. */
    __device__ __forceinline__ bool begin(const visit<real> &v, shared *home)
    {
        load_members<real, ONE_BY_ONE>(v, t.scale, home);
        return true;
    }
    /** Count the hits of this lane's DEEP candidates.
     *  @param mask  bit k is set when query particle k is a hit; 0 afterwards */
    __device__ __forceinline__ void take(const visit<real> &v, shared *home,
                                         const struct candidate at[DEEP], uint32_t mask[DEEP])
    {
        typedef definition<real> def;
        const struct kith__gpu_grid &grid = v.sweep->grid;
        const struct kith__gpu_scale &scale = t.scale;
        make_room(t, v.n, v.lane);
        for (int d = 0; d < DEEP; d++) {
            if (mask[d] == 0) {
                continue;
            }
            real rj[3];
            int32_t s[3];
            read_slot(grid.b, at[d].slot, rj);
            kith__unpack_shift(at[d].shift, s);
            const int32_t j = grid.b.id[at[d].slot];
            const int32_t species = scale.rdf.species[1] ? scale.rdf.species[1][j] : 0;
            for (; mask[d]; mask[d] &= mask[d] - 1) {
                const int k = __ffs((int)mask[d]) - 1;
                const real ri[3] = {home->i[k].x, home->i[k].y, home->i[k].z};
                real apart[3];
                const real r2 = def::separation(def::box(grid.question), ri, rj, s, apart);
                uint32_t bin;
                if (!find_bin<real, ONE_BY_ONE>(scale, r2, &bin)) {
                    bin = resolve<real, ONE_BY_ONE>(scale, r2, bin);
                }
                if (bin < (uint32_t)scale.rdf.bins) {
                    const int64_t first = scale.rdf.species[0]
                                              ? row_of(scale, home->species[k], species)
                                              : 0;
                    count_single(scale, t.counters, first, first, bin, v.shared->id[k], j);
                }
            }
        }
        sync_warp();
    }
    __device__ __forceinline__ void end(const visit<real> &, shared *)
    {
        sync_warp(); /* before the shared memory is reused for another i-cluster */
    }
};

/* --------------------------------------------------------------------------------------- blocks */

/** Overload for `tally`: nothing is loaded here, as `tally` does not use the scaled coordinates of
 *  visit_shared. */
template <typename real, int WAY>
static __device__ __forceinline__ uint32_t prepare_cluster(const visit<real> &,
                                                           const tally<real, WAY> &)
{
    return 0;
}

/** Zero the block's counters, and set t.counters; all threads of the block call it. */
static __device__ __forceinline__ void begin_counting(struct tally_state &t)
{
    const struct kith__gpu_scale &s = t.scale;
    clear_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies);
    t.counters = own_bins(block_counters, s.rdf.partials * s.rdf.bins, s.copies);
    __syncthreads();
}

/** Flush the block's counters; all threads of the block call it. */
static __device__ __forceinline__ void end_counting(const struct tally_state &t)
{
    const struct kith__gpu_scale &s = t.scale;
    __syncthreads();
    flush_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies, s.counts,
                   (int)threadIdx.x, SWEEP_THREADS);
}

/* Overloads of begin_block and end_block (gpu_sweep.cuh) for both operations. */

template <typename real, int WAY>
static __device__ __forceinline__ void begin_block(tally<real, WAY> &operation)
{
    begin_counting(operation.t);
}
template <typename real, int WAY>
static __device__ __forceinline__ void end_block(tally<real, WAY> &operation)
{
    end_counting(operation.t);
}
template <typename real>
static __device__ __forceinline__ void begin_block(single_tally<real> &operation)
{
    begin_counting(operation.t);
}
template <typename real>
static __device__ __forceinline__ void end_block(single_tally<real> &operation)
{
    end_counting(operation.t);
}

size_t kith__gpu_tally_static_bytes(void)
{
    return WARPS * (sizeof(struct visit_shared) + sizeof(home_batch<double>)) + 64; /* to spare */
}

bool kith__gpu_counts_one_by_one(const struct kith__gpu_scale *scale)
{
    return way_of(scale) == ONE_BY_ONE;
}

int kith__gpu_tally_blocks(void)
{
    return SWEEP_BLOCKS;
}

/** Launch the sweep with the operation for a WAY of finding bins. */
template <typename real, int WAY>
static gpuError_t run_tally(const struct kith__gpu_sweep *sweep,
                            const struct kith__gpu_scale *scale, gpuStream_t stream)
{
    const size_t bytes = counter_bytes(scale->rdf.partials * scale->rdf.bins, scale->copies);
    const struct tally_state t = {*scale, {{NULL, 0, 0}, 0, 0}, 0};
    if (WAY == ONE_BY_ONE) {
        const single_tally<real> operation = {t};
        return run_sweep<real>(sweep, operation, stream, bytes);
    }
    /* dead code with ONE_BY_ONE; `tally` has no code for it, so that BY_ROOT stands in */
    const tally<real, WAY == ONE_BY_ONE ? BY_ROOT : WAY> operation = {t, {0, 0}, {0}, {0}, 0, 0};
    return run_sweep<real>(sweep, operation, stream, bytes);
}

gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream)
{
    return RUN_BY_WAY(way_of(scale), sweep->grid.question.precision, run_tally, sweep, scale,
                      stream);
}

/* --------------------------------------------------------------------------------------- table */

/** Return the number of edges whose square is below x, by binary search.
 *  @param x  r^2 / cutoff^2, in cells of the table: 0 to KITH_GPU_EDGE_CELLS is the range of the
 *            bins */
template <typename real>
static __device__ int32_t edges_below(const struct kith__rdf &rdf, double cutoff, double x)
{
    const real *edge2 = (const real *)rdf.edge2;
    int32_t below = 0;
    for (int32_t n = (int32_t)rdf.bins + 1; n > 0;) {
        const int32_t half = n / 2;
        if ((double)edge2[below + half] / (cutoff * cutoff) * KITH_GPU_EDGE_CELLS < x) {
            below += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return below;
}

/** Fill the table kith__gpu_scale.first, one thread for each cell. r^2 is rounded to float before
 *  its cell is found, which may be the next cell then: so edges within a margin around a cell count
 *  as in it. */
template <typename real>
static __global__ void fill_edge_cells(const struct kith__rdf rdf, double cutoff, int32_t *first)
{
    const double margin = 1.0 / 64; /* [cells]; roundings in float move r^2 by less than 2^-9 */
    const int c = (int)my_item();
    if (c <= KITH_GPU_EDGE_CELLS) {
        const int32_t before = edges_below<real>(rdf, cutoff, c - margin);
        const int32_t with = edges_below<real>(rdf, cutoff, c + 1 + margin);
        first[c] = with - before > 1 ? -1 : before;
    }
}

gpuError_t kith__gpu_edge_cells(const struct kith__gpu_scale *scale, const struct kith__question *q,
                                gpuStream_t stream)
{
    const int threads = 128;
    const int blocks = KITH_GPU_EDGE_CELLS / threads + 1;
    if (q->precision == KITH_FLOAT) {
        KITH_LAUNCH(fill_edge_cells<float>, blocks, threads, stream, scale->rdf, q->cutoff,
                    scale->first);
    } else {
        KITH_LAUNCH(fill_edge_cells<double>, blocks, threads, stream, scale->rdf, q->cutoff,
                    scale->first);
    }
    return gpuGetLastError();
}
