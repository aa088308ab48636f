/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flock steps: the kernels that arrange particles by cell, the kernel of steps for any rules (one
 * thread for each particle, which tests all particles of the cells around), and the search for the
 * particle nearest to a predator. Sums are of integers, so the order of particles inside a cell,
 * which depends on timing, does not matter.
 */
#include "flock_gpu.cuh"
#include "flock/nearest_list.h"

enum { THREADS = 128 }; /* threads of a block */

/* ----------------------------------------------------------------------------------- arranging */

/** Find the largest absolute component of a velocity in `there`, and count the particles of each
 *  cell, which gives their ranks. */
template <typename real>
static __global__ void enter(const KITH_IN_PLACE struct kith__gpu_flock_step f)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const bool any = s < f.sweep.grid.a.n;
    real v[3] = {0, 0, 0};
    if (any) {
        const record<real> r = ((const record<real> *)f.there.r)[s];
        record<real> *const vs = (record<real> *)f.there.v + s;
        const real at[3] = {r.x, r.y, r.z};
        v[0] = vs->x;
        v[1] = vs->y;
        v[2] = vs->z;
        vs->number = count_in_cell(f, at);
    }
    update_fastest(f, v);
}

/** Set the unit of velocities of the next step from the largest absolute component of a velocity,
 *  and zero the counters that the next step sets. One thread calls it.
 *  @param stepped  increment the number of steps */
static __device__ void begin_step(const struct kith__gpu_flock_step &f, bool stepped)
{
    const double fastest = __longlong_as_double((long long)f.progress->fastest[f.side]);
    const double unit = kith__flock_unit(fastest);
    const bool fits = unit > 1e-30 && unit < 1e30; /* 1 / unit is a normal float */
    f.progress->velocity_unit = unit;
    f.progress->velocities.inverse = 1 / unit;
    f.progress->velocities.narrow = fits ? (float)(1 / unit) : 0;
    f.progress->velocities.plain = true; /* no velocity has more than 2^KITH_FLOCK_BITS units */
    f.progress->fastest[1 - f.side] = 0;
    f.progress->at_rim[1 - f.side] = 0;
    f.progress->step += stepped;
}

/** Append the entries of a warp's lanes to the list of the rim, by one atomic operation for all.
 *  All lanes of the warp call it.
 *  @param slot    entry of the lane's particle in `here`
 *  @param listed  the particle is at the rim */
static __device__ __forceinline__ void list_rim(const struct kith__gpu_flock_step &f, int64_t slot,
                                                bool listed)
{
    const lanes_t with = which_lanes(listed);
    if (with) {
        const int first = first_lane(with);
        const int n = count_lanes(with);
        const int32_t at = my_lane() == first ? atomicAdd(&f.progress->at_rim[f.side], n) : 0;
        const int32_t mine = from_lane(at, first) + count_lanes(with & lanes_below(my_lane()));
        if (listed) {
            f.rim[mine] = (int32_t)slot;
        }
    }
}

/** Move each particle from `there` to `here`, list the rim, and clear the counts. With a table of
 *  cells the entry is the first one of the new cell, which a prefix sum of the counts has found,
 *  plus the rank within it: the second half of a counting sort. After a lost particle nothing is
 *  moved. */
template <typename real>
static __global__ void arrange(const KITH_IN_PLACE struct kith__gpu_flock_step f, bool stepped)
{
    const struct kith__gpu_set &a = f.sweep.grid.a;
    int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p == 0 && f.progress->lost != KITH_GPU_NO_PARTICLE) {
        f.progress->stopped = true;
    }
    if (!is_well(f) || f.progress->lost != KITH_GPU_NO_PARTICLE) {
        return;
    }
    if (p == 0) {
        begin_step(f, stepped);
    }
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t cell = p; cell < f.entries; cell += threads) {
        f.count[cell] = 0;
    }
    bool inside = true;
    int64_t to = p;
    if (p < a.n) {
        p = f.order == KITH_GPU_SORTED ? a.id[to] : to;
        const record<real> r = ((const record<real> *)f.there.r)[p];
        record<real> v = ((const record<real> *)f.there.v)[p];
        if (f.order == KITH_GPU_COUNTED) {
            const real at[3] = {r.x, r.y, r.z};
            const int32_t cell = (int32_t)cell_of(f, f.axis, at, &inside);
            to = (int64_t)a.start[cell] + v.number;
            v.number = inside ? cell : ~cell;
        }
        ((record<real> *)f.here.r)[to] = r;
        ((record<real> *)f.here.v)[to] = v;
    }
    list_rim(f, to, !inside);
}

