/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbering: measure each tree, sort those that are large enough by size and smallest id, label.
 */

#include "../groups.h"
#include "friends.h"
#include "sort.h"
#include "state.h"

struct numbering {
    struct kith__friends *f;
    int64_t nodes;
    int64_t min_members;
    _Atomic int32_t *size;     /**< [nodes] particles of the tree, at its root, else 0; in the end
                                    the label of a group, below 0 */
    _Atomic int32_t *leader;   /**< [nodes] at the root of a group its smallest index, or where
                                    there are ids its provisional number */
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

static int32_t size_at(const struct numbering *w, int64_t node)
{
    return atomic_load_explicit(&w->size[node], memory_order_relaxed);
}

/** Point every node at its root, and add up sizes there. A thread first does the roots among its
 *  own nodes, which the others then leave alone; after that those of other threads. */
static void measure(struct numbering *w)
{
    _Atomic int32_t *parent = w->f->parent;
#pragma omp parallel num_threads(w->threads)
    {
        const struct kith__share own = kith__my_share(w->nodes);
        int64_t first, last;
        for (int64_t node = own.begin; node < own.end; node++) { /* roots come first */
            const int32_t root = kith__flatten(parent, (int32_t)node);
            particles_of(w->f, node, &first, &last);
            atomic_store_explicit(&w->size[node], 0, memory_order_relaxed);
            if (root >= own.begin) {
                const int32_t sum = size_at(w, root) + (int32_t)(last - first);
                atomic_store_explicit(&w->size[root], sum, memory_order_relaxed);
            }
        }
#pragma omp barrier
        for (int64_t node = own.begin; node < own.end && own.me > 0; node++) {
            const int32_t root = atomic_load_explicit(&parent[node], memory_order_relaxed);
            if (root < own.begin) {
                particles_of(w->f, node, &first, &last);
                atomic_fetch_add_explicit(&w->size[root], (int32_t)(last - first),
                                          memory_order_relaxed);
            }
        }
    }
}

/** List the roots of trees that are large enough. */
static kith_status list_groups(kith_ctx *ctx, struct numbering *w)
{
    int64_t n = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : n)
    for (int64_t node = 0; node < w->nodes; node++) {
        n += size_at(w, node) >= w->min_members;
    }
    w->n = n;
    w->group = kith__work_need(&ctx->work, KITH_FOF_GROUPS, (size_t)n * sizeof *w->group);
    w->spare = kith__work_need(&ctx->work, KITH_FOF_GROUPS_SPARE, (size_t)n * sizeof *w->spare);
    KITH_CHECK(ctx, w->group && w->spare, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    int64_t g = 0;
    for (int64_t node = 0; node < w->nodes && g < n; node++) {
        if (size_at(w, node) >= w->min_members) {
            w->group[g++] = (uint64_t)node;
        }
    }
    return KITH_OK;
}

/** Find the smallest index of every group or, where there are ids, the smallest of them. */
static void find_least(struct numbering *w, const int64_t *ids)
{
    const struct kith__friends *f = w->f;
    const int32_t *index = f->grid->a.id;
    for (int64_t g = 0; g < w->n; g++) {
        atomic_init(&w->leader[w->group[g]], ids ? (int32_t)g : INT32_MAX);
        if (ids) {
            atomic_init(&w->least_id[g], INT64_MAX);
        }
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t node = 0; node < w->nodes; node++) {
        const int32_t root = atomic_load_explicit(&f->parent[node], memory_order_relaxed);
        if (size_at(w, root) < w->min_members) {
            continue;
        }
        int64_t begin, end;
        particles_of(f, node, &begin, &end);
        if (!ids) {
            lower32(&w->leader[root], index[begin]); /* they ascend in a clump */
            continue;
        }
        int64_t smallest = INT64_MAX;
        for (int64_t s = begin; s < end; s++) {
            const int64_t mine = ids[index[s]];
            smallest = mine < smallest ? mine : smallest;
        }
        lower64(&w->least_id[w->leader[root]], smallest);
    }
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
            key = (uint64_t)(INT32_MAX - size_at(w, (int64_t)root));
        }
        w->group[g] = key << 32 | root;
    }
    uint64_t *sorted = kith__sort(w->group, w->spare, w->n, 32, 64,
                                  ctx->work.slot[KITH_GRID_BINS].data,
                                  kith__threads_for(ctx, w->n));
    w->spare = sorted == w->group ? w->spare : w->group;
    w->group = sorted;
}

/** Label the particles of groups with their number, the others with 0. */
static void label(struct numbering *w, int32_t *labels)
{
    const struct kith__friends *f = w->f;
    const struct kith__sorted *a = &f->grid->a;
    int32_t *id = a->x;
#pragma omp parallel num_threads(w->threads)
    {
#pragma omp for schedule(static)
        for (int64_t p = 0; p < a->n; p++) {
            id[p] = a->id[p];
            labels[p] = 0;
        }
#pragma omp for schedule(static)
        for (int64_t node = 0; node < w->nodes; node++) {
            const int32_t root = atomic_load_explicit(&f->parent[node], memory_order_relaxed);
            const int32_t mine = size_at(w, root);
            int64_t begin, end;
            particles_of(f, node, &begin, &end);
            for (int64_t s = begin; s < end && mine < 0; s += 4) {
                for (int64_t k = s; k < s + 4; k++) { /* most end here: one branch, not one each */
                    labels[id[k < end ? k : end - 1]] = -mine;
                }
            }
        }
    }
}

kith_status kith__number(kith_ctx *ctx, struct kith__friends *f, const struct kith__fof *fof,
                         kith_groups *out)
{
    struct numbering w = {.f = f, .nodes = f->by_clump ? f->n : f->grid->a.n};
    w.min_members = fof->min_members;
    w.size = f->grid->a.y;
    w.leader = f->grid->a.z;
    w.threads = kith__threads_for(ctx, f->grid->a.n);
    measure(&w);
    KITH_TRY(list_groups(ctx, &w));
    if (fof->ids) {
        w.least_id = kith__work_need(&ctx->work, KITH_FOF_IDS, (size_t)w.n * sizeof *w.least_id);
        KITH_CHECK(ctx, w.least_id != NULL, KITH_NO_MEMORY,
                   "out of memory for the ids of %lld groups", (long long)w.n);
    }
    find_least(&w, fof->ids);
    if (fof->ids) {
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
        w.size[root] = (int32_t)(-g - 1);
    }
    label(&w, out->labels);
    return KITH_OK;
}
