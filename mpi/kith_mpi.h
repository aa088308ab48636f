/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams over MPI: libkith-openmpi, libkith-mpich. Built for one implementation each, as their
 * binaries do not fit each other; the source is one file that any mpicc compiles. docs/team.md says
 * how to run.
 */
#ifndef KITH_MPI_H
#define KITH_MPI_H

#include <kith.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a transport between the processes of a communicator, which is duplicated. Collective. Only
 * the thread that calls the team uses MPI: MPI_THREAD_FUNNELED is enough where that is the main one.
 * @param[out] out  close it by kith_team_close or kith_transport_close, before MPI_Finalize. Its
 *                  `abort` ends all processes of the communicator (MPI_Abort): MPI has no other way
 *                  to reach ranks that wait for a lost one. Zeroed on failure.
 * @return KITH_OK; KITH_INVALID: out is NULL, or MPI is not initialised or has ended;
 *         KITH_NO_MEMORY; KITH_TEAM_LOST: MPI failed
 */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
kith_status
kith_transport_mpi(MPI_Comm communicator, kith_transport *out);

#ifdef __cplusplus
}
#endif

#endif
