/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public calls of flocks: take particles in, have the backend step them, hand them out in the
 * order they came.
 */
#include "flock.h"

#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "cells.h"

#define KITH_TWICE "flock_real.h"
#include "twice.h"

/** Lay both states out. Arrays are padded: vectors are read from any place. */
static bool lay_out(struct kith_flock *flock)
{
    const size_t n = (size_t)flock->n;
    const size_t real = (size_t)flock->question.precision;
    const size_t row = (n * real + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN + KITH_ALIGN;
    const size_t ids = (n * sizeof(int32_t) + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    const int states = flock->ctx->backend->flock_fetch ? 1 : 2; /* the other is elsewhere */
    char *at = kith__buffer_need(&flock->memory, (size_t)states * (6 * row + ids));
    struct kith__herd *const herds[2] = {&flock->now, &flock->next};
    for (int h = 0; h < states && at; h++) {
        for (int k = 0; k < 3; k++, at += row) {
            herds[h]->r[k] = at;
        }
        for (int k = 0; k < 3; k++, at += row) {
            herds[h]->v[k] = at;
        }
        herds[h]->id = (int32_t *)(void *)at;
        at += ids;
    }
    return at != NULL;
}

void kith__flock_aim(struct kith_flock *flock)
{
    struct kith__question *q = &flock->question;
    void **r = flock->now.r;
    q->a = kith_points_split(r[0], r[1], q->dim == 3 ? r[2] : NULL, flock->n, q->precision);
    q->b = q->a;
}

static kith_status take_in(struct kith_flock *flock, const kith_points *points,
                           const kith_points *velocities)
{
    const bool single = flock->question.precision == KITH_FLOAT;
    int64_t bad = 0;
    const char *set = "points";
    const kith_status status = single ? load_f(flock, points, velocities, &set, &bad)
                                      : load_d(flock, points, velocities, &set, &bad);
    if (status == KITH_INVALID) {
        return kith__fail(flock->ctx, status,
                          "points: particle %lld (counted from 0) is outside the walls",
                          (long long)bad);
    }
    return status == KITH_OK ? KITH_OK
                             : kith__refuse(flock->ctx, &flock->question, set, status, bad);
}

static kith_status start(struct kith_flock *flock, const kith_points *points,
                         const kith_points *velocities, const kith_box *box,
                         const kith_flock_options *options)
{
    kith_ctx *ctx = flock->ctx;
    const kith_box open = kith_box_open();
    flock->box = box ? *box : open;
    struct kith__question other;
    KITH_TRY(kith__question_space(ctx, points, &flock->box, &flock->question));
    KITH_CHECK(ctx, velocities != NULL, KITH_INVALID, "velocities is NULL");
    KITH_TRY(kith__question_space(ctx, velocities, &flock->box, &other));
    KITH_CHECK(ctx, velocities->n == points->n && velocities->precision == points->precision,
               KITH_INVALID, "velocities: their number or precision is not that of the points");
    KITH_CHECK(ctx, points->memory == KITH_HOST && velocities->memory == KITH_HOST,
               KITH_UNSUPPORTED, "a flock starts from host memory");
    flock->n = points->n;
    KITH_TRY(kith__flock_rules_init(flock, options));
    flock->step = options ? options->first_step : 0;
    KITH_CHECK(ctx, lay_out(flock), KITH_NO_MEMORY, "out of memory for a flock of %lld",
               (long long)flock->n);
    KITH_TRY(take_in(flock, points, velocities));
    kith__flock_aim(flock);
    return KITH_OK;
}

kith_status kith_flock_open(kith_ctx *ctx, const kith_points *points, const kith_points *velocities,
                            const kith_box *box, const kith_flock_options *options,
                            kith_flock **out)
{
    KITH_BEGIN(ctx);
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    *out = NULL;
    KITH_CHECK(ctx, ctx->backend->flock_step != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not step flocks", ctx->name);
    struct kith_flock *flock = calloc(1, sizeof *flock);
    KITH_CHECK(ctx, flock != NULL, KITH_NO_MEMORY, "out of memory for a flock");
    flock->ctx = ctx;
    const kith_status status = start(flock, points, velocities, box, options);
    if (status != KITH_OK) {
        kith_flock_close(flock);
        return status;
    }
    *out = flock;
    return KITH_OK;
}

kith_status kith_flock_change(kith_flock *flock, const kith_flock_options *options)
{
    KITH_BEGIN_FLOCK(flock);
    return kith__flock_rules_init(flock, options);
}

kith_status kith_flock_step(kith_flock *flock, int64_t steps)
{
    KITH_BEGIN_FLOCK(flock);
    kith_ctx *ctx = flock->ctx;
    KITH_CHECK(ctx, steps >= 0, KITH_INVALID, "steps is %lld, expected 0 or more",
               (long long)steps);
    return kith__leave(ctx, ctx->backend->flock_step(ctx, flock, steps));
}

int64_t kith_flock_steps(const kith_flock *flock)
{
    return flock->step;
}

kith_status kith__flock_fetch(const struct kith_flock *flock)
{
    kith_ctx *ctx = flock->ctx;
    return ctx->backend->flock_fetch ? kith__leave(ctx, ctx->backend->flock_fetch(ctx, flock))
                                     : KITH_OK;
}

kith_status kith__flock_refuse_lost(const struct kith_flock *flock, int32_t particle)
{
    return kith__fail(flock->ctx, KITH_NOT_FINITE,
                      "step %lld takes particle %d (counted from 0) out of the range of numbers: "
                      "options.time_step is %g",
                      (long long)flock->step + 1, (int)particle, flock->rules.time_step);
}

kith_status kith_flock_read(const kith_flock *flock, void *positions, void *velocities)
{
    KITH_BEGIN_FLOCK(flock);
    KITH_TRY(kith__flock_fetch(flock));
    if (flock->question.precision == KITH_FLOAT) {
        read_f(flock, flock->now.r, positions);
        read_f(flock, flock->now.v, velocities);
    } else {
        read_d(flock, flock->now.r, positions);
        read_d(flock, flock->now.v, velocities);
    }
    return KITH_OK;
}

void kith_flock_read_things(const kith_flock *flock, kith_flock_thing *things)
{
    for (int t = 0; t < flock->rules.n_things; t++) {
        things[t] = flock->rules.thing[t];
    }
}

void kith_flock_close(kith_flock *flock)
{
    if (flock) {
        if (flock->device) {
            flock->ctx->backend->flock_forget(flock);
        }
        kith__buffer_free(&flock->memory);
        kith__buffer_free(&flock->glance.rank);
        kith__buffer_free(&flock->glance.copy);
        free(flock);
    }
}
