/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a flock whose particles look at all others in reach. A warp takes 32 particles that are
 * beside each other in cell order, some homes of eight at a time. Candidates near the homes' box
 * come by in tiles of 32: each lane tests some of them against its own particle of each home, in
 * float, as the sweep does; the definition (pair.h) decides what is not clear.
 *
 * The sums are a product of matrices, bytes of what is summed (16 x 32) by hits (32 x 8), and left
 * to the units for those: numbers of 32 bits are four bytes without sign, summed one by one and
 * put together at the end. All of it is exact.
 */
#include "flock.h"

#ifdef __HIP_PLATFORM_AMD__
gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flight *f, gpuStream_t stream)
{
    return kith__gpu_flock_fly(f, stream); /* this unit has other shapes there */
}
#else
#include "flock_tile.cuh"

/* ------------------------------------------------------------------------------------ segments */

/** Segments around a party: the rows, and the images along x. */
struct rows {
    int32_t n, n_sx, sx;
};

template <typename real> static __device__ struct rows count_rows(const party<real> &p)
{
    const struct kith__axis *axis = p.f->sweep.grid.plan->axis;
    struct rows rows = {(2 * axis[1].reach + 1) * (2 * axis[2].reach + 1), 1, 0};
    const int32_t n = (int32_t)axis[0].n;
    const int32_t reach = axis[0].reach;
    if (axis[0].periodic && (p.x0 < reach || p.x1 + reach >= n)) {
        rows.sx = floor_divide(p.x0 - reach, n);
        rows.n_sx = floor_divide(p.x1 + reach, n) - rows.sx + 1;
    }
    return rows;
}

/** List up to LANES segments from number `first` on. @return how many candidates they hold */
template <typename real>
static __device__ int32_t list_rows(const party<real> &p, const struct rows &rows, int32_t first,
                                    bool *images)
{
    const struct kith__axis *axis = p.f->sweep.grid.plan->axis;
    const int32_t s = first + p.lane;
    const int32_t row = rows.n_sx == 1 ? s : s / rows.n_sx;
    const int32_t wide = 2 * axis[1].reach + 1;
    const int32_t dz = (int32_t)__fdividef((float)row + 0.5f, (float)wide); /* the floor: few */
    int32_t y = p.y + row - dz * wide - axis[1].reach;
    int32_t z = p.z + dz - axis[2].reach;
    int32_t image[3] = {rows.sx + s - row * rows.n_sx, 0, 0};
    int32_t begin = 0, end = 0;
    if (row < rows.n && wrap_cell(axis[1], &y, &image[1]) && wrap_cell(axis[2], &z, &image[2])) {
        const int32_t n = (int32_t)axis[0].n;
        const struct row_of_cells r = {n, axis[0].reach, axis[0].periodic, p.x0, p.x1};
        range_of(p.f->sweep.grid, r, ((int64_t)z * axis[1].n + y) * n, image[0], &begin, &end);
    }
    const int32_t n = end > begin ? end - begin : 0;
    const int32_t sum = scan_lanes(n, p.lane);
    *images = which_lanes(n > 0 && (image[0] | image[1] | image[2]) != 0) != 0;
    p.c->end[p.lane] = sum;
    p.c->from[p.lane] = begin - (sum - n);
    p.c->image[p.lane] = kith__pack_shift(image);
    return from_lane(sum, LANES - 1);
}

/* ---------------------------------------------------------------------------------- candidates */

/** A coordinate in cutoffs from the origin. */
static __device__ __forceinline__ float scaled(float d, float unit)
{
    return __fmul_rn(d, unit);
}

static __device__ __forceinline__ float scaled(double d, float unit)
{
    return __fmul_rn((float)d, unit);
}

/** Move an image to its place. */
template <typename real>
static __device__ __forceinline__ void shift_by(const struct kith__gpu_flight &f, int32_t shift,
                                                real d[3], uint32_t o[3])
{
    int32_t s[3];
    kith__unpack_shift(shift, s);
    const double(*row)[3] = f.sweep.grid.question.box_d.row;
    for (int m = 0; m < 3; m++) {
        d[m] += (real)((s[2] * row[2][m] + s[1] * row[1][m]) + s[0] * row[0][m]);
        for (int k = 0; k < 3; k++) {
            o[m] += (uint32_t)s[k] * (uint32_t)f.row[k][m];
        }
    }
}

/** A candidate on its way. */
template <typename real> struct coming {
    record<real> r;
    int32_t slot, shift;
};

