/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that verbs share, in groups that a verb takes as children of its argp parser. The
 * input of each child is a struct options, zeroed before.
 */
#ifndef KITH_CLI_OPTIONS_H
#define KITH_CLI_OPTIONS_H

#include "trajectories/trajectory.h"

#include <argp.h>

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

/** Groups: what to read of one frame, the same in one line of the help, what to read of many
 *  frames, of vectors, the space, how to compute, where the live view is served, the same unseen in
 *  the help, how to report, where the result goes (which includes how to report). */
extern const struct argp options_reading, options_one_frame, options_trajectory, options_vectors,
    options_space, options_engine, options_viewing, options_viewing_unseen, options_report,
    options_result;

/** The groups of a verb that asks one set of particles: reading, space, engine, result; and of one
 *  that asks the frames of a trajectory. */
extern const struct argp_child options_particles[], options_of_frames[];

/** Parse argv; ends the command on wrong arguments. The verb's parser must call
 *  options_parse_init in ARGP_KEY_INIT to hand a struct options to its children. */
void options_parse(const struct argp *argp, int argc, char **argv, void *input);
void options_parse_init(struct argp_state *state, const struct argp_child *children, options *o);

/** The command line that was parsed, as one text, for the headers of outputs. */
const char *options_command(void);

/** End the command: this option's value makes no sense (exit status 6). */
_Noreturn void options_invalid(const char *option, const char *value, const char *expected);

/** Take the one operand of a verb, such as "INPUT", the file it reads; ends the command at a
 *  second. */
void options_operand(struct argp_state *state, const char *name, const char *arg, const char **out);

/** End the command where options contradict each other, or one is missing. */
void options_refuse(struct argp_state *state, bool wrong, const char *why);

/** End the command as argp_error does. Control characters in the message, such as a newline in the
 *  value of an option, are escaped. */
void options_error(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Read a finite number above 0; ends the command when it is not one. */
double options_positive(struct argp_state *state, const char *option, const char *arg);

/** The same, or 0. */
double options_from_zero(struct argp_state *state, const char *option, const char *arg);

/** Read a number from least to most. @param expected  said of others: "0 to 1" */
double options_number(struct argp_state *state, const char *option, const char *arg, double least,
                      double most, const char *expected);

/** Read a whole number, such as 1000000, 1_000_000, 1e6 or 1M, of at least 0 or 1; ends the command
 *  when it is not one. */
int64_t options_whole(struct argp_state *state, const char *option, const char *arg, int64_t least);

/** The same, from least to most. @param expected  said of others: "1 to 65535" */
int64_t options_whole_to(struct argp_state *state, const char *option, const char *arg,
                         int64_t least, int64_t most, const char *expected);

/** Read a seed of random numbers. */
uint64_t options_seed(struct argp_state *state, const char *arg);

/** Read one of a few words. @param words  as they are said to others: "sc, bcc or fcc"
 *  @return its index; ends the command when it is none. */
int options_word(struct argp_state *state, const char *option, const char *arg, const char *words);

/** Read the value of --precision; ends the command when it is not one. */
kith_precision options_precision(struct argp_state *state, const char *arg);

/** Does the result go to standard output? */
bool options_to_stdout(const options *o);

/** Is a summary for people wanted, on a standard output that is free for it? */
bool options_summary(const options *o);

#endif
