/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups: labels with roles, min_links, ids and velocities against brute force on every context;
 * large sets context against context.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fof/fof_case.h"
#include "differ.h"

/** Arrays beside the coordinates; each is freed by free_extras. */
typedef struct extras {
    int64_t *ids;
    uint8_t *roles;
    double *velocities;
} extras;

/** Velocities of which many differ by the velocity length exactly, so that friends are at the
 *  bound of phase space. */
static double *make_velocities(rng *r, int64_t n, double length)
{
    const int64_t kind = rng_below(r, 3);
    double *v = check_malloc((size_t)(3 * n) * sizeof *v);
    for (int64_t k = 0; k < 3 * n; k++) {
        const double whole = length * (double)(rng_below(r, 3) - 1);
        v[k] = kind == 0   ? length * rng_normal(r)
               : kind == 1 ? (k % 3 == 0 ? whole : 0)
                           : whole / 2;
    }
    return v;
}

static kith_fof_options make_options(rng *r, const differ_input *in, extras *e)
{
    const size_t n = (size_t)in->n + 1;
    kith_fof_options o;
    kith_fof_options_init(&o);
    *e = (extras){.ids = check_malloc(n * sizeof *e->ids), .roles = check_malloc(n)};
    const bool ids = differ_one_in(r, 2), roles = differ_one_in(r, 3);
    for (int64_t p = 0; p < in->n; p++) {
        e->ids[p] = (int64_t)rng_bits(r);
        e->roles[p] = (uint8_t)rng_below(r, 3);
    }
    o.min_members = 1 + rng_below(r, 4);
    o.ids = ids ? e->ids : NULL;
    o.roles = roles ? e->roles : NULL;
    o.min_links = differ_one_in(r, 3) ? rng_below(r, 8) : 0;
    if (differ_one_in(r, 3)) {
        o.velocity_length = differ_one_in(r, 2) ? 0.5 : exp(rng_uniform(r, -3, 3));
        e->velocities = make_velocities(r, in->n, o.velocity_length);
        o.velocities = e->velocities;
    }
    return o;
}

static void free_extras(extras *e)
{
    free(e->ids);
    free(e->roles);
    free(e->velocities);
}

static void compare_contexts(differ *d, const differ_input *in, const kith_points *points,
                             const kith_fof_options *options)
{
    kith_groups groups[DIFFER_MOST_CONTEXTS] = {0};
    for (int k = 0; k < d->contexts; k++) {
        const kith_status status = kith_fof_find(d->ctx[k], points, differ_box(in), in->cutoff,
                                                 options, &groups[k]);
        const kith_groups *a = &groups[0], *b = &groups[k];
        if (CHECK(status == KITH_OK, "%s: %s", kith_backend(d->ctx[k]), kith_message(d->ctx[k]))) {
            CHECK(a->n == b->n && a->points == b->points &&
                      (a->n == 0 ||
                       memcmp(a->members, b->members, (size_t)a->n * sizeof *a->members) == 0) &&
                      (a->points == 0 ||
                       memcmp(a->labels, b->labels, (size_t)a->points * sizeof *a->labels) == 0),
                  "%lld particles: %s finds %lld groups, %s %lld, or others", (long long)in->n,
                  kith_backend(d->ctx[0]), (long long)a->n, kith_backend(d->ctx[k]),
                  (long long)b->n);
        }
    }
    for (int k = 0; k < d->contexts; k++) {
        kith_groups_free(&groups[k]);
    }
}

/** Velocities in the precision of the points. */
static void *rounded_velocities(const differ_input *in, const double *v)
{
    void *out = check_malloc((size_t)(3 * in->n) * (size_t)in->precision);
    for (int64_t k = 0; k < 3 * in->n; k++) {
        if (in->precision == KITH_FLOAT) {
            ((float *)out)[k] = (float)v[k];
        } else {
            ((double *)out)[k] = v[k];
        }
    }
    return out;
}

void differ_fof(differ *d, rng *r)
{
    const differ_wish wish = {
        .most = 200, .larger = 6000, .work = differ_one_in(r, 40) ? 1e6 : 2e5, .reach = 20};
    differ_input in = differ_input_make(r, &wish);
    extras e;
    const kith_fof_options options = make_options(r, &in, &e);
    stored points = stored_make(in.xyz, in.n, in.precision, in.how);
    kith_fof_options asked = options;
    void *velocities = e.velocities ? rounded_velocities(&in, e.velocities) : NULL;
    asked.velocities = velocities;
    d->large += in.large;
    d->ambiguous += in.ambiguous;
    if (in.large || in.ambiguous) {
        compare_contexts(d, &in, &points.points, &asked);
    } else {
        fof_check_form(d->ctx, d->contexts,
                       &(fof_case){.name = "fof",
                                   .xyz = in.xyz,
                                   .n = in.n,
                                   .box = differ_box(&in),
                                   .length = in.cutoff,
                                   .options = options},
                       in.precision, in.how);
    }
    free(velocities);
    stored_free(&points);
    free_extras(&e);
    differ_input_free(&in);
}
