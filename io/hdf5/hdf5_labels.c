/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The group of each particle from HDF5: labels beside the particles, or a catalogue that lists the
 * ids of its members. Particles are known by their ids where both sides have them.
 */
#include "io_hdf5.h"

#include <stdio.h>
#include <stdlib.h>

/** A particle and its group. */
typedef struct member {
    int64_t id;     /* id of the particle; 0: not known */
    int64_t number; /* number of its group in the file */
} member;

/** The members that a file lists. */
typedef struct roll {
    int64_t n;    /* number of members */
    member *of;   /* the members in the order of the file [n] */
    bool has_ids; /* the ids of the members are known */
    bool by_ids;  /* the file lists members of groups only, so that they must be matched by id */
} roll;

/** Open a dataset of one column of integers. IO_FORMAT: it is none. */
static io_status open_integers(io_file *file, hid_t id, const char *name, io_array *out)
{
    IO_TRY(io__array_open(file, id, name, 0, out));
    if (out->kind != 'f' && out->columns == 1 && out->rank < 3) {
        return IO_OK;
    }
    io__array_close(out);
    return io__file_fail(file, IO_FORMAT, "dataset %s holds no list of whole numbers", name);
}

/** Read a dataset of integers. @param[out] out  [*n], to be freed; NULL on failure */
static io_status read_list(io_file *file, hid_t id, const char *name, int64_t **out, int64_t *n)
{
    io_array array;
    IO_TRY(open_integers(file, id, name, &array));
    io_progress progress = {0, array.n + 1};
    *n = array.n;
    *out = calloc((size_t)array.n + 1, sizeof **out);
    const io_field field = {.columns = 1, .width = 1, .out = *out, .scale = 1};
    const io_status status = *out ? io__array_read(file, &array, 0, &field, &progress)
                                  : io__file_fail(file, IO_NO_MEMORY, "no memory for %s", name);
    io__array_close(&array);
    if (status != IO_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

/** Append a dataset of labels, and the dataset of ids if it exists. */
static io_status add_labels(io_file *file, hid_t id, const char *labels, const char *ids, roll *r)
{
    int64_t *number = NULL, *who = NULL, n = 0, n_ids = 0;
    bool known = false;
    io_status status = read_list(file, id, labels, &number, &n);
    if (status == IO_OK) {
        status = io__hdf5_find(file, id, ids, &known);
    }
    if (status == IO_OK && known) {
        status = read_list(file, id, ids, &who, &n_ids);
    }
    if (status == IO_OK && known && n_ids != n) {
        status = io__file_fail(file, IO_FORMAT, "has %lld %s but %lld %s", (long long)n, labels,
                               (long long)n_ids, ids);
    }
    member *grown = status == IO_OK ? realloc(r->of, (size_t)(r->n + n + 1) * sizeof *grown) : NULL;
    if (status == IO_OK && !grown) {
        status = io__file_fail(file, IO_NO_MEMORY, "no memory for %s", labels);
    }
    r->of = grown ? grown : r->of;
    for (int64_t k = 0; k < n && grown; k++) {
        r->of[r->n + k] = (member){who ? who[k] : 0, number[k]};
    }
    if (status == IO_OK) {
        r->has_ids = known && (r->n == 0 || r->has_ids);
        r->n += n;
    }
    free(number);
    free(who);
    return status;
}

/** Append the labels of a snapshot, type after type, in the order in which its particles are
 *  read. */
static io_status add_types(io_file *file, hid_t id, roll *r)
{
    for (int type = 0; type < KITH_TYPES; type++) {
        char labels[48], ids[48];
        snprintf(labels, sizeof labels, "PartType%d/FOFGroupIDs", type);
        snprintf(ids, sizeof ids, "PartType%d/ParticleIDs", type);
        bool found;
        IO_TRY(io__hdf5_find(file, id, labels, &found));
        if (found) {
            IO_TRY(add_labels(file, id, labels, ids, r));
        }
    }
    return IO_OK;
}

/** Append the members of a catalogue in Gadget's layout, which lists their ids group after
 *  group. */
static io_status add_members(io_file *file, hid_t id, roll *r)
{
    int64_t *length = NULL, *who = NULL, groups = 0;
    IO_TRY(read_list(file, id, "Group/GroupLen", &length, &groups));
    io_status status = read_list(file, id, "IDs/ID", &who, &r->n);
    r->of = calloc((size_t)r->n + 1, sizeof *r->of);
    if (status == IO_OK && !r->of) {
        status = io__file_fail(file, IO_NO_MEMORY, "no memory for members");
    }
    int64_t at = 0;
    for (int64_t g = 0; g < groups && r->of && status == IO_OK; g++) {
        if (length[g] < 0 || length[g] > r->n - at) {
            status = io__file_fail(file, IO_FORMAT, "lists %lld ids; its groups have more members",
                                   (long long)r->n);
        }
        for (int64_t k = 0; status == IO_OK && k < length[g]; k++, at++) {
            r->of[at] = (member){who[at], g + 1};
        }
    }
    r->n = at;
    r->has_ids = r->by_ids = true;
    free(length);
    free(who);
    return status;
}

/** Read the members from the first layout that the file has. IO_INVALID: it has none. */
static io_status read_roll(io_file *file, hid_t id, roll *r)
{
    bool found, has_ids = false;
    IO_TRY(io__hdf5_find(file, id, "FOFGroupIDs", &found));
    if (found) {
        return add_labels(file, id, "FOFGroupIDs", "ParticleIDs", r);
    }
    IO_TRY(add_types(file, id, r));
    if (r->of) {
        return IO_OK;
    }
    IO_TRY(io__hdf5_find(file, id, "Group/GroupLen", &found));
    IO_TRY(io__hdf5_find(file, id, "IDs/ID", &has_ids));
    if (found && has_ids) {
        return add_members(file, id, r);
    }
    return io__file_fail(file, IO_INVALID,
                         "does not say whose group is whose: it has neither FOFGroupIDs nor "
                         "Group/GroupLen with IDs/ID; `kith fof --labels` writes them");
}

/** Order of members for qsort: by id. */
static int by_id(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/** Match particles with members by id. @param[out] out  [n] group of each; 0: not a member */
static io_status match(io_file *file, roll *r, int64_t n, const int64_t *ids, int64_t *out)
{
    int64_t found = 0;
    qsort(r->of, (size_t)r->n, sizeof *r->of, by_id);
    for (int64_t p = 0; p < n; p++) {
        const member key = {ids[p], 0};
        const member *one = bsearch(&key, r->of, (size_t)r->n, sizeof *r->of, by_id);
        out[p] = one ? one->number : 0;
        found += one != NULL;
    }
    return found > 0 || r->n == 0 || n == 0
               ? IO_OK
               : io__file_fail(file, IO_INVALID,
                               "is of other particles: none of its ids is theirs");
}

/** Set the group of each particle: by id if both sides have ids, else by order.
 *  @param ids       [n] ids of the particles; NULL: not known
 *  @param[out] out  [n] */
static io_status assign(io_file *file, roll *r, int64_t n, const int64_t *ids, int64_t *out)
{
    if (r->has_ids && ids) {
        return match(file, r, n, ids, out);
    }
    if (r->by_ids) {
        return io__file_fail(file, IO_INVALID,
                             "lists the ids of its members, but the particles have none");
    }
    if (r->n != n) {
        return io__file_fail(file, IO_INVALID, "has %lld labels; expected %lld", (long long)r->n,
                             (long long)n);
    }
    for (int64_t p = 0; p < n; p++) {
        out[p] = r->of[p].number;
    }
    return IO_OK;
}

io_status io__hdf5_labels(io_file *file, int64_t n, const int64_t *ids, int64_t *out)
{
    hid_t id = -1;
    roll r = {0};
    io__get_failed = 0;
    io_status status = io__hdf5_open(file, &id);
    if (status == IO_OK) {
        status = read_roll(file, id, &r);
    }
    if (status == IO_OK) {
        status = assign(file, &r, n, ids, out);
    }
    io__close(id);
    free(r.of);
    return io__get_end(file, status);
}
