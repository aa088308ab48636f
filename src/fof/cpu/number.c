/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups from the forest: count the particles of each tree, list the trees that are large enough,
 * sort them by size, smallest id and smallest index (radix sort), and label their particles. O(n).
 * Indices are sorted only where ids leave ties, which distinct ids do not. Called by
 * fof_cpu.c as the last step. Nodes of the forest are clumps or particles (friends.h). Coordinates
 * are not needed any more, so their memory holds `size`, `leader` and a copy of the indices.
 */

#include <assert.h>

#include "core/atomics.h"
#include "fof/groups.h"
#include "friends.h"
#include "engine/cpu/sort.h"
#include "engine/cpu/cpu_state.h"

/** Sort keys of groups, of 32 bits each, least significant first: smallest particle index, or, with
 *  ids, lower and upper half of the smallest id; then the size. Groups are sorted by one key after
 *  the other; as the sort is stable, the last one counts most. */
enum sort_key { LEADER, ID_LOW, ID_HIGH, SIZE };

/** State of the numbering. */
struct numbering {
    struct kith__friends *f; /**< the linked forest */
    int64_t nodes;           /**< nodes of the forest */
    int64_t min_members;     /**< fewest particles of a group */
    /** [nodes] particles of the tree at its root, 0 elsewhere; once the groups are sorted, at the
     *  root of a group its negated label. */
    _Atomic int32_t *size;
    _Atomic int32_t *leader;   /**< [nodes] at the root of a group its smallest particle index, or,
                                    with ids, its number before sorting */
    int64_t n;                 /**< groups */
    uint64_t *group;           /**< [n] root in the lower 32 bits, sort key in the upper 32 bits */
    uint64_t *spare;           /**< [n] second buffer of the sort */
    _Atomic int64_t *least_id; /**< [n] smallest id of each group, by its number before sorting */
    const int64_t *ids;        /**< [particles] ids by the caller's index, or NULL */
    enum sort_key key;         /**< key of the next sort */
    int32_t *labels;           /**< [particles] labels by the caller's index */
    kith_ctx *ctx;             /**< context: threads, cancellation, scratch memory */
};

/** Find the range of slots of the particles of a node. */
static void particles_of(const struct kith__friends *f, int64_t node, int64_t *begin, int64_t *end)
{
    *begin = f->by_clump ? f->first[node] : node;
    *end = f->by_clump ? f->first[node + 1] : node + 1;
}

/** Return size[node], by a relaxed atomic load. */
static int32_t size_at(const struct numbering *w, int64_t node)
{
    return atomic_load_explicit(&w->size[node], memory_order_relaxed);
}

/** State of the loops that add up the sizes of trees, over ranges of nodes. */
struct size_loop {
    const struct numbering *numbering; /**< the numbering */
    int pieces;                        /**< number of ranges */
};

/** Return the root of a node whose parent is in the range of an earlier thread. That thread points
 *  its nodes at their roots meanwhile, for good: sum_across and all later steps take a parent for
 *  the root. So path halving is by compare-and-swap here, as the plain store of kith__root could
 *  overwrite a root that was stored after the parent was read.
 *  @param at  the parent */
static int32_t root_across(_Atomic int32_t *parent, int32_t at)
{
    int32_t up = atomic_load_explicit(&parent[at], memory_order_relaxed);
    while (up != at) {
        const int32_t above = atomic_load_explicit(&parent[up], memory_order_relaxed);
        if (above == up) {
            return up;
        }
        atomic_compare_exchange_weak_explicit(&parent[at], &up, above, memory_order_relaxed,
                                              memory_order_relaxed);
        at = above;
        up = atomic_load_explicit(&parent[at], memory_order_relaxed);
    }
    return at;
}

/** Point a node at its root.
 *  @param begin  first node of the thread's range: nodes [begin, node) point at their roots
 *  @return the root */
static int32_t point_at_root(_Atomic int32_t *parent, int32_t node, int64_t begin)
{
    const int32_t at = atomic_load_explicit(&parent[node], memory_order_relaxed);
    const int32_t root = at < begin ? root_across(parent, at)
                                    : atomic_load_explicit(&parent[at], memory_order_relaxed);
    if (at != root) {
        atomic_store_explicit(&parent[node], root, memory_order_relaxed);
    }
    return root;
}

