/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Searches between classes of radius (pairs/classes.h): copies of the particles of a class, and the
 * operations that add the hits of a search to rows that other searches write, too. In one search
 * each row belongs to one query particle, and so to one warp: they need no atomic operations.
 */
#include "sweep_lists.cuh"
#include "radii_gpu.h"

enum { COPY_THREADS = 256 };

/** Operation: add the hits of each particle to its count, where count_rows (packet.cuh), from which
 *  this is derived, sets the count. */
template <bool UPPER> struct count_more : count_rows<UPPER> {
    typedef typename count_rows<UPPER>::shared shared;
    explicit count_more(int64_t *to) : count_rows<UPPER>{to, 0}
    {
    }
    template <class Cluster> __device__ void end(const Cluster &c, shared *)
    {
        int32_t hits = this->hits;
        hits += LANES == PACKET_ROWS ? 0 : from_partner(hits, PACKET_ROWS);
        if (c.lane < c.n) {
            this->counts[c.shared->id[c.lane]] += hits;
        }
    }
};

/** Operation: write the hits of each particle to its row, behind those of earlier searches, as
 *  write_list (packet.cuh) with offsets does from the beginning of the row on. */
template <bool UPPER, bool EXTRAS> struct append_rows : write_list<UPPER, EXTRAS> {
    typedef typename write_list<UPPER, EXTRAS>::shared shared;
    int64_t *filled; /**< [a.n] pairs that earlier searches have written to each row */

    append_rows(const struct kith__gpu_list &part, const int64_t *begins, int64_t *written)
        : write_list<UPPER, EXTRAS>(write_list_to<UPPER, EXTRAS>(part, begins, NULL)),
          filled(written)
    {
    }
    template <class Cluster> __device__ bool begin(const Cluster &c, shared *packed)
    {
        const bool some = write_list<UPPER, EXTRAS>::begin(c, packed);
        if (c.lane < c.n) {
            this->at += filled[c.shared->id[c.lane]];
        }
        return some;
    }
    template <class Cluster> __device__ void end(const Cluster &c, shared *packed)
    {
        write_list<UPPER, EXTRAS>::end(c, packed);
        if (c.lane < c.n) {
            const int32_t i = c.shared->id[c.lane];
            filled[i] = this->at - (this->offsets[i] - this->list.base);
        }
    }
};

/** Copy the coordinates of some particles.
 *  @param order    [n] their indices
 *  @param[out] to  [3][n] x, then y, then z */
template <typename real>
static __global__ void copy_points(const kith_points from, int dim, const int32_t *order, int64_t n,
                                   real *to)
{
    const int64_t p = (int64_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    if (p < n) {
        const int64_t at = order[p] * from.stride;
        to[p] = ((const real *)from.x)[at];
        to[n + p] = ((const real *)from.y)[at];
        to[2 * n + p] = dim == 3 ? ((const real *)from.z)[at] : 0;
    }
}

/** Replace indices of copies by those of the caller's particles: id[p] = order[id[p]]. */
static __global__ void name_particles(int32_t *id, const int32_t *order, int64_t n)
{
    const int64_t p = (int64_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    if (p < n) {
        id[p] = order[id[p]];
    }
}

/* ---------------------------------------------------------------------------------- launchers */

gpuError_t kith__gpu_copy_points(const kith_points *from, int dim, const int32_t *order, int64_t n,
                                 void *to, gpuStream_t stream)
{
    const int64_t blocks = (n + COPY_THREADS - 1) / COPY_THREADS;
    if (from->precision == KITH_FLOAT) {
        KITH_LAUNCH(copy_points<float>, blocks, COPY_THREADS, stream, *from, dim, order, n,
                    (float *)to);
    } else {
        KITH_LAUNCH(copy_points<double>, blocks, COPY_THREADS, stream, *from, dim, order, n,
                    (double *)to);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_name_particles(int32_t *id, const int32_t *order, int64_t n,
                                    gpuStream_t stream)
{
    KITH_LAUNCH(name_particles, (n + COPY_THREADS - 1) / COPY_THREADS, COPY_THREADS, stream, id,
                order, n);
    return gpuGetLastError();
}

gpuError_t kith__gpu_count_more(const struct kith__gpu_sweep *sweep,
                                const struct kith__rules *rules, bool upper, int64_t *counts,
                                gpuStream_t stream)
{
    return upper ? run_any(sweep, count_more<true>(counts), rules, stream)
                 : run_any(sweep, count_more<false>(counts), rules, stream);
}

/** Queue the sweep that appends to rows. */
template <bool UPPER>
static gpuError_t append_to(const struct kith__gpu_sweep *sweep, const struct kith__rules *rules,
                            const struct kith__gpu_list *list, const int64_t *offsets,
                            int64_t *filled, gpuStream_t stream)
{
    return has_extras(list)
               ? run_any(sweep, append_rows<UPPER, true>(*list, offsets, filled), rules, stream)
               : run_any(sweep, append_rows<UPPER, false>(*list, offsets, filled), rules, stream);
}

gpuError_t kith__gpu_append_rows(const struct kith__gpu_sweep *sweep,
                                 const struct kith__rules *rules, bool upper,
                                 const struct kith__gpu_list *list, const int64_t *offsets,
                                 int64_t *filled, gpuStream_t stream)
{
    return upper ? append_to<true>(sweep, rules, list, offsets, filled, stream)
                 : append_to<false>(sweep, rules, list, offsets, filled, stream);
}
