/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith overlap`: its options (overlap_task) and its results (overlap_outcome), passed from step to
 * step.
 */
#ifndef KITH_CLI_OVERLAP_H
#define KITH_CLI_OVERLAP_H

#include "common/options.h"
#include "common/table.h"

#include <jansson.h>
#include <kith/overlap.h>

/** The values of the options. */
typedef struct overlap_task {
    options shared;           /**< options that verbs share */
    const char *input;        /**< path of the replicas */
    kith_overlap_options how; /**< what to count; bins 0: the default */
    int64_t packed;           /**< --packed: number of spins of a vector, which the file holds as
                                   bits; 0: the file has numbers */
    bool spins;               /**< --spins: numbers are spins, 1 is up, 0 and -1 are down */
    const char *matrix;       /**< --matrix: file of all overlaps; NULL: none */
    const char *plot;         /**< --plot: file of the figure; NULL: none */
    table_format format;      /**< --format of the output */
} overlap_task;

/** The results. */
typedef struct overlap_outcome {
    io_vectors vectors;     /**< contents of the file */
    kith_replicas replicas; /**< the vectors in the library's form; its values are borrowed */
    kith_ctx *ctx;          /**< the library */
    kith_overlaps counts;   /**< pairs in each bin */
    double *q;       /**< [bins] middle of each bin; density and count follow in its memory */
    double *density; /**< [bins] P(q): fraction of all pairs, per unit of q */
    double *count;   /**< [bins] pairs of each bin */
    int64_t inside;  /**< pairs between the first and the last edge */
    int64_t peak;    /**< bin with the most pairs; -1: all are empty */
    double mean, deviation; /**< mean and standard deviation of q over the pairs inside, each taken
                                 at the middle of its bin */
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

/** Print the summary for the terminal. */
void overlap_print(const overlap_task *task, const overlap_outcome *found);

/** Return the summary as a new JSON object; NULL without memory. */
json_t *overlap_json(const overlap_task *task, const overlap_outcome *found);

#endif
