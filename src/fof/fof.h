/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends groups: the checked options, and the operation that each backend offers.
 */
#ifndef KITH_FOF_BACKEND_H
#define KITH_FOF_BACKEND_H

#include "core/backend.h"
#include "engine/batch.h"

/** Checked copy of kith_fof_options. */
struct kith__fof {
    int64_t min_members;    /**< smallest number of particles of a group that is returned */
    int64_t min_links;      /**< fewest friends that a particle needs in order to link others */
    const int64_t *ids;     /**< [n] caller's particle ids, which break ties in size; or NULL */
    const uint8_t *roles;   /**< [n] KITH_LINK, KITH_ATTACH or KITH_IGNORE; NULL: all KITH_LINK */
    const void *velocities; /**< [n][3] in the precision of the points; or NULL */
    double velocity_length; /**< linking length of velocities, rounded to the points' precision
                                 [velocity] */
    kith_memory memory; /**< where ids, roles and velocities are; arrays in device memory are not
                             checked yet */
    bool any_order; /**< groups may be numbered in any order, which spares sorting them; a backend
                         may ignore it */
};

/* kith__fof_backend.find_together serves batches whose largest system has at most so many
 * particles. */
enum { KITH_FOF_SMALL = 1 << 13 };

/** Operations that a backend offers; NULL: not offered. */
struct kith__fof_backend {
    /** Find groups of one system. Roles and min_links are ignored: find_by_roles serves these.
     *  question->subcell is the width of subcells whose particles are all friends
     *  (subcells.h).
     *  Allocates the arrays of *out.
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or a status of the checks of points. */
    kith_status (*find)(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__fof *fof, kith_groups *out);

    /** Find groups of one system where particles have roles or need a number of links. The points
     *  and out may be in device memory. NULL: not offered; kith__fof_by_roles (groups.h) then
     *  serves points and out in host memory.
     *  @return as find */
    kith_status (*find_by_roles)(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__fof *fof, kith_groups *out);

    /** Find the groups of all systems of a batch together, by positions alone: fof has no ids,
     *  roles, velocities or min_links. Arrays of the batch may be in device memory; *out is in host
     *  memory.
     *  @param[out] done  false: nothing was done, as there are no particles, or a system has more
     *                    than KITH_FOF_SMALL
     *  @return as find; KITH_INVALID for boxes and offsets. NULL: not offered. */
    kith_status (*find_together)(kith_ctx *ctx, const struct kith__batch *batch,
                                 const struct kith__fof *fof, kith_groups *out, bool *done);
};

extern const struct kith__fof_backend kith__cpu_fof, kith__cuda_fof;

#endif
