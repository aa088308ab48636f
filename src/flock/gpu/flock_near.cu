/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flock steps in which all neighbours within the radii count (no limit to the nearest, no blind
 * angle), and in which they are few. A thread takes a particle, or several threads share one, and
 * traverses the rows of cells around it. The definition of a pair (engine/pair.h) decides at once
 * if a candidate is near, within the largest radius, and a bit mask in shared memory records it.
 * The warp sums the hits of all its masks together, so that lanes diverge once for each batch of
 * masks, not once for each neighbour. Particles at the rim (flock_gpu.h) are moved by blocks of
 * their own.
 */
#include "flock_rows.cuh"

enum {
    NEAR_THREADS = 64,                /* threads of a block */
    MASKS = 10,                       /* masks of a thread */
    MASK_BITS = 24,                   /* most candidates of a mask. Summands are about 2^23 at most
                                         (KITH_FLOCK_BITS), so that sums over MASKS * MASK_BITS =
                                         240 candidates are below 2^31 */
    AT_A_TIME = KITH_GPU_FLOCK_BEHIND /* candidates that are read at a time */
};

/** Mask of the candidates that are near, among some consecutive ones. */
struct __align__(8) hit_mask
{
    int32_t first; /**< entry in `here` that bit 0 stands for; it may precede the candidates */
    uint32_t near; /**< bit k is set when the particle of entry first + k is near */
};

/** Shared memory of a block: each thread has a column. */
struct masks {
    struct hit_mask hit_mask[MASKS][NEAR_THREADS]; /**< masks that wait to be summed */
    int64_t sum[KITH_RULES][3][NEAR_THREADS];      /**< neighbour sums [units] */
    int32_t n[KITH_RULES][NEAR_THREADS];           /**< numbers of neighbours */
};

/** Traversal of the cells around one thread's particle. */
template <typename real> struct traversal {
    const struct kith__gpu_flock_step *f;  /**< the step */
    struct masks *masks;                   /**< shared memory of the block */
    int n;                                 /**< masks that wait */
    real r[3];                             /**< position of the particle [length] */
    real reach2;                           /**< squared largest radius, rounded as in the definition
                                                of a pair [length^2] */
    real close2;                           /**< squared radius of separation [length^2] */
    int3 here;                             /**< position of the particle [units] */
    struct kith__gpu_quantizer velocities; /**< from velocities to units */
};

/** Neighbour sums over a batch of masks, which fit 32 bits. */
struct short_sums {
    int32_t n[KITH_RULES];      /**< numbers of neighbours */
    int32_t sum[KITH_RULES][3]; /**< sums [units] */
};

/** Add a neighbour to the sums of the rules with on[rule].
 *  @param r, v   its records
 *  @param shift  its image S, packed */
template <typename real>
static __device__ __forceinline__ void add(const traversal<real> &t, const record<real> &r,
                                           const record<real> &v, int32_t shift,
                                           const bool on[KITH_RULES], struct short_sums *s)
{
    int32_t d[3];
    const int3 place = in_plain_units(t.f->offsets, r);
    const int3 speed = in_plain_units(t.velocities, v);
    const int32_t u[3] = {speed.x, speed.y, speed.z};
    offset_of(*t.f, t.here, place, shift, d);
    for (int rule = 0; rule < KITH_RULES; rule++) {
        s->n[rule] += on[rule];
        for (int c = 0; c < 3; c++) {
            s->sum[rule][c] += !on[rule] ? 0 : rule == KITH_ALIGNMENT ? u[c] : d[c];
        }
    }
}

/** Add the sums of a batch to those in shared memory. */
template <typename real>
static __device__ __forceinline__ void add_up(const traversal<real> &t, const struct short_sums &s)
{
    for (int rule = 0; rule < KITH_RULES; rule++) {
        t.masks->n[rule][threadIdx.x] += s.n[rule];
        for (int c = 0; c < 3; c++) {
            t.masks->sum[rule][c][threadIdx.x] += s.sum[rule][c];
        }
    }
}

/** Set on[rule] for the rules whose radius r2 is within. */
template <typename real>
static __device__ __forceinline__ void which_rules(const traversal<real> &t, real r2,
                                                   bool on[KITH_RULES])
{
    const struct kith__flock_rules &rules = t.f->rules;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        on[rule] = rules.radius[rule] > 0 && (double)r2 <= t.f->square[rule];
    }
}

/** Which images the candidates of a row of cells may be in. */
enum kind {
    ITSELF,   /**< none: the box itself */
    STRAIGHT, /**< any, in a box whose rows are along the axes */
    ANY_IMAGE /**< any, in a skewed box */
};

