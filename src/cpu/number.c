/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbering: measure each tree, sort those that are large enough by size and smallest id, label.
 */
#include <omp.h>

#include "../groups.h"
#include "sort.h"
#include "state.h"

struct numbering {
    struct kith__friends *f;
    int64_t nodes;
    _Atomic int32_t *size;     /**< [nodes] particles of the tree, at its root; then its label */
    _Atomic int32_t *leader;   /**< [nodes] its smallest index, at its root */
    int64_t n;                 /**< groups */
    uint64_t *group, *spare;   /**< [n] root, below what they are sorted by */
    _Atomic int64_t *least_id; /**< [n] smallest id, by provisional number */
    int threads;
};

/** Particles of node c in cell order. */
static void particles_of(const struct kith__friends *f, int64_t node, int64_t *begin, int64_t *end)
{
    *begin = f->by_clump ? f->first[node] : node;
    *end = f->by_clump ? f->first[node + 1] : node + 1;
}

static void lower32(_Atomic int32_t *to, int32_t value)
{
    int32_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (value < now && !atomic_compare_exchange_weak_explicit(
                              to, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

static void lower64(_Atomic int64_t *to, int64_t value)
{
    int64_t now = atomic_load_explicit(to, memory_order_relaxed);
    while (value < now && !atomic_compare_exchange_weak_explicit(
                              to, &now, value, memory_order_relaxed, memory_order_relaxed)) {}
}

/** Add a node's particles to its root. Shared: others may do so at the same time. */
static void add_node(struct numbering *w, int64_t node, int32_t root, bool shared)
{
    int64_t begin, end;
    particles_of(w->f, node, &begin, &end);
    const int32_t n = (int32_t)(end - begin);
    const int32_t leader = w->f->grid->a.id[begin]; /* ids ascend in a clump */
    if (shared) {
        atomic_fetch_add_explicit(&w->size[root], n, memory_order_relaxed);
        lower32(&w->leader[root], leader);
        return;
    }
    const int32_t size = atomic_load_explicit(&w->size[root], memory_order_relaxed);
    const int32_t before = atomic_load_explicit(&w->leader[root], memory_order_relaxed);
    atomic_store_explicit(&w->size[root], size + n, memory_order_relaxed);
    if (leader < before) {
        atomic_store_explicit(&w->leader[root], leader, memory_order_relaxed);
    }
}

/** Point every node at its root, and add up sizes and leaders there. A thread first does the roots
 *  among its own nodes, which the others then leave alone; after that those of other threads. */
static void measure(struct numbering *w)
{
    _Atomic int32_t *parent = w->f->parent;
#pragma omp parallel num_threads(w->threads)
    {
        const int64_t team = omp_get_num_threads();
        const int64_t me = omp_get_thread_num();
        const int64_t begin = w->nodes * me / team;
        const int64_t end = w->nodes * (me + 1) / team;
        for (int64_t node = begin; node < end; node++) {
            atomic_init(&w->size[node], 0);
            atomic_init(&w->leader[node], INT32_MAX);
        }
        for (int64_t node = begin; node < end; node++) {
            const int32_t root = kith__flatten(parent, (int32_t)node);
            if (root >= begin) {
                add_node(w, node, root, false);
            }
        }
#pragma omp barrier
        for (int64_t node = begin; node < end && me > 0; node++) {
            const int32_t root = atomic_load_explicit(&parent[node], memory_order_relaxed);
            if (root < begin) {
                add_node(w, node, root, true);
            }
        }
    }
}

/** List the roots of trees that are large enough; smaller ones get size 0. */
static kith_status list_groups(kith_ctx *ctx, struct numbering *w, int64_t min_members)
{
    int64_t n = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : n)
    for (int64_t node = 0; node < w->nodes; node++) {
        const bool kept = w->size[node] >= min_members;
        w->size[node] = kept ? w->size[node] : 0;
        n += kept;
    }
    w->n = n;
    w->group = kith__work_need(&ctx->work, KITH_FOF_GROUPS, (size_t)n * sizeof *w->group);
    w->spare = kith__work_need(&ctx->work, KITH_FOF_GROUPS_SPARE, (size_t)n * sizeof *w->spare);
    KITH_CHECK(ctx, w->group && w->spare, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    int64_t g = 0;
    for (int64_t node = 0; node < w->nodes; node++) {
        if (w->size[node] > 0) {
            w->group[g++] = (uint64_t)node;
        }
    }
    return KITH_OK;
}

/** Smallest id of every group, numbered as listed. */
static kith_status find_least_ids(kith_ctx *ctx, struct numbering *w, const int64_t *ids)
{
    const struct kith__friends *f = w->f;
    w->least_id = kith__work_need(&ctx->work, KITH_FOF_IDS, (size_t)w->n * sizeof *w->least_id);
    KITH_CHECK(ctx, w->least_id != NULL, KITH_NO_MEMORY, "out of memory for the ids of %lld groups",
               (long long)w->n);
    for (int64_t g = 0; g < w->n; g++) {
        atomic_init(&w->least_id[g], INT64_MAX);
        w->leader[w->group[g]] = (int32_t)g;
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t node = 0; node < w->nodes; node++) {
        const int32_t root = f->parent[node];
        if (w->size[root] > 0) {
            int64_t begin, end;
            particles_of(f, node, &begin, &end);
            int64_t smallest = INT64_MAX;
            for (int64_t s = begin; s < end; s++) {
                const int64_t mine = ids[f->grid->a.id[s]];
                smallest = mine < smallest ? mine : smallest;
            }
            lower64(&w->least_id[w->leader[root]], smallest);
        }
    }
    return KITH_OK;
}

/** What groups are sorted by, least significant first. */
enum sort_key { LEADER, ID_LOW, ID_HIGH, SIZE };

/** Sort the groups, stable: what decides goes above the root. */
static void sort_by(kith_ctx *ctx, struct numbering *w, enum sort_key what)
{
#pragma omp parallel for num_threads(kith__threads_for(ctx, w->n)) schedule(static)
    for (int64_t g = 0; g < w->n; g++) {
        const uint64_t root = w->group[g] & UINT32_MAX;
        const int32_t leader = w->leader[root];
        uint64_t key = (uint64_t)leader;
        if (what == ID_LOW || what == ID_HIGH) {
            const uint64_t id = (uint64_t)w->least_id[leader] ^ (uint64_t)1 << 63;
            key = what == ID_LOW ? id & UINT32_MAX : id >> 32;
        } else if (what == SIZE) {
            key = (uint64_t)(INT32_MAX - w->size[root]);
        }
        w->group[g] = key << 32 | root;
    }
    uint64_t *sorted = kith__sort(w->group, w->spare, w->n, 32, 64,
                                  ctx->work.slot[KITH_GRID_BINS].data,
                                  kith__threads_for(ctx, w->n));
    w->spare = sorted == w->group ? w->spare : w->group;
    w->group = sorted;
}

static void label(struct numbering *w, int32_t *labels)
{
    const struct kith__friends *f = w->f;
    const int32_t *id = f->grid->a.id;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t node = 0; node < w->nodes; node++) {
        const int32_t mine = atomic_load_explicit(&w->size[f->parent[node]], memory_order_relaxed);
        int64_t begin, end;
        particles_of(f, node, &begin, &end);
        for (int64_t s = begin; s < end; s++) {
            labels[id[s]] = mine;
        }
    }
}

kith_status kith__number(kith_ctx *ctx, struct kith__friends *f, const struct kith__fof *fof,
                         kith_groups *out)
{
    struct numbering w = {.f = f, .nodes = f->by_clump ? f->n : f->grid->a.n};
    w.size = f->idle;
    w.leader = w.size + w.nodes;
    w.threads = kith__threads_for(ctx, f->grid->a.n);
    measure(&w);
    KITH_TRY(list_groups(ctx, &w, fof->min_members));
    if (fof->ids) {
        KITH_TRY(find_least_ids(ctx, &w, fof->ids));
        sort_by(ctx, &w, ID_LOW);
        sort_by(ctx, &w, ID_HIGH);
    } else {
        sort_by(ctx, &w, LEADER);
    }
    sort_by(ctx, &w, SIZE);
    KITH_TRY(kith__groups_number(ctx, w.n, out));
    for (int64_t g = 0; g < w.n; g++) {
        const uint64_t root = w.group[g] & UINT32_MAX;
        out->members[g] = w.size[root];
        w.size[root] = (int32_t)(g + 1);
    }
    label(&w, out->labels);
    return KITH_OK;
}
