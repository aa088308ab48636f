/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher of MPI, if one started this process: found by the environment, and the library that
 * speaks its MPI, loaded at run time. The command itself links no MPI.
 */
#ifndef KITH_CLI_LAUNCHER_H
#define KITH_CLI_LAUNCHER_H

#include <kith.h>

enum { LAUNCHER_MOST_RANKS = 4096 }; /**< most processes of a command */

/** Find out which launcher started this process, and how many others with it. Where there are
 *  others, load libkith-openmpi or libkith-mpich, begin MPI and make a transport between all. An
 *  error is reported by the first process alone.
 *  @param[out] ranks  processes that the launcher started; 1: this one is alone
 *  @param[out] out    the transport; zeroed where this process is alone
 *  @return exit status, reported */
int launcher_begin(int *ranks, kith_transport *out);

/** Make one transport more between all processes. Collective.
 *  @return KITH_OK, or a status of kith_mpi_begin */
kith_status launcher_transport(kith_transport *out);

/** Return the number of this process among those of its machine; 0 where it is not known. */
int launcher_local_rank(void);

/** End MPI. Collective. Does nothing if it has not begun. */
void launcher_end(void);

#endif
