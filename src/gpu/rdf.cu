/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation that counts pairs by distance, for all images in reach of cells, and the
 * table for bins that are not linear.
 */
#include "sweep.cuh"
#include "tally.cuh"

/** What a warp counts in. */
struct tally_state {
    struct kith__gpu_scale scale;
    struct bins counters;
    int64_t since; /**< the most pairs counted since the warp last emptied the block's counters */
};

/** Empty the block's counters before they can overflow: each of its warps adds no more than 2^29
 *  before it does so. */
static __device__ __forceinline__ void make_room(struct tally_state &t, int n, int lane)
{
    const int64_t most = (int64_t)1 << 29;
    const struct kith__gpu_scale &s = t.scale;
    t.since += (int64_t)DEEP * LANES * n;
    if (t.since > most) {
        flush_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies, s.counts, lane,
                       LANES);
        t.since = 0;
    }
}

/** First counter of the partial of two species. */
static __device__ __forceinline__ int64_t row_of(const struct kith__gpu_scale &s, int32_t a,
                                                 int32_t b)
{
    return kith__partial(s.rdf.n_species, s.cross, a, b) * s.rdf.bins;
}

/** A home's particles. */
template <typename real, int MOST> struct members {
    place<real> i[MOST];
    int32_t species[MOST]; /**< where there are several */
};

/** Bring a home's particles to shared memory, by the caller's coordinates. */
template <typename real, int MOST>
static __device__ __forceinline__ void load_members(const visit<real> &v,
                                                    const struct kith__gpu_scale &s,
                                                    members<real, MOST> *home)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    for (int k = v.lane; k < MOST; k += LANES) {
        real r[3] = {no_pair((real)0), 0, 0};
        if (k < v.n) {
            read_place(grid.a, v.begin + k, r);
            if (s.rdf.species[0]) {
                home->species[k] = s.rdf.species[0][grid.a.id[v.begin + k]];
            }
        }
        const place<real> at = {r[0], r[1], r[2], 0};
        home->i[k] = at;
    }
    sync_warp();
}

/* ---------------------------------------------------------------------------------------- plain */

enum { CROWD = DEEP * LANES };

/** A home's particles, and candidates that wait until they are a crowd. */
template <typename real> struct gathering {
    members<real, KITH_GPU_LARGE_HOME> home;
    int32_t place[2 * CROWD], shift[2 * CROWD];
};

/** A lane's candidates. */
template <typename real> struct crowd {
    struct candidate at[DEEP];
    real r[DEEP][3];
    int before[DEEP]; /**< only particles of the home before this one make a pair */
    int32_t species[DEEP];
};

/** First counters of N pairs. */
template <int N> struct rows {
    uint32_t row[N];

    __device__ __forceinline__ uint32_t first(int d) const
    {
        return row[d];
    }
    __device__ __forceinline__ void count(const struct kith__gpu_scale &, const struct bins &, int,
                                          uint32_t) const
    {
    }
};

/** Take the last of those waiting, up to CROWD, DEEP a lane. @return whether nothing is special
 *  about them: they are no images, all of the home's particles count, and there is one species. */
template <typename real>
static __device__ __forceinline__ bool load_crowd(const visit<real> &v, const gathering<real> *all,
                                                  const struct kith__gpu_scale &s, int *waiting,
                                                  crowd<real> *crowd)
{
    const struct kith__gpu_grid &grid = v.sweep->grid;
    const int end = *waiting;
    const int begin = end > CROWD ? end - CROWD : 0;
    bool simple = s.rdf.species[0] == NULL;
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        const int mine = begin + d * LANES + v.lane;
        struct candidate *const at = &crowd->at[d];
        at->place = all->place[mine < end ? mine : begin];
        at->shift = all->shift[mine < end ? mine : begin];
        read_place(grid.b, at->place, crowd->r[d]);
        if (mine >= end) {
            crowd->r[d][0] = no_pair((real)0);
        }
        const int64_t own = at->place - v.begin;
        const bool is_own = !s.cross && own >= 0 && own < v.n && at->shift == no_shift;
        crowd->before[d] = is_own ? (int)own : v.n;
        crowd->species[d] = s.rdf.species[1] ? s.rdf.species[1][grid.b.id[at->place]] : 0;
        simple = simple && !is_own && at->shift == no_shift;
    }
    *waiting = begin;
    return which_lanes(!simple) == 0;
}

template <typename real, int WAY>
static __device__ __forceinline__ void meet_simply(const visit<real> &v, const crowd<real> &crowd,
                                                   const members<real, KITH_GPU_LARGE_HOME> *home,
                                                   const struct tally_state &t)
{
    const int at_once = 2;
    const rows<at_once *DEEP> none = {{0}};
#pragma unroll 1
    for (int k = 0; k < v.n; k += at_once) {
        real r2[at_once * DEEP];
#pragma unroll
        for (int u = 0; u < at_once; u++) {
            const place<real> i = home->i[k + u];
#pragma unroll
            for (int d = 0; d < DEEP; d++) {
                r2[u * DEEP + d] = square_of(crowd.r[d][0] - i.x, crowd.r[d][1] - i.y,
                                             crowd.r[d][2] - i.z);
            }
        }
        count_pairs<real, WAY, at_once * DEEP>(t.scale, t.counters, r2, none);
    }
}

