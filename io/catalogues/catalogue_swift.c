/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The HDF5 layout of the friends-of-friends of SWIFT (https://swift.strw.leidenuniv.nl): catalogues
 * with /Groups, and labels as FOFGroupIDs. Units have no factor h; lengths are comoving. Every
 * dataset has attributes with its unit. Skewed and partly periodic boxes are refused.
 */
#include "catalogue_internal.h"
#include "hdf5/io_hdf5.h"

#include <math.h>
#include <stdlib.h>

static const int64_t no_group = 2147483647; /* label of a particle in no group, as in SWIFT */

enum { TYPES = 7 }; /* number of types of particles of SWIFT */

/** Name and unit of a dataset. */
typedef struct meaning {
    const char *name; /* name of the dataset */
    const char *text; /* attribute Description */
    double length;    /* exponent of the unit of length */
    double mass;      /* exponent of the unit of mass */
} meaning;

/** Write the attributes of a dataset, and close it. @return false on failure */
static bool put_meaning(hid_t dataset, const io_catalogue *c, const meaning *m)
{
    const io_units *units = &c->particles->units;
    const io_cosmology *u = &c->particles->cosmology;
    const double cgs = units->source == IO_UNITS_NONE
                           ? 1
                           : pow(units->length, m->length) * pow(units->mass, m->mass);
    const double a = u->known ? pow(u->a, m->length) : 1;
    const bool done =
        dataset >= 0 && io__put_text(dataset, "Description", m->text) &&
        io__put_one(dataset, "U_M exponent", m->mass) &&
        io__put_one(dataset, "U_L exponent", m->length) &&
        io__put_one(dataset, "U_t exponent", 0) && io__put_one(dataset, "U_I exponent", 0) &&
        io__put_one(dataset, "U_T exponent", 0) && io__put_one(dataset, "h-scale exponent", 0) &&
        io__put_one(dataset, "a-scale exponent", m->length) &&
        io__put_one(dataset, "Conversion factor to CGS (not including cosmological corrections)",
                    cgs) &&
        io__put_one(dataset,
                    "Conversion factor to physical CGS (including cosmological corrections)",
                    cgs * a);
    io__close(dataset);
    return done;
}

/** Write /Groups. @return false on failure */
static bool put_groups(hid_t file, const io_catalogue *c)
{
    static const meaning mass = {"Masses", "Masses of the groups", 0, 1},
                         centre = {"Centres", "Centres of mass", 1, 0},
                         radius = {"Radii", "Distances of the farthest member from Centres", 1, 0},
                         id = {"GroupIDs", "1 is the largest group", 0, 0},
                         size = {"Sizes", "Numbers of particles in the groups", 0, 0};
    const io_units *u = &c->particles->units;
    const double h = c->particles->cosmology.known ? c->particles->cosmology.h : 1;
    const double scale = pow(h, u->length_h), scale_mass = pow(h, u->mass_h);
    const int64_t n = c->halos->n;
    const hid_t group = H5Gcreate2(file, "Groups", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    /* room: masses [n], radii [n], centres [n][3]; counts: ids [n], sizes [n] */
    double *room = malloc((size_t)(5 * n + 1) * sizeof *room);
    int64_t *counts = malloc((size_t)(2 * n + 1) * sizeof *counts);
    bool done = group >= 0 && room && counts;
    for (int64_t k = 0; k < n && done; k++) {
        const kith_halo *halo = &c->halos->halo[k];
        room[k] = halo->mass * scale_mass;
        room[n + k] = halo->radius_max * scale;
        for (int axis = 0; axis < 3; axis++) {
            room[2 * n + 3 * k + axis] = halo->centre_of_mass[axis] * scale;
        }
        counts[k] = k + 1;
        counts[n + k] = halo->members;
    }
    const hid_t real = H5T_NATIVE_DOUBLE, count = H5T_NATIVE_INT64;
    done = done &&
           (!c->masses ||
            put_meaning(io__put_array(group, mass.name, real, room, n, 1), c, &mass)) &&
           put_meaning(io__put_array(group, radius.name, real, room + n, n, 1), c, &radius) &&
           put_meaning(io__put_array(group, centre.name, real, room + 2 * n, n, 3), c, &centre) &&
           put_meaning(io__put_array(group, id.name, count, counts, n, 1), c, &id) &&
           put_meaning(io__put_array(group, size.name, count, counts + n, n, 1), c, &size);
    free(counts);
    free(room);
    io__close(group);
    return done;
}

static bool put_header(hid_t file, const io_catalogue *c)
{
    const io_cosmology *u = &c->particles->cosmology;
    const io_units *units = &c->particles->units;
    const double scale = pow(u->known ? u->h : 1, units->length_h);
    double side[3], origin[3];
    io__catalogue_lengths(c, side);
    for (int axis = 0; axis < 3; axis++) {
        side[axis] *= scale;
        origin[axis] = c->box->origin[axis] * scale;
    }
    const int64_t no_particles[TYPES] = {0};
    const double no_masses[TYPES] = {0};
    const hid_t count = H5T_NATIVE_INT64, real = H5T_NATIVE_DOUBLE;
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done =
        header >= 0 && io__put_text(header, "OutputType", "FOF") &&
        io__put_text(header, "Code", "kith") &&
        io__put_text(header, "kith_version", KITH_VERSION) &&
        io__put_text(header, "command", c->command) &&
        io__put_one_count(header, "NumGroups_Total", c->halos->n) &&
        io__put_one_count(header, "NumGroups_ThisFile", c->halos->n) &&
        io__put_one_count(header, "NumFilesPerSnapshot", 1) &&
        io__put_one_count(header, "ThisFile", 0) && io__put_one_count(header, "Dimension", 3) &&
        io__put_numbers(header, "NumPart_ThisFile", count, no_particles, TYPES) &&
        io__put_numbers(header, "NumPart_Total", count, no_particles, TYPES) &&
        io__put_numbers(header, "NumPart_Total_HighWord", count, no_particles, TYPES) &&
        io__put_numbers(header, "MassTable", real, no_masses, TYPES) &&
        io__put_numbers(header, "BoxSize", real, side, 3) &&
        io__put_numbers(header, "BoxOrigin", real, origin, 3) &&
        (!c->particles->has_time || io__put_one(header, "Time", c->particles->time)) &&
        io__put_one(header, "Scale-factor", u->known ? u->a : 1) &&
        io__put_one(header, "Redshift", u->known ? u->redshift : 0) &&
        io__put_one(header, "Linking length", c->length * scale);
    io__close(header);
    return done;
}

/** Write /Units in cgs, if they are known. @return false on failure */
static bool put_units(hid_t file, const io_catalogue *c)
{
    const io_units *u = &c->particles->units;
    if (u->source == IO_UNITS_NONE) {
        return true;
    }
    const hid_t group = H5Gcreate2(file, "Units", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = group >= 0 && io__put_one(group, "Unit length in cgs (U_L)", u->length) &&
                      io__put_one(group, "Unit mass in cgs (U_M)", u->mass) &&
                      io__put_one(group, "Unit time in cgs (U_t)", u->length / u->velocity) &&
                      io__put_one(group, "Unit current in cgs (U_I)", 1) &&
                      io__put_one(group, "Unit temperature in cgs (U_T)", 1);
    io__close(group);
    return done;
}

/** Write /Cosmology, with the Hubble constant in internal units. Dark energy is a cosmological
 *  constant and the density of radiation is 0, since no input format holds them. */
static bool put_cosmology(hid_t file, const io_catalogue *c)
{
    const double hundred = 1e7 / 3.0856775814913673e24; /* 100 km/s/Mpc [1/s] */
    const io_cosmology *u = &c->particles->cosmology;
    const io_units *units = &c->particles->units;
    if (!u->known) {
        return true;
    }
    const double time = units->source == IO_UNITS_NONE ? 1 : units->length / units->velocity;
    const hid_t group = H5Gcreate2(file, "Cosmology", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = group >= 0 && io__put_one_count(group, "Cosmological run", 1) &&
                      io__put_one(group, "Scale-factor", u->a) &&
                      io__put_one(group, "Redshift", u->redshift) &&
                      io__put_one(group, "h", u->h) &&
                      io__put_one(group, "H0 [internal units]", hundred * u->h * time) &&
                      io__put_one(group, "Omega_m", u->omega_m) &&
                      io__put_one(group, "Omega_lambda", u->omega_lambda) &&
                      io__put_one(group, "Omega_b", u->omega_b) &&
                      io__put_one(group, "Omega_cdm", u->omega_m - u->omega_b) &&
                      io__put_one(group, "Omega_r", 0) &&
                      io__put_one(group, "Omega_k", 1 - u->omega_m - u->omega_lambda) &&
                      io__put_one(group, "w_0", -1) && io__put_one(group, "w_a", 0);
    io__close(group);
    return done;
}

static bool put_catalogue(hid_t file, const void *what)
{
    const io_catalogue *c = what;
    return put_header(file, c) && put_units(file, c) && put_cosmology(file, c) &&
           put_groups(file, c);
}

io_status io__catalogue_swift(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__catalogue_check_box(output, catalogue));
    return io__hdf5_file(output, put_catalogue, catalogue);
}

/** State of fill_labels. */
struct labels {
    const io_catalogue *catalogue; /* whose labels are written */
    int32_t *room;                 /* [IO_BLOCK_ROWS] scratch */
};

/** io__fill_fn: labels, with the number of SWIFT for none. @param user  a struct labels */
static bool fill_labels(void *user, int64_t first, int64_t n, void *rows)
{
    const struct labels *state = user;
    int64_t *labels = rows;
    if (!io_catalogue_rows(state->catalogue, IO_COLUMN_LABELS, first, n, state->room)) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        labels[k] = state->room[k] > 0 ? state->room[k] : no_group;
    }
    return true;
}

/** io__fill_fn: ids. @param user  a struct labels */
static bool fill_ids(void *user, int64_t first, int64_t n, void *rows)
{
    const struct labels *state = user;
    return io_catalogue_rows(state->catalogue, IO_COLUMN_IDS, first, n, rows);
}

/** Write labels and ids of the particles. @param what  io_catalogue @return false on failure */
static bool put_labels(hid_t file, const void *what)
{
    const io_catalogue *c = what;
    const int64_t n = io_catalogue_particles(c);
    struct labels state = {c, malloc(IO_BLOCK_ROWS * sizeof *state.room)};
    const bool done = state.room && io__put_text(file, "command", c->command) &&
                      io__put_text(file, "kith_version", KITH_VERSION) &&
                      io__put_count(file, "no_group", no_group) &&
                      io__put_count(file, "n_groups", c->halos->n) &&
                      io__put_blocks(file, "FOFGroupIDs", H5T_NATIVE_INT64, n, 1, fill_labels,
                                     &state) &&
                      (!c->particles->id || io__put_blocks(file, "ParticleIDs", H5T_NATIVE_UINT64,
                                                           n, 1, fill_ids, &state));
    free(state.room);
    return done;
}

io_status io__labels_hdf5(io_output *output, const io_catalogue *catalogue)
{
    return io__hdf5_file(output, put_labels, catalogue);
}
