/* SPDX-License-Identifier: BSD-3-Clause
 *
 * H5MD (https://nongnu.org/h5md): what its groups store beside the positions of particles: species,
 * weights, box, step, time and unit. An element is a dataset, if it is stored once, or a group with
 * a dataset "value", if it is stored for each frame. A file may lack an element. An element that
 * exists and cannot be read is always an error: it never counts as absent. Each element may have
 * steps and times of its own: its numbers are found by the step, or else the time, of positions.
 */
#include "io_hdf5.h"

#include "trajectories/frames.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void io__h5md_group(const io_array *array, char out[IO_HDF5_NAME])
{
    static const char tail[] = "/position/value";
    const size_t length = strlen(array->name), last = strlen(tail);
    const bool is_h5md = length > last && strcmp(array->name + length - last, tail) == 0;
    snprintf(out, IO_HDF5_NAME, "%.*s", is_h5md ? (int)(length - last) : 0, array->name);
}

/* ------------------------------------------------------------------------------------ elements */

/** A dataset that is stored beside positions. */
typedef struct element {
    char path[2 * IO_HDF5_NAME]; /* path of the dataset */
    hid_t id;                    /* the dataset; -1: it does not exist */
    bool each;                   /* the first dimension counts frames */
    bool in_group;               /* the dataset is "value" in a group, which may have a clock */
    int rank;                    /* number of dimensions */
    hsize_t shape[H5S_MAX_RANK]; /* its shape */
    int64_t first;               /* first row of a frame that is read */
    int64_t rows;                /* rows of a frame that are read; -1: all */
} element;

/** Report a dataset that cannot be opened.
 *  @return IO_NO_MEMORY if memory is exhausted, else IO_FORMAT */
static io_status refuse(io_file *file, const element *e)
{
    if (errno == ENOMEM) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for dataset %s", e->path);
    }
    return io__file_fail(file, IO_FORMAT,
                         "dataset %s cannot be opened: damaged, no dataset, or a link that leads "
                         "nowhere",
                         e->path);
}

/** Return IO_FORMAT with the shape of a dataset. @param expected  the shape that it should have */
static io_status refuse_shape(io_file *file, const element *e, const char *expected)
{
    char text[80] = "";
    size_t used = 0;
    for (int k = 0; k < e->rank && used < sizeof text; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", k ? ", " : "",
                                 (unsigned long long)e->shape[k]);
    }
    return io__file_fail(file, IO_FORMAT, "dataset %s has shape (%s%s); expected (%s)", e->path,
                         text, e->rank == 1 ? "," : "", expected);
}

/** Check that a dataset holds numbers, or an enumeration of integers, and get its shape. */
static io_status check_dataset(io_file *file, element *e)
{
    const hid_t type = H5Dget_type(e->id), space = H5Dget_space(e->id);
    const bool is_enum = type >= 0 && H5Tget_class(type) == H5T_ENUM;
    const hid_t number = is_enum ? H5Tget_super(type) : type;
    const hid_t properties = H5Dget_create_plist(e->id);
    const bool opened = type >= 0 && space >= 0 && number >= 0 && properties >= 0;
    const bool is_number = opened && io__hdf5_number(number);
    e->rank = opened ? H5Sget_simple_extent_dims(space, e->shape, NULL) : -1;
    const bool recorded = opened && io__hdf5_external(e->id, properties);
    io__close(properties);
    if (is_enum) {
        io__close(number);
    }
    io__close(space);
    io__close(type);
    if (!opened || e->rank < 0) {
        return refuse(file, e);
    }
    if (!recorded) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the names of its external files");
    }
    return is_number ? IO_OK
                     : io__file_fail(file, IO_FORMAT, "dataset %s holds no numbers", e->path);
}

/** Open an element in the group of H5MD that an array of positions belongs to.
 *  @param name      path of the element in the group: "species"
 *  @param[out] out  the element, to be closed by close_element, also after a failure; id is -1 if
 *                   the element does not exist */
static io_status open_element(io_file *file, const io_array *array, const char *name, element *out)
{
    char group[IO_HDF5_NAME];
    bool found = false;
    *out = (element){.id = -1, .rows = -1};
    io__h5md_group(array, group);
    const int length = snprintf(out->path, sizeof out->path, "/%s/%s", group, name);
    if (!group[0] || length + sizeof "/value" > sizeof out->path) {
        return IO_OK; /* longer than the path of any element */
    }
    IO_TRY(io__hdf5_find(file, array->id, out->path, &found));
    if (!found) {
        return IO_OK;
    }
    hid_t object = H5Oopen(array->id, out->path, H5P_DEFAULT);
    if (object >= 0 && H5Iget_type(object) == H5I_GROUP) {
        io__close(object);
        out->each = out->in_group = true;
        snprintf(out->path + length, sizeof out->path - (size_t)length, "/value");
        IO_TRY(io__hdf5_find(file, array->id, out->path, &found));
        if (!found) {
            return IO_OK;
        }
        object = H5Oopen(array->id, out->path, H5P_DEFAULT);
    }
    if (object < 0 || H5Iget_type(object) != H5I_DATASET) {
        io__close(object);
        return refuse(file, out);
    }
    out->id = object;
    return check_dataset(file, out);
}

