/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that verbs share, in tables that each verb lists beside its own, and the values that
 * they store.
 */
#ifndef KITH_CLI_OPTIONS_H
#define KITH_CLI_OPTIONS_H

#include "option_table.h"
#include "trajectories/trajectory.h"

/** Values of the shared options; zero it before parsing. */
typedef struct options {
    io_read_options read; /**< what to read of a file, and how */
    const char *frames;   /**< --frames "A:B:STEP"; NULL: all frames of the trajectory */
    const char *topology; /**< --topology: a file that names the atoms; NULL: none */
    io_label label;       /**< --by: what of an atom is its species */

    int box_numbers;   /**< how many numbers --box has; 0: it is not given */
    double box[9];     /**< [box_numbers] as --box lists them [length] */
    bool has_origin;   /**< --origin is given */
    bool has_periodic; /**< --periodic is given */
    double origin[3];  /**< low corner of the box [length] */
    int periodic[3];   /**< 1: the axis is periodic */

    const char *backend; /**< --backend; NULL: the library chooses */
    int threads;         /**< --threads; 0: all cores */

    const char *address; /**< --address of the live view; NULL: this machine alone */
    int port;            /**< --port of the live view; 0: 8420, or a free one */

    bool json;          /**< print the summary as JSON */
    bool quiet;         /**< print no summary and no progress */
    const char *output; /**< --output: file of the result; NULL: none; "-": standard output */
} options;

/** Tables of shared options, whose base is a struct options. */
extern const option_row reading_options[];    /**< how to read one set of particles */
extern const option_row one_frame_options[];  /**< reading_options in one line of the help */
extern const option_row trajectory_options[]; /**< how to read frames of a trajectory */
extern const option_row vectors_options[];    /**< how to read an array of vectors */
extern const option_row space_options[];      /**< the box */
extern const option_row engine_options[];     /**< backend and threads */
extern const option_row viewing_options[];    /**< where the live view is served */
extern const option_row report_options[];     /**< the form of the summary */
extern const option_row output_options[];     /**< the file of the result */

/** Return true when the result is written to standard output. */
bool options_to_stdout(const options *o);

/** Return true when a summary is to be printed: without --quiet, and when the result is not written
 *  to standard output. */
bool options_summary(const options *o);

#endif