/** Point every node of a range at its root, set `size` of the nodes to 0, and add the number of
 *  particles of each node to `size` of its root, if that is in the range. A root precedes all other
 *  nodes of its tree, so its size is set to 0 before the first addition. */
static void sum_inside(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct size_loop *loop = state;
    const struct numbering *w = loop->numbering;
    const int64_t begin = kith__piece_begin(w->nodes, loop->pieces, piece);
    const int64_t end = kith__piece_begin(w->nodes, loop->pieces, piece + 1);
    _Atomic int32_t *parent = w->f->parent;
    int64_t first, last, node = begin;
    for (int64_t stop; node < end && !kith__cancelled(w->ctx);) {
        for (stop = node + KITH_RANGE < end ? node + KITH_RANGE : end; node < stop; node++) {
            const int32_t root = point_at_root(parent, (int32_t)node, begin);
            particles_of(w->f, node, &first, &last);
            atomic_store_explicit(&w->size[node], 0, memory_order_relaxed);
            if (root >= begin) {
                const int32_t sum = size_at(w, root) + (int32_t)(last - first);
                atomic_store_explicit(&w->size[root], sum, memory_order_relaxed);
            }
        }
    }
}

/** For the nodes of a range whose root is in an earlier range: add their numbers of particles to
 *  `size` of the root. Piece p is range p + 1, as no range is before range 0. */
static void sum_across(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct size_loop *loop = state;
    const struct numbering *w = loop->numbering;
    const int64_t begin = kith__piece_begin(w->nodes, loop->pieces, piece + 1);
    const int64_t end = kith__piece_begin(w->nodes, loop->pieces, piece + 2);
    int64_t first, last, node = begin;
    for (int64_t stop; node < end && !kith__cancelled(w->ctx);) {
        for (stop = node + KITH_RANGE < end ? node + KITH_RANGE : end; node < stop; node++) {
            const int32_t root = atomic_load_explicit(&w->f->parent[node], memory_order_relaxed);
            if (root < begin) {
                particles_of(w->f, node, &first, &last);
                atomic_fetch_add_explicit(&w->size[root], (int32_t)(last - first),
                                          memory_order_relaxed);
            }
        }
    }
}

/** Point every node at its root, and set `size`: add up particles first inside each range of nodes,
 *  without atomic additions, then across ranges. */
static void measure(struct numbering *w)
{
    struct size_loop loop = {w, kith__threads_for(w->ctx, w->f->grid->a.n)};
    kith__pool_run(w->ctx->pool, w->ctx->threads, loop.pieces, sum_inside, &loop);
    kith__pool_run(w->ctx->pool, w->ctx->threads, loop.pieces - 1, sum_across, &loop);
}

/** Ranges of nodes for each thread in the loops that list groups: many, as cancellation is tested
 *  between them; fewer than KITH_SORT_BINS, as their counts are in the memory of a sort's bins. */
enum { LIST_RANGES = 64 };

/** Count the groups with roots in nodes [begin, end). Only a root has a size above 0. */
static int64_t count_groups(void *state, int64_t begin, int64_t end)
{
    const struct numbering *w = state;
    int64_t n = 0;
    for (int64_t node = begin; node < end; node++) {
        n += size_at(w, node) >= w->min_members;
    }
    return n;
}

/** Write the roots of groups from node `begin` on to entries [at, stop) of numbering.group, with a
 *  sort key of 0. */
static void write_roots(void *state, int64_t begin, int64_t at, int64_t stop)
{
    const struct numbering *w = state;
    for (int64_t node = begin; at < stop; node++) {
        if (size_at(w, node) >= w->min_members) {
            w->group[at++] = (uint64_t)node;
        }
    }
}

