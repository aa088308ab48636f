/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building the grid on a GPU: reduce the coordinates to their bounds, choose the cells, sort the
 * particles by cell, copy the coordinates in that order, divide the particles into i-clusters
 * (gpu_sweep.cuh). O(n). The host does not wait for any of it.
 */
#include "gpu_bounds.cuh"
#include "gpu_cells.cuh"

enum {
    THREADS = 256,     /**< threads of a thread block */
    BOUNDS_BLOCKS = 4, /**< thread blocks on a multiprocessor, for the kernel find_bounds: limits
                            its registers */
    RESIDENT = 8 /**< thread blocks on a multiprocessor, for kernels bound by memory latency: limits
                      their registers */
};

/* -------------------------------------------------------------------------------------- bounds */

/** Extend bounds *out by the particles of this thread block. All its threads must call. */
template <typename real>
static __device__ void bounds_block(const struct kith__question &q, const kith_points &points,
                                    struct kith__gpu_bounds *out)
{
    typedef definition<real> def;
    __shared__ struct kith__gpu_bounds block;
    if (threadIdx.x == 0) {
        block = {};
    }
    __syncthreads();
    struct kith__bounds mine = empty_bounds();
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t p = my_item(); p < points.n; p += step) {
        real r[3];
        int32_t image[3];
        const int fits = def::load(def::box(q), points, q.dim, p, r, image);
        def::bounds_add(def::box(q), p, r, fits, image, &mine);
    }
    struct kith__gpu_bounds warp;
    bounds_warp(mine, &warp);
    if (my_lane() == 0) {
        merge_bounds(&block, &warp);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        merge_bounds(out, &block);
    }
}

/* --------------------------------------------------------------------------------------- cells */

/**
 * Compute the approximate median of the fractional coordinates of a sample of particles: a point
 * where most particles are, regardless of outliers. One warp for each axis finds the upper 32 bits
 * of the median, in the form of `ordered`, bit by bit from the highest: a bit is set when at most
 * half of the numbers are smaller than the median with that bit. The lower 32 bits are left 0.
 */
template <typename real>
static __device__ void find_anchor(const struct kith__question &q, double anchor[3])
{
    typedef definition<real> def;
    __shared__ uint32_t upper[3][THREADS]; /* padded with the largest double */
    const int n = q.a.n < THREADS ? (int)q.a.n : THREADS;
    const int me = (int)threadIdx.x;
    double f[3] = {DBL_MAX, DBL_MAX, DBL_MAX};
    if (me < n) {
        real r[3];
        int32_t image[3];
        def::load(def::box(q), q.a, q.dim, q.a.n * me / n, r, image);
        def::fractions(def::box(q), r, f);
    }
    for (int k = 0; k < 3; k++) {
        upper[k][me] = (uint32_t)(ordered(f[k]) >> 32);
    }
    __syncthreads();
    if (my_warp() < 3) {
        uint32_t median = 0;
        for (uint32_t bit = 1u << 31; bit > 0; bit /= 2) {
            int below = 0;
            for (int s = my_lane(); s < THREADS; s += LANES) {
                below += count_lanes(which_lanes(upper[my_warp()][s] < (median | bit)));
            }
            median |= below <= n / 2 ? bit : 0;
        }
        anchor[my_warp()] = from_ordered((unsigned long long)median << 32);
    }
    __syncthreads();
}

/** Choose the cells; one thread. Without subcells they are wider than the cutoff and a margin only
 *  where keys would not fit 63 bits. */
static __device__ void plan_cells(const struct kith__question &q, const struct kith__bounds &bounds,
                                  const double anchor[3], struct kith__gpu_plan *plan)
{
    const int subcells = q.subcell > 0
                             ? kith__choose_subcells(&q, &bounds, anchor, kith__table_limit(&q))
                             : 1;
    plan->near = kith__cell_side(&q, &bounds);
    plan->far = false;
    double side = q.subcell > 0 ? subcells * q.subcell : plan->near;
    while (true) {
        plan->cells = kith__choose_axes(&q, &bounds, anchor, side, plan->axis);
        if (q.subcell > 0) {
            plan->far = kith__divide_cells(&q, &bounds, subcells, plan->near, plan->axis) ||
                        plan->far;
        }
        if (kith__keys_fit(plan->cells, plan->axis)) {
            break;
        }
        side *= 2;
        plan->far = true;
    }
    plan->table = plan->cells <= kith__table_limit(&q);
    const int64_t rows = plan->table || q.subcell > 0 ? 0 : plan->axis[1].n * plan->axis[2].n;
    plan->rows = rows <= kith__table_limit(&q) ? rows : 0;
    plan->bits = kith__key_bits(plan->cells, plan->axis);
    plan->packs = images_pack(bounds.wrapped, plan->axis[0]) &&
                  images_pack(bounds.wrapped, plan->axis[1]) &&
                  images_pack(bounds.wrapped, plan->axis[2]);
}

