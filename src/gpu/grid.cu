/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building the grid: survey the coordinates, choose the cells, sort the particles by cell, write
 * the coordinates in that order, divide them into homes.
 */
#include "cells.cuh"

enum { THREADS = 256, SAMPLE = 255 };

static int64_t blocks_for(int64_t n)
{
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    return blocks > 0 ? blocks : 1;
}

/* -------------------------------------------------------------------------------------- survey */

/** A number whose order as an integer is that of the double. */
static __device__ unsigned long long ordered(double value)
{
    const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

static __device__ double from_ordered(unsigned long long bits)
{
    return __longlong_as_double((long long)(bits >> 63 ? bits & ~(1ull << 63) : ~bits));
}

static __device__ void clear_survey(struct kith__gpu_survey *s)
{
    for (int k = 0; k < 3; k++) {
        s->lo[k] = ~0ull;
        s->hi[k] = 0;
    }
    s->bad = s->far = INT64_MAX;
    s->images = 0;
}

static __device__ void merge_survey(struct kith__gpu_survey *to,
                                    const struct kith__gpu_survey *from)
{
    for (int k = 0; k < 3; k++) {
        atomicMin(&to->lo[k], from->lo[k]);
        atomicMax(&to->hi[k], from->hi[k]);
    }
    atomicMin(&to->bad, from->bad);
    atomicMin(&to->far, from->far);
    atomicMax(&to->images, from->images);
}

static __global__ void begin_survey(struct kith__gpu_survey *surveys)
{
    clear_survey(&surveys[threadIdx.x]);
}

template <typename real>
static __global__ void survey(const struct kith__question q, const kith_points points,
                              struct kith__gpu_survey *out)
{
    typedef definition<real> def;
    __shared__ struct kith__gpu_survey block;
    if (threadIdx.x == 0) {
        clear_survey(&block);
    }
    __syncthreads();
    struct kith__survey mine = {
        {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, INT64_MAX, INT64_MAX, 0};
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; p < points.n; p += step) {
        real r[3];
        int32_t image[3];
        const int fits = def::load(def::box(q), points, q.dim, p, r, image);
        def::survey_add(def::box(q), p, r, fits, image, &mine);
    }
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        for (int k = 0; k < 3; k++) {
            mine.lo[k] = fmin(mine.lo[k], from_partner(mine.lo[k], bits));
            mine.hi[k] = fmax(mine.hi[k], from_partner(mine.hi[k], bits));
        }
        const int64_t bad = from_partner(mine.bad, bits);
        const int64_t far = from_partner(mine.far, bits);
        const int32_t images = from_partner(mine.images, bits);
        mine.bad = bad < mine.bad ? bad : mine.bad;
        mine.far = far < mine.far ? far : mine.far;
        mine.images = images > mine.images ? images : mine.images;
    }
    if (my_lane() == 0) {
        struct kith__gpu_survey part;
        for (int k = 0; k < 3; k++) {
            part.lo[k] = ordered(mine.lo[k]);
            part.hi[k] = ordered(mine.hi[k]);
        }
        part.bad = (unsigned long long)mine.bad;
        part.far = (unsigned long long)mine.far;
        part.images = mine.images;
        merge_survey(&block, &part);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        merge_survey(out, &block);
    }
}

/* --------------------------------------------------------------------------------------- cells */

/** Median of some particles' fractional coordinates: where most of them are, whatever outliers. */
template <typename real>
static __device__ void find_anchor(const struct kith__question &q, double anchor[3])
{
    typedef definition<real> def;
    __shared__ double sample[3][SAMPLE];
    const int n = q.a.n < SAMPLE ? (int)q.a.n : SAMPLE;
    const int me = (int)threadIdx.x;
    if (me < 3) {
        anchor[me] = 0;
    }
    if (me < n) {
        real r[3];
        int32_t image[3];
        double f[3];
        def::load(def::box(q), q.a, q.dim, q.a.n * me / n, r, image);
        def::fractions(def::box(q), r, f);
        for (int k = 0; k < 3; k++) {
            sample[k][me] = f[k];
        }
    }
    __syncthreads();
    for (int k = 0; k < 3 && me < n; k++) {
        int rank = 0;
        for (int s = 0; s < n; s++) {
            rank += sample[k][s] < sample[k][me] || (sample[k][s] == sample[k][me] && s < me);
        }
        if (rank == n / 2) {
            anchor[k] = sample[k][me];
        }
    }
    __syncthreads();
}

