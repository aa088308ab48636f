/* SPDX-License-Identifier: BSD-3-Clause
 *
 * kith make: write a reproducible set of particles. The same arguments give the same bytes on any
 * machine.
 */
#include "options.h"
#include "parse.h"
#include "progress.h"
#include "report.h"
#include "sets.h"
#include "space.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { KEY_BASIS = 0x200, KEY_MODEL, KEY_BOX, KEY_PRECISION, KEY_FORMAT };

typedef enum family { UNIFORM, LATTICE, PLUMMER, CLUSTERED, BRIDGE, FAMILIES } family;
static const char *const family_names[] = {"uniform",   "lattice", "plummer",
                                           "clustered", "bridge",  NULL};

static const char *const basis_names[] = {"sc", "bcc", "fcc", NULL};
static const int basis_sites[] = {1, 2, 4};

enum { HALOS, SONEIRA_PEEBLES };
static const char *const model_names[] = {"halos", "soneira-peebles", NULL};

static const char *const format_names[] = {"npy", "hdf5", "tipsy", "text", "xyz", NULL};
static const io_format formats[] = {IO_NPY, IO_HDF5, IO_TIPSY, IO_TEXT, IO_XYZ};

typedef struct make_task {
    options shared;
    int family; /* -1 until given */
    int64_t n;  /* -1 until given */
    uint64_t seed;
    int basis;   /* index; -1: sc */
    int model;   /* -1: halos */
    double side; /* of the box */
    kith_precision precision;
    io_format format;
} make_task;

static const struct argp_option make_options[] = {
    {"seed", 's', "S", 0, "random seed, a whole number; default 0", 1},
    {"basis", KEY_BASIS, "sc|bcc|fcc", 0, "lattice; default sc", 1},
    {"model", KEY_MODEL, "MODEL", 0, "clustered: halos (default) or soneira-peebles", 1},
    {"box", KEY_BOX, "L", 0, "side of the box [0, L); default 1", 1},
    {"precision", KEY_PRECISION, "float|double", 0, "of the coordinates; default double", 1},
    {"format", KEY_FORMAT, "FORMAT", 0, "npy, hdf5, tipsy, text, xyz; default: by FILE's ending",
     1},
    {0}};

/** The index of a word in a list that NULL ends; -1 without. */
static int find_word(const char *word, const char *const *words)
{
    for (int k = 0; words[k]; k++) {
        if (strcmp(word, words[k]) == 0) {
            return k;
        }
    }
    return -1;
}

static int choose(struct argp_state *state, const char *what, const char *word,
                  const char *const *words)
{
    const int found = find_word(word, words);
    if (found < 0) {
        char list[128] = "";
        for (int k = 0; words[k]; k++) {
            strncat(list, k ? ", " : "", sizeof list - strlen(list) - 1);
            strncat(list, words[k], sizeof list - strlen(list) - 1);
        }
        argp_error(state, "%s: got '%s', expected one of %s", what, word, list);
    }
    return found;
}

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

static void check_task(make_task *task, struct argp_state *state)
{
    const char *path = task->shared.output;
    if (task->family < 0 || task->n < 0) {
        argp_error(state,
                   "expected a family (uniform, lattice, plummer, clustered, bridge) and a number");
    }
    if (!path) {
        argp_error(state, "no -o FILE given");
    }
    if (task->basis >= 0 && task->family != LATTICE) {
        argp_error(state, "--basis goes with lattice, not %s", family_names[task->family]);
    }
    if (task->model >= 0 && task->family != CLUSTERED) {
        argp_error(state, "--model goes with clustered, not %s", family_names[task->family]);
    }
    if (task->format == IO_UNKNOWN) {
        task->format = format_of_ending(path);
    }
    if (task->format == IO_UNKNOWN) {
        argp_error(state,
                   "--output: '%s' does not end in .npy, .h5, .std, .txt or .xyz; "
                   "give --format",
                   path);
    }
}

static void parse_argument(make_task *task, const char *arg, struct argp_state *state)
{
    if (task->family < 0) {
        task->family = choose(state, "family", arg, family_names);
        return;
    }
    if (task->n >= 0) {
        argp_error(state, "too many arguments: '%s'", arg);
    }
    task->n = options_whole(state, "N", arg, 0);
    if (task->n > INT32_MAX) {
        exit(report_error(STATUS_LIMIT, NULL, "N: got %s, expected at most 2^31 - 1 = 2147483647",
                          arg));
    }
}

