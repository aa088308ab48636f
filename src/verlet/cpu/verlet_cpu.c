/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists that are kept on CPU cores. An update reads and wraps the coordinates, finds the longest
 * displacement, and, where it is too long, searches the pairs within cutoff + skin, in rows, with
 * their shifts, and puts these candidates into bands of distance. Then it passes once over the
 * rows: the bands decide most candidates, the rest is tested, and the pairs are written.
 * O(n + candidates), parallel; the list is equal for any number of threads. verlet_cpu.h has the
 * data.
 */
#include "verlet_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cpu/run.h"
#include "pairs/list.h"

/** Make the arrays of an update hold its particles. Those of the last rebuild stay as they are: the
 *  update may be refused. One byte more is requested, as a buffer of 0 bytes would be NULL. */
static kith_status need_particles(kith_ctx *ctx, struct kith__verlet_cpu *d,
                                  const struct kith__verlet_plan *plan)
{
    const size_t n = (size_t)plan->now.a.n;
    const size_t bytes = 4 * n * (size_t)plan->now.precision;
    const bool some = kith__buffer_need(&d->now, bytes + 1) &&
                      kith__buffer_need(&d->image, 3 * n * sizeof(int32_t) + 1) &&
                      kith__buffer_need(&d->turn, n * sizeof(int32_t) + 1);
    KITH_CHECK(ctx, some, KITH_NO_MEMORY, "out of memory for a list of %lld particles",
               (long long)n);
    return KITH_OK;
}

/** Read and wrap the coordinates, and find the longest displacement where the plan is to keep
 *  pairs. Sets v->displacement; infinity where a particle turned too far.
 *  @param[out] turned  a particle has a v (verlet.h) that is not 0
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT for the first particle that cannot be used;
 *          KITH_CANCELLED */
static kith_status load(kith_ctx *ctx, struct kith_verlet *v, struct kith__verlet_cpu *d,
                        const struct kith__verlet_plan *plan, bool *turned)
{
    static kith__range_fn *const kernel[] = {KITH_EACH_ISA(verlet_load)};
    const struct kith__question *q = &plan->now;
    struct kith__verlet_load loop = {.plan = plan,
                                     .now = d->now.data,
                                     .image = d->image.data,
                                     .reference = d->reference.data,
                                     .turn = d->turn.data,
                                     .lock = PTHREAD_MUTEX_INITIALIZER,
                                     .bad = INT64_MAX,
                                     .far = INT64_MAX};
    kith__loop(ctx, q->a.n, kernel[kith__isa(ctx)], &loop);
    KITH_TRY(kith__proceed(ctx));
    if (loop.bad != INT64_MAX || loop.far != INT64_MAX) {
        const bool bad = loop.bad != INT64_MAX;
        return kith__refuse(ctx, q, "points", bad ? KITH_NOT_FINITE : KITH_LIMIT,
                            bad ? loop.bad : loop.far);
    }
    v->displacement = !plan->keep || q->a.n == 0 ? 0
                      : loop.lost                ? (double)INFINITY
                                  : kith__verlet_displacement(&plan->map, loop.square, loop.size);
    *turned = loop.turned;
    return KITH_OK;
}

/* ---------------------------------------------------------------------------------- rebuilding */

/** State of the loop over groups of KITH_VERLET_ROWS rows that packs their shifts. */
struct pack_loop {
    kith_ctx *ctx;          /**< context of the call */
    const kith_pairs *skin; /**< the kept list, with shifts between the positions that were
                                 searched, [pairs][3] until they are packed */
    const int32_t *image;   /**< [n][3] boxes that wrapping subtracted from these positions; NULL:
                                 wrapped positions were searched, and shifts need no correction */
    uint8_t *plain;         /**< [groups] receives 1 where all shifts of a group are 0 */
    _Atomic int64_t most;   /**< largest absolute component of a shift */
};

/** Pack the shifts of row i, which become those between wrapped coordinates.
 *  @param[out] to  packed shifts; may overlap the shifts of this row, not of later ones
 *  @return the largest absolute component of a shift */
static int64_t pack_row(const struct pack_loop *loop, int64_t i, int32_t *to)
{
    const kith_pairs *skin = loop->skin;
    const int64_t first = skin->offsets[i];
    int64_t most = 0;
    for (int64_t c = first; c < skin->offsets[i + 1]; c++) {
        int32_t s[3];
        for (int k = 0; k < 3; k++) {
            s[k] = skin->shifts[3 * c + k];
            if (loop->image) {
                s[k] += loop->image[3 * (int64_t)skin->j[c] + k] - loop->image[3 * i + k];
            }
            most = llabs((long long)s[k]) > most ? llabs((long long)s[k]) : most;
        }
        to[c - first] = kith__pack_shift(s);
    }
    return most;
}

