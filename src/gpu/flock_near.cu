/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a flock whose particles look at all others in reach, where these are few. A thread takes
 * a particle and goes through the rows of cells around it. Who is near is decided by the definition
 * (pair.h) at once, and put on a list in shared memory; lists are summed for the whole warp
 * together, so that its lanes wait for each other once a list and not once a neighbour.
 */
#include "flock_rows.cuh"

enum {
    NEAR_THREADS = 64,
    LISTED = 16,                       /* neighbours on a list: their sums fit 32 bits */
    AT_A_TIME = KITH_GPU_FLOCK_BEHIND, /* candidates */
    ENOUGH = LISTED / 2
};

/** What a block's threads keep in shared memory, each in a column of its own. */
struct notes {
    int32_t list[LISTED][NEAR_THREADS]; /**< slots; the sign: not within separation */
    int64_t sum[KITH_RULES][3][NEAR_THREADS];
    int32_t n[KITH_RULES][NEAR_THREADS];
};

/** A thread's particle. */
template <typename real> struct seer {
    const struct kith__gpu_flight *f;
    struct notes *notes;
    int n; /**< on the list */
    real r[3];
    real reach2, close2; /**< squares of the largest radius and that of separation */
    int3 here;           /**< in units */
    struct kith__gpu_ruler velocities;
};

/** What the rules sum of neighbours, a list long. */
struct short_sums {
    int32_t n[KITH_RULES];
    int32_t sum[KITH_RULES][3];
};

/** Add a neighbour to the rules that reach it: on[rule]. r, v: its records. */
template <typename real>
static __device__ __forceinline__ void add(const seer<real> &me, const record<real> &r,
                                           const record<real> &v, int32_t shift,
                                           const bool on[KITH_RULES], struct short_sums *s)
{
    int32_t d[3];
    const int3 place = in_plain_units(me.f->offsets, r);
    const int3 speed = in_plain_units(me.velocities, v);
    const int32_t u[3] = {speed.x, speed.y, speed.z};
    offset_of(*me.f, me.here, place, shift, d);
    for (int rule = 0; rule < KITH_RULES; rule++) {
        s->n[rule] += on[rule];
        for (int c = 0; c < 3; c++) {
            s->sum[rule][c] += !on[rule] ? 0 : rule == KITH_ALIGNMENT ? u[c] : d[c];
        }
    }
}

template <typename real>
static __device__ __forceinline__ void add_up(const seer<real> &me, const struct short_sums &s)
{
    for (int rule = 0; rule < KITH_RULES; rule++) {
        me.notes->n[rule][threadIdx.x] += s.n[rule];
        for (int c = 0; c < 3; c++) {
            me.notes->sum[rule][c][threadIdx.x] += s.sum[rule][c];
        }
    }
}

/** Which rules reach r2? */
template <typename real>
static __device__ __forceinline__ void which_rules(const seer<real> &me, real r2,
                                                   bool on[KITH_RULES])
{
    const struct kith__flock_rules &rules = me.f->rules;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        on[rule] = rules.radius[rule] > 0 && (double)r2 <= me.f->square[rule];
    }
}

template <typename real>
static __device__ __forceinline__ real separation_of(const seer<real> &me, const record<real> &r,
                                                     const int32_t image[3])
{
    typedef definition<real> def;
    const real rj[3] = {r.x, r.y, r.z};
    real d[3];
    return def::separation(def::box(me.f->sweep.grid.question), me.r, rj, image, d);
}

/** Sum the list. USUAL: alignment and cohesion reach all on it. */
template <typename real, bool USUAL> static __device__ __forceinline__ void sum_list(seer<real> &me)
{
    const int32_t none[3] = {0, 0, 0};
    struct short_sums s = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int k = 0; k < me.n; k++) {
        const int32_t entry = me.notes->list[k][threadIdx.x];
        const record<real> r = ((const record<real> *)me.f->here.r)[entry & INT32_MAX];
        const record<real> v = ((const record<real> *)me.f->here.v)[entry & INT32_MAX];
        bool on[KITH_RULES] = {entry >= 0, true, true};
        if (!USUAL) {
            which_rules(me, separation_of(me, r, none), on);
        }
        add(me, r, v, no_shift, on, &s);
    }
    me.n = 0;
    add_up(me, s);
}

