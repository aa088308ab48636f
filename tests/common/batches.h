/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random batches: systems of 0 to many particles, boxes of all kinds.
 */
#ifndef KITH_TEST_BATCHES_H
#define KITH_TEST_BATCHES_H

#include "points.h"

enum { MOST_SYSTEMS = 40 };

/** A random batch. */
typedef struct random_batch {
    int64_t systems;
    int64_t a[MOST_SYSTEMS + 1], b[MOST_SYSTEMS + 1];
    kith_box boxes[MOST_SYSTEMS];
    kith_box one; /* box of all, where the batch has none */
    int has_boxes;
    stored points, other;
    double cutoff;
    kith_precision precision;
    layout how;
    char name[128];
} random_batch;

/** Make a batch; of two sets where the seed is 2 modulo 3. Free with batch_free.
 *  @param large  1: some systems have thousands of particles */
random_batch batch_make(uint64_t seed, int large);

void batch_free(random_batch *batch);

/** The struct that is passed to the library. @param cross  there are two sets */
kith_batch batch_public(const random_batch *batch, int cross);

/** The box argument of a call, and that of one system. */
const kith_box *batch_box(const random_batch *batch);
const kith_box *batch_box_of(const random_batch *batch, int64_t system);

/** Points [begin, end) of a set. */
kith_points batch_slice(const kith_points *all, int64_t begin, int64_t end);

/** Append n points of a system to xyz, which holds `at`, and return it. */
double *batch_append(rng *r, double *xyz, int64_t at, int64_t n, const kith_box *box, double side,
                     int tight);

#endif
