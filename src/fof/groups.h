/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a kith_groups, and the two ways to find groups that all backends share: with roles, and
 * from the pair search.
 */
#ifndef KITH_GROUPS_H
#define KITH_GROUPS_H

#include "fof.h"

/** Slots of the context's scratch memory: first those of the CPU backend, then those of roles.c,
 *  then those of fof_pairs.c. */
enum {
    KITH_FOF_ROLES_SLOT = KITH_WORK_OF(fof) + 8,            /**< first slot of roles.c */
    KITH_FOF_PAIRS_SLOT = KITH_FOF_ROLES_SLOT + 20,         /**< first slot of fof_pairs.c */
    KITH_FOF_PAIRS_END = KITH_WORK_OF(fof) + KITH_WORK_EACH /**< end of the slots of this folder */
};

/** Allocate out->labels for `points` particles and one spare entry, and set out->points; out->n
 *  becomes 0. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out);

/** Allocate out->members for n groups, and set out->n. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out);

/** Find groups where particles have roles or need a number of links: particles that link are
 *  grouped first, the others are attached to the nearest of them. Points and out are in host
 *  memory. @return as the backend's kith__fof_backend.find. */
kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Find groups from the pair search, which serves every box and length that a question may have. A
 *  backend calls it when kith__subcells_init returns false. The points may be in device memory; out
 *  is in host memory. Overwrites any grid in the context's scratch memory. */
kith_status kith__fof_by_pairs(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Whether particles i and j are friends, by the definition in kith.h.
 *  @param block    pairs with vectors
 *  @param pair     index in the block of the pair whose vector goes from i to an image of j
 *  @param[out] r2  squared distance of the pair [length^2] */
bool kith__are_friends(const struct kith__question *question, const struct kith__fof *fof,
                       const kith_pairs *block, int64_t pair, int64_t i, int64_t j, double *r2);

#endif
