/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Catalogues as text: CSV with all numbers that were measured, and the .list of Rockstar 0.99.9
 * (https://bitbucket.org/gfcstanford/rockstar). Both are tables of columns, each of which is a
 * number of kith_halo in some unit.
 */
#include "catalogue_internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The physical quantity of a number, which determines its unit. */
typedef enum quantity { PURE, LENGTH, MASS, VELOCITY, SPIN, INERTIA } quantity;

/** When a column has numbers. */
typedef enum need {
    ALWAYS,        /* always */
    IF_MASSES,     /* masses are known */
    IF_VELOCITIES, /* velocities are known */
    IF_MOMENTA,    /* masses and velocities are known */
    IF_PARTICLE,   /* the particle at the centre is known */
    IF_SPHERE,     /* the sphere was measured */
    NEVER          /* never: the column is there for the format alone */
} need;

/** A column of a catalogue. */
typedef struct text_column {
    const char *name;  /* name of the column */
    size_t offset;     /* offset of the number in kith_halo [byte] */
    char kind;         /* 'i' int64_t; 'f' double; 'r' double, a radius; '/' ratio to the length of
                          the longest axis; '3' double times sqrt(3), from one dimension to three;
                          'A' component of the longest axis times its length */
    quantity quantity; /* physical quantity */
    need need;         /* when the column has numbers */
    int index;         /* index of the sphere, for IF_SPHERE */
} text_column;

/* Columns: XYZ, the three components of a vector; SPHERE, mass and radius of sphere k. */
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

/* A column without numbers. */
#define ABSENT(name) \
    { \
        name, 0, 'f', PURE, NEVER, 0 \
    }

/** The columns of out_*.list of Rockstar 0.99.9 at their positions, then two of kith: Mfof and
 *  Rrms. Friends-of-friends gives no profiles, energies and substructure: those columns have no
 *  numbers. */
static const text_column rockstar_columns[] = {
    {"Mvir", AT(sphere_mass[IO_SPHERE_VIRIAL]), 'f', MASS, IF_SPHERE, IO_SPHERE_VIRIAL},
    ABSENT("Vmax"),
    {"Vrms", AT(dispersion), '3', VELOCITY, IF_VELOCITIES, 0},
    {"Rvir", AT(sphere_radius[IO_SPHERE_VIRIAL]), 'r', LENGTH, IF_SPHERE, IO_SPHERE_VIRIAL},
    ABSENT("Rs"),
    {"Np", AT(members), 'i', PURE, ALWAYS, 0},
    XYZ("X", "Y", "Z", centre, LENGTH, ALWAYS),
    XYZ("VX", "VY", "VZ", velocity, VELOCITY, IF_VELOCITIES),
    XYZ("JX", "JY", "JZ", angular_momentum, SPIN, IF_MOMENTA),
    ABSENT("Spin"),
    ABSENT("rs_klypin"),
    ABSENT("Mvir_all"),
    {"M200b", AT(sphere_mass[IO_SPHERE_200M]), 'f', MASS, IF_SPHERE, IO_SPHERE_200M},
    {"M200c", AT(sphere_mass[IO_SPHERE_200C]), 'f', MASS, IF_SPHERE, IO_SPHERE_200C},
    {"M500c", AT(sphere_mass[IO_SPHERE_500C]), 'f', MASS, IF_SPHERE, IO_SPHERE_500C},
    ABSENT("M2500c"),
    ABSENT("Xoff"),
    ABSENT("Voff"),
    ABSENT("spin_bullock"),
    {"b_to_a", AT(axis_length[1]), '/', PURE, ALWAYS, 0},
    {"c_to_a", AT(axis_length[2]), '/', PURE, ALWAYS, 0},
    {"A[x]", AT(axis[0][0]), 'A', LENGTH, ALWAYS, 0},
    {"A[y]", AT(axis[0][1]), 'A', LENGTH, ALWAYS, 0},
    {"A[z]", AT(axis[0][2]), 'A', LENGTH, ALWAYS, 0},
    ABSENT("b_to_a(500c)"),
    ABSENT("c_to_a(500c)"),
    ABSENT("A[x](500c)"),
    ABSENT("A[y](500c)"),
    ABSENT("A[z](500c)"),
    ABSENT("T/|U|"),
    ABSENT("M_pe_Behroozi"),
    ABSENT("M_pe_Diemer"),
    ABSENT("Halfmass_Radius"),
    {"Mfof", AT(mass), 'f', MASS, IF_MASSES, 0},
    {"Rrms", AT(radius_rms), 'r', LENGTH, ALWAYS, 0}};

/** A table to be written. */
typedef struct table {
    const io_catalogue *catalogue; /* the halos */
    const text_column *columns;    /* the columns [n] */
    int n;                         /* number of columns */
    double scale[INERTIA + 1];     /* factor to the unit of each quantity */
    double scale_radius;           /* factor to the unit of kinds 'r' and 'A' */
    const char *absent;            /* text for a number that is not known; NULL: omit the column */
    int digits;                    /* significant digits */
    bool exact;                    /* write 17 digits where `digits` do not read back exactly */
    char space;                    /* separator */
} table;

/** Return true when a column has numbers. */
static bool is_there(const io_catalogue *c, const text_column *column)
{
    switch (column->need) {
    case IF_MASSES: return c->masses;
    case IF_VELOCITIES: return c->velocities;
    case IF_MOMENTA: return c->masses && c->velocities;
    case IF_PARTICLE: return c->halos->n > 0 && c->halos->halo[0].particle >= 0;
    case IF_SPHERE: return c->sphere[column->index];
    case NEVER: return false;
    default: return true;
    }
}

/** Write the separator and a number. @return the number of bytes written */
static int put_real(const table *t, double value, char *out, size_t room)
{
    const int length = snprintf(out, room, "%c%.*g", t->space, t->digits, value);
    if (!t->exact || strtod(out + 1, NULL) == value) {
        return length;
    }
    return snprintf(out, room, "%c%.17g", t->space, value);
}

/** Write the number of a column. The ratios '/' of a halo that is a point are 1.
 *  @return the number of bytes written */
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
    if (column->kind == '/') {
        value = halo->axis_length[0] > 0 ? value / halo->axis_length[0] : 1;
    } else if (column->kind == 'A') {
        value *= halo->axis_length[0] * t->scale_radius;
    } else {
        value *= column->kind == 'r' ? t->scale_radius : t->scale[column->quantity];
    }
    if (column->kind == '3') {
        value *= sqrt(3.0);
    }
    return put_real(t, value, out, room);
}

