/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of particles by friends-of-friends.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_FOF_H
#define KITH_API_FOF_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Role of a particle in the search for groups. */
typedef enum kith_role {
    KITH_LINK = 0,   /**< the particle links with its friends of this role */
    KITH_ATTACH = 1, /**< the particle joins the group of the nearest friend that links; of equally
                          near ones, of the one with the smallest index */
    KITH_IGNORE = 2  /**< the particle is in no group */
} kith_role;

/** How to find groups. Fill with kith_fof_options_init, then change what you need. Arrays are
 *  borrowed for the call. */
typedef struct kith_fof_options {
    size_t size;            /**< sizeof(kith_fof_options): set by the init call */
    int64_t min_members;    /**< smaller groups get label 0; 1: every particle that links is in one.
                               Attached particles do not count */
    const int64_t *ids;     /**< [n] ids of the particles; groups of equal size are numbered
                               by the smallest id of those that link, so that labels do not depend
                               on the order of the particles where ids are distinct. Groups of one
                               size and smallest id are numbered by their smallest index; a GPU
                               leaves their order open. NULL: the index is the id */
    const uint8_t *roles;   /**< [n] kith_role of each particle; NULL: all are KITH_LINK */
    int64_t min_links;      /**< a particle links only when it has at least this many friends among
                               the others of role KITH_LINK, each image of one within the length
                               counted; the rest are attached: DBSCAN* with border points (Ester et
                               al. 1996), which removes thin bridges. 0: all link */
    const void *velocities; /**< [n][3], precision of the points: friends are then those with
                                  r2 / length^2 + |v_j - v_i|^2 / velocity_length^2 <= 1, rounded
                                  step by step. NULL: positions alone */
    double velocity_length; /**< the linking length of velocities, in their unit; > 0 where
                                  they are given */
    const kith_batch *batch; /**< many systems in one call; NULL: one system. Groups of system 0 are
                                  numbered first, those of each system as in a call for it alone;
                                  out is in host memory. Where no system has more than 8,192
                                  particles, a GPU finds groups by positions alone, without ids, in
                                  all systems at once, from all their pairs */
    kith_memory memory;      /**< where ids, roles and velocities are; with a batch KITH_HOST */
} kith_fof_options;

/** Set every field to its default: groups of 20 and more by positions alone; all link. */
KITH_API void kith_fof_options_init(kith_fof_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_fof_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_fof_options_init_sized(kith_fof_options *options, size_t size);
#define kith_fof_options_init(options) \
    kith_fof_options_init_sized(options, sizeof(kith_fof_options))

/**
 * Groups of particles. Zero it before its first use. The size of a group is the number of its
 * particles that link; attached particles have its label, but do not count. Group 1 is the largest;
 * groups of equal size are numbered by the smallest id of their particles that link. The labels
 * depend on the particles alone (without distinct ids, on their order too), not on threads or run,
 * nor on the backend where ids, if there are any, are distinct.
 */
typedef struct kith_groups {
    int64_t n;          /**< number of groups */
    int64_t points;     /**< number of particles */
    int32_t *labels;    /**< [points] the group of each, 1 to n; 0: in none */
    int64_t *members;   /**< [n] size of each group, descending (in a batch for each system);
                             members[0] is of group 1 */
    kith_memory memory; /**< where the arrays are: KITH_HOST unless set, before the first call */
    uint32_t size;      /**< sizeof(kith_groups) of the caller; 0: the fields of version 0.1 */
    void *owner;        /**< private to the library */
    int64_t systems;    /**< number of systems of the batch; 0 without a batch */
    int64_t *offsets;   /**< [systems + 1] with a batch: groups offsets[s] + 1 to offsets[s + 1] are
                             those of system s; NULL without */
} kith_groups;

/**
 * Find groups by friends-of-friends: particles that are a pair (kith.h) are friends, and
 * friends of friends are in one group (Davis, Efstathiou, Frenk & White 1985, ApJ 292, 371).
 * Coincident particles are friends.
 * Cost: O(n) time for any distribution by positions alone. With velocities, k particles so near
 * each other that all are pairs may take O(k^2): 40,000 coincident ones take seconds. With roles or
 * min_links each attached particle is compared with all particles near it that link, of coincident
 * ones with one. On a GPU coincident ones are not merged: without velocities it is compared with
 * 4,096 at most, beyond which a tree is searched; with velocities with all. With a length of 0.2
 * times the mean spacing of particles, 28 bytes of scratch memory for each particle in float, 40 in
 * double; on a GPU 42 and 54, and a copy of what is uploaded from host memory; with roles or
 * min_links up to 140, on a GPU 80 and 110. In a very skewed box, or one that is thin for the
 * length, O(n + pairs) time and a block of pairs in memory.
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param length      the linking length, > 0; as cutoff in kith_pairs_find
 * @param options     NULL: the defaults
 * @param[in,out] out the groups. Zeroed, or from an earlier call on ctx, whose arrays are then
 *                    reused. Free with kith_groups_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure n and points are 0, and out
 *         is still to be freed.
 */
KITH_API kith_status kith_fof_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                   double length, const kith_fof_options *options,
                                   kith_groups *out);

/** Free the arrays and zero the struct but for its size. @param groups  NULL or zeroed is fine. */
KITH_API void kith_groups_free(kith_groups *groups);

#ifdef __cplusplus
}
#endif

#endif
