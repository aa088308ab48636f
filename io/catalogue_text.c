/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Catalogues as text: CSV with all that was measured, and Rockstar's .list.
 */
#include "catalogue_internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What a number is in. */
typedef enum quantity { PURE, LENGTH, MASS, VELOCITY, SPIN, INERTIA } quantity;

/** What has to be known for a column to be there. */
typedef enum need { ALWAYS, IF_MASSES, IF_VELOCITIES, IF_PARTICLE, IF_SPHERE } need;

typedef struct text_column {
    const char *name;
    size_t offset; /* in a kith_halo */
    char kind;     /* 'i': int64_t; 'f': double; '/': that of axis a is to be divided by a */
    quantity quantity;
    need need;
    int index; /* of the sphere */
} text_column;

#define AT(member) offsetof(kith_halo, member)
#define XYZ(names_x, names_y, names_z, member, quantity, need) \
    {names_x, AT(member[0]), 'f', quantity, need, 0}, \
        {names_y, AT(member[1]), 'f', quantity, need, 0}, \
    { \
        names_z, AT(member[2]), 'f', quantity, need, 0 \
    }
#define SPHERE(mass, radius, k) \
    {mass, AT(sphere_mass[k]), 'f', MASS, IF_SPHERE, k}, \
    { \
        radius, AT(sphere_radius[k]), 'f', LENGTH, IF_SPHERE, k \
    }

static const text_column csv_columns[] = {
    {"members", AT(members), 'i', PURE, ALWAYS, 0},
    {"mass", AT(mass), 'f', MASS, IF_MASSES, 0},
    XYZ("x", "y", "z", centre, LENGTH, ALWAYS),
    {"particle", AT(particle), 'i', PURE, IF_PARTICLE, 0},
    XYZ("x_mass", "y_mass", "z_mass", centre_of_mass, LENGTH, ALWAYS),
    XYZ("vx", "vy", "vz", velocity, VELOCITY, IF_VELOCITIES),
    {"dispersion", AT(dispersion), 'f', VELOCITY, IF_VELOCITIES, 0},
    {"radius_rms", AT(radius_rms), 'f', LENGTH, ALWAYS, 0},
    {"radius_max", AT(radius_max), 'f', LENGTH, ALWAYS, 0},
    XYZ("jx", "jy", "jz", angular_momentum, SPIN, IF_VELOCITIES),
    {"a", AT(axis_length[0]), 'f', LENGTH, ALWAYS, 0},
    {"b_to_a", AT(axis_length[1]), '/', PURE, ALWAYS, 0},
    {"c_to_a", AT(axis_length[2]), '/', PURE, ALWAYS, 0},
    XYZ("ax", "ay", "az", axis[0], PURE, ALWAYS),
    XYZ("ixx", "iyy", "izz", inertia, INERTIA, ALWAYS),
    {"ixy", AT(inertia[3]), 'f', INERTIA, ALWAYS, 0},
    {"ixz", AT(inertia[4]), 'f', INERTIA, ALWAYS, 0},
    {"iyz", AT(inertia[5]), 'f', INERTIA, ALWAYS, 0},
    SPHERE("m200c", "r200c", IO_SPHERE_200C),
    SPHERE("m200m", "r200m", IO_SPHERE_200M),
    SPHERE("m500c", "r500c", IO_SPHERE_500C),
    SPHERE("mvir", "rvir", IO_SPHERE_VIRIAL)};

