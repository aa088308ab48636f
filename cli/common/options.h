/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that verbs share, in groups that a verb takes as children of its argp parser. The
 * input of each child is a struct options, zeroed before.
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

/** The groups of a verb that asks one set of particles: reading, space, engine, result; and of one
 *  that asks the frames of a trajectory. */
extern const struct argp_child options_particles[], options_of_frames[];

/** Parse argv; ends the command on wrong arguments. The verb's parser must call
 *  options_parse_init in ARGP_KEY_INIT to hand a struct options to its children. */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);
void options_parse_init(struct argp_state *state, const struct argp_child *children, options *o);

/** Does the result go to standard output? */
bool options_to_stdout(const options *o);

/** Is a summary for people wanted, on a standard output that is free for it? */
bool options_summary(const options *o);

/* For verbs whose options are vectors of argp. */
extern const struct argp options_reading, options_one_frame, options_trajectory, options_vectors,
    options_space, options_engine, options_viewing, options_viewing_unseen, options_report,
    options_result;
void options_parse(const struct argp *argp, int argc, char **argv, void *input);
void options_parse_init(struct argp_state *state, const struct argp_child *children, options *o);
void options_operand(struct argp_state *state, const char *name, const char *arg, const char **out);
double options_from_zero(struct argp_state *state, const char *option, const char *arg);
double options_number(struct argp_state *state, const char *option, const char *arg, double least,
                      double most, const char *expected);
int64_t options_whole_to(struct argp_state *state, const char *option, const char *arg,
                         int64_t least, int64_t most, const char *expected);
uint64_t options_seed(struct argp_state *state, const char *arg);
kith_precision options_precision(struct argp_state *state, const char *arg);

#endif