/** List the roots of the groups, ascending. */
static kith_status list_groups(kith_ctx *ctx, struct numbering *w)
{
    struct kith__listing list = {.n = w->nodes,
                                 .ranges = LIST_RANGES * kith__threads_for(ctx, w->nodes),
                                 .first = ctx->work.buffer[KITH_GRID_BINS].data,
                                 .state = w,
                                 .count = count_groups,
                                 .write = write_roots};
    KITH_TRY(kith__list_count(ctx, &list));
    const int64_t n = list.first[list.ranges];
    w->n = n;
    w->group = kith__work_need(&ctx->work, KITH_FOF_GROUPS, (size_t)n * sizeof *w->group);
    w->spare = kith__work_need(&ctx->work, KITH_FOF_GROUPS_SPARE, (size_t)n * sizeof *w->spare);
    KITH_CHECK(ctx, w->group && w->spare, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    kith__list_write(ctx, &list);
    return kith__proceed(ctx);
}

/** Lower the smallest index, or with ids the smallest id, of groups to that of the particles of
 *  nodes [begin_node, end_node), by atomic minima. */
static void lower_least(void *state, int64_t begin_node, int64_t end_node)
{
    const struct numbering *w = state;
    const struct kith__friends *f = w->f;
    const int32_t *index = f->grid->a.id; /* caller's index by slot */
    const int64_t *ids = w->ids;
    for (int64_t node = begin_node; node < end_node; node++) {
        const int32_t root = atomic_load_explicit(&f->parent[node], memory_order_relaxed);
        if (size_at(w, root) < w->min_members) {
            continue;
        }
        int64_t begin, end;
        particles_of(f, node, &begin, &end);
        if (!ids) {
            kith__atomic_min32(&w->leader[root], index[begin]); /* indices ascend in a clump */
            continue;
        }
        int64_t smallest = INT64_MAX;
        for (int64_t s = begin; s < end; s++) {
            const int64_t id = ids[index[s]];
            smallest = id < smallest ? id : smallest;
        }
        kith__atomic_min64(&w->least_id[w->leader[root]], smallest);
    }
}

/** Find the smallest index of each group or, with ids, the smallest id. */
static void find_least(struct numbering *w)
{
    for (int64_t g = 0; g < w->n; g++) {
        const uint64_t root = w->group[g] & UINT32_MAX;
        atomic_init(&w->leader[root], w->ids ? (int32_t)g : INT32_MAX);
        if (w->ids) {
            atomic_init(&w->least_id[g], INT64_MAX);
        }
    }
    kith__loop(w->ctx, w->nodes, lower_least, w);
}

/** Write the sort key of groups [begin, end) to the upper half of their entries. */
static void set_keys(void *state, int64_t begin, int64_t end)
{
    const struct numbering *w = state;
    for (int64_t g = begin; g < end; g++) {
        const uint64_t root = w->group[g] & UINT32_MAX;
        const int32_t leader = w->leader[root];
        uint64_t key = (uint64_t)leader;
        if (w->key == ID_LOW || w->key == ID_HIGH) {
            /* with the sign bit flipped, the order of unsigned numbers is that of signed ids */
            const uint64_t id = (uint64_t)w->least_id[leader] ^ (uint64_t)1 << 63;
            key = w->key == ID_LOW ? id & UINT32_MAX : id >> 32;
        } else if (w->key == SIZE) {
            key = (uint64_t)(INT32_MAX - size_at(w, (int64_t)root)); /* largest first */
        }
        w->group[g] = key << 32 | root;
    }
}

/** Sort the groups by one key; stable. */
static kith_status sort_by(struct numbering *w, enum sort_key key)
{
    w->key = key;
    kith__loop(w->ctx, w->n, set_keys, w);
    uint64_t *sorted = kith__sort(w->ctx, w->group, w->spare, w->n, 32, 64,
                                  w->ctx->work.buffer[KITH_GRID_BINS].data);
    w->spare = sorted == w->group ? w->spare : w->group;
    w->group = sorted;
    return kith__proceed(w->ctx);
}

/** Sort the groups by their smallest index. Leaves numbering.leader without group numbers. */
static kith_status sort_by_leader(struct numbering *w)
{
    const int64_t *ids = w->ids;
    w->ids = NULL;
    find_least(w);
    w->ids = ids;
    KITH_TRY(kith__proceed(w->ctx));
    return sort_by(w, LEADER);
}

/** Sort the groups by falling size, then by their smallest id; stable. */
static kith_status sort_by_id(struct numbering *w)
{
    find_least(w);
    KITH_TRY(kith__proceed(w->ctx));
    KITH_TRY(sort_by(w, ID_LOW));
    KITH_TRY(sort_by(w, ID_HIGH));
    return sort_by(w, SIZE);
}

/** Return true when two of the groups, which are sorted by size and id, are equal in both: ids are
 *  not distinct. */
static bool has_ties(const struct numbering *w)
{
    bool ties = false;
    for (int64_t g = 1; g < w->n && !ties; g++) {
        const int64_t a = (int64_t)(w->group[g - 1] & UINT32_MAX);
        const int64_t b = (int64_t)(w->group[g] & UINT32_MAX);
        ties = size_at(w, a) == size_at(w, b) &&
               w->least_id[w->leader[a]] == w->least_id[w->leader[b]];
    }
    return ties;
}

/** Sort the groups by falling size, then, with ids, by their smallest id, then by their smallest
 *  index. */
static kith_status sort_groups(struct numbering *w)
{
    if (!w->ids) {
        KITH_TRY(sort_by_leader(w));
        return sort_by(w, SIZE);
    }
    KITH_TRY(sort_by_id(w));
    if (!has_ties(w)) {
        return KITH_OK;
    }
    KITH_TRY(sort_by_leader(w));
    return sort_by_id(w);
}

/** Return the memory for a copy of the particle indices: that of the grid's x coordinates, which
 *  are not needed any more. Labels are written by index, and may overwrite the grid's indices. */
static int32_t *index_copy(const struct numbering *w)
{
    return w->f->grid->a.x;
}

/** Copy the particle indices of slots [begin, end), and clear as many labels. */
static void clear_labels(void *state, int64_t begin, int64_t end)
{
    const struct numbering *w = state;
    int32_t *index = index_copy(w);
    for (int64_t p = begin; p < end; p++) {
        index[p] = w->f->grid->a.id[p];
        w->labels[p] = 0;
    }
}

/** Label the particles of nodes [begin_node, end_node) that belong to a group. */
static void label_nodes(void *state, int64_t begin_node, int64_t end_node)
{
    const struct numbering *w = state;
    const int32_t *index = index_copy(w);
    const struct kith__friends *f = w->f;
    int32_t *labels = w->labels;
    for (int64_t node = begin_node; node < end_node; node++) {
        const int32_t root = atomic_load_explicit(&f->parent[node], memory_order_relaxed);
        const int32_t label = -size_at(w, root); /* of a group: > 0; else minus the tree's size */
        int64_t begin, end;
        particles_of(f, node, &begin, &end);
        /* four particles in each iteration, as most nodes have no more than four; beyond the end
         * the last particle is labelled again */
        for (int64_t s = begin; s < end && label > 0; s += 4) {
            for (int64_t k = s; k < s + 4; k++) {
                labels[index[k < end ? k : end - 1]] = label;
            }
        }
    }
}

kith_status kith__number(kith_ctx *ctx, struct kith__friends *f, const struct kith__fof *fof,
                         kith_groups *out)
{
    struct numbering w = {.ctx = ctx,
                          .f = f,
                          .nodes = f->by_clump ? f->n : f->grid->a.n,
                          .ids = fof->ids,
                          .labels = out->labels};
    w.min_members = fof->min_members;
    w.size = f->grid->a.y;
    w.leader = f->grid->a.z;
    measure(&w);
    KITH_TRY(kith__proceed(ctx));
    KITH_TRY(list_groups(ctx, &w));
    if (fof->ids) {
        w.least_id = kith__work_need(&ctx->work, KITH_FOF_IDS, (size_t)w.n * sizeof *w.least_id);
        KITH_CHECK(ctx, w.least_id != NULL, KITH_NO_MEMORY,
                   "out of memory for the ids of %lld groups", (long long)w.n);
    }
    if (!fof->any_order) {
        KITH_TRY(sort_groups(&w));
    }
    KITH_TRY(kith__groups_number(ctx, w.n, out));
    for (int64_t g = 0; g < w.n; g++) {
        const uint64_t root = w.group[g] & UINT32_MAX;
        assert(root < (uint64_t)w.nodes && w.size[root] >= w.min_members);
        out->members[g] = w.size[root];
        w.size[root] = (int32_t)(-g - 1);
    }
    kith__loop(ctx, f->grid->a.n, clear_labels, &w);
    kith__loop(ctx, w.nodes, label_nodes, &w);
    return kith__proceed(ctx);
}