static const text_column rockstar_columns[] = {
    {"Mvir", AT(sphere_mass[IO_SPHERE_VIRIAL]), 'f', MASS, IF_SPHERE, IO_SPHERE_VIRIAL},
    {"Vrms", AT(dispersion), 'f', VELOCITY, IF_VELOCITIES, 0},
    {"Rvir", AT(sphere_radius[IO_SPHERE_VIRIAL]), 'r', LENGTH, IF_SPHERE, IO_SPHERE_VIRIAL},
    {"Np", AT(members), 'i', PURE, ALWAYS, 0},
    XYZ("X", "Y", "Z", centre, LENGTH, ALWAYS),
    XYZ("VX", "VY", "VZ", velocity, VELOCITY, IF_VELOCITIES),
    XYZ("JX", "JY", "JZ", angular_momentum, SPIN, IF_VELOCITIES),
    {"Mfof", AT(mass), 'f', MASS, IF_MASSES, 0},
    {"M200b", AT(sphere_mass[IO_SPHERE_200M]), 'f', MASS, IF_SPHERE, IO_SPHERE_200M},
    {"M200c", AT(sphere_mass[IO_SPHERE_200C]), 'f', MASS, IF_SPHERE, IO_SPHERE_200C},
    {"M500c", AT(sphere_mass[IO_SPHERE_500C]), 'f', MASS, IF_SPHERE, IO_SPHERE_500C},
    {"Rrms", AT(radius_rms), 'r', LENGTH, ALWAYS, 0},
    {"b_to_a", AT(axis_length[1]), '/', PURE, ALWAYS, 0},
    {"c_to_a", AT(axis_length[2]), '/', PURE, ALWAYS, 0},
    XYZ("A[x]", "A[y]", "A[z]", axis[0], PURE, ALWAYS)};

/** A table to be written: columns in units. */
typedef struct table {
    const io_catalogue *catalogue;
    const text_column *columns;
    int n;
    double scale[INERTIA + 1];
    double scale_radius; /* of columns of kind 'r' */
    int digits;
    bool exact; /* more digits where they are needed to read back the same number */
    char space;
} table;

static bool is_there(const io_catalogue *c, const text_column *column)
{
    switch (column->need) {
    case IF_MASSES: return c->masses;
    case IF_VELOCITIES: return c->velocities;
    case IF_PARTICLE: return c->halos->n > 0 && c->halos->halo[0].particle >= 0;
    case IF_SPHERE: return c->sphere[column->index];
    default: return true;
    }
}

static int put_real(const table *t, double value, char *out, size_t room)
{
    const int length = snprintf(out, room, "%c%.*g", t->space, t->digits, value);
    if (!t->exact || strtod(out + 1, NULL) == value)
        return length;
    return snprintf(out, room, "%c%.17g", t->space, value);
}

/** A number of a halo as it is written; '/': ratios to the longest axis, 1 for a point. */
static int put_value(const table *t, const text_column *column, const kith_halo *halo, char *out,
                     size_t room)
{
    if (column->kind == 'i') {
        int64_t value;
        memcpy(&value, (const char *)halo + column->offset, sizeof value);
        return snprintf(out, room, "%c%lld", t->space, (long long)value);
    }
    double value;
    memcpy(&value, (const char *)halo + column->offset, sizeof value);
    if (column->kind == '/')
        value = halo->axis_length[0] > 0 ? value / halo->axis_length[0] : 1;
    else
        value *= column->kind == 'r' ? t->scale_radius : t->scale[column->quantity];
    return put_real(t, value, out, room);
}

static int put_type(const table *t, const kith_halo *halo, int type, char *out, size_t room)
{
    const int used = snprintf(out, room, "%c%lld", t->space,
                              (long long)halo->members_of_type[type]);
    return used + put_real(t, halo->mass_of_type[type], out + used, room - (size_t)used);
}

/** A line for each halo, behind `first` after its number. */
static io_status put_rows(io_output *output, const table *t, const char *first, bool types)
{
    const io_catalogue *c = t->catalogue;
    for (int64_t h = 0; h < c->halos->n; h++) {
        const kith_halo *halo = &c->halos->halo[h];
        char line[2048];
        size_t used = (size_t)snprintf(line, sizeof line, "%lld%s", (long long)h + 1, first);
        for (int k = 0; k < t->n; k++)
            if (is_there(c, &t->columns[k]))
                used += (size_t)put_value(t, &t->columns[k], halo, line + used, sizeof line - used);
        for (int type = 0; type < KITH_TYPES && types; type++)
            if (c->type[type])
                used += (size_t)put_type(t, halo, type, line + used, sizeof line - used);
        line[used++] = '\n';
        IO_TRY(io__output_write(output, line, (int64_t)used));
    }
    return IO_OK;
}