/** Write the number of members of a type and, if masses are known, their mass.
 *  @return the number of bytes written */
static int put_type(const table *t, const kith_halo *halo, int type, char *out, size_t room)
{
    const int used = snprintf(out, room, "%c%lld", t->space,
                              (long long)halo->members_of_type[type]);
    if (!t->catalogue->masses) {
        return used;
    }
    return used + put_real(t, halo->mass_of_type[type], out + used, room - (size_t)used);
}

/** Write one line for each halo: its number, the text `first`, the columns.
 *  @param types  add the numbers of members, and masses, of each type */
static io_status put_rows(io_output *output, const table *t, const char *first, bool types)
{
    const io_catalogue *c = t->catalogue;
    for (int64_t h = 0; h < c->halos->n; h++) {
        const kith_halo *halo = &c->halos->halo[h];
        char line[2048];
        size_t used = (size_t)snprintf(line, sizeof line, "%lld%s", (long long)h + 1, first);
        for (int k = 0; k < t->n; k++) {
            if (is_there(c, &t->columns[k])) {
                used += (size_t)put_value(t, &t->columns[k], halo, line + used, sizeof line - used);
            } else if (t->absent) {
                used += (size_t)snprintf(line + used, sizeof line - used, "%c%s", t->space,
                                         t->absent);
            }
        }
        for (int type = 0; type < KITH_TYPES && types; type++) {
            if (c->type[type]) {
                used += (size_t)put_type(t, halo, type, line + used, sizeof line - used);
            }
        }
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
    if (!c->masses) { /* each particle counts as 1, without unit */
        names.mass[0] = 0;
    }
    const char *gap = c->masses ? " " : "";
    char spin[3 * IO_NAME_LENGTH + 8], inertia[2 * IO_NAME_LENGTH + 8];
    snprintf(spin, sizeof spin, "%s%s%s %s", names.mass, gap, names.length, names.velocity);
    snprintf(inertia, sizeof inertia, "%s%s(%s)^2", names.mass, gap, names.length);
    const char *const units[] = {"", names.length, names.mass, names.velocity, spin, inertia};
    const bool known = c->particles->units.source != IO_UNITS_NONE;
    IO_TRY(io__output_printf(output, "group"));
    for (int k = 0; k < t.n; k++) {
        const char *unit = known ? units[t.columns[k].quantity] : "";
        if (is_there(c, &t.columns[k])) {
            IO_TRY(io__output_printf(output, *unit ? ",%s [%s]" : ",%s", t.columns[k].name, unit));
        }
    }
    for (int type = 0; type < KITH_TYPES; type++) {
        if (c->type[type]) {
            IO_TRY(io__output_printf(output, ",members_%d", type));
        }
        if (c->type[type] && c->masses) {
            IO_TRY(
                io__output_printf(output, known ? ",mass_%d [%s]" : ",mass_%d", type, names.mass));
        }
    }
    IO_TRY(io__output_printf(output, "\n"));
    return put_rows(output, &t, "", true);
}

/** Round a ratio of units to a power of ten if it differs by less than a thousandth. Codes differ
 *  in the length of a parsec, and a box of 50 Mpc/h must be written as 50. */
static double power_of_ten(double ratio)
{
    const double tolerance = 1e-3, power = pow(10, round(log10(ratio)));
    return fabs(ratio / power - 1) < tolerance ? power : ratio;
}

/** Set the factors to Msun/h, comoving Mpc/h and km/s, and for angular momenta to physical Msun/h
 *  Mpc/h km/s. */
static void set_rockstar_units(const io_catalogue *c, table *t)
{
    const double parsec = 3.0856775814913673e18, sun = 1.98841e33; /* IAU 2015; CODATA 2018 */
    const io_units *u = &c->particles->units;
    const double h = c->particles->cosmology.known ? c->particles->cosmology.h : 1;
    const double mass = power_of_ten(u->mass / sun) * pow(h, u->mass_h + 1);
    const double length = power_of_ten(u->length / (1e6 * parsec)) * pow(h, u->length_h + 1);
    const double velocity = power_of_ten(u->velocity / 1e5);
    t->scale[LENGTH] = length;
    t->scale[MASS] = mass;
    t->scale[VELOCITY] = velocity;
    const double a = c->particles->cosmology.known ? c->particles->cosmology.a : 1;
    t->scale[SPIN] = mass * length * a * velocity; /* positions are comoving, J is physical */
    t->scale_radius = 1000 * length;
}

/** A number of the header: NaN if it is not known. */
static double known_or_nan(bool known, double value)
{
    return known ? value : NAN;
}

/** Write the box: one length of a cube, three of an upright box, nine numbers of a skewed box, 0
 *  for open space. */
static io_status put_rockstar_box(io_output *output, const io_catalogue *c, double scale,
                                  const char *unit)
{
    const double(*row)[3] = c->box->row;
    bool upright = true;
    for (int k = 0; k < 9; k++) { /* element (k / 3, k % 3); the diagonal is k = 0, 4, 8 */
        upright = upright && (k % 4 == 0 || row[k / 3][k % 3] == 0);
    }
    const bool cube = upright && row[1][1] == row[0][0] && row[2][2] == row[0][0];
    IO_TRY(io__output_printf(output, "#Box size:"));
    for (int k = 0; k < (cube ? 1 : 9); k++) {
        if (!upright || k % 4 == 0) {
            IO_TRY(io__output_printf(output, " %.9g", row[k / 3][k % 3] * scale));
        }
    }
    return io__output_printf(output, "%s\n", unit);
}

/** Write the fifteen lines between the names of the columns and the halos. Scripts skip sixteen. */
static io_status put_rockstar_header(io_output *output, const io_catalogue *c, const table *t)
{
    const io_cosmology *u = &c->particles->cosmology;
    const bool known = c->particles->units.source != IO_UNITS_NONE;
    const bool particle = c->halos->n > 0 && c->halos->halo[0].particle >= 0;
    const char *length = known ? " Mpc/h" : "", *units = known ? "" : " as in the input, not";
    char command[1024];
    io__copy_name(command, sizeof command, c->command, strlen(c->command));
    IO_TRY(io__output_printf(
        output, "#a = %.9g\n#Om = %.9g; Ol = %.9g; h = %.9g\n#FOF linking length: %.9g\n",
        known_or_nan(u->known, u->a), known_or_nan(u->known, u->omega_m),
        known_or_nan(u->known, u->omega_lambda), known_or_nan(u->known, u->h),
        known_or_nan(c->b > 0, c->b)));
    IO_TRY(io__output_printf(output,
                             "#Linking length: %.9g%s; members at least: %lld; centre: %s\n"
                             "#Particle mass: %.9g%s\n",
                             c->length * t->scale[LENGTH], length, (long long)c->min_members,
                             particle ? "member of lowest potential, else of highest density"
                                      : "of mass",
                             known_or_nan(c->particle_mass > 0, c->particle_mass * t->scale[MASS]),
                             known ? " Msun/h" : ""));
    IO_TRY(put_rockstar_box(output, c, t->scale[LENGTH], length));
    return io__output_printf(
        output,
        "#nan: not known or not measured\n"
        "#Mfof: mass of the group; Rrms: rms distance from its centre of mass\n"
        "#Units:%s Masses in Msun / h\n"
        "#Units:%s Positions in Mpc / h (comoving)\n"
        "#Units:%s Velocities in km / s (physical, peculiar)\n"
        "#Units:%s Halo Distances, Lengths, and Radii in kpc / h (comoving)\n"
        "#Units:%s Angular Momenta in (Msun/h) * (Mpc/h) * km/s (physical)\n"
        "#Np is the number of members.\n"
        "#kith %s: %s\n",
        units, units, units, units, units, KITH_VERSION, command);
}

io_status io__catalogue_rockstar(io_output *output, const io_catalogue *c)
{
    table t = {.catalogue = c,
               .columns = rockstar_columns,
               .n = sizeof rockstar_columns / sizeof *rockstar_columns,
               .scale = {1, 1, 1, 1, 1, 1},
               .scale_radius = 1,
               .absent = "nan",
               .digits = 9,
               .space = ' '};
    if (c->particles->units.source != IO_UNITS_NONE) {
        set_rockstar_units(c, &t);
    }
    IO_TRY(io__output_printf(output, "#ID DescID"));
    for (int k = 0; k < t.n; k++) {
        IO_TRY(io__output_printf(output, " %s", t.columns[k].name));
    }
    IO_TRY(io__output_printf(output, "\n"));
    IO_TRY(put_rockstar_header(output, c, &t));
    return put_rows(output, &t, " -1", false);
}
