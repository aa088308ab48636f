/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flock steps on CPU cores: sort the state by cell, convert it to integers, and sweep; O(pairs).
 * Each particle is moved as soon as its neighbour sums are complete. The next state is in the order
 * of cells, so that the next sort has nearly sorted input, and neighbours are near in memory.
 */
#include "flock_step.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "core/atomics.h"

#include "engine/cpu/run.h"

static const struct kith__prey no_prey = {.distance = INFINITY, .id = INT64_MAX};

/** Return the particle of entries [begin, end) of flock->now that is nearest to a position. */
static struct kith__prey find_nearest(const struct kith_flock *flock, const double place[3],
                                      int64_t begin, int64_t end)
{
    struct kith__prey best = no_prey;
    for (int64_t s = begin; s < end; s++) {
        double r[3];
        struct kith__prey one = {.id = kith__flock_index(flock, flock->now.id[s])};
        for (int k = 0; k < 3; k++) {
            r[k] = kith__real_at(flock->now.r[k], s, flock->question.precision);
        }
        kith__flock_nearest_image(&flock->question.box_d, place, r, one.way);
        one.distance = kith__flock_length(one.way);
        best = kith__is_nearer(&one, &best) ? one : best;
    }
    return best;
}

#define KITH_PER_PRECISION "flock/cpu/flock_step_real.h"
#include "core/per_precision.h"

/** State of the loop that finds the largest absolute component of a velocity. */
struct fastest_loop {
    const struct kith_flock *flock; /**< the flock */
    _Atomic int64_t bits; /**< bits of the largest so far, as a double, for kith__atomic_max64: as
                               integers, they have the order of the numbers, which are >= 0 */
};

/** kith__range_fn: find the largest absolute component of a velocity in entries [begin, end). */
static void find_fastest(void *state, int64_t begin, int64_t end)
{
    struct fastest_loop *loop = state;
    const bool single = loop->flock->question.precision == KITH_FLOAT;
    const double most = (single ? fastest_f : fastest_d)(loop->flock, begin, end);
    int64_t bits;
    memcpy(&bits, &most, sizeof bits);
    kith__atomic_max64(&loop->bits, bits);
}

/** Set the units of offsets and velocities: powers of 2, from the largest radius and the largest
 *  absolute component of a velocity. Also convert the rows of the box to units. */
static void set_units(struct kith__flock_step *step, double fastest)
{
    const struct kith__question *q = &step->flock->question;
    step->velocity_unit = kith__flock_unit(fastest);
    step->offset_unit = kith__flock_unit(step->rules->reach);
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            step->quantized.row[k][m] = kith__flock_in_units(q->box_d.row[k][m],
                                                             1 / step->offset_unit);
        }
    }
}

/** kith__range_fn: convert the state of slots [begin, end) to integers. */
static void round_range(void *state, int64_t begin, int64_t end)
{
    struct kith__flock_step *step = state;
    const bool single = step->flock->question.precision == KITH_FLOAT;
    (single ? round_state_f : round_state_d)(step, begin, end);
}

/** Set step->quantized.of: convert positions and velocities to integers, in the order of slots. */
static kith_status quantize_state(kith_ctx *ctx, struct kith__flock_step *step)
{
    const int64_t n = step->flock->n;
    /* vectors read up to KITH_LANES numbers beyond the end of the last column */
    int32_t *to = kith__work_need(&ctx->work, KITH_FLOCK_QUANTIZED,
                                  (KITH_COLUMNS * (size_t)n + KITH_LANES) * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for a step of %lld particles",
               (long long)n);
    for (int c = 0; c < KITH_COLUMNS; c++) {
        step->quantized.of[c] = to + c * n;
    }
    kith__loop(ctx, n, round_range, step);
    return kith__proceed(ctx);
}

/** kith__work_fn for the case that all rules are off: move particles without a sweep, and keep
 *  their order.
 *  @param block  number of the block of KITH_WORK_BLOCK consecutive entries */
static void move_block(struct kith__sweep *sweep, int64_t block)
{
    static const struct kith__flock_sums none;
    static const struct kith__flock_more nothing;
    struct kith__flock_step *step = kith__flock_step_of(sweep);
    const struct kith__flock_state *now = &step->flock->now, *next = &step->flock->next;
    const kith_precision precision = step->flock->question.precision;
    const struct kith__flock_more *more = kith__flock_has_more(step->rules) ? &nothing : NULL;
    const int64_t n = step->flock->n;
    const int64_t end = (block + 1) * KITH_WORK_BLOCK < n ? (block + 1) * KITH_WORK_BLOCK : n;
    for (int64_t s = block * KITH_WORK_BLOCK; s < end; s++) {
        for (int k = 0; k < 3; k++) {
            kith__set_real(next->r[k], s, precision, kith__real_at(now->r[k], s, precision));
            kith__set_real(next->v[k], s, precision, kith__real_at(now->v[k], s, precision));
        }
        next->id[s] = now->id[s];
        step->move(step, s, &none, more);
    }
}

/** Return the smallest index, in the whole flock, of a particle whose next position is NaN
 *  (kith__flock_step.lost). */
static int64_t find_lost(const struct kith_flock *flock)
{
    int64_t first = INT64_MAX;
    for (int64_t s = 0; s < flock->n; s++) {
        const double x = kith__real_at(flock->next.r[0], s, flock->question.precision);
        const int64_t index = kith__flock_index(flock, flock->next.id[s]);
        first = isnan(x) && index < first ? index : first;
    }
    return first;
}

