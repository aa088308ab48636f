/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Crashes of the command: a message, and no temporary files left.
 */
#ifndef KITH_CLI_GUARD_H
#define KITH_CLI_GUARD_H

#include <stdbool.h>

/** Install signal handlers: from now on a crash, SIGQUIT and SIGXCPU remove outputs that are not
 *  complete, and lock files. A crash within HDF5 or chemfiles ends the command with exit status 4
 *  and a message that names file and library, an abort within MPI with status 10. Any other crash
 *  ends it by its signal, after a message that it is a fault of kith. */
void guard_start(void);

/** Note that the calling thread begins a call of MPI. MPI may abort the process there, where
 *  another rank was lost: the command then ends as it does where MPI returns an error.
 *  @param speaks  this rank says that a rank was lost */
void guard_begin_mpi(bool speaks);

/** Note that the call has returned. */
void guard_end_mpi(void);

#endif
