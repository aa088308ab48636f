/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clumps and groups: what is done before linking and after it.
 */
#include "cells.cuh"
#include "fof.h"

enum { THREADS = 256 };

static int64_t blocks_for(int64_t n)
{
    const int64_t blocks = (n + THREADS - 1) / THREADS;
    return blocks > 0 ? blocks : 1;
}

static __device__ __forceinline__ int64_t my_item()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* -------------------------------------------------------------------------------------- clumps */

static __global__ void describe(int64_t n, int64_t particles, const uint64_t *from, uint64_t *key,
                                uint32_t *first)
{
    const int64_t c = my_item();
    if (c < n) {
        key[c] = from[first[c]];
    } else if (c == n) {
        first[c] = (uint32_t)particles;
    }
}

/** Is clump c the first of its cell, and that cell crowded? */
static __device__ bool begins_crowd(const struct kith__gpu_friends &f, int64_t c)
{
    const uint64_t cell = f.key[c] >> f.parts.bits;
    return c + KITH_CROWD <= f.n && f.key[c + KITH_CROWD - 1] >> f.parts.bits == cell &&
           (c == 0 || f.key[c - 1] >> f.parts.bits != cell);
}

static __global__ void count_crowds(const struct kith__gpu_friends f)
{
    const int64_t c = my_item();
    const bool begins = c < f.n && begins_crowd(f, c);
    const int found = count_lanes(which_lanes(begins));
    if (found && my_lane() == 0) {
        atomicAdd(&f.small->n_crowds, (unsigned)found);
    }
}

gpuError_t kith__gpu_describe_clumps(const struct kith__gpu_friends *f, const uint64_t *from,
                                     uint64_t *key, uint32_t *first, gpuStream_t stream)
{
    KITH_LAUNCH(describe, blocks_for(f->n + 1), THREADS, stream, f->n, f->particles, from, key,
                first);
    KITH_LAUNCH(count_crowds, blocks_for(f->n), THREADS, stream, *f);
    return gpuGetLastError();
}

/** The table of cells, the trees, and a number for each crowded cell. */
static __global__ void plant(const struct kith__gpu_friends f)
{
    const int64_t c = my_item();
    if (f.table) {
        fill_table(c, f.n, f.key, f.parts.bits, f.cells, f.start);
    }
    if (c < f.nodes) {
        f.parent[c] = (int32_t)c;
    }
    if (c < f.n && begins_crowd(f, c)) {
        f.crowd[c / KITH_CROWD] = atomicAdd(&f.small->next_crowd, 1u);
    }
}

/** Write the row that clump c begins in the index of its crowded cell. */
static __global__ void fill_index(const struct kith__gpu_friends f)
{
    const int64_t c = my_item();
    if (c >= f.n) {
        return;
    }
    const int row_shift = f.axis[0].part_bits;
    const uint64_t cell = f.key[c] >> f.parts.bits;
    const uint64_t row = f.key[c] >> row_shift;
    if (c > 0 && f.key[c - 1] >> row_shift == row) {
        return;
    }
    const struct kith__gpu_set clumps = {f.n, NULL, NULL, NULL, NULL, (uint64_t *)f.key, f.start};
    const int64_t scale = f.table ? 0 : f.parts.bits;
    const int64_t begin = first_of_cell(clumps, f.table, (int64_t)(cell << scale));
    const int64_t end = first_of_cell(clumps, f.table, (int64_t)((cell + 1) << scale));
    if (end - begin < KITH_CROWD) {
        return;
    }
    int part[3];
    kith__part_of(f.axis, f.key[c], part);
    unsigned mask = 0;
    for (int64_t b = c; b < end && f.key[b] >> row_shift == row; b++) {
        mask |= 1u << (int)(f.key[b] & (((uint64_t)1 << row_shift) - 1));
    }
    struct kith__part_row *to = f.index + (int64_t)f.crowd[begin / KITH_CROWD] * f.parts.rows +
                                part[2] * f.axis[1].parts + part[1];
    to->mask = (uint16_t)mask;
    to->first = (uint16_t)(c - begin);
}

gpuError_t kith__gpu_index_clumps(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t most = f->nodes > f->n + 1 ? f->nodes : f->n + 1;
    KITH_LAUNCH(plant, blocks_for(most), THREADS, stream, *f);
    KITH_LAUNCH(fill_index, blocks_for(f->n), THREADS, stream, *f);
    return gpuGetLastError();
}

/* -------------------------------------------------------------------------------------- groups */

static __device__ __forceinline__ int64_t begin_of(const struct kith__gpu_friends &f, int64_t node)
{
    return f.by_clump ? f.first[node] : node;
}

static __global__ void clear(const struct kith__gpu_friends f)
{
    const int64_t node = my_item();
    if (node < f.nodes) {
        f.size[node] = 0;
        f.leader[node] = INT32_MAX;
    }
}

/** Point every node at its root; add up sizes and leaders there, in a warp of one tree at once. */
static __global__ void measure(const struct kith__gpu_friends f)
{
    const int64_t node = my_item();
    const bool is = node < f.nodes;
    int32_t root = -1;
    int32_t size = 0;
    int32_t leader = INT32_MAX;
    if (is) {
        root = f.parent[node];
        while (f.parent[root] != root) {
            root = f.parent[root];
        }
        f.parent[node] = root;
        size = (int32_t)(begin_of(f, node + 1) - begin_of(f, node));
        leader = f.id[begin_of(f, node)];
    }
    const int32_t common = from_lane(root, 0);
    if (which_lanes(root == common) == which_lanes(true)) {
        size = sum_lanes(size);
        for (int bits = LANES / 2; bits > 0; bits /= 2) {
            const int32_t other = from_partner(leader, bits);
            leader = other < leader ? other : leader;
        }
        if (my_lane() > 0) {
            return;
        }
    }
    if (is) {
        atomicAdd(&f.size[root], size);
        atomicMin(&f.leader[root], leader);
    }
}

