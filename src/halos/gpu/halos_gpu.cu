/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kernels of halo properties: checks of particles, and sums over groups. The arithmetic is that of
 * halo_sums.h, as on the CPU, compiled without contraction to fused multiply-add, so the results
 * have the CPU's bits. The precision is a template parameter: loops have no branch for it.
 */
#include "halos_gpu.h"

#include "engine/gpu/device.cuh"

enum {
    THREADS = 256, /**< threads of a block */
    FEW = 64       /**< threads of a block where the work of threads differs: a block ends with its
                        slowest thread */
};

/* ----------------------------------------------------------------------------------- particles */

/** Check each particle: lower small->fault to the number of its fault. */
template <kith_precision precision> static __global__ void check(const struct kith__gpu_halos h)
{
    const int64_t p = my_item();
    if (p < h.members.points.n) {
        const int fault = kith__particle_fault(&h.members, precision, p);
        if (fault < KITH_FAULTS) {
            atomicMin(&h.small->fault, (unsigned long long)(p * KITH_FAULTS + fault));
        }
    }
}

gpuError_t kith__gpu_halo_check(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(h->members.points.n, THREADS);
    if (h->members.points.precision == KITH_FLOAT) {
        KITH_LAUNCH(check<KITH_FLOAT>, blocks, THREADS, stream, *h);
    } else {
        KITH_LAUNCH(check<KITH_DOUBLE>, blocks, THREADS, stream, *h);
    }
    return gpuGetLastError();
}

/** Set small->value to the faulty value of a fault; one thread. */
static __global__ void read_value(const struct kith__gpu_halos h, int64_t fault)
{
    h.small->value = kith__fault_value(&h.members, fault);
}

gpuError_t kith__gpu_halo_value(const struct kith__gpu_halos *h, int64_t fault, gpuStream_t stream)
{
    KITH_LAUNCH(read_value, 1, 1, stream, *h, fault);
    return gpuGetLastError();
}

/** Set key[p] to the label of p, and id[p] to p. */
static __global__ void make_keys(const struct kith__gpu_halos h, uint64_t *key, int32_t *id)
{
    const int64_t p = my_item();
    if (p < h.members.points.n) {
        key[p] = (uint64_t)h.members.labels[p];
        id[p] = (int32_t)p;
    }
}

gpuError_t kith__gpu_halo_keys(const struct kith__gpu_halos *h, uint64_t *key, int32_t *id,
                               gpuStream_t stream)
{
    const int64_t blocks = blocks_for(h->members.points.n, THREADS);
    KITH_LAUNCH(make_keys, blocks, THREADS, stream, *h, key, id);
    return gpuGetLastError();
}

/* -------------------------------------------------------------------------------------- groups */

/** Find the first entry of each group among the sorted particles. */
static __global__ void find_begins(const struct kith__gpu_halos h)
{
    const int64_t at = my_item();
    if (at == 0) {
        h.begin[h.members.groups] = (uint32_t)h.members.points.n;
    }
    if (at < h.members.points.n && h.label[at] > 0 && (at == 0 || h.label[at - 1] != h.label[at])) {
        h.begin[h.label[at] - 1] = (uint32_t)at;
    }
}

/** Set the size of each group, small->first, and the first group without particles. */
static __global__ void find_sizes(const struct kith__gpu_halos h)
{
    const int64_t g = my_item();
    if (g < h.members.groups) {
        if (h.begin[g] == UINT32_MAX) {
            atomicMin(&h.small->empty, (unsigned)(g + 1));
        }
        if (g == 0) {
            h.small->first = h.begin[0];
        }
        h.size[g] = (int32_t)(h.begin[g + 1] - h.begin[g]);
    }
}

gpuError_t kith__gpu_halo_groups(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    KITH_LAUNCH(find_begins, blocks_for(h->members.points.n, THREADS), THREADS, stream, *h);
    KITH_LAUNCH(find_sizes, blocks_for(h->members.groups, THREADS), THREADS, stream, *h);
    return gpuGetLastError();
}

/** Return the members of group g, counted from 0. */
static __device__ __forceinline__ struct kith__halo_group group_of(const struct kith__gpu_halos &h,
                                                                   kith_precision precision,
                                                                   int64_t g)
{
    const struct kith__halo_group group = {&h.members, precision, h.order + h.begin[g], h.size[g]};
    return group;
}

/** Measure the groups of one piece: one thread each. */
template <kith_precision precision>
static __global__ void __launch_bounds__(FEW) measure_small(const struct kith__gpu_halos h)
{
    const int64_t g = my_item();
    if (g < h.members.groups && h.size[g] <= KITH_HALO_PIECE) {
        const struct kith__halo_group group = group_of(h, precision, g);
        kith__halo_small(&group, &h.halo[g]);
    }
}

gpuError_t kith__gpu_halo_small(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(h->members.groups, FEW);
    if (h->members.points.precision == KITH_FLOAT) {
        KITH_LAUNCH(measure_small<KITH_FLOAT>, blocks, FEW, stream, *h);
    } else {
        KITH_LAUNCH(measure_small<KITH_DOUBLE>, blocks, FEW, stream, *h);
    }
    return gpuGetLastError();
}

/* ------------------------------------------------------------------------------- large groups */

