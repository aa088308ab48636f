/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith make: write a reproducible set of particles. Equal arguments give equal bytes on any
 * machine.
 */
#include "common/options.h"
#include "common/parse.h"
#include "common/progress.h"
#include "common/report.h"
#include "sets.h"
#include "common/space.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Families of sets, and their names in the order of the enumeration. */
typedef enum family { UNIFORM, LATTICE, PLUMMER, CLUSTERED, BRIDGE } family;
static const char *const family_names[] = {"uniform", "lattice", "plummer", "clustered", "bridge"};

enum { HALOS, SONEIRA_PEEBLES }; /* values of --model, for the family CLUSTERED */

/** The values of the options. */
typedef struct make_task {
    options shared;           /**< options that verbs share */
    int family;               /**< a `family`; -1 until given */
    int64_t n;                /**< number of particles; -1 until given */
    uint64_t seed;            /**< --seed */
    int basis;                /**< --basis: 0 sc, 1 bcc, 2 fcc, 2^basis points in a cell; -1: sc */
    int model;                /**< --model: HALOS or SONEIRA_PEEBLES; -1: HALOS */
    double side;              /**< --box: side of the box */
    kith_precision precision; /**< --precision of the coordinates */
    io_format format;         /**< --format; IO_UNKNOWN: by the ending of the output */
} make_task;

/** Return the format of a path by its ending; IO_UNKNOWN: the ending is not known. */
static io_format format_of_ending(const char *path)
{
    static const struct {
        const char *ending;
        io_format format;
    } endings[] = {{".npy", IO_NPY},     {".h5", IO_HDF5},  {".hdf5", IO_HDF5}, {".std", IO_TIPSY},
                   {".tipsy", IO_TIPSY}, {".txt", IO_TEXT}, {".dat", IO_TEXT},  {".xyz", IO_XYZ}};
    const char *dot = strrchr(path, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof endings[0]; k++) {
        if (strcasecmp(dot, endings[k].ending) == 0) {
            return endings[k].format;
        }
    }
    return IO_UNKNOWN;
}

/** Refuse options that are missing or contradict each other, and choose the format. */
static void check_task(void *at, struct argp_state *state)
{
    make_task *task = at;
    const char *path = task->shared.output;
    option_refuse(state, task->family < 0 || task->n < 0,
                  "expected a family (uniform, lattice, plummer, clustered, bridge) and a number");
    option_refuse(state, !path, "no -o FILE given");
    if (task->basis >= 0 && task->family != LATTICE) {
        option_error(state, "--basis goes with lattice, not %s", family_names[task->family]);
    }
    if (task->model >= 0 && task->family != CLUSTERED) {
        option_error(state, "--model goes with clustered, not %s", family_names[task->family]);
    }
    if (task->format == IO_UNKNOWN) {
        task->format = format_of_ending(path);
    }
    if (task->format == IO_UNKNOWN) {
        option_error(state,
                     "--output: '%s' does not end in .npy, .h5, .std, .txt or .xyz; "
                     "give --format",
                     path);
    }
}

/** Parse an operand: the family, then N. Errors end the command. */
static void read_operand(void *at, const char *arg, struct argp_state *state)
{
    make_task *task = at;
    if (task->family < 0) {
        task->family = option_word(state, "family", arg,
                                   "uniform, lattice, plummer, clustered or bridge");
        return;
    }
    if (task->n >= 0) {
        option_error(state, "too many arguments: '%s'", arg);
    }
    task->n = option_whole(state, "N", arg, 0);
    if (task->n > INT32_MAX) {
        exit(report_error(STATUS_LIMIT, NULL, "N: got %s, expected at most 2^31 - 1 = 2147483647",
                          arg));
    }
}

static const option_row make_options[] = {
    {"seed", 's', "S", "random seed, a whole number; default 0", 1,
     READ_AT(make_task, seed, option_read_seed)},
    {"basis", 0, "sc|bcc|fcc", "lattice; default sc", 1,
     WORD_AT(make_task, basis, 0, "sc, bcc or fcc")},
    {"model", 0, "MODEL", "clustered: halos (default) or soneira-peebles", 1,
     WORD_AT(make_task, model, 0, "halos or soneira-peebles")},
    {"box", 0, "L", "side of the box [0, L); default 1", 1, POSITIVE_AT(make_task, side)},
    {"precision", 0, "float|double", "of the coordinates; default double", 1,
     READ_AT(make_task, precision, option_read_precision)},
    {"format", 0, "FORMAT", "npy, hdf5, tipsy, text, xyz; default: by FILE's ending", 1,
     WORD_AT(make_task, format, IO_NPY, "npy, hdf5, tipsy, text or xyz")},
    {0}};