/** Return the bounds of all sets together, and set the plan's status, and with a failure the first
 *  particle that cannot be used.
 *  @param bounds  volatile, as other thread blocks have written them */
static __device__ struct kith__bounds merge_sets(const struct kith__question &q,
                                                 const volatile struct kith__gpu_bounds *bounds,
                                                 struct kith__gpu_plan *plan)
{
    struct kith__bounds all = empty_bounds();
    plan->status = KITH_OK;
    plan->set = 0;
    plan->index = 0;
    for (int set = 0; set < (q.cross ? 2 : 1); set++) {
        const volatile struct kith__gpu_bounds *s = &bounds[set];
        for (int k = 0; k < 3; k++) {
            all.lo[k] = fmin(all.lo[k], from_ordered(~s->below[k]));
            all.hi[k] = fmax(all.hi[k], from_ordered(s->above[k]));
        }
        all.wrapped = s->wrapped > all.wrapped ? s->wrapped : all.wrapped;
        const unsigned long long bad = s->bad;
        const unsigned long long first = bad ? bad : s->far;
        if (plan->status == KITH_OK && first) {
            plan->status = bad ? KITH_NOT_FINITE : KITH_LIMIT;
            plan->set = set;
            plan->index = INT64_MAX - (int64_t)first;
        }
    }
    plan->wrapped = all.wrapped > 0;
    return all;
}

/** Choose the cells from the bounds, and reset the bounds for the next question. All threads of one
 *  thread block must call. */
template <typename real>
static __device__ void choose_cells(const struct kith__question &q, struct kith__gpu_bounds *bounds,
                                    struct kith__gpu_plan *plan)
{
    __shared__ double anchor[3];
    if (!q.box_d.periodic[0] || !q.box_d.periodic[1] || !q.box_d.periodic[2]) {
        find_anchor<real>(q, anchor); /* used by open axes only */
    }
    if (threadIdx.x > 0) {
        return;
    }
    const struct kith__bounds all = merge_sets(q, bounds, plan);
    plan->cells = 0;
    plan->bits = 0;
    if (plan->status == KITH_OK && q.a.n > 0 && q.b.n > 0) {
        plan_cells(q, all, anchor, plan);
    }
    bounds[0] = bounds[1] = {};
}

/** Find the bounds of a set of points. With a plan, the last thread block to finish then chooses
 *  the cells. */
