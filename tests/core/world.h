/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every public call of a context or a flock, with arguments that make sense but for one fault.
 */
#ifndef KITH_TEST_WORLD_H
#define KITH_TEST_WORLD_H

#include <stdbool.h>

#include <kith/debye.h>
#include <kith/glance.h>
#include <kith/overlap.h>
#include <kith/waves.h>

#include "check.h"

/** What is wrong with a call's arguments. */
typedef enum fault {
    NO_FAULT,
    NO_CONTEXT, /**< ctx, flock or verlet is NULL */
    NO_INPUT,   /**< points, replicas or index is NULL */
    WRONG_SIZE, /**< options.size */
    NOT_FINITE, /**< a coordinate is not a number */
    NO_OUTPUT,  /**< the result is NULL */
    FAULTS
} fault;

enum { WORLD_POINTS = 200, WORLD_BINS = 10, WORLD_PAIRS = 20000, WORLD_K = 4 };

/** A context, a flock of it, and the results of all calls. */
typedef struct world {
    kith_ctx *ctx;
    kith_flock *flock;
    kith_verlet *verlet;
    kith_pairs kept; /**< of the verlet */
    double xyz[3 * WORLD_POINTS];
    kith_pairs list, mine; /**< mine: the caller's arrays */
    int32_t i[WORLD_PAIRS], j[WORLD_PAIRS];
    kith_pairs rows; /**< KITH_MATRIX */
    kith_order order;
    kith_nearest nearest, own; /**< own: the caller's arrays */
    int32_t near[WORLD_K * WORLD_POINTS];
    kith_groups groups;
    int32_t labels[WORLD_POINTS];
    kith_halos halos;
    kith_histogram histogram;
    kith_overlaps overlaps;
    double sums[16];
    double matrix[WORLD_POINTS];
} world;

/** One call. */
typedef struct call {
    const char *name;
    /** Make it; checks that the results are as kith.h says: empty after a failure. */
    kith_status (*make)(world *w, fault f);
    unsigned faults; /**< bit f: it can have fault f */
} call;

extern const call calls[];
extern const int n_calls;

/** Open a context and a flock. The watch may be NULL. Ends the program where the backend is
 *  missing. Free with world_close. */
world *world_open(const char *backend, kith_watch_fn watch, void *user);

void world_close(world *w);

#endif
