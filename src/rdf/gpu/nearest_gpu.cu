/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All pairs under minimum image, in an orthorhombic box that is periodic on all axes; O(n^2). Both
 * sets are sorted by species and cut into pieces of one species (rdf_gpu.h). A thread block takes a
 * piece of a, some particles in the registers of each thread, and a part of a piece of b, which
 * passes through shared memory: each particle of b is read once for all particles of a thread. Of
 * the images along an axis the nearest has the smallest |d|. Where rounding may decide the bin, r^2
 * is computed as by the definition.
 *
 * The lanes of a warp hold particles that are far apart in the caller's order, so that their pairs
 * seldom fall into one bin: atomic additions of a warp to one counter are serialised.
 */
#include "tally.cuh"

enum {
    THREADS = 512,                   /**< threads of a block */
    BLOCKS = 2,                      /**< blocks resident on a multiprocessor */
    DEEP = KITH_GPU_PIECE / THREADS, /**< particles of a thread */
    TILE = 512                       /**< particles of b in shared memory */
};

/** Particles of a that one thread holds in registers: DEEP from `first` on; those at or after `end`
 *  are padding. */
template <typename real> struct holder {
    int32_t first, end;             /**< numbers by species: the first, and the end of the lane's
                                         share of the piece */
    real x[DEEP], y[DEEP], z[DEEP]; /**< coordinates; NaN for padding [length] */
};

/** A task of a thread block: a piece of a, and a part of a piece of b. */
struct task {
    struct kith__piece p; /**< piece of a */
    int32_t begin, end;   /**< range of particles of b, numbers by species */
    int64_t first;        /**< first counter of their partial in device memory */
};

/** Write the wrapped positions of a set, sorted by species; one thread for each particle. */
template <typename real>
static __global__ void write_positions(const struct kith__gpu_nearest all, int set)
{
    typedef definition<real> def;
    const struct kith__question &q = all.question;
    const kith_points &points = set ? q.b : q.a;
    const struct kith__gpu_ranked &ranked = set ? all.b : all.a;
    const int64_t s = my_item();
    if (s < points.n) {
        real r[3];
        int32_t image[3];
        def::load(def::box(q), points, q.dim, ranked.id[s], r, image);
        const position<real> at = {r[0], r[1], r[2], 0};
        ((position<real> *)ranked.positions)[s] = at;
    }
}

/** Return the smallest |d| of all periodic images of a difference d of coordinates [length].
 *  @param side  side of the box along this axis; infinite along an open axis [length] */
static __device__ __forceinline__ float folded(float d, float side)
{
    return fminf(fabsf(d), fabsf(KITH_SUB_f(fabsf(d), side)));
}
static __device__ __forceinline__ double folded(double d, double side)
{
    const double moved = fabs(KITH_SUB_d(fabs(d), side));
    return moved < fabs(d) ? moved : fabs(d);
}

/** Sides of the box. */
template <typename real> struct sides {
    real x, y, z; /**< infinite along open axes [length] */
};

/** Return the sides of the question's box. */
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

/** Read the particles of a thread. Lane l of all warps takes the particles of the piece from
 *  l * each on, DEEP in each warp: so lanes of a warp hold particles that are far apart. */
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
            const position<real> at = ((const position<real> *)all.a.positions)[own->first + d];
            own->x[d] = at.x;
            own->y[d] = at.y;
            own->z[d] = at.z;
        }
    }
}

/** Pairs of a thread's particles with particle j, number `at` of b, as count_pairs (tally.cuh)
 *  takes them: pair d is of own particle d. */
template <typename real> struct thread_pairs {
    enum { mixed = false, blurred = false }; /* one partial in shared memory; exact roots */
    float blur;                              /**< unused */
    const struct kith__gpu_nearest &all;     /**< all pairs */
    const sides<real> &side;                 /**< sides of the box */
    const holder<real> &own;                 /**< particles of the thread */
    const position<real> &j;                 /**< the particle of b */
    int32_t at;                              /**< its number, by species */
    int64_t partial;                         /**< first counter of the partial in device memory */

    /** First counter of the partial in shared memory. */
    __device__ __forceinline__ uint32_t first(int) const
    {
        return 0;
    }
    /** |d| of pair d along each axis, at the nearest image [length]. */
    __device__ __forceinline__ void apart(int d, real r[3]) const
    {
        r[0] = folded(j.x - own.x[d], side.x);
        r[1] = folded(j.y - own.y[d], side.y);
        r[2] = folded(j.z - own.z[d], side.z);
    }
    /** r^2 of pair d by the definition. */
    __device__ __forceinline__ real exact(int d) const
    {
        real r[3];
        apart(d, r);
        return square_of(r[0], r[1], r[2]);
    }
    /** Count pair d in bin k, one by one. */
    __device__ __forceinline__ void count(const struct kith__gpu_scale &s,
                                          const struct bins &counters, int d, uint32_t k) const
    {
        count_single(s, counters, partial, 0, k, all.a.id[own.first + d], all.b.id[at]);
    }
};

