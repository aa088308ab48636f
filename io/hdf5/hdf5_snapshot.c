/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Snapshots in HDF5, of Gadget-2 to Gadget-4, AREPO, GIZMO, EAGLE and SWIFT: a group PartType0,
 * PartType1, ... for each type, with a dataset for each field. Attributes of a dataset may give the
 * powers of the scale factor a and of h by which its numbers are to be multiplied; without them,
 * the powers of Gadget or SWIFT are used.
 *
 * Black holes of SWIFT have two masses. DynamicalMasses enters the gravity and is read.
 * SubgridMasses belongs to the model of accretion and is not read.
 */
#include "io_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 3 };
/* The datasets that may hold a field, in the order in which they are tried. */
static const struct {
    unsigned field;
    const char *names[NAMES];
} datasets[] = {{IO_POSITIONS, {"Coordinates"}},
                {IO_VELOCITIES, {"Velocities", "Velocity"}},
                {IO_IDS, {"ParticleIDs"}},
                {IO_MASSES, {"Masses", "Mass", "DynamicalMasses"}},
                {IO_POTENTIALS, {"Potential", "Potentials"}},
                {IO_DENSITIES, {"Density", "Densities"}},
                {IO_RADII, {NULL}}}; /* the dataset that options->radii names */
enum { DATASETS = sizeof datasets / sizeof *datasets };

/** State of the reader. */
typedef struct source {
    hid_t id;   /* the file */
    bool swift; /* the snapshot is of SWIFT */
} source;

/** Find the path of the dataset that options->radii names: NAME or PartTypeT/NAME, which is of type
 *  T alone.
 *  @param[out] found  false: the type does not have the dataset, or radii is NULL */
static io_status find_radii(io_file *file, hid_t id, int type, char out[IO_HDF5_NAME], bool *found)
{
    const char *name = file->options->radii;
    char group[16];
    *found = false;
    if (!name) {
        return IO_OK;
    }
    name += *name == '/';
    const int length = snprintf(group, sizeof group, "PartType%d/", type);
    const bool whole = strncmp(name, "PartType", 8) == 0;
    if (whole && strncmp(name, group, (size_t)length) != 0) {
        return IO_OK;
    }
    const int used = snprintf(out, IO_HDF5_NAME, "%s%s", whole ? "" : group, name);
    return used < IO_HDF5_NAME ? io__hdf5_find(file, id, out, found) : IO_OK;
}

/** Find the path of the dataset of a field.
 *  @param[out] found  false: the type does not have the field */
static io_status find_dataset(io_file *file, hid_t id, int type, unsigned field,
                              char out[IO_HDF5_NAME], bool *found)
{
    *found = false;
    if (field == IO_RADII) {
        return find_radii(file, id, type, out, found);
    }
    for (int k = 0; k < DATASETS; k++) {
        for (int name = 0; name < NAMES && datasets[k].names[name]; name++) {
            snprintf(out, IO_HDF5_NAME, "PartType%d/%s", type, datasets[k].names[name]);
            if (datasets[k].field == field) {
                IO_TRY(io__hdf5_find(file, id, out, found));
            }
            if (*found) {
                return IO_OK;
            }
        }
    }
    return IO_OK;
}

/** Find the factor that converts the numbers of a field to comoving lengths, peculiar velocities
 *  and masses. A stored number times a^A h^H is physical, with the exponents A and H of the
 *  dataset; without them, A is 1 for lengths, 1/2 for velocities of Gadget, and H is -1 for lengths
 *  and masses of Gadget. A physical length divided by a is comoving. Positions and radii are
 *  lengths.
 *  @param[out] h  exponent H of the converted lengths and masses */
static io_status find_scale(io_file *file, const source *s, const io_cosmology *universe,
                            unsigned field, const char *dataset, double *scale, double *h)
{
    const bool length = field == IO_POSITIONS || field == IO_RADII;
    double a = length ? 1 : field == IO_VELOCITIES && !s->swift ? 0.5 : 0;
    *h = (length || field == IO_MASSES) && !s->swift ? -1 : 0;
    IO_TRY(io__hdf5_exponents(file, s->id, dataset, &a, h));
    *scale = 1;
    if (universe->known && length) {
        *scale = pow(universe->a, a - 1);
    } else if (universe->known && field == IO_VELOCITIES) {
        *scale = pow(universe->a, a) * pow(universe->h, *h);
    } else if (universe->known && field == IO_MASSES) {
        *scale = pow(universe->a, a);
    }
    return IO_OK;
}

