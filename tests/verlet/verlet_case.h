/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kept list beside a fresh search, compared bit by bit.
 */
#ifndef KITH_TEST_VERLET_CASE_H
#define KITH_TEST_VERLET_CASE_H

#include "check.h"
#include "points.h"

/** A kept list, and a list of the same form that is searched anew. */
typedef struct kept {
    kith_ctx *ctx;
    kith_verlet *verlet;
    kith_verlet_options options;
    kith_pairs list, fresh;
    const char *name; /**< of the case, for messages */
} kept;

/** Open a kept list. Ends the program on a failure. Close with kept_close. */
kept kept_open(kith_ctx *ctx, const kith_verlet_options *options, const char *name);

void kept_close(kept *k);

/**
 * Update the list and compare it with a fresh search: equal bits; with the skin, the pairs of the
 * fresh search are in it in their order, and just after a rebuild it is the list of cutoff + skin.
 * @return whether all is well
 */
int kept_check(kept *k, const kith_points *points, const kith_box *box);

/** Whether two lists of the form of a kept list have equal bits.
 *  @param real  size of a distance or coordinate */
int kept_same(const kept *k, const kith_pairs *a, const kith_pairs *b, size_t real);

/** What the last update did. */
kith_verlet_state kept_state(const kept *k);

#endif
