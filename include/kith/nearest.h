/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The k nearest neighbours of each particle.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_NEAREST_H
#define KITH_API_NEAREST_H

#include <kith/core.h>
#include <kith/pairs.h> /* KITH_DISTANCES, KITH_VECTORS, KITH_SHIFTS, kith_radius_rule */

#ifdef __cplusplus
extern "C" {
#endif

/** Which neighbours to find, and what to store of them. Fill with kith_nearest_options_init, then
 *  change what you need. */
typedef struct kith_nearest_options {
    size_t size;                /**< sizeof(kith_nearest_options): set by the init call */
    const kith_points *against; /**< B: neighbours are particles of B; NULL: particles of the
                                     points. A particle is then no neighbour of itself, but its
                                     periodic images are */
    double cutoff;              /**< largest distance of a neighbour, limited as the cutoff of
                                     kith_pairs_find; 0: any distance, in a periodic box up to 500
                                     boxes; with `radii` any that they permit */
    unsigned extras;            /**< KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS */
    const kith_batch *batch;    /**< many systems in one call; NULL: one system. A GPU searches
                                     systems of up to 16,384 particles all at once where k is 32
                                     or less, others one after the other; with `radii` all one
                                     after the other */
    const void *radii;          /**< [n] h of each particle, 0 or more, precision and memory of the
                                     points [length]; NULL: none */
    const void *radii_against;  /**< [n of against] h of each particle of `against` */
    kith_radius_rule radius_rule; /**< how `radii` decide, as in lists (kith/pairs.h);
                                       KITH_RADIUS_NONE without them */
} kith_nearest_options;

/** Set every field to its default: one set, any distance, no extras, no radii. */
KITH_API void kith_nearest_options_init(kith_nearest_options *options);

/** Set the fields of a struct of `size` bytes to their defaults; kith_nearest_options_init is a
 *  macro that passes sizeof. */
KITH_API void kith_nearest_options_init_sized(kith_nearest_options *options, size_t size);
#define kith_nearest_options_init(options) \
    kith_nearest_options_init_sized(options, sizeof(kith_nearest_options))

/*
 * RADII. With `radii` the neighbours of a particle are the first k of the pairs that radius_rule
 * permits: r2 <= H * H, with H of the radii h_i and h_j of a pair, rounded as in a list with rules
 * (kith/pairs.h, RULES). The largest distance that the radii permit, or the cutoff if that is
 * shorter, is limited as a cutoff is. Radii that permit only H = 0 need a cutoff. On a GPU the
 * search with radii takes longer than one without: docs/nearest.md.
 */

/**
 * The k nearest neighbours of each particle i: the first k of its pairs (j, S) in the order of the
 * squared distance, in the precision of the points; of equal ones, of j; then of Sc, Sb and Sa. So
 * the result does not depend on backend, threads or run. Rows are sorted in this order. A row that
 * has fewer neighbours, counts[i] of them, ends in entries with j = -1, infinite distance, and 0
 * for vector and S. Zero the struct before its first use.
 */
typedef struct kith_nearest {
    int64_t rows;       /**< number of particles of the points */
    int64_t k;          /**< entries of a row */
    int32_t *counts;    /**< [rows] neighbours found, k at most */
    int32_t *j;         /**< [rows][k] index of each neighbour */
    void *distances;    /**< [rows][k], precision of the points: length of the vector [length] */
    void *vectors;      /**< [rows][k][3], precision of the points: r_j + Sa a + Sb b + Sc c - r_i,
                             with the rows a, b, c of the box [length] */
    int32_t *shifts;    /**< [rows][k][3]: S for the coordinates as given, not wrapped */
    kith_memory memory; /**< where the arrays are: KITH_HOST unless set, before the first call */
    uint32_t size;      /**< sizeof(kith_nearest) of the caller; 0: the fields of version 0.2 */
    void *owner;        /**< private to the library; NULL when the arrays are the caller's */
} kith_nearest;

/**
 * Find the k nearest neighbours of each particle, into arrays that the library allocates.
 * Cost: O(n log n) time for any distribution of the particles, also where many of them coincide;
 * docs/nearest.md says what differs on a GPU. Scratch memory of some 80 bytes for each particle,
 * and for each thread of some 512 bytes times k.
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param k           neighbours of a particle, 1 or more; may exceed the number of particles
 * @param options     NULL: the defaults
 * @param[in,out] out the result. Zeroed, or one from an earlier call on ctx, whose arrays are then
 *                    reused and grown as needed. Free with kith_nearest_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT, also where a neighbour would be more
 *         than 500 boxes away; KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED;
 *         KITH_DEVICE_LOST. On failure rows is 0, and out is still to be freed.
 */
KITH_API kith_status kith_nearest_find(kith_ctx *ctx, const kith_points *points,
                                       const kith_box *box, int64_t k,
                                       const kith_nearest_options *options, kith_nearest *out);

/**
 * Find the k nearest neighbours of each particle, into the caller's arrays.
 * @param[in,out] out  memory, and the arrays: j, those of the extras named, and counts unless it is
 *                     NULL; with room for as many particles as the points have, k entries each.
 *                     rows and k are returned
 * @return as kith_nearest_find. On failure rows is 0, and the arrays are undefined.
 */
KITH_API kith_status kith_nearest_fill(kith_ctx *ctx, const kith_points *points,
                                       const kith_box *box, int64_t k,
                                       const kith_nearest_options *options, kith_nearest *out);

/** Free the arrays of a result and zero it but for its size. @param nearest  NULL or a zeroed
 *  result is fine. */
KITH_API void kith_nearest_free(kith_nearest *nearest);

#ifdef __cplusplus
}
#endif

#endif
