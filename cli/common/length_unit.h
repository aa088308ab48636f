/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The unit of a trajectory's lengths: what its file says, and what --unit says.
 */
#ifndef KITH_CLI_LENGTH_UNIT_H
#define KITH_CLI_LENGTH_UNIT_H

#include "trajectories/trajectory.h"

/** Return the length of a unit, "A", "nm", "um", "cm", "m" or "Bohr" [Angstrom]; 0: not known. */
double length_unit_angstrom(const char *unit);

/** Fail where --unit contradicts the unit that the frame's file says. A name that is no unit of
 *  length (sigma) is accepted with any file.
 *  @param option  the value of --unit; NULL: not given
 *  @return exit status, reported */
int length_unit_check(const char *path, const io_frame *frame, const char *option);

/** Fail where the unit of a frame is not that of the first frame.
 *  @param first  unit of the first frame; "": not known
 *  @return exit status, reported */
int length_unit_same(const char *path, const io_frame *frame, const char *first);

#endif
