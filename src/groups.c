/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of groups, kept from call to call.
 */
#include "groups.h"

#include <stdlib.h>

#include "backend.h"

struct owned {
    const struct kith__memory *memory;
    struct kith__buffer labels, members;
};

static void free_owned(struct owned *owned)
{
    if (owned) {
        owned->memory->free(&owned->labels);
        owned->memory->free(&owned->members);
        free(owned);
    }
}

kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out)
{
    const struct kith__memory *memory = kith__memory_of(ctx, out->memory);
    struct owned *owned = out->owner;
    if (owned && owned->memory != memory) { /* the caller wants it elsewhere now */
        free_owned(owned);
        owned = NULL;
    }
    owned = owned ? owned : calloc(1, sizeof *owned);
    out->owner = owned;
    out->n = 0;
    out->points = points;
    out->members = NULL;
    out->labels = NULL;
    if (owned) {
        owned->memory = memory;
        out->labels = memory->need(&owned->labels, ((size_t)points + 1) * sizeof(int32_t));
    }
    KITH_CHECK(ctx, out->labels != NULL, KITH_NO_MEMORY, "out of memory for %lld labels",
               (long long)points);
    return KITH_OK;
}

kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out)
{
    struct owned *owned = out->owner;
    out->n = n;
    out->members = owned->memory->need(&owned->members, (size_t)n * sizeof(int64_t));
    KITH_CHECK(ctx, out->members != NULL, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)n);
    return KITH_OK;
}

void kith_groups_free(kith_groups *groups)
{
    if (groups) {
        free_owned(groups->owner);
        *groups = (kith_groups){0};
    }
}