io_status io__catalogue_csv(io_output *output, const io_catalogue *c)
{
    const table t = {.catalogue = c,
                     .columns = csv_columns,
                     .n = sizeof csv_columns / sizeof *csv_columns,
                     .scale = {1, 1, 1, 1, 1, 1},
                     .digits = 15,
                     .exact = true,
                     .space = ','};
    io_unit_name names;
    io_unit_names(&c->particles->units, &names);
    char spin[3 * IO_NAME_LENGTH + 8], inertia[2 * IO_NAME_LENGTH + 8];
    snprintf(spin, sizeof spin, "%s %s %s", names.mass, names.length, names.velocity);
    snprintf(inertia, sizeof inertia, "%s (%s)^2", names.mass, names.length);
    const char *const units[] = {"", names.length, names.mass, names.velocity, spin, inertia};
    const bool known = c->particles->units.source != IO_UNITS_NONE;
    IO_TRY(io__output_printf(output, "group"));
    for (int k = 0; k < t.n; k++) {
        const char *unit = known ? units[t.columns[k].quantity] : "";
        if (is_there(c, &t.columns[k]))
            IO_TRY(io__output_printf(output, *unit ? ",%s [%s]" : ",%s", t.columns[k].name, unit));
    }
    for (int type = 0; type < KITH_TYPES; type++)
        if (c->type[type])
            IO_TRY(io__output_printf(output,
                                     known ? ",members_%d,mass_%d [%s]" : ",members_%d,mass_%d",
                                     type, type, names.mass));
    IO_TRY(io__output_printf(output, "\n"));
    return put_rows(output, &t, "", true);
}

/** Factors to Msun/h, comoving Mpc/h and km/s. */
static void set_rockstar_units(const io_catalogue *c, table *t)
{
    const double parsec = 3.0856775814913673e18, sun = 1.98841e33; /* IAU 2015; CODATA 2018 */
    const io_units *u = &c->particles->units;
    const double h = c->particles->cosmology.known ? c->particles->cosmology.h : 1;
    const double mass = u->mass / sun * pow(h, u->mass_h + 1);
    const double length = u->length / (1e6 * parsec) * pow(h, u->length_h + 1);
    const double velocity = u->velocity / 1e5;
    t->scale[LENGTH] = length;
    t->scale[MASS] = mass;
    t->scale[VELOCITY] = velocity;
    t->scale[SPIN] = mass * length * velocity;
    t->scale_radius = 1000 * length;
}

io_status io__catalogue_rockstar(io_output *output, const io_catalogue *c)
{
    table t = {.catalogue = c,
               .columns = rockstar_columns,
               .n = sizeof rockstar_columns / sizeof *rockstar_columns,
               .scale = {1, 1, 1, 1, 1, 1},
               .scale_radius = 1,
               .digits = 9,
               .space = ' '};
    const io_particles *p = c->particles;
    const io_cosmology *u = &p->cosmology;
    const bool known = p->units.source != IO_UNITS_NONE;
    if (known)
        set_rockstar_units(c, &t);
    char command[1024];
    io__copy_name(command, sizeof command, c->command, strlen(c->command));
    IO_TRY(io__output_printf(output, "#ID DescID"));
    for (int k = 0; k < t.n; k++)
        if (is_there(c, &t.columns[k]))
            IO_TRY(io__output_printf(output, " %s", t.columns[k].name));
    if (u->known)
        IO_TRY(io__output_printf(output, "\n#a = %.9g\n#Om = %.9g; Ol = %.9g; h = %.9g", u->a,
                                 u->omega_m, u->omega_lambda, u->h));
    IO_TRY(io__output_printf(
        output,
        "\n#FOF linking length: %.9g%s\n#Box size: %.9g%s\n#Units: %s\n"
        "#Mfof: mass of the group; Rrms: rms distance from its centre of mass; X, Y, Z: %s\n"
        "#kith %s: %s\n",
        c->length * t.scale[LENGTH], known ? " Mpc/h" : "", io__catalogue_side(c) * t.scale[LENGTH],
        known ? " Mpc/h" : "",
        known ? "masses in Msun/h, positions in comoving Mpc/h, radii in comoving kpc/h, "
                "velocities in km/s, J in Msun/h Mpc/h km/s"
              : "those of the input, which does not say them",
        c->halos->n > 0 && c->halos->halo[0].particle >= 0
            ? "the member of lowest potential, else of highest density"
            : "the centre of mass",
        KITH_VERSION, command));
    return put_rows(output, &t, " -1", false);
}
