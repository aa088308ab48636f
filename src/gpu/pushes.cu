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

template <typename real> struct push_tally {
    struct shared {
        real r[3][KITH_GPU_HOME];
        double force[3][KITH_GPU_HOME];
        int32_t species[KITH_GPU_HOME];
    };
    struct kith__gpu_scale scale;
    int64_t since; /* the most pairs that this warp has added since it last emptied the sums */

    __device__ __forceinline__ bool begin(const visit<real> &v, shared *home)
    {
        const struct kith__gpu_grid &grid = v.sweep->grid;
        if (v.lane < v.n) {
            real r[3];
            const int32_t id = grid.a.id[v.begin + v.lane];
            read_place(grid.a, v.begin + v.lane, r);
            for (int k = 0; k < 3; k++) {
                home->r[k][v.lane] = r[k];
                home->force[k][v.lane] =
                    (double)((const real *)scale.rdf.forces[0])[3 * (int64_t)id + k];
            }
            home->species[v.lane] = scale.rdf.species[0] ? scale.rdf.species[0][id] : 0;
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
        if (!scale.rdf.linear) {
            return look_up<real>(scale.rdf.edge2, (int32_t)scale.rdf.bins, scale.rdf.linear,
                                 scale.rdf.r_min, scale.rdf.width, r2, 0) +
                   1;
        }
        const float r = fast_root((float)r2) - (float)scale.rdf.r_min;
        const int32_t guess = (int32_t)(r / (float)scale.rdf.width) + 1;
        return settled(&scale.rdf, r2, guess);
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

    __device__ __forceinline__ void take(const visit<real> &v, shared *home,
                                         const struct candidate at[DEEP], uint32_t mask[DEEP])
    {
        typedef definition<real> def;
        const struct kith__gpu_grid &grid = v.sweep->grid;
        const double(*row)[3] = grid.question.box_d.row;
        make_room(v);
        for (int d = 0; d < DEEP; d++) {
            if (mask[d] == 0) {
                continue;
            }
            real rj[3];
            int32_t s[3];
            double xj[3], fj[3];
            const int32_t j = grid.b.id[at[d].place];
            const int32_t species = scale.rdf.species[1] ? scale.rdf.species[1][j] : 0;
            read_place(grid.b, at[d].place, rj);
            kith__unpack_shift(at[d].shift, s);
            for (int m = 0; m < 3; m++) {
                const double moved = KITH_ADD_D(
                    KITH_ADD_D(KITH_MUL_D(s[2], row[2][m]), KITH_MUL_D(s[1], row[1][m])),
                    KITH_MUL_D(s[0], row[0][m]));
                xj[m] = KITH_ADD_D((double)rj[m], moved);
                fj[m] = (double)((const real *)scale.rdf.forces[1])[3 * (int64_t)j + m];
            }
            for (; mask[d]; mask[d] &= mask[d] - 1) {
                const int k = __ffs((int)mask[d]) - 1;
                const real ri[3] = {home->r[0][k], home->r[1][k], home->r[2][k]};
                real apart[3];
                const real r2 = def::separation(def::box(grid.question), ri, rj, s, apart);
                const int32_t counter = counter_of(r2);
                if (counter > (int32_t)scale.rdf.bins ||
                    (!scale.plain &&
                     kith__is_left_out(&scale.rdf, scale.cross, v.shared->id[k], j))) {
                    continue;
                }
                const int32_t partial = kith__partial(scale.rdf.n_species, scale.cross,
                                                      home->species[k], species);
                const double x[3] = {KITH_SUB_D(xj[0], (double)ri[0]),
                                     KITH_SUB_D(xj[1], (double)ri[1]),
                                     KITH_SUB_D(xj[2], (double)ri[2])};
                const double force[3] = {KITH_SUB_D(fj[0], home->force[0][k]),
                                         KITH_SUB_D(fj[1], home->force[1][k]),
                                         KITH_SUB_D(fj[2], home->force[2][k])};
                int64_t term[2];
                kith__push(&scale.rdf.push, scale.rdf.push.over[counter], scale.rdf.dim, x, force,
                           term);
                add(partial, counter, term);
                if (scale.sums && counter > 0) {
                    add_wide(&scale.sums[partial * scale.rdf.bins + counter - 1],
                             scale.rdf.partials * scale.rdf.bins,
                             kith__product(&scale.rdf, v.shared->id[k], j));
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
