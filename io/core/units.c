/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Units: the usual ones of Gadget, the names that a report gives to units of length, mass and
 * velocity, and the names that files of trajectories give to their unit of length.
 */
#include "trajectories/frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

io_units io__units_usual(void)
{
    return (io_units){.source = IO_UNITS_USUAL,
                      .length = 3.085678e21, /* 1 kpc, as Gadget has it */
                      .mass = 1.989e43,      /* 1e10 solar masses */
                      .velocity = 1e5,       /* 1 km/s */
                      .length_h = -1,
                      .mass_h = -1};
}

/** A unit that has a name. */
typedef struct named_unit {
    const char *name; /* name of the unit; NULL ends a list */
    double size;      /* size of the unit [cgs] */
} named_unit;

/** Name a unit of this size and power of h: by the list `known`, else by a number in cgs.
 *  @param[out] out    the name: "kpc/h", "3.1e+21 cm"
 *  @param size        size of the unit [cgs]
 *  @param known       units that have a name
 *  @param cgs         name of the cgs unit
 *  @param h_exponent  exponent of h in numbers of this unit (io_units) */
static void name_unit(char out[IO_NAME_LENGTH], double size, const named_unit *known,
                      const char *cgs, double h_exponent)
{
    const double tolerance = 1e-3; /* codes differ in the length of a parsec */
    char h[24] = "";
    if (h_exponent == -1) {
        snprintf(h, sizeof h, "/h");
    } else if (h_exponent != 0) {
        snprintf(h, sizeof h, " h^%g", h_exponent);
    }
    while (known->name && !(fabs(size / known->size - 1) < tolerance)) {
        known++;
    }
    if (known->name) {
        snprintf(out, IO_NAME_LENGTH, "%s%s", known->name, h);
    } else {
        snprintf(out, IO_NAME_LENGTH, "%.7g %s%s", size, cgs, h);
    }
}

void io_unit_names(const io_units *units, io_unit_name *out)
{
    static const named_unit lengths[] = {
        {"pc", 3.0857e18}, {"kpc", 3.0857e21}, {"Mpc", 3.0857e24}, {NULL, 0}};
    static const named_unit masses[] = {
        {"Msun", 1.9885e33}, {"1e5 Msun", 1.9885e38}, {"1e10 Msun", 1.9885e43}, {NULL, 0}};
    static const named_unit velocities[] = {{"km/s", 1e5}, {NULL, 0}};
    *out = (io_unit_name){{0}, {0}, {0}};
    if (units->source == IO_UNITS_NONE) {
        return;
    }
    name_unit(out->length, units->length, lengths, "cm", units->length_h);
    name_unit(out->mass, units->mass, masses, "g", units->mass_h);
    name_unit(out->velocity, units->velocity, velocities, "cm/s", 0);
}

/** A name of a unit, or of a system of units, in a file. */
typedef struct unit_name {
    const char *name; /* name in the file */
    const char *unit; /* unit of length in io_frame.unit */
} unit_name;

/* Names are compared without case. Those that have no entry stay as they are. \xc3\x85 is the
 * letter A with a ring in UTF-8, \xe2\x84\xab the sign of the angstrom. */
void io__frames_unit(const char *name, char out[IO_NAME_LENGTH])
{
    static const unit_name known[] = {{"angstrom", "A"}, {"angstroms", "A"},    {"ang", "A"},
                                      {"\xc3\x85", "A"}, {"\xe2\x84\xab", "A"}, {"nanometer", "nm"},
                                      {"NM", "nm"}};
    const char *unit = name;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcasecmp(name, known[k].name) == 0) {
            unit = known[k].unit;
        }
    }
    io__copy_name(out, IO_NAME_LENGTH, unit, strlen(unit));
}

/* The styles of the command `units` of LAMMPS, with their units of length. */
void io__frames_system(io_frames *frames, const char *name)
{
    static const unit_name known[] = {{"lj", "sigma"},      {"real", "A"}, {"metal", "A"},
                                      {"si", "m"},          {"cgs", "cm"}, {"micro", "um"},
                                      {"electron", "Bohr"}, {"nano", "nm"}};
    frames->unit[0] = frames->system[0] = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(name, known[k].name) == 0) {
            snprintf(frames->unit, sizeof frames->unit, "%s", known[k].unit);
            snprintf(frames->system, sizeof frames->system, "%s", known[k].name);
        }
    }
}
