/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that verbs share, in tables that each verb lists beside its own, and the values that
 * they store.
 */
#ifndef KITH_CLI_OPTIONS_H
#define KITH_CLI_OPTIONS_H

#include "option_table.h"
#include "trajectories/trajectory.h"

typedef struct options {
    io_read_options read; /**< group reading */
    const char *frames;   /**< group trajectory, as those below: "a:b:step"; NULL: all */
    const char *topology; /**< a file that names the atoms; NULL: none */
    io_label label;       /**< what of an atom is its species */

    int box_numbers; /**< group space: numbers given to --box, 0 without */
    double box[9];
    bool has_origin, has_periodic;
    double origin[3];
    int periodic[3];

    const char *backend; /**< group engine: NULL by default */
    int threads;         /**< 0 by default */

    const char *address; /**< group viewing: NULL by default */
    int port;            /**< 0 by default */

    bool json, quiet;   /**< group report */
    const char *output; /**< group result: NULL by default, "-" for standard output */
} options;

/** Tables of shared options, whose base is a struct options: what to read of one set of particles,
 *  in full and in two lines of the help; of a trajectory; of a file of vectors; the box;
 *  how to compute; where the live view is served; how to report; where the result goes. */
extern const option_row reading_options[], one_frame_options[], trajectory_options[],
    vectors_options[], space_options[], engine_options[], viewing_options[], report_options[],
    output_options[];

/** Does the result go to standard output? */
bool options_to_stdout(const options *o);

/** Is a summary for people wanted, on a standard output that is free for it? */
bool options_summary(const options *o);

#endif