static __device__ void plan_cells(const struct kith__question &q, const struct kith__survey &survey,
                                  const double anchor[3], struct kith__gpu_plan *plan)
{
    const int parts = q.part > 0 ? kith__choose_parts(&q, &survey, anchor) : 1;
    plan->near = kith__cell_side(&q, &survey);
    plan->far = false;
    double side = q.part > 0 ? parts * q.part : plan->near;
    while (true) {
        plan->cells = kith__choose_axes(&q, &survey, anchor, side, plan->axis);
        if (q.part > 0) {
            plan->far = kith__divide(&q, parts, plan->near, plan->axis) || plan->far;
        }
        if (plan->cells >= 0) {
            break;
        }
        side *= 2;
        plan->far = true;
    }
    plan->table = plan->cells <= kith__table_limit(&q);
}

template <typename real>
static __global__ void choose_cells(const struct kith__question q,
                                    const struct kith__gpu_survey *surveys,
                                    struct kith__gpu_plan *plan)
{
    __shared__ double anchor[3];
    if (!q.box_d.periodic[0] || !q.box_d.periodic[1] || !q.box_d.periodic[2]) {
        find_anchor<real>(q, anchor); /* which only open axes have */
    }
    if (threadIdx.x > 0) {
        return;
    }
    struct kith__survey all = {
        {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}, INT64_MAX, INT64_MAX, 0};
    plan->status = KITH_OK;
    plan->set = 0;
    plan->index = 0;
    for (int set = 0; set < (q.cross ? 2 : 1); set++) {
        const struct kith__gpu_survey *s = &surveys[set];
        for (int k = 0; k < 3; k++) {
            all.lo[k] = fmin(all.lo[k], from_ordered(s->lo[k]));
            all.hi[k] = fmax(all.hi[k], from_ordered(s->hi[k]));
        }
        all.images = s->images > all.images ? s->images : all.images;
        const unsigned long long first = s->bad != INT64_MAX ? s->bad : s->far;
        if (plan->status == KITH_OK && first != INT64_MAX) {
            plan->status = s->bad != INT64_MAX ? KITH_NOT_FINITE : KITH_LIMIT;
            plan->set = set;
            plan->index = (int64_t)first;
        }
    }
    plan->wrapped = all.images > 0;
    plan->cells = 0;
    if (plan->status == KITH_OK && q.a.n > 0 && q.b.n > 0) {
        plan_cells(q, all, anchor, plan);
    }
}

template <typename real>
static void launch_choose_cells(const struct kith__gpu_grid *grid, struct kith__gpu_survey *surveys,
                                gpuStream_t stream)
{
    const struct kith__question *q = &grid->question;
    const int64_t most = 1024;
    KITH_LAUNCH(begin_survey, 1, 2, stream, surveys);
    int64_t blocks = blocks_for(q->a.n) < most ? blocks_for(q->a.n) : most;
    KITH_LAUNCH(survey<real>, blocks, THREADS, stream, *q, q->a, surveys);
    if (q->cross) {
        blocks = blocks_for(q->b.n) < most ? blocks_for(q->b.n) : most;
        KITH_LAUNCH(survey<real>, blocks, THREADS, stream, *q, q->b, surveys + 1);
    }
    KITH_LAUNCH(choose_cells<real>, 1, THREADS, stream, *q, surveys, grid->plan);
}

