/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock`, shared by the files that read them.
 */
#ifndef KITH_CLI_FLOCK_OPTIONS_H
#define KITH_CLI_FLOCK_OPTIONS_H

#include "flock.h"

/** The table of what --at may change; its base is a flock_stage. */
extern const option_row flock_model_options[];

extern const command_line flock_line;

/** Read options from lines "NAME = VALUE" of a file. The task keeps the text. */
void flock_read_parameters(void *at, const option_given *given);

/** Store the value of --at, STEP:NAME=VALUE. */
void flock_note_change(void *at, const option_given *given);

/** Make the stages, when all options are read; ends the command if a value of --at is wrong. */
void flock_make_stages(flock_task *task, struct argp_state *state);

/** Refuse options that the model does not have; ends the command. */
void flock_check_model(const kith_flock_options *model);

#endif
