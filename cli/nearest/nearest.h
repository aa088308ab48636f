/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith nearest`: its options (nearest_task) and its results (nearest_outcome), passed from the
 * search to the summary.
 */
#ifndef KITH_CLI_NEAREST_H
#define KITH_CLI_NEAREST_H

#include "common/listing.h"

/** The values of the options. */
typedef struct nearest_task {
    listing_task listing; /**< options that `kith pairs` has too */
    int64_t k;            /**< -k: neighbours of each particle; 0: not given */
} nearest_task;

/** The results. */
typedef struct nearest_outcome {
    listing_outcome listing; /**< particles, box, context and times */
    kith_nearest rows;       /**< the neighbours, with distances and the extras of `listing` */
    int64_t n;               /**< number of neighbours found, of all particles */
    int64_t fewer;           /**< particles with fewer than k neighbours */
    double mean;    /**< mean distance of neighbour k, of the particles that have it [length] */
    double largest; /**< largest distance of neighbour k [length] */
} nearest_outcome;

/** Print the summary for the terminal. */
void nearest_print(const nearest_task *task, const nearest_outcome *found);

/** Return the summary as a new JSON object; NULL without memory. */
json_t *nearest_json(const nearest_task *task, const nearest_outcome *found);

#endif
