/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scattering amplitudes: X-ray form factors of elements and ions, and neutron scattering lengths of
 * elements.
 */
#ifndef KITH_CLI_SCATTERERS_H
#define KITH_CLI_SCATTERERS_H

#include <stdbool.h>

/** X-ray form factor f(q) = sum_i a_i exp(-b_i (q / 4 pi)^2) + c in electrons; the fit holds for q
 *  up to 75/A. */
typedef struct form_factor {
    char name[8];         /**< "Fe", "Fe3+"; the last of a table has "" */
    double a[5], c, b[5]; /**< a, c [electrons], b [A^2] */
} form_factor;

/** Coherent scattering length of an element. */
typedef struct neutron_length {
    char name[4]; /**< "Fe"; the last of a table has "" */
    double b;     /**< scattering length [fm] */
} neutron_length;

/* Tables, each ended by an entry with the name "". */
extern const form_factor form_factors[];
extern const neutron_length neutron_lengths[];

/** How an element scatters. */
typedef struct scatterer {
    const form_factor *xray; /**< X-ray form factor; NULL: neutrons */
    double length;           /**< neutron scattering length [fm]; 0 for X-rays */
} scatterer;

/** Find an element by name, or for X-rays also an ion. Upper and lower case differ.
 *  @param[out] out  its amplitude, for scatterer_at
 *  @return false when the table has no entry of that name */
bool scatterer_find(const char *name, bool neutron, scatterer *out);

/** Return the scattering amplitude at q [1/A]: for X-rays in electrons, for neutrons in fm. */
double scatterer_at(const scatterer *s, double q);

#endif
