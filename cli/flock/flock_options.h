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

/** Set the option `name`. The task keeps the value. @param path  named in errors
 *  @return false: no option has this name */
bool flock_set_named(flock_task *task, const char *path, const char *name, char *value,
                     struct argp_state *state);

/** Set the options of a preset that were not given otherwise; ends the command where the name is
 *  unknown. */
void flock_apply_preset(flock_task *task, struct argp_state *state);

/** Read options from lines "NAME = VALUE" of a file. The task keeps the text. */
void flock_read_parameters(void *at, const option_given *given);

/** Store the value of --at, STEP:NAME=VALUE. */
void flock_note_change(void *at, const option_given *given);

/** Make the stages, when all options are read; ends the command if a value of --at is wrong. */
void flock_make_stages(flock_task *task, struct argp_state *state);

/** Refuse options that would do nothing, of the run or of all values of a sweep; ends the
 *  command. */
void flock_check_effects(const flock_task *task);

/** Warn of options under which a flock is unstable. */
void flock_warn(const flock_task *task);

/** Refuse options that the model does not have; ends the command. */
void flock_check_model(const kith_flock_options *model);

#endif
