/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a kith_groups, kept from call to call, and the test whether a pair are friends.
 */
#include "groups.h"

#include "core/owned.h"
#include "core/sized.h"

/* Numbers of the arrays in kith__owned.array. */
enum { LABELS, MEMBERS, OFFSETS };

kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out)
{
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    const size_t bytes = ((size_t)points + 1) * sizeof(int32_t);
    out->n = 0;
    out->points = points;
    out->members = NULL;
    out->systems = 0;
    out->offsets = NULL;
    out->labels = owned ? kith__owned_need(owned, LABELS, bytes) : NULL;
    KITH_CHECK(ctx, out->labels != NULL, KITH_NO_MEMORY, "out of memory for %lld labels",
               (long long)points);
    return KITH_OK;
}

kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out)
{
    out->n = n;
    out->members = kith__owned_need(out->owner, MEMBERS, (size_t)n * sizeof(int64_t));
    KITH_CHECK(ctx, out->members != NULL, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    return KITH_OK;
}

kith_status kith__groups_systems(kith_ctx *ctx, int64_t systems, kith_groups *out)
{
    const size_t bytes = (size_t)(systems + 1) * sizeof(int64_t);
    out->systems = systems;
    out->offsets = kith__owned_need(out->owner, OFFSETS, bytes);
    KITH_CHECK(ctx, out->offsets != NULL, KITH_NO_MEMORY, "out of memory for %lld systems",
               (long long)systems);
    return KITH_OK;
}

bool kith__are_friends(const struct kith__question *q, const struct kith__fof *fof,
                       const kith_pairs *block, int64_t pair, int64_t i, int64_t j, double *r2)
{
    /* r2 is rounded step by step, as in the definition of a pair. Without velocities it needs no
     * test: the block holds only pairs within the linking length. */
    if (q->precision == KITH_FLOAT) {
        const float *d = (const float *)block->vectors + 3 * pair;
        const float square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        const float *v = fof->velocities;
        *r2 = (double)square;
        return !v || kith__phase_f(square, (float)q->cutoff, v + 3 * i, v + 3 * j,
                                   (float)fof->velocity_length) <= 1;
    }
    const double *d = (const double *)block->vectors + 3 * pair;
    const double *v = fof->velocities;
    *r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    return !v || kith__phase_d(*r2, q->cutoff, v + 3 * i, v + 3 * j, fof->velocity_length) <= 1;
}

void kith_groups_free(kith_groups *groups)
{
    if (groups) {
        kith__owned_free(groups->owner);
        KITH_RESULT_CLEAR(groups, kith_groups, KITH_GROUPS_0_1);
    }
}