/** Put those of [begin, end) that are near on the list, and it itself. Up to KITH_GPU_FLOCK_BEHIND
 *  records behind the end are read. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void list_near(seer<real> &me, int32_t begin, int32_t end)
{
    typedef definition<real> def;
    const record<real> *const all = (const record<real> *)me.f->here.r;
    const int32_t none[3] = {0, 0, 0};
    for (int32_t j = begin; j < end; j += AT_A_TIME) {
        if (me.n > LISTED - AT_A_TIME) {
            sum_list<real, USUAL>(me);
        }
        record<real> r[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            r[k] = all[j + k];
        }
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            const real rj[3] = {r[k].x, r[k].y, r[k].z};
            real d[3];
            const real r2 = def::separation(def::box(me.f->sweep.grid.question), me.r, rj, none, d);
            me.notes->list[me.n][threadIdx.x] = r2 <= me.close2 ? j + k : (j + k) | INT32_MIN;
            me.n += r2 <= me.reach2 && j + k < end;
        }
    }
}

/** Look at an image of [begin, end). */
template <typename real>
static __device__ __forceinline__ void look_at_image(seer<real> &me, int32_t begin, int32_t end,
                                                     const int32_t image[3])
{
    const record<real> *const all_v = (const record<real> *)me.f->here.v;
    const int32_t shift = kith__pack_shift(image);
    for (int32_t j = begin; j < end; j++) {
        const record<real> r = ((const record<real> *)me.f->here.r)[j];
        const real r2 = separation_of(me, r, image);
        if (r2 <= me.reach2) {
            struct short_sums s = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
            bool on[KITH_RULES];
            which_rules(me, r2, on);
            add(me, r, all_v[j], shift, on, &s);
            add_up(me, s);
        }
    }
}

/** Look at what there is of a row in images, cells beyond the box's faces. *begin, *end: those that
 *  are left, in the box itself. */
template <typename real>
static __device__ __forceinline__ void look_at_images(seer<real> &me, int32_t x, int32_t y,
                                                      int32_t z, int32_t *begin, int32_t *end)
{
    const struct kith__axis *axis = me.f->axis;
    const int32_t nx = (int32_t)axis[0].n;
    const struct row_of_cells r = {nx, axis[0].reach, axis[0].periodic, x, x};
    int32_t image[3] = {0, 0, 0};
    *begin = *end = 0;
    if (!wrap_cell(axis[1], &y, &image[1]) || !wrap_cell(axis[2], &z, &image[2])) {
        return;
    }
    const int32_t first = r.periodic ? floor_divide(x - r.reach, nx) : 0;
    const int32_t last = r.periodic ? floor_divide(x + r.reach, nx) : 0;
    for (image[0] = first; image[0] <= last; image[0]++) {
        int32_t from, to;
        range_of(me.f->sweep.grid, r, ((int64_t)z * axis[1].n + y) * nx, image[0], &from, &to);
        if (image[0] | image[1] | image[2]) {
            look_at_image(me, from, to, image);
        } else {
            *begin = from;
            *end = to;
        }
    }
}

/** Go some rows on. */
static __device__ __forceinline__ void step_rows(const struct kith__axis axis[3], int rows,
                                                 int32_t *dy, int32_t *dz)
{
    for (*dy += rows; *dy > axis[1].reach; ++*dz) {
        *dy -= 2 * axis[1].reach + 1;
    }
}

static __device__ __forceinline__ bool is_inside(const struct kith__axis &axis, int32_t at)
{
    return at >= axis.reach && at + axis.reach < (int32_t)axis.n;
}

/** The rows around, from number `first` on every `stride`th. The whole warp calls. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void look_around_in_rows(seer<real> &me, int32_t cell, int first,
                                                           int stride)
{
    const struct kith__axis *axis = me.f->axis;
    const int32_t nx = (int32_t)axis[0].n, ny = (int32_t)axis[1].n;
    const int32_t row = cell / nx;
    const int32_t x = cell - row * nx;
    const int32_t z = row / ny;
    const int32_t y = row - z * ny;
    const bool inside = is_inside(axis[0], x) && is_inside(axis[1], y) && is_inside(axis[2], z);
    int32_t dy = -axis[1].reach, dz = -axis[2].reach;
    step_rows(axis, first, &dy, &dz);
    for (bool more = true; more; step_rows(axis, stride, &dy, &dz)) {
        int32_t begin = 0, end = 0;
        if (dz <= axis[2].reach && inside) {
            const uint32_t *const start = me.f->sweep.grid.a.start + cell + (dz * ny + dy) * nx;
            begin = (int32_t)start[-axis[0].reach];
            end = (int32_t)start[axis[0].reach + 1];
        } else if (dz <= axis[2].reach) {
            look_at_images(me, x, y + dy, z + dz, &begin, &end);
        }
        list_near<real, USUAL>(me, begin, end);
        more = which_lanes(dz <= axis[2].reach);
        if (!more || which_lanes(me.n >= ENOUGH)) {
            sum_list<real, USUAL>(me);
        }
    }
}

/** What columns [first, end) have summed. */
static __device__ __forceinline__ struct kith__flock_sums gather(const struct notes &notes,
                                                                 int first, int end)
{
    struct kith__flock_sums sums = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int column = first; column < end; column++) {
        for (int rule = 0; rule < KITH_RULES; rule++) {
            sums.n[rule] += notes.n[rule][column];
            for (int c = 0; c < 3; c++) {
                sums.sum[rule][c] += notes.sum[rule][c][column];
            }
        }
    }
    return sums;
}