#ifndef NDEBUG
/** Return true when all indices of a state are in [0, n), and have the sum of a permutation. */
static bool ids_in_range(const struct kith__flock_state *state, int64_t n)
{
    bool valid = true;
    int64_t sum = 0;
    for (int64_t s = 0; s < n; s++) {
        valid = valid && state->id[s] >= 0 && state->id[s] < n;
        sum += state->id[s];
    }
    return valid && sum == n * (n - 1) / 2;
}
#endif

/** kith__flock_backend.advance */
static kith_status advance(kith_ctx *ctx, struct kith_flock *flock,
                           const struct kith__flock_survey *survey, int64_t nth, int64_t of,
                           int64_t *lost)
{
    const int64_t blocks = (flock->n + KITH_WORK_BLOCK - 1) / KITH_WORK_BLOCK;
    const int64_t watched = blocks > 0 ? blocks : 1; /* the total of a watch callback is not 0 */
    struct kith__run run = {.ctx = ctx,
                            .last = blocks,
                            .watch_from = nth * watched,
                            .watch_to = (nth + 1) * watched,
                            .watch_total = of * watched};
    const struct kith__question *q = &flock->question;
    const struct kith__flock_rules *rules = &flock->rules;
    static kith__work_fn *const step_block[] = {KITH_EACH_ISA(step_block)};
    struct kith__grid grid = {.cells = 0};
    struct kith__flock_step step = {.flock = flock,
                                    .rules = rules,
                                    .grid = rules->reach > 0 ? &grid : NULL,
                                    .move = q->precision == KITH_FLOAT ? move_f : move_d};
    if (step.grid) {
        KITH_TRY(kith__grid_build(ctx, q, &grid));
        set_units(&step, survey->fastest);
        KITH_TRY(quantize_state(ctx, &step));
        for (int rule = 0; rule < KITH_RULES; rule++) {
            /* the cutoff is the largest radius */
            const double radius = rules->radius[rule], part = radius / q->cutoff;
            step.ratio[rule] = (float)(part * part);
            step.at_cutoff[rule] = radius == q->cutoff;
            step.square[rule] = kith__rounded(radius * radius, q->precision);
        }
    }
    atomic_store(&step.lost, false);
    KITH_TRY(kith__run_prepare(ctx, q, &grid, KITH_ALL, 0));
    for (int t = 0; t < ctx->threads; t++) {
        kith__sweep_of(ctx, t)->columns = &step.quantized;
        kith__sweep_of(ctx, t)->query_fill = KITH_FLOCK_FILL;
    }
    run.block = step.grid ? step_block[kith__isa(ctx)] : move_block;
    run.job = &step;
    KITH_TRY(kith__run(&run));
    assert(ids_in_range(&flock->next, flock->n));
    *lost = atomic_load(&step.lost) ? find_lost(flock) : INT64_MAX;
    return KITH_OK;
}

/** State of the loop that finds the particle nearest to a predator. */
struct prey_loop {
    const struct kith_flock *flock; /**< the flock */
    const double *place;            /**< [3] position of the predator [length] */
    pthread_mutex_t lock;           /**< guards `best` */
    struct kith__prey best;         /**< nearest so far */
};

/** kith__range_fn: find the particle of entries [begin, end) that is nearest to the predator. */
static void find_prey(void *state, int64_t begin, int64_t end)
{
    struct prey_loop *loop = state;
    const struct kith__prey here = find_nearest(loop->flock, loop->place, begin, end);
    pthread_mutex_lock(&loop->lock);
    loop->best = kith__is_nearer(&here, &loop->best) ? here : loop->best;
    pthread_mutex_unlock(&loop->lock);
}

/** Return the particle that is nearest to a predator. */
static struct kith__prey find_prey_of(kith_ctx *ctx, const struct kith_flock *flock,
                                      const kith_flock_thing *predator)
{
    struct prey_loop loop = {flock, predator->place, PTHREAD_MUTEX_INITIALIZER, no_prey};
    kith__loop(ctx, flock->n, find_prey, &loop);
    return loop.best;
}

/** kith__flock_backend.survey */
static kith_status survey(kith_ctx *ctx, const struct kith_flock *flock,
                          struct kith__flock_survey *out)
{
    const struct kith__flock_rules *rules = &flock->rules;
    struct fastest_loop loop = {.flock = flock};
    kith__loop(ctx, rules->reach > 0 ? flock->n : 0, find_fastest, &loop);
    const int64_t bits = loop.bits;
    memcpy(&out->fastest, &bits, sizeof out->fastest);
    for (int t = 0; t < rules->n_things; t++) {
        const bool hunts = rules->thing[t].kind == KITH_PREDATOR;
        out->prey[t] = hunts ? find_prey_of(ctx, flock, &rules->thing[t]) : no_prey;
    }
    return kith__proceed(ctx);
}

/** kith__flock_backend.step */
static kith_status step_flock(kith_ctx *ctx, struct kith_flock *flock, int64_t steps)
{
    for (int64_t s = 0; s < steps; s++) {
        struct kith__flock_survey found;
        int64_t lost;
        KITH_TRY(survey(ctx, flock, &found));
        KITH_TRY(advance(ctx, flock, &found, s, steps, &lost));
        if (lost < INT64_MAX) {
            return kith__flock_refuse_lost(flock, lost);
        }
        kith__flock_commit(flock, &found);
    }
    return KITH_OK;
}

const struct kith__flock_backend kith__cpu_flock = {
    .step = step_flock,
    .survey = survey,
    .advance = advance,
};
