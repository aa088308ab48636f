/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gadget-4's layout: catalogues of groups, and snapshots sorted by group.
 *
 * A catalogue, which yt, pynbody and many scripts read, has /Group with a dataset for each
 * property, an empty /Subhalo, and counts in /Header. yt expects signed counts, and the name
 * fof_subhalo_tab_NNN.0.hdf5. Units are Gadget's where units are known: lengths comoving and masses
 * with a factor 1/h, velocities peculiar and divided by sqrt(a), with which yt and pynbody multiply
 * them.
 *
 * A sorted snapshot has of each type the members of group 1 first, then those of group 2, and so
 * on, those in no group last; within a group in the order of the input. Positions outside of the
 * box are wrapped into it, as those of the catalogue are; all others are those of the input.
 * GroupOffsetType is the index of the first member of a group among the particles of a type in this
 * order; /IDs/ID has the ids of the members in this order.
 */
#include "catalogue_internal.h"
#include "hdf5/io_hdf5.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- catalogues */

/** The physical quantity of a number, which determines its unit. */
typedef enum gadget_unit { PURE, LENGTH, MASS, VELOCITY, POTENTIAL, DENSITY, UNITS } gadget_unit;

enum { TYPES = 6 }; /* types of Gadget; members of others count in GroupLen and GroupMass alone */

/** A dataset of /Group. */
typedef struct dataset {
    const char *name; /* name of the dataset */
    size_t offset;    /* offset of its doubles in kith_halo [byte] */
    int columns;      /* number of doubles of each halo */
    gadget_unit unit; /* physical quantity */
    int sphere;       /* index of the sphere that it is measured in; -1: none */
} dataset;

#define AT(member) offsetof(kith_halo, member)
static const dataset datasets[] = {
    {"GroupMass", AT(mass), 1, MASS, -1},
    {"GroupMassType", AT(mass_of_type), TYPES, MASS, -1},
    {"GroupPos", AT(centre), 3, LENGTH, -1},
    {"GroupCM", AT(centre_of_mass), 3, LENGTH, -1},
    {"GroupVel", AT(velocity), 3, VELOCITY, -1},
    {"GroupVelDisp", AT(dispersion), 1, VELOCITY, -1},
    {"Group_M_Crit200", AT(sphere_mass[IO_SPHERE_200C]), 1, MASS, IO_SPHERE_200C},
    {"Group_R_Crit200", AT(sphere_radius[IO_SPHERE_200C]), 1, LENGTH, IO_SPHERE_200C},
    {"Group_M_Mean200", AT(sphere_mass[IO_SPHERE_200M]), 1, MASS, IO_SPHERE_200M},
    {"Group_R_Mean200", AT(sphere_radius[IO_SPHERE_200M]), 1, LENGTH, IO_SPHERE_200M},
    {"Group_M_Crit500", AT(sphere_mass[IO_SPHERE_500C]), 1, MASS, IO_SPHERE_500C},
    {"Group_R_Crit500", AT(sphere_radius[IO_SPHERE_500C]), 1, LENGTH, IO_SPHERE_500C},
    {"Group_M_TopHat200", AT(sphere_mass[IO_SPHERE_VIRIAL]), 1, MASS, IO_SPHERE_VIRIAL},
    {"Group_R_TopHat200", AT(sphere_radius[IO_SPHERE_VIRIAL]), 1, LENGTH, IO_SPHERE_VIRIAL}};

/** Compute the factors from the units of the input to those of Gadget: lengths and masses get 1/h,
 *  peculiar velocities are divided by sqrt(a), potentials keep their values. A length x of the
 *  input is x h^length_h units, so that x h^(length_h + 1) is in units / h; for masses, with
 *  mass_h. */
