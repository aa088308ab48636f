/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who links and who is attached, and attaching them.
 */
#ifndef KITH_CPU_ROLES_H
#define KITH_CPU_ROLES_H

#include "../backend.h"

/** The particles by role; arrays in the context's scratch. */
struct kith__cast {
    struct kith__question link; /**< those that link, packed, with their parts; */
    int32_t *linkers;           /**< [link.a.n] and their indices with the caller, ascending */
    kith_points attach;         /**< those that are attached, packed; */
    int32_t *attached;          /**< [attach.n] and their indices */
};

/** Sort the particles by role: as the caller says, and those with too few links are attached.
 *  @return KITH_OK, or as kith__cpu_pairs_count. */
kith_status kith__cast_roles(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__fof *fof, struct kith__cast *cast);

/** Give each attached particle the label of the nearest that links and is its friend. */
kith_status kith__attach(kith_ctx *ctx, const struct kith__cast *cast, const struct kith__fof *fof,
                         kith_groups *out);

#endif