static const struct argp_child children[] = {{&options_result, 0, NULL, 0}, {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    make_task *task = state->input;
    switch (key) {
    case ARGP_KEY_INIT: options_parse_init(state, children, &task->shared); return 0;
    case 's':
        if (!parse_uint64(arg, &task->seed)) {
            argp_error(state, "--seed: got '%s', expected a whole number from 0 to 2^64 - 1", arg);
        }
        return 0;
    case KEY_BASIS: task->basis = choose(state, "--basis", arg, basis_names); return 0;
    case KEY_MODEL: task->model = choose(state, "--model", arg, model_names); return 0;
    case KEY_FORMAT: task->format = formats[choose(state, "--format", arg, format_names)]; return 0;
    case KEY_PRECISION: task->precision = options_precision(state, arg); return 0;
    case KEY_BOX:
        if (!parse_real(arg, &task->side)) {
            argp_error(state, "--box: got '%s', expected one length", arg);
        }
        if (!isfinite(task->side) || !(task->side > 0)) {
            options_invalid("--box", arg, "a finite length above 0");
        }
        return 0;
    case ARGP_KEY_ARG: parse_argument(task, arg, state); return 0;
    case ARGP_KEY_END: check_task(task, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = make_options,
    .parser = parse_option,
    .args_doc = "uniform|lattice|plummer|clustered|bridge N -o FILE",
    .doc = "Make a set of N particles, the same bytes on any machine. N may be 1000000, 1_000_000,"
           " 1e6 or 1M; a lattice has the whole cells that fit. Uniform, lattice, clustered and"
           " bridge sets are periodic; a Plummer sphere and a Soneira-Peebles hierarchy stand in "
           "open space."
           "\vExample:\n"
           "  kith make clustered 1M --seed 7 --box 100 --precision float -o halos.h5\n"
           "  kith make lattice 32k --basis fcc -o fcc.xyz",
    .children = children};

/** Fill xyz in the unit box, and velocities where the family has them. @return how many points
 *  there are. */
static int64_t fill(const make_task *task, double *xyz, double *velocity)
{
    switch ((family)task->family) {
    case LATTICE: return sets_lattice(xyz, task->n, basis_sites[task->basis < 0 ? 0 : task->basis]);
    case PLUMMER: sets_plummer(xyz, task->n, task->seed); break;
    case CLUSTERED:
        if (task->model == SONEIRA_PEEBLES) {
            sets_soneira_peebles(xyz, task->n, task->seed);
        } else {
            sets_clustered(xyz, task->n, task->seed);
        }
        break;
    case BRIDGE: sets_bridge(xyz, velocity, task->n, task->seed); break;
    case UNIFORM:
    case FAMILIES: sets_uniform(xyz, task->n, task->seed); break;
    }
    return task->n;
}

/** Convert in place. */
static void to_float(double *values, int64_t n)
{
    char *const to = (char *)values;
    for (int64_t k = 0; k < n; k++) {
        const float x = (float)values[k];
        memcpy(to + (size_t)k * sizeof x, &x, sizeof x);
    }
}

/** Scale to the box and convert in place. Rounding must not lift a point onto the far face. */
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

static int print_summary(const make_task *task, const io_particles *set, double seconds)
{
    const options *o = &task->shared;
    struct stat file;
    const int64_t bytes = stat(o->output, &file) == 0 ? (int64_t)file.st_size : 0;
    if (o->json) {
        return report_json(json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:o, s:I, s:f}", "kith", kith_version(), "verb",
            "make", "family", family_names[task->family], "particles", (json_int_t)set->n, "seed",
            (json_int_t)task->seed, "precision", set->precision == KITH_FLOAT ? "float" : "double",
            "box", set->has_box ? space_box_json(&set->box) : json_null(), "path",
            report_json_text(o->output), "bytes", (json_int_t)bytes, "seconds", seconds));
    }
    if (!o->quiet) {
        printf("%s: %s particles, %s, %s in %s\n", o->output, report_count(set->n).s,
               io_format_name(task->format), report_bytes(bytes).s, report_seconds(seconds).s);
    }
    return STATUS_OK;
}

int verb_make(int argc, char **argv)
{
    make_task task = {
        .family = -1, .n = -1, .basis = -1, .model = -1, .side = 1, .precision = KITH_DOUBLE};
    options_init(&task.shared);
    options_parse(&arguments, argc, argv, &task);

    const double start = progress_clock();
    io_particles set = {.n = task.n, .dim = 3, .precision = KITH_DOUBLE};
    set.pos = malloc((size_t)(task.n + 1) * 3 * sizeof(double));
    if (task.family == BRIDGE) {
        set.velocity = malloc((size_t)(task.n + 1) * 3 * sizeof(double));
    }
    if (!set.pos || (task.family == BRIDGE && !set.velocity)) {
        free(set.velocity);
        free(set.pos);
        return report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld particles",
                            (long long)task.n);
    }
    set.n = fill(&task, set.pos, set.velocity);
    finish(&task, &set);
    set.has_box = task.family != PLUMMER && task.model != SONEIRA_PEEBLES;
    set.box = set.has_box ? kith_box_periodic(task.side, task.side, task.side) : kith_box_open();

    /* Until here Ctrl-C may end the process at once: there is no file yet to clear away. */
    progress_catch_signals();
    io_error error = {0};
    int status = STATUS_OK;
    if (io_write_particles(task.shared.output, task.format, &set, &error) != IO_OK) {
        status = report_io(&error, true);
    } else {
        status = print_summary(&task, &set, progress_clock() - start);
    }
    free(set.velocity);
    free(set.pos);
    return status;
}
