/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks on the headers of snapshots: numbers must be within bounds, and the headers of the files
 * of one snapshot must be equal. Cosmology: whether a run is comoving, and its parameters.
 */
#include "io_internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/** Return IO_FORMAT if a cosmological parameter is out of bounds: the header is wrong. */
static io_status check_bounds(io_file *file, const io_universe *given)
{
    const struct {
        const char *name;
        double value, low, high;
        const char *expected;
    } numbers[] = {
        {"the scale factor", given->a, 1e-6, 1e6, "a number above 0, 1 today"},
        {"the Hubble parameter", given->h, 1e-2, 1e1,
         "the Hubble constant over 100 km/s/Mpc, for example 0.7"},
        {"Omega of matter", given->omega_m, 1e-6, 1e2, "a number like 0.3"},
        {"Omega of the cosmological constant", given->omega_lambda, -1e2, 1e2, "a number like 0.7"},
        {"Omega of baryons", given->omega_b, 0, given->omega_m, "at most that of matter"},
    };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        if (!(numbers[k].value >= numbers[k].low && numbers[k].value <= numbers[k].high)) {
            return io__file_fail(file, IO_FORMAT,
                                 "%s in %s is %g; expected %s. Correct the header, or write the "
                                 "positions to .npy",
                                 numbers[k].name, given->group, numbers[k].value,
                                 numbers[k].expected);
        }
    }
    return IO_OK;
}

io_status io__header_cosmology(io_file *file, const io_universe *given, io_header *header)
{
    const double tolerance = 1e-3; /* of a (1 + z) = 1: headers may hold a rounded redshift */
    io_universe u = *given;
    if (!u.has_a) {
        u.a = header->time;
    }
    const bool agree = fabs(u.a * (1 + header->redshift) - 1) <= tolerance;
    /* A run that is not comoving has a redshift of 0, and any time. */
    if (u.comoving != 0 && u.omega_m > 0 && header->redshift != 0 && !agree) {
        return io__file_fail(file, IO_FORMAT,
                             "redshift %g in %s, but scale factor %g; expected 1 / (1 + "
                             "redshift) = %g. Correct the header, or write the positions to "
                             ".npy",
                             header->redshift, u.group, u.a, 1 / (1 + header->redshift));
    }
    if (u.comoving < 0) { /* a run without cosmology has an Omega of 0, or no redshift and no h */
        u.comoving = agree && u.omega_m != 0 && !(header->redshift == 0 && u.h == 0);
    }
    if (!u.comoving) {
        header->units.length_h = header->units.mass_h = 0;
        if (header->units.source == IO_UNITS_USUAL) {
            header->units = (io_units){0};
        }
        return IO_OK;
    }
    IO_TRY(check_bounds(file, &u));
    header->cosmology = (io_cosmology){.known = true,
                                       .a = u.a,
                                       .redshift = 1 / u.a - 1,
                                       .h = u.h,
                                       .omega_m = u.omega_m,
                                       .omega_lambda = u.omega_lambda,
                                       .omega_b = u.omega_b};
    return IO_OK;
}

io_status io__header_check(io_file *file, const io_header *header)
{
    enum { MOST_FILES = 1000000 }; /* more than any run writes: the number is damaged */
    if (header->files < 1 || header->files > MOST_FILES) {
        return io__file_fail(file, IO_FORMAT, "is one of %lld files; expected 1 to %d",
                             (long long)header->files, MOST_FILES);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (!isfinite(header->box[axis]) || header->box[axis] < 0) {
            return io__file_fail(file, IO_FORMAT, "Header/BoxSize is %g; expected a length",
                                 header->box[axis]);
        }
    }
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (!isfinite(header->mass[type]) || header->mass[type] < 0) {
            return io__file_fail(file, IO_FORMAT,
                                 "the mass of PartType%d in the header is %g; expected 0 or more",
                                 type, header->mass[type]);
        }
        if (header->n[type] < 0) {
            return io__file_fail(file, IO_FORMAT,
                                 "the header counts %lld particles of PartType%d; expected 0 or "
                                 "more",
                                 (long long)header->n[type], type);
        }
    }
    const io_units *units = &header->units;
    if (units->source != IO_UNITS_NONE &&
        !(isnormal(units->length) && isnormal(units->mass) && isnormal(units->velocity) &&
          units->length > 0 && units->mass > 0 && units->velocity > 0)) {
        return io__file_fail(file, IO_FORMAT,
                             "units of %g cm, %g g and %g cm/s; expected numbers above 0",
                             units->length, units->mass, units->velocity);
    }
    return IO_OK;
}

io_status io__header_same(io_file *file, const io_header *header, const io_header *other,
                          const char *other_path)
{
#define AT(member) offsetof(io_header, member)
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {{"time", AT(time)},
                   {"redshift", AT(redshift)},
                   {"box along x", AT(box[0])},
                   {"box along y", AT(box[1])},
                   {"box along z", AT(box[2])},
                   {"Hubble parameter", AT(cosmology.h)},
                   {"Omega of matter", AT(cosmology.omega_m)},
                   {"Omega of the cosmological constant", AT(cosmology.omega_lambda)},
                   {"unit of length in cm", AT(units.length)},
                   {"unit of mass in g", AT(units.mass)},
                   {"unit of velocity in cm/s", AT(units.velocity)}};
#undef AT
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        double here, there;
        memcpy(&here, (const char *)header + numbers[k].offset, sizeof here);
        memcpy(&there, (const char *)other + numbers[k].offset, sizeof there);
        if (here != there) {
            return io__file_fail(file, IO_FORMAT,
                                 "%s %g, but %g in %s; expected files of one snapshot",
                                 numbers[k].name, here, there, other_path);
        }
    }
    if (header->files != other->files) {
        return io__file_fail(file, IO_FORMAT,
                             "is one of %lld files, but %s one of %lld; expected files of one "
                             "snapshot",
                             (long long)header->files, other_path, (long long)other->files);
    }
    for (int type = 0; type < IO_MOST_TYPES; type++) {
        if (header->total[type] != other->total[type]) {
            return io__file_fail(file, IO_FORMAT,
                                 "counts %lld particles of PartType%d in all files, but %s counts "
                                 "%lld; expected files of one snapshot",
                                 (long long)header->total[type], type, other_path,
                                 (long long)other->total[type]);
        }
        if (header->mass[type] != other->mass[type]) {
            return io__file_fail(file, IO_FORMAT,
                                 "has particles of PartType%d of mass %g, but %g in %s; expected "
                                 "files of one snapshot",
                                 type, header->mass[type], other->mass[type], other_path);
        }
    }
    return IO_OK;
}

kith_box io__header_box(const io_header *header, bool *has_box)
{
    const double *length = header->box;
    *has_box = length[0] > 0 && length[1] > 0 && length[2] > 0; /* 0: Gadget's open space */
    return *has_box ? io__box_periodic(length) : io__box_open();
}
