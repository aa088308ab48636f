/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for histograms with forces: counts, and pair-force sums (pair_force.h);
 * engine/gpu/gpu_sweep.cuh says what an operation is. A thread block adds in 64 bits in shared
 * memory, as two words of 32, and flushes to 128 bits in device memory before its sums can
 * overflow. Where its sums do not fit in shared memory, it adds in device memory.
 */
#include "engine/gpu/gpu_sweep.cuh"
#include "tally.cuh"

/** Layout of a thread block's sums in shared memory, block_counters of counters.cuh: n counts, then
 *  the low words of 2 m pair-force sums [partials][2][bins + 1], then their high words. */
struct force_counters {
    int32_t n;   /**< counts: partials * bins */
    int32_t m;   /**< pair-force sums of one kind: partials * (bins + 1) */
    int32_t row; /**< pair-force sums of one kind in a partial: bins + 1 */

    /** Low words. */
    __device__ __forceinline__ uint32_t *low() const
    {
        return block_counters + n;
    }
    /** High words. */
    __device__ __forceinline__ uint32_t *high() const
    {
        return block_counters + n + 2 * m;
    }
};

/** Add a fixed-point term to pair-force sum `at` in shared memory: first to the low word, whose old
 *  value gives the carry, then to the high word. */
static __device__ __forceinline__ void add_term(const struct force_counters &c, int32_t at,
                                                int64_t term)
{
    const uint32_t add = (uint32_t)term;
    const uint32_t old = atomicAdd(&c.low()[at], add);
    const uint32_t high = (uint32_t)(term >> 32) + (old + add < old ? 1u : 0u);
    if (high != 0) {
        atomicAdd(&c.high()[at], high);
    }
}

/** Flush: add the thread block's counts and sums to those in device memory, and zero them. Called
 *  by `of` threads, each with its number `me` from 0 on. Other threads may add at that time: the
 *  next flush adds a carry that has not reached its high word yet. Cold path, not inlined. */
static __device__ __noinline__ void flush_force_sums(const struct force_counters c,
                                                     unsigned long long *counts,
                                                     unsigned long long *force_sums, int me, int of)
{
    flush_counters(block_counters, c.n, 1, counts, me, of);
    for (int32_t at = me; at < 2 * c.m; at += of) {
        const int64_t low = (int64_t)atomicExch(&c.low()[at], 0u);
        const int64_t high = (int64_t)(int32_t)atomicExch(&c.high()[at], 0u);
        if (low != 0 || high != 0) {
            add_wide(&force_sums[at], 2 * c.m, high * ((int64_t)1 << 32) + low);
        }
    }
}

/** Return r^2 of two positions by the definition, where j is in image (0, 0, 0). The overload for
 *  float computes the differences in float; for double they are d.
 *  @param d  rj - ri, computed in double */
static __device__ __forceinline__ float square_beside(const float ri[3], const float rj[3],
                                                      const double[3])
{
    return square_of(KITH_SUB_f(rj[0], ri[0]), KITH_SUB_f(rj[1], ri[1]), KITH_SUB_f(rj[2], ri[2]));
}
static __device__ __forceinline__ double square_beside(const double[3], const double[3],
                                                       const double d[3])
{
    return square_of(d[0], d[1], d[2]);
}