/** Call candidate number c of the listed segments. segment: where the search begins. */
template <typename real>
static __device__ __forceinline__ void call(const party<real> &p, int32_t c, int32_t total,
                                            int *segment, struct coming<real> *one)
{
    one->slot = -1;
    if (c < total) {
        while (c >= p.c->end[*segment]) {
            ++*segment;
        }
        one->slot = c + p.c->from[*segment];
        one->shift = p.c->image[*segment];
        one->r = ((const record<real> *)p.f->here.r)[one->slot];
    }
}

/** How far a coordinate is outside the box. */
static __device__ __forceinline__ float outside(float x, float middle, float half)
{
    return fmaxf(fabsf(x - middle) - half, 0.0f);
}

/** Put a candidate into the queue, if it is near, with those of the other lanes.
 *  @return how many came */
template <typename real>
static __device__ __forceinline__ int invite(const party<real> &p, const struct coming<real> &one,
                                             int queued)
{
    struct candidates *q = p.c;
    const struct kith__gpu_flight &f = *p.f;
    real d[3] = {one.r.x - p.origin[0], one.r.y - p.origin[1], one.r.z - p.origin[2]};
    uint32_t o[3] = {0, 0, 0};
    if (one.slot >= 0 && one.shift != no_shift) {
        shift_by(f, one.shift, d, o);
    }
    const float x = scaled(d[0], p.unit), y = scaled(d[1], p.unit), z = scaled(d[2], p.unit);
    const float dx = outside(x, p.middle[0], p.half[0]);
    const float dy = outside(y, p.middle[1], p.half[1]);
    const float dz = outside(z, p.middle[2], p.half[2]);
    const bool near = one.slot >= 0 &&
                      __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, dz * dz)) <= 1 + 4 * p.band;
    const lanes_t all = which_lanes(near);
    if (near) {
        const int at = (queued + count_lanes(all & lanes_below(p.lane))) % (2 * TILE);
        const int4 place = cargo_of(f, one.slot)[0];
        q->r[at] = make_float4(x, y, z, __fmaf_rn(x, x, __fmaf_rn(y, y, z * z)));
        q->place[at] = make_uint4((uint32_t)place.x - (uint32_t)p.place.x + o[0],
                                  (uint32_t)place.y - (uint32_t)p.place.y + o[1],
                                  (uint32_t)place.z - (uint32_t)p.place.z + o[2], 1);
        q->speed[at] = ((const uint4 *)cargo_of(f, one.slot))[1];
        q->from_where[at] = make_int2(one.slot, one.shift);
    }
    return count_lanes(all);
}

/* --------------------------------------------------------------------------------------- party */

/** Put all sums of bytes together. */
template <typename real, int HOMES>
static __device__ __forceinline__ void empty_all(const party<real> &p, int home,
                                                 struct looking<HOMES> *me)
{
    for (int h = 0; h < HOMES; h++) {
        for (int rule = 0; rule < KITH_RULES; rule++) {
            empty_bytes(p, home + h * EIGHT, rule, &me->sum[h][rule]);
        }
    }
}

/** The candidates of a party, tile by tile. */
template <typename real, int HOMES, bool USUAL>
static __device__ void meet(party<real> &p, int home, struct looking<HOMES> *me)
{
    const struct rows rows = count_rows(p);
    const float band = p.band;
    int32_t met = 0;
    for (int32_t s = 0; s < rows.n * rows.n_sx; s += LANES) {
        bool images;
        sync_warp();
        const int32_t total = list_rows(p, rows, s, &images);
        sync_warp();
        p.band = p.unit > 0 ? band + 2 * (float)(images ? p.f->blur : p.f->own_blur) : no_telling;
        p.clear = 1.01f * p.band * (p.f->beyond[KITH_SEPARATION] + p.band);
        int segment = 0;
        int32_t queued = 0, taken = 0;
        struct coming<real> one;
        call(p, p.lane, total, &segment, &one);
        for (int32_t c = LANES; queued > taken || c - LANES < total; c += LANES) {
            queued += invite(p, one, queued);
            call(p, c + p.lane, total, &segment, &one);
            if (c >= total && p.lane >= queued - taken) { /* the last: fill the tile up */
                p.c->r[(taken + p.lane) % (2 * TILE)] = make_float4(0, 0, 0, in_no_reach);
            }
            sync_warp();
            if (queued - taken >= TILE || (c >= total && queued > taken)) {
                take_tile<real, HOMES, USUAL>(p, taken % (2 * TILE), me);
                taken += TILE;
                met += TILE;
                sync_warp();
            }
            if (met >= MOST_HITS) {
                empty_all(p, home, me);
                met = 0;
            }
        }
    }
    empty_all(p, home, me);
    sync_warp();
}

