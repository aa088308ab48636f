/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith pairs` was asked and what it found: passed from the search to the summary.
 */
#ifndef KITH_CLI_PAIRS_H
#define KITH_CLI_PAIRS_H

#include "common/input.h"
#include "common/options.h"
#include "common/space.h"
#include "common/spread.h"

/** What was asked: the values of the options. */
typedef struct pairs_task {
    options shared;
    const char *input;       /**< path of the particles */
    const char *against;     /**< --against: path of a second set; NULL: none */
    double cutoff;           /**< --cutoff [length]; 0: not given */
    kith_pairs_options list; /**< form of the list */
    bool count_only;         /**< --count: make no list */
} pairs_task;

/** What was found. */
typedef struct pairs_outcome {
    input a, b;            /**< the particles of INPUT, and of --against */
    kith_points against;   /**< the points of b */
    space space;           /**< the box */
    kith_ctx *ctx;         /**< the library */
    int64_t n;             /**< number of pairs */
    int64_t *neighbours;   /**< [a.particles.n] neighbours of each particle; NULL with --count */
    spread spread;         /**< distribution of `neighbours` */
    double search_seconds; /**< time to find the pairs [s] */
    double write_seconds;  /**< time to write them [s] */
} pairs_outcome;

void pairs_print(const pairs_task *task, const pairs_outcome *found);
json_t *pairs_json(const pairs_task *task, const pairs_outcome *found);

#endif
