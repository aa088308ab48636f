/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams over MPI. The functions are in one source file, which a program compiles with the MPI that
 * it uses, as implementations have different binary interfaces:
 *
 *     mpicc mine.c $(pkg-config --variable=includedir kith)/kith/transport_mpi.c \
 *         $(pkg-config --cflags --libs kith)
 *
 * In CMake, after find_package(MPI), link kith::kith_mpi. The libraries libkith-openmpi and
 * libkith-mpich have the file compiled for two implementations. docs/team.md says how to run.
 */
#ifndef KITH_MPI_H
#define KITH_MPI_H

#include <kith.h>
#include <mpi.h>

#if defined(__GNUC__)
#define KITH_MPI_API __attribute__((visibility("default")))
#else
#define KITH_MPI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make a transport between the processes of a communicator, which is duplicated. Collective.
 * The functions here leave no message: the status says what is wrong.
 *
 * THREADS. Only the thread that calls this function and the team uses MPI; the threads of a context
 * do not. Where it is the main thread, begin MPI by MPI_Init_thread with MPI_THREAD_FUNNELED;
 * MPI_Init, which offers MPI_THREAD_SINGLE, is enough where each context has one thread
 * (kith_options.threads 1). Another thread needs MPI_THREAD_SERIALIZED, and MPI_THREAD_MULTIPLE
 * where the program calls MPI meanwhile.
 * @param[out] out  close it by kith_team_close or kith_transport_close, before MPI_Finalize. Its
 *                  `abort` ends all processes of the communicator (MPI_Abort): MPI has no other way
 *                  to reach ranks that wait for a lost one. Zeroed on failure.
 * @return KITH_OK; KITH_INVALID: out is NULL, or MPI is not initialised or has ended;
 *         KITH_UNSUPPORTED: this is not the main thread, and MPI offers less than
 *         MPI_THREAD_SERIALIZED; KITH_NO_MEMORY; KITH_TEAM_LOST: MPI failed
 */
KITH_MPI_API kith_status kith_transport_mpi(MPI_Comm communicator, kith_transport *out);

/**
 * Make a transport as kith_transport_mpi does, for a communicator of Fortran: the integer of
 * `use mpi`, or MPI_VAL of mpi_f08's type(MPI_Comm). The module kith has an interface of it.
 * @return as kith_transport_mpi
 */
KITH_MPI_API kith_status kith_transport_mpi_fortran(MPI_Fint communicator, kith_transport *out);

/**
 * Begin MPI (MPI_THREAD_FUNNELED) where the program has not, and make a transport between all
 * processes of MPI_COMM_WORLD. Collective. For a program that loads this library at run time, as
 * the command kith does, and so needs no MPI of its own. May be called again, for one transport
 * more.
 * @param[out] out  as for kith_transport_mpi
 * @return KITH_OK; KITH_INVALID: out is NULL, or MPI has ended; KITH_UNSUPPORTED: MPI offers less
 *         than MPI_THREAD_FUNNELED, and is ended again, or as for kith_transport_mpi;
 *         KITH_NO_MEMORY; KITH_TEAM_LOST
 */
KITH_MPI_API kith_status kith_mpi_begin(kith_transport *out);

/** End MPI, if kith_mpi_begin began it. Collective. Close all transports before. */
KITH_MPI_API void kith_mpi_end(void);

#ifdef __cplusplus
}
#endif

#endif