/** Return the squared distance to a candidate by the definition of a pair [length^2].
 *  @param image  S of the candidate; not read for ITSELF */
template <typename real, enum kind KIND>
static __device__ __forceinline__ real square_to(const traversal<real> &t, const record<real> &r,
                                                 const int32_t image[3])
{
    typedef definition<real> def;
    const typename def::lattice &box = def::box(t.f->sweep.grid.question);
    const real x = r.x - t.r[0], y = r.y - t.r[1], z = r.z - t.r[2];
    if (KIND == ANY_IMAGE) {
        const real rj[3] = {r.x, r.y, r.z};
        real d[3];
        return def::separation(box, t.r, rj, image, d);
    }
    return KIND == ITSELF
               ? square_of(x, y, z)
               : square_of(moved(x, image[0] * box.row[0][0]), moved(y, image[1] * box.row[1][1]),
                           moved(z, image[2] * box.row[2][2]));
}

/** Add the first candidate of a mask, and clear its bit.
 *  @tparam USUAL  kith__gpu_flock_step.usual: a hit is within the radius of alignment and
 *  cohesion */
template <typename real, bool USUAL, enum kind KIND>
static __device__ __forceinline__ void add_first(const traversal<real> &t, const int32_t image[3],
                                                 struct hit_mask *hit_mask, struct short_sums *s)
{
    const int32_t slot = hit_mask->first + __ffs((int)hit_mask->near) - 1;
    hit_mask->near &= hit_mask->near - 1;
    const record<real> r = ((const record<real> *)t.f->here.r)[slot];
    const record<real> v = ((const record<real> *)t.f->here.v)[slot];
    const real r2 = square_to<real, KIND>(t, r, image);
    bool on[KITH_RULES] = {r2 <= t.close2, true, true};
    if (!USUAL) {
        which_rules(t, r2, on);
    }
    add(t, r, v, kith__pack_shift(image), on, s);
}

/** Add the candidates of all masks of a thread, which are no images, to its sums. One loop over the
 *  bits of all masks, so that threads with different numbers of hits in a mask do not wait for each
 *  other. */
template <typename real, bool USUAL>
static __device__ __forceinline__ void sum_masks(traversal<real> &t)
{
    const int32_t none[3] = {0, 0, 0};
    struct short_sums s = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    struct hit_mask hit_mask = {0, 0};
    for (int k = 0; hit_mask.near || k < t.n;) {
        if (!hit_mask.near) {
            hit_mask = t.masks->hit_mask[k++][threadIdx.x];
        }
        add_first<real, USUAL, ITSELF>(t, none, &hit_mask, &s);
    }
    t.n = 0;
    add_up(t, s);
}

/** Add the candidates of a mask, which are in an image, to the sums. */
template <typename real, bool USUAL, enum kind KIND>
static __device__ __forceinline__ void sum_image(const traversal<real> &t, const int32_t image[3],
                                                 struct hit_mask hit_mask)
{
    struct short_sums s = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    while (hit_mask.near) {
        add_first<real, USUAL, KIND>(t, image, &hit_mask, &s);
    }
    add_up(t, s);
}

/** Return `bits` shifted left by one, with the sign bit of a number as the lowest bit. */
static __device__ __forceinline__ uint32_t append_sign(uint32_t bits, float number)
{
    return __funnelshift_l(__float_as_uint(number), bits, 1);
}
static __device__ __forceinline__ uint32_t append_sign(uint32_t bits, double number)
{
    return __funnelshift_l((uint32_t)__double2hiint(number), bits, 1);
}

/** Test up to MASK_BITS candidates from *begin on, in one image, and advance *begin past them. The
 *  query particle itself is not excluded. Reads up to KITH_GPU_FLOCK_BEHIND records beyond the end.
 *  @return the mask of those that are near */
template <typename real, enum kind KIND>
static __device__ __forceinline__ struct hit_mask test_candidates(const traversal<real> &t,
                                                                  const int32_t image[3],
                                                                  int32_t *begin, int32_t end)
{
    const record<real> *next = (const record<real> *)t.f->here.r + *begin;
    const int32_t n = max(min(end - *begin, (int)MASK_BITS), 0);
    uint32_t far = ~0u; /* 0: near; the candidate tested last has the lowest bit */
    int32_t tested = 0;
#pragma unroll 1
    for (; tested < n; tested += AT_A_TIME) {
        record<real> r[AT_A_TIME];
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            r[k] = *next++;
        }
#pragma unroll
        for (int k = 0; k < AT_A_TIME; k++) {
            far = append_sign(far, t.reach2 - square_to<real, KIND>(t, r[k], image));
        }
    }
    /* Reversed, the candidate tested last has bit 31, so bit 0 stands for 31 entries before it. The
     * upper tested - n bits are of records beyond the end. */
    const struct hit_mask hit_mask = {*begin + tested - 32, __brev(~far) & ~0u >> (tested - n)};
    *begin += n;
    return hit_mask;
}

