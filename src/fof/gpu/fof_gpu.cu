/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends on a GPU: the kernels before linking (table, forest, dense cells) and after it
 * (sizes, sort keys, labels). O(n), one thread for each clump or node. fof_gpu.h has the data, and
 * what each launcher does. A node of the forest is a clump, or a particle; for `lanes` see
 * engine/gpu/device.cuh.
 */
#include "engine/gpu/gpu_cells.cuh"
#include "fof_gpu.h"

enum { THREADS = 256 };

/* -------------------------------------------------------------------------------------- clumps */

/** Return true when clump c of n is the first of a dense cell. */
static __device__ bool begins_dense_cell(const struct kith__gpu_friends &f, int64_t c, int64_t n)
{
    const uint64_t cell = f.key[c] >> f.subcells.bits;
    return c + KITH_DENSE <= n && f.key[c + KITH_DENSE - 1] >> f.subcells.bits == cell &&
           (c == 0 || f.key[c - 1] >> f.subcells.bits != cell);
}

/** Fill the table of cells, make every node a tree, and number the dense cells. The number of
 *  clumps is read on the device, as the host does not have it yet. Thread c works on clump c, on
 *  node c, and on the entries of the table between the cells of clumps c - 1 and c. */
static __global__ void make_trees(const struct kith__gpu_friends f, uint32_t *first)
{
    const int64_t c = my_item();
    const int64_t n = f.small->n_clumps;
    if (f.table) {
        fill_table(c, n, f.key, f.subcells.bits, f.cells, f.start);
    }
    if (c < (f.by_clump ? n : f.particles)) {
        f.parent[c] = (int32_t)c;
    }
    if (c == n) {
        first[n] = (uint32_t)f.particles;
    }
    if (c < n && begins_dense_cell(f, c, n)) {
        f.dense[c / KITH_DENSE] = atomicAdd(&f.small->n_dense, 1u);
    }
}

gpuError_t kith__gpu_make_trees(const struct kith__gpu_friends *f, uint32_t *first,
                                gpuStream_t stream)
{
    KITH_LAUNCH(make_trees, blocks_for(f->particles + 1, THREADS), THREADS, stream, *f, first);
    return gpuGetLastError();
}

/** Write the index entry of the row of subcells that clump c begins, if its cell is dense. Other
 *  threads exit early. */
static __global__ void fill_index(const struct kith__gpu_friends f)
{
    const int64_t c = my_item();
    if (c >= f.n) {
        return;
    }
    const int row_shift = f.axis[0].subcell_bits;
    const uint64_t cell = f.key[c] >> f.subcells.bits;
    const uint64_t row = f.key[c] >> row_shift;
    if (c > 0 && f.key[c - 1] >> row_shift == row) {
        return;
    }
    const struct kith__gpu_set clumps = {f.n, NULL,   NULL, NULL, NULL, (uint64_t *)f.key,
                                         0,   f.start};
    /* without a table the keys are searched, which have the subcell below the cell */
    const int64_t scale = f.table ? 0 : f.subcells.bits;
    const int64_t begin = first_of_cell(clumps, f.table, (int64_t)(cell << scale));
    const int64_t end = first_of_cell(clumps, f.table, (int64_t)((cell + 1) << scale));
    if (end - begin < KITH_DENSE) {
        return;
    }
    int subcell[3];
    kith__subcell_of(f.axis, f.key[c], subcell);
    unsigned mask = 0;
    for (int64_t b = c; b < end && f.key[b] >> row_shift == row; b++) {
        mask |= 1u << (int)(f.key[b] & (((uint64_t)1 << row_shift) - 1));
    }
    struct kith__subcell_row *to = f.index +
                                   (int64_t)f.dense[begin / KITH_DENSE] * f.subcells.rows +
                                   subcell[2] * f.axis[1].subcells + subcell[1];
    to->mask = (uint16_t)mask;
    to->first = (uint16_t)(c - begin);
}

gpuError_t kith__gpu_index_dense_cells(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    KITH_LAUNCH(fill_index, blocks_for(f->n, THREADS), THREADS, stream, *f);
    return gpuGetLastError();
}

/* -------------------------------------------------------------------------------------- groups */

/** Return the first slot of a node. */
static __device__ __forceinline__ int64_t begin_of(const struct kith__gpu_friends &f, int64_t node)
{
    return f.by_clump ? f.first[node] : node;
}