/** N particles and the forces on them, in shared memory. */
template <typename real, int N> struct force_records {
    real r[3][N];       /**< wrapped coordinates, not shifted [length] */
    double x[3][N];     /**< coordinates, shifted to their images [length] */
    double force[3][N]; /**< components of the forces [force] */
    int32_t id[N];      /**< caller's index of each particle */
    int32_t species[N]; /**< species; 0 when there is only one */
    int32_t shift[N];   /**< periodic image, packed by kith__pack_shift */

    /** Set entry k to the particle in slot `place` of a set, unshifted.
     *  @param which  0: set a; 1: set b */
    __device__ __forceinline__ void load(const struct kith__gpu_set &set,
                                         const struct kith__gpu_scale &scale, int which, int k,
                                         int64_t place)
    {
        real at[3];
        id[k] = set.id[place];
        species[k] = scale.rdf.species[0] ? scale.rdf.species[which][id[k]] : 0;
        shift[k] = no_shift;
        read_slot(set, place, at);
        for (int m = 0; m < 3; m++) {
            r[m][k] = at[m];
            x[m][k] = (double)at[m];
            force[m][k] = (double)((const real *)scale.rdf.forces[which])[3 * place + m];
        }
    }

    /** Shift the coordinates x of entry k to an image; r stays unshifted.
     *  @param row  rows of the box [length]
     *  @param to   the image, packed */
    __device__ __forceinline__ void move(const double row[3][3], int k, int32_t to)
    {
        int32_t s[3];
        kith__unpack_shift(to, s);
        shift[k] = to;
        for (int m = 0; m < 3; m++) {
            const double by = KITH_ADD_d(
                KITH_ADD_d(KITH_MUL_d(s[2], row[2][m]), KITH_MUL_d(s[1], row[1][m])),
                KITH_MUL_d(s[0], row[0][m]));
            x[m][k] = KITH_ADD_d(x[m][k], by);
        }
    }
};

/** Operation: count pairs and add pair forces. The hits of one candidate for each lane are listed
 *  in shared memory, and the list is divided evenly among the lanes: if each lane processed the
 *  hits of its own candidate, the warp would take as long as the lane with the most hits. */