gpuError_t kith__gpu_measure(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    KITH_LAUNCH(clear, blocks_for(f->nodes), THREADS, stream, *f);
    KITH_LAUNCH(measure, blocks_for(f->nodes), THREADS, stream, *f);
    return gpuGetLastError();
}

static __global__ void number_provisionally(const struct kith__gpu_friends f, const int32_t *root,
                                            int64_t n, uint64_t *least)
{
    const int64_t g = my_item();
    if (g < n) {
        f.leader[root[g]] = (int32_t)g;
        least[g] = UINT64_MAX;
    }
}

static __global__ void lower_ids(const struct kith__gpu_friends f, int64_t min_members,
                                 const int64_t *ids, uint64_t *least)
{
    const int64_t node = my_item();
    if (node >= f.nodes || f.size[f.parent[node]] < min_members) {
        return;
    }
    uint64_t smallest = UINT64_MAX;
    for (int64_t s = begin_of(f, node); s < begin_of(f, node + 1); s++) {
        const uint64_t id = (uint64_t)ids[f.id[s]] ^ (uint64_t)1 << 63; /* in the same order */
        smallest = id < smallest ? id : smallest;
    }
    atomicMin((unsigned long long *)&least[f.leader[f.parent[node]]], (unsigned long long)smallest);
}

gpuError_t kith__gpu_least_ids(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                               int64_t min_members, const int64_t *ids, uint64_t *least,
                               gpuStream_t stream)
{
    KITH_LAUNCH(number_provisionally, blocks_for(n), THREADS, stream, *f, root, n, least);
    KITH_LAUNCH(lower_ids, blocks_for(f->nodes), THREADS, stream, *f, min_members, ids, least);
    return gpuGetLastError();
}

static __global__ void make_keys(const struct kith__gpu_friends f, const int32_t *root, int64_t n,
                                 enum kith__gpu_order order, const uint64_t *least, uint64_t *key)
{
    const int64_t g = my_item();
    if (g >= n) {
        return;
    }
    const int32_t leader = f.leader[root[g]];
    const uint64_t falling = (uint64_t)(INT32_MAX - f.size[root[g]]);
    switch (order) {
    case KITH_GPU_BY_LEADER: key[g] = falling << 32 | (uint64_t)leader; break;
    case KITH_GPU_BY_ID: key[g] = least[leader]; break;
    case KITH_GPU_BY_SIZE: key[g] = falling; break;
    }
}

gpuError_t kith__gpu_group_keys(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                                enum kith__gpu_order order, const uint64_t *least, uint64_t *key,
                                gpuStream_t stream)
{
    KITH_LAUNCH(make_keys, blocks_for(n), THREADS, stream, *f, root, n, order, least, key);
    return gpuGetLastError();
}

/** The trees that are too small get label 0. */
static __global__ void drop_small(const struct kith__gpu_friends f, int64_t min_members)
{
    const int64_t node = my_item();
    if (node < f.nodes && f.size[node] < min_members) {
        f.size[node] = 0;
    }
}

/** From size to label, at the roots of the groups. */
static __global__ void number(const struct kith__gpu_friends f, const int32_t *root, int64_t n,
                              int64_t *members)
{
    const int64_t g = my_item();
    if (g < n) {
        members[g] = f.size[root[g]];
        f.size[root[g]] = (int32_t)(g + 1);
    }
}

/** A warp labels the particles of as many nodes as it has lanes, each lane one at a time. */
static __global__ void label(const struct kith__gpu_friends f, int32_t *labels)
{
    const int lane = my_lane();
    const int64_t node = my_item();
    const int64_t from = node - lane;
    if (from >= f.nodes) {
        return; /* the whole warp */
    }
    const int64_t begin = node < f.nodes ? begin_of(f, node) : f.particles;
    const int32_t mine = node < f.nodes ? f.size[f.parent[node]] : 0;
    const int64_t last = from + LANES < f.nodes ? begin_of(f, from + LANES) : f.particles;
    for (int64_t s = from_lane(begin, 0); s < last; s += LANES) {
        int owner = 0; /* the last lane whose node does not begin after my particle */
        for (int step = LANES / 2; step > 0; step /= 2) {
            const int64_t theirs = from_lane(begin, owner + step);
            owner += theirs <= s + lane ? step : 0;
        }
        const int32_t value = from_lane(mine, owner);
        if (s + lane < last) {
            labels[f.id[s + lane]] = value;
        }
    }
}

gpuError_t kith__gpu_label(const struct kith__gpu_friends *f, const int32_t *root, int64_t n,
                           int64_t min_members, int64_t *members, int32_t *labels,
                           gpuStream_t stream)
{
    KITH_LAUNCH(drop_small, blocks_for(f->nodes), THREADS, stream, *f, min_members);
    if (n > 0) {
        KITH_LAUNCH(number, blocks_for(n), THREADS, stream, *f, root, n, members);
    }
    KITH_LAUNCH(label, blocks_for(f->nodes), THREADS, stream, *f, labels);
    return gpuGetLastError();
}
