/* SPDX-License-Identifier: BSD-3-Clause
 *
 * `kith pairs`: its options (pairs_task) and its results (pairs_outcome), passed from the search to
 * the summary. The files: pairs.c parses and searches, pairs_rules.c reads what rules need,
 * pairs_summary.c prints.
 */
#ifndef KITH_CLI_PAIRS_H
#define KITH_CLI_PAIRS_H

#include "common/listing.h"
#include "common/species.h"
#include "common/spread.h"

/** The values of the options. */
typedef struct pairs_task {
    listing_task listing;    /**< options that `kith nearest` has too */
    kith_pairs_options list; /**< form and rules of the list, for the library; its extras are
                                  those of `listing` */
    bool count_only;         /**< --count: print the number of pairs alone */
    const char *by_species;  /**< --cutoff Si-O=1.8,O-O=2: radii by pairs of species; NULL: one
                                  radius, listing.cutoff */
    double r_min;            /**< --r-min: nearer pairs are not listed [length] */
    bool without_molecules;  /**< --exclude-molecules: pairs of one molecule are not listed */
    bool without_bonds;      /**< --exclude-bonds: bonded pairs are not listed */
} pairs_task;

/** Which pairs are listed: arrays that task->list refers to, read from a frame of each file. */
typedef struct pairs_rules {
    species_names names;   /**< the species of both sets */
    int32_t *species[2];   /**< species of each particle of INPUT, and of --against, that this rank
                                has */
    double *table;         /**< [names.n][names.n] radii, symmetric [length]; 0: no pairs of these
                                species are listed */
    int32_t *molecules;    /**< [n] molecule of each particle of INPUT; NULL: not needed */
    int64_t *bond_offsets; /**< [n + 1] first bond of each particle in `bonds`; NULL: not needed */
    int32_t *bonds;        /**< second particles of the bonds, sorted by the first */
} pairs_rules;

/** The results. */
typedef struct pairs_outcome {
    listing_outcome listing; /**< particles, box, context and times */
    int64_t n;               /**< number of pairs */
    int64_t *neighbours;     /**< [particles of INPUT] neighbours of each; NULL with --count */
    spread spread;           /**< distribution of `neighbours` */
    pairs_rules rules;       /**< rules of the list */
} pairs_outcome;

/** Read --cutoff: one radius, or radii by pairs of species, which are checked later. */
void pairs_read_cutoff(void *at, const option_given *given);

/** One radius of --cutoff Si-O=1.8,O-O=2. */
typedef struct pairs_cutoff {
    const char *names; /**< the names of the two species, with a dash between; not terminated */
    size_t length;     /**< length of `names` [bytes] */
    double radius;     /**< as it was given, not checked [length] */
} pairs_cutoff;

/** Read the next radius of --cutoff, and advance *at to the one after it, or to the end of the
 *  text. Blanks may stand around names, numbers, '=' and commas. @return false: a syntax error */
bool pairs_next_cutoff(const char **at, pairs_cutoff *out);

/** Return true when the list has rules of which rank 0 needs those of all particles: molecules and
 *  bonds, which no format has that each rank reads its share of. */
bool pairs_rules_whole(const pairs_task *task);

/** Read the frames that the rules need, and set the rules of task->list. The particles have been
 *  read. @return exit status, reported */
int pairs_rules_read(pairs_task *task, pairs_outcome *found);

/** Free the arrays of the rules. */
void pairs_rules_free(pairs_rules *rules);

/** Print the summary for the terminal. */
void pairs_print(const pairs_task *task, const pairs_outcome *found);

/** Return the summary as a new JSON object; NULL without memory. */
json_t *pairs_json(const pairs_task *task, const pairs_outcome *found);

#endif
