/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Public entry of friends-of-friends: checks the arguments once, then calls the backend, or the
 * search with roles where particles have roles or a minimum number of links.
 */
#include <assert.h>
#include <float.h>

#include "core/atomics.h"
#include "core/sized.h"
#include "groups.h"
#include "subcells.h"

static const int64_t default_min_members = 20;

/* Size of kith_fof_options in version 0.1, the smallest that a caller's struct can have
 * (core/sized.h) [bytes]. */
enum { KITH_FOF_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_fof_options, velocity_length) };

static const kith_fof_options defaults = {.size = sizeof(kith_fof_options),
                                          .min_members = default_min_members};

/* Defines kith_fof_options_init_sized and kith_fof_options_init. */
KITH_INIT_CALLS(kith_fof_options, KITH_FOF_OPTIONS_0_1)

/** Shared state of the loop that checks roles. */
struct role_loop {
    const uint8_t *roles;  /**< the roles */
    _Atomic int64_t first; /**< first particle that has a wrong role; INT64_MAX: none */
};

/** kith__range_fn: look for a wrong role among those of particles [begin, end). A first loop, which
 *  compilers vectorise, finds out whether there is one. */
static void check_role_range(void *state, int64_t begin, int64_t end)
{
    struct role_loop *loop = state;
    uint8_t largest = 0;
    for (int64_t p = begin; p < end; p++) {
        largest = loop->roles[p] > largest ? loop->roles[p] : largest;
    }
    for (int64_t p = begin; p < end && largest > KITH_IGNORE; p++) {
        if (loop->roles[p] > KITH_IGNORE) {
            kith__atomic_min64(&loop->first, p);
            return;
        }
    }
}

kith_status kith__fof_refuse_role(kith_ctx *ctx, int64_t particle, int role)
{
    return kith__fail(ctx, KITH_INVALID,
                      "options.roles: the role of particle %lld (counted from 0) is %d, expected "
                      "KITH_LINK, KITH_ATTACH or KITH_IGNORE",
                      (long long)particle, role);
}

kith_status kith__fof_refuse_velocity(kith_ctx *ctx, int64_t particle)
{
    return kith__fail(
        ctx, KITH_NOT_FINITE,
        "options.velocities: the velocity of particle %lld (counted from 0) is not finite",
        (long long)particle);
}

