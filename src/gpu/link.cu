/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: each thread takes a clump to the parts around it that come later, in its own cell and in
 * the cells in reach; first in crowded cells only those beside it, so that most are in one tree
 * before the rest is looked at. Where two large clumps are not soon found to touch, a block
 * compares them afterwards.
 */
#include "cells.cuh"
#include "fof.h"

enum { THREADS = 128 };

/* -------------------------------------------------------------------------------------- forest */

/** Nodes change under our hands: every look is at memory. */
static __device__ __forceinline__ int32_t up(int32_t *parent, int32_t node)
{
    return *(volatile int32_t *)&parent[node];
}

/** Root of a node: the smallest of its tree. Shortens the way on the way. */
static __device__ __forceinline__ int32_t root_of(int32_t *parent, int32_t node)
{
    int32_t above = up(parent, node);
    while (above != node) {
        const int32_t next = up(parent, above);
        if (next == above) {
            return above;
        }
        *(volatile int32_t *)&parent[node] = next;
        node = next;
        above = up(parent, node);
    }
    return node;
}

/** Unite two trees: the larger root goes under the smaller. @return the root. */
static __device__ __forceinline__ int32_t unite(int32_t *parent, int32_t a, int32_t b)
{
    while (true) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) {
            return a;
        }
        const int32_t larger = a > b ? a : b;
        const int32_t smaller = a > b ? b : a;
        if (atomicCAS(&parent[larger], larger, smaller) == larger) {
            return smaller;
        }
    }
}

/* -------------------------------------------------------------------------------------- seeker */

/** The clump that looks. */
template <typename real> struct seeker {
    const struct kith__gpu_friends *f;
    const struct kith__parts *parts; /**< in shared memory */
    const real *x, *y, *z;
    real cutoff2;
    int64_t clump;
    int64_t begin, end; /**< its particles */
    int32_t root;
    int part[3];
    int64_t at[3]; /**< its cell, along the axes */
};

/** A cell, at an image. */
struct place {
    int64_t begin, end; /**< clumps */
    int32_t shift[3];
};

template <typename real>
static __device__ __forceinline__ real apart(const seeker<real> &me, int64_t i, int64_t j,
                                             const int32_t shift[3])
{
    typedef definition<real> def;
    const real ri[3] = {me.x[i], me.y[i], me.z[i]};
    const real rj[3] = {me.x[j], me.y[j], me.z[j]};
    real d[3];
    return def::separation(def::box(me.f->question), ri, rj, shift, d);
}

/** Leave the comparison to a block. @return false when there is no room for it. */
template <typename real>
static __device__ bool leave(const seeker<real> &me, int64_t b, const int32_t shift[3])
{
    const unsigned long long at = atomicAdd(&me.f->small->n_later, 1ull);
    if (at >= me.f->room_later) {
        return false;
    }
    struct kith__gpu_later *later = &me.f->later[at];
    later->a = (int32_t)me.clump;
    later->b = (int32_t)b;
    for (int k = 0; k < 3; k++) {
        later->shift[k] = shift[k];
    }
    return true;
}

/** Is some particle of the seeker a friend of one of clump b? False, too, where that is left to a
 *  block. */
template <typename real>
static __device__ bool touches(const seeker<real> &me, int64_t b, const int32_t shift[3])
{
    const int64_t begin = me.f->first[b];
    const int64_t end = me.f->first[b + 1];
    int64_t compared = 0;
    for (int64_t i = me.begin; i < me.end; i++) {
        for (int64_t j = begin; j < end; j++) {
            if (apart(me, i, j, shift) <= me.cutoff2) {
                return true;
            }
        }
        compared += end - begin;
        if (compared > KITH_GPU_MANY_PAIRS && i + 1 < me.end && leave(me, b, shift)) {
            return false;
        }
    }
    return false;
}

/** Every particle of the seeker with every one of clump b, where a part says nothing. */
template <typename real>
static __device__ void meet_each(const seeker<real> &me, int64_t b, const int32_t shift[3])
{
    typedef definition<real> def;
    const real *v = (const real *)me.f->velocities;
    for (int64_t i = me.begin; i < me.end; i++) {
        for (int64_t j = me.f->first[b]; j < me.f->first[b + 1]; j++) {
            const real r2 = apart(me, i, j, shift);
            const bool friends = v ? def::phase(r2, (real)me.f->question.cutoff,
                                                v + 3 * (int64_t)me.f->id[i],
                                                v + 3 * (int64_t)me.f->id[j],
                                                (real)me.f->velocity_length) <= 1
                                   : r2 <= me.cutoff2;
            if (friends) {
                unite(me.f->parent, (int32_t)i, (int32_t)j);
            }
        }
    }
}

/** Unite the seeker with clump b if they touch. */
template <typename real>
static __device__ __forceinline__ void meet(seeker<real> &me, int64_t b, const int32_t shift[3])
{
    if (!me.f->by_clump) {
        meet_each(me, b, shift);
        return;
    }
    int32_t *parent = me.f->parent;
    if (up(parent, (int32_t)b) == me.root) {
        return;
    }
    const int32_t root = root_of(parent, (int32_t)b);
    if (root == me.root) {
        *(volatile int32_t *)&parent[b] = root;
    } else if (touches(me, b, shift)) {
        me.root = unite(parent, me.root, root);
    }
}