/** Pack the shifts of groups [begin, end) of rows in place, the rows of each group in ascending
 *  order: a packed shift takes one integer of the three, so what is written lies before what is
 *  still to be read. */
static void pack_groups(void *state, int64_t begin, int64_t end)
{
    struct pack_loop *loop = state;
    const int64_t *offsets = loop->skin->offsets;
    int64_t most = 0;
    for (int64_t group = begin; group < end; group++) {
        int32_t *to = kith__verlet_packed(loop->skin->shifts, offsets, group);
        const int64_t first = group * KITH_VERLET_ROWS;
        int64_t own = 0;
        for (int64_t i = first; i < first + KITH_VERLET_ROWS && i < loop->skin->rows; i++) {
            if (kith__skip(loop->ctx, i, offsets[i + 1] - offsets[i] + 1)) {
                return;
            }
            const int64_t row = pack_row(loop, i, to + (offsets[i] - offsets[first]));
            own = row > own ? row : own;
        }
        loop->plain[group] = own == 0;
        most = own > most ? own : most;
    }
    int64_t so_far = atomic_load(&loop->most); /* atomic maximum */
    while (most > so_far && !atomic_compare_exchange_weak(&loop->most, &so_far, most)) {}
}

/** Return the number of groups of rows. */
static int64_t groups_of(int64_t rows)
{
    return (rows + KITH_VERLET_ROWS - 1) / KITH_VERLET_ROWS;
}

/** Search the pairs within cutoff + skin: d->skin. In an orthorhombic box, where wrapping a wrapped
 *  position changes nothing, the wrapped coordinates, d->now, are searched, so that the shifts need
 *  no correction. In other boxes the caller's coordinates are.
 *  @return as the backend's `fill` */
static kith_status search(kith_ctx *ctx, struct kith__verlet_cpu *d,
                          const struct kith__verlet_plan *plan)
{
    struct kith__question q = plan->skin;
    if (q.box_d.orthorhombic) {
        char *now = d->now.data;
        const size_t real = (size_t)q.precision;
        q.a = kith_points_split(now, now + real, now + 2 * real, q.a.n, q.precision);
        q.a.stride = 4;
        q.b = q.a;
    }
    d->skin.size = sizeof d->skin;
    return ctx->backend->pairs->fill(ctx, &q, &plan->kept, true, &d->skin);
}

/** Search the pairs to keep, and pack their shifts. The present coordinates become those of the
 *  reference. Their bands are found later (classify).
 *  @param[out] packs  the shifts of later updates can be packed, too (KITH_VERLET_MOST_SHIFT) */
static kith_status rebuild(kith_ctx *ctx, struct kith_verlet *v, struct kith__verlet_cpu *d,
                           const struct kith__verlet_plan *plan, bool *packs)
{
    const int64_t n = plan->now.a.n;
    v->valid = false;
    v->rebuilt = true;
    KITH_TRY(search(ctx, d, plan));
    KITH_CHECK(ctx,
               kith__buffer_need(&d->band, (size_t)d->skin.n + KITH_VERLET_PAD) &&
                   kith__buffer_need(&d->plain, (size_t)groups_of(n) + 1) &&
                   kith__buffer_need(&d->reference, d->now.bytes),
               KITH_NO_MEMORY, "out of memory for a list of %lld pairs", (long long)d->skin.n);
    struct pack_loop loop = {.ctx = ctx,
                             .skin = &d->skin,
                             .image = plan->skin.box_d.orthorhombic ? NULL : d->image.data,
                             .plain = d->plain.data};
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, n), groups_of(n), 1, pack_groups, &loop);
    KITH_TRY(kith__proceed(ctx));
    d->most = 0;
    for (int64_t i = 0; i < n; i += KITH_VERLET_ROWS) {
        const int64_t end = i + KITH_VERLET_ROWS < n ? i + KITH_VERLET_ROWS : n;
        const int64_t rows = d->skin.offsets[end] - d->skin.offsets[i];
        d->most = rows > d->most ? rows : d->most;
    }
    /* exchange: the buffer of the old reference, of equal size now, serves the next update */
    const struct kith__buffer now = d->now;
    d->now = d->reference;
    d->reference = now;
    v->reference = plan->skin;
    v->state.kept = d->skin.n;
    *packs = loop.most <= KITH_VERLET_MOST_SHIFT;
    return KITH_OK;
}

