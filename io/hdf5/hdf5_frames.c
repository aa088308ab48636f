/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories in HDF5: arrays of shape (frames, n, 3), and H5MD, which stores box, step, time,
 * species and unit beside the positions: https://nongnu.org/h5md. A snapshot has a single frame.
 */
#include "io_hdf5.h"

#include "trajectories/frames.h"

#include <stdio.h>
#include <string.h>

/** State of the reader. */
typedef struct hdf5_state {
    hid_t id;         /* the file */
    bool is_snapshot; /* the file is a snapshot, and has a single frame */
    io_arrays arrays; /* datasets of positions, if it is no snapshot */
} hdf5_state;

/** Open the file and, if it is no snapshot, its datasets of positions. */
static io_status open_file(io_frames *frames, hdf5_state *state)
{
    IO_TRY(io__hdf5_open(frames->file, &state->id));
    if (!frames->file->options->dataset) {
        IO_TRY(io__hdf5_is_snapshot(frames->file, state->id, &state->is_snapshot));
        frames->single = state->is_snapshot;
    }
    return state->is_snapshot ? IO_OK : io__arrays_open(frames->file, state->id, &state->arrays);
}

/** The `open` of io_frames_format. Of datasets with different numbers of frames, the least
 *  counts. */
static io_status open_frames(io_frames *frames)
{
    hdf5_state *state = frames->state;
    const io_status status = open_file(frames, state);
    const io_arrays *arrays = &state->arrays;
    char group[IO_HDF5_NAME] = "";
    frames->count = arrays->n > 0 ? arrays->item[0].frames : 1;
    for (int k = 0; k < arrays->n; k++) {
        if (arrays->item[k].frames < frames->count) {
            frames->count = arrays->item[k].frames;
        }
    }
    if (arrays->n > 0) {
        io__h5md_group(&arrays->item[0], group);
    }
    snprintf(frames->description, sizeof frames->description, "%s", group[0] ? "H5MD" : "HDF5");
    return status == IO_OK ? io__h5md_unit(frames->file, arrays, frames->unit) : status;
}

static void close_frames(io_frames *frames)
{
    hdf5_state *state = frames->state;
    io__hdf5_enter(frames->file->path);
    io__arrays_close(&state->arrays);
    io__close(state->id);
}

/** Set the species of particles of an array: the numbers of the dataset "species" of H5MD, else the
 *  name of the group of H5MD if there are several groups.
 *  @param first         first particle of the array
 *  @param n             number of particles
 *  @param[out] species  [n] */
static io_status read_species(io_frames *frames, const io_array *array, int64_t first, int64_t n,
                              int32_t *species)
{
    io_token name = {array->name, 0};
    char group[IO_HDF5_NAME], number[16];
    bool numbered;
    IO_TRY(io__h5md_column(frames->file, array, "species", frames->next, first, n, H5T_NATIVE_INT32,
                           species, &numbered));
    io__h5md_group(array, group);
    const hdf5_state *state = frames->state;
    if (group[0] && state->arrays.n > 1) {
        name = (io_token){strchr(group, '/') + 1, strlen(strchr(group, '/') + 1)};
    }
    int32_t last = 0, label = 0; /* number in the file of the last particle, and its species */
    for (int64_t p = 0; p < n; p++) {
        const int32_t id = numbered ? species[p] : 0;
        if (numbered && (p == 0 || id != last)) {
            name = (io_token){number, (size_t)snprintf(number, sizeof number, "%d", id)};
        }
        if (p == 0 || id != last) {
            IO_TRY(io__labels_number(frames->file, &frames->labels, name, &label));
        }
        species[p] = label;
        last = id;
    }
    return IO_OK;
}

/** Read frame options->frame of all datasets of positions, with species, weights, time and step. */
static io_status read_arrays(io_frames *frames, io_frame *out)
{
    const hdf5_state *state = frames->state;
    io_arrays wanted = state->arrays;
    const io_arrays *arrays = &wanted;
    io_particles read = {0};
    for (int k = 0; k < wanted.n && frames->options->boxes_only; k++) {
        wanted.item[k].n = 0;
    }
    const io_status status = io__arrays_read(frames->file, state->id, arrays, &read);
    if (status != IO_OK) {
        io_particles_free(&read);
        return status;
    }
    IO_TRY(io__frame_adopt(frames, out, read, frames->options->weights ? IO_WEIGHTS : 0));
    if (frames->options->boxes_only) {
        return IO_OK;
    }
    int64_t row = 0; /* of the first particle of an array, among those of all parts */
    for (int k = 0; k < arrays->n; row += arrays->item[k++].n) {
        bool found = true;
        int64_t n = arrays->item[k].n, first;
        const int64_t to = io__particles_cut(&out->particles, row, &n, &first);
        IO_TRY(read_species(frames, &arrays->item[k], first, n, out->species + to));
        if (out->weight) {
            IO_TRY(io__h5md_column(frames->file, &arrays->item[k], frames->options->weights,
                                   frames->next, first, n, H5T_NATIVE_DOUBLE, out->weight + to,
                                   &found));
        }
        if (!found) {
            out->fields &= ~(unsigned)IO_WEIGHTS;
        }
    }
    const io_array *array = &arrays->item[0];
    IO_TRY(io__h5md_time(frames->file, array, frames->next, &out->particles.has_time,
                         &out->particles.time));
    return io__h5md_step(frames->file, array, frames->next, &out->has_step, &out->step);
}

/** The `read` of io_frames_format. A snapshot is read by single_frame.c. */
static io_status read_frame(io_frames *frames, io_frame *out)
{
    const hdf5_state *state = frames->state;
    if (state->is_snapshot) {
        return io__frames_single.read(frames, out);
    }
    const io_read_options *given = frames->file->options;
    io_read_options options = *given; /* replaces those of the file during read_arrays */
    options.frame = frames->next;
    frames->file->options = &options;
    io__hdf5_enter(frames->file->path);
    const io_status status = read_arrays(frames, out);
    frames->file->options = given;
    return status;
}

const io_frames_format io__frames_hdf5 = {.state = sizeof(hdf5_state),
                                          .open = open_frames,
                                          .read = read_frame,
                                          .close = close_frames,
                                          .calling_thread = true,
                                          .selects = true};
