/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of units.
 */
#include "io_internal.h"

#include <math.h>
#include <stdio.h>

typedef struct named_unit {
    const char *name; /* NULL ends a list */
    double size;      /* in cgs */
} named_unit;

/** The name of the one among `known` that this is, else a number. */
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