/* ----------------------------------------------------------------------------------- filtering */

/** Shared state of the threads that make the list. They claim groups of KITH_VERLET_ROWS rows in
 *  ascending order. Each finds the pairs of its group, waits until all earlier groups have added
 *  their numbers of pairs to the total, takes the total as its offset, and writes its pairs, while
 *  other threads find and write theirs. */
struct filter {
    const struct kith__verlet_loop *loop; /**< the kept pairs */
    struct kith__verlet_hits *hits;       /**< [threads] working memory */
    int64_t capacity;                     /**< pairs that the arrays can hold */
    int64_t total;                        /**< number of pairs of the groups before `turn` */
    _Atomic int64_t turn; /**< number of the group whose thread may add to `total`, not a turn of a
                               particle */
};

/** kith__piece_fn: make the part of the list of one group of rows. */
static void filter_group(void *state, int64_t group, int worker)
{
    static kith__verlet_find_fn *const find[] = {KITH_EACH_ISA(verlet_find)};
    static kith__verlet_write_fn *const write[] = {KITH_EACH_ISA(verlet_write)};
    struct filter *filter = state;
    kith_ctx *ctx = filter->loop->ctx;
    const int isa = kith__isa(ctx);
    struct kith__verlet_hits *hits = &filter->hits[worker];
    if (find[isa](filter->loop, group, hits) && kith__wait_turn(ctx, &filter->turn, group, NULL)) {
        const int64_t at = filter->total;
        filter->total += hits->n;
        /* release: the thread of the next group, which waits for this value, then reads `total` */
        atomic_store_explicit(&filter->turn, group + 1, memory_order_release);
        if (at + hits->n <= filter->capacity) {
            write[isa](filter->loop, group, hits, at);
        }
    }
}

/** Make the working memory of the threads hold the candidates of the largest group, d->most. Each
 *  array begins at a cache line: `each` elements of i, j, shift and row, and `words` of each mask,
 *  are multiples of a line, and at least the sizes that kith__verlet_hits names. */
static kith_status need_hits(kith_ctx *ctx, struct kith__verlet_cpu *d, int threads)
{
    const size_t line = KITH_ALIGN;
    const size_t each = ((size_t)d->most + KITH_VERLET_PAD + line) / line * line;
    const size_t words = (each / 64 + line) / line * line;
    const size_t bytes = each * (3 * sizeof(int32_t) + sizeof(uint8_t)) +
                         3 * words * sizeof(uint64_t);
    struct kith__verlet_hits *hits = kith__buffer_need(&d->hits, (size_t)threads * sizeof *hits);
    char *at = kith__buffer_need(&d->hit_arrays, (size_t)threads * bytes);
    KITH_CHECK(ctx, hits && at, KITH_NO_MEMORY, "out of memory for %d threads", threads);
    for (int t = 0; t < threads; t++, at += bytes) {
        int32_t *ints = (int32_t *)(void *)at;
        uint64_t *masks = (uint64_t *)(void *)(ints + 3 * each);
        hits[t] = (struct kith__verlet_hits){.i = ints,
                                             .j = ints + each,
                                             .shift = ints + 2 * each,
                                             .mask = masks,
                                             .open = masks + words,
                                             .passed = masks + 2 * words,
                                             .row = (uint8_t *)(masks + 3 * words)};
    }
    return KITH_OK;
}

/** kith__piece_fn: find the bands of a group of rows. */
static void classify_group(void *state, int64_t group, int worker)
{
    static kith__verlet_classify_fn *const kernel[] = {KITH_EACH_ISA(verlet_classify)};
    const struct filter *filter = state;
    kernel[kith__isa(filter->loop->ctx)](filter->loop, group, &filter->hits[worker]);
}

/** Find the bands of the kept pairs. */
static kith_status classify(kith_ctx *ctx, struct kith__verlet_cpu *d,
                            const struct kith__verlet_plan *plan,
                            const struct kith__verlet_loop *loop)
{
    const int64_t n = plan->now.a.n;
    struct filter filter = {.loop = loop, .hits = d->hits.data};
    d->scale = kith__verlet_scale_of(plan);
    kith__pool_run(ctx->pool, kith__threads_for(ctx, n), groups_of(n), classify_group, &filter);
    return kith__proceed(ctx);
}