/* ------------------------------------------------------------------------------ neighbour sums */

/** Add a neighbour to the sums of the rules whose radius it is within.
 *  @param d     its offset [units]
 *  @param slot  its entry in `here`
 *  @param r2    its squared distance by the definition [length^2]
 *  @param heed  how it is heeded; NULL: there are no species */
template <typename real>
static __device__ __forceinline__ void add(const struct kith__gpu_flock_step &f, const int32_t d[3],
                                           int32_t slot, double r2,
                                           const struct kith__flock_heed *heed,
                                           struct kith__flock_sums *sums,
                                           struct kith__flock_more *more)
{
    const int3 speed = in_plain_units(f.progress->velocities,
                                      ((const record<real> *)f.here.v)[slot]);
    const int32_t v[3] = {speed.x, speed.y, speed.z};
    for (int rule = 0; rule < KITH_RULES; rule++) {
        const bool on = f.rules.radius[rule] > 0 && r2 <= f.square[rule];
        if (heed) {
            kith__flock_add_heeded(rule, rule == KITH_ALIGNMENT ? v : d,
                                   on ? heed->factor[rule] : 0, sums, more);
            continue;
        }
        sums->n[rule] += on;
        for (int c = 0; c < 3; c++) {
            sums->sum[rule][c] += !on ? 0 : rule == KITH_ALIGNMENT ? v[c] : d[c];
        }
    }
}

/** Compute the neighbour sums of a particle: test all particles of the cells around by the
 *  definition of a pair.
 *  @tparam MOST      capacity of the list of nearest neighbours, if only these count; else 0
 *  @tparam MORE      there are sums of kith__flock_more
 *  @param slot       entry of the particle in `here`
 *  @param v          its velocity, for the blind angle
 *  @param[out] sums  zero at the beginning
 *  @param[out] more  zero at the beginning */
