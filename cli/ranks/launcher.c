/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which launcher started this process: each sets variables of its own in the environment.
 *
 * A process that was started as one of several must never work alone: each would do all the work,
 * and overwrite the outputs of the others. So where MPI cannot begin, the command ends with an
 * error; KITH_MPI=none says that independent processes are meant.
 */
#include "launcher.h"

#include "common/guard.h"
#include "common/parse.h"
#include "common/report.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A launcher: the variables that it sets. */
struct launcher {
    const char *ranks; /**< number of all processes */
    const char *rank;  /**< number of this one */
    const char *mpi;   /**< the MPI whose processes it starts; NULL: none that is known */
};

/* The first row whose variables both hold numbers decides. A process of mpirun inherits the
 * variables of the job of Slurm or Flux in which mpirun runs, so the rows of mpirun come before
 * theirs. srun sets SLURM_PROCID with any --mpi, so that row comes after the one of PMIX_RANK,
 * which --mpi=pmix sets. */
static const struct launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"}, /* MPICH's mpirun, and srun --mpi=pmi2 */
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "mpich"}, /* MVAPICH2's mpirun_rsh */
    {"SLURM_STEP_NUM_TASKS", "PMIX_RANK", "openmpi"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", NULL}};

/** The functions of libkith-openmpi and libkith-mpich (mpi/kith_mpi.h). */
static struct {
    kith_status (*begin)(kith_transport *out);
    void (*end)(void);
} mpi;

/** Return the value of a variable of the environment that is a whole number; -1: there is none. */
static int64_t number_of(const char *name)
{
    const char *text = getenv(name);
    int64_t value = -1;
    return text && parse_count(text, &value) ? value : -1;
}

/** Report an error in the first rank. A launcher that sees one process end with an error ends all
 *  others: ranks above 0 therefore wait, so that the first one can print. @return exit status */
static int refuse(int64_t rank, int status, const char *hint, const char *message)
{
    enum { PATIENCE = 2 }; /* time for the first rank to print and end [s] */
    if (rank > 0) {
        sleep(PATIENCE);
        return status;
    }
    return report_error(status, hint, "%s", message);
}

/** Make what MPI writes to the standard output go to the standard error, for the time of a call.
 *  @return the standard output, for restore_stdout; -1: it was not diverted */
static int divert_stdout(void)
{
    fflush(stdout);
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        close(kept);
        return -1;
    }
    return kept;
}

/** Undo divert_stdout. */
static void restore_stdout(int kept)
{
    fflush(stdout); /* what MPI wrote by this process's stdio */
    if (kept >= 0) {
        (void)dup2(kept, STDOUT_FILENO);
        close(kept);
    }
}

