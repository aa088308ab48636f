/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command `kith VERB ...`: finds the verb and calls its function with the other arguments.
 */
#include "common/guard.h"
#include "ranks/ranks.h"
#include "common/report.h"
#include "verbs.h"

#include <argp.h>
#include <kith.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The verbs, in the order of the help. */
static const struct verb {
    const char *name, *summary;        /**< first argument of the command; one line of the help */
    int (*run)(int argc, char **argv); /**< see verbs.h */
    bool ranks;                        /**< several processes of MPI may work on it */
} verbs[] = {
    {"pairs", "find all pairs of particles within a radius", verb_pairs, true},
    {"nearest", "find the k nearest neighbours of each particle", verb_nearest, true},
    {"fof", "find halos by friends-of-friends and measure them", verb_fof, true},
    {"rdf", "average g(r) and n(r) over a trajectory", verb_rdf, true},
    {"overlap", "histogram the overlaps of replicas", verb_overlap, false},
    {"debye", "compute what X-rays or neutrons see", verb_debye, false},
    {"flock", "let a flock fly, and measure it", verb_flock, true},
    {"view", "look at particles, halos and trajectories in a browser", verb_view, false},
    {"info", "say what is in a particle file", verb_info, false},
    {"make", "make a reproducible set of particles", verb_make, false},
    {"bench", "time kith on this machine, beside its peers", verb_bench, false},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static int print_help(void)
{
    puts("Usage: kith VERB ...\nWhich particles are near each other?\n");
    for (int v = 0; v < VERBS; v++) {
        printf("  kith %-8s %s\n", verbs[v].name, verbs[v].summary);
    }
    puts("\n"
         "  kith VERB --help    the options of a verb, with an example\n"
         "  kith --version      the version\n"
         "\n"
         "Input: NumPy .npy, HDF5, tipsy, text or CSV, XYZ, LAMMPS dump, GSD; found by\n"
         "content, not by name. XTC, TRR, DCD, NetCDF, PDB, .gz by pip install chemfiles.\n"
         "Over several ranks: pairs, nearest, fof, rdf and flock, as processes of MPI\n"
         "(mpirun -n 4 kith fof ..., with libkith-openmpi or libkith-mpich), or as\n"
         "backends of one process: --backend cuda:0,cuda:1; flock on CPUs only: cpu,cpu.\n"
         "Environment: KITH_BACKEND (as --backend), KITH_CHEMFILES (its libchemfiles.so),\n"
         "KITH_MPI (openmpi, mpich, none or a library), OMP_NUM_THREADS, NO_COLOR.\n"
         "\n"
         "Try it:\n"
         "  kith make clustered 100k --seed 1 -o halos.h5\n"
         "  kith info halos.h5\n"
         "  kith pairs halos.h5 --cutoff 0.01\n"
         "  kith fof halos.h5 --box 1 -o halos.csv\n"
         "  kith rdf halos.h5 --box 1 --r-max 0.01 -o gr.txt\n"
         "\n"
         "Exit status:\n"
         "    0  ok                                   7  beyond a limit of this build\n"
         "    2  wrong arguments                      8  no memory\n"
         "    3  input cannot be read                 9  output cannot be written\n"
         "    4  input malformed or truncated        10  backend or format not available\n"
         "    5  a coordinate is not finite         130  interrupted\n"
         "    6  a value makes no sense (cutoff, box)");
    return STATUS_OK;
}

/** Print the versions of the command, of libkith if it differs, and of HDF5. */
static int print_version(void)
{
    printf("kith %s", KITH_VERSION);
    if (strcmp(KITH_VERSION, kith_version()) != 0) {
        printf(" (with libkith %s)", kith_version());
    }
    char hdf5[40];
    printf("\n%s\n", io_hdf5_version(hdf5, sizeof hdf5) ? hdf5 : "without HDF5");
    return STATUS_OK;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/** Return the Levenshtein distance of two words, of which only LONGEST letters are compared: the
 *  least number of insertions, deletions and replacements. Row i of the dynamic program, for the
 *  first i letters of a, overwrites row i - 1. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 15 };
    const int na = (int)strnlen(a, LONGEST), nb = (int)strnlen(b, LONGEST);
    int row[LONGEST + 1];
    for (int j = 0; j <= nb; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(replaced, smaller(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

/** Report an unknown verb, with the nearest one as a hint if it is at most 2 edits away. */
static int unknown_verb(const char *word)
{
    const struct verb *nearest = &verbs[0];
    for (int v = 1; v < VERBS; v++) {
        if (edit_distance(word, verbs[v].name) < edit_distance(word, nearest->name)) {
            nearest = &verbs[v];
        }
    }
    char hint[80] = "kith --help lists the verbs";
    if (edit_distance(word, nearest->name) <= 2) {
        snprintf(hint, sizeof hint, "did you mean kith %s?", nearest->name);
    }
    return report_error(STATUS_USAGE, hint, "unknown verb '%s'", word);
}

int main(int argc, char **argv)
{
    /* Without these signals, a closed pipe (| head) and a file too large for ulimit -f are errors
     * of write(), which are reported. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    guard_start();
    report_start();
    atexit(report_close_stdout);
    argp_err_exit_status = STATUS_USAGE;

    bool several = false;
    ranks_on_deal(sweep_help);
    CLI_TRY(ranks_join(&several));
    const char *word = argc > 1 ? argv[1] : "";
    for (int v = 0; v < VERBS; v++) {
        if (strcmp(word, verbs[v].name) == 0) {
            if (several && !verbs[v].ranks) {
                return report_error(STATUS_USAGE, "run it without mpirun or srun",
                                    "kith %s works in one process; kith pairs, nearest, fof, rdf "
                                    "and flock work in several",
                                    verbs[v].name);
            }
            char title[32]; /* argv[0] of the verb, in argp's messages */
            snprintf(title, sizeof title, "kith %s", verbs[v].name);
            argv[1] = title;
            return verbs[v].run(argc - 1, argv + 1);
        }
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_help();
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        return print_version();
    }
    if (argc < 2) {
        return report_error(STATUS_USAGE, "kith --help lists the verbs", "no verb given");
    }
    return unknown_verb(word);
}
