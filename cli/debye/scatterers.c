/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scattering amplitude of an element, from the tables of form factors and of neutron scattering
 * lengths.
 */
#include "scatterers.h"

#include <math.h>
#include <string.h>

bool scatterer_find(const char *name, bool neutron, scatterer *out)
{
    *out = (scatterer){0};
    for (const neutron_length *n = neutron_lengths; neutron && *n->name; n++) {
        if (strcmp(n->name, name) == 0) {
            out->length = n->b;
            return true;
        }
    }
    for (const form_factor *f = form_factors; !neutron && *f->name; f++) {
        if (strcmp(f->name, name) == 0) {
            out->xray = f;
            return true;
        }
    }
    return false;
}

double scatterer_at(const scatterer *s, double q)
{
    const form_factor *f = s->xray;
    if (!f) {
        return s->length;
    }
    const double sine = q / (4 * M_PI); /* sin(theta) / wavelength [1/A] */
    double sum = f->c;
    for (int k = 0; k < 5; k++) {
        sum += f->a[k] * exp(-f->b[k] * sine * sine);
    }
    return sum;
}