/** Find the candidates [*begin, *end) in a row of cells near cell x. The range is not changed where
 *  the row is outside an open box.
 *  @param y, z   cells of the row, which may be outside the box
 *  @param image  image[0], along x, is given; image[1] and image[2] are set */
template <typename real>
static __device__ __forceinline__ void find_image(const traversal<real> &t, int32_t x, int32_t y,
                                                  int32_t z, int32_t image[3], int32_t *begin,
                                                  int32_t *end)
{
    const struct kith__axis *axis = t.f->axis;
    const struct row_of_cells r = {(int32_t)axis[0].n, axis[0].reach, x, x};
    if (wrap_cell(axis[1], &y, &image[1]) && wrap_cell(axis[2], &z, &image[2])) {
        range_of(t.f->sweep.grid, r, ((int64_t)z * axis[1].n + y) * r.n, image[0], begin, end);
    }
}

/** Advance dy, dz, the position of a row of cells relative to the particle's cell, by a number of
 *  rows: y is the inner loop. */
static __device__ __forceinline__ void step_rows(const struct kith__axis axis[3], int rows,
                                                 int32_t *dy, int32_t *dz)
{
    for (*dy += rows; *dy > axis[1].reach; ++*dz) {
        *dy -= 2 * axis[1].reach + 1;
    }
}

/** Test the candidates of one image of a row. Those that are no images are recorded in masks, which
 *  are summed when some lane's are full, or after the last row; those of other images are summed at
 *  once. All lanes of the warp call it.
 *  @param begin, end  the candidates [begin, end) in `here`; none for a lane without a row
 *  @param last        there is no further row */
template <typename real, bool USUAL, enum kind KIND>
static __device__ __forceinline__ void test_row(traversal<real> &t, const int32_t image[3],
                                                int32_t begin, int32_t end, bool last)
{
    for (bool some = true; some;) {
        struct hit_mask hit_mask = test_candidates<real, KIND>(t, image, &begin, end);
        if (KIND != ITSELF && (image[0] | image[1] | image[2])) {
            sum_image<real, USUAL, KIND>(t, image, hit_mask);
            hit_mask.near = 0;
        }
        t.masks->hit_mask[t.n][threadIdx.x] = hit_mask;
        t.n += hit_mask.near != 0;
        some = which_lanes(begin < end);
        if (which_lanes(t.n == MASKS) || (last && !some)) {
            sum_masks<real, USUAL>(t);
        }
    }
}

/** Test all rows around a cell that is not at the rim: all cells within its reach are inside the
 *  box, so no candidate is an image. 2^SHARE threads share the rows of one particle. All lanes of
 *  the warp call it.
 *  @param cell  number of the particle's cell
 *  @param any   this thread has a particle */
template <typename real, bool USUAL, int SHARE>
static __device__ __forceinline__ void test_rows(traversal<real> &t, int32_t cell, bool any)
{
    const struct kith__axis *axis = t.f->axis;
    const int32_t nx = (int32_t)axis[0].n, ny = (int32_t)axis[1].n;
    const uint32_t *const start = t.f->sweep.grid.a.start;
    const int32_t none[3] = {0, 0, 0};
    int32_t dy = -axis[1].reach, dz = -axis[2].reach;
    step_rows(axis, my_lane() % (1 << SHARE), &dy, &dz);
    for (bool more = true; more;) {
        int32_t begin = 0, end = 0;
        if (any && dz <= axis[2].reach) {
            const int32_t at = cell + (dz * ny + dy) * nx;
            begin = (int32_t)start[at - axis[0].reach];
            end = (int32_t)start[at + axis[0].reach + 1];
        }
        step_rows(axis, 1 << SHARE, &dy, &dz);
        /* without sharing all lanes have one dz */
        more = SHARE > 0 ? which_lanes(dz <= axis[2].reach) != 0 : dz <= axis[2].reach;
        test_row<real, USUAL, ITSELF>(t, none, begin, end, !more);
    }
}

/** Advance `along`, the image of a row along x, and the row, `dy` and `dz`, by a number of images
 *  of rows: `along` is the inner loop.
 *  @param low, high  first and last image along x */
