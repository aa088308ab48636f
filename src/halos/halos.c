/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Public entry of halo properties: checks the arguments, calls the backend, which also checks each
 * particle, and then finds spherical overdensities.
 */
#include "halo.h"
#include <string.h>

#include "core/owned.h"
#include "core/sized.h"

/* Numbers of the arrays in kith__owned.array: halos sizeof(kith_halo) apart, and their copy with
 * the caller's stride. */
enum { HALOS, SPREAD };

/* Sizes of the structs in version 0.1, the smallest that a caller's can have (core/sized.h)
 * [bytes]. */
enum {
    KITH_HALO_INPUT_0_1 = KITH_SIZE_UP_TO(kith_halo_input, sphere_density),
    KITH_HALO_0_1 = KITH_SIZE_UP_TO(kith_halo, sphere_mass),
    KITH_HALOS_0_1 = KITH_SIZE_UP_TO(kith_halos, owner)
};

static const kith_halo_input defaults = {.size = sizeof(kith_halo_input)};

/* Defines kith_halo_input_init_sized and kith_halo_input_init. */
KITH_INIT_CALLS(kith_halo_input, KITH_HALO_INPUT_0_1)

kith_status kith__halo_input(kith_ctx *ctx, const kith_halo_input *given, kith_halo_input *input)
{
    *input = defaults;
    return kith__options_read(ctx, "input", "kith_halo_input_init", given, KITH_HALO_INPUT_0_1,
                              input);
}

/** Return the bytes from one halo of a result to the next. @param stride  kith_halos.stride */
static size_t halo_stride(int64_t stride)
{
    return stride ? (size_t)stride : KITH_HALO_0_1;
}

/** Check where groups and results are, and that spheres are wanted in host memory alone. */
static kith_status check_memory(kith_ctx *ctx, const kith_points *points, const kith_groups *groups,
                                const kith_halo_input *input, const kith_halos *out)
{
    KITH_TRY(kith__check_memory(ctx, "groups", groups->memory));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    for (int s = 0; s < KITH_SPHERES; s++) {
        KITH_CHECK(ctx,
                   input->sphere_density[s] == 0 ||
                       (points->memory == KITH_HOST && out->memory == KITH_HOST),
                   KITH_UNSUPPORTED,
                   "sphere_density[%d] is %g, but points or out are in device memory: spheres are "
                   "found from host memory",
                   s, input->sphere_density[s]);
    }
    return KITH_OK;
}

kith_status kith__spheres_check(kith_ctx *ctx, int dim, const kith_halo_input *input)
{
    for (int s = 0; s < KITH_SPHERES; s++) {
        const double density = input->sphere_density[s];
        KITH_CHECK(ctx, density >= 0 && isfinite(density), KITH_INVALID,
                   "sphere_density[%d] is %g, expected a density or 0", s, density);
        KITH_CHECK(ctx, density == 0 || dim == 3, KITH_INVALID,
                   "sphere_density[%d] is %g, but the box is flat: spheres need dim 3", s, density);
    }
    return KITH_OK;
}

/** Check the arguments of kith_halos_measure except points, box and the arrays of particles. */
static kith_status check_call(kith_ctx *ctx, const kith_points *points, const kith_groups *groups,
                              const kith_halo_input *input, const kith_halos *out)
{
    KITH_CHECK(ctx, out->owner || !out->halo, KITH_INVALID,
               "out holds an array that is not the library's: zero it");
    KITH_CHECK(ctx, groups != NULL, KITH_INVALID, "groups is NULL");
    KITH_CHECK(ctx, groups->points == points->n, KITH_INVALID,
               "groups are of %lld particles, but there are %lld", (long long)groups->points,
               (long long)points->n);
    KITH_CHECK(ctx, groups->n >= 0 && groups->n <= points->n, KITH_INVALID,
               "groups.n is %lld, expected 0 to the number of particles, %lld",
               (long long)groups->n, (long long)points->n);
    KITH_CHECK(ctx, points->n == 0 || groups->labels, KITH_INVALID, "groups.labels is NULL");
    return check_memory(ctx, points, groups, input, out);
}

kith_status kith__halo_refuse(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__members *members, int64_t fault, double value)
{
    static const char *const names[KITH_FAULTS] = {
        [KITH_FAULT_MASS] = "masses: the mass",
        [KITH_FAULT_VELOCITY] = "velocities: the velocity",
        [KITH_FAULT_POTENTIAL] = "potentials: the potential",
        [KITH_FAULT_DENSITY] = "densities: the density",
    };
    const int64_t p = fault / KITH_FAULTS;
    const int what = (int)(fault % KITH_FAULTS);
    const bool is_mass = what == KITH_FAULT_MASS;
    switch (what) {
    case KITH_FAULT_FINITE: return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, p);
    case KITH_FAULT_FAR: return kith__refuse(ctx, q, "points", KITH_LIMIT, p);
    case KITH_FAULT_TYPE:
        return kith__fail(ctx, KITH_INVALID,
                          "types: the type of particle %lld (counted from 0) is %d, expected 0 to "
                          "%d",
                          (long long)p, (int)value, KITH_TYPES - 1);
    case KITH_FAULT_LABEL:
        return kith__fail(ctx, KITH_INVALID,
                          "groups.labels: the label of particle %lld (counted from 0) is %d, "
                          "expected 0 to %lld",
                          (long long)p, (int)value, (long long)members->groups);
    default:
        return kith__fail(ctx, is_mass ? KITH_INVALID : KITH_NOT_FINITE,
                          "%s of particle %lld (counted from 0) is %g, expected a finite number%s",
                          names[what], (long long)p, value, is_mass ? " above 0" : "");
    }
}

