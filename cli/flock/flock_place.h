/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the particles of `kith flock` start.
 */
#ifndef KITH_CLI_FLOCK_PLACE_H
#define KITH_CLI_FLOCK_PLACE_H

#include "flock.h"

/** Return the box of --boids without --box: [-100, 100)^3, periodic. */
kith_box flock_usual_box(void);

/** Set run->box, for particles of this name. @return exit status, reported */
int flock_choose_box(const flock_task *task, const char *name, flock_run *run);

/** Make --boids: uniform in the box, but not inside a sphere. @return exit status, reported */
int flock_strew(const flock_task *task, flock_run *run);

/** Set random headings with the largest speed. @return exit status, reported */
int flock_strew_velocities(const flock_task *task, io_particles *p);

/** Set run->species, where the model has species: those of INPUT where it names several, else in
 *  turns. @return exit status, reported */
int flock_set_species(const flock_task *task, flock_run *run);

/** Refuse particles of INPUT that are inside a sphere. @return exit status, reported */
int flock_check_places(const flock_task *task, const flock_run *run);

/** Refuse walls of a stage that are out of reach of the whole box, or fill it: planes have no
 *  images. @return exit status, reported */
int flock_check_walls(const flock_stage *stage, const flock_run *run);

#endif