static void gadget_units(const io_catalogue *c, double scale[UNITS])
{
    const io_units *u = &c->particles->units;
    const double h = c->particles->cosmology.known ? c->particles->cosmology.h : 1;
    scale[PURE] = scale[POTENTIAL] = 1;
    scale[VELOCITY] = c->particles->cosmology.known ? 1 / sqrt(c->particles->cosmology.a) : 1;
    scale[LENGTH] = u->source == IO_UNITS_NONE ? 1 : pow(h, u->length_h + 1);
    scale[MASS] = u->source == IO_UNITS_NONE ? 1 : pow(h, u->mass_h + 1);
    scale[DENSITY] = scale[MASS] / pow(scale[LENGTH], 3);
}

/** Write the exponents of a and h of a dataset's unit, by the names of Gadget-4's snapshots.
 *  @return false on failure. */
static bool put_scaling(hid_t written, const io_catalogue *c, gadget_unit unit)
{
    if (!c->particles->cosmology.known || unit == PURE) {
        return true;
    }
    const double a = unit == LENGTH ? 1 : unit == VELOCITY ? 0.5 : 0;
    return io__put_number(written, "a_scaling", a) &&
           io__put_number(written, "h_scaling", unit == VELOCITY ? 0 : -1);
}

/** Write the datasets of doubles of /Group. @param room  scratch [halos][6] @return false on
 *  failure */
static bool put_reals(hid_t group, const io_catalogue *c, double *room)
{
    double scale[UNITS];
    bool done = true;
    gadget_units(c, scale);
    for (size_t k = 0; k < sizeof datasets / sizeof *datasets && done; k++) {
        const dataset *d = &datasets[k];
        if ((d->unit == VELOCITY && !c->velocities) || (d->unit == MASS && !c->masses) ||
            (d->sphere >= 0 && !c->sphere[d->sphere])) {
            continue;
        }
        for (int64_t h = 0; h < c->halos->n; h++) {
            double *row = room + h * d->columns;
            memcpy(row, (const char *)&c->halos->halo[h] + d->offset,
                   (size_t)d->columns * sizeof *row);
            for (int column = 0; column < d->columns; column++) {
                row[column] *= scale[d->unit];
            }
        }
        const hid_t written = io__put_array(group, d->name, H5T_NATIVE_DOUBLE, room, c->halos->n,
                                            d->columns);
        done = written >= 0 && put_scaling(written, c, d->unit);
        done = io__close(written) && done;
    }
    return done;
}

/** Write the datasets of integers of /Group: lengths, offsets, and no subhalos.
 *  @param offset  scratch [2][halos][TYPES], the first half for offsets, the second for lengths
 *  @return false on failure */
static bool put_counts(hid_t group, const io_catalogue *c, int64_t *offset)
{
    const int64_t n = c->halos->n;
    int64_t *length = offset + TYPES * n; /* [n][TYPES] */
    int64_t sum[TYPES] = {0};
    for (int64_t h = 0; h < n; h++) {
        for (int type = 0; type < TYPES; type++) {
            length[TYPES * h + type] = c->halos->halo[h].members_of_type[type];
            offset[TYPES * h + type] = sum[type];
            sum[type] += length[TYPES * h + type];
        }
    }
    bool done =
        io__close(io__put_array(group, "GroupLenType", H5T_NATIVE_INT64, length, n, TYPES)) &&
        io__close(io__put_array(group, "GroupOffsetType", H5T_NATIVE_INT64, offset, n, TYPES));
    for (int64_t h = 0; h < n; h++) {
        length[h] = c->halos->halo[h].members;
    }
    done = done && io__close(io__put_array(group, "GroupLen", H5T_NATIVE_INT64, length, n, 1));
    for (int64_t h = 0; h < n; h++) {
        length[h] = 0;
        offset[h] = -1;
    }
    return done && io__close(io__put_array(group, "GroupNsubs", H5T_NATIVE_INT64, length, n, 1)) &&
           io__close(io__put_array(group, "GroupFirstSub", H5T_NATIVE_INT64, offset, n, 1));
}