/** Find the exponents of h of the lengths and masses of a type. */
static io_status find_exponents(io_file *file, const source *s, int type, io_header *header)
{
    static const unsigned fields[2] = {IO_POSITIONS, IO_MASSES};
    double *const exponents[2] = {&header->length_h[type], &header->mass_h[type]};
    header->length_h[type] = header->units.length_h;
    header->mass_h[type] = header->units.mass_h;
    for (int k = 0; k < 2 && header->cosmology.known; k++) {
        char name[IO_HDF5_NAME];
        double scale;
        bool found;
        IO_TRY(find_dataset(file, s->id, type, fields[k], name, &found));
        if (found) {
            IO_TRY(find_scale(file, s, &header->cosmology, fields[k], name, &scale, exponents[k]));
        }
    }
    return IO_OK;
}

/** Return IO_FORMAT or IO_TRUNCATED if the coordinates of a type do not fit the header. */
static io_status check_coordinates(io_file *file, const io_array *array, int type,
                                   const io_header *header)
{
    IO_TRY(io__array_check_coordinates(file, array));
    if (array->rank != 2) {
        return io__file_fail(file, IO_FORMAT, "dataset %s has %d dimensions; expected (n, 3)",
                             array->name, array->rank);
    }
    if (header->n[type] >= 0 && header->n[type] != array->n) {
        return io__file_fail(file, array->n < header->n[type] ? IO_TRUNCATED : IO_FORMAT,
                             "Header/NumPart_ThisFile counts %lld particles of PartType%d, but %s "
                             "has %lld",
                             (long long)header->n[type], type, array->name, (long long)array->n);
    }
    if (array->n > 0 && header->dim != 0 && header->dim != array->columns) {
        return io__file_fail(file, IO_FORMAT, "has %d coordinates in %s, but %d in types before",
                             (int)array->columns, array->name, header->dim);
    }
    return IO_OK;
}

/** Set the numbers of a header that concern one type: fields, precision and exponents of h; count
 *  it from its coordinates. */
static io_status open_type(io_file *file, const source *s, int type, io_header *header)
{
    char name[IO_HDF5_NAME];
    io_array array;
    bool found;
    snprintf(name, sizeof name, "PartType%d", type);
    IO_TRY(io__hdf5_find(file, s->id, name, &found));
    if (!found && header->n[type] > 0) {
        return io__file_fail(file, IO_FORMAT,
                             "Header/NumPart_ThisFile counts %lld particles of %s, but the file "
                             "has no group of that name",
                             (long long)header->n[type], name);
    }
    IO_TRY(find_dataset(file, s->id, type, IO_POSITIONS, name, &found));
    if (!found) {
        if (header->n[type] > 0) {
            header->total[type] = -1; /* tracers of AREPO, without coordinates: not compared */
        }
        header->n[type] = 0;
        return IO_OK;
    }
    IO_TRY(io__array_open(file, s->id, name, 3, &array));
    const io_status status = check_coordinates(file, &array, type, header);
    io__array_close(&array);
    IO_TRY(status);
    header->n[type] = array.n;
    header->precision[type] = array.precision;
    if (array.n == 0) {
        return IO_OK;
    }
    header->dim = (int)array.columns;
    for (unsigned field = 1; field < IO_FIELDS_END; field <<= 1) {
        IO_TRY(find_dataset(file, s->id, type, field, name, &found));
        if (found || (field == IO_MASSES && header->mass[type] > 0)) {
            header->fields[type] |= field;
        }
    }
    return find_exponents(file, s, type, header);
}

/* The functions of io_snapshot_format (core/io_internal.h). */