/* --------------------------------------------------------------------------------------- cells */

/** The clumps of a cell. */
static __device__ __forceinline__ void enter(const struct kith__gpu_friends &f, int64_t cell,
                                             struct place *out)
{
    if (f.table) {
        out->begin = f.start[cell];
        out->end = f.start[cell + 1];
        return;
    }
    const struct kith__gpu_set clumps = {f.n, NULL, NULL, NULL, NULL, (uint64_t *)f.key, NULL};
    out->begin = first_of_cell(clumps, false, cell << f.parts.bits);
    out->end = first_of_cell(clumps, false, (cell + 1) << f.parts.bits);
}

/** The cell `away` from the seeker's, at its image. @return false where none is. */
template <typename real>
static __device__ bool go(const seeker<real> &me, const int away[3], struct place *out)
{
    const struct kith__axis *axis = me.f->axis;
    int64_t to[3];
    for (int k = 0; k < 3; k++) {
        const int64_t n = axis[k].n;
        to[k] = me.at[k] + away[k];
        out->shift[k] = 0;
        while (axis[k].periodic && (to[k] < 0 || to[k] >= n)) {
            const int step = to[k] < 0 ? -1 : 1;
            to[k] -= step * n;
            out->shift[k] += step;
        }
        if (to[k] < 0 || to[k] >= n) {
            return false;
        }
    }
    enter(*me.f, (to[2] * axis[1].n + to[1]) * axis[0].n + to[0], out);
    return out->begin < out->end;
}

static __device__ __forceinline__ int at_least(int a, int b)
{
    return a > b ? a : b;
}

static __device__ __forceinline__ int at_most(int a, int b)
{
    return a < b ? a : b;
}

/** The clumps of a crowded place that are within `reach` of the seeker, which is at `part` as
 *  counted in that place; in its own cell those that come later. */
template <typename real>
static __device__ void meet_crowd(seeker<real> &me, const int part[3], const struct place &place,
                                  bool own, const int reach[3])
{
    const struct kith__gpu_friends &f = *me.f;
    const int ny = f.axis[1].parts;
    const struct kith__part_row *index = f.index +
                                         (int64_t)f.crowd[place.begin / KITH_CROWD] * f.parts.rows;
    const int z_end = at_most(part[2] + reach[2], f.axis[2].parts - 1);
    const int y_end = at_most(part[1] + reach[1], ny - 1);
    for (int z = own ? part[2] : at_least(part[2] - reach[2], 0); z <= z_end; z++) {
        const int8_t *along = me.parts->row_reach[z > part[2] ? z - part[2] : part[2] - z];
        const bool level = own && z == part[2];
        for (int y = level ? part[1] : at_least(part[1] - reach[1], 0); y <= y_end; y++) {
            const int dx = at_most(along[y > part[1] ? y - part[1] : part[1] - y], reach[0]);
            const bool same = level && y == part[1];
            const int low = at_least(same ? part[0] + 1 : part[0] - dx, 0);
            const int high = at_most(part[0] + dx, KITH_MOST_PARTS - 1);
            if (low > high) {
                continue;
            }
            const struct kith__part_row row = index[z * ny + y];
            const unsigned below = (1u << low) - 1;
            const unsigned wanted = row.mask & ((2u << high) - 1) & ~below;
            const int64_t from = place.begin + row.first + __popc(row.mask & below);
            for (int64_t b = from; b < from + __popc(wanted); b++) {
                meet(me, b, place.shift);
            }
        }
    }
}

/** The clumps of a place that is in reach of the seeker. */
template <typename real>
static __device__ void meet_place(seeker<real> &me, const int away[3], const struct place &place)
{
    const struct kith__axis *axis = me.f->axis;
    if (place.end - place.begin >= KITH_CROWD) {
        const int seen[3] = {me.part[0] - away[0] * axis[0].parts,
                             me.part[1] - away[1] * axis[1].parts,
                             me.part[2] - away[2] * axis[2].parts};
        meet_crowd(me, seen, place, false, me.parts->reach);
        return;
    }
    for (int64_t b = place.begin; b < place.end; b++) {
        meet(me, b, place.shift);
    }
}

/** The cells ahead that are in reach. */
template <typename real> static __device__ void meet_around(seeker<real> &me)
{
    const struct kith__parts &parts = *me.parts;
    const int low[2] = {parts.cell_low[0][me.part[0]], parts.cell_low[1][me.part[1]]};
    const int high[2] = {parts.cell_high[0][me.part[0]], parts.cell_high[1][me.part[1]]};
    int away[3];
    for (away[2] = 0; away[2] <= parts.cell_high[2][me.part[2]]; away[2]++) {
        for (away[1] = away[2] ? low[1] : 0; away[1] <= high[1]; away[1]++) {
            for (away[0] = away[2] || away[1] ? low[0] : 1; away[0] <= high[0]; away[0]++) {
                struct place place;
                if (go(me, away, &place)) {
                    meet_place(me, away, place);
                }
            }
        }
    }
}