/** Return the number of particles of a node. */
static __device__ __forceinline__ int32_t size_of(const struct kith__gpu_friends &f, int64_t node)
{
    return (int32_t)(begin_of(f, node + 1) - begin_of(f, node));
}

/** Append `root` to a list for the lanes with `yes`: one atomic addition for each warp. All lanes
 *  of the warp must call it.
 *  @param[in,out] n  length of the list */
static __device__ __forceinline__ void list_root(int32_t *n, int32_t *list, int32_t root, bool yes)
{
    const lanes_t with = which_lanes(yes);
    if (with) {
        const int first = first_lane(with);
        const int32_t at = my_lane() == first ? atomicAdd(n, count_lanes(with)) : 0;
        const int32_t mine = from_lane(at, first) + count_lanes(with & lanes_below(my_lane()));
        if (yes) {
            list[mine] = root;
        }
    }
}

/** Point every node at its root, and fill `below` and `mark` (fof_gpu.h) at the roots. Most trees
 *  are one node, and need no sums; the nodes of the others, except roots, add their sizes at the
 *  root, once for a warp whose nodes are all in one tree. The thread whose addition makes a tree
 *  large enough appends it to the list. */
static __global__ void measure(const struct kith__gpu_friends f, int64_t min_members, int32_t *list)
{
    const int64_t node = my_item();
    int32_t root = -1;
    int32_t size = 0;
    int32_t early = 0; /* INT32_MAX less the smallest index of the node's particles; 0: a root */
    if (node < f.nodes) {
        root = f.parent[node];
        while (f.parent[root] != root) {
            root = f.parent[root];
        }
    }
    const bool is_root = root >= 0 && root == node;
    if (root >= 0 && !is_root) {
        f.parent[node] = root;
        size = size_of(f, node);
        early = INT32_MAX - f.id[begin_of(f, node)];
    }
    /* if the nodes of all lanes are in one tree, lane 0 adds for the warp */
    const int32_t common = from_lane(root, 0);
    if (which_lanes(root == common) == which_lanes(true)) {
        size = sum_lanes(size);
        early = (int32_t)max_lanes((uint32_t)early);
        size = my_lane() == 0 ? size : 0;
    }
    bool large = is_root && size_of(f, root) >= min_members;
    if (size > 0) {
        /* only one addition takes the sum from below min_members to at least min_members */
        const int64_t before = (int64_t)size_of(f, root) + atomicAdd(&f.below[root], size);
        atomicMax(&f.mark[root], early);
        large = large || (before < min_members && before + size >= min_members);
    }
    list_root(&f.small->n_groups, list, root, large);
}

gpuError_t kith__gpu_measure(const struct kith__gpu_friends *f, int64_t min_members, int32_t *list,
                             gpuStream_t stream)
{
    const size_t bytes = 2 * (size_t)f->nodes * sizeof(int32_t); /* mark follows below */
    const gpuError_t error = gpuMemsetAsync(f->below, 0, bytes, stream);
    KITH_LAUNCH(measure, blocks_for(f->nodes, THREADS), THREADS, stream, *f, min_members, list);
    return error == gpuSuccess ? gpuGetLastError() : error;
}

/** Write -1 - g to mark at the root of group g; no other mark is negative. */
static __global__ void number(const struct kith__gpu_friends f, const int32_t *root, int64_t n)
{
    const int64_t g = my_item();
    if (g < n) {
        f.mark[root[g]] = -1 - (int32_t)g;
    }
}

/** Lower the smallest id of a node's group to the smallest of the node's particles. */
static __global__ void lower_ids(const struct kith__gpu_friends f, const int64_t *ids,
                                 uint64_t *least)
{
    const int64_t node = my_item();
    const int32_t mark = node < f.nodes ? f.mark[f.parent[node]] : 0;
    if (mark >= 0) {
        return;
    }
    uint64_t smallest = UINT64_MAX;
    for (int64_t s = begin_of(f, node); s < begin_of(f, node + 1); s++) {
        const uint64_t id = (uint64_t)ids[f.id[s]] ^ (uint64_t)1 << 63; /* order of signed ids */
        smallest = id < smallest ? id : smallest;
    }
    atomicMin((unsigned long long *)&least[-1 - mark], (unsigned long long)smallest);
}