/** Write /Group. @return false on failure */
static bool put_group(hid_t file, const io_catalogue *c)
{
    const size_t n = (size_t)c->halos->n;
    const hid_t group = H5Gcreate2(file, "Group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    /* Scratch of put_counts, and then of put_reals: doubles have the size of int64_t. */
    void *room = malloc((n * 2 * TYPES + 1) * sizeof(int64_t));
    const bool done = group >= 0 && room && put_counts(group, c, room) && put_reals(group, c, room);
    free(room);
    io__close(group);
    return done;
}

/** io__fill_fn: ids. @param user  an io__sorted */
static bool fill_ids(void *user, int64_t first, int64_t n, void *rows)
{
    return io__catalogue_sorted(user, IO_COLUMN_IDS, first, n, rows);
}

/** Number of particles in groups. */
static int64_t grouped(const io_catalogue *c)
{
    int64_t members = 0;
    for (int64_t h = 0; h < c->halos->n; h++) {
        members += c->halos->halo[h].members;
    }
    return members;
}

/** Write /IDs/ID: the ids by group, and within a group in the order of the particles. */
static bool put_ids(hid_t file, const io_catalogue *c)
{
    const hid_t group = H5Gcreate2(file, "IDs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0;
    if (done && c->particles->id) {
        io__sorted rows;
        done = io__catalogue_sort(c, IO_ORDER_GROUPS, &rows) &&
               io__put_blocks(group, "ID", H5T_NATIVE_UINT64, grouped(c), 1, fill_ids, &rows);
        io__catalogue_sort_free(&rows);
    }
    io__close(group);
    return done;
}

/** Write time, box and cosmology as attributes of /Header. @return false on failure. */
static bool put_universe(hid_t header, const io_catalogue *c)
{
    const io_cosmology *u = &c->particles->cosmology;
    double scale[UNITS];
    gadget_units(c, scale);
    double side[3], origin[3];
    const bool cube = io__catalogue_lengths(c, side);
    for (int axis = 0; axis < 3; axis++) {
        side[axis] *= scale[LENGTH];
        origin[axis] = c->box->origin[axis] * scale[LENGTH];
    }
    return io__put_number(header, "Time", u->known ? u->a : c->particles->time) &&
           io__put_number(header, "Redshift", u->known ? u->redshift : 0) &&
           io__put_numbers(header, "BoxSize", H5T_NATIVE_DOUBLE, side, cube ? 1 : 3) &&
           io__put_numbers(header, "BoxOrigin", H5T_NATIVE_DOUBLE, origin, 3) &&
           io__put_number(header, "Omega0", u->omega_m) &&
           io__put_number(header, "OmegaLambda", u->omega_lambda) &&
           io__put_number(header, "HubbleParam", u->known ? u->h : 1) &&
           io__put_text(header, "command", c->command) &&
           io__put_text(header, "kith_version", KITH_VERSION);
}

/** Write /Header of a catalogue. @return false on failure */
static bool put_header(hid_t file, const io_catalogue *c)
{
    const int64_t ids = c->particles->id ? grouped(c) : 0;
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = header >= 0 && io__put_count(header, "Ngroups_ThisFile", c->halos->n) &&
                      io__put_count(header, "Ngroups_Total", c->halos->n) &&
                      io__put_count(header, "Nsubhalos_ThisFile", 0) &&
                      io__put_count(header, "Nsubgroups_ThisFile", 0) && /* as in Gadget-3 */
                      io__put_count(header, "Nsubgroups_Total", 0) &&
                      io__put_count(header, "Nsubhalos_Total", 0) &&
                      io__put_count(header, "Nids_ThisFile", ids) &&
                      io__put_count(header, "Nids_Total", ids) &&
                      io__put_count(header, "NumFiles", 1) && put_universe(header, c) &&
                      io__put_text(header, "GroupVel", "peculiar velocity / sqrt(a)");
    io__close(header);
    return done;
}

/** Write /Parameters: units, cosmology, and how the groups were found. @return false on failure. */
static bool put_parameters(hid_t file, const io_catalogue *c)
{
    const io_units *units = &c->particles->units;
    const io_cosmology *u = &c->particles->cosmology;
    const hid_t group = H5Gcreate2(file, "Parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0 && io__put_number(group, "LinkingLength", c->length) &&
                io__put_count(group, "GroupMinLen", c->min_members);
    if (done && units->source != IO_UNITS_NONE) {
        done = io__put_number(group, "UnitLength_in_cm", units->length) &&
               io__put_number(group, "UnitMass_in_g", units->mass) &&
               io__put_number(group, "UnitVelocity_in_cm_per_s", units->velocity);
    }
    if (done && u->known) {
        done = io__put_number(group, "Omega0", u->omega_m) &&
               io__put_number(group, "OmegaLambda", u->omega_lambda) &&
               io__put_number(group, "HubbleParam", u->h) &&
               (u->omega_b == 0 || io__put_number(group, "OmegaBaryon", u->omega_b));
    }
    io__close(group);
    return done;
}

static bool put_catalogue(hid_t file, const void *what)
{
    const io_catalogue *c = what;
    const hid_t none = H5Gcreate2(file, "Subhalo", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    io__close(none);
    return none >= 0 && put_header(file, c) && put_parameters(file, c) && put_group(file, c) &&
           put_ids(file, c);
}

io_status io__catalogue_gadget4(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__catalogue_check_box(output, catalogue));
    return io__hdf5_file(output, put_catalogue, catalogue);
}

/* ---------------------------------------------------------------------------- sorted snapshots */

/** The datasets of a sorted snapshot. */
static const struct field {
    const char *name;           /* name of the dataset */
    io_catalogue_column column; /* what it holds */
    int columns;                /* numbers of each particle */
    gadget_unit unit;           /* physical quantity; PURE: int64_t */
} fields[] = {{"Coordinates", IO_COLUMN_POSITIONS, 3, LENGTH},
              {"Velocities", IO_COLUMN_VELOCITIES, 3, VELOCITY},
              {"Masses", IO_COLUMN_MASSES, 1, MASS},
              {"ParticleIDs", IO_COLUMN_IDS, 1, PURE},
              {"Potential", IO_COLUMN_POTENTIALS, 1, POTENTIAL},
              {"Density", IO_COLUMN_DENSITIES, 1, DENSITY}};

/** Wrap a position into the box. A position inside keeps all its bits. Its fractional coordinate
 *  along row k is the component along the normal of the two other rows, divided by that of row
 *  k. */
static void wrap(const kith_box *box, double r[3])
{
    double row[3][3];
    memcpy(row, box->row, sizeof row);
    if (box->dim == 2) {
        row[0][2] = row[1][2] = row[2][0] = row[2][1] = 0;
        row[2][2] = 1;
    }
    for (int k = 0; k < box->dim; k++) {
        const double *u = row[(k + 1) % 3], *v = row[(k + 2) % 3];
        double at = 0, volume = 0;
        for (int a = 0; a < 3; a++) {
            const double normal = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
            at += normal * (r[a] - box->origin[a]);
            volume += normal * row[k][a];
        }
        const double turns = box->periodic[k] && isfinite(at / volume) ? floor(at / volume) : 0;
        for (int a = 0; a < 3 && turns != 0; a++) {
            r[a] -= turns * row[k][a];
        }
    }
}

/** Wrap n positions into the box, and multiply them by `scale`.
 *  @param[in,out] pos  [n][3]; then [n][dim] */
static void convert_positions(const io_catalogue *c, double scale, int64_t n, void *pos)
{
    const io_particles *p = c->particles;
    for (int64_t k = 0; k < n; k++) {
        double r[3];
        for (int axis = 0; axis < 3; axis++) {
            r[axis] = io_real(pos, 3 * k + axis, p->precision);
        }
        for (int pass = 0; pass < 2; pass++) { /* rounding may reach the upper face: again */
            wrap(c->box, r);
            for (int axis = 0; axis < 3 && p->precision == KITH_FLOAT; axis++) {
                r[axis] = (float)r[axis];
            }
        }
        for (int axis = 0; axis < p->dim; axis++) {
            io_put_real(pos, k * p->dim + axis, p->precision, r[axis] * scale);
        }
    }
}

/** A dataset of a sorted snapshot that is being written. */
struct sorted {
    const io__sorted *rows;    /* the particles, by type and group */
    const struct field *field; /* the dataset */
    int64_t begin;             /* row of the first particle of the type */
    double scale;              /* factor from the unit of the input to that of the dataset */
};

/** io__fill_fn: rows of a dataset. @param user  a struct sorted */
static bool fill_sorted(void *user, int64_t first, int64_t n, void *to)
{
    const struct sorted *s = user;
    const io_catalogue *c = s->rows->catalogue;
    const struct field *f = s->field;
    if (!io__catalogue_sorted(s->rows, f->column, s->begin + first, n, to)) {
        return false;
    }
    if (f->unit == LENGTH) {
        convert_positions(c, s->scale, n, to);
    }
    for (int64_t k = 0; k < f->columns * n && f->unit != LENGTH && f->unit != PURE; k++) {
        const kith_precision precision = c->particles->precision;
        io_put_real(to, k, precision, io_real(to, k, precision) * s->scale);
    }
    return true;
}

/** Write the group PartTypeN of the n particles of a type, from row `begin` on.
 *  @return false on failure */
static bool put_type(hid_t file, const io__sorted *rows, int type, int64_t begin, int64_t n)
{
    const io_catalogue *c = rows->catalogue;
    const io_particles *p = c->particles;
    const hid_t real = p->precision == KITH_FLOAT ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    double scale[UNITS];
    char name[24];
    gadget_units(c, scale);
    snprintf(name, sizeof name, "PartType%d", type);
    const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0;
    for (size_t k = 0; done && k < sizeof fields / sizeof *fields; k++) {
        const struct field *f = &fields[k];
        struct sorted sorted = {rows, f, begin, scale[f->unit]};
        if (!io_column_of(p, c->labels, f->column)) {
            continue;
        }
        const int columns = f->unit == LENGTH && p->dim == 2 ? 2 : f->columns;
        done = io__put_blocks(group, f->name, f->unit == PURE ? H5T_NATIVE_UINT64 : real, n,
                              columns, fill_sorted, &sorted);
    }
    io__close(group);
    return done;
}

/** Write /Header of a sorted snapshot. @return false on failure */
static bool put_sorted_header(hid_t file, const io__sorted *rows)
{
    const double nothing[KITH_TYPES] = {0};
    uint64_t counts[KITH_TYPES];
    for (int type = 0; type < KITH_TYPES; type++) {
        counts[type] = (uint64_t)(rows->begin[type + 1] - rows->begin[type]);
    }
    const int types = counts[6] + counts[7] > 0 ? KITH_TYPES : 6; /* Gadget has 6 types */
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = header >= 0 &&
                      io__put_numbers(header, "NumPart_ThisFile", H5T_NATIVE_UINT64, counts,
                                      types) &&
                      io__put_numbers(header, "NumPart_Total", H5T_NATIVE_UINT64, counts, types) &&
                      io__put_numbers(header, "MassTable", H5T_NATIVE_DOUBLE, nothing, types) &&
                      io__put_count(header, "NumFilesPerSnapshot", 1) &&
                      put_universe(header, rows->catalogue);
    io__close(header);
    return done;
}

static bool put_snapshot(hid_t file, const void *what)
{
    const io_catalogue *c = what;
    io__sorted rows;
    bool done = io__catalogue_sort(c, IO_ORDER_TYPES, &rows) && put_sorted_header(file, &rows) &&
                put_parameters(file, c);
    for (int type = 0; done && type < KITH_TYPES; type++) {
        const int64_t begin = rows.begin[type], n = rows.begin[type + 1] - begin;
        done = n == 0 || put_type(file, &rows, type, begin, n);
    }
    io__catalogue_sort_free(&rows);
    return done;
}

io_status io__sorted_snapshot(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__catalogue_check_box(output, catalogue));
    return io__hdf5_file(output, put_snapshot, catalogue);
}
