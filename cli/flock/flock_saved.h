/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a restart file keeps of the options of `kith flock`, so that a resumed run with others is
 * refused.
 */
#ifndef KITH_CLI_FLOCK_SAVED_H
#define KITH_CLI_FLOCK_SAVED_H

#include "flock.h"

/** The options that decide how the flock moves, and what is measured. Each number has 8 bytes, so
 *  that a file holds no padding. */
typedef struct flock_saved {
    char input[256]; /**< name of INPUT without its folder; "": none */
    int64_t model, relative, nearest, gaussian;
    double separation[2], alignment[2], cohesion[2], repulsion[2]; /**< radius, weight */
    double min_speed, max_speed, time_step, blind_angle, noise, turn_rate;
    double leaders, leader_weight, leader_direction[3];
    int64_t reflecting[3];
    uint64_t seed;
    double flock_length, flock_velocity, r_max; /**< 0: by default */
    int64_t flock_members, bins;
    int64_t n_species, n_things;
    double heed[FLOCK_SPECIES][FLOCK_SPECIES][3];      /**< separation, alignment, cohesion */
    double things[KITH_MOST_THINGS][IO_THING_NUMBERS]; /**< as io_thing_numbers sets them */
} flock_saved;

/** The options in force when the flock made the step that brought it to `step`. */
flock_saved flock_saved_of(const flock_task *task, int64_t step);

/** Compare options. @return text like "--noise was 0.1 and is 0.6; ...", to be freed by the
 *  caller; "" if all options are equal; NULL if memory is exhausted. */
char *flock_saved_differences(const flock_saved *was, const flock_saved *is);

#endif