static void close_element(element *e)
{
    io__close(e->id);
    e->id = -1;
}

/** Callback of HDF5 for numbers whose conversion is not exact: refuse those that an integer type
 *  cannot hold. Numbers are rounded to floating-point types.
 *  @param refused  bool, set to true if a number is refused */
static H5T_conv_ret_t convert(H5T_conv_except_t kind, hid_t from, hid_t to, void *in, void *out,
                              void *refused)
{
    (void)from;
    (void)to;
    (void)in;
    (void)out;
    if (kind == H5T_CONV_EXCEPT_PRECISION) {
        return H5T_CONV_UNHANDLED;
    }
    *(bool *)refused = true;
    return H5T_CONV_ABORT;
}

/** Read the selected numbers of a dataset. @param space  selection of n numbers */
static io_status read_selected(io_file *file, const element *e, hid_t space, hsize_t n, hid_t type,
                               void *out)
{
    bool refused = false;
    const hid_t memory = H5Screate_simple(1, &n, NULL), transfer = H5Pcreate(H5P_DATASET_XFER);
    const bool done = memory >= 0 && transfer >= 0 && space >= 0 &&
                      (H5Tget_class(type) == H5T_FLOAT ||
                       H5Pset_type_conv_cb(transfer, convert, &refused) >= 0) &&
                      H5Dread(e->id, type, memory, space, transfer, out) >= 0;
    io__close(transfer);
    io__close(memory);
    if (refused) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s holds a number that is not whole or needs more than %d "
                             "bits",
                             e->path, 8 * (int)H5Tget_size(type));
    }
    if (!done && errno == ENOMEM) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for dataset %s", e->path);
    }
    return done ? IO_OK
                : io__file_fail(file, IO_TRUNCATED,
                                "dataset %s cannot be read: cut short, damaged, or packed by a "
                                "filter that is not installed",
                                e->path);
}

/** Read the numbers of a frame, or those of its rows e->first on.
 *  @param rank  number of dimensions of the numbers of a frame: 0 to 2; 1 where e->rows says how
 *               many are read
 *  @param n     size of each of these dimensions */
static io_status read_element(io_file *file, const element *e, int64_t frame, int rank, int64_t n,
                              hid_t type, void *out)
{
    char expected[64];
    hsize_t all = 1, begin[3] = {0}, count[3] = {1, 1, 1};
    bool fits = e->rank == rank + e->each;
    for (int k = 0; k < rank; k++) {
        count[k + e->each] = (hsize_t)n;
        all *= (hsize_t)n;
        fits = fits && e->shape[k + e->each] == (hsize_t)n;
    }
    if (!fits) {
        int used = snprintf(expected, sizeof expected, e->each ? "frames" : "");
        for (int k = 0; k < rank; k++) {
            used += snprintf(expected + used, sizeof expected - (size_t)used, "%s%lld",
                             used > 0 ? ", " : "", (long long)n);
        }
        return refuse_shape(file, e, expected);
    }
    if (e->each && (hsize_t)frame >= e->shape[0]) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has %llu frames, but there are positions of more", e->path,
                             (unsigned long long)e->shape[0]);
    }
    begin[0] = e->each ? (hsize_t)frame : 0;
    if (e->rows >= 0) {
        begin[e->each] = (hsize_t)e->first;
        count[e->each] = all = (hsize_t)e->rows;
    }
    if (all == 0) {
        return IO_OK;
    }
    const hid_t space = H5Dget_space(e->id);
    if (space < 0 ||
        (e->rank > 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, count, NULL) < 0)) {
        io__close(space);
        return refuse(file, e);
    }
    const io_status status = read_selected(file, e, space, all, type, out);
    io__close(space);
    return status;
}

/* ------------------------------------------------------------------------------- step and time */

/** Read the step or the time of a frame. At equal intervals, the dataset holds the interval alone,
 *  and the value of a frame is frame * interval + offset.
 *  @param type         native type of *number: a 64-bit integer or a double
 *  @param[out] number  the value of the frame, or the interval
 *  @param[out] equal   *number is the interval
 *  @param[out] offset  attribute "offset" of the dataset; 0 if it does not exist */
