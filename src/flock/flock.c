/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of flocks: copy the caller's particles, have the backend advance them, and
 * return them in the caller's order.
 */
#include "flock.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cells.h"

/* The arrays of r and v are padded by KITH_ALIGN bytes, as vectors are read beyond their end. */
kith_status kith__flock_lay_out(struct kith_flock *flock)
{
    const size_t n = (size_t)flock->n;
    const size_t real = (size_t)flock->question.precision;
    const size_t row = (n * real + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN + KITH_ALIGN;
    const size_t ids = (n * sizeof(int32_t) + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    const int n_states = flock->ctx->backend->flock->fetch ? 1 : 2; /* `next` is on the device */
    char *at = kith__buffer_need(&flock->memory, (size_t)n_states * (6 * row + ids));
    struct kith__flock_state *const states[2] = {&flock->now, &flock->next};
    for (int h = 0; h < n_states && at; h++) {
        for (int k = 0; k < 3; k++, at += row) {
            states[h]->r[k] = at;
        }
        for (int k = 0; k < 3; k++, at += row) {
            states[h]->v[k] = at;
        }
        states[h]->id = (int32_t *)(void *)at;
        at += ids;
    }
    KITH_CHECK(flock->ctx, at != NULL, KITH_NO_MEMORY, "out of memory for a flock of %lld",
               (long long)flock->n);
    return KITH_OK;
}

void kith__flock_set_points(struct kith_flock *flock)
{
    struct kith__question *q = &flock->question;
    void **r = flock->now.r;
    q->a = kith_points_split(r[0], r[1], q->dim == 3 ? r[2] : NULL, flock->n, q->precision);
    q->b = q->a;
}

/** Return true when a position is within the reflecting walls. */
static bool enclosed(const struct kith__flock_rules *rules, const double r[3])
{
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside = inside &&
                 (!rules->reflecting[k] || (r[k] >= rules->lo[k] && r[k] <= rules->hi[k]));
    }
    return inside;
}

/** Check particle p of the caller, and copy it to flock->now, its position wrapped. */
static kith_status copy_particle(struct kith_flock *flock, const kith_points *points,
                                 const kith_points *velocities, int64_t p)
{
    kith_ctx *ctx = flock->ctx;
    const struct kith__question *q = &flock->question;
    double r[3], v[3];
    int32_t image[3];
    const bool fits = kith__load(q, points, p, r, image);
    kith__position(velocities, q->dim, q->precision, p, v);
    if (!kith__is_finite(v)) {
        return kith__refuse(ctx, q, "velocities", KITH_NOT_FINITE, flock->first + p);
    }
    if (!kith__is_finite(r)) {
        return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, flock->first + p);
    }
    if (!fits) {
        return kith__refuse(ctx, q, "points", KITH_LIMIT, flock->first + p);
    }
    KITH_CHECK(ctx, enclosed(&flock->rules, r), KITH_INVALID,
               "points: particle %lld (counted from 0) is outside the walls",
               (long long)(flock->first + p));
    for (int k = 0; k < 3; k++) {
        kith__set_real(flock->now.r[k], p, q->precision, r[k]);
        kith__set_real(flock->now.v[k], p, q->precision, v[k]);
    }
    flock->now.id[p] = (int32_t)p;
    return KITH_OK;
}

/** Check the particles of the caller, and copy them to flock->now.
 *  @param points, velocities  in host memory
 *  @return KITH_OK, the status of the first particle that is refused, or KITH_CANCELLED */
static kith_status copy_particles(struct kith_flock *flock, const kith_points *points,
                                  const kith_points *velocities)
{
    for (int64_t p = 0; p < flock->n; p++) {
        enum { COST = 30 }; /* of a particle, for kith__skip [about 1 ns] */
        if (kith__skip(flock->ctx, p, COST)) {
            break;
        }
        KITH_TRY(copy_particle(flock, points, velocities, p));
    }
    return kith__proceed(flock->ctx);
}

/** Make coordinates available in host memory: the caller's, or a copy of those in device memory.
 *  @param copy      buffer for the copy
 *  @param[out] out  the coordinates */
static kith_status bring(struct kith_flock *flock, const kith_points *points,
                         struct kith__buffer *copy, kith_points *out)
{
    kith_ctx *ctx = flock->ctx;
    *out = *points;
    if (points->memory == KITH_HOST) {
        return KITH_OK;
    }
    const int dim = flock->question.dim;
    const size_t row = (size_t)points->n * (size_t)points->precision;
    char *to = kith__buffer_need(copy, (size_t)dim * row + 1); /* never 0 bytes */
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for a flock of %lld",
               (long long)points->n);
    *out = kith_points_split(to, to + row, dim == 3 ? to + 2 * row : NULL, points->n,
                             points->precision);
    return points->n > 0 ? ctx->backend->flock->bring(ctx, points, dim, to) : KITH_OK;
}