/* An item is the work of one thread in a kernel below: the sum over `unit` consecutive members of
 * one large group. Its items are consecutive, and item numbers ascend with the groups; some numbers
 * between two groups are unused (kith__gpu_halo_pieces). */

/** Return the first item of large group k, where each item covers `unit` members. */
static __device__ __forceinline__ int64_t first_item(const struct kith__gpu_halos &h, int64_t k,
                                                     int64_t unit)
{
    return (h.begin[h.large[k]] - h.first) / unit + k;
}

/** Return the number, in h.large, of the group that an item belongs to: the last group that begins
 *  at or before the item. Binary search. */
static __device__ __forceinline__ int64_t group_of_item(const struct kith__gpu_halos &h,
                                                        int64_t item, int64_t unit)
{
    int64_t low = 0;
    int64_t high = h.n_large; /* the group is in [low, high) */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (first_item(h, middle, unit) <= item) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Return an upper bound on all item numbers of large groups, where each item covers `unit`
 *  members. */
static int64_t count_items(const struct kith__gpu_halos *h, int64_t unit)
{
    return (h->members.points.n - h->first) / unit + h->n_large;
}

/** Sum over each piece of the large groups, in one pass. */
template <kith_precision precision, enum kith__halo_pass pass>
static __global__ void __launch_bounds__(FEW) sum_pieces(const struct kith__gpu_halos h)
{
    const int64_t item = my_item();
    const int64_t k = group_of_item(h, item, KITH_HALO_PIECE);
    const struct kith__halo_group group = group_of(h, precision, h.large[k]);
    const int64_t at = (item - first_item(h, k, KITH_HALO_PIECE)) * KITH_HALO_PIECE;
    if (at < group.n) {
        const int64_t n = group.n - at < KITH_HALO_PIECE ? group.n - at : KITH_HALO_PIECE;
        kith__halo_piece(&group, pass, &h.frame[k], at, n, &h.sums[item]);
    }
}

/** One level of the tree of sums (halo_sums.h): add sums that are `apart` pieces from each other,
 *  KITH_HALO_PIECE of them for each thread, to the first of them. */
static __global__ void __launch_bounds__(FEW) gather(const struct kith__gpu_halos h, int64_t apart)
{
    const int64_t unit = apart * KITH_HALO_PIECE * KITH_HALO_PIECE;
    const int64_t item = my_item();
    const int64_t k = group_of_item(h, item, unit);
    const int64_t size = h.size[h.large[k]];
    const int64_t pieces = (size + KITH_HALO_PIECE - 1) / KITH_HALO_PIECE;
    const int64_t at = (item - first_item(h, k, unit)) * KITH_HALO_PIECE * apart;
    if (at < pieces) {
        kith__halo_gather(&h.sums[first_item(h, k, KITH_HALO_PIECE) + at], apart, pieces - at);
    }
}

/** Compute the results of a pass for each large group, from the sum over its members: one thread
 *  for each group. */
static __global__ void __launch_bounds__(FEW)
    finish_pass(const struct kith__gpu_halos h, kith_precision precision, enum kith__halo_pass pass)
{
    const int64_t k = my_item();
    if (k >= h.n_large) {
        return;
    }
    const int64_t g = h.large[k];
    const struct kith__halo_group group = group_of(h, precision, g);
    const struct kith__halo_sums *sums = &h.sums[first_item(h, k, KITH_HALO_PIECE)];
    switch (pass) {
    case KITH_PASS_SLICES: kith__halo_cut(&group, sums, &h.frame[k]); break;
    case KITH_PASS_MEANS: kith__halo_middle(&group, sums, &h.frame[k], &h.halo[g]); break;
    case KITH_PASS_MOMENTS: kith__halo_finish(sums, h.members.dim, &h.halo[g]); break;
    }
}

/** Make one pass over the members of all large groups, and compute its results. */
template <kith_precision precision, enum kith__halo_pass pass>
static gpuError_t run(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    const int64_t pieces = count_items(h, KITH_HALO_PIECE);
    if (pass != KITH_PASS_SLICES || kith__is_periodic(&h->members.box)) {
        const int64_t blocks = blocks_for(pieces, FEW);
        KITH_LAUNCH((sum_pieces<precision, pass>), blocks, FEW, stream, *h);
        for (int64_t apart = 1; apart < pieces; apart *= KITH_HALO_PIECE) {
            const int64_t items = count_items(h, apart * KITH_HALO_PIECE * KITH_HALO_PIECE);
            KITH_LAUNCH(gather, blocks_for(items, FEW), FEW, stream, *h, apart);
        }
    }
    KITH_LAUNCH(finish_pass, blocks_for(h->n_large, FEW), FEW, stream, *h, precision, pass);
    return gpuGetLastError();
}

/** Make all passes over the members of all large groups. */
template <kith_precision precision>
static gpuError_t run_all(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    gpuError_t error = run<precision, KITH_PASS_SLICES>(h, stream);
    error = error == gpuSuccess ? run<precision, KITH_PASS_MEANS>(h, stream) : error;
    return error == gpuSuccess ? run<precision, KITH_PASS_MOMENTS>(h, stream) : error;
}

gpuError_t kith__gpu_halo_large(const struct kith__gpu_halos *h, gpuStream_t stream)
{
    return h->members.points.precision == KITH_FLOAT ? run_all<KITH_FLOAT>(h, stream)
                                                     : run_all<KITH_DOUBLE>(h, stream);
}