kith_status kith__halo_empty(kith_ctx *ctx, int64_t g)
{
    return kith__fail(ctx, KITH_INVALID, "group %lld has no particle: no label is %lld",
                      (long long)g, (long long)g);
}

kith_status kith__halos_need(kith_ctx *ctx, int64_t n, kith_halos *out)
{
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    out->halo = owned ? kith__owned_need(owned, HALOS, (size_t)n * sizeof *out->halo) : NULL;
    KITH_CHECK(ctx, out->halo, KITH_NO_MEMORY, "out of memory for %lld halos", (long long)n);
    out->n = n;
    return KITH_OK;
}

/** Check the arguments, measure the groups by the backend, then find their spheres.
 *  @param input, out  structs of the library's size (core/sized.h) */
static kith_status measure(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           const kith_groups *groups, const kith_halo_input *input, kith_halos *out)
{
    struct kith__question question;
    KITH_TRY(kith__question_space(ctx, points, NULL, box, &question));
    KITH_TRY(check_call(ctx, points, groups, input, out));
    KITH_TRY(kith__spheres_check(ctx, question.dim, input));
    const struct kith__members members = {.points = question.a,
                                          .box = question.box_d,
                                          .dim = question.dim,
                                          .input = *input,
                                          .labels = groups->labels,
                                          .labels_memory = groups->memory,
                                          .groups = groups->n};
    KITH_TRY(kith__end_call(ctx, ctx->backend->halos->measure(ctx, &question, &members, out)));
    const double start = kith__seconds();
    const kith_status status = kith__spheres_measure(ctx, box, &question, &members.input, out);
    out->sphere_seconds = kith__seconds() - start;
    return status;
}

kith_status kith__halos_check_stride(kith_ctx *ctx, int64_t stride, kith_memory memory)
{
    KITH_CHECK(ctx,
               stride == 0 || (stride >= KITH_HALO_0_1 && stride <= KITH_MOST_SIZE &&
                               stride % (int64_t)sizeof(double) == 0),
               KITH_INVALID, "out.stride is %lld, expected %zu, or 0 for the fields of version 0.1",
               (long long)stride, sizeof(kith_halo));
    KITH_CHECK(ctx, memory == KITH_HOST || halo_stride(stride) == sizeof(kith_halo),
               KITH_UNSUPPORTED,
               "out.stride is %lld and out is in device memory, where halos are %zu bytes apart",
               (long long)stride, sizeof(kith_halo));
    return KITH_OK;
}

kith_status kith__halos_spread(kith_ctx *ctx, int64_t stride, int64_t n, void *owner,
                               kith_halo **halo)
{
    const size_t bytes = halo_stride(stride);
    const size_t known = bytes < sizeof(kith_halo) ? bytes : sizeof(kith_halo);
    if (bytes == sizeof(kith_halo)) {
        return KITH_OK;
    }
    char *to = kith__owned_need(owner, SPREAD, (size_t)n * bytes);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %lld halos", (long long)n);
    memset(to, 0, (size_t)n * bytes);
    for (size_t g = 0; g < (size_t)n; g++) {
        memcpy(to + g * bytes, *halo + g, known);
    }
    *halo = (kith_halo *)(void *)to;
    return KITH_OK;
}

/** Copy the caller's structs, whose sizes depend on the version that the program was built for, to
 *  structs of the library's size (core/sized.h); measure; copy the result back, also after a
 *  failure of the measurement. */
static kith_status measure_into(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                const kith_groups *groups, const kith_halo_input *input,
                                kith_halos *out)
{
    kith_halo_input own_input;
    KITH_TRY(kith__halo_input(ctx, input, &own_input));
    kith_halos own;
    KITH_RESULT_READ(ctx, out, KITH_HALOS_0_1, &own);
    KITH_TRY(kith__halos_check_stride(ctx, own.stride, own.memory));
    kith_status status = measure(ctx, points, box, groups, &own_input, &own);
    if (status == KITH_OK) {
        status = kith__halos_spread(ctx, own.stride, own.n, own.owner, &own.halo);
    }
    KITH_RESULT_WRITE(&own, KITH_HALOS_0_1, out);
    return status;
}

kith_status kith_halos_measure(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                               const kith_groups *groups, const kith_halo_input *input,
                               kith_halos *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, measure_into(ctx, points, box, groups, input, out));
    if (status != KITH_OK && out) {
        out->n = 0;
    }
    return status;
}

void kith_halos_free(kith_halos *halos)
{
    if (halos) {
        kith__owned_free(halos->owner);
        KITH_RESULT_CLEAR(halos, kith_halos, KITH_HALOS_0_1);
    }
}
