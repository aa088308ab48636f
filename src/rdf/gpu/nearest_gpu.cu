/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs under minimum image, in an orthorhombic box that is periodic on all axes. A block takes
 * a piece of a, some particles in the registers of each thread, and a part of a piece of b, which
 * goes through shared memory: each of b is read once for all particles of a thread. r2 is that of
 * the definition: of the two images along an axis the nearer one has the least |d|.
 *
 * The lanes of a warp hold particles that are far apart in the caller's order, so that they seldom
 * are in one place, and their pairs in one bin.
 */
#include "tally.cuh"

enum {
    THREADS = 512,
    BLOCKS = 2, /* resident at a time */
    DEEP = KITH_GPU_PIECE / THREADS,
    TILE = 512
};

/** A thread's particles: place first + d, which is no particle unless it is below end. */
template <typename real> struct holder {
    int32_t first, end;
    real x[DEEP], y[DEEP], z[DEEP];
};

/** What a block is at. */
struct task {
    struct kith__piece p;
    int32_t begin, end; /**< places of b */
    int64_t first;      /**< counter in device memory */
};

template <typename real>
static __global__ void write_places(const struct kith__gpu_nearest all, int set)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    const kith_points &points = set ? q.b : q.a;
    const struct kith__gpu_ranked &ranked = set ? all.b : all.a;
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s < points.n) {
        real r[3];
        int32_t image[3];
        def::load(def::box(q), points, q.dim, ranked.id[s], r, image);
        const place<real> at = {r[0], r[1], r[2], 0};
        ((place<real> *)ranked.place)[s] = at;
    }
}

/** The least |d| of images along an axis. */
static __device__ __forceinline__ float folded(float d, float side)
{
    return fminf(fabsf(d), fabsf(KITH_SUB_f(fabsf(d), side)));
}
static __device__ __forceinline__ double folded(double d, double side)
{
    const double moved = fabs(KITH_SUB_d(fabs(d), side));
    return moved < fabs(d) ? moved : fabs(d);
}

template <typename real> struct sides {
    real x, y, z; /**< infinite where the box is not periodic */
};

template <typename real>
static __device__ __forceinline__ sides<real> sides_of(const struct kith__question &q)
{
    typedef definition<real> def;
    const typename def::lattice &box = def::box(q);
    const real none = (real)INFINITY;
    const sides<real> s = {box.periodic[0] ? box.row[0][0] : none,
                           box.periodic[1] ? box.row[1][1] : none,
                           box.periodic[2] ? box.row[2][2] : none};
    return s;
}

/** Hold particles of a piece: lane l those from l * each on, dealt to the warps. */
template <typename real>
static __device__ __forceinline__ void hold(const struct kith__gpu_nearest &all,
                                            const struct kith__piece &p, holder<real> *own)
{
    const int n = p.end - p.begin;
    const int each = (n + LANES - 1) / LANES;
    const int slot = my_warp() * DEEP;
    own->first = p.begin + my_lane() * each + slot;
    own->end = p.begin + (my_lane() + 1) * each;
    own->end = own->end < p.end ? own->end : p.end;
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        own->x[d] = own->y[d] = own->z[d] = no_pair((real)0);
        if (own->first + d < own->end) {
            const place<real> at = ((const place<real> *)all.a.place)[own->first + d];
            own->x[d] = at.x;
            own->y[d] = at.y;
            own->z[d] = at.z;
        }
    }
}

/** The pairs of a thread's particles with j, at place `at` of b. */
template <typename real> struct meeting {
    enum { mixed = false, blurred = false }; /* there is one partial at a time */
    float blur;
    const struct kith__gpu_nearest &all;
    const sides<real> &side;
    const holder<real> &own;
    const place<real> &j;
    int32_t at;
    int64_t partial; /**< first counter in device memory */

    __device__ __forceinline__ uint32_t first(int) const
    {
        return 0;
    }
    __device__ __forceinline__ void apart(int d, real r[3]) const
    {
        r[0] = folded(j.x - own.x[d], side.x);
        r[1] = folded(j.y - own.y[d], side.y);
        r[2] = folded(j.z - own.z[d], side.z);
    }
    __device__ __forceinline__ real exact(int d) const
    {
        real r[3];
        apart(d, r);
        return square_of(r[0], r[1], r[2]);
    }
    __device__ __forceinline__ void count(const struct kith__gpu_scale &s,
                                          const struct bins &counters, int d, uint32_t k) const
    {
        count_carefully(s, counters, partial, 0, k, all.a.id[own.first + d], all.b.id[at]);
    }
};

/** Count the pairs of j, at place `at` of b, with the thread's particles; with LATER those that
 *  stand before it. */
template <typename real, int WAY, bool LATER>
static __device__ __forceinline__ void meet(const struct kith__gpu_nearest &all,
                                            const sides<real> &side, const holder<real> &own,
                                            const place<real> &j, int32_t at, int64_t first,
                                            const struct bins &counters)
{
    const meeting<real> pairs = {0, all, side, own, j, at, first};
    real r2[DEEP];
#pragma unroll
    for (int d = 0; d < DEEP; d++) {
        real r[3];
        pairs.apart(d, r);
        r2[d] = WAY == BY_ROOT ? nearly_square_of(r[0], r[1], r[2]) : square_of(r[0], r[1], r[2]);
        if (LATER && at <= own.first + d) {
            r2[d] = no_pair((real)0);
        }
    }
    count_pairs<real, WAY, DEEP>(all.scale, counters, r2, pairs);
}

