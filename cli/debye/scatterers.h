/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What scatters: X-ray form factors and neutron scattering lengths by element.
 */
#ifndef KITH_CLI_SCATTERERS_H
#define KITH_CLI_SCATTERERS_H

#include <stdbool.h>

/** f(q) = sum_i a_i exp(-b_i (q / 4 pi)^2) + c in electrons, q in 1/A up to 75. */
typedef struct form_factor {
    char name[8];         /**< "Fe", "Fe3+"; the last of a table has "" */
    double a[5], c, b[5]; /**< a, c [electrons], b [A^2] */
} form_factor;

/** Coherent scattering length of an element. */
typedef struct neutron_length {
    char name[4]; /**< "Fe"; the last of a table has "" */
    double b;     /**< scattering length [fm] */
} neutron_length;

extern const form_factor form_factors[];
extern const neutron_length neutron_lengths[];

/** How an element scatters. */
typedef struct scatterer {
    const form_factor *xray; /**< X-ray form factor; NULL: neutrons */
    double length;           /**< neutron scattering length [fm]; 0 for X-rays */
} scatterer;

/** Find an element by name, for X-rays also an ion. @return false: the name is not known */
bool scatterer_find(const char *name, bool neutron, scatterer *out);

/** Scattering amplitude at q [1/A]: electrons, or fm. */
double scatterer_at(const scatterer *s, double q);

#endif
