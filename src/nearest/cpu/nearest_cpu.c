/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours on CPU cores. The particles are put into a k-d tree; the neighbours of all
 * particles of a leaf are searched together, and the leaves are shared by the threads.
 */
#include "nearest/nearest.h"

#include <pthread.h>
#include <string.h>

#include "engine/bounds.h"
#include "engine/cpu/cpu_state.h"
#include "search.h"

/** Numbers of the buffers of the context's scratch memory. */
enum {
    TREE_A = KITH_WORK_OF(nearest),
    TREE_B = TREE_A + KITH_TREE_BUFFERS,
    LISTS = TREE_B + KITH_TREE_BUFFERS
};

enum { LEAVES_AT_ONCE = 4 }; /* leaves of a piece of the loop, which one thread searches */

/** kith__piece_fn: find the neighbours of the particles of LEAVES_AT_ONCE leaves. */
static void search_leaves(void *state, int64_t piece, int worker)
{
    struct kith__nearest_search *search = state;
    static kith__leaf_fn *const search_leaf[] = {KITH_EACH_ISA(search_leaf)};
    void *lists = search->lists + (size_t)worker * search->list_bytes;
    if (worker == 0) { /* the thread that made the call: it alone may call the watch callback */
        (void)kith__report(search->ctx, piece, search->pieces);
    }
    const int64_t first = piece * LEAVES_AT_ONCE;
    for (int64_t leaf = first; leaf < first + LEAVES_AT_ONCE && leaf < search->a.leaves; leaf++) {
        if (kith__cancelled(search->ctx) || atomic_load(&search->status) != KITH_OK) {
            return;
        }
        const kith_status status = search_leaf[kith__isa(search->ctx)](search, leaf, lists);
        if (status != KITH_OK) {
            atomic_store(&search->status, status);
        }
    }
}

/** Compute the bounds of the coordinates of the particles of both trees, from the boxes of their
 *  roots, node 0. Both sets have particles.
 *  @param[out] low   lower bounds [length]
 *  @param[out] size  differences between the upper and the lower bounds [length] */
static void find_extent(const struct kith__nearest_search *s, double low[3], double size[3])
{
    const kith_precision precision = s->question->precision;
    for (int k = 0; k < 3; k++) {
        low[k] = fmin(kith__real_at(s->a.box, k, precision), kith__real_at(s->b.box, k, precision));
        size[k] = fmax(kith__real_at(s->a.box, 3 + k, precision),
                       kith__real_at(s->b.box, 3 + k, precision)) -
                  low[k];
    }
}

void kith__range_along(kith_precision precision, const struct kith__tree *tree, int64_t leaf,
                       const double normal[3], double *lo, double *hi)
{
    const int64_t first = leaf * KITH_LEAF;
    for (int64_t s = first; s < first + KITH_LEAF && s < tree->n; s++) {
        double along = 0;
        for (int m = 0; m < 3; m++) {
            along += normal[m] * kith__real_at(tree->xyz[m], s, precision);
        }
        *lo = along < *lo ? along : *lo;
        *hi = along > *hi ? along : *hi;
    }
}

/** State of the loop that finds the bounds of all candidates. */
struct range_loop {
    struct kith__nearest_search *search; /**< receives the bounds */
    pthread_mutex_t lock;                /**< guards the bounds */
};

/** kith__range_fn: extend the bounds of all candidates, s->lo and s->hi, by the particles of leaves
 *  [begin, end). */
static void extend_ranges(void *state, int64_t begin, int64_t end)
{
    struct range_loop *loop = state;
    struct kith__nearest_search *s = loop->search;
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t leaf = begin; leaf < end && s->question->box_d.periodic[k]; leaf++) {
            kith__range_along(s->question->precision, &s->b, leaf, s->planes.normal[k], &lo, &hi);
        }
        pthread_mutex_lock(&loop->lock);
        s->lo[k] = fmin(s->lo[k], lo);
        s->hi[k] = fmax(s->hi[k], hi);
        pthread_mutex_unlock(&loop->lock);
    }
}

/** Set planes, lo, hi and tolerance of a search, from which search_images (nearest_real.h) finds
 *  the least distance of an image. Both sets have particles.
 *  @return KITH_OK, KITH_CANCELLED */
static kith_status measure_images(struct kith__nearest_search *s)
{
    const struct kith__question *q = s->question;
    kith__find_image_planes(q, &s->planes);
    for (int k = 0; k < 3; k++) {
        s->lo[k] = INFINITY;
        s->hi[k] = -INFINITY;
    }
    struct range_loop loop = {s, PTHREAD_MUTEX_INITIALIZER};
    kith__loop(s->ctx, s->b.leaves, extend_ranges, &loop);
    double low[3], size[3];
    find_extent(s, low, size);
    for (int k = 0; k < 3; k++) {
        s->tolerance[k] = q->box_d.periodic[k] ? kith__image_tolerance(q, &s->planes, k, low, size)
                                               : 0;
    }
    return kith__proceed(s->ctx);
}

/** kith__nearest_backend.find */
static kith_status find(kith_ctx *ctx, const struct kith__question *q,
                        const struct kith__rules *rules, const kith_nearest *out)
{
    struct kith__nearest_search search = {.ctx = ctx, .question = q, .rules = rules, .out = out};
    KITH_TRY(kith__bounds_check(ctx, q));
    KITH_TRY(kith__tree_build(ctx, q, &q->a, TREE_A, &search.a));
    search.b = search.a;
    KITH_TRY(q->cross ? kith__tree_build(ctx, q, &q->b, TREE_B, &search.b) : KITH_OK);
    KITH_TRY(rules ? kith__tree_radii(ctx, q->precision, rules->radii[1], TREE_B, &search.b)
                   : KITH_OK);
    const int threads = kith__threads_for(ctx, q->a.n);
    search.list_bytes = KITH_LEAF * (size_t)out->k * sizeof(struct kith__neighbour);
    search.lists = kith__work_need(&ctx->work, LISTS, (size_t)threads * search.list_bytes);
    KITH_CHECK(ctx, search.lists != NULL, KITH_NO_MEMORY,
               "out of memory for lists of %lld neighbours", (long long)out->k);
    if (q->a.n > 0 && q->b.n > 0) {
        KITH_TRY(measure_images(&search));
    }
    search.pieces = (search.a.leaves + LEAVES_AT_ONCE - 1) / LEAVES_AT_ONCE;
    kith__pool_run(ctx->pool, threads, search.pieces, search_leaves, &search);
    if (atomic_load(&search.status) != KITH_OK) {
        return kith__nearest_too_far(ctx, out->k);
    }
    return kith__proceed(ctx);
}

const struct kith__nearest_backend kith__cpu_nearest = {.find = find};
