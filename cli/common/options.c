/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared options. A text that cannot be read is wrong usage (status 2); a number that can be
 * read and makes no sense is an invalid value (status 6).
 */
#include "options.h"

#include "parse.h"
#include "report.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <core/memo.h>
#include <core/quote.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Keys of options without a letter, outside the letters. */
enum {
    KEY_BOX = 0x100,
    KEY_ORIGIN,
    KEY_PERIODIC,
    KEY_PRECISION,
    KEY_SPECIES,
    KEY_DATASET,
    KEY_COLUMNS,
    KEY_FRAME,
    KEY_FRAMES,
    KEY_BY,
    KEY_TOPOLOGY,
    KEY_BACKEND,
    KEY_THREADS,
    KEY_PORT,
    KEY_ADDRESS,
    KEY_JSON
};

bool options_to_stdout(const options *o)
{
    return o->output && strcmp(o->output, "-") == 0;
}

bool options_summary(const options *o)
{
    return !o->quiet && !options_to_stdout(o);
}

static void parse_box(options *o, const char *arg, struct argp_state *state)
{
    const int n = parse_reals(arg, 9, o->box);
    if (n != 1 && n != 2 && n != 3 && n != 6 && n != 9) {
        options_error(
            state, "--box: got '%s', expected L, LX,LY,LZ, LX,LY,LZ,XY,XZ,YZ or nine numbers", arg);
    }
    for (int k = 0; k < n; k++) {
        const bool is_length = n < 9 && k < 3;
        if (!isfinite(o->box[k]) || (is_length && !(o->box[k] > 0))) {
            options_invalid("--box", arg, is_length ? "lengths above 0" : "finite numbers");
        }
    }
    o->box_numbers = n;
}

static void parse_origin(options *o, const char *arg, struct argp_state *state)
{
    if (parse_reals(arg, 3, o->origin) != 3) {
        options_error(state, "--origin: got '%s', expected X,Y,Z", arg);
    }
    for (int k = 0; k < 3; k++) {
        if (!isfinite(o->origin[k])) {
            options_invalid("--origin", arg, "finite numbers");
        }
    }
    o->has_origin = true;
}

static void parse_periodic(options *o, const char *arg, struct argp_state *state)
{
    if (!parse_axes(arg, o->periodic)) {
        options_error(state, "--periodic: got '%s', expected axes such as xyz or xy, or none", arg);
    }
    o->has_periodic = true;
}

