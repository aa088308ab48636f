/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of Gadget-4's catalogues, which yt, pynbody and many scripts read: /Group with a
 * dataset for each property, an empty /Subhalo, counts in /Header. yt wants signed counts, and the
 * name fof_subhalo_tab_NNN.0.hdf5. Units are Gadget's where units are known: lengths comoving and
 * masses with a factor 1/h, velocities peculiar and divided by sqrt(a), with which yt and pynbody
 * multiply them.
 *
 * GroupOffsetType says where a group begins among the particles of a type when these are sorted by
 * group, those in none last, as Gadget-4 sorts its snapshots; /IDs/ID has the ids so sorted.
 */
#include "catalogue_gadget.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES = 6 }; /* Gadget's; others are in GroupLen and GroupMass alone */

typedef struct dataset {
    const char *name;
    size_t offset; /* of doubles in a kith_halo */
    int columns;
    io_gadget_unit unit;
    int sphere; /* that it is of; -1: of none */
} dataset;

#define AT(member) offsetof(kith_halo, member)
static const dataset datasets[] = {
    {"GroupMass", AT(mass), 1, IO_GADGET_MASS, -1},
    {"GroupMassType", AT(mass_of_type), TYPES, IO_GADGET_MASS, -1},
    {"GroupPos", AT(centre), 3, IO_GADGET_LENGTH, -1},
    {"GroupCM", AT(centre_of_mass), 3, IO_GADGET_LENGTH, -1},
    {"GroupVel", AT(velocity), 3, IO_GADGET_VELOCITY, -1},
    {"GroupVelDisp", AT(dispersion), 1, IO_GADGET_VELOCITY, -1},
    {"Group_M_Crit200", AT(sphere_mass[IO_SPHERE_200C]), 1, IO_GADGET_MASS, IO_SPHERE_200C},
    {"Group_R_Crit200", AT(sphere_radius[IO_SPHERE_200C]), 1, IO_GADGET_LENGTH, IO_SPHERE_200C},
    {"Group_M_Mean200", AT(sphere_mass[IO_SPHERE_200M]), 1, IO_GADGET_MASS, IO_SPHERE_200M},
    {"Group_R_Mean200", AT(sphere_radius[IO_SPHERE_200M]), 1, IO_GADGET_LENGTH, IO_SPHERE_200M},
    {"Group_M_Crit500", AT(sphere_mass[IO_SPHERE_500C]), 1, IO_GADGET_MASS, IO_SPHERE_500C},
    {"Group_R_Crit500", AT(sphere_radius[IO_SPHERE_500C]), 1, IO_GADGET_LENGTH, IO_SPHERE_500C},
    {"Group_M_TopHat200", AT(sphere_mass[IO_SPHERE_VIRIAL]), 1, IO_GADGET_MASS, IO_SPHERE_VIRIAL},
    {"Group_R_TopHat200", AT(sphere_radius[IO_SPHERE_VIRIAL]), 1, IO_GADGET_LENGTH,
     IO_SPHERE_VIRIAL}};

void io__gadget_units(const io_catalogue *c, double scale[IO_GADGET_UNITS])
{
    const io_units *u = &c->particles->units;
    const double h = c->particles->cosmology.known ? c->particles->cosmology.h : 1;
    scale[IO_GADGET_PURE] = scale[IO_GADGET_POTENTIAL] = 1;
    scale[IO_GADGET_VELOCITY] = c->particles->cosmology.known ? 1 / sqrt(c->particles->cosmology.a)
                                                              : 1;
    scale[IO_GADGET_LENGTH] = u->source == IO_UNITS_NONE ? 1 : pow(h, u->length_h + 1);
    scale[IO_GADGET_MASS] = u->source == IO_UNITS_NONE ? 1 : pow(h, u->mass_h + 1);
    scale[IO_GADGET_DENSITY] = scale[IO_GADGET_MASS] / pow(scale[IO_GADGET_LENGTH], 3);
}

/** Write the exponents of a and h of a dataset's unit, by the names of Gadget-4's snapshots.
 *  @return false on failure. */
