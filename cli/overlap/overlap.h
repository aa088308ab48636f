/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith overlap` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_OVERLAP_H
#define KITH_CLI_OVERLAP_H

#include "common/options.h"
#include "common/table.h"

#include <jansson.h>
#include <kith/overlap.h>

typedef struct overlap_task {
    options shared;
    const char *input;
    kith_overlap_options how; /**< bins 0: the default */
    int64_t packed;           /**< spins of a vector that bytes hold; 0: the file holds numbers */
    bool spins;               /**< numbers are spins: 1 is up, 0 and -1 are down */
    const char *matrix;       /**< --matrix; NULL: none */
    const char *plot;         /**< --plot; NULL: none */
    table_format format;
} overlap_task;

typedef struct overlap_outcome {
    io_vectors vectors;
    kith_replicas replicas; /**< borrowed from the vectors */
    kith_ctx *ctx;
    kith_overlaps counts;
    double *q, *density, *count; /**< [bins] of the table, one block; density sums to 1 */
    int64_t inside;              /**< pairs between the edges */
    int64_t peak;                /**< the fullest bin; -1: all are empty */
    double mean, deviation;      /**< of q, each pair taken at the middle of its bin */
    double read_seconds, count_seconds, matrix_seconds;
} overlap_outcome;

/** Read, count, and write --matrix. @return an exit status, reported. */
int overlap_run(const overlap_task *task, overlap_outcome *found);

/** Write -o FILE. @return an exit status, reported. */
int overlap_write(const overlap_task *task, const overlap_outcome *found);

/** Draw --plot. @return an exit status, reported. */
int overlap_plot(const overlap_task *task, const overlap_outcome *found);

/** What is said at the end, to a person or a script. */
void overlap_print(const overlap_task *task, const overlap_outcome *found);
json_t *overlap_json(const overlap_task *task, const overlap_outcome *found);

#endif