/* The parser of every group. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    enum { MOST_PORT = 65535 };
    options *o = state->input;
    switch (key) {
    case KEY_DATASET: o->read.dataset = arg; return 0;
    case KEY_COLUMNS: o->read.columns = arg; return 0;
    case KEY_SPECIES: o->read.species = arg; return 0;
    case KEY_PRECISION: o->read.precision = options_precision(state, arg); return 0;
    case KEY_FRAME: o->read.frame = options_whole(state, "--frame", arg, 0); return 0;
    case KEY_FRAMES: o->frames = arg; return 0;
    case KEY_TOPOLOGY: o->topology = arg; return 0;
    case KEY_BY:
        o->label = IO_LABEL_ELEMENT + options_word(state, "--by", arg, "element, type or name");
        return 0;
    case KEY_BOX: parse_box(o, arg, state); return 0;
    case KEY_ORIGIN: parse_origin(o, arg, state); return 0;
    case KEY_PERIODIC: parse_periodic(o, arg, state); return 0;
    case KEY_BACKEND: o->backend = arg; return 0;
    case KEY_THREADS:
        o->threads = (int)options_whole_to(state, "--threads", arg, 1, INT_MAX,
                                           "1 or more; without --threads all cores are used");
        return 0;
    case KEY_ADDRESS: o->address = arg; return 0;
    case KEY_PORT:
        o->port = (int)options_whole_to(state, "--port", arg, 1, MOST_PORT, "1 to 65535");
        return 0;
    case 'o':
        options_refuse(state, !*arg, "--output: the name is empty");
        o->output = arg;
        return 0;
    case 'q': o->quiet = true; return 0;
    case KEY_JSON: o->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

#define PRECISION_OPTION \
    { \
        "precision", KEY_PRECISION, "float|double", 0, "of the computation; default: the file's", \
            10 \
    }
static const struct argp_option reading[] = {
    {0, 0, 0, 0, "Input:", 10},
    {"dataset", KEY_DATASET, "NAME", 0, "HDF5 dataset of the coordinates", 10},
    PRECISION_OPTION,
    {"columns", KEY_COLUMNS, "X,Y,Z", 0, "text: numbers from 0, or names in its header", 10},
    {"species", KEY_SPECIES, "A,B", 0, "only these: dark, gas, star; elements of XYZ", 10},
    {"frame", KEY_FRAME, "K", 0, "frame of a trajectory, from 0", 10},
    {0}};
static const struct argp_option one_frame[] = {
    {"dataset", KEY_DATASET, "NAME", OPTION_HIDDEN, 0, 9},
    {"columns", KEY_COLUMNS, "X,Y,Z", OPTION_HIDDEN, 0, 9},
    {"species", KEY_SPECIES, "A,B", OPTION_HIDDEN, 0, 9},
    {"frame", KEY_FRAME, "K", OPTION_HIDDEN, 0, 9},
    {"precision", KEY_PRECISION, "float|double", OPTION_HIDDEN, 0, 9},
    {"--frame=K, --precision=P", 0, 0, OPTION_DOC | OPTION_NO_USAGE,
     "of INPUT; float, double; others as in kith pairs", 9},
    {0}};
static const struct argp_option trajectory[] = {
    {0, 0, 0, 0, "Input:", 10},
    {"dataset", KEY_DATASET, "NAME", OPTION_HIDDEN, 0, 10},
    PRECISION_OPTION,
    {"frames", KEY_FRAMES, "A:B:STEP", 0, "as Python slices: 10:, ::100; default: all", 10},
    {"by", KEY_BY, "WHAT", 0, "species are each atom's element, type or name", 10},
    {"topology", KEY_TOPOLOGY, "FILE", OPTION_HIDDEN, 0, 10},
    {"--dataset=D, --topology=T", 0, 0, OPTION_DOC | OPTION_NO_USAGE,
     "of HDF5; a .pdb or .gro that names the atoms", 10},
    {0}};
static const struct argp_option vectors[] = {
    {0, 0, 0, 0, "Input:", 10},
    {"dataset", KEY_DATASET, "NAME", 0, "HDF5 dataset of the vectors", 10},
    PRECISION_OPTION,
    {0}};
static const struct argp_option space[] = {
    {0, 0, 0, 0, "Space:", 20},
    {"box", KEY_BOX, "LX,LY,LZ", 0, "box, also L or LX,LY,LZ,XY,XZ,YZ or 9 numbers", 20},
    {"origin", KEY_ORIGIN, "X,Y,Z", 0, "the box's low corner; default 0,0,0", 20},
    {"periodic", KEY_PERIODIC, "xyz|xy|none", 0, "periodic axes; default: all, when a box is known",
     20},
    {0}};
static const struct argp_option engine[] = {
    {0, 0, 0, 0, "Engine:", 30},
    {"backend", KEY_BACKEND, "NAME", 0, "auto, cpu, cpu:avx2, cpu:avx512, cuda, cuda:1", 30},
    {"threads", KEY_THREADS, "N", 0, "CPU threads; default: all cores", 30},
    {0}};

static const struct argp_option viewing[] = {
    {"port", KEY_PORT, "N", 0, "of the live view; default: 8420, else a free one", 35},
    {"address", KEY_ADDRESS, "A", 0, "to serve it at; default: 127.0.0.1, this machine alone", 35},
    {0}};
static const struct argp_option viewing_unseen[] = {
    {"port", KEY_PORT, "N", OPTION_HIDDEN, 0, 35},
    {"address", KEY_ADDRESS, "A", OPTION_HIDDEN, 0, 35},
    {0}};

#define REPORT_OPTIONS \
    {0, 0, 0, 0, "Result:", 40}, {"json", KEY_JSON, 0, 0, "summary as JSON", 40}, \
    { \
        "quiet", 'q', 0, 0, "no summary, no progress", 40 \
    }
static const struct argp_option report[] = {REPORT_OPTIONS, {0}};
static const struct argp_option result[] = {
    REPORT_OPTIONS, {"output", 'o', "FILE", 0, "write the result here", 40}, {0}};

const struct argp options_reading = {.options = reading, .parser = parse};
const struct argp options_one_frame = {.options = one_frame, .parser = parse};
const struct argp options_trajectory = {.options = trajectory, .parser = parse};
const struct argp options_vectors = {.options = vectors, .parser = parse};
const struct argp options_space = {.options = space, .parser = parse};
const struct argp options_engine = {.options = engine, .parser = parse};
const struct argp options_viewing = {.options = viewing, .parser = parse};
const struct argp options_viewing_unseen = {.options = viewing_unseen, .parser = parse};
const struct argp options_report = {.options = report, .parser = parse};
const struct argp options_result = {.options = result, .parser = parse};

const struct argp_child options_particles[] = {{&options_reading, 0, NULL, 0},
                                               {&options_space, 0, NULL, 0},
                                               {&options_engine, 0, NULL, 0},
                                               {&options_result, 0, NULL, 0},
                                               {0}};

const struct argp_child options_of_frames[] = {{&options_trajectory, 0, NULL, 0},
                                               {&options_space, 0, NULL, 0},
                                               {&options_engine, 0, NULL, 0},
                                               {&options_result, 0, NULL, 0},
                                               {0}};

static void read_box(void *at, const option_given *given)
{
    parse_box(at, given->arg, given->state);
}

static void read_origin(void *at, const option_given *given)
{
    parse_origin(at, given->arg, given->state);
}

static void read_periodic(void *at, const option_given *given)
{
    parse_periodic(at, given->arg, given->state);
}

static void read_output(void *at, const option_given *given)
{
    options_refuse(given->state, !*given->arg, "--output: the name is empty");
    *(const char **)at = given->arg;
}

const option_row reading_options[] = {
    {.help = "Input:", .group = 10},
    {"dataset", 0, "NAME", "HDF5 dataset of the coordinates", 10, TEXT_AT(options, read.dataset)},
    {"precision", 0, "float|double", "of the computation; default: the file's", 10,
     READ_AT(options, read.precision, option_read_precision)},
    {"columns", 0, "X,Y,Z", "text: numbers from 0, or names in its header", 10,
     TEXT_AT(options, read.columns)},
    {"species", 0, "A,B", "only these: dark, gas, star; elements of XYZ", 10,
     TEXT_AT(options, read.species)},
    {"frame", 0, "K", "frame of a trajectory, from 0", 10, FROM_ZERO_AT(options, read.frame)},
    {0}};
const option_row one_frame_options[] = {
    {"frame", 0, "K", "of INPUT; also --dataset, --species, --columns", 9,
     FROM_ZERO_AT(options, read.frame)},
    {"precision", 0, "P", NULL, 9, READ_AT(options, read.precision, option_read_precision)},
    {"dataset", 0, "NAME", OPTION_NAMED_ABOVE, 9, TEXT_AT(options, read.dataset)},
    {"species", 0, "A,B", OPTION_NAMED_ABOVE, 9, TEXT_AT(options, read.species)},
    {"columns", 0, "X,Y,Z", OPTION_NAMED_ABOVE, 9, TEXT_AT(options, read.columns)},
    {0}};
const option_row trajectory_options[] = {
    {.help = "Input:", .group = 10},
    {"dataset", 0, "D", "of HDF5; a .pdb or .gro that names the atoms", 10,
     TEXT_AT(options, read.dataset)},
    {"topology", 0, "T", NULL, 10, TEXT_AT(options, topology)},
    {"precision", 0, "float|double", "of the computation; default: the file's", 10,
     READ_AT(options, read.precision, option_read_precision)},
    {"frames", 0, "A:B:STEP", "as Python slices: 10:, ::100; default: all", 10,
     TEXT_AT(options, frames)},
    {"by", 0, "WHAT", "species are each atom's element, type or name", 10,
     WORD_AT(options, label, IO_LABEL_ELEMENT, "element, type or name")},
    {0}};
const option_row vectors_options[] = {
    {.help = "Input:", .group = 10},
    {"dataset", 0, "NAME", "HDF5 dataset of the vectors", 10, TEXT_AT(options, read.dataset)},
    {"precision", 0, "float|double", "of the computation; default: the file's", 10,
     READ_AT(options, read.precision, option_read_precision)},
    {0}};
const option_row space_options[] = {
    {.help = "Space:", .group = 20},
    {"box", 0, "LX,LY,LZ", "box, also L or LX,LY,LZ,XY,XZ,YZ or 9 numbers", 20, READ_BY(read_box)},
    {"origin", 0, "X,Y,Z", "the box's low corner; default 0,0,0", 20, READ_BY(read_origin)},
    {"periodic", 0, "xyz|xy|none", "periodic axes; default: all, when a box is known", 20,
     READ_BY(read_periodic)},
    {0}};
const option_row engine_options[] = {
    {.help = "Engine:", .group = 30},
    {"backend", 0, "NAME", "auto, cpu, cpu:avx2, cpu:avx512, cuda, cuda:1", 30,
     TEXT_AT(options, backend)},
    {"threads", 0, "N", "CPU threads; default: all cores", 30,
     WHOLE_AT(options, threads, 1, INT_MAX, "1 or more; without --threads all cores are used")},
    {0}};
const option_row viewing_options[] = {
    {"port", 0, "N", "of the live view; default: 8420, else a free one", 35,
     WHOLE_AT(options, port, 1, 65535, "1 to 65535")},
    {"address", 0, "A", "to serve it at; default: 127.0.0.1, this machine alone", 35,
     TEXT_AT(options, address)},
    {0}};
const option_row report_options[] = {
    {.help = "Result:", .group = 40},
    {"json", 0, NULL, "summary as JSON", 40, FLAG_AT(options, json)},
    {"quiet", 'q', NULL, "no summary, no progress", 40, FLAG_AT(options, quiet)},
    {0}};
const option_row output_options[] = {
    {"output", 'o', "FILE", "write the result here", 40, READ_AT(options, output, read_output)},
    {0}};

void options_parse_init(struct argp_state *state, const struct argp_child *children, options *o)
{
    for (int child = 0; children[child].argp; child++) {
        state->child_inputs[child] = o;
    }
}
