/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of groups, kept from call to call.
 */
#include "groups.h"

#include <stdlib.h>

struct owned {
    struct kith__buffer labels, members;
};

kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out)
{
    if (!out->owner) {
        out->owner = calloc(1, sizeof(struct owned));
    }
    struct owned *owned = out->owner;
    out->n = 0;
    out->points = points;
    out->labels = owned ? kith__buffer_need(&owned->labels, (size_t)points * sizeof(int32_t))
                        : NULL;
    KITH_CHECK(ctx, out->labels != NULL, KITH_NO_MEMORY, "out of memory for %lld labels",
               (long long)points);
    return KITH_OK;
}

kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out)
{
    struct owned *owned = out->owner;
    out->n = n;
    out->members = kith__buffer_need(&owned->members, (size_t)n * sizeof(int64_t));
    KITH_CHECK(ctx, out->members != NULL, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    return KITH_OK;
}

void kith_groups_free(kith_groups *groups)
{
    if (groups && groups->owner) {
        struct owned *owned = groups->owner;
        kith__buffer_free(&owned->labels);
        kith__buffer_free(&owned->members);
        free(owned);
    }
    if (groups) {
        *groups = (kith_groups){0};
    }
}
