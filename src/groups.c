/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of groups, kept from call to call.
 */
#include "groups.h"

#include "owned.h"

enum { LABELS, MEMBERS };

kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out)
{
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    const size_t bytes = ((size_t)points + 1) * sizeof(int32_t);
    out->n = 0;
    out->points = points;
    out->members = NULL;
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

void kith_groups_free(kith_groups *groups)
{
    if (groups) {
        kith__owned_free(groups->owner);
        *groups = (kith_groups){0};
    }
}