static bool put_scaling(hid_t written, const io_catalogue *c, io_gadget_unit unit)
{
    if (!c->particles->cosmology.known || unit == IO_GADGET_PURE) {
        return true;
    }
    const double a = unit == IO_GADGET_LENGTH ? 1 : unit == IO_GADGET_VELOCITY ? 0.5 : 0;
    return io__put_number(written, "a_scaling", a) &&
           io__put_number(written, "h_scaling", unit == IO_GADGET_VELOCITY ? 0 : -1);
}

static bool put_reals(hid_t group, const io_catalogue *c, double *room)
{
    double scale[IO_GADGET_UNITS];
    bool done = true;
    io__gadget_units(c, scale);
    for (size_t k = 0; k < sizeof datasets / sizeof *datasets && done; k++) {
        const dataset *d = &datasets[k];
        if ((d->unit == IO_GADGET_VELOCITY && !c->velocities) ||
            (d->unit == IO_GADGET_MASS && !c->masses) ||
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

static bool put_group(hid_t file, const io_catalogue *c)
{
    const size_t n = (size_t)c->halos->n;
    const hid_t group = H5Gcreate2(file, "Group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    void *room = malloc((n * 2 * TYPES + 1) * sizeof(int64_t)); /* as large as doubles */
    const bool done = group >= 0 && room && put_counts(group, c, room) && put_reals(group, c, room);
    free(room);
    io__close(group);
    return done;
}

/** Ids by group, and within a group in the order of the particles. */
static bool put_ids(hid_t file, const io_catalogue *c)
{
    const io_particles *p = c->particles;
    const hid_t group = H5Gcreate2(file, "IDs", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0;
    if (done && p->id) {
        int64_t *at = malloc(((size_t)c->halos->n + 1) * sizeof *at), sum = 0;
        for (int64_t h = 0; h < c->halos->n && at; h++) {
            at[h] = sum;
            sum += c->halos->halo[h].members;
        }
        int64_t *id = malloc(((size_t)sum + 1) * sizeof *id);
        for (int64_t k = 0; k < p->n && at && id; k++) {
            if (c->labels[k] > 0) {
                id[at[c->labels[k] - 1]++] = p->id[k];
            }
        }
        done = at && id && io__close(io__put_array(group, "ID", H5T_NATIVE_UINT64, id, sum, 1));
        free(id);
        free(at);
    }
    io__close(group);
    return done;
}

bool io__gadget_put_universe(hid_t header, const io_catalogue *c)
{
    const io_cosmology *u = &c->particles->cosmology;
    double scale[IO_GADGET_UNITS];
    io__gadget_units(c, scale);
    double side[3], origin[3];
    const bool cube = io__catalogue_lengths(c, side);
    for (int axis = 0; axis < 3; axis++) {
        side[axis] *= scale[IO_GADGET_LENGTH];
        origin[axis] = c->box->origin[axis] * scale[IO_GADGET_LENGTH];
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

static bool put_header(hid_t file, const io_catalogue *c)
{
    const io_particles *p = c->particles;
    int64_t ids = 0;
    for (int64_t h = 0; h < c->halos->n && p->id; h++) {
        ids += c->halos->halo[h].members;
    }
    const hid_t header = H5Gcreate2(file, "Header", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = header >= 0 && io__put_count(header, "Ngroups_ThisFile", c->halos->n) &&
                      io__put_count(header, "Ngroups_Total", c->halos->n) &&
                      io__put_count(header, "Nsubhalos_ThisFile", 0) &&
                      io__put_count(header, "Nsubgroups_ThisFile", 0) && /* as in Gadget-3 */
                      io__put_count(header, "Nsubgroups_Total", 0) &&
                      io__put_count(header, "Nsubhalos_Total", 0) &&
                      io__put_count(header, "Nids_ThisFile", ids) &&
                      io__put_count(header, "Nids_Total", ids) &&
                      io__put_count(header, "NumFiles", 1) && io__gadget_put_universe(header, c) &&
                      io__put_text(header, "GroupVel", "peculiar velocity / sqrt(a)");
    io__close(header);
    return done;
}

bool io__gadget_put_parameters(hid_t file, const io_catalogue *c)
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
    return none >= 0 && put_header(file, c) && io__gadget_put_parameters(file, c) &&
           put_group(file, c) && put_ids(file, c);
}

io_status io__catalogue_gadget4(io_output *output, const io_catalogue *catalogue)
{
    IO_TRY(io__catalogue_check_box(output, catalogue));
    return io__hdf5_file(output, put_catalogue, catalogue);
}