/** Let a thread look around for its particle, or at its part of the rows if 2^share threads do. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void look_around_for(const struct kith__gpu_flight &f, int64_t at,
                                                       int share, struct notes *notes)
{
    typedef definition<real> def;
    const record<real> mine = ((const record<real> *)f.here.r)[at];
    const int32_t cell = (int32_t)((const record<real> *)f.here.v)[at].number;
    seer<real> me;
    me.f = &f;
    me.notes = notes;
    me.n = 0;
    me.r[0] = mine.x;
    me.r[1] = mine.y;
    me.r[2] = mine.z;
    me.reach2 = def::square((real)f.sweep.grid.question.cutoff);
    me.close2 = def::square((real)f.rules.radius[KITH_SEPARATION]);
    me.here = in_plain_units(f.offsets, mine);
    me.velocities = f.turn->velocities;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        notes->n[rule][threadIdx.x] = 0;
        for (int c = 0; c < 3; c++) {
            notes->sum[rule][c][threadIdx.x] = 0;
        }
    }
    look_around_in_rows<real, USUAL>(me, cell, my_lane() & ((1 << share) - 1), 1 << share);
}

/** share: 2^share threads look around for a particle; then a thread moves it. */
template <typename real, bool USUAL>
static __global__ void __launch_bounds__(NEAR_THREADS, sizeof(real) == 4 ? 16 : 12)
    fly_near(const KITH_IN_PLACE struct kith__gpu_flight f, int share)
{
    __shared__ struct notes notes;
    if (!is_well(f)) {
        return;
    }
    const int64_t n = f.sweep.grid.a.n;
    const int own = NEAR_THREADS >> share;
    const int64_t first = (int64_t)blockIdx.x * own;
    const int64_t at = first + (threadIdx.x >> share);
    look_around_for<real, USUAL>(f, at < n ? at : n - 1, share, &notes); /* the last again */
    if (share > 0) {
        __syncthreads();
    }
    if ((int)threadIdx.x >= own) {
        return;
    }
    const int64_t slot = first + threadIdx.x;
    real v[3] = {0, 0, 0};
    if (slot < n) {
        const record<real> mine = ((const record<real> *)f.here.r)[slot];
        const record<real> old = ((const record<real> *)f.here.v)[slot];
        const int column = (int)threadIdx.x << share;
        struct kith__flock_sums sums = gather(notes, column, column + (1 << share));
        forget_itself(f, in_plain_units(f.turn->velocities, old), &sums);
        leave(f, slot, mine, old, &sums, v);
    }
    note_fastest(f, v);
}

template <typename real> static void launch(const struct kith__gpu_flight *f, gpuStream_t stream)
{
    static const int64_t few = 200000; /* too few to keep a GPU busy with a thread each */
    const int share = f->sweep.grid.a.n < few ? 2 : 0;
    const int64_t blocks = ((f->sweep.grid.a.n << share) + NEAR_THREADS - 1) / NEAR_THREADS;
    if (f->usual) {
        KITH_LAUNCH((fly_near<real, true>), blocks, NEAR_THREADS, stream, *f, share);
    } else {
        KITH_LAUNCH((fly_near<real, false>), blocks, NEAR_THREADS, stream, *f, share);
    }
}

gpuError_t kith__gpu_flock_near(const struct kith__gpu_flight *f, gpuStream_t stream)
{
    if (f->sweep.grid.question.precision == KITH_FLOAT) {
        launch<float>(f, stream);
    } else {
        launch<double>(f, stream);
    }
    return gpuGetLastError();
}