template <typename real, int WAY> struct force_tally {
    struct shared {
        force_records<real, KITH_GPU_CLUSTER> home; /**< query particles */
        force_records<real, LANES> candidate;       /**< one candidate for each lane */
        uint16_t hit[LANES * KITH_GPU_CLUSTER];     /**< lane * KITH_GPU_CLUSTER + query particle */
    };
    struct kith__gpu_scale scale;   /**< from distances to counters, with forces by slot */
    struct force_counters counters; /**< layout of the block's sums */
    int64_t since; /**< bound on the pairs that this warp has added since its last flush */

    /** Begin an i-cluster: read the query particles. */
    __device__ __forceinline__ bool begin(const visit<real> &v, shared *all)
    {
        if (v.lane < v.n) {
            all->home.load(v.sweep->grid.a, scale, 0, v.lane, v.begin + v.lane);
        }
        sync_warp();
        return true;
    }

    /** Flush before the block's sums, if they are in shared memory, can overflow: each of its WARPS
     *  warps adds at most KITH_FORCE_TERMS / WARPS terms between two flushes. Unless WAY is
     *  ONE_BY_ONE, which is known at compile time, the sums are always there (way_of). */
    __device__ __forceinline__ void make_room(const visit<real> &v)
    {
        since += (int64_t)DEEP * LANES * v.n;
        if ((WAY != ONE_BY_ONE || scale.copies > 0) && since > KITH_FORCE_TERMS / WARPS) {
            flush_force_sums(counters, scale.counts, scale.force_sums, v.lane, LANES);
            since = (int64_t)DEEP * LANES * v.n;
        }
    }

    /** Counter of r^2 of a hit, within its partial: 0 below the first edge. Hits are not above the
     *  last edge, which is the cutoff. */
    __device__ __forceinline__ int32_t counter_of(real r2) const
    {
        uint32_t bin;
        if (!find_bin<real, WAY>(scale, r2, &bin)) {
            bin = resolve<real, WAY>(scale, r2, bin);
        }
        return (int32_t)(bin + 1);
    }

    /** Add the terms of a pair, and count it, in shared memory, or in device memory where the sums
     *  do not fit there. Counter 0, below the first edge, has sums but no count.
     *  @param counter  within the partial, 0 to bins
     *  @param term     the terms of both sums (kith__force_terms) */
    __device__ __forceinline__ void add(int32_t partial, int32_t counter, const int64_t term[2])
    {
        const int32_t bin = partial * (counters.row - 1) + counter - 1;
        const int32_t at = 2 * partial * counters.row + counter;
        if (WAY != ONE_BY_ONE || scale.copies > 0) {
            add_term(counters, at, term[0]);
            add_term(counters, at + counters.row, term[1]);
            if (counter > 0) {
                atomicAdd(&block_counters[bin], 1u);
            }
            return;
        }
        add_wide(&scale.force_sums[at], 2 * counters.m, term[0]);
        add_wide(&scale.force_sums[at + counters.row], 2 * counters.m, term[1]);
        if (counter > 0) {
            atomicAdd(&scale.counts[bin], 1ull);
        }
    }

    /** Count the pair of query particle k and candidate l, and add its pair force, unless the pair
     *  is excluded.
     *  @param simple  no candidate of the warp is shifted to an image */
    __device__ __forceinline__ void add_pair(const struct kith__question &question,
                                             const shared *all, int k, int l, bool simple)
    {
        typedef definition<real> def;
        const force_records<real, KITH_GPU_CLUSTER> &home = all->home;
        const force_records<real, LANES> &other = all->candidate;
        double d[3], force[3];
        real ri[3], rj[3];
        for (int m = 0; m < 3; m++) {
            d[m] = KITH_SUB_d(other.x[m][l], home.x[m][k]);
            force[m] = KITH_SUB_d(other.force[m][l], home.force[m][k]);
            ri[m] = home.r[m][k];
            rj[m] = other.r[m][l];
        }
        real r2;
        if (simple) {
            r2 = square_beside(ri, rj, d);
        } else {
            int32_t s[3];
            real apart[3];
            kith__unpack_shift(other.shift[l], s);
            r2 = def::separation(def::box(question), ri, rj, s, apart);
        }
        const int32_t counter = counter_of(r2);
        if (counter >= counters.row || /* above the last edge: no hit is */
            (WAY == ONE_BY_ONE && !scale.plain &&
             kith__is_excluded(&scale.rdf.excluded, scale.cross, home.id[k], other.id[l]))) {
            return;
        }
        const int32_t partial = scale.rdf.species[0]
                                    ? kith__partial(scale.rdf.n_species, scale.cross,
                                                    home.species[k], other.species[l])
                                    : 0;
        const double p = KITH_ADD_d(
            KITH_ADD_d(KITH_MUL_d(force[0], d[0]), KITH_MUL_d(force[1], d[1])),
            KITH_MUL_d(force[2], d[2]));
        int64_t term[2];
        kith__force_terms(&scale.rdf.force_units, scale.rdf.force_units.over[counter],
                          scale.rdf.dim, p, square_of(d[0], d[1], d[2]), term);
        add(partial, counter, term);
        if (WAY == ONE_BY_ONE && scale.sums && counter > 0) {
            add_wide(&scale.sums[partial * scale.rdf.bins + counter - 1],
                     scale.rdf.partials * scale.rdf.bins,
                     kith__product(&scale.rdf, home.id[k], other.id[l]));
        }
    }

    /** Process the hits of this lane's candidates.
     *  @param mask  bit k is set when query particle k is a hit; 0 afterwards */
    __device__ __forceinline__ void take(const visit<real> &v, shared *all,
                                         const struct candidate at[DEEP], uint32_t mask[DEEP])
    {
        const struct kith__gpu_grid &grid = v.sweep->grid;
        make_room(v);
        for (int d = 0; d < DEEP; d++) {
            const bool moved = mask[d] != 0 && at[d].shift != no_shift;
            const bool simple = which_lanes(moved) == 0;
            if (mask[d] != 0) {
                all->candidate.load(grid.b, scale, 1, v.lane, at[d].slot);
            }
            if (moved) {
                all->candidate.move(grid.question.box_d.row, v.lane, at[d].shift);
            }
            const int mine = __popc(mask[d]);
            const int sum = scan_lanes(mine, v.lane); /* end of each lane's hits in the list */
            const int hits = from_lane(sum, LANES - 1);
            for (int to = sum - mine; mask[d]; mask[d] &= mask[d] - 1, to++) {
                all->hit[to] = (uint16_t)(v.lane * KITH_GPU_CLUSTER + __ffs((int)mask[d]) - 1);
            }
            sync_warp();
            for (int h = v.lane; h < hits; h += LANES) {
                const uint32_t hit = all->hit[h];
                add_pair(grid.question, all, (int)(hit % KITH_GPU_CLUSTER),
                         (int)(hit / KITH_GPU_CLUSTER), simple);
            }
            sync_warp();
        }
    }
    __device__ __forceinline__ void end(const visit<real> &, shared *)
    {
        sync_warp(); /* before the shared memory is reused for another i-cluster */
    }
};

