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

/** Get the group of H5MD that an array belongs to: "particles/all"; "": the file is not H5MD. */
static void find_group(const io_array *array, char out[IO_HDF5_NAME])
{
    static const char tail[] = "/position/value";
    const size_t length = strlen(array->name), last = strlen(tail);
    const bool is_h5md = length > last && strcmp(array->name + length - last, tail) == 0;
    snprintf(out, IO_HDF5_NAME, "%.*s", is_h5md ? (int)(length - last) : 0, array->name);
}

/** Read n numbers of a dataset that has them once (frame < 0), or once for each frame. */
static bool read_row(hid_t dataset, int64_t frame, int rank, hsize_t n, hid_t type, void *out)
{
    hsize_t shape[H5S_MAX_RANK] = {0}, begin[H5S_MAX_RANK] = {0};
    const hid_t from = H5Dget_space(dataset), to = H5Screate_simple(1, &n, NULL);
    const int found = from >= 0 ? H5Sget_simple_extent_dims(from, shape, NULL) : -1;
    bool done = found == rank + (frame >= 0) && n > 0 && to >= 0;
    if (done && frame >= 0) {
        done = (hsize_t)frame < shape[0];
        begin[0] = (hsize_t)frame;
        shape[0] = 1;
        done = done && H5Sselect_hyperslab(from, H5S_SELECT_SET, begin, NULL, shape, NULL) >= 0;
    }
    done = done && H5Sget_select_npoints(from) == (hssize_t)n &&
           H5Dread(dataset, type, to, from, H5P_DEFAULT, out) >= 0;
    io__close(to);
    io__close(from);
    return done;
}

/** Read n numbers of a dataset in the group of H5MD that an array belongs to.
 *  @param name   path in the group: "/species"
 *  @param frame  >= 0: the dataset has n numbers for each frame; -1: once
 *  @param rank   dimensions of the numbers of one frame
 *  @return false if there is no dataset of this name and shape */
static bool read_beside(const io_array *array, const char *name, int64_t frame, int rank, int64_t n,
                        hid_t type, void *out)
{
    char group[IO_HDF5_NAME], path[IO_HDF5_NAME + 32];
    find_group(array, group);
    snprintf(path, sizeof path, "/%s%s", group, name);
    const hid_t object = group[0] ? H5Oopen(array->id, path, H5P_DEFAULT) : -1;
    const bool found = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    const hid_t plan = found ? H5Dget_create_plist(object) : -1;
    const bool done = plan >= 0 && io__hdf5_external(object, plan) &&
                      read_row(object, frame, rank, (hsize_t)n, type, out);
    if (plan >= 0) {
        H5Pclose(plan);
    }
    io__close(object);
    return done;
}

enum { WORD = 16 };

/** Read an attribute of n words, of fixed or of variable length. */
static bool read_words(hid_t attribute, hid_t type, int n, char words[][WORD])
{
    const bool variable = H5Tis_variable_str(type) > 0;
    const hid_t memory = H5Tcopy(H5T_C_S1);
    char *text[3] = {NULL};
    const bool done = H5Tset_size(memory, variable ? H5T_VARIABLE : WORD) >= 0 &&
                      H5Tset_cset(memory, H5Tget_cset(type)) >= 0 &&
                      H5Aread(attribute, memory, variable ? (void *)text : words) >= 0;
    for (int k = 0; k < n && variable && done; k++) {
        snprintf(words[k], WORD, "%s", text[k] ? text[k] : "");
        H5free_memory(text[k]);
    }
    H5Tclose(memory);
    return done;
}

/** Read an attribute of n words, of an array or of an object of its file.
 *  @param path        path of the object; ".": the array
 *  @param[out] words  [n]; empty if there is no attribute of this name */
static io_status read_text(io_file *file, const io_array *array, const char *path, const char *name,
                           int n, char words[][WORD])
{
    bool absent;
    const hid_t id = io__attribute_open(array->id, path, name, &absent);
    const hid_t space = id >= 0 ? H5Aget_space(id) : -1, type = id >= 0 ? H5Aget_type(id) : -1;
    memset(words, 0, (size_t)n * sizeof *words);
    const bool done = space >= 0 && H5Sget_simple_extent_npoints(space) == n && type >= 0 &&
                      H5Tget_class(type) == H5T_STRING && read_words(id, type, n, words);
    io__close(type);
    io__close(space);
    io__close(id);
    return done || absent
               ? IO_OK
               : io__file_fail(file, IO_FORMAT, "attribute '%s' of %s cannot be read as %d word%s",
                               name, strcmp(path, ".") == 0 ? array->name : path, n,
                               n == 1 ? "" : "s");
}

/** Set which axes are periodic from the attribute "boundary" of the box: all but those with
 *  "none". */
static io_status read_boundary(io_file *file, const io_array *array, int periodic[3])
{
    char group[IO_HDF5_NAME], path[IO_HDF5_NAME + 8], words[3][WORD];
    find_group(array, group);
    snprintf(path, sizeof path, "/%s/box", group);
    IO_TRY(read_text(file, array, path, "boundary", (int)array->columns, words));
    for (int axis = 0; axis < (int)array->columns; axis++) {
        if (words[axis][0]) {
            periodic[axis] = strcmp(words[axis], "none") != 0;
        }
    }
    return IO_OK;
}