template <typename real, int MOST, bool MORE>
static __device__ void sum_neighbours(const struct kith__gpu_flock_step &f, int64_t slot,
                                      const record<real> &mine, const double v[3],
                                      struct kith__flock_sums *sums, struct kith__flock_more *more)
{
    typedef definition<real> def;
    const struct kith__gpu_grid &grid = f.sweep.grid;
    const record<real> *const all = (const record<real> *)f.here.r;
    const real ri[3] = {mine.x, mine.y, mine.z};
    const real square = def::square((real)grid.question.cutoff);
    const int3 here = in_units(f.offsets, mine);
    bool inside;
    const int64_t key = cell_of(f, grid.plan->axis, ri, &inside);
    const struct around around = cells_around(f.sweep, key, key);
    const bool heeds = MORE && f.rules.n_species > 0;
    const struct kith__flock_heed *row = NULL;
    if (heeds) {
        row = f.heed + (int64_t)f.rules.n_species * f.species[(int32_t)mine.number];
    }
    struct kith__listed list[MOST > 0 ? MOST : 1];
    int listed = 0;
    for (int64_t s = 0; s < around.segments; s++) {
        int64_t begin, end;
        int32_t image[3];
        find_segment(f.sweep, around, slot, s, &begin, &end, image);
        for (int64_t j = begin; j < end; j++) {
            const record<real> other = all[j];
            const real rj[3] = {other.x, other.y, other.z};
            real apart[3];
            const real r2 = def::separation(def::box(grid.question), ri, rj, image, apart);
            const int32_t shift = kith__pack_shift(image);
            if (!(r2 <= square) || (j == slot && shift == no_shift)) {
                continue;
            }
            int32_t d[3];
            offset_of(f, here, in_units(f.offsets, other), shift, d);
            if (MORE && f.rules.push_radius > 0) {
                kith__flock_add_push(&f.rules, f.offsets.inverse, d, more);
            }
            const double wide[3] = {(double)d[0], (double)d[1], (double)d[2]};
            if (!f.rules.sees_all && !kith__flock_sees(&f.rules, v, wide)) {
                continue;
            }
            const struct kith__flock_heed *heed = NULL;
            if (heeds) {
                heed = &row[f.species[(int32_t)other.number]];
                if (!heed->any) {
                    continue;
                }
            }
            if (MOST > 0) {
                const uint64_t place = kith__neighbour_place((int32_t)other.number, shift);
                const struct kith__listed one = {{place, (double)r2}, (int32_t)j};
                listed = kith__list_nearest(list, listed, (int)f.rules.nearest, &one);
            } else {
                add<real>(f, d, (int32_t)j, (double)r2, heed, sums, more);
            }
        }
    }
    for (int k = 0; k < listed; k++) {
        const int32_t slot = list[k].entry;
        const struct kith__neighbour &neighbour = list[k].neighbour;
        int32_t d[3];
        offset_of(f, here, in_units(f.offsets, all[slot]), (int32_t)(uint32_t)neighbour.place, d);
        const struct kith__flock_heed *heed =
            heeds ? &row[f.species[(int32_t)(neighbour.place >> 32)]] : NULL;
        add<real>(f, d, slot, neighbour.r2, heed, sums, more);
    }
}

/** Make one step of each particle, a thread each. @tparam MOST, MORE  as for sum_neighbours */
template <typename real, int MOST, bool MORE>
static __global__ void step_each(const KITH_IN_PLACE struct kith__gpu_flock_step f)
{
    const int64_t slot = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (!is_well(f)) {
        return;
    }
    real v[3] = {0, 0, 0};
    if (slot < f.sweep.grid.a.n) {
        const record<real> mine = ((const record<real> *)f.here.r)[slot];
        const record<real> old = ((const record<real> *)f.here.v)[slot];
        const double speed[3] = {(double)old.x, (double)old.y, (double)old.z};
        struct kith__flock_sums sums = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
        struct kith__flock_more more = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0};
        if (f.order != KITH_GPU_AS_IT_IS) {
            sum_neighbours<real, MOST, MORE>(f, slot, mine, speed, &sums, &more);
        }
        move_particle(f, slot, mine, old, &sums, MORE ? &more : NULL, v);
    }
    update_fastest(f, v);
}

/* ---------------------------------------------------------------------------------- predators */

/** Return the distance of a particle from the nearest image of a position [length]. */
template <typename real>
static __device__ double distance_to(const struct kith__gpu_flock_step &f, const double place[3],
                                     const record<real> &r)
{
    const double at[3] = {(double)r.x, (double)r.y, (double)r.z};
    double d[3];
    kith__flock_nearest_image(&f.sweep.grid.question.box_d, place, at, d);
    return kith__flock_length(d);
}

/** A position, as an argument of kernels. */
struct target {
    double place[3]; /**< [length] */
};

/** Find the particle nearest to a target, in three rounds, each of which needs the result of the
 *  one before: 0 its distance, 1 the smallest index at that distance, 2 its entry in `here`. */
