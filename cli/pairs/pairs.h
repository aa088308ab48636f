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
    const char *by_species;  /**< --cutoff Si-O=1.8,O-O=2: radii by pairs of species; NULL: one
                                  radius, listing.cutoff */
    double r_min;            /**< --r-min [length] */
    bool without_molecules;  /**< --exclude-molecules */
    bool without_bonds;      /**< --exclude-bonds */
} pairs_task;

enum { PAIRS_MOST_SPECIES = 256 };

/** The rules of the list, made of frames of the files. */
typedef struct pairs_rules {
    int n_names;                                    /**< species of both sets */
    char names[PAIRS_MOST_SPECIES][IO_NAME_LENGTH]; /**< their names */
    int32_t *species[2];                            /**< [n] of INPUT, and of --against */
    double *table;         /**< [n_names][n_names] radii; 0: none are listed [length] */
    double largest;        /**< largest of them [length] */
    int32_t *molecules;    /**< [n] of INPUT */
    int64_t *bond_offsets; /**< [n + 1] bonds by their first particle */
    int32_t *bonds;        /**< the second particles */
} pairs_rules;

/** What was found. */
typedef struct pairs_outcome {
    listing_outcome listing; /**< particles, box, context and times */
    int64_t n;               /**< number of pairs */
    int64_t *neighbours;     /**< [particles of INPUT] neighbours of each; NULL with --count */
    spread spread;           /**< distribution of `neighbours` */
    pairs_rules rules;       /**< rules of the list */
} pairs_outcome;

/** Read --cutoff: one radius, or radii by pairs of species, which are checked later. */
void pairs_read_cutoff(void *at, const option_given *given);

/** Return true when the list has rules that need a frame of each file. */
bool pairs_rules_needed(const pairs_task *task);

/** Read the frames that the rules need, and set the rules of task->list. The particles have been
 *  read. @return exit status, reported */
int pairs_rules_read(pairs_task *task, pairs_outcome *found);

void pairs_rules_free(pairs_rules *rules);

void pairs_print(const pairs_task *task, const pairs_outcome *found);
json_t *pairs_json(const pairs_task *task, const pairs_outcome *found);

#endif
