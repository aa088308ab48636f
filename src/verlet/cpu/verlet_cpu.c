/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists that are kept on CPU cores. An update reads and wraps the coordinates, finds the longest
 * displacement, and, where it is too long, searches the pairs within cutoff + skin, in rows, with
 * their shifts. Then it tests these candidates, counts the pairs of each row, and writes them at
 * the prefix sums of the counts. O(n + candidates), parallel; equal for any number of threads.
 */
#include "verlet_cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cpu/run.h"
#include "pairs/list.h"

/** State of the loop over particles. */
struct load_loop {
    const struct kith__verlet_plan *plan; /**< the update */
    void *now;                            /**< [3][n] receives the wrapped coordinates */
    int32_t *image;                       /**< [n][3] receives the boxes that were subtracted */
    const void *reference;                /**< [3][n] coordinates at the last rebuild */
    int32_t *turn;                        /**< [n] receives v, packed */
    pthread_mutex_t lock;                 /**< guards the members below */
    int64_t bad;                          /**< first particle that is not finite; else INT64_MAX */
    int64_t far;                          /**< first particle too far outside; else INT64_MAX */
    double displacement;                  /**< the longest */
    bool turned;                          /**< a v is not 0 */
};

#define KITH_PER_PRECISION "verlet/cpu/verlet_load_real.h"
#include "core/per_precision.h"

/** Read, wrap and test particles [begin, end), and find their displacements. */
static void load_range(void *state, int64_t begin, int64_t end)
{
    struct load_loop *loop = state;
    struct load_loop part = *loop;
    part.bad = part.far = INT64_MAX;
    part.displacement = 0;
    part.turned = false;
    if (loop->plan->now.precision == KITH_FLOAT) {
        load_particles_f(&part, begin, end);
    } else {
        load_particles_d(&part, begin, end);
    }
    pthread_mutex_lock(&loop->lock);
    loop->bad = part.bad < loop->bad ? part.bad : loop->bad;
    loop->far = part.far < loop->far ? part.far : loop->far;
    loop->displacement = fmax(loop->displacement, part.displacement);
    loop->turned = loop->turned || part.turned;
    pthread_mutex_unlock(&loop->lock);
}

/** Make the arrays of an update hold n particles. */
static kith_status need_particles(kith_ctx *ctx, struct kith__verlet_cpu *d,
                                  const struct kith__verlet_plan *plan)
{
    const size_t n = (size_t)plan->now.a.n;
    const size_t bytes = 3 * n * (size_t)plan->now.precision;
    const bool some = kith__buffer_need(&d->now, bytes + 1) &&
                      kith__buffer_need(&d->image, 3 * n * sizeof(int32_t) + 1) &&
                      kith__buffer_need(&d->turn, n * sizeof(int32_t) + 1) &&
                      kith__buffer_need(&d->counts, (n + 1) * sizeof(int64_t)) &&
                      kith__buffer_need(&d->plain, n + 1) &&
                      (plan->keep || kith__buffer_need(&d->reference, bytes + 1));
    KITH_CHECK(ctx, some, KITH_NO_MEMORY, "out of memory for a list of %lld particles",
               (long long)n);
    return KITH_OK;
}

/** Read the coordinates, and find the longest displacement where the plan is to keep pairs.
 *  @param[out] turned  a v is not 0 */
static kith_status load(kith_ctx *ctx, struct kith_verlet *v, struct kith__verlet_cpu *d,
                        const struct kith__verlet_plan *plan, bool *turned)
{
    const struct kith__question *q = &plan->now;
    struct load_loop loop = {.plan = plan,
                             .now = d->now.data,
                             .image = d->image.data,
                             .reference = d->reference.data,
                             .turn = d->turn.data,
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .bad = INT64_MAX,
                             .far = INT64_MAX};
    kith__loop(ctx, q->a.n, load_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    if (loop.bad != INT64_MAX || loop.far != INT64_MAX) {
        const bool bad = loop.bad != INT64_MAX;
        return kith__refuse(ctx, q, "points", bad ? KITH_NOT_FINITE : KITH_LIMIT,
                            bad ? loop.bad : loop.far);
    }
    v->displacement = loop.displacement;
    *turned = loop.turned;
    return KITH_OK;
}

/* ---------------------------------------------------------------------------------- rebuilding */

/** State of the loop over groups of KITH_VERLET_ROWS rows that packs their shifts. */
struct pack_loop {
    kith_ctx *ctx;          /**< context of the call */
    const kith_pairs *skin; /**< the kept list, with shifts between the coordinates as given */
    const int32_t *image;   /**< [n][3] boxes that wrapping subtracted */
    uint8_t *plain;         /**< [n] receives 1 where all shifts of a row are 0 */
    _Atomic int64_t most;   /**< largest component of a shift */
};

/** Pack the shifts of row i, which become those between wrapped coordinates.
 *  @return the largest component of a shift */
static int64_t pack_row(const struct pack_loop *loop, int64_t i)
{
    const kith_pairs *skin = loop->skin;
    const int64_t first = skin->offsets[i];
    int32_t *to = kith__verlet_packed(skin->shifts, skin->offsets, i);
    int64_t most = 0;
    for (int64_t c = first; c < skin->offsets[i + 1]; c++) {
        int32_t s[3];
        for (int k = 0; k < 3; k++) {
            s[k] = skin->shifts[3 * c + k] + loop->image[3 * (int64_t)skin->j[c] + k] -
                   loop->image[3 * i + k];
            most = llabs((long long)s[k]) > most ? llabs((long long)s[k]) : most;
        }
        to[c - first] = kith__pack_shift(s);
    }
    loop->plain[i] = most == 0;
    return most;
}

/** Pack the shifts of groups [begin, end) of rows, each from its first row on: what is written lies
 *  before what is still to be read. */
static void pack_groups(void *state, int64_t begin, int64_t end)
{
    struct pack_loop *loop = state;
    int64_t most = 0;
    const int64_t last = end * KITH_VERLET_ROWS;
    for (int64_t i = begin * KITH_VERLET_ROWS; i < last && i < loop->skin->rows; i++) {
        const int64_t n = loop->skin->offsets[i + 1] - loop->skin->offsets[i];
        if (kith__skip(loop->ctx, i, n + 1)) {
            return;
        }
        const int64_t row = pack_row(loop, i);
        most = row > most ? row : most;
    }
    int64_t so_far = atomic_load(&loop->most);
    while (most > so_far && !atomic_compare_exchange_weak(&loop->most, &so_far, most)) {}
}

/** Search the pairs to keep. The present coordinates become those of the reference. */
static kith_status rebuild(kith_ctx *ctx, struct kith_verlet *v, struct kith__verlet_cpu *d,
                           const struct kith__verlet_plan *plan)
{
    const int64_t n = plan->now.a.n;
    v->valid = false;
    v->rebuilt = true;
    d->skin.size = sizeof d->skin;
    KITH_TRY(ctx->backend->pairs->fill(ctx, &plan->skin, &plan->kept, true, &d->skin));
    KITH_CHECK(ctx, kith__buffer_need(&d->kept_now, (size_t)d->skin.n + 1), KITH_NO_MEMORY,
               "out of memory for a list of %lld pairs", (long long)d->skin.n);
    struct pack_loop loop = {
        .ctx = ctx, .skin = &d->skin, .image = d->image.data, .plain = d->plain.data};
    const int64_t groups = (n + KITH_VERLET_ROWS - 1) / KITH_VERLET_ROWS;
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, n), groups, 1, pack_groups, &loop);
    KITH_TRY(kith__proceed(ctx));
    const struct kith__buffer now = d->now;
    d->now = d->reference;
    d->reference = now;
    v->reference = plan->skin;
    v->state.kept = d->skin.n;
    v->valid = loop.most <= KITH_VERLET_MOST_SHIFT;
    return KITH_OK;
}

