/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of all systems of a batch at once: the operation of the sweep that unites friends, and the
 * kernels that number the groups. O(pairs + particles).
 */
#include "engine/gpu/batch_sweep.cuh"
#include "fof_batch.h"
#include "forest.cuh"

enum { THREADS = 256 };
static_assert(KITH_FOF_SMALL < 1 << KITH_GPU_FOF_SIZE_BITS, "a size fits its bits of a sort key");

/** Operation of the batch sweep (engine/gpu/batch_sweep.cuh): unite the trees of all hits. */
struct unite_hits {
    struct shared {
        int unused; /**< the operation needs no shared memory */
    };
    int32_t *parent; /**< the forest, by the index of the particle */

    template <typename real>
    __device__ __forceinline__ bool begin(const batch_cluster<real> &, shared *)
    {
        return true;
    }
    template <typename real>
    __device__ __forceinline__ void take(const batch_cluster<real> &c, shared *,
                                         const struct batch_candidate at[BATCH_DEEP],
                                         const uint32_t mask[BATCH_DEEP])
    {
        for (int d = 0; d < BATCH_DEEP; d++) { /* bit k of mask[d]: query particle k is a friend */
            const int32_t j = mask[d] ? c.sweep->systems.b.id[at[d].slot] : 0;
            for (uint32_t left = mask[d]; left; left &= left - 1) {
                const int32_t i = c.shared->id[__ffs((int)left) - 1];
                if (i < j) { /* the sweep finds each pair from both sides */
                    (void)unite(parent, i, j);
                }
            }
        }
    }
    template <typename real>
    __device__ __forceinline__ void end(const batch_cluster<real> &, shared *)
    {
    }
};

/** Make every particle a tree. */
static __global__ void make_trees(const struct kith__gpu_fof_batch all)
{
    const int64_t p = my_item();
    if (p < all.sweep.systems.a.n) {
        all.parent[p] = (int32_t)p;
        all.size[p] = 0;
    }
}

/** Point every particle at its root, and count the particles of each tree. */
static __global__ void count_members(const struct kith__gpu_fof_batch all)
{
    const int64_t p = my_item();
    if (p < all.sweep.systems.a.n) {
        /* No path halving: its store of a grandparent could overwrite the root that another thread
         * has just stored, and labels are read from parent[p]. */
        int32_t root = (int32_t)p;
        for (int32_t above = parent_of(all.parent, root); above != root;
             above = parent_of(all.parent, root)) {
            root = above;
        }
        *(volatile int32_t *)&all.parent[p] = root;
        atomicAdd(&all.size[root], 1);
    }
}

gpuError_t kith__gpu_fof_unite(const struct kith__gpu_fof_batch *all, gpuStream_t stream)
{
    const int64_t blocks = blocks_for(all->sweep.systems.a.n, THREADS);
    const unite_hits operation = {all->parent};
    KITH_LAUNCH(make_trees, blocks, THREADS, stream, *all);
    const gpuError_t error = all->sweep.systems.question.precision == KITH_FLOAT
                                 ? run_sweep<float>(&all->sweep, operation, stream)
                                 : run_sweep<double>(&all->sweep, operation, stream);
    KITH_LAUNCH(count_members, blocks, THREADS, stream, *all);
    return error == gpuSuccess ? gpuGetLastError() : error;
}

/** Write the sort key of each group: its system, then its falling size. Groups are listed by
 *  ascending root, and the sort is stable, so that ties are in the order of the smallest index. */
static __global__ void make_keys(const struct kith__gpu_fof_batch all)
{
    const int64_t g = my_item();
    if (g < all.n_groups) {
        const int32_t root = all.root[g];
        all.key[g] = (uint64_t)all.sweep.systems.of_a[root] << KITH_GPU_FOF_SIZE_BITS |
                     (uint64_t)(KITH_FOF_SMALL - all.size[root]);
    }
}

gpuError_t kith__gpu_fof_keys(const struct kith__gpu_fof_batch *all, gpuStream_t stream)
{
    KITH_LAUNCH(make_keys, blocks_for(all->n_groups, THREADS), THREADS, stream, *all);
    return gpuGetLastError();
}

/** Write the number of members of each group g, and -1 - g to `size` at its root. */
static __global__ void number_groups(const struct kith__gpu_fof_batch all, int64_t *members)
{
    const int64_t g = my_item();
    if (g < all.n_groups) {
        int32_t *const size = &all.size[all.root[g]];
        members[g] = *size;
        *size = -1 - (int32_t)g;
    }
}

/** Write the label of each particle. Needs parents that are roots, and number_groups. */
static __global__ void label(const struct kith__gpu_fof_batch all, int32_t *labels)
{
    const int64_t p = my_item();
    if (p < all.sweep.systems.a.n) {
        const int32_t mark = all.size[all.parent[p]];
        labels[p] = mark < 0 ? -mark : 0;
    }
}

/** Find the first group of each system, or of a later one: binary search. */
static __global__ void find_offsets(const struct kith__gpu_fof_batch all, int64_t *offsets)
{
    const int64_t s = my_item();
    if (s > all.sweep.systems.n) {
        return;
    }
    int64_t low = 0;
    int64_t high = all.n_groups; /* it is one of groups low to high; n_groups stands for none */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((int64_t)(all.key[middle] >> KITH_GPU_FOF_SIZE_BITS) < s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    offsets[s] = low;
}

gpuError_t kith__gpu_fof_number(const struct kith__gpu_fof_batch *all, int32_t *labels,
                                int64_t *members, int64_t *offsets, gpuStream_t stream)
{
    const struct kith__gpu_systems *systems = &all->sweep.systems;
    KITH_LAUNCH(number_groups, blocks_for(all->n_groups, THREADS), THREADS, stream, *all, members);
    KITH_LAUNCH(label, blocks_for(systems->a.n, THREADS), THREADS, stream, *all, labels);
    KITH_LAUNCH(find_offsets, blocks_for(systems->n + 1, THREADS), THREADS, stream, *all, offsets);
    return gpuGetLastError();
}