static const command_line make_line = {
    .operands = "uniform|lattice|plummer|clustered|bridge N -o FILE",
    .read_operand = read_operand,
    .tables = {{.rows = output_options}, {.rows = make_options}, {.rows = report_options}},
    .check = check_task,
    .help =
        "Make a set of N particles, identical bytes on any machine. N may be 1000000, 1_000_000,"
        " 1e6 or 1M; a lattice has the whole cells that fit. Uniform, lattice, clustered and"
        " bridge sets are periodic; a Plummer sphere and a Soneira-Peebles hierarchy stand in "
        "open space."
        "\vExample:\n"
        "  kith make clustered 1M --seed 7 --box 100 --precision float -o halos.h5\n"
        "  kith make lattice 32k --basis fcc -o fcc.xyz"};

/** Make the set in the unit box.
 *  @param[out] xyz       [n][3] positions
 *  @param[out] velocity  [n][3] velocities; used by BRIDGE alone, else NULL
 *  @return the number of points: n, or less for a lattice */
static int64_t fill(const make_task *task, double *xyz, double *velocity)
{
    switch ((family)task->family) {
    case LATTICE: return sets_lattice(xyz, task->n, 1 << (task->basis < 0 ? 0 : task->basis));
    case PLUMMER: sets_plummer(xyz, task->n, task->seed); break;
    case CLUSTERED:
        if (task->model == SONEIRA_PEEBLES) {
            sets_soneira_peebles(xyz, task->n, task->seed);
        } else {
            sets_clustered(xyz, task->n, task->seed);
        }
        break;
    case BRIDGE: sets_bridge(xyz, velocity, task->n, task->seed); break;
    case UNIFORM: sets_uniform(xyz, task->n, task->seed); break;
    }
    return task->n;
}

/** Convert n doubles to floats in place: the floats fill the first half of the memory. memcpy,
 *  because the compiler may assume that a double and a float do not share memory. */
static void to_float(double *values, int64_t n)
{
    char *const to = (char *)values;
    for (int64_t k = 0; k < n; k++) {
        const float x = (float)values[k];
        memcpy(to + (size_t)k * sizeof x, &x, sizeof x);
    }
}

/** Scale to the box, and convert to the precision, in place. Coordinates are limited to the largest
 *  number below the side, as rounding could lift one to the side itself, outside [0, side). */
static void finish(const make_task *task, io_particles *set)
{
    double *from = set->pos;
    const bool single = task->precision == KITH_FLOAT;
    const double below = single ? (double)nextafterf((float)task->side, 0)
                                : nextafter(task->side, 0);
    for (int64_t k = 0; k < 3 * set->n; k++) {
        from[k] = fmin(from[k] * task->side, below);
    }
    if (single) {
        to_float(from, 3 * set->n);
    }
    if (single && set->velocity) {
        to_float(set->velocity, 3 * set->n);
    }
    set->precision = task->precision;
}

/** Print the summary, as text or JSON. @return exit status, reported */
static int print_summary(const make_task *task, const io_particles *set, double seconds)
{
    const options *o = &task->shared;
    const int64_t bytes = report_file_bytes(o->output);
    if (o->json) {
        return report_json(json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:o, s:I, s:f}", "kith", kith_version(), "verb",
            "make", "family", family_names[task->family], "particles", (json_int_t)set->n, "seed",
            (json_int_t)task->seed, "precision", report_precision(set->precision), "box",
            set->has_box ? space_box_json(&set->box) : json_null(), "path",
            report_json_text(o->output), "bytes", (json_int_t)bytes, "seconds", seconds));
    }
    if (!o->quiet) {
        printf("%s: %s particles, %s, %s in %s\n", report_text(o->output).s, report_count(set->n).s,
               io_format_name(task->format), report_bytes(bytes).s, report_seconds(seconds).s);
    }
    return STATUS_OK;
}

int verb_make(int argc, char **argv)
{
    make_task task = {
        .family = -1, .n = -1, .basis = -1, .model = -1, .side = 1, .precision = KITH_DOUBLE};
    command_line_parse(&make_line, argc, argv, &task);

    progress_catch_signals();
    progress_unstoppable(true); /* a signal ends the command at once: there is no file yet */
    const double start = progress_clock();
    io_particles set = {.n = task.n, .dim = 3, .precision = KITH_DOUBLE};
    set.pos = malloc((size_t)(task.n + 1) * 3 * sizeof(double));
    if (task.family == BRIDGE) {
        set.velocity = malloc((size_t)(task.n + 1) * 3 * sizeof(double));
    }
    if (!set.pos || (task.family == BRIDGE && !set.velocity)) {
        io_particles_free(&set);
        return report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld particles",
                            (long long)task.n);
    }
    set.n = fill(&task, set.pos, set.velocity);
    finish(&task, &set);
    set.has_box = task.family != PLUMMER && task.model != SONEIRA_PEEBLES;
    set.box = set.has_box ? kith_box_periodic(task.side, task.side, task.side) : kith_box_open();

    progress_unstoppable(false);
    io_stop_writes(progress_interrupted);
    io_error error = {0};
    const io_status written = io_write_particles(task.shared.output, task.format, &set, &error);
    int status = written == IO_CANCELLED ? report_interrupted(task.shared.output)
                                         : report_io(written, &error, true);
    if (status == STATUS_OK) {
        status = print_summary(&task, &set, progress_clock() - start);
    }
    io_particles_free(&set);
    return status;
}
