/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the verbs that list neighbours, `kith pairs` and `kith nearest`, share: one or two sets of
 * particles, what is written of each pair, and lines of the summary.
 */
#ifndef KITH_CLI_LISTING_H
#define KITH_CLI_LISTING_H

#include "input.h"
#include "options.h"
#include "ranks/ranks.h"
#include "space.h"

/** The options of radii. */
typedef struct listing_radii {
    const char *name[2];   /**< --radii, --radii-against: field or file; NULL: no radii of this set
                                are used */
    const char *file[2];   /**< the path, where `name` is a file; else NULL */
    kith_radius_rule rule; /**< --radii-rule; default: EITHER */
    double scale;          /**< --radii-scale: factor of all radii; default: 1 */
} listing_radii;

/** What was asked: the values of the options. */
typedef struct listing_task {
    options shared;      /**< the options that verbs share; must be the first member */
    const char *input;   /**< path of the particles */
    const char *against; /**< --against: path of a second set; NULL: none */
    double cutoff;       /**< --cutoff [length]; 0: not given */
    listing_radii radii; /**< a radius for each particle */
    unsigned extras;     /**< --distances, --vectors, --shifts: bits KITH_DISTANCES | ... */
} listing_task;

_Static_assert(offsetof(listing_task, shared) == 0, "the tables of shared options have base 0");

/** The radii that were read. */
typedef struct listing_found_radii {
    void *radii[2];  /**< radius of each particle of INPUT, and of --against, in the precision of
                          the particles [length]; NULL: not needed */
    double least;    /**< smallest radius that the rule uses [length]; infinite: there is none */
    double most[2];  /**< largest radius of each set [length] */
    char words[512]; /**< names, rule and range of the radii */
} listing_found_radii;

/** What was read, and what finding and writing took. */
typedef struct listing_outcome {
    input a;                   /**< the particles of INPUT */
    input b;                   /**< the particles of --against; empty without it */
    kith_points against;       /**< the points of b; set by listing_read */
    space space;               /**< the box */
    listing_found_radii radii; /**< radii of the particles; set by listing_radii_read */
    kith_ctx *ctx;             /**< the library */
    ranks *ranks;              /**< the ranks that count pairs; NULL: ctx alone */
    double search_seconds;     /**< time to find the pairs [s] */
    double write_seconds;      /**< time to write them [s] */
} listing_outcome;

/** Options whose base is a struct listing_task. */
extern const option_row listing_options[];

/** Tables of a verb that lists neighbours. @param own  rows of the verb alone */
#define LISTING_TABLES(own) \
    { \
        {.rows = output_options}, {.rows = (own)}, {.rows = listing_options}, \
            {.rows = reading_options}, {.rows = space_options}, {.rows = engine_options}, \
        { \
            .rows = report_options \
        } \
    }

/** End the command if options contradict each other, or nothing would be written or printed.
 *  @param prints  an option of the verb has the result printed */
void listing_check(const listing_task *task, bool prints, struct argp_state *state);

/** Read INPUT, and --against in the precision of INPUT, and choose the box.
 *  @param whole  read both whole also where each rank could read its share
 *  @return exit status, reported */
int listing_read(const listing_task *task, bool whole, listing_outcome *found);

/** Read --radii and --radii-against. */
void listing_read_radii(void *at, const option_given *given);
void listing_read_radii_against(void *at, const option_given *given);

/** Return true when there is a radius for each particle. */
bool listing_radii_given(const listing_task *task);

/** End the command if options of radii contradict each other, and set their defaults.
 *  @param full  rules that are not symmetric in i and j are permitted with one set */
void listing_radii_check(listing_task *task, bool full, struct argp_state *state);

/** Read and scale the radii: found->radii. The particles have been read.
 *  @param limited  there is a cutoff beside them, so that all may be 0
 *  @return exit status, reported */
int listing_radii_read(const listing_task *task, bool limited, listing_outcome *found);

/** Return the radii for the JSON summary; null without radii. */
json_t *listing_radii_json(const listing_task *task, const listing_outcome *found);

/** Return the second set for the options of the library; NULL without --against. */
const kith_points *listing_against(const listing_task *task, const listing_outcome *found);

/** Return what is written to --output for each pair. */
io_pairs_layout listing_layout(const listing_task *task, const listing_outcome *found);

/** After a search that failed, or was interrupted, or whose list could not be written: remove the
 *  unfinished file, and report the failure.
 *  @param status  what the call of the library returned
 *  @param error   IO_OK unless writing failed
 *  @return exit status */
int listing_give_up(const listing_task *task, const listing_outcome *found, kith_status status,
                    io_pairs_writer *writer, const io_error *error);

/** Flush the file to disk and rename it into place. @return exit status, reported */
int listing_commit(const listing_task *task, io_pairs_writer *writer);

/** Close the library and free the particles and their radii. */
void listing_free(listing_outcome *found);

/** Print the first lines of the summary: particles and box. */
void listing_print_space(const listing_task *task, const listing_outcome *found);

/** Print the line of the summary about the radii; nothing without radii. */
void listing_print_radii(const listing_task *task, const listing_outcome *found);

/** Print the last lines of the summary: time, memory and output.
 *  @param n     number of pairs found   @param unit  their name in the summary: "pairs" */
void listing_print_search(const listing_task *task, const listing_outcome *found, int64_t n,
                          const char *unit);

/** For a JSON summary: which extras are written. */
json_t *listing_extras_json(const listing_task *task);

/** Return the JSON summary of a verb.
 *  @param facts  members of this verb alone; the reference is released */
json_t *listing_json(const listing_task *task, const listing_outcome *found, const char *verb,
                     json_t *facts);

#endif
