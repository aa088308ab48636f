/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of the shared options.
 */
#include "options.h"

#include "parse.h"
#include "report.h"

#include <limits.h>
#include <string.h>

bool options_to_stdout(const options *o)
{
    return o->output && strcmp(o->output, "-") == 0;
}

bool options_summary(const options *o)
{
    return !o->quiet && !options_to_stdout(o);
}

/* Functions that read the argument of an option (option_row.read). */

static void read_box(void *at, const option_given *given)
{
    options *o = at;
    const char *const arg = given->arg;
    const int n = parse_reals(arg, 9, o->box);
    if (n != 1 && n != 2 && n != 3 && n != 6 && n != 9) {
        option_error(given->state,
                     "--box: got '%s', expected L, LX,LY,LZ, LX,LY,LZ,XY,XZ,YZ or nine numbers",
                     arg);
    }
    for (int k = 0; k < n; k++) {
        const bool is_length = n < 9 && k < 3;
        if (!isfinite(o->box[k]) || (is_length && !(o->box[k] > 0))) {
            option_invalid("--box", arg, is_length ? "lengths above 0" : "finite numbers");
        }
    }
    o->box_numbers = n;
}

static void read_origin(void *at, const option_given *given)
{
    options *o = at;
    if (parse_reals(given->arg, 3, o->origin) != 3) {
        option_error(given->state, "--origin: got '%s', expected X,Y,Z", given->arg);
    }
    for (int k = 0; k < 3; k++) {
        if (!isfinite(o->origin[k])) {
            option_invalid("--origin", given->arg, "finite numbers");
        }
    }
    o->has_origin = true;
}

static void read_periodic(void *at, const option_given *given)
{
    options *o = at;
    option_read_axes(o->periodic, given);
    o->has_periodic = true;
}

static void read_output(void *at, const option_given *given)
{
    option_refuse(given->state, !*given->arg, "--output: the name is empty");
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
    {"topology", 0, "T", NULL, 10, FILE_AT(options, topology, FILE_READ)},
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
     READ_BY(read_periodic), .expected = "axes like xyz or xy, or none"},
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
const option_row output_options[] = {{"output", 'o', "FILE", "write the result here", 40,
                                      READ_AT(options, output, read_output),
                                      PATH_AT(options, output, FILE_WRITTEN)},
                                     {0}};
