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

typedef struct pairs_task {
    options shared;
    const char *input;
    const char *against; /**< NULL: one set */
    double cutoff;       /**< 0: not given */
    kith_pairs_options list;
    bool count_only;
} pairs_task;

typedef struct pairs_outcome {
    input a, b;          /**< the particles, and those of --against */
    kith_points against; /**< those of b */
    space space;
    kith_ctx *ctx;
    int64_t n;           /**< pairs */
    int64_t *neighbours; /**< [a.particles.n], NULL with --count */
    spread spread;       /**< of the neighbours */
    double search_seconds, write_seconds;
} pairs_outcome;

void pairs_print(const pairs_task *task, const pairs_outcome *found);
json_t *pairs_json(const pairs_task *task, const pairs_outcome *found);

#endif
