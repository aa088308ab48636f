/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread's part in linking: the forest that all threads change at once, and a clump that meets
 * others, in its own cell and in cells ahead.
 */
#ifndef KITH_SEEKER_CUH
#define KITH_SEEKER_CUH

#include "cells.cuh"
#include "fof.h"

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

/** Somebody who can measure, but is no clump yet. */
template <typename real>
static __device__ __forceinline__ void stand(const struct kith__gpu_friends &f, seeker<real> *me)
{
    me->f = &f;
    me->x = (const real *)f.x;
    me->y = (const real *)f.y;
    me->z = (const real *)f.z;
    me->cutoff2 = definition<real>::square((real)f.question.cutoff);
}

/** Take the place of a clump. */
template <typename real>
static __device__ __forceinline__ void sit(const struct kith__gpu_friends &f,
                                           const struct kith__parts &parts, int64_t clump,
                                           seeker<real> *me)
{
    stand(f, me);
    me->parts = &parts;
    me->clump = clump;
    me->begin = f.first[clump];
    me->end = f.first[clump + 1];
    me->root = f.by_clump ? root_of(f.parent, (int32_t)clump) : -1;
    kith__part_of(f.axis, f.key[clump], me->part);
}

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

/** Leave the comparison to a warp. @return false when there is no room for it. */
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
 *  warp. */
template <typename real>
static __device__ bool touches(const seeker<real> &me, int64_t b, const int32_t shift[3])
{
    const int64_t begin = me.f->first[b];
    const int64_t end = me.f->first[b + 1];
    if ((me.end - me.begin) * (end - begin) > KITH_GPU_MANY_PAIRS && leave(me, b, shift)) {
        return false;
    }
    for (int64_t i = me.begin; i < me.end; i++) {
        for (int64_t j = begin; j < end; j++) {
            if (apart(me, i, j, shift) <= me.cutoff2) {
                return true;
            }
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

/** Is clump b in reach of the seeker, whose cell is at number `cell` and which is at `part` as
 *  counted there? b may be in another cell of the row. */
template <typename real>
static __device__ __forceinline__ bool in_reach(const seeker<real> &me, int64_t b, int64_t cell,
                                                const int part[3])
{
    const struct kith__axis *axis = me.f->axis;
    const uint64_t key = me.f->key[b];
    int theirs[3];
    kith__part_of(axis, key, theirs);
    const int64_t cells = (int64_t)(key >> me.f->parts.bits) - cell;
    const int dx = abs((int)cells * axis[0].parts + theirs[0] - part[0]);
    const int dy = abs(theirs[1] - part[1]);
    const int dz = abs(theirs[2] - part[2]);
    return dy <= me.parts->reach[1] && dz <= me.parts->reach[2] &&
           dx <= me.parts->row_reach[dz][dy];
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
    const struct kith__gpu_set clumps = {f.n, NULL, NULL, NULL, NULL, (uint64_t *)f.key, 0, NULL};
    out->begin = first_of_cell(clumps, false, cell << f.parts.bits);
    out->end = first_of_cell(clumps, false, (cell + 1) << f.parts.bits);
}

/** Wrap a place along a periodic axis. @return false where there is no cell. */
static __device__ __forceinline__ bool wrap(const struct kith__axis &axis, int64_t *at,
                                            int32_t *shift)
{
    *shift = 0;
    while (axis.periodic && (*at < 0 || *at >= axis.n)) {
        const int step = *at < 0 ? -1 : 1;
        *at -= step * axis.n;
        *shift += step;
    }
    return *at >= 0 && *at < axis.n;
}

/** The cell `away` from the seeker's, at its image. @return false where none is. */
template <typename real>
static __device__ bool go(const seeker<real> &me, const int away[3], struct place *out)
{
    const struct kith__axis *axis = me.f->axis;
    int64_t to[3];
    for (int k = 0; k < 3; k++) {
        to[k] = me.at[k] + away[k];
        if (!wrap(axis[k], &to[k], &out->shift[k])) {
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
    const int seen[3] = {me.part[0] - away[0] * axis[0].parts, me.part[1] - away[1] * axis[1].parts,
                         me.part[2] - away[2] * axis[2].parts};
    if (place.end - place.begin >= KITH_CROWD) {
        meet_crowd(me, seen, place, false, me.parts->reach);
        return;
    }
    const int64_t cell = (int64_t)(me.f->key[place.begin] >> me.f->parts.bits);
    for (int64_t b = place.begin; b < place.end; b++) {
        if (in_reach(me, b, cell, seen)) {
            meet(me, b, place.shift);
        }
    }
}

/** Cells low to high of the row that is `away` from the seeker's, where they are next to each other
 *  in the table and so few clumps are in them that none is crowded. @return false elsewhere. */
template <typename real>
static __device__ __forceinline__ bool meet_row(seeker<real> &me, const int away[3], int low,
                                                int high)
{
    const struct kith__gpu_friends &f = *me.f;
    const struct kith__axis *axis = f.axis;
    int64_t to[3];
    int32_t shift[3] = {0, 0, 0};
    if (!f.table || me.at[0] + low < 0 || me.at[0] + high >= axis[0].n) {
        return false;
    }
    for (int k = 1; k < 3; k++) {
        to[k] = me.at[k] + away[k];
        if (!wrap(axis[k], &to[k], &shift[k])) {
            return true;
        }
    }
    const int64_t cell = (to[2] * axis[1].n + to[1]) * axis[0].n + me.at[0];
    const int64_t begin = f.start[cell + low];
    const int64_t end = f.start[cell + high + 1];
    if (end - begin >= KITH_CROWD) {
        return false;
    }
    const int seen[3] = {me.part[0], me.part[1] - away[1] * axis[1].parts,
                         me.part[2] - away[2] * axis[2].parts};
    for (int64_t b = begin; b < end; b++) {
        if (in_reach(me, b, cell, seen)) {
            meet(me, b, shift);
        }
    }
    return true;
}

/** Cells low to high of a row of cells in reach. */
template <typename real>
static __device__ void meet_cells(seeker<real> &me, int away[3], int low, int high)
{
    if (meet_row(me, away, low, high)) {
        return;
    }
    for (away[0] = low; away[0] <= high; away[0]++) {
        struct place place;
        if (go(me, away, &place)) {
            meet_place(me, away, place);
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
        if (in_reach(me, b, cell, me.part)) {
            meet(me, b, home.shift);
        }
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

#endif
