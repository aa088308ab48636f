/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of sums over plane waves: check the arguments once, then call the backend.
 */
#include "wave_phase.h"

#include "core/sized.h"
#include "waves.h"

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_WAVES_0_1 = KITH_SIZE_UP_TO(kith_waves, n_species) };

static const kith_waves defaults = {.size = sizeof(kith_waves), .n_species = 1};

/* kith_waves_init_sized, kith_waves_init */
KITH_INIT_CALLS(kith_waves, KITH_WAVES_0_1)

/** Check that h, k and l of all waves are in range (KITH_MOST_POWER), and 0 along open axes.
 *  @return KITH_OK, KITH_LIMIT, KITH_INVALID */
static kith_status check_hkl(kith_ctx *ctx, const struct kith__question *q, const kith_waves *waves)
{
    for (int64_t w = 0; w < waves->n; w++) {
        for (int k = 0; k < 3; k++) {
            const int32_t power = waves->hkl[3 * w + k];
            KITH_CHECK(ctx, power >= -KITH_MOST_POWER && power <= KITH_MOST_POWER, KITH_LIMIT,
                       "waves.hkl[%lld][%d] is %d, expected -2^14 to 2^14", (long long)w, k,
                       (int)power);
            KITH_CHECK(ctx, power == 0 || (k < q->dim && q->box_d.periodic[k]), KITH_INVALID,
                       "waves.hkl[%lld][%d] is %d, but the box is open along that axis",
                       (long long)w, k, (int)power);
        }
    }
    return KITH_OK;
}

/** Check all arguments of kith_waves_sum, and call the backend. */
static kith_status sum(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                       const kith_waves *given, double *sums)
{
    KITH_CHECK(ctx, given != NULL, KITH_INVALID, "waves is NULL");
    kith_waves own = defaults;
    KITH_OPTIONS_READ(ctx, "waves", kith_waves_init, given, KITH_WAVES_0_1, &own);
    const kith_waves *waves = &own;
    KITH_CHECK(ctx, waves->n >= 0 && (waves->hkl || waves->n == 0), KITH_INVALID,
               "waves.n is %lld and hkl is %s", (long long)waves->n, waves->hkl ? "given" : "NULL");
    KITH_CHECK(ctx, sums != NULL || waves->n == 0, KITH_INVALID, "sums is NULL");
    struct kith__question q;
    KITH_TRY(kith__question_space(ctx, points, NULL, box, &q));
    struct kith__waves all = {
        .n = waves->n, .hkl = waves->hkl, .species = waves->species, .n_species = waves->n_species};
    all.sums = sums;
    KITH_TRY(kith__check_species(ctx, "waves.n_species", "waves.species", all.species, q.a.n,
                                 all.n_species));
    KITH_TRY(check_hkl(ctx, &q, waves));
    KITH_CHECK(ctx, ctx->backend->waves->sum != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not sum over waves", ctx->name);
    return kith__end_call(ctx, ctx->backend->waves->sum(ctx, &q, &all));
}

kith_status kith_waves_sum(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           const kith_waves *waves, double *sums)
{
    kith_status status;
    KITH_CALL(ctx, &status, sum(ctx, points, box, waves, sums));
    return status;
}
