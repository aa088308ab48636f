/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What scatters: X-ray form factors and neutron scattering lengths by element.
 */
#ifndef KITH_CLI_SCATTERERS_H
#define KITH_CLI_SCATTERERS_H

#include <stdbool.h>

/** f(q) = sum_i a_i exp(-b_i (q / 4 pi)^2) + c in electrons, q in 1/A up to 75. */
typedef struct form_factor {
    char name[8]; /**< "Fe", "Fe3+"; the last is "" */
    double a[5], c, b[5];
} form_factor;

typedef struct neutron_length {
    char name[4]; /**< the last is "" */
    double b;     /**< [fm] */
} neutron_length;

extern const form_factor form_factors[];
extern const neutron_length neutron_lengths[];

typedef struct scatterer {
    const form_factor *xray; /**< NULL: the length alone */
    double length;
} scatterer;

/** Find an element, with X-rays also an ion. @return false: there is none of this name. */
bool scatterer_find(const char *name, bool neutron, scatterer *out);

/** What it scatters at q [1/A]. */
double scatterer_at(const scatterer *s, double q);

#endif