/** Check the roles of n particles. @param roles  NULL is fine */
static kith_status check_roles(kith_ctx *ctx, int64_t n, const uint8_t *roles)
{
    struct role_loop loop = {roles, INT64_MAX};
    kith__loop(ctx, roles ? n : 0, check_role_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    const int64_t first = loop.first;
    return first == INT64_MAX ? KITH_OK : kith__fof_refuse_role(ctx, first, roles[first]);
}

/** Check the options of n particles, arrays in host memory included; the backend checks those in
 *  device memory.
 *  @return KITH_OK, KITH_INVALID, KITH_NOT_FINITE, KITH_CANCELLED */
static kith_status check_options(kith_ctx *ctx, int64_t n, const struct kith__fof *fof,
                                 kith_precision precision)
{
    KITH_CHECK(ctx, fof->min_members >= 1, KITH_INVALID,
               "options.min_members is %lld, expected 1 or more", (long long)fof->min_members);
    KITH_CHECK(ctx, fof->min_links >= 0, KITH_INVALID,
               "options.min_links is %lld, expected 0 or more", (long long)fof->min_links);
    KITH_TRY(check_roles(ctx, n, fof->memory == KITH_HOST ? fof->roles : NULL));
    /* kith__phase (engine/pair_real.h) divides by the rounded square, which must neither underflow
     * nor overflow in the precision of the points */
    const double speed = fof->velocity_length;
    const double square = kith__rounded(speed * speed, precision);
    const double least = precision == KITH_FLOAT ? (double)FLT_MIN : DBL_MIN;
    KITH_CHECK(ctx, !fof->velocities || (speed > 0 && square >= least && isfinite(square)),
               KITH_INVALID,
               "options.velocity_length is %g, expected a velocity above 0 whose square is in the "
               "range of %s",
               speed, precision == KITH_FLOAT ? "float" : "double");
    for (int64_t p = 0; p < 3 * n && fof->velocities && fof->memory == KITH_HOST; p++) {
        if (!isfinite(kith__real_at(fof->velocities, p, precision))) {
            return kith__fof_refuse_velocity(ctx, p / 3);
        }
    }
    return KITH_OK;
}

#ifndef NDEBUG
/** Return true when every label is 0 to groups->n, every group has at least min_members members,
 *  sizes do not increase, and their sum is at most the number of labelled particles: attached
 *  particles have a label, but are not members. Arrays in device memory are not read. */
static bool are_valid(const kith_groups *groups, int64_t min_members)
{
    int64_t labelled = 0, members = 0;
    bool valid = true;
    for (int64_t p = 0; p < groups->points && groups->memory == KITH_HOST; p++) {
        valid = valid && groups->labels[p] >= 0 && groups->labels[p] <= groups->n;
        labelled += groups->labels[p] > 0;
    }
    for (int64_t g = 0; g < groups->n && groups->memory == KITH_HOST; g++) {
        valid = valid && groups->members[g] >= min_members;
        valid = valid && (g == 0 || groups->members[g] <= groups->members[g - 1]);
        members += groups->members[g];
    }
    return valid && members <= labelled;
}
#endif

kith_status kith__fof_find(kith_ctx *ctx, const struct kith__question *q,
                           const struct kith__fof *fof, kith_groups *out)
{
    struct kith__question question = *q;
    kith__subcells_set_width(&question);
    const struct kith__fof_backend *backend = ctx->backend->fof;
    if (!fof->roles && fof->min_links == 0) {
        return backend->find(ctx, &question, fof, out);
    }
    return backend->find_by_roles ? backend->find_by_roles(ctx, &question, fof, out)
                                  : kith__fof_by_roles(ctx, &question, fof, out);
}

/** Check all options except options->batch, and that the backend finds groups.
 *  @param options   a struct of the library's size (core/sized.h)
 *  @param question  the question of all particles, of all systems in a batch
 *  @param[out] fof  checked copy of the options; its arrays stay those of the caller
 *  @return KITH_OK, KITH_INVALID, KITH_NOT_FINITE, KITH_UNSUPPORTED */
static kith_status read_options(kith_ctx *ctx, const kith_fof_options *options,
                                const struct kith__question *question, struct kith__fof *fof)
{
    *fof = (struct kith__fof){
        .min_members = options->min_members,
        .min_links = options->min_links,
        .ids = options->ids,
        .roles = options->roles,
        .velocities = options->velocities,
        .velocity_length = kith__rounded(options->velocity_length, question->precision),
        .memory = options->memory};
    KITH_TRY(kith__check_memory(ctx, "options", options->memory));
    KITH_CHECK(ctx, options->memory == KITH_HOST || !options->batch, KITH_UNSUPPORTED,
               "options.batch: ids, roles and velocities are expected in host memory");
    KITH_TRY(check_options(ctx, question->a.n, fof, question->precision));
    KITH_CHECK(ctx, ctx->backend->fof->find != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not find groups", ctx->name);
    return KITH_OK;
}

kith_status kith__fof_check(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double length, const kith_fof_options *given, kith_fof_options *own,
                            struct kith__question *question)
{
    struct kith__fof fof;
    *own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_fof_options_init, given, KITH_FOF_OPTIONS_0_1, own);
    KITH_TRY(kith__question_init(ctx, points, NULL, box, length, "length", question));
    KITH_CHECK(ctx, own->memory == KITH_HOST, KITH_UNSUPPORTED,
               "options: ids, roles and velocities are expected in host memory");
    return read_options(ctx, own, question, &fof);
}

kith_status kith__fof_components(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                 double length, const kith_fof_options *options, kith_groups *out)
{
    struct kith__question question;
    struct kith__fof fof;
    KITH_TRY(kith__question_init(ctx, points, NULL, box, length, "length", &question));
    KITH_TRY(read_options(ctx, options, &question, &fof));
    fof.any_order = true;
    kith__subcells_set_width(&question);
    return kith__end_call(ctx, ctx->backend->fof->find(ctx, &question, &fof, out));
}

/** Check the arguments, then find the groups of one system or of a batch.
 *  @param options, out  structs of the library's size (core/sized.h) */
static kith_status find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                        double length, const kith_fof_options *options, kith_groups *out)
{
    KITH_CHECK(ctx, out->owner || (!out->labels && !out->members), KITH_INVALID,
               "out's arrays are not the library's: set *out to zeros");
    struct kith__batch batch;
    const struct kith__question *question = &batch.whole;
    KITH_TRY(options->batch
                 ? kith__batch_read(ctx, "options.batch", options->batch, points, NULL, box, length,
                                    "length", &batch)
                 : kith__question_init(ctx, points, NULL, box, length, "length", &batch.whole));
    struct kith__fof fof;
    KITH_TRY(read_options(ctx, options, question, &fof));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, !options->batch || out->memory == KITH_HOST, KITH_UNSUPPORTED,
               "options.batch: groups of a batch are returned in host memory alone");
    KITH_TRY(kith__end_call(ctx, options->batch ? kith__fof_batch(ctx, &batch, &fof, out)
                                                : kith__fof_find(ctx, question, &fof, out)));
    assert(options->batch || are_valid(out, fof.min_members));
    return KITH_OK;
}

/** Copy the caller's structs, whose sizes depend on the version that the program was built for, to
 *  structs of the library's size (core/sized.h); find the groups; copy the result back, also after
 *  a failure. */
static kith_status find_into(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                             double length, const kith_fof_options *options, kith_groups *out)
{
    kith_fof_options own_options = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_fof_options_init, options, KITH_FOF_OPTIONS_0_1,
                      &own_options);
    kith_groups own;
    KITH_RESULT_READ(ctx, out, KITH_GROUPS_0_1, &own);
    const kith_status status = find(ctx, points, box, length, &own_options, &own);
    KITH_RESULT_WRITE(&own, KITH_GROUPS_0_1, out);
    return status;
}

kith_status kith_fof_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                          double length, const kith_fof_options *options, kith_groups *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, find_into(ctx, points, box, length, options, out));
    if (status != KITH_OK && out) {
        out->n = out->points = 0;
    }
    return status;
}
