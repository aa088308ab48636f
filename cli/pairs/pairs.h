/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith pairs` was asked and what it found: passed from the search to the summary.
 */
#ifndef KITH_CLI_PAIRS_H
#define KITH_CLI_PAIRS_H

#include "common/listing.h"
#include "common/spread.h"

/** What was asked: the values of the options. */
typedef struct pairs_task {
    listing_task listing;    /**< options that `kith nearest` has too */
    kith_pairs_options list; /**< form of the list; its extras are those of `listing` */
    bool count_only;         /**< --count: make no list */
} pairs_task;

/** What was found. */
typedef struct pairs_outcome {
    listing_outcome listing; /**< particles, box, context and times */
    int64_t n;               /**< number of pairs */
    int64_t *neighbours;     /**< [particles of INPUT] neighbours of each; NULL with --count */
    spread spread;           /**< distribution of `neighbours` */
} pairs_outcome;

void pairs_print(const pairs_task *task, const pairs_outcome *found);
json_t *pairs_json(const pairs_task *task, const pairs_outcome *found);

#endif
