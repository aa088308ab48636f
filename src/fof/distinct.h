/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distinct positions: coincident particles are merged before a pair search, which would find 10^10
 * pairs for 10^5 particles on one point.
 */
#ifndef KITH_DISTINCT_H
#define KITH_DISTINCT_H

#include "engine/question.h"

/** The distinct positions of a selection of particles (roles.c): those that link, or those that are
 *  attached. Two particles share a position when their coordinates, and velocities if given, agree
 *  bit by bit. */
struct kith__distinct {
    int64_t n;      /**< distinct positions */
    int32_t *first; /**< [n] smallest caller's index of a particle on each position; ascending */
    int32_t *count; /**< [n] particles on each position */
    char *xyz;      /**< [n][3] coordinates, in the precision of the points [length] */
    int32_t *of;    /**< [selection] number of the position of each selected particle, from 0 */
};

enum { KITH_DISTINCT_BUFFERS = 5 }; /**< scratch buffers that kith__distinct_find uses */

/**
 * Find the distinct positions of a selection. O(n) expected, by hashing.
 * @param velocities     [q->a.n][3] velocities, which are compared too; NULL: coordinates alone are
 *                       compared
 * @param index          [n] caller's indices of the selected particles, ascending
 * @param buffer         number of the first of KITH_DISTINCT_BUFFERS consecutive buffers of the
 *                       context's scratch memory, which hold the arrays of *distinct
 * @param[out] distinct  the distinct positions, in the order of their first particles
 * @return KITH_OK, KITH_NO_MEMORY or KITH_CANCELLED
 */
kith_status kith__distinct_find(kith_ctx *ctx, const struct kith__question *q,
                                const void *velocities, const int32_t *index, int64_t n, int buffer,
                                struct kith__distinct *distinct);

/** Copy the coordinates of particle p. @param[out] xyz  [3] in the points' precision; z is 0 in
 *  2-D */
void kith__distinct_copy(const struct kith__question *q, int64_t p, void *xyz);

#endif