gpuError_t kith__gpu_least_ids(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                               const int64_t *ids, uint64_t *least, gpuStream_t stream)
{
    const gpuError_t error = gpuMemsetAsync(least, 0xff, (size_t)n * sizeof *least, stream);
    KITH_LAUNCH(number, blocks_for(n, THREADS), THREADS, stream, *f, root, n);
    KITH_LAUNCH(lower_ids, blocks_for(f->nodes, THREADS), THREADS, stream, *f, ids, least);
    return error == gpuSuccess ? gpuGetLastError() : error;
}

/** Write the sort key of each group. Keys are sorted in ascending order, so a larger group has a
 *  smaller key. @param index_bits  bits of a key that hold the smallest index */
static __global__ void make_keys(const struct kith__gpu_friends f, const int32_t *root, int64_t n,
                                 enum kith__gpu_order order, int index_bits, const uint64_t *least,
                                 uint64_t *key)
{
    const int64_t g = my_item();
    if (g >= n) {
        return;
    }
    const int32_t mark = f.mark[root[g]];
    const uint64_t falling = (uint64_t)(f.particles - size_of(f, root[g]) - f.below[root[g]]);
    switch (order) {
    case KITH_GPU_BY_LEADER: {
        const int32_t own = f.id[begin_of(f, root[g])];
        const int32_t leader = min(own, INT32_MAX - mark);
        key[g] = falling << index_bits | (uint64_t)leader;
        break;
    }
    case KITH_GPU_BY_ROOT: key[g] = (uint64_t)root[g]; break;
    case KITH_GPU_BY_ID: key[g] = least[-1 - mark]; break;
    case KITH_GPU_BY_SIZE: key[g] = falling; break;
    }
}

gpuError_t kith__gpu_group_keys(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                                enum kith__gpu_order order, const uint64_t *least, uint64_t *key,
                                gpuStream_t stream)
{
    const int index_bits = kith__bit_length((uint64_t)f->particles);
    KITH_LAUNCH(make_keys, blocks_for(n, THREADS), THREADS, stream, *f, root, n, order, index_bits,
                least, key);
    return gpuGetLastError();
}

/** Write the number of members of each group. */
static __global__ void list_members(const struct kith__gpu_friends f, const int32_t *root,
                                    int64_t n, int64_t *members)
{
    const int64_t g = my_item();
    if (g < n) {
        members[g] = size_of(f, root[g]) + f.below[root[g]];
    }
}

/** Label the particles of the nodes that belong to a group. A warp takes as many nodes as it has
 *  lanes, whose slots are consecutive, and each lane one particle at a time: the lengths of nodes
 *  differ, but the work of lanes does not. Labels of other particles are not written. */
static __global__ void label(const struct kith__gpu_friends f, int32_t *labels)
{
    const int lane = my_lane();
    const int64_t node = my_item();
    const int64_t from = node - lane;
    if (from >= f.nodes) {
        return; /* the whole warp */
    }
    const int64_t begin = node < f.nodes ? begin_of(f, node) : f.particles;
    const int32_t mark = node < f.nodes ? f.mark[f.parent[node]] : 0;
    const int32_t mine = mark < 0 ? -mark : 0;
    if (!which_lanes(mine > 0)) {
        return;
    }
    const int64_t last = from + LANES < f.nodes ? begin_of(f, from + LANES) : f.particles;
    for (int64_t s = from_lane(begin, 0); s < last; s += LANES) {
        int owner = 0; /* binary search: last lane whose node begins at or before this slot */
        for (int step = LANES / 2; step > 0; step /= 2) {
            const int64_t other = from_lane(begin, owner + step);
            owner += other <= s + lane ? step : 0;
        }
        const int32_t value = from_lane(mine, owner);
        if (s + lane < last && value > 0) {
            labels[f.id[s + lane]] = value;
        }
    }
}

gpuError_t kith__gpu_label(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                           int64_t *members, int32_t *labels, gpuStream_t stream)
{
    KITH_LAUNCH(list_members, blocks_for(n, THREADS), THREADS, stream, *f, root, n, members);
    KITH_LAUNCH(number, blocks_for(n, THREADS), THREADS, stream, *f, root, n);
    KITH_LAUNCH(label, blocks_for(f->nodes, THREADS), THREADS, stream, *f, labels);
    return gpuGetLastError();
}