/** Copy the particles of the caller, in host or device memory, to flock->now. */
static kith_status take_particles(struct kith_flock *flock, const kith_points *points,
                                  const kith_points *velocities)
{
    struct kith__buffer copies[2] = {{NULL, 0}, {NULL, 0}};
    kith_points r, v;
    kith_status status = bring(flock, points, &copies[0], &r);
    if (status == KITH_OK) {
        status = bring(flock, velocities, &copies[1], &v);
    }
    if (status == KITH_OK) {
        status = copy_particles(flock, &r, &v);
    }
    kith__buffer_free(&copies[0]);
    kith__buffer_free(&copies[1]);
    return status;
}

kith_status kith__flock_start(struct kith_flock *flock, const kith_points *points,
                              const kith_points *velocities, const kith_box *box,
                              const kith_flock_options *options)
{
    kith_ctx *ctx = flock->ctx;
    const kith_box open = kith_box_open();
    flock->box = box ? *box : open;
    struct kith__question other;
    KITH_TRY(kith__question_space(ctx, points, NULL, &flock->box, &flock->question));
    KITH_CHECK(ctx, velocities != NULL, KITH_INVALID, "velocities is NULL");
    KITH_TRY(kith__question_space(ctx, velocities, NULL, &flock->box, &other));
    KITH_CHECK(ctx, velocities->n == points->n && velocities->precision == points->precision,
               KITH_INVALID, "velocities: their number or precision is not that of the points");
    flock->n = flock->own = points->n;
    flock->all = flock->all > 0 ? flock->all : flock->n;
    KITH_TRY(kith__flock_rules_init(flock, options, &flock->step));
    KITH_TRY(kith__flock_lay_out(flock));
    KITH_TRY(take_particles(flock, points, velocities));
    kith__flock_set_points(flock);
    return KITH_OK;
}

/** kith_flock_open, within a call of the context. */
static kith_status open_flock(kith_ctx *ctx, const kith_points *points,
                              const kith_points *velocities, const kith_box *box,
                              const kith_flock_options *options, kith_flock **out)
{
    KITH_CHECK(ctx, out != NULL, KITH_INVALID, "out is NULL");
    KITH_CHECK(ctx, ctx->backend->flock->step != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not step flocks", ctx->name);
    struct kith_flock *flock = calloc(1, sizeof *flock);
    KITH_CHECK(ctx, flock != NULL, KITH_NO_MEMORY, "out of memory for a flock");
    flock->ctx = ctx;
    const kith_status status = kith__flock_start(flock, points, velocities, box, options);
    if (status != KITH_OK) {
        kith_flock_close(flock);
        return status;
    }
    *out = flock;
    return KITH_OK;
}

kith_status kith_flock_open(kith_ctx *ctx, const kith_points *points, const kith_points *velocities,
                            const kith_box *box, const kith_flock_options *options,
                            kith_flock **out)
{
    kith_status status;
    if (out) {
        *out = NULL;
    }
    KITH_CALL(ctx, &status, open_flock(ctx, points, velocities, box, options, out));
    return status;
}

/* Particles may be outside walls that the options add until the next step has reflected them
 * (flock->walled). */
kith_status kith__flock_change(struct kith_flock *flock, const kith_flock_options *options)
{
    const int before[3] = {flock->rules.reflecting[0], flock->rules.reflecting[1],
                           flock->rules.reflecting[2]};
    int64_t ignored;
    KITH_TRY(kith__flock_rules_init(flock, options, &ignored));
    for (int k = 0; k < 3; k++) {
        if (flock->rules.reflecting[k] && !before[k]) {
            flock->walled = flock->step + 1;
        }
    }
    return KITH_OK;
}

kith_status kith_flock_change(kith_flock *flock, const kith_flock_options *options)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, kith__flock_change(flock, options));
    return status;
}

/** kith_flock_step, within a call of the context. */
static kith_status advance(kith_flock *flock, int64_t steps)
{
    kith_ctx *ctx = flock->ctx;
    KITH_CHECK(ctx, steps >= 0, KITH_INVALID, "steps is %lld, expected 0 or more",
               (long long)steps);
    return kith__end_call(ctx, ctx->backend->flock->step(ctx, flock, steps));
}

