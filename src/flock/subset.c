/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Subset reads of a flock: the public functions of kith/glance.h, and the copy of a subset where
 * the state is on the host.
 */
#include <kith/glance.h>
#include <string.h>

#include "flock.h"

/** Number the particles of a subset.
 *  @param index      [n] their indices in the caller's order
 *  @param[out] rank  [flock->n] number of each particle in the subset, from 0; -1: not in it
 *  @return true when done; false when an index is out of range, or twice in the list */
static bool rank_all(const struct kith_flock *flock, const int32_t *index, int64_t n, int32_t *rank)
{
    memset(rank, 0xff, (size_t)flock->n * sizeof *rank); /* -1 */
    for (int64_t k = 0; k < n; k++) {
        if (index[k] < 0 || index[k] >= flock->n || rank[index[k]] >= 0) {
            return false;
        }
        rank[index[k]] = (int32_t)k;
    }
    return true;
}

/** kith_glance_choose, within a call of the context. On failure the subset before stays. */
static kith_status choose(kith_flock *flock, const int32_t *index, int64_t n)
{
    kith_ctx *ctx = flock->ctx;
    struct kith__subset *g = &flock->subset;
    KITH_CHECK(ctx, n >= 0 && n <= flock->n && (index || n == 0), KITH_INVALID,
               "index is NULL, or n is %lld; the flock has %lld", (long long)n,
               (long long)flock->n);
    struct kith__buffer rank = {NULL, 0}; /* of n + 1 elements, so never of 0 bytes */
    KITH_CHECK(ctx, kith__buffer_need(&rank, (size_t)(flock->n + 1) * sizeof(int32_t)) != NULL,
               KITH_NO_MEMORY, "out of memory for a choice among %lld", (long long)flock->n);
    if (!rank_all(flock, index, n, rank.data)) {
        kith__buffer_free(&rank);
        return kith__fail(ctx, KITH_INVALID,
                          "index: a particle is chosen twice, or is not of the flock");
    }
    kith__buffer_free(&g->rank);
    g->rank = rank;
    g->n = n;
    g->choice++;
    g->taken = false;
    return KITH_OK;
}

kith_status kith_glance_choose(kith_flock *flock, const int32_t *index, int64_t n)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, choose(flock, index, n));
    return status;
}

/** State of the loop that copies the subset from the host's state. */
struct take_loop {
    const struct kith_flock *flock; /**< the flock */
    const int32_t *rank;            /**< [n] number of each particle in the subset; -1: none */
    void *r, *v;                    /**< [subset][3] copies */
};

/** kith__range_fn: copy those of entries [begin, end) of the state that are in the subset. */
static void take_range(void *state, int64_t begin, int64_t end)
{
    const struct take_loop *loop = state;
    const struct kith__flock_state *now = &loop->flock->now;
    const kith_precision precision = loop->flock->question.precision;
    for (int64_t s = begin; s < end; s++) {
        const int64_t at = loop->rank[now->id[s]];
        for (int k = 0; k < 3 && at >= 0; k++) {
            const double r = kith__real_at(now->r[k], s, precision);
            kith__set_real(loop->r, 3 * at + k, precision, r);
            kith__set_real(loop->v, 3 * at + k, precision, kith__real_at(now->v[k], s, precision));
        }
    }
}

/** Copy the subset from the state on the host, and set subset.r and v. */
static kith_status take_on_host(struct kith_flock *flock)
{
    struct kith__subset *g = &flock->subset;
    const size_t bytes = 3 * (size_t)g->n * (size_t)flock->question.precision;
    void *to = kith__buffer_need(&g->copy, 2 * bytes + 1); /* never 0 bytes */
    KITH_CHECK(flock->ctx, to != NULL, KITH_NO_MEMORY, "out of memory for a subset of %lld",
               (long long)g->n);
    struct take_loop loop = {flock, g->rank.data, to, (char *)to + bytes};
    kith__loop(flock->ctx, flock->n, take_range, &loop);
    KITH_TRY(kith__proceed(flock->ctx));
    g->r = loop.r;
    g->v = loop.v;
    return KITH_OK;
}

/** kith_glance_take, within a call of the context. */
static kith_status take(kith_flock *flock)
{
    kith_ctx *ctx = flock->ctx;
    struct kith__subset *g = &flock->subset;
    KITH_CHECK(ctx, g->choice > 0, KITH_INVALID, "no subset was chosen: call kith_glance_choose");
    g->taken = false;
    /* the backend's operation takes no empty subset; on the host nothing is copied then */
    const bool by_backend = ctx->backend->flock->subset && g->n > 0;
    const kith_status status = by_backend
                                   ? kith__end_call(ctx, ctx->backend->flock->subset(ctx, flock))
                                   : take_on_host(flock);
    g->taken = status == KITH_OK;
    return status;
}

kith_status kith_glance_take(kith_flock *flock)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, take(flock));
    return status;
}

/** kith_glance_see, within a call of the context. */
static kith_status see(kith_flock *flock, const void **positions, const void **velocities)
{
    kith_ctx *ctx = flock->ctx;
    const struct kith__subset *g = &flock->subset;
    KITH_CHECK(ctx, g->taken, KITH_INVALID, "nothing was taken: call kith_glance_take");
    if (ctx->backend->flock->wait_subset && g->n > 0) {
        KITH_TRY(kith__end_call(ctx, ctx->backend->flock->wait_subset(ctx, flock)));
    }
    if (positions) {
        *positions = g->r;
    }
    if (velocities) {
        *velocities = g->v;
    }
    return KITH_OK;
}

kith_status kith_glance_see(kith_flock *flock, const void **positions, const void **velocities)
{
    kith_status status;
    if (positions) {
        *positions = NULL;
    }
    if (velocities) {
        *velocities = NULL;
    }
    KITH_FLOCK_CALL(flock, &status, see(flock, positions, velocities));
    return status;
}