/* ----------------------------------------------------------------------------------- filtering */

/** Make the arrays of the list hold its pairs, with some room for those of later steps. */
static kith_status need_list(kith_ctx *ctx, const struct kith__verlet_plan *plan, int64_t pairs,
                             kith_pairs *out)
{
    const int64_t old = out->owner ? out->capacity : 0;
    const int64_t capacity = pairs > old ? pairs + pairs / 16 : old;
    KITH_TRY(kith__list_need(ctx, &plan->list, plan->now.precision, plan->now.a.n, pairs, capacity,
                             out));
    out->n = pairs;
    return KITH_OK;
}

/** Make the list of the kept pairs. */
static kith_status filter(kith_ctx *ctx, struct kith__verlet_cpu *d,
                          const struct kith__verlet_plan *plan, struct kith__verlet_loop *loop,
                          kith_pairs *out)
{
    static kith__range_fn *const test[] = {KITH_EACH_ISA(verlet_test)};
    static kith__range_fn *const write[] = {KITH_EACH_ISA(verlet_write)};
    const int64_t n = plan->now.a.n;
    int64_t pairs = d->skin.n;
    loop->counts = d->skin.offsets;
    if (!plan->with_skin) {
        loop->counts = d->counts.data;
        loop->kept = d->kept_now.data;
        kith__loop(ctx, n, test[kith__isa(ctx)], loop);
        KITH_TRY(kith__proceed(ctx));
        loop->counts[n] = 0;
        pairs = kith__prefix_sum(loop->counts, n + 1);
    }
    KITH_TRY(need_list(ctx, plan, pairs, out));
    if (out->offsets) {
        memcpy(out->offsets, loop->counts, (size_t)(n + 1) * sizeof *loop->counts);
    }
    loop->out = out;
    kith__loop(ctx, n, write[kith__isa(ctx)], loop);
    return kith__proceed(ctx);
}

static kith_status update(kith_ctx *ctx, struct kith_verlet *v,
                          const struct kith__verlet_plan *plan, kith_pairs *out)
{
    v->data = v->data ? v->data : calloc(1, sizeof(struct kith__verlet_cpu));
    KITH_CHECK(ctx, v->data != NULL, KITH_NO_MEMORY, "out of memory for a list");
    struct kith__verlet_cpu *d = v->data;
    bool turned = false;
    v->rebuilt = false;
    KITH_TRY(need_particles(ctx, d, plan));
    KITH_TRY(load(ctx, v, d, plan, &turned));
    struct kith__verlet_loop loop = {.ctx = ctx,
                                     .question = &plan->now,
                                     .image = d->image.data,
                                     .plain = d->plain.data,
                                     .extras = plan->list.extras};
    if (plan->keep && v->displacement <= plan->allowed) {
        loop.now = d->now.data;
        loop.turn = turned ? d->turn.data : NULL;
    } else {
        KITH_TRY(rebuild(ctx, v, d, plan));
        loop.now = d->reference.data;
    }
    loop.offsets = d->skin.offsets;
    loop.j = d->skin.j;
    loop.shifts = d->skin.shifts;
    return filter(ctx, d, plan, &loop, out);
}

static void forget(struct kith_verlet *v)
{
    struct kith__verlet_cpu *d = v->data;
    struct kith__buffer *const all[] = {&d->now,   &d->image,    &d->reference, &d->turn,
                                        &d->plain, &d->kept_now, &d->counts};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
        kith__buffer_free(all[b]);
    }
    kith_pairs_free(&d->skin);
    free(d);
    v->data = NULL;
}

const struct kith__verlet_backend kith__cpu_verlet = {.update = update, .forget = forget};
