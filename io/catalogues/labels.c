/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Labels of particles, the group of each: written as .npy and .grp, read from .npy and text. Those
 * in HDF5 are written by catalogue_swift.c and read by hdf5/hdf5_labels.c.
 */
#include "catalogue_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- written */

/** Write the labels in blocks: as they are, or by `put`.
 *  @param put  writes n labels; NULL: their bytes are written */
static io_status write_blocks(io_output *output, const io_catalogue *catalogue,
                              io_status (*put)(io_output *output, const int32_t *labels, int64_t n))
{
    const int64_t all = io_catalogue_particles(catalogue);
    int32_t *labels = malloc((size_t)(all < IO_BLOCK_ROWS ? all + 1 : IO_BLOCK_ROWS) *
                             sizeof *labels);
    io_status status = labels ? IO_OK
                              : io__output_fail(output, IO_NO_MEMORY, "no memory to write with");
    for (int64_t first = 0; first < all && status == IO_OK; first += IO_BLOCK_ROWS) {
        const int64_t n = all - first < IO_BLOCK_ROWS ? all - first : IO_BLOCK_ROWS;
        if (!io_catalogue_rows(catalogue, IO_COLUMN_LABELS, first, n, labels)) {
            status = io__output_fail(output, IO_SYSTEM, "cannot get the labels of other processes");
        } else {
            status = put ? put(output, labels, n)
                         : io__output_write(output, labels, n * (int64_t)sizeof *labels);
        }
    }
    free(labels);
    return status;
}

static io_status write_npy(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__npy_begin(output, 'i', sizeof *catalogue->labels, io_catalogue_particles(catalogue),
                         0));
    return write_blocks(output, catalogue, NULL);
}

/** Write n labels, one in each line. */
static io_status put_lines(io_output *output, const int32_t *labels, int64_t n)
{
    for (int64_t p = 0; p < n; p++) {
        char line[16];
        IO_TRY(io__output_write(output, line, snprintf(line, sizeof line, "%d\n", labels[p])));
    }
    return IO_OK;
}

/** Write a .grp of tipsy: the number of particles, then one label in each line. */
static io_status write_grp(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__output_printf(output, "%lld\n", (long long)io_catalogue_particles(catalogue)));
    return write_blocks(output, catalogue, put_lines);
}

io_status io_write_labels(const char *path, const io_catalogue *catalogue, io_error *error)
{
    static const struct {
        const char *ending;
        io_catalogue_writer writer;
    } endings[] = {{".npy", write_npy},
                   {".grp", write_grp},
                   {".hdf5", io__labels_hdf5},
                   {".h5", io__labels_hdf5}};
    *error = (io_error){0};
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        if (io__ends_with(path, endings[k].ending)) {
            return io__catalogue_write(path, endings[k].writer, catalogue, error);
        }
    }
    return io__fail(error, path, IO_INVALID,
                    "its ending tells no format of labels; expected .npy, .grp, .hdf5 or .h5");
}

/* ---------------------------------------------------------------------------------------- read */

/** A group of a file. */
typedef struct group {
    int64_t number;  /* label in the file */
    int64_t members; /* number of members; after sorting by it, the new label */
} group;

/** Read a text: the number of particles, then one label in each line. */
static io_status read_text(io_file *file, int64_t n, int64_t *out)
{
    io_lines lines;
    io_status status = io__lines_open(&lines, file);
    for (int64_t k = -1; status == IO_OK && k < n; k++) {
        char *line = NULL;
        double value = 0;
        status = io__lines_next(&lines, &line);
        if (status == IO_OK && !line) {
            status = io__file_fail(file, IO_TRUNCATED, "ends after %lld labels; expected %lld",
                                   (long long)(k < 0 ? 0 : k), (long long)n);
        }
        const char *at = line;
        io_token token;
        if (status == IO_OK && !io__token_next(&at, &token)) {
            status = io__lines_fail(&lines, IO_FORMAT, "is empty where a label was expected");
        }
        if (status == IO_OK) {
            status = io__lines_number(&lines, token, "a label", &value);
        }
        if (status == IO_OK && (value != floor(value) || fabs(value) > INT32_MAX)) {
            status = io__lines_fail(&lines, IO_FORMAT,
                                    "holds %.17g; expected a whole number from %d to %d", value,
                                    -INT32_MAX, INT32_MAX);
        }
        if (status == IO_OK && k < 0 && value != (double)n) {
            status = io__lines_fail(&lines, IO_INVALID, "says %.0f particles; expected %lld", value,
                                    (long long)n);
        }
        if (status == IO_OK && k >= 0) {
            out[k] = (int64_t)value;
        }
    }
    io__lines_close(&lines);
    return status;
}