/** Meet places [begin, begin + n) of b, which are in the tile. */
template <typename real, int WAY, bool LATER>
static __device__ __forceinline__ void meet_tile(const struct kith__gpu_nearest &all,
                                                 const sides<real> &side, const holder<real> &own,
                                                 const place<real> *tile, int32_t begin, int n,
                                                 int64_t first, const struct bins &counters)
{
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        meet<real, WAY, LATER>(all, side, own, tile[k], begin + k, first, counters);
    }
}

/** What the task with this number is. @return false: it holds no pairs */
static __device__ __forceinline__ bool find_task(const struct kith__gpu_nearest &all,
                                                 int64_t number, struct task *t)
{
    const struct kith__rdf &rdf = all.scale.rdf;
    const int64_t row = (int64_t)all.b.pieces * all.parts;
    const int64_t column = number % row;
    t->p = all.a.piece[number / row];
    const struct kith__piece q = all.b.piece[column / all.parts];
    const int32_t span = (q.end - q.begin + all.parts - 1) / all.parts;
    t->begin = q.begin + (int32_t)(column % all.parts) * span;
    t->end = t->begin + span < q.end ? t->begin + span : q.end;
    t->first = kith__partial(rdf.n_species, all.scale.cross, t->p.species, q.species) * rdf.bins;
    return t->begin < t->end && (all.scale.cross || t->end > t->p.begin + 1);
}

template <typename real, int WAY>
static __device__ __forceinline__ void do_task(const struct kith__gpu_nearest &all,
                                               const struct task &t, place<real> *tile,
                                               const struct bins &counters)
{
    const sides<real> side = sides_of<real>(all.question);
    holder<real> own;
    hold(all, t.p, &own);
    const bool some = which_lanes(own.first < own.end) != 0;
    const bool later = !all.scale.cross && t.begin < t.p.end;
    for (int32_t begin = t.begin; begin < t.end; begin += TILE) {
        const int n = t.end - begin < TILE ? t.end - begin : TILE;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < n; k += THREADS) {
            tile[k] = ((const place<real> *)all.b.place)[begin + k];
        }
        __syncthreads();
        if (some && later) {
            meet_tile<real, WAY, true>(all, side, own, tile, begin, n, t.first, counters);
        } else if (some) {
            meet_tile<real, WAY, false>(all, side, own, tile, begin, n, t.first, counters);
        }
    }
}

template <typename real, int WAY>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    nearest_kernel(const struct kith__gpu_nearest all)
{
    uint32_t *fine = block_counters;
    __shared__ place<real> tile[TILE];
    __shared__ unsigned taken;
    const struct kith__gpu_scale &s = all.scale;
    const int64_t bins = s.rdf.bins;
    const struct bins counters = own_bins(fine, bins, s.copies);
    int64_t first = 0; /* counter in device memory of what is in shared memory, */
    int64_t since = 0; /* and the most pairs there */
    clear_counters(fine, bins, s.copies);
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) {
            taken = atomicAdd(all.next, 1u);
        }
        __syncthreads();
        struct task t;
        const int64_t number = all.begin + taken;
        if (number >= all.end) {
            break;
        }
        if (!find_task(all, number, &t)) {
            continue;
        }
        const int64_t pairs = (int64_t)(t.p.end - t.p.begin) * (t.end - t.begin);
        if (t.first != first || since + pairs > UINT32_MAX) {
            flush_counters(fine, bins, s.copies, s.counts + first, (int)threadIdx.x, THREADS);
            first = t.first;
            since = 0;
            __syncthreads();
        }
        since += pairs;
        do_task<real, WAY>(all, t, tile, counters);
    }
    flush_counters(fine, bins, s.copies, s.counts + first, (int)threadIdx.x, THREADS);
}

/* ---------------------------------------------------------------------------------- launchers */

size_t kith__gpu_nearest_static_bytes(void)
{
    return TILE * sizeof(place<double>) + 64;
}

int kith__gpu_nearest_blocks(void)
{
    return BLOCKS;
}

gpuError_t kith__gpu_place(const struct kith__gpu_nearest *all, int set, gpuStream_t stream)
{
    const int64_t n = set ? all->question.b.n : all->question.a.n;
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    if (all->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(write_places<float>, blocks, THREADS, stream, *all, set);
    } else {
        KITH_LAUNCH(write_places<double>, blocks, THREADS, stream, *all, set);
    }
    return gpuGetLastError();
}

template <typename real, int WAY>
static gpuError_t run(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    const size_t shared = counter_bytes(all->scale.rdf.bins, all->scale.copies);
    gpuError_t error = gpuFuncSetAttribute((const void *)nearest_kernel<real, WAY>,
                                           gpuFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error == gpuSuccess) {
        error = gpuMemsetAsync(all->next, 0, sizeof *all->next, stream);
    }
    if (error == gpuSuccess) {
        KITH_LAUNCH_SHARED((nearest_kernel<real, WAY>), all->blocks, THREADS, shared, stream, *all);
        error = gpuGetLastError();
    }
    return error;
}

gpuError_t kith__gpu_tally_nearest(const struct kith__gpu_nearest *all, gpuStream_t stream)
{
    return RUN_BY_WAY(way_of(&all->scale), all->question.precision, run, all, stream);
}
