/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories of the formats that io_read reads: snapshots, text and NumPy arrays. A frame is read
 * by the reader of io_read. All formats but NumPy arrays of three dimensions have a single frame.
 */
#include "frames.h"

#include <stdio.h>
#include <string.h>

/** The `open` of io_frames_format: set the description, and the number of frames. */
static io_status open_frames(io_frames *frames)
{
    io_summary summary = {.frames = 1};
    snprintf(frames->description, sizeof frames->description, "%s",
             io_format_name(frames->file_format));
    if (frames->file_format == IO_NPY) {
        IO_TRY(io__npy_inspect(frames->file, &summary));
    }
    frames->count = summary.frames;
    frames->single = true;
    return IO_OK;
}

void io_type_species(uint8_t type, char name[IO_NAME_LENGTH])
{
    static const char *const names[] = {"gas", "dark", "disk", "bulge", "star", "bh", "neutrino"};
    if (type < sizeof names / sizeof *names) {
        snprintf(name, IO_NAME_LENGTH, "%s", names[type]);
    } else {
        snprintf(name, IO_NAME_LENGTH, "PartType%d", type);
    }
}

/** Name the species of snapshots by their types. */
static io_status name_types(io_frames *frames, io_frame *out)
{
    int32_t number[UINT8_MAX + 1];
    bool known[UINT8_MAX + 1] = {false};
    for (int64_t p = 0; p < out->particles.n; p++) {
        const uint8_t type = out->particles.type[p];
        if (!known[type]) {
            char name[IO_NAME_LENGTH];
            io_type_species(type, name);
            IO_TRY(io__labels_number(frames->file, &frames->labels, (io_token){name, strlen(name)},
                                     &number[type]));
            known[type] = true;
        }
        out->species[p] = number[type];
    }
    return IO_OK;
}

/** The `read` of io_frames_format: read frame `next` by io__read_as; add species, weights. */
static io_status read_frame(io_frames *frames, io_frame *out)
{
    io_file *file = frames->file;
    const io_read_options *given = file->options;
    io_read_options options = *given; /* replaces those of the file during io__read_as */
    options.frame = frames->next;
    const bool masses = frames->options->weights && strcmp(frames->options->weights, "mass") == 0;
    options.fields |= IO_TYPES | (masses ? (unsigned)IO_MASSES : 0);
    io_particles read = {0};
    file->options = &options;
    io_status status = io__read_as(file, frames->file_format, &read);
    file->options = given;
    if (status != IO_OK) {
        io_particles_free(&read);
        return status;
    }
    read.bytes = read.bytes ? read.bytes : file->size;
    IO_TRY(io__frame_adopt(frames, out, read, masses && read.mass ? IO_WEIGHTS : 0));
    for (int64_t p = 0; p < read.n && out->weight; p++) {
        out->weight[p] = io_real(read.mass, p, read.precision);
    }
    io_unit_name units;
    io_unit_names(&read.units, &units);
    if (read.units.source == IO_UNITS_FILE) {
        io__frames_unit(units.length, frames->unit);
    }
    return read.type ? name_types(frames, out) : io__frame_unnamed(frames, out);
}

const io_frames_format io__frames_single = {
    .open = open_frames, .read = read_frame, .selects = true};