kith_status kith_flock_step(kith_flock *flock, int64_t steps)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, advance(flock, steps));
    return status;
}

int64_t kith_flock_steps(const kith_flock *flock)
{
    return flock ? flock->step : 0;
}

kith_status kith__flock_fetch(const struct kith_flock *flock)
{
    kith_ctx *ctx = flock->ctx;
    return ctx->backend->flock->fetch ? kith__end_call(ctx, ctx->backend->flock->fetch(ctx, flock))
                                      : KITH_OK;
}

void kith__flock_commit(struct kith_flock *flock, const struct kith__flock_survey *survey)
{
    for (int t = 0; t < flock->rules.n_things; t++) {
        kith_flock_thing *thing = &flock->rules.thing[t];
        if (thing->kind == KITH_PREDATOR && survey->prey[t].distance < INFINITY) {
            kith__flock_chase(&flock->rules, &flock->question.box_d, survey->prey[t].way, thing);
        }
    }
    const struct kith__flock_state old = flock->now;
    flock->now = flock->next;
    flock->next = old;
    flock->step++;
    kith__flock_set_points(flock);
}

kith_status kith__flock_refuse_lost(const struct kith_flock *flock, int64_t particle)
{
    return kith__fail(flock->ctx, KITH_NOT_FINITE,
                      "step %lld takes particle %lld (counted from 0) out of the range of numbers: "
                      "options.time_step is %g",
                      (long long)flock->step + 1, (long long)particle, flock->rules.time_step);
}

/** State of the loop that writes vectors in the caller's order. */
struct read_loop {
    const struct kith_flock *flock; /**< the flock */
    void *const *from;              /**< [3][n] components, in the order of the state */
    void *to;                       /**< [n][3] vectors, in the caller's order */
};

/** kith__range_fn: write the vectors of entries [begin, end) of the state. */
static void read_range(void *state, int64_t begin, int64_t end)
{
    const struct read_loop *loop = state;
    const kith_precision precision = loop->flock->question.precision;
    for (int64_t s = begin; s < end; s++) {
        for (int k = 0; k < 3; k++) {
            const double x = kith__real_at(loop->from[k], s, precision);
            kith__set_real(loop->to, 3 * (int64_t)loop->flock->now.id[s] + k, precision, x);
        }
    }
}

/** Write vectors in the caller's order.
 *  @param from  [3][n] components, in the order of the state
 *  @param to    [n][3]; NULL: nothing is written */
static void read_out(const struct kith_flock *flock, void *const from[3], void *to)
{
    struct read_loop loop = {flock, from, to};
    kith__loop(flock->ctx, to ? flock->n : 0, read_range, &loop);
}

/** kith_flock_read, within a call of the context. */
static kith_status read_all(const kith_flock *flock, void *positions, void *velocities)
{
    kith__cancel_never(flock->ctx); /* a caller reads the state after a cancelled step, too */
    KITH_TRY(kith__flock_fetch(flock));
    read_out(flock, flock->now.r, positions);
    read_out(flock, flock->now.v, velocities);
    return KITH_OK;
}

kith_status kith_flock_read(const kith_flock *flock, void *positions, void *velocities)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, read_all(flock, positions, velocities));
    return status;
}

/** kith_flock_read_device, within a call of the context. */
static kith_status read_device(kith_flock *flock, void *positions, void *velocities)
{
    kith_ctx *ctx = flock->ctx;
    KITH_CHECK(ctx, ctx->backend->flock->read != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" has no device memory", ctx->name);
    if (flock->n == 0 || (!positions && !velocities)) {
        return KITH_OK;
    }
    kith__cancel_never(ctx);
    return kith__end_call(ctx, ctx->backend->flock->read(ctx, flock, positions, velocities));
}

kith_status kith_flock_read_device(kith_flock *flock, void *positions, void *velocities)
{
    kith_status status;
    KITH_FLOCK_CALL(flock, &status, read_device(flock, positions, velocities));
    return status;
}

void kith_flock_read_things(const kith_flock *flock, kith_flock_thing *things)
{
    for (int t = 0; flock && things && t < flock->rules.n_things; t++) {
        things[t] = flock->rules.thing[t];
    }
}

void kith_flock_close(kith_flock *flock)
{
    if (flock) {
        if (flock->device) {
            flock->ctx->backend->flock->forget(flock);
        }
        kith__buffer_free(&flock->memory);
        kith__buffer_free(&flock->species);
        kith__buffer_free(&flock->heed);
        kith__buffer_free(&flock->subset.rank);
        kith__buffer_free(&flock->subset.copy);
        free(flock);
    }
}