/** Count the pairs of particle j, number `at` of b, with the thread's particles; if LATER only with
 *  those of a lower number by species, so that each pair of one set counts once.
 *  @param first  first counter of the partial in device memory */
template <typename real, int WAY, bool LATER>
static __device__ __forceinline__ void count_with(const struct kith__gpu_nearest &all,
                                                  const sides<real> &side, const holder<real> &own,
                                                  const position<real> &j, int32_t at,
                                                  int64_t first, const struct bins &counters)
{
    const thread_pairs<real> pairs = {0, all, side, own, j, at, first};
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

/** Count the pairs of n particles of b from number `begin` on, whose positions are in the tile,
 *  with the thread's particles. */
template <typename real, int WAY, bool LATER>
static __device__ __forceinline__ void count_tile(const struct kith__gpu_nearest &all,
                                                  const sides<real> &side, const holder<real> &own,
                                                  const position<real> *tile, int32_t begin, int n,
                                                  int64_t first, const struct bins &counters)
{
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        count_with<real, WAY, LATER>(all, side, own, tile[k], begin + k, first, counters);
    }
}

/** Find the task of this number (kith__gpu_nearest).
 *  @return false when it holds no pairs: the part is empty, or, with one set, none of its particles
 *          has a higher number than one of the piece of a */
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

/** Count the pairs of one task; all threads of the block call it.
 *  @param tile  [TILE] shared memory */
template <typename real, int WAY>
static __device__ __forceinline__ void do_task(const struct kith__gpu_nearest &all,
                                               const struct task &t, position<real> *tile,
                                               const struct bins &counters)
{
    const sides<real> side = sides_of<real>(all.question);
    holder<real> own;
    hold(all, t.p, &own);
    const bool some = which_lanes(own.first < own.end) != 0;  /* the warp holds a particle */
    const bool later = !all.scale.cross && t.begin < t.p.end; /* the ranges of a and b overlap */
    for (int32_t begin = t.begin; begin < t.end; begin += TILE) {
        const int n = t.end - begin < TILE ? t.end - begin : TILE;
        __syncthreads();
        for (int k = (int)threadIdx.x; k < n; k += THREADS) {
            tile[k] = ((const position<real> *)all.b.positions)[begin + k];
        }
        __syncthreads();
        if (some && later) {
            count_tile<real, WAY, true>(all, side, own, tile, begin, n, t.first, counters);
        } else if (some) {
            count_tile<real, WAY, false>(all, side, own, tile, begin, n, t.first, counters);
        }
    }
}

/** Count the pairs of all tasks of a launch. Persistent thread blocks claim tasks from a work queue
 *  counter. Shared memory has the counters of one partial, which are flushed when the partial
 *  changes, and before one can overflow. */
template <typename real, int WAY>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    nearest_kernel(const struct kith__gpu_nearest all)
{
    uint32_t *fine = block_counters; /* [bins][copies] */
    __shared__ position<real> tile[TILE];
    __shared__ unsigned taken;
    const struct kith__gpu_scale &s = all.scale;
    const int64_t bins = s.rdf.bins;
    const struct bins counters = own_bins(fine, bins, s.copies);
    int64_t first = 0; /* first counter in device memory of the partial in shared memory */
    int64_t since = 0; /* most pairs counted since the last flush */
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
        if (t.first != first || since + pairs > INT32_MAX) {
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

/* ------------------------------------------------------------------------------------ launches */

size_t kith__gpu_nearest_static_bytes(void)
{
    return TILE * sizeof(position<double>) + 64; /* 64: `taken`, and some to spare */
}

int kith__gpu_nearest_blocks(void)
{
    return BLOCKS;
}

gpuError_t kith__gpu_write_positions(const struct kith__gpu_nearest *all, int set,
                                     gpuStream_t stream)
{
    const int64_t n = set ? all->question.b.n : all->question.a.n;
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    if (all->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(write_positions<float>, blocks, THREADS, stream, *all, set);
    } else {
        KITH_LAUNCH(write_positions<double>, blocks, THREADS, stream, *all, set);
    }
    return gpuGetLastError();
}

/** Launch the kernel for a type of coordinate and a WAY of finding bins. */
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
