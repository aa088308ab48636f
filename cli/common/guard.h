/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Crashes of the command: a message, and no temporary files left.
 */
#ifndef KITH_CLI_GUARD_H
#define KITH_CLI_GUARD_H

/** Install signal handlers: from now on a crash, SIGQUIT and SIGXCPU remove outputs that are not
 *  complete, and lock files. A crash within HDF5 or chemfiles ends the command with exit status 4
 *  and a message that names file and library. Any other crash ends it by its signal, after a
 *  message that it is a fault of kith. */
void guard_start(void);

#endif
