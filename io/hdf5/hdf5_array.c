/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading datasets of numbers, in slabs of complete chunks. The HDF5 library converts the type;
 * compressed chunks are decompressed by several threads where that is possible (hdf5_chunks.c). A
 * dataset that announces more numbers than the file can hold, however well compressed, is refused
 * before memory is allocated.
 */
#include "io_hdf5.h"
#include "core/linked.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>

/** Set kind and precision. IO_FORMAT: the dataset holds no numbers that can be read. */
static io_status check_type(io_file *file, io_array *array)
{
    const hid_t type = H5Dget_type(array->id);
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    array->kind = io__hdf5_number(type);
    io__close(type);
    if (!array->kind) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s holds no numbers; expected floats or integers of at most "
                             "16 bytes",
                             array->name);
    }
    array->precision = array->kind == 'f' && size <= 4 ? KITH_FLOAT : KITH_DOUBLE;
    return IO_OK;
}

/** Return IO_FORMAT with the shape of a dataset. @param most  largest number of columns */
static io_status refuse_shape(io_file *file, const io_array *array, const hsize_t shape[3],
                              int64_t most)
{
    char text[80] = "";
    size_t used = 0;
    for (int k = 0; k < array->rank; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu", k ? ", " : "",
                                 (unsigned long long)shape[k]);
    }
    return io__file_fail(file, IO_FORMAT, "dataset %s has shape (%s%s); expected (%sN, %lld)",
                         array->name, text, array->rank == 1 ? "," : "",
                         array->rank == 3 ? "frames, " : "", (long long)most);
}

/** Set rank, frames, n and columns. @param most  largest number of columns; 0: no limit */
static io_status check_shape(io_file *file, io_array *array, int64_t most)
{
    hsize_t shape[3] = {0};
    const hid_t space = H5Dget_space(array->id);
    array->rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    if (array->rank >= 1 && array->rank <= 3) {
        H5Sget_simple_extent_dims(space, shape, NULL);
    }
    io__close(space);
    if (array->rank < 1 || array->rank > 3) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has %d dimensions; expected shape "
                             "(n, 3), (n, 2), (n,) or (frames, n, 3)",
                             array->name, array->rank);
    }
    const hsize_t frames = array->rank == 3 ? shape[0] : 1;
    const hsize_t n = shape[array->rank == 3];
    const hsize_t columns = array->rank == 1 ? 1 : shape[array->rank - 1];
    const hsize_t limit = (hsize_t)(most > 0 ? most : INT32_MAX);
    if ((most > 0 && columns < 1) || columns > limit) {
        return refuse_shape(file, array, shape, (int64_t)limit);
    }
    if (n > INT32_MAX || frames > INT64_MAX) {
        return io__file_fail(file, IO_LIMIT,
                             "dataset %s holds %llu particles; at most %d can be "
                             "read",
                             array->name, (unsigned long long)n, INT32_MAX);
    }
    array->columns = (int64_t)columns;
    array->n = (int64_t)n;
    array->frames = (int64_t)frames;
    return IO_OK;
}

io_status io__array_check_coordinates(io_file *file, const io_array *array)
{
    if (array->rank == 1) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has 1 dimensions; expected shape "
                             "(n, 3), (n, 2) or (frames, n, 3)",
                             array->name);
    }
    if (array->columns == 1) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s has rows of 1; expected 3 or 2 "
                             "coordinates",
                             array->name);
    }
    return IO_OK;
}

io_status io__array_check_rows(io_file *file, const io_array *array, int64_t n, int64_t columns)
{
    if (array->rank == 3 || array->columns != columns) {
        return io__file_fail(file, IO_FORMAT, "dataset %s has %lld columns; expected %lld",
                             array->name, (long long)array->columns, (long long)columns);
    }
    if (array->n != n) {
        return io__file_fail(file, array->n < n ? IO_TRUNCATED : IO_FORMAT,
                             "dataset %s has %lld rows; expected %lld, as many as coordinates",
                             array->name, (long long)array->n, (long long)n);
    }
    return IO_OK;
}

/** Size of a chunk in memory, as doubles [byte]; 0: the dataset has no chunks. */
static double chunk_bytes(const io_array *array, hid_t plan)
{
    hsize_t chunk[3] = {0};
    if (H5Pget_layout(plan) != H5D_CHUNKED || H5Pget_chunk(plan, 3, chunk) != array->rank) {
        return 0;
    }
    double bytes = sizeof(double);
    for (int k = 0; k < array->rank; k++) {
        bytes *= (double)chunk[k];
    }
    return bytes;
}

