/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is said where the command crashes.
 */
#ifndef KITH_CLI_GUARD_H
#define KITH_CLI_GUARD_H

/** From now on a crash, SIGQUIT and SIGXCPU remove files that have no name yet, and lock files.
 *  A crash within HDF5 or chemfiles ends the command with a message that names file and library,
 *  and exit status 4; elsewhere with a message that it is a fault of kith, and by the signal. */
void guard_start(void);

#endif