/** As the definition has it where the box's rows are along the axes. */
static __device__ __forceinline__ float moved(float d, float by)
{
    return KITH_ADD_f(d, by);
}
static __device__ __forceinline__ double moved(double d, double by)
{
    return KITH_ADD_d(d, by);
}

template <typename real, int WAY>
static __device__ __forceinline__ void meet_all(const visit<real> &v, const crowd<real> &crowd,
                                                const members<real, KITH_GPU_LARGE_HOME> *home,
                                                const struct tally_state &t)
{
    typedef definition<real> def;
    const typename def::lattice &box = def::box(v.sweep->grid.question);
    const bool mixed = t.scale.rdf.species[0] != NULL;
    int32_t s[DEEP][3];
    real by[DEEP][3];
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        kith__unpack_shift(crowd.at[d].shift, s[d]);
        for (int m = 0; m < 3; m++) {
            by[d][m] = (real)s[d][m] * box.row[m][m];
        }
    }
#pragma unroll 1
    for (int k = 0; k < v.n; k++) {
        const place<real> i = home->i[k];
        const real ri[3] = {i.x, i.y, i.z};
        rows<DEEP> rows = {{0}};
        real r2[DEEP];
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            const real *r = crowd.r[d];
            if (box.orthorhombic) {
                r2[d] = square_of(moved(r[0] - i.x, by[d][0]), moved(r[1] - i.y, by[d][1]),
                                  moved(r[2] - i.z, by[d][2]));
            } else {
                real apart[3];
                r2[d] = def::separation(box, ri, r, s[d], apart);
            }
            r2[d] = k < crowd.before[d] ? r2[d] : no_pair((real)0);
            if (mixed) {
                rows.row[d] = (uint32_t)row_of(t.scale, home->species[k], crowd.species[d]);
            }
        }
        count_pairs<real, WAY, DEEP>(t.scale, t.counters, r2, rows);
    }
}

/** Counts all candidates near the box around a home's particles, without a look at the cutoff:
 *  beyond it there is no bin. */
template <typename real, int WAY> struct tally {
    typedef gathering<real> shared;
    struct tally_state t;
    int waiting;
    real low[3], high[3], near2; /**< the box around the home, and how far from it pairs are */

    __device__ __forceinline__ bool begin(const visit<real> &v, shared *all)
    {
        load_members(v, t.scale, &all->home);
        waiting = 0;
        for (int k = 0; k < 3; k++) {
            low[k] = INFINITY;
            high[k] = -INFINITY;
        }
        for (int m = v.lane; m < v.n; m += LANES) {
            const place<real> &i = all->home.i[m];
            const real r[3] = {i.x, i.y, i.z};
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
        const double near = v.sweep->grid.plan->near;
        near2 = (real)(near * near);
        return true;
    }

    /** Whether a candidate is near the box. */
    __device__ __forceinline__ bool is_near(const visit<real> &v, const struct candidate &at) const
    {
        real r[3];
        real square = 0;
        read_place(v.sweep->grid.b, at.place, r);
        if (at.shift != no_shift) {
            const typename definition<real>::lattice &box = definition<real>::box(
                v.sweep->grid.question);
            int32_t s[3];
            kith__unpack_shift(at.shift, s);
            for (int k = 0; k < 3; k++) {
                r[k] += (real)s[2] * box.row[2][k] + (real)s[1] * box.row[1][k] +
                        (real)s[0] * box.row[0][k];
            }
        }
        for (int k = 0; k < 3; k++) {
            const real below = low[k] - r[k], above = r[k] - high[k];
            const real out = below > above ? below : above;
            square += out > 0 ? out * out : 0;
        }
        return square <= near2;
    }

    __device__ __forceinline__ void meet(const visit<real> &v, const shared *all)
    {
        crowd<real> crowd;
        sync_warp();
        if (load_crowd(v, all, t.scale, &waiting, &crowd)) {
            meet_simply<real, WAY>(v, crowd, &all->home, t);
        } else {
            meet_all<real, WAY>(v, crowd, &all->home, t);
        }
        sync_warp(); /* before others wait in the same place */
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ __forceinline__ void end(const visit<real> &v, shared *all)
    {
        if (waiting > 0) {
            meet(v, all);
        }
        sync_warp(); /* before another home takes the place */
    }
};

/** Let those near the home wait until they are enough. */
template <typename real, int WAY>
static __device__ __forceinline__ void visit_candidates(const visit<real> &v, int64_t c,
                                                        int64_t total, int segment[DEEP],
                                                        tally<real, WAY> &operation,
                                                        gathering<real> *all)
{
    make_room(operation.t, v.n, v.lane);
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        const int64_t mine = c + d * LANES + v.lane;
        struct candidate at;
        at.segment = segment[d];
        find_candidate(v, mine < total ? mine : total - 1, &at);
        segment[d] = at.segment;
        const bool near = mine < total && operation.is_near(v, at);
        const lanes_t which = which_lanes(near);
        if (near) {
            const int to = operation.waiting + count_lanes(which & lanes_below(v.lane));
            all->place[to] = at.place;
            all->shift[to] = at.shift;
        }
        operation.waiting += count_lanes(which);
    }
    if (operation.waiting >= CROWD) {
        operation.meet(v, all);
    }
}

/* ------------------------------------------------------------------------------------ with care */

/** Weights, pairs that are left out, counters that do not fit: pairs one by one. */
template <typename real> struct careful_tally {
    typedef members<real, KITH_GPU_HOME> shared;
    struct tally_state t;

    __device__ __forceinline__ bool begin(const visit<real> &v, shared *home)
    {
        load_members(v, t.scale, home);
        return true;
    }
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
            read_place(grid.b, at[d].place, rj);
            kith__unpack_shift(at[d].shift, s);
            const int32_t j = grid.b.id[at[d].place];
            const int32_t species = scale.rdf.species[1] ? scale.rdf.species[1][j] : 0;
            for (; mask[d]; mask[d] &= mask[d] - 1) {
                const int k = __ffs((int)mask[d]) - 1;
                const real ri[3] = {home->i[k].x, home->i[k].y, home->i[k].z};
                real apart[3];
                const real r2 = def::separation(def::box(grid.question), ri, rj, s, apart);
                uint32_t bin;
                if (!find_bin<real, WITH_CARE>(scale, r2, &bin)) {
                    bin = settle<real, WITH_CARE>(scale, r2, bin);
                }
                if (bin < (uint32_t)scale.rdf.bins) {
                    const int64_t first = scale.rdf.species[0]
                                              ? row_of(scale, home->species[k], species)
                                              : 0;
                    count_carefully(scale, t.counters, first, first, bin, v.shared->id[k], j);
                }
            }
        }
        sync_warp();
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ __forceinline__ void end(const visit<real> &, shared *)
    {
        sync_warp(); /* before another home takes the place */
    }
};

