/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flock steps in which all neighbours count, and these are many. A warp takes 32 consecutive
 * particles in the order of cells, and divides them into i-clusters: particles of one row of cells
 * that are near each other. Candidates, the particles of all cells around, are
 * processed in tiles of 32, and tested by products of matrices of rounded numbers (flock_tile.cuh);
 * the definition of a pair (engine/pair.h) decides the borderline ones.
 *
 * Neighbour sums are products of matrices too: bytes of the summands (16 x 32) times hits (32 x 8).
 * Numbers of 32 bits, in units (KITH_FLOCK_BITS) plus 2^31, are four unsigned bytes, summed
 * separately and combined at the end. These sums are exact.
 */
#include "flock_gpu.h"

#ifdef __HIP_PLATFORM_AMD__
gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    return kith__gpu_flock_each(f, stream); /* AMD's matrix unit has other shapes */
}
#else
#include "flock_tile.cuh"

/* ------------------------------------------------------------------------------------ segments */

/** Rows of cells around an i-cluster, and their images along x. A row image is one image along x of
 *  one row: they are numbered from 0, images along x first. */
struct rows {
    int32_t n;    /**< rows of cells */
    int32_t n_sx; /**< images of each row along x */
    int32_t sx;   /**< first image of a row along x */
};

/** Count the rows around an i-cluster. */
template <typename real> static __device__ struct rows count_rows(const i_cluster<real> &p)
{
    const struct kith__axis *axis = p.f->axis;
    struct rows rows = {(2 * axis[1].reach + 1) * (2 * axis[2].reach + 1), 1, 0};
    const int32_t n = (int32_t)axis[0].n;
    const int32_t reach = axis[0].reach;
    if (axis[0].periodic && (p.x0 < reach || p.x1 + reach >= n)) {
        rows.sx = floor_divide(p.x0 - reach, n);
        rows.n_sx = floor_divide(p.x1 + reach, n) - rows.sx + 1;
    }
    return rows;
}

/** List up to LANES segments of candidates, a lane each, from row image number `first` on, in
 *  p.c->segment.
 *  @param[out] images  some candidates are in images of the box
 *  @return the number of candidates */
template <typename real>
static __device__ int32_t list_rows(const i_cluster<real> &p, const struct rows &rows,
                                    int32_t first, bool *images)
{
    const struct kith__axis *axis = p.f->axis;
    const int32_t s = first + p.lane;
    const int32_t row = rows.n_sx == 1 ? s : s / rows.n_sx;
    const int32_t wide = 2 * axis[1].reach + 1;
    const int32_t dz = (int32_t)__fdividef((float)row + 0.5f,
                                           (float)wide); /* floor: rows are few */
    int32_t y = p.y + row - dz * wide - axis[1].reach;
    int32_t z = p.z + dz - axis[2].reach;
    int32_t image[3] = {rows.sx + s - row * rows.n_sx, 0, 0};
    int32_t begin = 0, end = 0;
    if (row < rows.n && wrap_cell(axis[1], &y, &image[1]) && wrap_cell(axis[2], &z, &image[2])) {
        const int32_t n = (int32_t)axis[0].n;
        const struct row_of_cells r = {n, axis[0].reach, p.x0, p.x1};
        range_of(p.f->sweep.grid, r, ((int64_t)z * axis[1].n + y) * n, image[0], &begin, &end);
    }
    const int32_t n = end > begin ? end - begin : 0;
    const int32_t sum = scan_lanes(n, p.lane);
    *images = which_lanes(n > 0 && (image[0] | image[1] | image[2]) != 0) != 0;
    p.c->segment[p.lane] = {sum, begin - (sum - n), kith__pack_shift(image), 0};
    return from_lane(sum, LANES - 1);
}

/* ---------------------------------------------------------------------------------- candidates */

/** Start to copy a record to shared memory, asynchronously. */
template <typename real>
static __device__ __forceinline__ void fetch(record<real> *to, const record<real> *from)
{
    for (size_t k = 0; k < sizeof *to / sizeof(uint4); k++) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address_of((uint4 *)to + k)),
                     "l"((const uint4 *)from + k)
                     : "memory");
    }
}

/** Wait for the asynchronous copies of this thread. */
static __device__ __forceinline__ void wait_for_all()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/** Position of a lane in the list of segments. */
struct cursor {
    struct segment segment; /**< the segment */
    int number;             /**< number of the segment in the list */
};