/** The clumps of the seeker's own cell that come later. */
template <typename real> static __device__ void meet_own(seeker<real> &me, int64_t cell)
{
    struct place home = {0, 0, {0, 0, 0}};
    enter(*me.f, cell, &home);
    if (!me.f->by_clump) {
        meet_each(me, me.clump, home.shift);
    }
    if (home.end - home.begin >= KITH_CROWD) {
        meet_crowd(me, me.part, home, true, me.parts->reach);
        return;
    }
    for (int64_t b = me.clump + 1; b < home.end; b++) {
        meet(me, b, home.shift);
    }
}

/** The clumps beside the seeker in its own cell, if that is crowded. */
template <typename real> static __device__ void meet_beside(seeker<real> &me, int64_t cell)
{
    const int reach[3] = {1, 1, 1};
    struct place home = {0, 0, {0, 0, 0}};
    enter(*me.f, cell, &home);
    if (home.end - home.begin >= KITH_CROWD) {
        meet_crowd(me, me.part, home, true, reach);
    }
}

/** Which clumps a launch takes its clumps to. */
enum pass { BESIDE, INSIDE, ACROSS };

template <typename real>
static __global__ void link_clumps(const struct kith__gpu_friends f, enum pass pass)
{
    typedef definition<real> def;
    __shared__ struct kith__parts parts;
    for (int w = (int)threadIdx.x; w < (int)(sizeof parts / sizeof(int)); w += THREADS) {
        ((int *)&parts)[w] = ((const int *)&f.parts)[w];
    }
    __syncthreads();
    const int64_t clump = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (clump >= f.n) {
        return;
    }
    seeker<real> me;
    me.f = &f;
    me.parts = &parts;
    me.x = (const real *)f.x;
    me.y = (const real *)f.y;
    me.z = (const real *)f.z;
    me.cutoff2 = def::square((real)f.question.cutoff);
    me.clump = clump;
    me.begin = f.first[clump];
    me.end = f.first[clump + 1];
    me.root = f.by_clump ? root_of(f.parent, (int32_t)clump) : -1;
    kith__part_of(f.axis, f.key[clump], me.part);
    const int64_t cell = (int64_t)(f.key[clump] >> f.parts.bits);
    const int64_t row = row_of_cell(cell, f.axis[0].n, &me.at[0]);
    me.at[2] = row_of_cell(row, f.axis[1].n, &me.at[1]);
    switch (pass) {
    case BESIDE: meet_beside(me, cell); break;
    case INSIDE: meet_own(me, cell); break;
    case ACROSS: meet_around(me); break;
    }
}

/** Compare the clumps that were left: a block for each two. */
template <typename real> static __global__ void link_later(const struct kith__gpu_friends f)
{
    typedef definition<real> def;
    __shared__ bool apart_still;
    const unsigned long long all = f.small->n_later;
    const unsigned long long n = all < f.room_later ? all : f.room_later;
    seeker<real> me;
    me.f = &f;
    me.x = (const real *)f.x;
    me.y = (const real *)f.y;
    me.z = (const real *)f.z;
    me.cutoff2 = def::square((real)f.question.cutoff);
    for (unsigned long long k = blockIdx.x; k < n; k += gridDim.x) {
        const struct kith__gpu_later later = f.later[k];
        if (threadIdx.x == 0) {
            apart_still = root_of(f.parent, later.a) != root_of(f.parent, later.b);
        }
        __syncthreads();
        const int64_t end = f.first[later.a + 1];
        bool found = false;
        for (int64_t i = f.first[later.a]; i < end && apart_still && !found; i++) {
            bool hit = false;
            for (int64_t j = f.first[later.b] + threadIdx.x; j < f.first[later.b + 1] && !hit;
                 j += THREADS) {
                hit = apart(me, i, j, later.shift) <= me.cutoff2;
            }
            found = __syncthreads_or(hit) != 0;
        }
        if (threadIdx.x == 0 && found) {
            unite(f.parent, later.a, later.b);
        }
        __syncthreads();
    }
}

template <typename real>
static gpuError_t link_all(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = (f->n + THREADS - 1) / THREADS;
    const int64_t later_blocks = 1024;
    if (f->by_clump) {
        KITH_LAUNCH(link_clumps<real>, blocks, THREADS, stream, *f, BESIDE);
    }
    KITH_LAUNCH(link_clumps<real>, blocks, THREADS, stream, *f, INSIDE);
    KITH_LAUNCH(link_clumps<real>, blocks, THREADS, stream, *f, ACROSS);
    if (f->by_clump) {
        KITH_LAUNCH(link_later<real>, later_blocks, THREADS, stream, *f);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_link(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    return f->question.precision == KITH_FLOAT ? link_all<float>(f, stream)
                                               : link_all<double>(f, stream);
}