template <typename real>
static __global__ void find_prey(const KITH_IN_PLACE struct kith__gpu_flock_step f,
                                 const struct target target, int round, struct kith__gpu_prey *prey)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; s < f.sweep.grid.a.n;
         s += step) {
        const record<real> r = ((const record<real> *)f.here.r)[s];
        const double far = distance_to(f, target.place, r);
        const unsigned long long bits = (unsigned long long)__double_as_longlong(far);
        if (round == 0) {
            atomicMin(&prey->distance, bits);
        } else if (bits == prey->distance && round == 1) {
            atomicMin(&prey->id, (int32_t)r.number);
        } else if (bits == prey->distance && (int32_t)r.number == prey->id) {
            prey->slot = (int32_t)s;
        }
    }
}

/** Initialise the search for the nearest particle. */
static __global__ void clear_prey(struct kith__gpu_prey *prey)
{
    prey->distance = ~0ull;
    prey->id = INT32_MAX;
    prey->slot = 0;
}

/** Launch the three rounds of find_prey. @param place  position of the predator [length] */
template <typename real>
static void launch_find_prey(const struct kith__gpu_flock_step *f, const double place[3],
                             struct kith__gpu_prey *prey, gpuStream_t stream)
{
    const int64_t most = 1024;
    const int64_t wanted = blocks_for(f->sweep.grid.a.n, THREADS);
    const struct target target = {{place[0], place[1], place[2]}};
    KITH_LAUNCH(clear_prey, 1, 1, stream, prey);
    for (int round = 0; round < 3; round++) {
        KITH_LAUNCH(find_prey<real>, wanted < most ? wanted : most, THREADS, stream, *f, target,
                    round, prey);
    }
}

/* ------------------------------------------------------------------------------------ launches */

/** Return true when the precision of the flock is float. */
static bool is_single(const struct kith__gpu_flock_step *f)
{
    return f->sweep.grid.question.precision == KITH_FLOAT;
}

gpuError_t kith__gpu_flock_enter(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(f->sweep.grid.a.n, THREADS);
    if (is_single(f)) {
        KITH_LAUNCH(enter<float>, blocks, THREADS, stream, *f);
    } else {
        KITH_LAUNCH(enter<double>, blocks, THREADS, stream, *f);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_flock_arrange(const struct kith__gpu_flock_step *f, bool stepped,
                                   gpuStream_t stream)
{
    const int64_t blocks = blocks_for(f->sweep.grid.a.n, THREADS);
    if (is_single(f)) {
        KITH_LAUNCH(arrange<float>, blocks, THREADS, stream, *f, stepped);
    } else {
        KITH_LAUNCH(arrange<double>, blocks, THREADS, stream, *f, stepped);
    }
    return gpuGetLastError();
}

/** Launch step_each with room for the nearest neighbours that count. */
template <typename real, bool MORE>
static void launch_nearest(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    enum { FEW = 8 }; /* capacity of a short list of nearest neighbours */
    const int64_t blocks = blocks_for(f->sweep.grid.a.n, THREADS);
    const int64_t nearest = f->rules.nearest;
    if (nearest == 0) {
        KITH_LAUNCH((step_each<real, 0, MORE>), blocks, THREADS, stream, *f);
    } else if (nearest <= FEW) {
        KITH_LAUNCH((step_each<real, FEW, MORE>), blocks, THREADS, stream, *f);
    } else {
        KITH_LAUNCH((step_each<real, KITH_MOST_NEAREST, MORE>), blocks, THREADS, stream, *f);
    }
}

/** Launch step_each for the sums that the rules need. */
template <typename real>
static void launch_each(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    if (kith__flock_has_more(&f->rules)) {
        launch_nearest<real, true>(f, stream);
    } else {
        launch_nearest<real, false>(f, stream);
    }
}

gpuError_t kith__gpu_flock_each(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    if (is_single(f)) {
        launch_each<float>(f, stream);
    } else {
        launch_each<double>(f, stream);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_flock_find_prey(const struct kith__gpu_flock_step *f, const double place[3],
                                     struct kith__gpu_prey *prey, gpuStream_t stream)
{
    if (is_single(f)) {
        launch_find_prey<float>(f, place, prey, stream);
    } else {
        launch_find_prey<double>(f, place, prey, stream);
    }
    return gpuGetLastError();
}