/** Overload: zero the block's sums. */
template <typename real, int WAY>
static __device__ __forceinline__ void begin_block(force_tally<real, WAY> &operation)
{
    const struct force_counters &c = operation.counters;
    clear_counters(block_counters, operation.scale.copies > 0 ? c.n + 4 * c.m : 0, 1);
    __syncthreads();
}

/** Overload: flush the block's sums. */
template <typename real, int WAY>
static __device__ __forceinline__ void end_block(force_tally<real, WAY> &operation)
{
    const struct kith__gpu_scale &scale = operation.scale;
    __syncthreads();
    if (scale.copies > 0) {
        flush_force_sums(operation.counters, scale.counts, scale.force_sums, (int)threadIdx.x,
                         SWEEP_THREADS);
    }
}

/** Copy forces to the order of slots; one thread for each component. */
template <typename real>
static __global__ void sort_forces(const struct kith__gpu_plan *plan, struct kith__gpu_set set,
                                   const real *from, real *to)
{
    const int64_t at = my_item();
    if (plan->status == KITH_OK && at < 3 * set.n) {
        to[at] = from[3 * (int64_t)set.id[at / 3] + at % 3];
    }
}

/** Launch sort_forces for a type of coordinate. */
template <typename real>
static gpuError_t run_place(const struct kith__gpu_grid *grid, const struct kith__gpu_set &set,
                            const void *from, void *to, gpuStream_t stream)
{
    const int threads = 256;
    KITH_LAUNCH(sort_forces<real>, (3 * set.n + threads - 1) / threads, threads, stream, grid->plan,
                set, (const real *)from, (real *)to);
    return gpuGetLastError();
}

gpuError_t kith__gpu_sort_forces(const struct kith__gpu_grid *grid, int which, const void *from,
                                 void *to, gpuStream_t stream)
{
    const struct kith__gpu_set &set = which ? grid->b : grid->a;
    return grid->question.precision == KITH_FLOAT ? run_place<float>(grid, set, from, to, stream)
                                                  : run_place<double>(grid, set, from, to, stream);
}

/** Launch the sweep with the operation for a type of coordinate and a WAY of finding bins.
 *  @param bytes  shared memory for the sums of a thread block */
template <typename real, int WAY>
static gpuError_t run_forces(const struct kith__gpu_sweep *sweep,
                             const struct kith__gpu_scale *scale,
                             const struct force_counters *counters, size_t bytes,
                             gpuStream_t stream)
{
    const force_tally<real, WAY> operation = {*scale, *counters, 0};
    return run_sweep<real>(sweep, operation, stream, bytes);
}

gpuError_t kith__gpu_force_sums(const struct kith__gpu_sweep *sweep, struct kith__gpu_scale *scale,
                                size_t most, gpuStream_t stream)
{
    const struct force_counters c = {(int32_t)(scale->rdf.partials * scale->rdf.bins),
                                     (int32_t)(scale->rdf.partials * (scale->rdf.bins + 1)),
                                     (int32_t)(scale->rdf.bins + 1)};
    /* shared memory beside the sums; below, 64 bytes are to spare */
    const size_t taken = WARPS * (sizeof(struct visit_shared) +
                                  sizeof(force_tally<double, ONE_BY_ONE>::shared));
    const size_t bytes = (size_t)(c.n + 4 * (int64_t)c.m) * sizeof(uint32_t);
    scale->copies = bytes + taken + 64 <= most ? 1 : 0;
    const size_t shared = scale->copies > 0 ? bytes : 0;
    const bool single = sweep->grid.question.precision == KITH_FLOAT;
    if (way_of(scale) == BY_ROOT) { /* other bins are found by ONE_BY_ONE, too, not by BY_TABLE */
        return single ? run_forces<float, BY_ROOT>(sweep, scale, &c, shared, stream)
                      : run_forces<double, BY_ROOT>(sweep, scale, &c, shared, stream);
    }
    return single ? run_forces<float, ONE_BY_ONE>(sweep, scale, &c, shared, stream)
                  : run_forces<double, ONE_BY_ONE>(sweep, scale, &c, shared, stream);
}
