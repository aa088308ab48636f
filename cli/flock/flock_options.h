/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of `kith flock`, shared by the files that read them.
 */
#ifndef KITH_CLI_FLOCK_OPTIONS_H
#define KITH_CLI_FLOCK_OPTIONS_H

#include "flock.h"

/* Of the model, first those of things in the order of kith_flock_kind. */
enum {
    KEY_POINT = 0x200,
    KEY_SPHERE,
    KEY_WALL,
    KEY_PREDATOR,
    KEY_NO_THINGS,
    KEY_MODEL,
    KEY_SEPARATION,
    KEY_ALIGNMENT,
    KEY_COHESION,
    KEY_RELATIVE,
    KEY_MIN_SPEED,
    KEY_MAX_SPEED,
    KEY_TIME_STEP,
    KEY_NOISE,
    KEY_NEAREST,
    KEY_BLIND,
    KEY_MODEL_END
};

extern const struct argp_option flock_options[];

/** Options that verbs share, first those of films. */
enum { FLOCK_FILM };
extern const struct argp_child flock_children[];

/** Set an option of the task, or of the model from the start. */
error_t flock_set_option(flock_task *task, int key, char *arg, struct argp_state *state);

/** Set an option of the model; ends the command on a wrong value.
 *  @return ARGP_ERR_UNKNOWN where the key is of no such option. */
error_t flock_set_model(flock_stage *stage, int key, const char *arg, struct argp_state *state);

/** Take options from lines "NAME = VALUE" of a file. The task borrows from its text. */
void flock_read_parameters(flock_task *task, const char *path, struct argp_state *state);

/** Note --at STEP:NAME=VALUE. */
void flock_note_change(flock_task *task, const char *text);

/** Make the stages, after all options. */
void flock_make_stages(flock_task *task, struct argp_state *state);

#endif