gpuError_t kith__gpu_try_kernel(void)
{
    gpuFuncAttributes attributes;
    return gpuFuncGetAttributes(&attributes, (const void *)choose_cells<double>);
}

gpuError_t kith__gpu_choose_cells(const struct kith__gpu_grid *grid,
                                  struct kith__gpu_survey *surveys, gpuStream_t stream)
{
    if (grid->question.precision == KITH_FLOAT) {
        launch_choose_cells<float>(grid, surveys, stream);
    } else {
        launch_choose_cells<double>(grid, surveys, stream);
    }
    return gpuGetLastError();
}

/* ---------------------------------------------------------------------------------------- sort */

/** The cell of each particle, and its index. */
template <typename real>
static __global__ void make_keys(const struct kith__question q, const kith_points points,
                                 const struct kith__gpu_plan *plan, uint64_t *key, int32_t *id)
{
    typedef definition<real> def;
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= points.n) {
        return;
    }
    id[p] = (int32_t)p;
    if (plan->status != KITH_OK) {
        key[p] = 0; /* the sort runs all the same: no wait to ask */
        return;
    }
    real r[3];
    int32_t image[3];
    double f[3];
    def::load(def::box(q), points, q.dim, p, r, image);
    def::fractions(def::box(q), r, f);
    int64_t cell[3];
    uint64_t parts = 0;
    for (int k = 2; k >= 0; k--) {
        int part;
        cell[k] = kith__plain_part(&plan->axis[k], f[k], &part);
        parts = parts << plan->axis[k].part_bits | (uint64_t)part;
    }
    const int64_t number = (cell[2] * plan->axis[1].n + cell[1]) * plan->axis[0].n + cell[0];
    key[p] = (uint64_t)number << kith__part_bits(plan->axis) | parts;
}

/** Write coordinates in cell order, and the part of the table that each particle begins. Where many
 *  cells are empty, the warp fills them together. */
template <typename real>
static __global__ void gather(const struct kith__question q, const kith_points points,
                              const struct kith__gpu_plan *plan, const struct kith__gpu_set set)
{
    typedef definition<real> def;
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (plan->status != KITH_OK) {
        return;
    }
    if (s < set.n) {
        real r[3];
        int32_t image[3];
        def::load(def::box(q), points, q.dim, set.id[s], r, image);
        ((real *)set.x)[s] = r[0];
        ((real *)set.y)[s] = r[1];
        ((real *)set.z)[s] = r[2];
    }
    if (plan->table && !(q.part > 0)) {
        fill_table(s, set.n, set.key, 0, plan->cells, set.start);
    }
}

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
    KITH_LAUNCH(make_keys<real>, blocks_for(set->n), THREADS, stream, *q, *points, grid->plan,
                key[0], id[0]);
    gpuError_t error = gpuGetLastError();
    if (error == gpuSuccess) {
        error = kith__gpu_sort_pairs(sort->temporary, &bytes, key, id, set->n, bits, stream);
    }
    set->key = key[0];
    sort->key = key[1];
    set->id = id[0];
    sort->id = id[1];
    if (error == gpuSuccess) {
        KITH_LAUNCH(gather<real>, blocks_for(set->n + 1), THREADS, stream, *q, *points, grid->plan,
                    *set);
        error = gpuGetLastError();
    }
    return error;
}

gpuError_t kith__gpu_sort_set(struct kith__gpu_grid *grid, int set, int bits,
                              struct kith__gpu_sort *sort, gpuStream_t stream)
{
    return grid->question.precision == KITH_FLOAT ? sort_set<float>(grid, set, bits, sort, stream)
                                                  : sort_set<double>(grid, set, bits, sort, stream);
}

gpuError_t kith__gpu_find_homes(const struct kith__gpu_grid *grid, void *temporary,
                                size_t temporary_bytes, gpuStream_t stream)
{
    return kith__gpu_select_homes(temporary, &temporary_bytes, grid, stream);
}
