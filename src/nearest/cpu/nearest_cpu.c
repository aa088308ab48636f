/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours on CPU cores. The particles are put into a k-d tree; the neighbours of all
 * particles of a leaf are searched together, and the leaves are shared by the threads.
 */
#include "nearest/nearest.h"

#include "engine/bounds.h"
#include "engine/cpu/cpu_state.h"
#include "search.h"

/** Numbers of the buffers of the context's scratch memory. */
enum {
    TREE_A = KITH_WORK_OF(nearest),
    TREE_B = TREE_A + KITH_TREE_BUFFERS,
    LISTS = TREE_B + KITH_TREE_BUFFERS
};

enum { LEAVES_AT_ONCE = 4 }; /* leaves that a thread claims at a time */

/** Find the neighbours of the particles of some leaves. */
static void search_leaves(void *state, int64_t piece, int worker)
{
    struct kith__nearest_search *search = state;
    static kith__leaf_fn *const search_leaf[] = {KITH_EACH_ISA(search_leaf)};
    void *lists = search->lists + (size_t)worker * search->list_bytes;
    if (worker == 0) {
        (void)kith__report(search->ctx, piece, search->groups);
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

/** Return the largest difference between coordinates of the particles of both trees, summed over
 *  the axes. */
static double extent_of(const struct kith__nearest_search *s)
{
    const kith_precision precision = s->question->precision;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double lo = fmin(kith__real_at(s->a.box, k, precision),
                               kith__real_at(s->b.box, k, precision));
        const double hi = fmax(kith__real_at(s->a.box, 3 + k, precision),
                               kith__real_at(s->b.box, 3 + k, precision));
        sum += hi - lo;
    }
    return sum;
}

static kith_status find(kith_ctx *ctx, const struct kith__question *q, const kith_nearest *out)
{
    struct kith__nearest_search search = {.ctx = ctx, .question = q, .out = out};
    struct kith__bounds bounds;
    bool inside;
    KITH_TRY(kith__bounds_find(ctx, q, &bounds, &inside));
    for (int k = 0; k < 3; k++) {
        search.lo[k] = bounds.lo[k];
        search.hi[k] = bounds.hi[k];
    }
    KITH_TRY(kith__tree_build(ctx, q, &q->a, TREE_A, &search.a));
    search.b = search.a;
    KITH_TRY(q->cross ? kith__tree_build(ctx, q, &q->b, TREE_B, &search.b) : KITH_OK);
    const int threads = kith__threads_for(ctx, q->a.n);
    search.list_bytes = KITH_LEAF * (size_t)out->k * sizeof(struct kith__neighbour);
    search.lists = kith__work_need(&ctx->work, LISTS, (size_t)threads * search.list_bytes);
    KITH_CHECK(ctx, search.lists != NULL, KITH_NO_MEMORY,
               "out of memory for lists of %lld neighbours", (long long)out->k);
    if (q->a.n > 0 && q->b.n > 0) {
        const double epsilon = q->precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
        search.tolerance = 16 * epsilon * (extent_of(&search) + q->period_sum);
    }
    search.groups = (search.a.leaves + LEAVES_AT_ONCE - 1) / LEAVES_AT_ONCE;
    kith__pool_run(ctx->pool, threads, search.groups, search_leaves, &search);
    KITH_CHECK(ctx, atomic_load(&search.status) == KITH_OK, KITH_LIMIT,
               "k is %lld: neighbours would be more than %d boxes away", (long long)out->k,
               KITH_MAX_IMAGES);
    return kith__proceed(ctx);
}

const struct kith__nearest_backend kith__cpu_nearest = {.find = find};
