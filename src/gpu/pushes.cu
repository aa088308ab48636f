/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operation for histograms with forces: counts, and the pushes of pairs (push.h).
 * Blocks add in 64 bits in shared memory, as two words of 32, and to 128 bits in device memory
 * before they can overflow.
 */
#include "sweep.cuh"
#include "tally.cuh"

/** The block's sums: n counts, then low words of 2 m pushes, then their high ones. */
struct push_counters {
    int64_t n, m;

    __device__ __forceinline__ uint32_t *low() const
    {
        return block_counters + n;
    }
    __device__ __forceinline__ uint32_t *high() const
    {
        return block_counters + n + 2 * m;
    }
};

static __host__ __device__ __forceinline__ struct push_counters push_counters_of(
    const struct kith__gpu_scale *s)
{
    struct push_counters c;
    c.n = s->rdf.partials * s->rdf.bins;
    c.m = s->rdf.partials * (s->rdf.bins + 1);
    return c;
}

static __device__ __forceinline__ void add_term(const struct push_counters &c, int64_t at,
                                                int64_t term)
{
    const uint32_t add = (uint32_t)term;
    const uint32_t old = atomicAdd(&c.low()[at], add);
    const uint32_t high = (uint32_t)(term >> 32) + (old + add < old ? 1u : 0u);
    if (high != 0) {
        atomicAdd(&c.high()[at], high);
    }
}

/** Add the block's sums to those in device memory, and leave 0. Others may add. */
static __device__ __forceinline__ void flush_pushes(const struct kith__gpu_scale &s, int me, int of)
{
    const struct push_counters c = push_counters_of(&s);
    flush_counters(block_counters, c.n, 1, s.counts, me, of);
    for (int64_t at = me; at < 2 * c.m; at += of) {
        const int64_t low = (int64_t)atomicExch(&c.low()[at], 0u);
        const int64_t high = (int64_t)(int32_t)atomicExch(&c.high()[at], 0u);
        if (low != 0 || high != 0) {
            add_wide(&s.pushes[at], 2 * c.m, high * ((int64_t)1 << 32) + low);
        }
    }
}

/** d.d as the definition has it where j is no image: in double those of the push. */
static __device__ __forceinline__ float square_beside(const float ri[3], const float rj[3],
                                                      const double[3])
{
    return square_of(KITH_SUB_F(rj[0], ri[0]), KITH_SUB_F(rj[1], ri[1]), KITH_SUB_F(rj[2], ri[2]));
}
static __device__ __forceinline__ double square_beside(const double[3], const double[3],
                                                       const double d[3])
{
    return square_of(d[0], d[1], d[2]);
}

/** N particles, and the forces on them. */
template <typename real, int N> struct pushed {
    real r[3][N];
    double x[3][N]; /**< moved to their images */
    double force[3][N];
    int32_t id[N], species[N], shift[N];

    __device__ __forceinline__ void load(const struct kith__gpu_set &set,
                                         const struct kith__gpu_scale &scale, int which, int k,
                                         int64_t place)
    {
        real at[3];
        id[k] = set.id[place];
        species[k] = scale.rdf.species[0] ? scale.rdf.species[which][id[k]] : 0;
        shift[k] = no_shift;
        read_place(set, place, at);
        for (int m = 0; m < 3; m++) {
            r[m][k] = at[m];
            x[m][k] = (double)at[m];
            force[m][k] = (double)((const real *)scale.rdf.forces[which])[3 * (int64_t)id[k] + m];
        }
    }

    __device__ __forceinline__ void move(const double row[3][3], int k, int32_t to)
    {
        int32_t s[3];
        kith__unpack_shift(to, s);
        shift[k] = to;
        for (int m = 0; m < 3; m++) {
            const double by = KITH_ADD_D(
                KITH_ADD_D(KITH_MUL_D(s[2], row[2][m]), KITH_MUL_D(s[1], row[1][m])),
                KITH_MUL_D(s[0], row[0][m]));
            x[m][k] = KITH_ADD_D(x[m][k], by);
        }
    }
};

/** The hits of a home with a candidate a lane are listed, lane by lane, and taken up again by as
 *  many lanes as there are: whoever goes through its own waits for the lane that has most. */