static io_status read_clock(io_file *file, const io_array *array, const char *name, int64_t frame,
                            hid_t type, void *number, bool *found, bool *equal, double *offset)
{
    element e;
    int n = 0;
    io_status status = open_element(file, array, name, &e);
    *found = e.id >= 0;
    *equal = *found && e.rank == 0;
    *offset = 0;
    if (status == IO_OK && *found) {
        e.each = !*equal;
        status = read_element(file, &e, frame, 0, 0, type, number);
    }
    if (status == IO_OK && *equal) {
        status = io__attribute_read(file, array->id, e.path, "offset", offset, 1, &n);
    }
    close_element(&e);
    return status;
}

/** When a frame was stored, by one of the two clocks of H5MD. */
typedef struct stamp {
    bool found;   /* the element has this clock */
    bool is_time; /* the clock is "time", else "step" */
    int64_t step; /* the step, if it is not a time */
    double time;  /* the time */
} stamp;

/** Read the step or the time of a frame of an element.
 *  @param name  path of the group of the element: "position" */
static io_status read_stamp(io_file *file, const io_array *array, const char *name, bool is_time,
                            int64_t frame, stamp *out)
{
    char path[IO_HDF5_NAME];
    bool equal;
    double offset;
    *out = (stamp){.is_time = is_time};
    snprintf(path, sizeof path, "%s/%s", name, is_time ? "time" : "step");
    IO_TRY(read_clock(file, array, path, frame, is_time ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64,
                      is_time ? (void *)&out->time : (void *)&out->step, &out->found, &equal,
                      &offset));
    if (equal && is_time) {
        out->time = (double)frame * out->time + offset;
    } else if (equal) {
        if (!(fabs((double)frame * (double)out->step) + fabs(offset) < 0x1p53)) {
            return io__file_fail(file, IO_FORMAT, "frame %lld has a step beyond 2^53",
                                 (long long)frame);
        }
        out->step = frame * out->step + (int64_t)offset;
    }
    return IO_OK;
}

/** Return < 0, 0 or > 0 when stamp a is before, at or after stamp b; both are of one clock. Times
 *  are equal up to the rounding of doubles that were computed in different ways. */
static int compare(const stamp *a, const stamp *b)
{
    if (!a->is_time) {
        return (a->step > b->step) - (a->step < b->step);
    }
    const double size = fmax(fabs(a->time), fabs(b->time));
    return fabs(a->time - b->time) <= 1e-12 * size ? 0 : a->time < b->time ? -1 : 1;
}

/** Return IO_FORMAT: a dataset has nothing that belongs to a frame of positions. */
static io_status refuse_frame(io_file *file, const char *path, int64_t frame, const stamp *wanted)
{
    char when[40];
    if (wanted->is_time) {
        snprintf(when, sizeof when, "time %.9g", wanted->time);
    } else {
        snprintf(when, sizeof when, "step %lld", (long long)wanted->step);
    }
    return io__file_fail(file, IO_FORMAT,
                         "dataset %s has nothing at %s, where frame %lld of the "
                         "positions was stored",
                         path, when, (long long)frame);
}

/** Find the frame of an element that was stored together with a frame of positions: at its step, or
 *  else at its time. Each clock increases, as H5MD demands, and is searched by bisection.
 *  @param name      name of the element in its group: "species"
 *  @param[out] out  frame of the element */
static io_status match_frame(io_file *file, const io_array *array, const char *name,
                             const element *e, int64_t frame, int64_t *out)
{
    const int64_t frames = e->rank > 0 ? (int64_t)e->shape[0] : 0;
    *out = frame;
    for (int clock = 0; clock < 2 && e->in_group && frames > 0; clock++) { /* step, then time */
        /* Bisection in [low, high), beginning at the frame of equal index. */
        int64_t low = 0, high = frames, middle = frame < frames ? frame : frames - 1;
        stamp wanted, here;
        IO_TRY(read_stamp(file, array, "position", clock == 1, frame, &wanted));
        while (wanted.found && low < high) {
            IO_TRY(read_stamp(file, array, name, clock == 1, middle, &here));
            const int order = here.found ? compare(&here, &wanted) : 0;
            if (order == 0) {
                break;
            }
            low = order < 0 ? middle + 1 : low;
            high = order < 0 ? high : middle;
            middle = low + (high - low) / 2;
        }
        if (wanted.found && low == high) {
            return refuse_frame(file, e->path, frame, &wanted);
        }
        if (wanted.found && here.found) {
            *out = middle;
            return IO_OK;
        }
    }
    if (e->each && e->rank > 0 && frames != array->frames) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has %lld frames, but there are positions of %lld, and no "
                             "steps or times tell which belong together",
                             e->path, (long long)frames, (long long)array->frames);
    }
    return IO_OK;
}