/** The least and the largest of the lanes' numbers, to 1 / 1024, outwards. */
static __device__ __forceinline__ void span(float low, float high, float *least, float *most)
{
    const float fine = 1024;
    *least = (float)__reduce_min_sync(all_lanes, __float2int_rd(low * fine)) / fine;
    *most = (float)__reduce_max_sync(all_lanes, __float2int_ru(high * fine)) / fine;
}

static __device__ __forceinline__ int32_t axis_of(int4 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/** Let homes of the warp look around, from number `home` on: those in the same row of cells
 *  together. */
template <typename real, int HOMES, bool USUAL>
static __device__ void look_from(const struct kith__gpu_flight &f, struct candidates *c, int lane,
                                 int64_t first, int home)
{
    const int64_t n = f.sweep.grid.a.n;
    const int32_t nx = (int32_t)f.sweep.grid.plan->axis[0].n;
    const int32_t ny = (int32_t)f.sweep.grid.plan->axis[1].n;
    record<real> mine[HOMES];
    int32_t cell[HOMES];
    bool left[HOMES];
    party<real> p;
    p.f = &f;
    p.c = c;
    p.lane = lane;
    p.first = first;
    for (int h = 0; h < HOMES; h++) {
        const int64_t slot = first + home + h * EIGHT + lane / 4;
        left[h] = slot < n;
        const int64_t at = left[h] ? slot : n - 1;
        mine[h] = ((const record<real> *)f.here.r)[at];
        cell[h] = (int32_t)((const record<real> *)f.here.v)[at].number;
    }
    while (true) {
        int32_t leader = INT32_MAX; /* the first particle that is left */
        for (int h = HOMES - 1; h >= 0; h--) {
            const lanes_t lanes = which_lanes(left[h]);
            leader = lanes ? h * LANES + __ffs((int)lanes) - 1 : leader;
        }
        if (leader == INT32_MAX) {
            break;
        }
        const int64_t slot = first + home + leader / LANES * EIGHT + leader % LANES / 4;
        const record<real> *const lead = (const record<real> *)f.here.r + slot;
        const int32_t lead_cell = (int32_t)((const record<real> *)f.here.v)[slot].number;
        const int32_t row = lead_cell / nx;
        p.origin[0] = lead->x;
        p.origin[1] = lead->y;
        p.origin[2] = lead->z;
        p.place = cargo_of(f, slot)[0];
        p.place.x ^= INT32_MIN;
        p.place.y ^= INT32_MIN;
        p.place.z ^= INT32_MIN;
        p.unit = f.unit;
        p.z = row / ny;
        p.y = row - p.z * ny;
        p.x0 = lead_cell - row * nx;
        int32_t last = lead_cell;
        struct looking<HOMES> me;
        me.slot = first + home + lane / 4;
        float low[3] = {in_no_reach, in_no_reach, in_no_reach};
        float high[3] = {-in_no_reach, -in_no_reach, -in_no_reach};
        bool in[HOMES];
        for (int h = 0; h < HOMES; h++) {
            in[h] = left[h] && cell[h] >= row * nx && cell[h] < row * nx + nx;
            left[h] = left[h] && !in[h];
            const float x[3] = {scaled(mine[h].x - p.origin[0], p.unit),
                                scaled(mine[h].y - p.origin[1], p.unit),
                                scaled(mine[h].z - p.origin[2], p.unit)};
            float square = 0;
            for (int k = 0; k < 3; k++) {
                low[k] = in[h] ? fminf(low[k], x[k]) : low[k];
                high[k] = in[h] ? fmaxf(high[k], x[k]) : high[k];
                square = __fmaf_rn(x[k], x[k], square);
            }
            me.i[h] = make_float4(-2 * x[0], -2 * x[1], -2 * x[2],
                                  in[h] ? square - 1 : in_no_reach);
            last = in[h] && cell[h] > last ? cell[h] : last;
            for (int rule = 0; rule < KITH_RULES; rule++) {
                me.sum[h][rule] = {{0, 0, 0, 0}};
            }
        }
        p.x1 = __reduce_max_sync(all_lanes, last) - row * nx;
        float most = 0;
        for (int k = 0; k < 3; k++) {
            float a, b;
            span(low[k], high[k], &a, &b);
            p.middle[k] = 0.5f * (a + b);
            p.half[k] = 0.5f * (b - a);
            most = fmaxf(most, fmaxf(fabsf(a), fabsf(b)));
        }
        const float m = 1.7322f * most + 1.01f;
        p.band = (48 * m + 33 * m * m + 8) / 16777216.0f;
        if (!(most < widest_home)) {
            p.unit = 0;
            p.band = no_telling;
            for (int k = 0; k < 3; k++) {
                p.middle[k] = p.half[k] = 0;
            }
            for (int h = 0; h < HOMES; h++) {
                me.i[h] = make_float4(0, 0, 0, in[h] ? -1.0f : in_no_reach);
            }
        }
        meet<real, HOMES, USUAL>(p, home, &me);
        /* offsets are from the leader: make them those from each */
        for (int h = 0; h < HOMES; h++) {
            const int one = home + h * EIGHT + lane / 4;
            if (in[h] && lane % 4 < 3) {
                const int4 own = cargo_of(f, first + one)[0];
                const int32_t from = axis_of(p.place, lane % 4) ^ INT32_MIN;
                const int32_t d = kith__flock_offset(from, axis_of(own, lane % 4));
                c->sum[KITH_SEPARATION][one][lane % 4] -= (int64_t)c->n[KITH_SEPARATION][one] * d;
                c->sum[KITH_COHESION][one][lane % 4] -= (int64_t)c->n[KITH_COHESION][one] * d;
            }
        }
        sync_warp();
    }
}

template <typename real, int HOMES, bool USUAL>
static __global__ void __launch_bounds__(TILE_THREADS, 5)
    fly_tiles(const KITH_IN_PLACE struct kith__gpu_flight f)
{
    __shared__ struct candidates shared[TILE_WARPS];
    if (!is_well(f)) {
        return;
    }
    struct candidates *c = &shared[my_warp()];
    const int lane = my_lane();
    const int64_t first = ((int64_t)blockIdx.x * TILE_WARPS + my_warp()) * LANES;
    const int64_t slot = first + lane;
    if (first >= f.sweep.grid.a.n) {
        return;
    }
    for (int rule = 0; rule < KITH_RULES; rule++) {
        c->n[rule][lane] = 0;
        for (int k = 0; k < 3; k++) {
            c->sum[rule][lane][k] = 0;
        }
    }
    sync_warp();
    for (int home = 0; home < LANES; home += HOMES * EIGHT) {
        if (first + home < f.sweep.grid.a.n) {
            look_from<real, HOMES, USUAL>(f, c, lane, first, home);
        }
    }
    real v[3] = {0, 0, 0};
    if (slot < f.sweep.grid.a.n) {
        const record<real> mine = ((const record<real> *)f.here.r)[slot];
        const record<real> old = ((const record<real> *)f.here.v)[slot];
        int32_t speed[3];
        read_speed(f, slot, speed);
        struct kith__flock_sums sums;
        for (int rule = 0; rule < KITH_RULES; rule++) { /* it has seen itself, too */
            const bool on = f.rules.radius[rule] > 0;
            sums.n[rule] = c->n[rule][lane] - on;
            for (int k = 0; k < 3; k++) {
                sums.sum[rule][k] = c->sum[rule][lane][k] -
                                    (on && rule == KITH_ALIGNMENT ? speed[k] : 0);
            }
        }
        leave(f, slot, mine, old, &sums, v);
    }
    note_fastest(f, v);
}

template <typename real> static void launch(const struct kith__gpu_flight *f, gpuStream_t stream)
{
    const int64_t blocks = (f->sweep.grid.a.n + TILE_THREADS - 1) / TILE_THREADS;
    if (f->usual) {
        KITH_LAUNCH((fly_tiles<real, TOGETHER, true>), blocks, TILE_THREADS, stream, *f);
    } else {
        KITH_LAUNCH((fly_tiles<real, TOGETHER, false>), blocks, TILE_THREADS, stream, *f);
    }
}

gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flight *f, gpuStream_t stream)
{
    if (f->sweep.grid.question.precision == KITH_FLOAT) {
        launch<float>(f, stream);
    } else {
        launch<double>(f, stream);
    }
    return gpuGetLastError();
}
#endif