bool io__hdf5_external(hid_t dataset, hid_t plan)
{
    char prefix[PATH_MAX] = "", name[PATH_MAX], joined[2 * PATH_MAX];
    const int n = H5Pget_external_count(plan);
    const hid_t access = n > 0 ? H5Dget_access_plist(dataset) : -1;
    bool recorded = true;
    if (access >= 0 && H5Pget_efile_prefix(access, prefix, sizeof prefix) <= 0) {
        prefix[0] = '\0';
    }
    for (int k = 0; k < n && recorded; k++) {
        struct stat facts;
        off_t offset = 0;
        hsize_t size = 0;
        if (H5Pget_external(plan, (unsigned)k, sizeof name, name, &offset, &size) < 0) {
            continue;
        }
        name[sizeof name - 1] = '\0';
        const bool alone = !prefix[0] || name[0] == '/';
        snprintf(joined, sizeof joined, "%s%s%s", alone ? "" : prefix, alone ? "" : "/", name);
        recorded = stat(joined, &facts) != 0 || io__linked_add(&facts);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    return recorded;
}

/** Return IO_TRUNCATED or IO_FORMAT if the file is too small for the dataset. Records external
 *  files. */
static io_status check_storage(io_file *file, const io_array *array)
{
    const double most_ratio = 1032; /* largest ratio of compression by deflate */
    const double most = most_ratio * (double)file->size; /* numbers, of at least one byte each */
    const hid_t plan = H5Dget_create_plist(array->id);
    if (plan < 0) {
        return io__file_fail(file, IO_FORMAT, "dataset %s is damaged", array->name);
    }
    const bool recorded = io__hdf5_external(array->id, plan);
    const bool elsewhere = H5Pget_layout(plan) == H5D_VIRTUAL || H5Pget_external_count(plan) > 0;
    const double chunk = chunk_bytes(array, plan);
    H5Pclose(plan);
    if (!recorded) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for the names of its external files");
    }
    if (chunk > most && chunk > IO_BLOCK) {
        return io__file_fail(file, IO_FORMAT,
                             "dataset %s announces chunks of %.3g bytes, more "
                             "than a file of %lld bytes can fill",
                             array->name, chunk, (long long)file->size);
    }
    if (!elsewhere && (double)(array->n * array->columns) > most) {
        return io__file_fail(file, IO_TRUNCATED,
                             "dataset %s announces %lld particles, more than "
                             "%lld bytes can hold",
                             array->name, (long long)array->n, (long long)file->size);
    }
    return IO_OK;
}

io_status io__array_open(io_file *file, hid_t where, const char *name, int64_t most, io_array *out)
{
    *out = (io_array){.id = H5Dopen2(where, name, H5P_DEFAULT)};
    snprintf(out->name, sizeof out->name, "%s", name);
    if (out->id < 0) {
        return io__file_fail(file, IO_FORMAT,
                             "has no readable dataset %s; `kith info` lists those "
                             "it has",
                             name);
    }
    io_status status = check_type(file, out);
    if (status == IO_OK) {
        status = check_shape(file, out, most);
    }
    if (status == IO_OK) {
        status = check_storage(file, out);
    }
    if (status != IO_OK) {
        io__array_close(out);
    }
    return status;
}

void io__array_close(io_array *array)
{
    io__close(array->id);
    array->id = -1;
}

/** Number of rows to read at once: about IO_BLOCK, a multiple of the rows of a chunk. */
static hsize_t slab_rows(const io_array *array)
{
    hsize_t rows = IO_BLOCK / (3 * sizeof(double));
    hsize_t chunk[3] = {0};
    const int first = array->rank == 3; /* the dimension of rows */
    const hid_t plan = H5Dget_create_plist(array->id);
    if (plan >= 0 && H5Pget_layout(plan) == H5D_CHUNKED &&
        H5Pget_chunk(plan, array->rank, chunk) == array->rank && chunk[first] > 0) {
        rows = (rows / chunk[first] + 1) * chunk[first];
    }
    io__close(plan);
    return rows;
}

/** The type of the numbers in memory. @param precision  0: integers of 64 bits */
static hid_t memory_type(const io_array *array, kith_precision precision)
{
    if (precision != 0) {
        return precision == KITH_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    }
    return array->kind == 'u' ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64; /* keeps all 64 bits */
}