template <typename real> struct push_tally {
    struct shared {
        pushed<real, KITH_GPU_HOME> home;
        pushed<real, LANES> candidate;
        uint16_t hit[LANES * KITH_GPU_HOME]; /**< lane and particle of the home */
    };
    struct kith__gpu_scale scale;
    int64_t since; /* the most pairs that this warp has added since it last emptied the sums */

    __device__ __forceinline__ bool begin(const visit<real> &v, shared *all)
    {
        if (v.lane < v.n) {
            all->home.load(v.sweep->grid.a, scale, 0, v.lane, v.begin + v.lane);
        }
        sync_warp();
        return true;
    }

    /** Each warp of a block adds its part of the terms that never overflow. */
    __device__ __forceinline__ void make_room(const visit<real> &v)
    {
        since += (int64_t)DEEP * LANES * v.n;
        if (scale.copies > 0 && since > KITH_PUSH_TERMS / WARPS) {
            flush_pushes(scale, v.lane, LANES);
            since = (int64_t)DEEP * LANES * v.n;
        }
    }

    __device__ __forceinline__ int32_t counter_of(real r2) const
    {
        uint32_t bin;
        if (!find_bin<real, WITH_CARE>(scale, r2, &bin)) {
            bin = settle<real, WITH_CARE>(scale, r2, bin);
        }
        return (int32_t)(bin + 1);
    }

    __device__ __forceinline__ void add(int32_t partial, int32_t counter, const int64_t term[2])
    {
        const struct push_counters c = push_counters_of(&scale);
        for (int which = 0; which < 2; which++) {
            const int64_t at = kith__push_at(&scale.rdf, partial, which, counter);
            if (scale.copies > 0) {
                add_term(c, at, term[which]);
            } else {
                add_wide(&scale.pushes[at], 2 * c.m, term[which]);
            }
        }
        const int64_t bin = partial * scale.rdf.bins + counter - 1;
        if (counter > 0 && scale.copies > 0) {
            atomicAdd(&block_counters[bin], 1u);
        } else if (counter > 0) {
            atomicAdd(&scale.counts[bin], 1ull);
        }
    }

    /** Count the pair of the home's particle k and candidate l, and add its push. */
    __device__ __forceinline__ void push(const struct kith__question &question, const shared *all,
                                         int k, int l, bool simple)
    {
        typedef definition<real> def;
        const pushed<real, KITH_GPU_HOME> &home = all->home;
        const pushed<real, LANES> &other = all->candidate;
        double d[3], force[3];
        real ri[3], rj[3];
        for (int m = 0; m < 3; m++) {
            d[m] = KITH_SUB_D(other.x[m][l], home.x[m][k]);
            force[m] = KITH_SUB_D(other.force[m][l], home.force[m][k]);
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
        if (counter > (int32_t)scale.rdf.bins ||
            (!scale.plain && kith__is_left_out(&scale.rdf, scale.cross, home.id[k], other.id[l]))) {
            return;
        }
        const int32_t partial = scale.rdf.species[0]
                                    ? kith__partial(scale.rdf.n_species, scale.cross,
                                                    home.species[k], other.species[l])
                                    : 0;
        const double p = KITH_ADD_D(
            KITH_ADD_D(KITH_MUL_D(force[0], d[0]), KITH_MUL_D(force[1], d[1])),
            KITH_MUL_D(force[2], d[2]));
        int64_t term[2];
        kith__push_terms(&scale.rdf.push, scale.rdf.push.over[counter], scale.rdf.dim, p,
                         square_of(d[0], d[1], d[2]), term);
        add(partial, counter, term);
        if (scale.sums && counter > 0) {
            add_wide(&scale.sums[partial * scale.rdf.bins + counter - 1],
                     scale.rdf.partials * scale.rdf.bins,
                     kith__product(&scale.rdf, home.id[k], other.id[l]));
        }
    }

    __device__ __forceinline__ void take(const visit<real> &v, shared *all,
                                         const struct candidate at[DEEP], uint32_t mask[DEEP])
    {
        const struct kith__gpu_grid &grid = v.sweep->grid;
        make_room(v);
        for (int d = 0; d < DEEP; d++) {
            const bool moved = mask[d] != 0 && at[d].shift != no_shift;
            const bool simple = which_lanes(moved) == 0;
            if (mask[d] != 0) {
                all->candidate.load(grid.b, scale, 1, v.lane, at[d].place);
            }
            if (moved) {
                all->candidate.move(grid.question.box_d.row, v.lane, at[d].shift);
            }
            const int mine = __popc(mask[d]);
            const int sum = scan_lanes(mine, v.lane);
            const int hits = from_lane(sum, LANES - 1);
            for (int to = sum - mine; mask[d]; mask[d] &= mask[d] - 1, to++) {
                all->hit[to] = (uint16_t)(v.lane * KITH_GPU_HOME + __ffs((int)mask[d]) - 1);
            }
            sync_warp();
            for (int h = v.lane; h < hits; h += LANES) {
                const int hit = all->hit[h];
                push(grid.question, all, hit % KITH_GPU_HOME, hit / KITH_GPU_HOME, simple);
            }
            sync_warp();
        }
    }
    __device__ void flush(const visit<real> &, shared *)
    {
    }
    __device__ __forceinline__ void end(const visit<real> &, shared *)
    {
        sync_warp(); /* before another home takes the place */
    }
};

template <typename real>
static __device__ __forceinline__ void begin_block(push_tally<real> &operation)
{
    const struct push_counters c = push_counters_of(&operation.scale);
    clear_counters(block_counters, operation.scale.copies > 0 ? c.n + 4 * c.m : 0, 1);
    __syncthreads();
}

template <typename real>
static __device__ __forceinline__ void end_block(push_tally<real> &operation)
{
    __syncthreads();
    if (operation.scale.copies > 0) {
        flush_pushes(operation.scale, (int)threadIdx.x, SWEEP_THREADS);
    }
}

template <typename real>
static gpuError_t run_pushes(const struct kith__gpu_sweep *sweep,
                             const struct kith__gpu_scale *scale, size_t bytes, gpuStream_t stream)
{
    const push_tally<real> operation = {*scale, 0};
    return run_sweep<real>(sweep, operation, stream, bytes);
}

gpuError_t kith__gpu_push(const struct kith__gpu_sweep *sweep, struct kith__gpu_scale *scale,
                          size_t most, gpuStream_t stream)
{
    const struct push_counters c = push_counters_of(scale);
    const size_t taken = WARPS * (sizeof(struct visit_shared) + sizeof(push_tally<double>::shared));
    const size_t bytes = (size_t)(c.n + 4 * c.m) * sizeof(uint32_t);
    scale->copies = bytes + taken + 64 <= most ? 1 : 0;
    return sweep->grid.question.precision == KITH_FLOAT
               ? run_pushes<float>(sweep, scale, scale->copies * bytes, stream)
               : run_pushes<double>(sweep, scale, scale->copies * bytes, stream);
}