static __device__ __forceinline__ void step_images(const struct kith__axis axis[3], int images,
                                                   int32_t low, int32_t high, int32_t *along,
                                                   int32_t *dy, int32_t *dz)
{
    for (*along += images; *along > high; *along -= high - low + 1) {
        step_rows(axis, 1, dy, dz);
    }
}

/** Test all images of rows around any cell. 2^SHARE threads share those of one particle. All lanes
 *  of the warp call it.
 *  @param cell  number of the particle's cell
 *  @param any   this thread has a particle */
template <typename real, bool USUAL, int SHARE, enum kind KIND>
static __device__ __forceinline__ void test_images(traversal<real> &t, int32_t cell, bool any)
{
    const struct kith__axis *axis = t.f->axis;
    const int32_t nx = (int32_t)axis[0].n, ny = (int32_t)axis[1].n;
    const int32_t row = cell / nx;
    const int32_t x = cell - row * nx;
    const int32_t z = row / ny;
    const int32_t y = row - z * ny;
    const int32_t low = axis[0].periodic ? floor_divide(x - axis[0].reach, nx) : 0;
    const int32_t high = axis[0].periodic ? floor_divide(x + axis[0].reach, nx) : 0;
    const int stride = 1 << SHARE;
    int32_t dy = -axis[1].reach, dz = -axis[2].reach, along = low;
    step_images(axis, my_lane() % stride, low, high, &along, &dy, &dz);
    for (bool more = true; more;) {
        int32_t begin = 0, end = 0, image[3] = {along, 0, 0};
        if (any && dz <= axis[2].reach) {
            find_image(t, x, y + dy, z + dz, image, &begin, &end);
        }
        step_images(axis, stride, low, high, &along, &dy, &dz);
        more = which_lanes(any && dz <= axis[2].reach);
        test_row<real, USUAL, KIND>(t, image, begin, end, !more);
    }
}

/** Return the sum of columns [first, end) of the shared memory: of the threads that share a
 *  particle. */
