/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a flock whose particles look at all others in reach, where these are few. A thread takes
 * a particle and goes through the rows of cells around it. Who is near is decided by the definition
 * (pair.h) at once, and put on a list in shared memory; lists are summed for the whole warp
 * together, so that its lanes wait for each other once a list and not once a neighbour.
 */
#include "flock_rows.cuh"

enum {
    NEAR_THREADS = 128,
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

/** Sum the list, two at a time, as memory is slow. USUAL: alignment and cohesion reach all. */
template <typename real, bool USUAL> static __device__ __forceinline__ void sum_list(seer<real> &me)
{
    enum { TWO = 2 };
    const record<real> *const all_r = (const record<real> *)me.f->here.r;
    const record<real> *const all_v = (const record<real> *)me.f->here.v;
    const int32_t none[3] = {0, 0, 0};
    struct short_sums s = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int first = 0; first < me.n; first += TWO) {
        int32_t entry[TWO];
        record<real> r[TWO], v[TWO];
#pragma unroll
        for (int k = 0; k < TWO; k++) {
            entry[k] = me.notes->list[min(first + k, me.n - 1)][threadIdx.x];
            r[k] = all_r[entry[k] & INT32_MAX];
            v[k] = all_v[entry[k] & INT32_MAX];
        }
#pragma unroll
        for (int k = 0; k < TWO; k++) {
            const bool is = first + k < me.n;
            bool on[KITH_RULES] = {is && entry[k] >= 0, is, is};
            if (!USUAL) {
                which_rules(me, separation_of(me, r[k], none), on);
                for (int rule = 0; rule < KITH_RULES; rule++) {
                    on[rule] = on[rule] && is;
                }
            }
            add(me, r[k], v[k], no_shift, on, &s);
        }
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
        record<real> r[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            r[k] = all[j + k];
        }
        if (me.n > LISTED - AT_A_TIME) {
            sum_list<real, USUAL>(me);
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

/** Who is in the row of cells around one that is well inside the box, dy and dz rows away. */
template <typename real>
static __device__ __forceinline__ int2 find_row(const seer<real> &me, int32_t cell, int32_t dy,
                                                int32_t dz)
{
    const struct kith__axis *axis = me.f->axis;
    const int32_t ny = (int32_t)axis[1].n, nx = (int32_t)axis[0].n;
    const uint32_t *const start = me.f->sweep.grid.a.start + cell + (dz * ny + dy) * nx;
    return make_int2((int32_t)start[-axis[0].reach], (int32_t)start[axis[0].reach + 1]);
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
    int2 next = make_int2(0, 0); /* looked up a row ahead, as memory is slow */
    if (inside && dz <= axis[2].reach) {
        next = find_row(me, cell, dy, dz);
    }
    while (which_lanes(dz <= axis[2].reach)) {
        int2 now = next;
        next = make_int2(0, 0);
        if (!inside && dz <= axis[2].reach) {
            look_at_images(me, x, y + dy, z + dz, &now.x, &now.y);
        }
        step_rows(axis, stride, &dy, &dz);
        if (inside && dz <= axis[2].reach) {
            next = find_row(me, cell, dy, dz);
        }
        list_near<real, USUAL>(me, now.x, now.y);
        if (which_lanes(me.n >= ENOUGH)) {
            sum_list<real, USUAL>(me);
        }
    }
    sum_list<real, USUAL>(me);
}

/** What was summed, by all lanes that share a particle. */
static __device__ __forceinline__ struct kith__flock_sums gather(const struct notes &notes,
                                                                 int share)
{
    struct kith__flock_sums sums;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        int32_t n = notes.n[rule][threadIdx.x];
        for (int d = 1; d < 1 << share; d *= 2) {
            n += from_lane(n, my_lane() ^ d);
        }
        sums.n[rule] = n;
        for (int c = 0; c < 3; c++) {
            int64_t sum = notes.sum[rule][c][threadIdx.x];
            for (int d = 1; d < 1 << share; d *= 2) {
                sum += from_lane(sum, my_lane() ^ d);
            }
            sums.sum[rule][c] = sum;
        }
    }
    return sums;
}

/** share: 2^share lanes look around for one particle. */
template <typename real, bool USUAL>
static __global__ void __launch_bounds__(NEAR_THREADS, sizeof(real) == 4 ? 7 : 5)
    fly_near(const KITH_IN_PLACE struct kith__gpu_flight f, int share)
{
    typedef definition<real> def;
    __shared__ struct notes notes;
    if (!is_well(f)) {
        return;
    }
    const int64_t n = f.sweep.grid.a.n;
    const int64_t slot = (blockIdx.x * (int64_t)NEAR_THREADS + threadIdx.x) >> share;
    const int part = my_lane() & ((1 << share) - 1);
    const int64_t at = slot < n ? slot : n - 1; /* lanes beyond the end do as the last */
    const record<real> mine = ((const record<real> *)f.here.r)[at];
    const record<real> old = ((const record<real> *)f.here.v)[at];
    seer<real> me;
    me.f = &f;
    me.notes = &notes;
    me.n = 0;
    me.r[0] = mine.x;
    me.r[1] = mine.y;
    me.r[2] = mine.z;
    me.reach2 = def::square((real)f.sweep.grid.question.cutoff);
    me.close2 = def::square((real)f.rules.radius[KITH_SEPARATION]);
    me.here = in_plain_units(f.offsets, mine);
    me.velocities = f.turn->velocities;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        notes.n[rule][threadIdx.x] = 0;
        for (int c = 0; c < 3; c++) {
            notes.sum[rule][c][threadIdx.x] = 0;
        }
    }
    look_around_in_rows<real, USUAL>(me, (int32_t)old.number, part, 1 << share);
    struct kith__flock_sums sums = gather(notes, share);
    real v[3] = {0, 0, 0};
    if (slot < n && part == 0) {
        forget_itself(f, in_plain_units(me.velocities, old), &sums);
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