io_status io__h5md_check_clocks(io_file *file, const io_array *a, const io_array *b, int64_t frame)
{
    for (int clock = 0; clock < 2; clock++) { /* step, then time */
        stamp first, second;
        IO_TRY(read_stamp(file, a, "position", clock == 1, frame, &first));
        IO_TRY(read_stamp(file, b, "position", clock == 1, frame, &second));
        if (first.found && second.found) {
            return compare(&first, &second) == 0 ? IO_OK
                                                 : refuse_frame(file, b->name, frame, &first);
        }
    }
    return IO_OK;
}

io_status io__h5md_time(io_file *file, const io_array *array, int64_t frame, bool *has_time,
                        double *out)
{
    stamp at;
    IO_TRY(read_stamp(file, array, "position", true, frame, &at));
    if (at.found) {
        *has_time = true;
        *out = at.time;
    }
    return IO_OK;
}

io_status io__h5md_step(io_file *file, const io_array *array, int64_t frame, bool *has_step,
                        int64_t *out)
{
    stamp at;
    IO_TRY(read_stamp(file, array, "position", false, frame, &at));
    *has_step = at.found;
    *out = at.step;
    return IO_OK;
}

/* ------------------------------------------------------------------------------------- columns */

io_status io__h5md_column(io_file *file, const io_array *array, const char *name, int64_t frame,
                          int64_t first, int64_t rows, hid_t type, void *out, bool *found)
{
    element e;
    io_status status = open_element(file, array, name, &e);
    *found = e.id >= 0;
    e.first = first;
    e.rows = rows;
    if (status == IO_OK && *found) {
        e.each |= e.rank == 2; /* a dataset of frames without the group of H5MD */
        status = match_frame(file, array, name, &e, frame, &frame);
    }
    if (status == IO_OK && *found) {
        status = read_element(file, &e, frame, 1, array->n, type, out);
    }
    close_element(&e);
    return status;
}

/* ------------------------------------------------------------------------------- units and box */

enum { WORD = 16 }; /* characters of a word, with the terminating 0 */

/** Read an attribute of n words, of fixed or of variable length.
 *  @param n           at most 3
 *  @param[out] words  [n] */
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
    io__h5md_group(array, group);
    snprintf(path, sizeof path, "/%s/box", group);
    IO_TRY(read_text(file, array, path, "boundary", (int)array->columns, words));
    for (int axis = 0; axis < (int)array->columns; axis++) {
        if (words[axis][0]) {
            periodic[axis] = strcmp(words[axis], "none") != 0;
        }
    }
    return IO_OK;
}

/** Read the edges of the box of a frame: three lengths, or a matrix of row vectors. */
static io_status read_edges(io_file *file, const element *e, int64_t frame, int dim,
                            double out[3][3])
{
    double edge[9];
    const bool matrix = e->rank == 2 + e->each;
    IO_TRY(read_element(file, e, frame, matrix ? 2 : 1, dim, H5T_NATIVE_DOUBLE, edge));
    for (int row = 0; row < dim; row++) {
        for (int axis = 0; axis < dim; axis++) {
            out[row][axis] = matrix ? edge[row * dim + axis] : row == axis ? edge[axis] : 0;
        }
    }
    return IO_OK;
}

io_status io__h5md_box(io_file *file, const io_array *array, int64_t frame, bool *has_box,
                       kith_box *out)
{
    const int dim = (int)array->columns;
    kith_box box = {.periodic = {1, 1, dim == 3}, .dim = dim};
    element e;
    io_status status = open_element(file, array, "box/edges", &e);
    const bool found = e.id >= 0;
    if (status == IO_OK && found) {
        status = match_frame(file, array, "box/edges", &e, frame, &frame);
    }
    if (status == IO_OK && found) {
        status = read_edges(file, &e, frame, dim, box.row);
    } else if (status == IO_OK && e.each) {
        status = io__file_fail(file, IO_FORMAT, "has no %s, though it has edges of a box", e.path);
    }
    close_element(&e);
    if (status != IO_OK || !found) {
        return status;
    }
    *has_box = true;
    *out = box;
    return read_boundary(file, array, out->periodic);
}

/** Read the attributes "unit" of an array of positions, of its group in H5MD, and of the box of the
 *  group, which all are units of length. Those that exist must be equal. */
static io_status take_unit(io_file *file, const io_array *array, char unit[IO_NAME_LENGTH])
{
    static const char *const objects[] = {"/position", "/box/edges/value", "/box/edges"};
    char group[IO_HDF5_NAME], path[IO_HDF5_NAME + 32], word[1][WORD];
    io__h5md_group(array, group);
    for (int k = -1; k < (group[0] ? 3 : 0); k++) { /* -1: the array itself */
        snprintf(path, sizeof path, "/%s%s", group, k < 0 ? "/position/value" : objects[k]);
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
