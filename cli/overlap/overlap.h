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

/** What was asked: the values of the options. */
typedef struct overlap_task {
    options shared;
    const char *input;        /**< path of the replicas */
    kith_overlap_options how; /**< what to count; bins 0: the default */
    int64_t packed;           /**< --packed: spins of a vector, in bytes; 0: the file has numbers */
    bool spins;               /**< --spins: 1 is up, 0 and -1 are down */
    const char *matrix;       /**< --matrix: file of all overlaps; NULL: none */
    const char *plot;         /**< --plot: file of the figure; NULL: none */
    table_format format;      /**< --format of the output */
} overlap_task;

/** What was found. */
typedef struct overlap_outcome {
    io_vectors vectors;     /**< the file */
    kith_replicas replicas; /**< borrowed from the vectors */
    kith_ctx *ctx;          /**< the library */
    kith_overlaps counts;   /**< pairs in each bin */
    double *q;              /**< [bins] middle of each bin; density and count are in this block */
    double *density;        /**< [bins] P(q): fraction of all pairs, per unit of q */
    double *count;          /**< [bins] pairs */
    int64_t inside;         /**< pairs between the first and the last edge */
    int64_t peak;           /**< bin with the most pairs; -1: all are empty */
    double mean, deviation; /**< of q, each pair taken at the middle of its bin */
    double read_seconds;    /**< time to read [s] */
    double count_seconds;   /**< time to count [s] */
    double matrix_seconds;  /**< time to write --matrix [s] */
} overlap_outcome;

/** Read, count, and write --matrix. @return exit status, reported */
int overlap_run(const overlap_task *task, overlap_outcome *found);

/** Write -o FILE. @return exit status, reported */
int overlap_write(const overlap_task *task, const overlap_outcome *found);

/** Draw --plot. @return exit status, reported */
int overlap_plot(const overlap_task *task, const overlap_outcome *found);

/** Print the summary; make its JSON form. */
void overlap_print(const overlap_task *task, const overlap_outcome *found);
json_t *overlap_json(const overlap_task *task, const overlap_outcome *found);

#endif
