/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Headers of HDF5 snapshots. Gadget-2, Gadget-3 and AREPO store all numbers in /Header; Gadget-4
 * has cosmology and units in /Parameters, SWIFT in /Cosmology and /Units, EAGLE its units in
 * /Units, GIZMO all in /Header by names of its own. Each number is read from the first attribute
 * that exists.
 */
#include "io_hdf5.h"

#include <math.h>
#include <stdio.h>

/** An attribute of a group. */
typedef struct attribute_name {
    const char *group; /* path of the group */
    const char *name;  /* name of the attribute; NULL ends a list */
} attribute_name;

enum { MOST_NAMES = 5 };

/* For each number, the attributes that may hold it, in the order in which they are tried. */
static const attribute_name scale_factors[MOST_NAMES] = {
    {"Cosmology", "Scale-factor"}, {"Header", "Scale-factor"}, {"Header", "ExpansionFactor"}};
static const attribute_name hubbles[MOST_NAMES] = {
    {"Header", "HubbleParam"}, {"Parameters", "HubbleParam"}, {"Cosmology", "h"}};
static const attribute_name matters[MOST_NAMES] = {{"Header", "Omega0"},
                                                   {"Header", "Omega_Matter"},
                                                   {"Parameters", "Omega0"},
                                                   {"Cosmology", "Omega_m"}};
static const attribute_name lambdas[MOST_NAMES] = {{"Header", "OmegaLambda"},
                                                   {"Header", "Omega_Lambda"},
                                                   {"Parameters", "OmegaLambda"},
                                                   {"Cosmology", "Omega_lambda"}};
static const attribute_name baryons[MOST_NAMES] = {{"Header", "OmegaBaryon"},
                                                   {"Header", "Omega_Baryon"},
                                                   {"Parameters", "OmegaBaryon"},
                                                   {"Cosmology", "Omega_b"}};
static const attribute_name comovings[MOST_NAMES] = {{"Cosmology", "Cosmological run"},
                                                     {"Parameters", "ComovingIntegrationOn"},
                                                     {"Header", "ComovingIntegrationOn"}};
static const attribute_name lengths[MOST_NAMES] = {{"Units", "Unit length in cgs (U_L)"},
                                                   {"Header", "UnitLength_in_cm"},
                                                   {"Parameters", "UnitLength_in_cm"},
                                                   {"Units", "UnitLength_in_cm"},
                                                   {"Header", "UnitLength_In_CGS"}};
static const attribute_name masses[MOST_NAMES] = {{"Units", "Unit mass in cgs (U_M)"},
                                                  {"Header", "UnitMass_in_g"},
                                                  {"Parameters", "UnitMass_in_g"},
                                                  {"Units", "UnitMass_in_g"},
                                                  {"Header", "UnitMass_In_CGS"}};
static const attribute_name velocities[MOST_NAMES] = {{"Header", "UnitVelocity_in_cm_per_s"},
                                                      {"Parameters", "UnitVelocity_in_cm_per_s"},
                                                      {"Units", "UnitVelocity_in_cm_per_s"},
                                                      {"Header", "UnitVelocity_In_CGS"}};
static const attribute_name times[MOST_NAMES] = {{"Units", "Unit time in cgs (U_t)"}};

/** Read the first attribute of a list that exists and holds a number.
 *  @param[out] out    the number; 0 if there is none
 *  @param[out] found  false: there is none */
static io_status find(io_file *file, hid_t id, const attribute_name names[MOST_NAMES], double *out,
                      bool *found)
{
    int n = 0;
    *out = 0;
    for (int k = 0; k < MOST_NAMES && names[k].name && n == 0; k++) {
        IO_TRY(io__attribute_read(file, id, names[k].group, names[k].name, out, 1, &n));
    }
    *found = n > 0;
    return IO_OK;
}

io_status io__hdf5_is_swift(io_file *file, hid_t id, bool *out)
{
    double length;
    int n;
    IO_TRY(io__attribute_read(file, id, lengths[0].group, lengths[0].name, &length, 1, &n));
    *out = n > 0;
    return IO_OK;
}

/** Read the number of particles of each type from an attribute of /Header; -1: not in the file. */
static io_status read_counts(io_file *file, hid_t id, const char *name, int64_t out[IO_MOST_TYPES])
{
    const double most = 0x1p62;
    double counts[IO_MOST_TYPES];
    int n;
    IO_TRY(io__attribute_read(file, id, "Header", name, counts, IO_MOST_TYPES, &n));
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        out[type] = n > 0 ? 0 : -1;
        if (type < n) {
            out[type] = counts[type] >= 0 && counts[type] < most ? (int64_t)counts[type] : -1;
        }
    }
    return IO_OK;
}

/** Read the numbers of particles in all files: lower and upper 32 bits are two attributes. */
static io_status read_totals(io_file *file, hid_t id, io_header *out)
{
    int64_t high[IO_MOST_TYPES];
    IO_TRY(read_counts(file, id, "NumPart_Total", out->total));
    IO_TRY(read_counts(file, id, "NumPart_Total_HighWord", high));
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (out->total[type] >= 0 && high[type] > 0 && high[type] < INT32_MAX) {
            out->total[type] += high[type] << 32;
        }
    }
    return IO_OK;
}

/** Read the units. A file without units has the usual ones of Gadget. A file with some units only
 *  is refused, since the usual ones may be wrong for the others. */
