/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions: bins, edges, weights, species, exclusions, nearest images, two sets, forces,
 * against brute force on every context.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../rdf/rdf_case.h"
#include "differ.h"

enum { MOST = 250, MOST_BINS = 4096 };

/** Arrays beside the coordinates, of both sets. */
typedef struct extras {
    int32_t species[2][MOST], molecules[2][MOST], bonds[MOST];
    int64_t bond_offsets[MOST + 1];
    double weights[2][MOST], forces[2][3 * MOST], edges[MOST_BINS + 1];
} extras;

static void make_extras(rng *r, const differ_input *in, int32_t kinds, extras *e)
{
    const int64_t partners = in->other ? in->m : in->n;
    for (int set = 0; set < 2; set++) {
        for (int p = 0; p < MOST; p++) {
            e->species[set][p] = (int32_t)rng_below(r, kinds);
            e->molecules[set][p] = differ_one_in(r, 7) ? -1 : p / 3;
            e->weights[set][p] = rng_uniform(r, -1, 1);
        }
        for (int k = 0; k < 3 * MOST; k++) {
            e->forces[set][k] = rng_normal(r);
        }
    }
    e->bond_offsets[0] = 0;
    for (int p = 0; p < MOST; p++) {
        e->bond_offsets[p + 1] = e->bond_offsets[p] + (partners > 0 && differ_one_in(r, 2));
        e->bonds[e->bond_offsets[p]] = partners > 0 ? (int32_t)rng_below(r, partners) : 0;
    }
}

/** Ascending edges up to r_max: by a power law, or by random steps, which may begin at 0. */
static void make_edges(rng *r, int64_t bins, double r_max, double *edges)
{
    const double power = exp(rng_uniform(r, -1, 2));
    const bool even = differ_one_in(r, 2);
    double sum = even ? 0 : rng_uniform(r, 0, 1);
    for (int64_t k = 0; k <= bins; k++) {
        edges[k] = even ? pow((double)(k + 1) / (double)(bins + 1), power) : sum;
        sum += pow(rng_uniform(r, 0.02, 1), power);
    }
    const double last = edges[bins];
    for (int64_t k = 0; k <= bins; k++) {
        edges[k] = edges[k] / last * r_max;
    }
    if (differ_one_in(r, 2)) {
        edges[0] = 0;
    }
    bool ascending = true;
    for (int64_t k = 0; k < bins; k++) {
        ascending = ascending && edges[k] < edges[k + 1];
    }
    for (int64_t k = 0; k <= bins && !ascending; k++) {
        edges[k] = (double)k * r_max / (double)bins;
    }
}

/** @param exact  forces can be compared with sums in double */
static void set_arrays(rng *r, rdf_case *c, const extras *e, bool exact)
{
    kith_rdf_options *o = &c->options;
    const bool two = c->against != NULL;
    const int64_t what = rng_below(r, 32);
    o->species = what & 1 ? e->species[0] : NULL;
    o->species_against = two && what & 1 ? e->species[1] : NULL;
    o->n_species = what & 1 ? o->n_species : 1;
    o->molecules = what & 2 ? e->molecules[0] : NULL;
    o->molecules_against = two && what & 2 ? e->molecules[1] : NULL;
    o->weights = what & 4 ? e->weights[0] : NULL;
    o->weights_against = two && what & 4 ? e->weights[1] : NULL;
    o->bond_offsets = what & 8 ? e->bond_offsets : NULL;
    o->bonds = what & 8 ? e->bonds : NULL;
    if (what & 16 && exact && o->bins <= 300 && !o->edges && !o->minimum_image) {
        c->forces = e->forces[0];
        c->forces_against = two ? e->forces[1] : NULL;
    }
}

void differ_rdf(differ *d, rng *r)
{
    const bool plain = differ_one_in(r, 4);
    const differ_wish wish = {.most = MOST,
                              .work = differ_one_in(r, 40) ? 1e6 : 3e5,
                              .reach = plain ? 0.9 : 10,
                              .plain = plain};
    differ_input in = differ_input_make(r, &wish);
    extras *e = check_malloc(sizeof *e);
    const int32_t kinds = (int32_t)(1 + rng_below(r, 6));
    make_extras(r, &in, kinds, e);
    rdf_case c = {.name = "rdf", .xyz = in.xyz, .n = in.n, .against = in.other, .m = in.m};
    c.box = differ_box(&in);
    c.options = rdf_linear(1 + rng_below(r, differ_one_in(r, 8) ? MOST_BINS : 80), in.cutoff);
    c.options.n_species = kinds;
    c.options.r_min = differ_one_in(r, 3) ? in.cutoff * rng_uniform(r, 0, 0.9) : 0;
    bool periodic = !in.open && in.straight;
    for (int k = 0; k < in.box.dim; k++) {
        periodic = periodic && in.box.periodic[k];
    }
    c.options.minimum_image = periodic && differ_one_in(r, 3);
    if (differ_one_in(r, 3)) {
        make_edges(r, c.options.bins, in.cutoff, e->edges);
        c.options.edges = e->edges;
    }
    set_arrays(r, &c, e, plain && in.precision == KITH_DOUBLE);
    d->ambiguous += in.ambiguous;
    if (!in.ambiguous) {
        rdf_check_form(d->ctx, d->contexts, &c, in.precision, in.how);
    }
    free(e);
    differ_input_free(&in);
}
