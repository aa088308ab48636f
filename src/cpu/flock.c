/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of a flock on CPU cores: sort the state by cell, round it to integers, sweep. Each particle
 * is moved as soon as its sums are complete, into the next state, which is in the order of the
 * cells: the next sort then finds nearly sorted particles, and neighbours lie near in memory.
 */
#include "../flock.h"

#include <string.h>

#include "run.h"

/** What a predator goes for. */
struct prey {
    double distance, way[3];
    int32_t id; /* of equally near ones the smallest */
};

static bool is_nearer(const struct prey *a, const struct prey *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->id < b->id);
}

/** The particle of [begin, end) that is nearest to a place. */
static struct prey find_nearest(const struct kith_flock *flock, const double place[3],
                                int64_t begin, int64_t end)
{
    struct prey best = {.distance = INFINITY, .id = INT32_MAX};
    for (int64_t s = begin; s < end; s++) {
        double r[3];
        struct prey one = {.id = flock->now.id[s]};
        for (int k = 0; k < 3; k++) {
            r[k] = kith__real_at(flock->now.r[k], s, flock->question.precision);
        }
        kith__flock_way(&flock->question.box_d, place, r, one.way);
        one.distance = kith__flock_length(one.way);
        best = is_nearer(&one, &best) ? one : best;
    }
    return best;
}

#define KITH_TWICE "cpu/flock_step_real.h"
#include "../twice.h"

/** Choose the units: powers of 2, from the largest radius and the largest velocity. */
static void find_units(kith_ctx *ctx, struct kith__flight *flight)
{
    const struct kith_flock *flock = flight->flock;
    const struct kith__question *q = &flock->question;
    double most = 0;
#pragma omp parallel num_threads(kith__threads_for(ctx, flock->n)) reduction(max : most)
    {
        const struct kith__share own = kith__my_share(flock->n);
        most = q->precision == KITH_FLOAT ? fastest_f(flock, own.begin, own.end)
                                          : fastest_d(flock, own.begin, own.end);
    }
    flight->velocity_unit = kith__flock_unit(most);
    flight->offset_unit = kith__flock_unit(flight->rules->reach);
    for (int k = 0; k < 3; k++) {
        for (int m = 0; m < 3; m++) {
            flight->row[k][m] = kith__flock_place(q->box_d.row[k][m], 1 / flight->offset_unit);
        }
    }
}

/** Round what is summed to integers, in the order of the slots. */
static kith_status load_cargo(kith_ctx *ctx, struct kith__flight *flight)
{
    const int64_t n = flight->flock->n;
    int32_t *to = kith__work_need(&ctx->work, KITH_FLOCK_CARGO,
                                  (KITH_CARGO * (size_t)n + KITH_LANES) * sizeof *to);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for a step of %lld particles",
               (long long)n);
    for (int c = 0; c < KITH_CARGO; c++) {
        flight->cargo[c] = to + c * n;
    }
    const bool single = flight->flock->question.precision == KITH_FLOAT;
#pragma omp parallel num_threads(kith__threads_for(ctx, n))
    {
        const struct kith__share own = kith__my_share(n);
        (single ? round_state_f : round_state_d)(flight, own.begin, own.end);
    }
    return KITH_OK;
}

/** Without rules that look at others there is nothing to sweep, and the order stays. */
static void alone_block(struct kith__sweep *sweep, int64_t block)
{
    static const struct kith__flock_sums none;
    struct kith__flight *flight = sweep->flight;
    const struct kith__herd *now = &flight->flock->now, *next = &flight->flock->next;
    const kith_precision precision = flight->flock->question.precision;
    const int64_t n = flight->flock->n;
    const int64_t end = (block + 1) * KITH_BLOCK < n ? (block + 1) * KITH_BLOCK : n;
    for (int64_t s = block * KITH_BLOCK; s < end; s++) {
        for (int k = 0; k < 3; k++) {
            kith__set_real(next->r[k], s, precision, kith__real_at(now->r[k], s, precision));
            kith__set_real(next->v[k], s, precision, kith__real_at(now->v[k], s, precision));
        }
        next->id[s] = now->id[s];
        flight->move(flight, s, &none);
    }
}

