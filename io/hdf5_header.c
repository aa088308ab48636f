/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Headers of HDF5 snapshots. Gadget-2, Gadget-3 and AREPO say all in /Header; Gadget-4 says its
 * cosmology and units in /Parameters, SWIFT in /Cosmology and /Units, EAGLE its units in /Units.
 */
#include "io_hdf5.h"

#include <math.h>
#include <stdio.h>

typedef struct place {
    const char *group, *name;
} place;

enum { PLACES = 4 };
static const place scale_factors[PLACES] = {
    {"Cosmology", "Scale-factor"}, {"Header", "Scale-factor"}, {"Header", "ExpansionFactor"}};
static const place hubbles[PLACES] = {
    {"Header", "HubbleParam"}, {"Parameters", "HubbleParam"}, {"Cosmology", "h"}};
static const place matters[PLACES] = {{"Header", "Omega0"},
                                      {"Header", "Omega_Matter"},
                                      {"Parameters", "Omega0"},
                                      {"Cosmology", "Omega_m"}};
static const place lambdas[PLACES] = {{"Header", "OmegaLambda"},
                                      {"Header", "Omega_Lambda"},
                                      {"Parameters", "OmegaLambda"},
                                      {"Cosmology", "Omega_lambda"}};
static const place baryons[PLACES] = {
    {"Header", "OmegaBaryon"}, {"Parameters", "OmegaBaryon"}, {"Cosmology", "Omega_b"}};
static const place comovings[PLACES] = {{"Cosmology", "Cosmological run"},
                                        {"Parameters", "ComovingIntegrationOn"},
                                        {"Header", "ComovingIntegrationOn"}};
static const place lengths[PLACES] = {{"Units", "Unit length in cgs (U_L)"},
                                      {"Header", "UnitLength_in_cm"},
                                      {"Parameters", "UnitLength_in_cm"},
                                      {"Units", "UnitLength_in_cm"}};
static const place masses[PLACES] = {{"Units", "Unit mass in cgs (U_M)"},
                                     {"Header", "UnitMass_in_g"},
                                     {"Parameters", "UnitMass_in_g"},
                                     {"Units", "UnitMass_in_g"}};
static const place velocities[PLACES] = {{"Header", "UnitVelocity_in_cm_per_s"},
                                         {"Parameters", "UnitVelocity_in_cm_per_s"},
                                         {"Units", "UnitVelocity_in_cm_per_s"}};
static const place times[PLACES] = {{"Units", "Unit time in cgs (U_t)"}};

/** The first of the places that holds a number; 0 when none does. */
static bool find(hid_t id, const place places[PLACES], double *out)
{
    *out = 0;
    for (int k = 0; k < PLACES && places[k].name; k++)
        if (io__attribute_read(id, places[k].group, places[k].name, out, 1) == 1)
            return true;
    return false;
}

bool io__hdf5_is_swift(hid_t file)
{
    double length;
    return io__attribute_read(file, lengths[0].group, lengths[0].name, &length, 1) == 1;
}

/** Read a number of particles of each type; -1 where it is not said. */
static void read_counts(hid_t id, const char *name, int64_t out[IO_MOST_TYPES])
{
    const double most = 0x1p62;
    double counts[IO_MOST_TYPES];
    const int n = io__attribute_read(id, "Header", name, counts, IO_MOST_TYPES);
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        out[type] = n > 0 ? 0 : -1;
        if (type < n)
            out[type] = counts[type] >= 0 && counts[type] < most ? (int64_t)counts[type] : -1;
    }
}

static void read_totals(hid_t id, io_header *out)
{
    int64_t high[IO_MOST_TYPES];
    read_counts(id, "NumPart_Total", out->total);
    read_counts(id, "NumPart_Total_HighWord", high);
    for (int type = 0; type < IO_MOST_TYPES; type++)
        if (out->total[type] >= 0 && high[type] > 0 && high[type] < INT32_MAX)
            out->total[type] += high[type] << 32;
}

static void read_units(hid_t id, io_units *out)
{
    *out = io__units_usual();
    double length, mass, velocity, time;
    const bool known = find(id, lengths, &length) && find(id, masses, &mass);
    if (find(id, times, &time))
        velocity = length / time;
    else if (!find(id, velocities, &velocity))
        return;
    if (known)
        *out = (io_units){.source = IO_UNITS_FILE,
                          .length = length,
                          .mass = mass,
                          .velocity = velocity,
                          .length_h = out->length_h,
                          .mass_h = out->mass_h};
    if (io__hdf5_is_swift(id))
        out->length_h = out->mass_h = 0;
}

/** Files of the snapshot; one when this file shows what is in all of them. */
static int64_t read_files(hid_t id)
{
    double files = 1, is_virtual = 0;
    io__attribute_read(id, "Header", "Virtual", &is_virtual, 1);
    if (io__attribute_read(id, "Header", "NumFilesPerSnapshot", &files, 1) != 1 || is_virtual == 1)
        return 1;
    return files > 0 && files < INT32_MAX ? (int64_t)files : 0;
}

bool io__hdf5_is_snapshot(hid_t file)
{
    int64_t n[IO_MOST_TYPES];
    char name[IO_NAME_LENGTH];
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        snprintf(name, sizeof name, "PartType%d/Coordinates", type);
        if (io__hdf5_exists(file, name))
            return true;
    }
    read_counts(file, "NumPart_ThisFile", n);
    return n[0] >= 0 && read_files(file) > 1;
}

io_status io__hdf5_header(io_file *file, hid_t id, io_header *out)
{
    double comoving;
    io_universe said = {.group = io__hdf5_is_swift(id) ? "Cosmology" : "Header", .comoving = -1};
    *out = (io_header){.files = read_files(id)};
    read_counts(id, "NumPart_ThisFile", out->n);
    read_totals(id, out);
    io__attribute_read(id, "Header", "MassTable", out->mass, IO_MOST_TYPES);
    io__hdf5_box(id, out->box);
    out->has_time = io__attribute_read(id, "Header", "Time", &out->time, 1) == 1;
    io__attribute_read(id, "Header", "Redshift", &out->redshift, 1);
    read_units(id, &out->units);
    if (find(id, comovings, &comoving))
        said.comoving = comoving != 0;
    said.has_a = find(id, scale_factors, &said.a);
    find(id, hubbles, &said.h);
    find(id, matters, &said.omega_m);
    find(id, lambdas, &said.omega_lambda);
    find(id, baryons, &said.omega_b);
    return io__header_cosmology(file, &said, out);
}

/** Read an exponent that is known by several names. */
static io_status read_exponent(io_file *file, hid_t id, const char *dataset,
                               const char *const names[3], double *out)
{
    const double most = 10;
    for (int k = 0; k < 3; k++) {
        if (io__attribute_read(id, dataset, names[k], out, 1) != 1)
            continue;
        if (!(fabs(*out) <= most))
            return io__file_fail(file, IO_FORMAT,
                                 "attribute '%s' of %s is %g; expected a small "
                                 "exponent",
                                 names[k], dataset, *out);
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
