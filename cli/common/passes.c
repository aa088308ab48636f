/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Passes over the particles of a share: ranges, comparisons and sums.
 */
#include "passes.h"

#include <math.h>

/** Extend the range of the coordinates along each row of the box. */
static void extend(pass *p, const io_particles *in)
{
    for (int64_t q = 0; q < in->n; q++) {
        double x[3];
        for (int axis = 0; axis < 3; axis++) {
            x[axis] = io_real(in->pos, 3 * q + axis, in->precision) - p->origin[axis];
        }
        for (int k = 0; k < p->dim; k++) {
            const double *normal = p->normal[k];
            const double at = normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2];
            p->low[k] = fmin(p->low[k], at);
            p->high[k] = fmax(p->high[k], at);
        }
    }
}

/** Find out whether the numbers of a field differ. @param data  [n]; NULL: no field */
static void compare(pass *p, int field, const void *data, int64_t n, kith_precision precision)
{
    for (int64_t k = 0; k < n && data && !p->differs[field]; k++) {
        const double number = io_real(data, k, precision);
        p->differs[field] = p->any[field] && number != p->first[field];
        p->first[field] = p->any[field] ? p->first[field] : number;
        p->any[field] = true;
    }
}

/** Compare the fields, and count particles and masses by type. */
static void survey(pass *p, const io_particles *in)
{
    compare(p, PASS_MASS, in->mass, in->n, in->precision);
    compare(p, PASS_VELOCITY, in->velocity, 3 * in->n, in->precision);
    compare(p, PASS_POTENTIAL, in->potential, in->n, in->precision);
    compare(p, PASS_DENSITY, in->density, in->n, in->precision);
    for (int64_t k = 0; k < in->n && in->type; k++) {
        const int type = in->type[k];
        p->first_of_type[type] = p->n_of_type[type] == 0 ? in->first + k : p->first_of_type[type];
        p->n_of_type[type]++;
    }
    for (int64_t k = 0; k < in->n && in->mass; k++) {
        const int dark = 1; /* particles without types count as dark matter */
        const double mass = io_real(in->mass, k, in->precision);
        p->mass_of_type[in->type ? in->type[k] : dark] += mass;
        if (!p->bad && !(isfinite(mass) && mass > 0)) {
            p->bad = true;
            p->bad_particle = in->first + k;
            p->bad_mass = mass;
        }
    }
}

/** Return true when the types of a pass count a particle. */
static bool counts(const pass *p, const io_particles *in, int64_t k)
{
    return !in->type || p->types[in->type[k]];
}

static void range_masses(pass *p, const io_particles *in)
{
    for (int64_t k = 0; k < in->n; k++) {
        if (counts(p, in, k)) {
            p->least = fmin(p->least, io_real(in->mass, k, in->precision));
            p->most = fmax(p->most, io_real(in->mass, k, in->precision));
        }
    }
}

static void sum_velocities(pass *p, const io_particles *in)
{
    for (int k = 0; k < p->dim; k++) {
        for (int64_t q = 0; q < in->n; q++) {
            const double v = io_real(in->velocity, 3 * q + k, in->precision) - p->mean[k];
            p->sum[k] += counts(p, in, q) ? (p->squares ? v * v : v) : 0;
        }
    }
}

void pass_over(pass *p, const io_particles *share)
{
    switch (p->kind) {
    case PASS_EXTENT: extend(p, share); break;
    case PASS_FIELDS: survey(p, share); break;
    case PASS_MASSES: range_masses(p, share); break;
    case PASS_VELOCITIES: sum_velocities(p, share); break;
    }
}