/** Order of labels, or of groups, whose first member is the label, for qsort and bsearch. */
static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/** Order of groups for qsort: by descending number of members, then by ascending label. */
static int by_members(const void *a, const void *b)
{
    const group *x = a, *y = b;
    return x->members != y->members ? (x->members < y->members) - (x->members > y->members)
                                    : (x->number > y->number) - (x->number < y->number);
}

/** Count the members of each group.
 *  @param number    [n] labels, sorted
 *  @param[out] out  [n] groups in order of their labels
 *  @return the number of groups */
static int64_t count(const int64_t *number, int64_t n, group *out)
{
    int64_t groups = 0;
    for (int64_t k = 0; k < n; k++) {
        if (number[k] < 1 || number[k] == INT32_MAX) { /* INT32_MAX: no group, in SWIFT */
            continue;
        }
        if (groups == 0 || out[groups - 1].number != number[k]) {
            out[groups++] = (group){.number = number[k]};
        }
        out[groups - 1].members++;
    }
    return groups;
}

/** Renumber the groups by descending size, and label the particles. The rank of a group replaces
 *  its number of members; then the groups are sorted by label again, for binary search. */
static void number_anew(group *groups, int64_t n_groups, const int64_t *number, int64_t n,
                        int32_t *labels)
{
    qsort(groups, (size_t)n_groups, sizeof *groups, by_members);
    for (int64_t g = 0; g < n_groups; g++) {
        groups[g].members = g + 1;
    }
    qsort(groups, (size_t)n_groups, sizeof *groups, by_number);
    for (int64_t p = 0; p < n; p++) {
        const group *found = bsearch(&number[p], groups, (size_t)n_groups, sizeof *groups,
                                     by_number);
        labels[p] = found ? (int32_t)found->members : 0;
    }
}

/** Read the labels as they are in the file, in the format that its first bytes tell.
 *  @param[out] number  [n] */
static io_status read_file(const char *path, int64_t n, const int64_t *ids, int64_t *number,
                           io_error *error)
{
    static const io_read_options options = {0};
    io_file file;
    char head[8] = {0};
    IO_TRY(io__file_open(&file, path, &options, error));
    io_status status = file.size >= (int64_t)sizeof head
                           ? io__file_peek(&file, head, sizeof head, 0)
                           : IO_OK;
    if (status == IO_OK) {
        status = memcmp(head, "\x93NUMPY", 6) == 0 ? io__npy_column(&file, n, 0, n, true, number)
                 : memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0
                     ? io__hdf5_labels(&file, n, ids, number)
                     : read_text(&file, n, number);
    }
    io__file_close(&file);
    return status;
}

io_status io_read_labels(const char *path, int64_t n, const int64_t *ids, int32_t *labels,
                         int64_t *groups, io_error *error)
{
    *error = (io_error){0};
    int64_t *number = calloc((size_t)n + 1, sizeof *number);
    int64_t *sorted = calloc((size_t)n + 1, sizeof *sorted);
    group *group_of = calloc((size_t)n + 1, sizeof *group_of);
    const bool fits = number && sorted && group_of;
    const io_status status = fits ? read_file(path, n, ids, number, error)
                                  : io__fail(error, path, IO_NO_MEMORY, "no memory for %lld labels",
                                             (long long)n);
    if (fits && status == IO_OK) {
        memcpy(sorted, number, (size_t)n * sizeof *sorted);
        qsort(sorted, (size_t)n, sizeof *sorted, by_number);
        *groups = count(sorted, n, group_of);
        number_anew(group_of, *groups, number, n, labels);
    }
    free(number);
    free(sorted);
    free(group_of);
    return status;
}