/** Load a library by its path and find its functions. @return NULL, or what is wrong */
static const char *load(const char *path)
{
    /* UCX, by which an MPI may send, logs to the standard output, so that its warnings would stand
     * before the summary of this command. It reads this variable when it is loaded. */
    (void)setenv("UCX_LOG_FILE", "stderr", 0);
    /* Open MPI loads plugins that need the symbols of its libraries. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    void *begin = library ? dlsym(library, "kith_mpi_begin") : NULL;
    void *end = begin ? dlsym(library, "kith_mpi_end") : NULL;
    if (!end) {
        return dlerror();
    }
    memcpy(&mpi.begin, &begin, sizeof begin);
    memcpy(&mpi.end, &end, sizeof end);
    return NULL;
}

/** Load the library of a launcher's MPI, or that which KITH_MPI names.
 *  @return exit status, reported */
static int load_for(const struct launcher *by, int64_t rank, int64_t ranks)
{
    const char *asked = getenv("KITH_MPI");
    const char *name = asked && *asked ? asked : by->mpi;
    char path[4096];
    char message[8192];
    if (!name) {
        snprintf(message, sizeof message,
                 "this is one of %lld processes that %s started without MPI", (long long)ranks,
                 strncmp(by->ranks, "FLUX", 4) == 0 ? "flux" : "srun");
        return refuse(
            rank, STATUS_USAGE,
            "start them by srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH); KITH_MPI=none "
            "lets each process work alone",
            message);
    }
    const bool known = strcmp(name, "openmpi") == 0 || strcmp(name, "mpich") == 0;
    snprintf(path, sizeof path, known ? "libkith-%s.so.%d" : "%s", name, KITH_VERSION_MAJOR);
    const char *wrong = load(path);
    if (!wrong) {
        return STATUS_OK;
    }
    snprintf(message, sizeof message, "this is one of %lld processes of MPI, but: %s",
             (long long)ranks, wrong);
    return refuse(rank, STATUS_NO_BACKEND,
                  "install libkith-openmpi or libkith-mpich, or name it by KITH_MPI; KITH_MPI=none "
                  "lets each process work alone",
                  message);
}

/** Begin MPI, whose library is loaded. @return exit status, reported */
static int begin(int64_t rank, int64_t ranks, kith_transport *out)
{
    char message[256];
    const kith_status status = launcher_transport(out);
    if (status == KITH_OK && out->ranks == ranks) {
        return STATUS_OK;
    }
    if (status == KITH_UNSUPPORTED) {
        return refuse(rank, STATUS_NO_BACKEND,
                      "use an MPI that offers MPI_THREAD_FUNNELED; KITH_MPI names it",
                      "MPI does not support processes of several threads");
    }
    /* Another MPI takes a process that it has not started for one alone. */
    snprintf(message, sizeof message,
             status == KITH_OK ? "the launcher started %lld processes, but MPI has %d"
                               : "the launcher started %lld processes, but MPI cannot begin",
             (long long)ranks, out->ranks);
    return refuse(rank, STATUS_NO_BACKEND,
                  "is the launcher that of another MPI? KITH_MPI=openmpi or mpich names it",
                  message);
}

int launcher_begin(int *ranks, kith_transport *out)
{
    const char *asked = getenv("KITH_MPI");
    *ranks = 1;
    memset(out, 0, sizeof *out);
    if (asked && strcmp(asked, "none") == 0) {
        return STATUS_OK;
    }
    for (size_t k = 0; k < sizeof launchers / sizeof *launchers; k++) {
        const struct launcher *by = &launchers[k];
        const int64_t all = number_of(by->ranks);
        const int64_t rank = number_of(by->rank);
        if (all == 1 && rank >= 0) { /* alone: variables of later rows come from an outer job */
            return STATUS_OK;
        }
        if (all > 1 && rank >= 0) {
            if (all > LAUNCHER_MOST_RANKS) {
                return refuse(rank, STATUS_LIMIT, NULL, "more than 4096 processes of MPI");
            }
            *ranks = (int)all;
            CLI_TRY(load_for(by, rank, all));
            return begin(rank, all, out);
        }
    }
    return STATUS_OK;
}

/* The functions of a transport whose calls are guarded; self is the transport of MPI. */

static int guarded_counts(void *self, const int64_t *to, int64_t *from)
{
    const kith_transport *t = self;
    guard_begin_mpi(t->rank == 0);
    const int failed = t->counts(t->self, to, from);
    guard_end_mpi();
    return failed;
}

static int guarded_exchange(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                            int64_t n_from, void *stream)
{
    const kith_transport *t = self;
    guard_begin_mpi(t->rank == 0);
    const int failed = t->exchange(t->self, to, n_to, from, n_from, stream);
    guard_end_mpi();
    return failed;
}

static int guarded_gather(void *self, const void *mine, int64_t bytes, void *all)
{
    const kith_transport *t = self;
    guard_begin_mpi(t->rank == 0);
    const int failed = t->gather(t->self, mine, bytes, all);
    guard_end_mpi();
    return failed;
}

static int guarded_combine(void *self, int op, int64_t *inout, int64_t n)
{
    const kith_transport *t = self;
    guard_begin_mpi(t->rank == 0);
    const int failed = t->combine(t->self, op, inout, n);
    guard_end_mpi();
    return failed;
}

static void guarded_abort(void *self)
{
    const kith_transport *t = self;
    t->abort(t->self);
}

static void guarded_close(void *self)
{
    kith_transport_close(self);
    free(self);
}

kith_status launcher_transport(kith_transport *out)
{
    const int kept = divert_stdout();
    const kith_status status = mpi.begin(out);
    restore_stdout(kept);
    kith_transport *inner = status == KITH_OK ? malloc(sizeof *inner) : NULL;
    if (inner) { /* else an abort of MPI is told as a crash */
        *inner = *out;
        out->self = inner;
        out->counts = guarded_counts;
        out->exchange = guarded_exchange;
        out->gather = guarded_gather;
        out->combine = guarded_combine;
        out->abort = guarded_abort;
        out->close = guarded_close;
    }
    return status;
}

int launcher_local_rank(void)
{
    /* of Open MPI; of Hydra, the launcher of MPICH and Intel MPI; of MVAPICH2; of PALS, the
     * launcher of HPE Cray; of srun */
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID",
                                        "SLURM_LOCALID"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const int64_t rank = number_of(names[k]);
        if (rank >= 0) {
            return (int)rank;
        }
    }
    return 0;
}

void launcher_end(void)
{
    if (mpi.end) {
        mpi.end();
    }
}