/** Write as many pairs as the arrays hold.
 *  @param[out] pairs  number of pairs of the list, more than out->capacity where not all were
 *                     written */
static kith_status write_list(kith_ctx *ctx, struct kith__verlet_cpu *d,
                              const struct kith__verlet_loop *loop, int64_t *pairs)
{
    const int64_t n = loop->question->a.n;
    struct filter filter = {.loop = loop, .hits = d->hits.data, .capacity = loop->out->capacity};
    kith__pool_run(ctx->pool, kith__threads_for(ctx, n), groups_of(n), filter_group, &filter);
    *pairs = filter.total;
    return kith__proceed(ctx);
}

/** Make the list of the kept pairs: by one pass over them, or two where the arrays are too
 *  small: then they get 1/16 more than is needed, for later steps. */
static kith_status filter(kith_ctx *ctx, struct kith__verlet_cpu *d,
                          const struct kith__verlet_plan *plan, struct kith__verlet_loop *loop,
                          kith_pairs *out)
{
    const int64_t n = plan->now.a.n;
    int64_t pairs = kith__verlet_guess(plan, d->skin.n);
    int64_t capacity = out->owner && out->capacity > 0 ? out->capacity : pairs;
    KITH_TRY(kith__list_need(ctx, &plan->list, plan->now.precision, n, pairs, capacity, out));
    loop->out = out;
    KITH_TRY(write_list(ctx, d, loop, &pairs));
    if (pairs > out->capacity) {
        capacity = pairs + pairs / 16;
        KITH_TRY(kith__list_need(ctx, &plan->list, plan->now.precision, n, pairs, capacity, out));
        KITH_TRY(write_list(ctx, d, loop, &pairs));
    }
    out->n = pairs;
    if (out->offsets) {
        out->offsets[n] = pairs;
    }
    return KITH_OK;
}

/** kith__verlet_backend.update. */
static kith_status update(kith_ctx *ctx, struct kith_verlet *v,
                          const struct kith__verlet_plan *plan, kith_pairs *out)
{
    v->data = v->data ? v->data : calloc(1, sizeof(struct kith__verlet_cpu));
    KITH_CHECK(ctx, v->data != NULL, KITH_NO_MEMORY, "out of memory for a list");
    struct kith__verlet_cpu *d = v->data;
    bool turned = false;
    bool packs = false;
    v->rebuilt = false;
    KITH_TRY(need_particles(ctx, d, plan));
    KITH_TRY(load(ctx, v, d, plan, &turned));
    const bool keep = plan->keep && v->displacement <= plan->allowed;
    KITH_TRY(keep ? KITH_OK : rebuild(ctx, v, d, plan, &packs));
    struct kith__verlet_loop loop = {.ctx = ctx,
                                     .question = &plan->now,
                                     .scale = &d->scale,
                                     .now = keep ? d->now.data : d->reference.data,
                                     .image = d->image.data,
                                     .turn = keep && turned ? d->turn.data : NULL,
                                     .offsets = d->skin.offsets,
                                     .j = d->skin.j,
                                     .shifts = d->skin.shifts,
                                     .plain = d->plain.data,
                                     .band = d->band.data,
                                     .extras = plan->list.extras};
    KITH_TRY(need_hits(ctx, d, kith__threads_for(ctx, plan->now.a.n)));
    if (!keep) {
        KITH_TRY(classify(ctx, d, plan, &loop));
        v->valid = packs;
    }
    kith__verlet_bands(keep ? &plan->limits : &plan->fresh, &d->scale, keep ? v->displacement : 0,
                       &loop.inner, &loop.outer);
    loop.inner = plan->with_skin ? KITH_VERLET_LAST_BAND : loop.inner;
    return filter(ctx, d, plan, &loop, out);
}

/** kith__verlet_backend.forget. */
static void forget(struct kith_verlet *v)
{
    struct kith__verlet_cpu *d = v->data;
    struct kith__buffer *const all[] = {&d->now,  &d->image, &d->reference, &d->turn,
                                        &d->band, &d->plain, &d->hits,      &d->hit_arrays};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
        kith__buffer_free(all[b]);
    }
    kith_pairs_free(&d->skin);
    free(d);
    v->data = NULL;
}

const struct kith__verlet_backend kith__cpu_verlet = {
    .update = update, .forget = forget, .batches = true};