/* --------------------------------------------------------------------------------------- blocks */

/** Nothing is scaled. */
template <typename real, int WAY>
static __device__ __forceinline__ float prepare_home(const visit<real> &, const tally<real, WAY> &)
{
    return 0;
}

static __device__ __forceinline__ void begin_counting(struct tally_state &t)
{
    const struct kith__gpu_scale &s = t.scale;
    clear_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies);
    t.counters = own_bins(block_counters, s.rdf.partials * s.rdf.bins, s.copies);
    __syncthreads();
}

static __device__ __forceinline__ void end_counting(const struct tally_state &t)
{
    const struct kith__gpu_scale &s = t.scale;
    __syncthreads();
    flush_counters(block_counters, s.rdf.partials * s.rdf.bins, s.copies, s.counts,
                   (int)threadIdx.x, SWEEP_THREADS);
}

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
static __device__ __forceinline__ void begin_block(careful_tally<real> &operation)
{
    begin_counting(operation.t);
}
template <typename real>
static __device__ __forceinline__ void end_block(careful_tally<real> &operation)
{
    end_counting(operation.t);
}

size_t kith__gpu_tally_static_bytes(void)
{
    return WARPS * (sizeof(struct visit_shared) + sizeof(gathering<double>)) + 64;
}

bool kith__gpu_is_careful(const struct kith__gpu_scale *scale)
{
    return way_of(scale) == WITH_CARE;
}

int kith__gpu_tally_blocks(void)
{
    return SWEEP_BLOCKS;
}

template <typename real, int WAY>
static gpuError_t run_tally(const struct kith__gpu_sweep *sweep,
                            const struct kith__gpu_scale *scale, gpuStream_t stream)
{
    const size_t bytes = counter_bytes(scale->rdf.partials * scale->rdf.bins, scale->copies);
    const struct tally_state t = {*scale, {{NULL, 0, 0}, 0, 0}, 0};
    if (WAY == WITH_CARE) {
        const careful_tally<real> operation = {t};
        return run_sweep<real>(sweep, operation, stream, bytes);
    }
    const tally<real, WAY == WITH_CARE ? BY_ROOT : WAY> operation = {t, 0, {0}, {0}, 0};
    return run_sweep<real>(sweep, operation, stream, bytes);
}

gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream)
{
    return RUN_BY_WAY(way_of(scale), sweep->grid.question.precision, run_tally, sweep, scale,
                      stream);
}

/* --------------------------------------------------------------------------------------- table */

/** How many edges are below x, in cells. */
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

/** A cell's number is rounded: it may hold what is a little outside. */
template <typename real>
static __global__ void fill_edge_cells(const struct kith__rdf rdf, double cutoff, int32_t *first)
{
    const double margin = 1.0 / 64;
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
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
