/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos: random labels, masses, velocities, types, potentials and spheres. Every context gives the
 * same bits; numbers of members, masses and the marked particle are those of plain sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"

/** What is known of the particles; arrays of n, reals in the precision of the points. */
typedef struct world {
    int64_t n;
    int64_t groups;
    kith_precision precision;
    int32_t *labels;
    uint8_t *types;
    void *masses, *velocities, *marks;
    kith_halo_input input;
} world;

static void *make_reals(rng *r, int64_t n, kith_precision precision, bool mass, bool whole)
{
    void *out = check_malloc((size_t)n * (size_t)precision);
    for (int64_t k = 0; k < n; k++) {
        const double x = mass    ? exp(rng_uniform(r, -3, 3))
                         : whole ? (double)rng_below(r, 4)
                                 : rng_normal(r);
        if (precision == KITH_FLOAT) {
            ((float *)out)[k] = (float)x;
        } else {
            ((double *)out)[k] = x;
        }
    }
    return out;
}

static world make_world(rng *r, const differ_input *in)
{
    world w = {.n = in->n, .precision = in->precision};
    w.groups = in->n > 0 ? rng_below(r, differ_one_in(r, 2) ? in->n + 1 : fmin(5, in->n + 1)) : 0;
    w.labels = check_malloc((size_t)(in->n + 1) * sizeof *w.labels);
    w.types = check_malloc((size_t)in->n + 1);
    for (int64_t p = 0; p < in->n; p++) {
        w.labels[p] = (int32_t)(p < w.groups ? p + 1 : rng_below(r, w.groups + 1));
        w.types[p] = (uint8_t)rng_below(r, KITH_TYPES);
    }
    w.masses = make_reals(r, in->n, in->precision, true, false);
    w.velocities = make_reals(r, 3 * in->n, in->precision, false, false);
    w.marks = make_reals(r, in->n, in->precision, false, true);
    kith_halo_input_init(&w.input);
    const int64_t what = rng_below(r, 64);
    w.input.masses = what & 1 ? w.masses : NULL;
    w.input.velocities = what & 2 ? w.velocities : NULL;
    w.input.types = what & 4 ? w.types : NULL;
    w.input.potentials = what & 8 ? w.marks : NULL;
    w.input.densities = what & 16 ? w.marks : NULL;
    const double size = in->cutoff * in->cutoff * in->cutoff;
    const bool spheres = what & 32 && in->box.dim == 3 && !in->extreme && !in->large;
    for (int t = 0; t < KITH_SPHERES && spheres; t++) {
        w.input.sphere_density[t] = exp(rng_uniform(r, -3, 6)) / size;
    }
    return w;
}

static void free_world(world *w)
{
    free(w->labels);
    free(w->types);
    free(w->masses);
    free(w->velocities);
    free(w->marks);
}

static double real_at(const world *w, const void *data, int64_t k)
{
    return w->precision == KITH_FLOAT ? (double)((const float *)data)[k]
                                      : ((const double *)data)[k];
}

/** Plain sums over the members of one group. */
static void check_halo(const world *w, const kith_halo *halo, int64_t group)
{
    int64_t members = 0, best = -1, of_type[KITH_TYPES] = {0};
    double mass = 0, most = 0;
    const void *marks = w->input.potentials ? w->input.potentials : w->input.densities;
    const double sign = w->input.potentials ? -1 : 1;
    for (int64_t p = 0; p < w->n; p++) {
        if (w->labels[p] != group) {
            continue;
        }
        members++;
        of_type[w->input.types ? w->types[p] : 0]++;
        mass += w->input.masses ? real_at(w, w->masses, p) : 1;
        if (marks && (best < 0 || sign * real_at(w, marks, p) > most)) {
            best = p;
            most = sign * real_at(w, marks, p);
        }
    }
    CHECK(halo->members == members && halo->particle == best, "group %lld: %lld members, %lld",
          (long long)group, (long long)halo->members, (long long)halo->particle);
    CHECK(memcmp(halo->members_of_type, of_type, sizeof of_type) == 0, "group %lld: types",
          (long long)group);
    CHECK(fabs(halo->mass - mass) <= 1e-12 * mass, "group %lld: mass %.17g, expected %.17g",
          (long long)group, halo->mass, mass);
}

void differ_halos(differ *d, rng *r)
{
    const differ_wish wish = {.most = 250, .larger = 20000, .work = 1e12, .reach = 0.4};
    differ_input in = differ_input_make(r, &wish);
    world w = make_world(r, &in);
    stored points = stored_make(in.xyz, in.n, in.precision, in.how);
    const kith_groups groups = {.n = w.groups, .points = in.n, .labels = w.labels};
    kith_halos halos[DIFFER_MOST_CONTEXTS] = {0};
    d->large += in.large;
    for (int k = 0; k < d->contexts; k++) {
        const kith_status status = kith_halos_measure(d->ctx[k], &points.points, differ_box(&in),
                                                      &groups, &w.input, &halos[k]);
        if (!CHECK(status == KITH_OK && halos[k].n == w.groups, "%s: %s", kith_backend(d->ctx[k]),
                   kith_message(d->ctx[k]))) {
            break;
        }
        CHECK(w.groups == 0 ||
                  memcmp(halos[0].halo, halos[k].halo, (size_t)w.groups * sizeof(kith_halo)) == 0,
              "other bits of %s than of %s", kith_backend(d->ctx[k]), kith_backend(d->ctx[0]));
        for (int64_t g = 0; g < w.groups && k == 0 && !in.large; g++) {
            check_halo(&w, &halos[0].halo[g], g + 1);
        }
    }
    for (int k = 0; k < d->contexts; k++) {
        kith_halos_free(&halos[k]);
    }
    stored_free(&points);
    free_world(&w);
    differ_input_free(&in);
}
