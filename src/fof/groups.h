/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_groups, and groups that are the same for all backends.
 */
#ifndef KITH_GROUPS_H
#define KITH_GROUPS_H

#include "fof.h"

/** Slot of the context's scratch: the first of three that kith__fof_by_pairs uses, between those of
 *  roles.c and those of debye.c. */
enum {
    KITH_FOF_ROLES_SLOT = KITH_WORK_OF(fof) + 8, /**< before them are the CPU backend's */
    KITH_FOF_PAIRS_SLOT = KITH_FOF_ROLES_SLOT + 20,
    KITH_FOF_PAIRS_END = KITH_WORK_OF(fof) + KITH_WORK_EACH
};

/** Make room for the labels of `points` particles, and one more. @return KITH_OK or
 *  KITH_NO_MEMORY. */
kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out);

/** Make room for n groups. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out);

/** As the backend's fof_find, where particles have roles or need links: those that link are grouped
 *  by themselves, then the others are attached. The question is in host memory. */
kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Find groups by the pair search, which serves every box and length that a question may have. For
 *  a backend's fof_find where kith__parts_init says that parts do not fit. The points may be in
 *  device memory; out is in host memory. Overwrites any grid in the context's scratch. */
kith_status kith__fof_by_pairs(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Are particles i and j friends?
 *  @param block    pairs with vectors
 *  @param pair     index in the block of the pair whose vector goes from i to an image of j
 *  @param[out] r2  their squared distance */
bool kith__are_friends(const struct kith__question *question, const struct kith__fof *fof,
                       const kith_pairs *block, int64_t pair, int64_t i, int64_t j, double *r2);

#endif
