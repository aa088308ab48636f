/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a kith_groups, and the two ways to find groups that all backends share: with roles, and
 * from the pair search.
 */
#ifndef KITH_GROUPS_H
#define KITH_GROUPS_H

#include "core/sized.h"
#include "engine/batch.h"
#include "fof.h"

/** Size of kith_groups in version 0.1, the smallest that a caller's struct can have (core/sized.h)
 *  [bytes]. */
enum { KITH_GROUPS_0_1 = KITH_SIZE_UP_TO(kith_groups, owner) };

/** Numbers of this folder's buffers of the context's scratch memory (core/questions.h): first those
 *  of the CPU backend (cpu/friends.h), then those of roles.c, then those of fof_pairs.c; then the
 *  copies of arrays that a GPU backend fetches from device memory. */
enum {
    KITH_FOF_ROLES_BUFFER = KITH_WORK_OF(fof) + 8,       /**< first buffer of roles.c */
    KITH_FOF_PAIRS_BUFFER = KITH_FOF_ROLES_BUFFER + 19,  /**< first buffer of fof_pairs.c */
    KITH_FOF_FETCHED_BUFFER = KITH_FOF_PAIRS_BUFFER + 3, /**< the copies of points, and in the next
                                                              buffer those of ids, roles and
                                                              velocities */
    KITH_FOF_BUFFERS_END = KITH_FOF_FETCHED_BUFFER + 2   /**< number after the last buffer */
};

_Static_assert((int)KITH_FOF_BUFFERS_END <= (int)KITH_WORK_OF(fof) + (int)KITH_WORK_EACH,
               "this folder's buffers are among those of its question");

/** Check all arguments of kith_fof_find except out, and read the options.
 *  @param given          the caller's options; NULL: the defaults
 *  @param[out] own       the options, a struct of the library's size (core/sized.h)
 *  @param[out] question  points, box and linking length, checked; its subcell is 0
 *  @return as kith_fof_find */
kith_status kith__fof_check(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double length, const kith_fof_options *given, kith_fof_options *own,
                            struct kith__question *question);

/** Refuse a role that is none.
 *  @param particle  the first particle whose role is none
 *  @return KITH_INVALID */
kith_status kith__fof_refuse_role(kith_ctx *ctx, int64_t particle, int role);

/** Refuse a velocity that is not finite.
 *  @param particle  the first particle whose velocity is not finite
 *  @return KITH_NOT_FINITE */
kith_status kith__fof_refuse_velocity(kith_ctx *ctx, int64_t particle);

/** Find groups inside another public call, between its kith__enter and kith__exit: src/team/ finds
 *  the components of a rank by this. Groups may be numbered in any order.
 *  @param options  a struct of the library's size (core/sized.h), without roles and min_links, and
 *                  with arrays in host memory
 *  @param out      the groups, a struct of the library's size
 *  @return as kith_fof_find */
kith_status kith__fof_components(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                 double length, const kith_fof_options *options, kith_groups *out);

/** Allocate out->labels for `points` particles and one more entry, so that the array is never
 *  empty, and set out->points. out->n becomes 0, and the other arrays NULL; kith__groups_number and
 *  kith__groups_systems set them. Memory of an earlier result is reused.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_need(kith_ctx *ctx, int64_t points, kith_groups *out);

/** Allocate out->members for n groups, and set out->n. Call kith__groups_need first.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_number(kith_ctx *ctx, int64_t n, kith_groups *out);

/** Allocate out->offsets for a batch, and set out->systems. Call kith__groups_need first.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__groups_systems(kith_ctx *ctx, int64_t systems, kith_groups *out);

/** Find the groups of the systems of a batch. Arrays of the batch may be in device memory; out is
 *  in host memory.
 *  @param fof  the options, with the arrays of all systems
 *  @return as the backend's kith__fof_backend.find, or find_together */
kith_status kith__fof_batch(kith_ctx *ctx, const struct kith__batch *batch,
                            const struct kith__fof *fof, kith_groups *out);

/** Find the groups of one system by the backend's operations; with roles or min_links by
 *  kith__fof_by_roles where the backend has none for these. Chooses the width of subcells itself;
 *  question->subcell is not read.
 *  @return as the backend's kith__fof_backend.find */
kith_status kith__fof_find(kith_ctx *ctx, const struct kith__question *question,
                           const struct kith__fof *fof, kith_groups *out);

/** Find groups where particles have roles or need a number of links: particles that link are
 *  grouped first; those that may be attached join the group of the nearest that links, if any is in
 *  reach. Points and out are in host
 *  memory. @return as the backend's kith__fof_backend.find. */
kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Give the role KITH_ATTACH to linking particles that have fewer than fof->min_links linking
 *  friends.
 *  @param[in,out] roles  [n] the array that fof->roles points to; entries of particles that keep
 *                        their role are not written */
kith_status kith__fof_demote(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__fof *fof, uint8_t *roles);

/** Find the nearest linking friend of each particle of the role KITH_ATTACH; of equally near ones
 *  the one of the smallest index. fof->min_links is not used.
 *  @param[out] nearest  [n] index of the friend; -1: none, or another role */
kith_status kith__fof_nearest(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__fof *fof, int32_t *nearest);

/** Find groups from the pair search, which serves every box and length that a question may have. A
 *  backend calls it when kith__subcells_init returns false. The points may be in device memory; out
 *  is in host memory. Overwrites any grid in the context's scratch memory.
 *  @return as the backend's kith__fof_backend.find */
kith_status kith__fof_by_pairs(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__fof *fof, kith_groups *out);

/** Return true when particles i and j are friends: they are within the linking length, or, with
 *  velocities, r2 / length^2 + |v_j - v_i|^2 / velocity_length^2 <= 1 (kith/fof.h).
 *  @param block    a block of pairs, with vectors
 *  @param pair     index in the block of the pair whose vector goes from i to an image of j
 *  @param i, j     indices of the two particles in the caller's order
 *  @param[out] r2  squared distance of the pair [length^2] */
bool kith__are_friends(const struct kith__question *question, const struct kith__fof *fof,
                       const kith_pairs *block, int64_t pair, int64_t i, int64_t j, double *r2);

#endif