static io_status open_snapshot(io_file *file, io_header *out, void **private)
{
    source *s = calloc(1, sizeof *s);
    *private = s;
    if (!s) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory to read with");
    }
    IO_TRY(io__hdf5_open(file, &s->id));
    if (file->options->frame > 0) {
        return io__file_fail(file, IO_INVALID,
                             "is a snapshot of one frame, counted from 0; frame %lld was asked for",
                             (long long)file->options->frame);
    }
    IO_TRY(io__hdf5_is_swift(file, s->id, &s->swift));
    IO_TRY(io__hdf5_header(file, s->id, out));
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        IO_TRY(open_type(file, s, type, out));
    }
    return IO_OK;
}

static void close_snapshot(void *private)
{
    source *s = private;
    if (s) {
        io__close(s->id);
    }
    free(s);
}

/** Return IO_FORMAT or IO_TRUNCATED if the dataset of a field does not fit n particles. */
static io_status check_field(io_file *file, const io_array *array, unsigned field, int64_t n,
                             int64_t columns)
{
    IO_TRY(io__array_check_rows(file, array, n, columns));
    if (field == IO_IDS && array->kind == 'f') {
        return io__file_fail(file, IO_FORMAT, "dataset %s holds fractions; expected whole numbers",
                             array->name);
    }
    return IO_OK;
}

/** Read one field of the wanted particles of one type into its array. */
static io_status read_field(io_file *file, const source *s, const io_header *header, int type,
                            unsigned field, const io_wanted *wanted, io_progress *progress)
{
    char name[IO_HDF5_NAME];
    io_array array;
    double h;
    bool found;
    io_field to = io__particles_field(wanted->out, field, wanted->row[type], 0, (io_scalar){0});
    IO_TRY(find_dataset(file, s->id, type, field, name, &found));
    if (!found) {
        return io__file_fail(file, IO_FORMAT, "has changed while it was read");
    }
    IO_TRY(find_scale(file, s, &header->cosmology, field, name, &to.scale, &h));
    if (field == IO_RADII && header->cosmology.known) { /* to the unit of the positions */
        to.scale *= pow(header->cosmology.h, h - header->length_h[type]);
    }
    IO_TRY(io__array_open(file, s->id, name, 3, &array));
    io_status status = check_field(file, &array, field, header->n[type], to.columns);
    if (status == IO_OK) {
        status = io__array_read_rows(file, &array, 0, wanted->skip[type], wanted->n[type], &to,
                                     progress);
    }
    io__array_close(&array);
    return status;
}

static io_status read_snapshot(io_file *file, const io_header *header, void *private,
                               const io_wanted *wanted)
{
    io_progress progress = {0, 0};
    for (int step = 0; step < 2; step++) { /* count, then read */
        for (int type = 0; type < IO_MOST_TYPES; type++) {
            for (int k = 0; k < DATASETS; k++) {
                const unsigned field = datasets[k].field;
                if (wanted->n[type] == 0 || !(wanted->fields & field) ||
                    (field == IO_MASSES && header->mass[type] > 0)) {
                    continue;
                }
                if (step == 0) {
                    progress.all += wanted->n[type] * io__field_width(field);
                } else {
                    IO_TRY(read_field(file, private, header, type, field, wanted, &progress));
                }
            }
        }
    }
    return IO_OK;
}

static void describe(const io_header *header, void *private, io_summary *out)
{
    const source *s = private;
    (void)header;
    snprintf(out->description, sizeof out->description, "HDF5 snapshot, as of %s",
             s->swift ? "SWIFT" : "Gadget");
    io__hdf5_list(s->id, out);
}

static const char *sources(unsigned field)
{
    return field == IO_MASSES       ? "a dataset Masses, Mass or DynamicalMasses, or a mass in "
                                      "Header/MassTable"
           : field == IO_VELOCITIES ? "a dataset Velocities or Velocity"
           : field == IO_IDS        ? "a dataset ParticleIDs"
           : field == IO_POTENTIALS ? "a dataset Potential or Potentials"
           : field == IO_RADII      ? "a dataset of this name"
                                    : "a dataset Density or Densities";
}

const io_snapshot_format io__hdf5_snapshot = {open_snapshot, read_snapshot, describe,
                                              close_snapshot, sources};