static io_status read_units(io_file *file, hid_t id, io_units *out)
{
    double length, mass, velocity, time;
    bool has_length, has_mass, has_time, has_speed, is_swift;
    IO_TRY(find(file, id, lengths, &length, &has_length));
    IO_TRY(find(file, id, masses, &mass, &has_mass));
    IO_TRY(find(file, id, times, &time, &has_time));
    IO_TRY(find(file, id, velocities, &velocity, &has_speed));
    IO_TRY(io__hdf5_is_swift(file, id, &is_swift));
    *out = io__units_usual();
    if (has_time && has_length) {
        velocity = length / time;
    }
    if (has_length && has_mass && (has_time || has_speed)) {
        *out = (io_units){.source = IO_UNITS_FILE,
                          .length = length,
                          .mass = mass,
                          .velocity = velocity,
                          .length_h = out->length_h,
                          .mass_h = out->mass_h};
    } else if (has_length || has_mass || has_time || has_speed) {
        return io__file_fail(file, IO_FORMAT,
                             "says the unit of%s%s%s, but not of%s%s%s; expected all or none",
                             has_length ? " length" : "", has_mass ? " mass" : "",
                             has_time || has_speed ? " velocity" : "", has_length ? "" : " length",
                             has_mass ? "" : " mass", has_time || has_speed ? "" : " velocity");
    }
    if (is_swift) {
        out->length_h = out->mass_h = 0;
    }
    return IO_OK;
}

/** Read the number of files of the snapshot; 1 for a virtual file, which shows all of them. */
static io_status read_files(io_file *file, hid_t id, int64_t *out)
{
    double files = 1, is_virtual = 0;
    int n;
    IO_TRY(io__attribute_read(file, id, "Header", "Virtual", &is_virtual, 1, &n));
    IO_TRY(io__attribute_read(file, id, "Header", "NumFilesPerSnapshot", &files, 1, &n));
    *out = n == 0 || is_virtual == 1 ? 1 : files > 0 && files < INT32_MAX ? (int64_t)files : 0;
    return IO_OK;
}

io_status io__hdf5_is_snapshot(io_file *file, hid_t id, bool *out)
{
    int64_t n[IO_MOST_TYPES], files;
    char name[IO_NAME_LENGTH];
    *out = false;
    for (int type = 0; type < IO_MOST_TYPES && !*out; type++) {
        snprintf(name, sizeof name, "PartType%d/Coordinates", type);
        IO_TRY(io__hdf5_find(file, id, name, out));
    }
    if (*out) {
        return IO_OK;
    }
    IO_TRY(read_counts(file, id, "NumPart_ThisFile", n));
    IO_TRY(read_files(file, id, &files));
    *out = n[0] >= 0 && files > 1;
    return IO_OK;
}

int64_t io__hdf5_files(io_file *file)
{
    hid_t id = -1;
    double files = 1;
    bool found;
    int n;
    if (io__hdf5_open(file, &id) != IO_OK) {
        return 1;
    }
    const bool read = io__hdf5_is_snapshot(file, id, &found) == IO_OK &&
                      io__attribute_read(file, id, "Header", "NumFilesPerSnapshot", &files, 1,
                                         &n) == IO_OK;
    io__close(id);
    return !read ? 1 : !found ? 0 : files > 1 && files < INT32_MAX ? (int64_t)files : 1;
}

io_status io__hdf5_header(io_file *file, hid_t id, io_header *out)
{
    double comoving;
    bool is_swift, has_comoving, found;
    int n;
    *out = (io_header){0};
    IO_TRY(io__hdf5_is_swift(file, id, &is_swift));
    io_universe given = {.group = is_swift ? "Cosmology" : "Header", .comoving = -1};
    IO_TRY(read_files(file, id, &out->files));
    IO_TRY(read_counts(file, id, "NumPart_ThisFile", out->n));
    IO_TRY(read_totals(file, id, out));
    IO_TRY(io__attribute_read(file, id, "Header", "MassTable", out->mass, IO_MOST_TYPES, &n));
    IO_TRY(io__hdf5_box(file, id, out->box));
    IO_TRY(io__attribute_read(file, id, "Header", "Time", &out->time, 1, &n));
    out->has_time = n > 0;
    IO_TRY(io__attribute_read(file, id, "Header", "Redshift", &out->redshift, 1, &n));
    IO_TRY(read_units(file, id, &out->units));
    IO_TRY(find(file, id, comovings, &comoving, &has_comoving));
    if (has_comoving) {
        given.comoving = comoving != 0;
    }
    IO_TRY(find(file, id, scale_factors, &given.a, &given.has_a));
    IO_TRY(find(file, id, hubbles, &given.h, &found));
    IO_TRY(find(file, id, matters, &given.omega_m, &found));
    IO_TRY(find(file, id, lambdas, &given.omega_lambda, &found));
    IO_TRY(find(file, id, baryons, &given.omega_b, &found));
    return io__header_cosmology(file, &given, out);
}

/** Read an exponent from the first of three attributes that exists. */
static io_status read_exponent(io_file *file, hid_t id, const char *dataset,
                               const char *const names[3], double *out)
{
    const double most = 10;
    for (int k = 0; k < 3; k++) {
        int n;
        IO_TRY(io__attribute_read(file, id, dataset, names[k], out, 1, &n));
        if (n == 0) {
            continue;
        }
        if (!(fabs(*out) <= most)) {
            return io__file_fail(file, IO_FORMAT,
                                 "attribute '%s' of %s is %g; expected a small "
                                 "exponent",
                                 names[k], dataset, *out);
        }
        return IO_OK;
    }
    return IO_OK;
}

io_status io__hdf5_exponents(io_file *file, hid_t id, const char *dataset, double *a, double *h)
{
    static const char *const of_a[3] = {"a-scale exponent", "aexp-scale-exponent", "a_scaling"};
    static const char *const of_h[3] = {"h-scale exponent", "h-scale-exponent", "h_scaling"};
    IO_TRY(read_exponent(file, id, dataset, of_a, a));
    return read_exponent(file, id, dataset, of_h, h);
}