template <typename real>
static __global__ void __launch_bounds__(THREADS, BOUNDS_BLOCKS)
    find_bounds(const struct kith__question q, const kith_points points, int set,
                struct kith__gpu_bounds *bounds, struct kith__gpu_plan *plan)
{
    __shared__ bool last;
    bounds_block<real>(q, points, &bounds[set]);
    if (!plan) {
        return;
    }
    if (threadIdx.x == 0) {
        /* The fences order the merging of bounds, by this thread and by those of other thread
         * blocks, before the count, and the count before they are read. */
        __threadfence();
        last = atomicAdd(&bounds[set].blocks, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        choose_cells<real>(q, bounds, plan);
    }
}

/** Queue the kernel find_bounds for one set. */
template <typename real>
static gpuError_t launch_find_bounds(const struct kith__question *q, const kith_points *points,
                                     int set, struct kith__gpu_bounds *bounds,
                                     struct kith__gpu_plan *plan, gpuStream_t stream)
{
    const int64_t most = 512; /* more thread blocks would spend most of their time on atomics */
    const int64_t blocks = blocks_for(points->n, THREADS) < most ? blocks_for(points->n, THREADS)
                                                                 : most;
    KITH_LAUNCH(find_bounds<real>, blocks, THREADS, stream, *q, *points, set, bounds, plan);
    return gpuGetLastError();
}

/** Queue the bounds of both sets; set a is the last, and has the plan. */
template <typename real>
static gpuError_t find_bounds_of_sets(const struct kith__gpu_grid *grid,
                                      struct kith__gpu_bounds *bounds, gpuStream_t stream)
{
    const struct kith__question *q = &grid->question;
    gpuError_t error = gpuSuccess;
    if (q->cross) {
        error = launch_find_bounds<real>(q, &q->b, 1, bounds, NULL, stream);
    }
    if (error == gpuSuccess) {
        error = launch_find_bounds<real>(q, &q->a, 0, bounds, grid->plan, stream);
    }
    if (error != gpuSuccess) { /* reset the bounds for the next question */
        (void)gpuMemsetAsync(bounds, 0, 2 * sizeof *bounds, stream);
    }
    return error;
}

gpuError_t kith__gpu_choose_cells(const struct kith__gpu_grid *grid,
                                  struct kith__gpu_bounds *bounds, gpuStream_t stream)
{
    return grid->question.precision == KITH_FLOAT
               ? find_bounds_of_sets<float>(grid, bounds, stream)
               : find_bounds_of_sets<double>(grid, bounds, stream);
}

/* ---------------------------------------------------------------------------------------- sort */

/** Return true when a key of `bits` bits and an index of id_bits bits fit one 64-bit word. Sorting
 *  one array of words moves less memory than sorting two arrays. */
static __host__ __device__ bool fits_word(int bits, int id_bits)
{
    return bits + id_bits < 64; /* not 64: rocPRIM compares no bits that end at 64 */
}

/** Write the key and the index of each particle: in one word, the index in the low bits, where that
 *  has room for both.
 *  @param bits     bits of the largest key; 0: the plan's
 *  @param id_bits  bits of an index
 *  @param key      [n] keys (kith__axis in cells.h), or words
 *  @param id       [n] indices; not written where words hold them */
template <typename real>
static __global__ void make_keys(const struct kith__question q, const kith_points points,
                                 const struct kith__gpu_plan *plan, int bits, int id_bits,
                                 uint64_t *key, int32_t *id)
{
    typedef definition<real> def;
    const int64_t p = my_item();
    if (p >= points.n) {
        return;
    }
    /* When the coordinates cannot be used, all keys are 0: the sort has been queued, as the host
     * does not wait for the plan. */
    uint64_t mine = 0;
    if (plan->status == KITH_OK) {
        real r[3];
        int32_t image[3];
        double f[3];
        def::load(def::box(q), points, q.dim, p, r, image);
        def::fractions(def::box(q), r, f);
        int64_t cell[3];
        uint64_t subcells = 0;
        for (int k = 2; k >= 0; k--) {
            int subcell;
            cell[k] = kith__uncompressed_subcell(&plan->axis[k], f[k], &subcell);
            subcells = subcells << plan->axis[k].subcell_bits | (uint64_t)subcell;
        }
        mine = (uint64_t)((cell[2] * plan->axis[1].n + cell[1]) * plan->axis[0].n + cell[0]);
        mine = mine << kith__subcell_bits(plan->axis) | subcells;
    }
    if (fits_word(bits ? bits : plan->bits, id_bits)) {
        key[p] = mine << id_bits | (uint64_t)p;
    } else {
        key[p] = mine;
        id[p] = (int32_t)p;
    }
}

/** The row of cells of each sorted key, as an array for fill_table. */
struct row_number {
    const uint64_t *key; /**< [n] sorted keys, above the index */
    int id_bits;         /**< bits of an index below the key */
    int64_t nx;          /**< cells of a row */
    __device__ uint64_t operator[](int64_t s) const
    {
        return (uint64_t)divide((int64_t)(key[s] >> id_bits), nx);
    }
};

/** Copy the coordinates in cell order, wrapped, with the wrapping where any particle was wrapped;
 *  split words into set.key and set.id; fill the table of first slots, of cells or of rows.
 *  @param sorted   [n] sorted keys, above the index; where it is set.key, that is kept as it is
 *  @param id_bits  bits of an index below the key; 0: the indices are in set.id */
template <typename real>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    gather(const struct kith__question q, const kith_points points,
           const struct kith__gpu_plan *plan, const struct kith__gpu_set set,
           const uint64_t *sorted, int id_bits)
{
    typedef definition<real> def;
    const int64_t s = my_item();
    if (plan->status != KITH_OK) {
        return;
    }
    if (s < set.n) {
        const uint64_t key = sorted[s];
        const uint64_t index = ((uint64_t)1 << id_bits) - 1;
        const int32_t id = id_bits > 0 ? (int32_t)(key & index) : set.id[s];
        real r[3];
        int32_t image[3];
        def::load(def::box(q), points, q.dim, id, r, image);
        ((real *)set.x)[s] = r[0];
        ((real *)set.y)[s] = r[1];
        ((real *)set.z)[s] = r[2];
        if (id_bits > 0) {
            set.id[s] = id;
        }
        if (plan->wrapped && set.wrap) {
            set.wrap[s] = wrapping_sum(image);
        }
        if (set.key != sorted) {
            set.key[s] = key >> id_bits;
        }
    }
    if (plan->table && !(q.subcell > 0)) {
        fill_table(s, set.n, sorted, id_bits, plan->cells, set.start);
    } else if (plan->rows > 0) {
        const struct row_number row = {sorted, id_bits, plan->axis[0].n};
        fill_table(s, set.n, row, 0, plan->rows, set.start);
    }
}

/** Queue the sort of a set, and the copy of its coordinates. */
template <typename real>
static gpuError_t sort_set(struct kith__gpu_grid *grid, int set_number, int bits,
                           struct kith__gpu_sort *sort, gpuStream_t stream)
{
    const struct kith__question *q = &grid->question;
    struct kith__gpu_set *set = set_number ? &grid->b : &grid->a;
    const kith_points *points = set_number ? &q->b : &q->a;
    size_t bytes = sort->temporary_bytes;
    uint64_t *key[2] = {set->key, sort->key};
    int32_t *id[2] = {set->id, sort->id};
    const int index = kith__bit_length((uint64_t)set->n);
    const int id_bits = fits_word(bits, index) ? index : 0;
    const gpuError_t error = id_bits > 0
                                 ? kith__gpu_sort_words(sort->temporary, &bytes, key, set->n,
                                                        id_bits, id_bits + bits, stream)
                                 : kith__gpu_sort_pairs(sort->temporary, &bytes, key, id, set->n,
                                                        bits, stream);
    if (error != gpuSuccess) {
        return error;
    }
    /* Sorted words are split: `gather` writes keys without indices to the other array. With
     * subcells the words stay as they are, and set->id_bits says so. */
    const bool apart = id_bits > 0 && !(q->subcell > 0);
    set->key = key[apart ? 1 : 0];
    set->id = id[0];
    set->id_bits = apart ? 0 : id_bits;
    sort->key = key[apart ? 0 : 1];
    sort->id = id[1];
    KITH_LAUNCH(gather<real>, blocks_for(set->n + 1, THREADS), THREADS, stream, *q, *points,
                grid->plan, *set, key[0], id_bits);
    return gpuGetLastError();
}

gpuError_t kith__gpu_make_keys(const struct kith__gpu_grid *grid, int set_number, int bits,
                               gpuStream_t stream)
{
    const struct kith__question *q = &grid->question;
    const struct kith__gpu_set *set = set_number ? &grid->b : &grid->a;
    const kith_points *points = set_number ? &q->b : &q->a;
    const int id_bits = kith__bit_length((uint64_t)set->n);
    if (q->precision == KITH_FLOAT) {
        KITH_LAUNCH(make_keys<float>, blocks_for(set->n, THREADS), THREADS, stream, *q, *points,
                    grid->plan, bits, id_bits, set->key, set->id);
    } else {
        KITH_LAUNCH(make_keys<double>, blocks_for(set->n, THREADS), THREADS, stream, *q, *points,
                    grid->plan, bits, id_bits, set->key, set->id);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_sort_set(struct kith__gpu_grid *grid, int set, int bits,
                              struct kith__gpu_sort *sort, gpuStream_t stream)
{
    return grid->question.precision == KITH_FLOAT ? sort_set<float>(grid, set, bits, sort, stream)
                                                  : sort_set<double>(grid, set, bits, sort, stream);
}

/* ---------------------------------------------------------------------------------- i-clusters */

/** Set a bit of grid.marks for each slot at which an i-cluster begins: each warp writes the word of
 *  its slots. */
static __global__ void mark_clusters(const struct kith__gpu_grid grid)
{
    const int64_t p = my_item();
    const bool here = p < grid.a.n && grid.plan->status == KITH_OK &&
                      begins_cluster(grid.a, *grid.plan, (uint32_t)grid.cluster, p);
    const lanes_t with = which_lanes(here);
    if (my_lane() == 0 && p < grid.a.n) {
        ((lanes_t *)grid.marks)[p / LANES] = with;
    }
}

gpuError_t kith__gpu_find_clusters(const struct kith__gpu_grid *grid, gpuStream_t stream)
{
    KITH_LAUNCH(mark_clusters, blocks_for(grid->a.n, THREADS), THREADS, stream, *grid);
    return gpuGetLastError();
}