/** Start to load candidate number c, if there is one, to the lane's place in p.c->stage.
 *  @param total        number of candidates in the list
 *  @param[in,out] at   segment of the candidate before; then of this one */
template <typename real>
static __device__ __forceinline__ void load_candidate(const i_cluster<real> &p, int32_t c,
                                                      int32_t total, struct cursor *at)
{
    if (c >= total) {
        return;
    }
    while (c >= at->segment.end) {
        at->segment = p.c->segment[++at->number];
    }
    const int32_t slot = c + at->segment.from;
    fetch(&p.c->stage.r[p.lane], (const record<real> *)p.f->here.r + slot);
    fetch(&p.c->stage.v[p.lane], (const record<real> *)p.f->here.v + slot);
}

/** Add the vector of image S to the position of a candidate.
 *  @param shift      S, packed
 *  @param[in,out] d  position [length]
 *  @param[in,out] o  position, modulo 2^32 [units] */
template <typename real>
static __device__ __forceinline__ void shift_by(const struct kith__gpu_flock_step &f, int32_t shift,
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

/** Wait until this lane's candidate is loaded, convert it, and store it in the tile. A candidate
 *  that is too far away for halves is stored as padding, which is out of every reach.
 *  @param shift  its image S, packed
 *  @param any    there is a candidate; else padding is stored */
template <typename real>
static __device__ __forceinline__ void store_candidate(const i_cluster<real> &p, int32_t shift,
                                                       bool any, struct tile_records *tile_records)
{
    wait_for_all();
    const record<real> r = p.c->stage.r[p.lane];
    const int3 place = in_plain_units(p.f->offsets, r);
    const int3 speed = in_plain_units(p.velocities, p.c->stage.v[p.lane]);
    real d[3] = {r.x - p.origin[0], r.y - p.origin[1], r.z - p.origin[2]};
    uint32_t o[3] = {(uint32_t)place.x - (uint32_t)p.place.x,
                     (uint32_t)place.y - (uint32_t)p.place.y,
                     (uint32_t)place.z - (uint32_t)p.place.z};
    if (shift != no_shift) {
        shift_by(*p.f, shift, d, o);
    }
    const float x = __fmaf_rn((float)d[0], p.unit, -p.middle);
    const float y = (float)d[1] * p.unit;
    const float z = (float)d[2] * p.unit;
    const float square = __fmaf_rn(x, x, __fmaf_rn(y, y, z * z)) / square_part;
    const uint4 far = make_uint4(0, two_halves(__floats2half2_rn(0, farthest)), 0, 0);
    const uint4 near = halves(x, y, z, square);
    tile_records->r[p.lane] = any && square < farthest ? near : far;
    tile_records->place[p.lane] = make_uint4(o[0], o[1], o[2], 1);
    tile_records->speed[p.lane] = make_uint4((uint32_t)speed.x ^ (1u << 31),
                                             (uint32_t)speed.y ^ (1u << 31),
                                             (uint32_t)speed.z ^ (1u << 31), 1);
}

/* ----------------------------------------------------------------------------------- i-cluster */

/** Process all candidates of an i-cluster, tile by tile; the next tile is loaded meanwhile.
 *  @param band  bound on the errors of the matrix unit's squared distances [scaled^2]
 *  @param own   offset of this lane's particle from the first of the i-cluster [units]
 *  @param acc   accumulators, zero at the beginning and at the end */
template <typename real, bool USUAL>
static __device__ void process_candidates(i_cluster<real> &p, float band, const int32_t own[3],
                                          struct accumulators *acc)
{
    const struct rows rows = count_rows(p);
    for (int32_t s = 0; s < rows.n * rows.n_sx; s += LANES) {
        bool images;
        sync_warp();
        const int32_t total = list_rows(p, rows, s, &images);
        sync_warp();
        const double blur = images ? p.f->blur : p.f->own_blur;
        /* the error bound of the definition is doubled, which is ample */
        const float trust = band + 2 * scale * scale * (float)blur;
        p.c->band = trust;
        /* find_hits returns t (t + beyond) when USUAL: when one factor is within `trust` of 0, the
         * other is at most beyond + trust. 1.02: two factors are rounded to bfloat16, by up to 2^-7
         * each, and their product, by up to 2^-8. */
        p.clear = 1.02f * trust * (USUAL ? p.beyond[KITH_SEPARATION] + trust : 1);
        struct cursor cursor = {p.c->segment[0], 0};
        int side = 0;
        load_candidate(p, p.lane, total, &cursor);
        store_candidate(p, cursor.segment.image, p.lane < total, &p.c->tile_records[side]);
        load_candidate(p, TILE + p.lane, total, &cursor);
        for (int32_t first = 0; first < total; first += MOST_HITS) {
            const int32_t end = min(total, first + MOST_HITS);
            for (int32_t base = first; base < end; base += TILE) {
                const int32_t mine = base + TILE + p.lane;
                sync_warp();
                store_candidate(p, cursor.segment.image, mine < total,
                                &p.c->tile_records[1 - side]);
                load_candidate(p, mine + TILE, total, &cursor);
                take_tile<real, USUAL>(p, p.c->tile_records[side], base, acc);
                side = 1 - side;
            }
            add_up(p, own, acc);
        }
    }
}

/** Return the maximum over the lanes of a warp, rounded up to an integer, for a reduction of
 *  integers by one instruction. */
static __device__ __forceinline__ float most_of(float value)
{
    return (float)__reduce_max_sync(all_lanes, __float2int_ru(value));
}

/**
 * Return the error bound of squared distances [scaled^2]. With u = 2^-24, and all particles within
 * M cutoffs of the centre, at a distance of the cutoff: a coordinate is off by 3 u M for roundings,
 * and 4 u where the matrix unit flushes denormals to 0, which changes r^2 by 50 u M; splitting
 * factors into two halves adds 10 u M^2; squares add 6 u M^2; each of 17 additions, in any order,
 * adds 2 u of terms whose magnitudes sum to 4 M^2 + 1.
 * @param most  largest distance of a particle of the i-cluster from its centre [scaled]
 */
static __device__ __forceinline__ float band_of(float most)
{
    const float m = most / scale + 1.01f;
    return scale * scale * (50 * m + 160 * m * m + 60) / 16777216.0f;
}

/** Store the factors of this lane's particle for the matrix unit, in p.c->a and p.c->w, and zero
 *  the accumulators.
 *  @param in  the particle is in the i-cluster; else padding is stored
 *  @param x   its position from the centre [scaled] */
template <typename real>
static __device__ __forceinline__ void store_factors(const i_cluster<real> &p, bool in,
                                                     const float x[3], struct accumulators *acc)
{
    const float square = __fmaf_rn(x[0], x[0], __fmaf_rn(x[1], x[1], x[2] * x[2]));
    const uint4 mine = in ? halves(-2 * x[0], -2 * x[1], -2 * x[2], square_part)
                          : make_uint4(0, 0, 0, 0);
    const uint32_t words[2][2] = {{mine.x, mine.z}, {mine.y, mine.w}};
    const float w = in ? square - scale * scale : in_no_reach;
    const int pair = p.lane / BYTES, one = p.lane / EIGHT % PAIR, g = p.lane % EIGHT;
    sync_warp();
    for (int odd = 0; odd < 2; odd++) {
        p.c->a[pair][g][odd][one] = words[odd][0];
        p.c->a[pair][g][odd][PAIR + one] = words[odd][1];
    }
    ((float2 *)&p.c->w[pair][g])[one] = make_float2(w, w);
    sync_warp();
#pragma unroll
    for (int home = 0; home < HOMES; home++) {
        for (int rule = 0; rule < KITH_RULES; rule++) {
            acc->sum[home][rule] = {{0, 0, 0, 0}};
        }
    }
}

/** Compute the neighbour sums of one i-cluster: of those of the warp's particles that are still to
 *  be processed, the ones in the row of cells of the first, the leader, and near it.
 *  @param mine   record of this lane's particle
 *  @param cell   number of its cell
 *  @param place  its position [units]
 *  @param left   it is still to be processed
 *  @return true when it is still to be processed afterwards */
template <typename real, bool USUAL>
static __device__ __forceinline__ bool sum_cluster(i_cluster<real> &p, const record<real> &mine,
                                                   int32_t cell, int3 place, bool left)
{
    /* limits of an i-cluster around its first particle, aside and along x: a neighbour of one of
     * its particles is then less than 30 cutoffs from the centre (farthest) */
    static const float wide = 8 * scale, far = 24 * scale;
    const struct kith__axis *axis = p.f->axis;
    const int32_t nx = (int32_t)axis[0].n, ny = (int32_t)axis[1].n;
    const int leader = __ffs((int)which_lanes(left)) - 1;
    const int32_t lead_cell = from_lane(cell, leader);
    const int32_t row = lead_cell / nx;
    p.z = row / ny;
    p.y = row - p.z * ny;
    p.x0 = lead_cell - row * nx;
    p.origin[0] = from_lane(mine.x, leader);
    p.origin[1] = from_lane(mine.y, leader);
    p.origin[2] = from_lane(mine.z, leader);
    p.place = make_int3(from_lane(place.x, leader), from_lane(place.y, leader),
                        from_lane(place.z, leader));
    const int32_t own[3] = {kith__flock_offset(p.place.x, place.x),
                            kith__flock_offset(p.place.y, place.y),
                            kith__flock_offset(p.place.z, place.z)};
    p.place.x ^= INT32_MIN; /* less 2^31: offsets from it are then unsigned bytes */
    p.place.y ^= INT32_MIN;
    p.place.z ^= INT32_MIN;
    float x[3] = {(float)(mine.x - p.origin[0]) * p.unit, (float)(mine.y - p.origin[1]) * p.unit,
                  (float)(mine.z - p.origin[2]) * p.unit};
    const float aside = fmaxf(fabsf(x[1]), fabsf(x[2]));
    const bool in = left && cell < row * nx + nx && aside < wide && x[0] > -wide && x[0] < far;
    p.x1 = __reduce_max_sync(all_lanes, in ? cell : lead_cell) - row * nx;
    const float low = -most_of(in ? -x[0] : 0);
    const float high = most_of(in ? x[0] : 0);
    p.middle = 0.5f * (low + high);
    const float band = band_of(0.5f * (high - low) + 1.4143f * most_of(in ? aside : 0));
    x[0] -= p.middle;
    struct accumulators acc;
    store_factors(p, in, x, &acc);
    process_candidates<real, USUAL>(p, band, own, &acc);
    return left && !in;
}

/** Make one step: a warp moves 32 particles. @tparam USUAL  kith__gpu_flock_step.usual */
template <typename real, bool USUAL>
static __global__ void __launch_bounds__(TILE_THREADS, 8)
    step_tiles(const KITH_IN_PLACE struct kith__gpu_flock_step f)
{
    __shared__ struct cluster_shared<real> shared[TILE_WARPS];
    const int64_t n = f.sweep.grid.a.n;
    i_cluster<real> p;
    p.f = &f;
    p.c = &shared[my_warp()];
    p.lane = my_lane();
    p.first = ((int64_t)blockIdx.x * TILE_WARPS + my_warp()) * LANES;
    if (!is_well(f) || p.first >= n) {
        return;
    }
    p.unit = scale * f.unit;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        p.beyond[rule] = scale * scale * f.beyond[rule];
        p.c->n[rule][p.lane] = 0;
        for (int k = 0; k < 3; k++) {
            p.c->sum[rule][k][p.lane] = 0;
        }
    }
    const int64_t slot = p.first + p.lane;
    const int64_t at = slot < n ? slot : n - 1;
    const record<real> mine = ((const record<real> *)f.here.r)[at];
    const record<real> old = ((const record<real> *)f.here.v)[at];
    const int3 place = in_plain_units(f.offsets, mine);
    p.velocities = f.progress->velocities;
    for (bool left = slot < n; which_lanes(left);) {
        const int32_t cell = (int32_t)old.number;
        left = sum_cluster<real, USUAL>(p, mine, cell < 0 ? ~cell : cell, place, left);
    }
    real v[3] = {0, 0, 0};
    if (slot < n) {
        struct kith__flock_sums sums;
        for (int rule = 0; rule < KITH_RULES; rule++) {
            sums.n[rule] = p.c->n[rule][p.lane];
            for (int k = 0; k < 3; k++) {
                sums.sum[rule][k] = p.c->sum[rule][k][p.lane];
            }
        }
        subtract_itself(f, in_plain_units(p.velocities, old), &sums);
        move_particle(f, slot, mine, old, &sums, NULL, v);
    }
    update_fastest(f, v);
}

/** Launch step_tiles. */
template <typename real>
static void launch(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    const int64_t blocks = (f->sweep.grid.a.n + TILE_THREADS - 1) / TILE_THREADS;
    if (f->usual) {
        KITH_LAUNCH((step_tiles<real, true>), blocks, TILE_THREADS, stream, *f);
    } else {
        KITH_LAUNCH((step_tiles<real, false>), blocks, TILE_THREADS, stream, *f);
    }
}

gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    if (f->sweep.grid.question.precision == KITH_FLOAT) {
        launch<float>(f, stream);
    } else {
        launch<double>(f, stream);
    }
    return gpuGetLastError();
}
#endif