/** Read rows [at, at + n) of the array to out[n][width]. */
static bool read_slab(const io_array *array, hsize_t frame, hsize_t at, hsize_t n,
                      const io_field *field, void *out)
{
    const hsize_t columns = (hsize_t)field->columns;
    const hsize_t shape[2] = {n, (hsize_t)field->width}, none[2] = {0, 0}, wanted[2] = {n, columns};
    const hsize_t begin[3] = {frame, at, 0}, count[3] = {1, n, columns};
    const int skip = array->rank < 3; /* a dataset of lower rank has no frames */
    const hid_t from = H5Dget_space(array->id);
    const hid_t to = H5Screate_simple(2, shape, NULL);
    const bool done = from >= 0 && to >= 0 &&
                      H5Sselect_hyperslab(from, H5S_SELECT_SET, begin + skip, NULL, count + skip,
                                          NULL) >= 0 &&
                      H5Sselect_hyperslab(to, H5S_SELECT_SET, none, NULL, wanted, NULL) >= 0 &&
                      H5Dread(array->id, memory_type(array, field->precision), to, from,
                              H5P_DEFAULT, out) >= 0;
    io__close(to);
    io__close(from);
    return done;
}

/** Read a slab by several threads where that is possible, else by the library alone.
 *  @param chunks  NULL: it is not possible */
static bool read_rows(const io_array *array, struct io_chunks *chunks, int64_t frame, int64_t at,
                      int64_t n, const io_field *field, void *out)
{
    const size_t size = field->precision ? field->precision : sizeof(int64_t);
    const io_chunks_result result = chunks ? io__chunks_read(chunks, frame, at, n, field->columns,
                                                             memory_type(array, field->precision),
                                                             (size_t)field->width * size, out)
                                           : IO_CHUNKS_LEFT;
    return result == IO_CHUNKS_READ ||
           (result == IO_CHUNKS_LEFT &&
            read_slab(array, (hsize_t)frame, (hsize_t)at, (hsize_t)n, field, out));
}

io_status io__array_read(io_file *file, const io_array *array, int64_t frame, const io_field *field,
                         io_progress *progress)
{
    return io__array_read_rows(file, array, frame, 0, array->n, field, progress);
}

/** Read rows, slab by slab. @param chunks  as of read_rows */
static io_status read_slabs(io_file *file, const io_array *array, struct io_chunks *chunks,
                            int64_t frame, int64_t first, int64_t count, const io_field *field,
                            io_progress *progress)
{
    const int64_t end = first + count, library = (int64_t)slab_rows(array);
    const int64_t rows = chunks ? io__chunks_rows(chunks, library, field->columns) : library;
    const size_t size = field->precision ? field->precision : sizeof(int64_t);
    for (int64_t at = first, n; at < end; at += n) {
        /* Slabs end at multiples of whole chunks, so that no chunk is decompressed twice. */
        const int64_t edge = (at / rows + 1) * rows;
        n = (edge < end ? edge : end) - at;
        char *out = (char *)field->out + (size_t)((at - first) * field->width) * size;
        if (!read_rows(array, chunks, frame, at, n, field, out)) {
            return io__file_fail(file, IO_TRUNCATED,
                                 "rows %lld to %lld of dataset %s cannot be "
                                 "read: cut short, damaged, or packed by a filter that is not "
                                 "installed",
                                 (long long)at, (long long)(at + n - 1), array->name);
        }
        if (field->scale != 1) {
            io__reals_scale(out, n * field->width, field->precision, field->scale);
        }
        progress->done += n * field->width;
        const double part = (double)progress->done / (double)progress->all;
        IO_TRY(io__file_watch(file, (int64_t)(part * (double)file->size)));
    }
    return IO_OK;
}

io_status io__array_read_rows(io_file *file, const io_array *array, int64_t frame, int64_t first,
                              int64_t count, const io_field *field, io_progress *progress)
{
    assert(first >= 0 && count >= 0 && first + count <= array->n);
    assert(count == 0 || (frame >= 0 && frame < array->frames && field->out));
    assert(field->columns <= array->columns && field->columns <= field->width);
    struct io_chunks *chunks = io__chunks_open(file, array);
    const io_status status = read_slabs(file, array, chunks, frame, first, count, field, progress);
    io__chunks_close(chunks);
    return status;
}