io_status io__h5md_box(io_file *file, const io_array *array, int64_t frame, bool *has_box,
                       kith_box *out)
{
    const hid_t type = H5T_NATIVE_DOUBLE;
    const int dim = (int)array->columns, all = dim * dim;
    char group[IO_HDF5_NAME], path[IO_HDF5_NAME + 16];
    double edge[9];
    find_group(array, group);
    snprintf(path, sizeof path, "/%s/box/edges", group);
    if (!group[0] || !io__hdf5_exists(array->id, path)) {
        return IO_OK;
    }
    const bool matrix = read_beside(array, "/box/edges/value", frame, 2, all, type, edge) ||
                        read_beside(array, "/box/edges", -1, 2, all, type, edge);
    if (!matrix && !read_beside(array, "/box/edges/value", frame, 1, dim, type, edge) &&
        !read_beside(array, "/box/edges", -1, 1, dim, type, edge)) {
        return io__file_fail(file, IO_FORMAT, "%s cannot be read as a box in %d dimensions", path,
                             dim);
    }
    *has_box = true;
    *out = (kith_box){.periodic = {1, 1, dim == 3}, .dim = dim};
    for (int row = 0; row < dim; row++) {
        for (int axis = 0; axis < dim; axis++) {
            out->row[row][axis] = matrix ? edge[row * dim + axis] : row == axis ? edge[axis] : 0;
        }
    }
    return read_boundary(file, array, out->periodic);
}

static io_status open_file(io_frames *frames, hdf5_state *state)
{
    IO_TRY(io__hdf5_open(frames->file, &state->id));
    if (!frames->file->options->dataset) {
        IO_TRY(io__hdf5_is_snapshot(frames->file, state->id, &state->is_snapshot));
    }
    return state->is_snapshot ? IO_OK : io__arrays_open(frames->file, state->id, &state->arrays);
}

/** Read the unit of length of an array of positions, of its group in H5MD, and of the box of that
 *  group. All that exist must be equal. */
static io_status take_unit(io_file *file, const io_array *array, char unit[IO_NAME_LENGTH])
{
    static const char *const beside[] = {"/position", "/box/edges/value", "/box/edges"};
    char group[IO_HDF5_NAME], path[IO_HDF5_NAME + 32], word[1][WORD];
    find_group(array, group);
    for (int k = -1; k < (group[0] ? 3 : 0); k++) {
        snprintf(path, sizeof path, "/%s%s", group, k < 0 ? "/position/value" : beside[k]);
        IO_TRY(read_text(file, array, k < 0 ? "." : path, "unit", 1, word));
        if (!word[0][0]) {
            continue;
        }
        char before[IO_NAME_LENGTH];
        memcpy(before, unit, sizeof before);
        io__frames_unit(word[0], unit);
        if (before[0] && strcmp(before, unit) != 0) {
            return io__file_fail(file, IO_FORMAT, "has lengths in %s and, in %s, in %s", before,
                                 path, unit);
        }
    }
    return IO_OK;
}

io_status io__h5md_unit(io_file *file, const io_arrays *arrays, char unit[IO_NAME_LENGTH])
{
    for (int k = 0; k < arrays->n; k++) {
        IO_TRY(take_unit(file, &arrays->item[k], unit));
    }
    return IO_OK;
}

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
        find_group(&arrays->item[0], group);
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

/** Set the species of the particles of an array, out->species[first ...]: the numbers of the
 *  dataset "species" of H5MD, else the name of the group of H5MD if there are several groups. */
static io_status read_species(io_frames *frames, const io_array *array, io_frame *out,
                              int64_t first)
{
    int32_t *species = out->species + first;
    io_token name = {array->name, 0};
    char group[IO_HDF5_NAME], number[16];
    const bool numbered = read_beside(array, "/species", -1, 1, array->n, H5T_NATIVE_INT32,
                                      species) ||
                          read_beside(array, "/species/value", frames->next, 1, array->n,
                                      H5T_NATIVE_INT32, species) ||
                          read_beside(array, "/species", frames->next, 1, array->n,
                                      H5T_NATIVE_INT32, species);
    find_group(array, group);
    const hdf5_state *state = frames->state;
    if (group[0] && state->arrays.n > 1) {
        name = (io_token){strchr(group, '/') + 1, strlen(strchr(group, '/') + 1)};
    }
    int32_t last = 0, label = 0; /* number in the file of the last particle, and its species */
    for (int64_t p = 0; p < array->n; p++) {
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

/** Read the weights of the particles of an array, stored once or for each frame.
 *  @return false if there are none */
static bool read_weights(const io_frames *frames, const io_array *array, double *out)
{
    const char *name = frames->options->weights;
    char all[IO_HDF5_NAME], each[IO_HDF5_NAME];
    const int length = snprintf(all, sizeof all, "/%s", name);
    if (length < 0 || snprintf(each, sizeof each, "/%s/value", name) >= (int)sizeof each) {
        return false;
    }
    return read_beside(array, all, -1, 1, array->n, H5T_NATIVE_DOUBLE, out) ||
           read_beside(array, each, frames->next, 1, array->n, H5T_NATIVE_DOUBLE, out);
}

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
    int64_t first = 0;
    for (int k = 0; k < arrays->n; first += arrays->item[k++].n) {
        IO_TRY(read_species(frames, &arrays->item[k], out, first));
        if (out->weight && !read_weights(frames, &arrays->item[k], out->weight + first)) {
            out->fields &= ~(unsigned)IO_WEIGHTS;
        }
    }
    const io_array *array = &arrays->item[0];
    if (read_beside(array, "/position/time", frames->next, 0, 1, H5T_NATIVE_DOUBLE,
                    &out->particles.time)) {
        out->particles.has_time = true;
    }
    out->has_step = read_beside(array, "/position/step", frames->next, 0, 1, H5T_NATIVE_INT64,
                                &out->step);
    return IO_OK;
}

static io_status read_frame(io_frames *frames, io_frame *out)
{
    const hdf5_state *state = frames->state;
    if (state->is_snapshot) {
        return io__frames_single.read(frames, out);
    }
    const io_read_options *given = frames->file->options;
    io_read_options options = *given;
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