static __device__ __forceinline__ struct kith__flock_sums gather(const struct masks &masks,
                                                                 int first, int end)
{
    struct kith__flock_sums sums = {{0, 0, 0}, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
    for (int column = first; column < end; column++) {
        for (int rule = 0; rule < KITH_RULES; rule++) {
            sums.n[rule] += masks.n[rule][column];
            for (int c = 0; c < 3; c++) {
                sums.sum[rule][c] += masks.sum[rule][c][column];
            }
        }
    }
    return sums;
}

/** Compute this thread's part of the neighbour sums of a particle, in its column.
 *  @param at   entry of the particle in `here`
 *  @param rim  its cell is at the rim
 *  @param any  this thread has a particle */
template <typename real, bool USUAL, int SHARE, int RIM_SHARE>
static __device__ __forceinline__ void sum_for_particle(const struct kith__gpu_flock_step &f,
                                                        int64_t at, bool rim, bool any,
                                                        struct masks *masks)
{
    typedef definition<real> def;
    const record<real> mine = ((const record<real> *)f.here.r)[at];
    const int32_t cell = (int32_t)((const record<real> *)f.here.v)[at].number;
    traversal<real> t;
    t.f = &f;
    t.masks = masks;
    t.n = 0;
    t.r[0] = mine.x;
    t.r[1] = mine.y;
    t.r[2] = mine.z;
    t.reach2 = def::square((real)f.sweep.grid.question.cutoff);
    t.close2 = def::square((real)f.rules.radius[KITH_SEPARATION]);
    t.here = in_plain_units(f.offsets, mine);
    t.velocities = f.progress->velocities;
    for (int rule = 0; rule < KITH_RULES; rule++) {
        masks->n[rule][threadIdx.x] = 0;
        for (int c = 0; c < 3; c++) {
            masks->sum[rule][c][threadIdx.x] = 0;
        }
    }
    if (!rim) {
        test_rows<real, USUAL, SHARE>(t, cell, any && cell >= 0);
    } else if (def::box(f.sweep.grid.question).orthorhombic) {
        test_images<real, USUAL, RIM_SHARE, STRAIGHT>(t, ~cell, any);
    } else {
        test_images<real, USUAL, RIM_SHARE, ANY_IMAGE>(t, ~cell, any);
    }
}

/** Move as many particles as a block takes, from number `first` on: threads compute their sums,
 *  then one thread moves each. All threads of the block call it.
 *  @param rim         numbers are those of the list of the rim; else they are entries of `here`,
 *                     and particles at the rim are skipped
 *  @param first, end  numbers of the particles: as many of [first, end) as there are threads for */
template <typename real, bool USUAL, int SHARE, int RIM_SHARE>
static __device__ __forceinline__ void step_some(const struct kith__gpu_flock_step &f, bool rim,
                                                 int64_t first, int64_t end, struct masks *masks)
{
    const int share = rim ? RIM_SHARE : SHARE;
    const int64_t looking = first + (threadIdx.x >> share);
    const int64_t at = min(looking, end - 1);
    sum_for_particle<real, USUAL, SHARE, RIM_SHARE>(f, rim ? f.rim[at] : at, rim, looking < end,
                                                    masks);
    if (share > 0) {
        __syncthreads();
    }
    const int own = NEAR_THREADS >> share;
    if ((int)threadIdx.x < max(own, (int)LANES)) { /* whole warps, for warp functions */
        const int64_t moving = (int)threadIdx.x < own ? first + threadIdx.x : end;
        const int64_t mine = min(moving, end - 1);
        const int64_t slot = rim ? f.rim[mine] : mine;
        const record<real> old = ((const record<real> *)f.here.v)[slot];
        real v[3] = {0, 0, 0};
        if (moving < end && (rim || old.number >= 0)) {
            const int column = (int)threadIdx.x << share;
            struct kith__flock_sums sums = gather(*masks, column, column + (1 << share));
            subtract_itself(f, in_plain_units(f.progress->velocities, old), &sums);
            move_particle(f, slot, ((const record<real> *)f.here.r)[slot], old, &sums, NULL, v);
        }
        update_fastest(f, v);
    }
    if (share > 0) {
        __syncthreads();
    }
}

/** Make one step. The first `rim_blocks` blocks take the particles at the rim, whose number the
 *  host does not know, in a loop; so other warps do not diverge by images. 2^RIM_SHARE threads
 *  share a particle at the rim, 2^SHARE another one. The minimum of blocks of a multiprocessor
 *  bounds the registers of a thread. */
template <typename real, bool USUAL, int SHARE, int RIM_SHARE>
static __global__ void __launch_bounds__(NEAR_THREADS, sizeof(real) == 4 ? 16 : 12)
    step_near(const KITH_IN_PLACE struct kith__gpu_flock_step f, int rim_blocks)
{
    __shared__ struct masks masks;
    const bool rim = (int)blockIdx.x < rim_blocks;
    const int own = NEAR_THREADS >> (rim ? RIM_SHARE : SHARE);
    const int64_t block = rim ? blockIdx.x : blockIdx.x - rim_blocks;
    const int64_t end = rim ? f.progress->at_rim[1 - f.side] : f.sweep.grid.a.n;
    const int64_t step = rim ? (int64_t)rim_blocks * own : end;
    if (!is_well(f)) {
        return;
    }
    for (int64_t first = block * own; first < end; first += step) {
        step_some<real, USUAL, SHARE, RIM_SHARE>(f, rim, first, end, &masks);
    }
}

/** Return the fraction of the cells that are at the rim. */
static double part_at_rim(const struct kith__axis axis[3])
{
    double inside = 1;
    for (int k = 0; k < 3; k++) {
        inside *= fmax(0, 1 - 2 * (double)axis[k].reach / (double)axis[k].n);
    }
    return 1 - inside;
}

/** Launch step_near, with blocks for the expected number of particles at the rim. */
template <typename real, int SHARE, int RIM_SHARE>
static void launch_share(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    const int64_t own = NEAR_THREADS >> SHARE, rim_own = NEAR_THREADS >> RIM_SHARE;
    const int64_t n = f->sweep.grid.a.n;
    const int rim = (int)(part_at_rim(f->axis) * (double)n / (double)rim_own) + 1;
    const int64_t blocks = rim + (n + own - 1) / own;
    if (f->usual) {
        KITH_LAUNCH((step_near<real, true, SHARE, RIM_SHARE>), blocks, NEAR_THREADS, stream, *f,
                    rim);
    } else {
        KITH_LAUNCH((step_near<real, false, SHARE, RIM_SHARE>), blocks, NEAR_THREADS, stream, *f,
                    rim);
    }
}

/** Choose how many threads share a particle, and launch. */
template <typename real>
static void launch(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    static const int64_t few = 200000; /* too few to fill a GPU with one thread each */
    if (f->sweep.grid.a.n < few) {
        launch_share<real, 1, 3>(f, stream);
    } else {
        launch_share<real, 0, 0>(f, stream);
    }
}

gpuError_t kith__gpu_flock_near(const struct kith__gpu_flock_step *f, gpuStream_t stream)
{
    if (f->sweep.grid.question.precision == KITH_FLOAT) {
        launch<float>(f, stream);
    } else {
        launch<double>(f, stream);
    }
    return gpuGetLastError();
}