/** The first particle that has gone where numbers end. */
static int32_t find_lost(const struct kith_flock *flock)
{
    int32_t first = INT32_MAX;
    for (int64_t s = 0; s < flock->n; s++) {
        const double x = kith__real_at(flock->next.r[0], s, flock->question.precision);
        first = isnan(x) && flock->next.id[s] < first ? flock->next.id[s] : first;
    }
    return first;
}

/** One step, into flock->next. */
static kith_status step_once(kith_ctx *ctx, struct kith_flock *flock, struct kith__run *run)
{
    const struct kith__question *q = &flock->question;
    const struct kith__flock_rules *rules = &flock->rules;
    struct kith__cpu *cpu = ctx->state;
    struct kith__grid grid = {.cells = 0};
    struct kith__flight flight = {.flock = flock,
                                  .rules = rules,
                                  .grid = rules->reach > 0 ? &grid : NULL,
                                  .move = q->precision == KITH_FLOAT ? move_f : move_d};
    if (flight.grid) {
        KITH_TRY(kith__grid_build(ctx, q, &grid));
        find_units(ctx, &flight);
        KITH_TRY(load_cargo(ctx, &flight));
        for (int rule = 0; rule < KITH_RULES; rule++) {
            const double radius = rules->radius[rule], part = radius / q->cutoff;
            flight.ratio[rule] = (float)(part * part);
            flight.whole[rule] = radius == q->cutoff;
            flight.square[rule] = kith__rounded(radius * radius, q->precision);
        }
    }
    atomic_store(&flight.lost, false);
    kith__run_prepare(ctx, q, &grid, KITH_ALL);
    for (int t = 0; t < ctx->threads; t++) {
        cpu->sweeps[t].flight = &flight;
    }
    run->block = flight.grid ? cpu->kernel->flock : alone_block;
    KITH_TRY(kith__run(run));
    return atomic_load(&flight.lost) ? kith__flock_refuse_lost(flock, find_lost(flock)) : KITH_OK;
}

/** Let predators go for what was nearest in the old state, into the things of the new one. */
static void hunt(kith_ctx *ctx, const struct kith_flock *flock, struct kith__flock_rules *rules)
{
    for (int t = 0; t < rules->n_things; t++) {
        kith_flock_thing *thing = &rules->thing[t];
        if (thing->kind != KITH_PREDATOR || flock->n == 0) {
            continue;
        }
        struct prey best = {.distance = INFINITY, .id = INT32_MAX};
#pragma omp parallel num_threads(kith__threads_for(ctx, flock->n))
        {
            const struct kith__share own = kith__my_share(flock->n);
            const struct prey here = find_nearest(flock, thing->place, own.begin, own.end);
#pragma omp critical(kith_prey)
            best = is_nearer(&here, &best) ? here : best;
        }
        kith__flock_chase(rules, &flock->question.box_d, best.way, thing);
    }
}

kith_status kith__cpu_flock_step(kith_ctx *ctx, struct kith_flock *flock, int64_t steps)
{
    const int64_t blocks = (flock->n + KITH_BLOCK - 1) / KITH_BLOCK;
    for (int64_t s = 0; s < steps; s++) {
        struct kith__run run = {.ctx = ctx,
                                .last = blocks,
                                .watch_from = s * blocks,
                                .watch_to = (s + 1) * blocks,
                                .watch_total = steps * blocks};
        struct kith__flock_rules after = flock->rules;
        hunt(ctx, flock, &after);
        KITH_TRY(step_once(ctx, flock, &run));
        flock->rules = after;
        const struct kith__herd old = flock->now;
        flock->now = flock->next;
        flock->next = old;
        flock->step++;
        kith__flock_aim(flock);
    }
    return KITH_OK;
}
