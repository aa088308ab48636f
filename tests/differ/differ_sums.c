/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums that have a tolerance, Debye's and those over plane waves, and counts of overlaps: against
 * brute force; among CPUs to the last bit.
 */
#include <kith/debye.h>
#include <kith/overlap.h>
#include <kith/waves.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../overlap/overlap_case.h"
#include "differ.h"
#include "oracle.h"

enum { MOST = 300, KINDS = 3, MOST_Q = 90, PARTIALS = KINDS * (KINDS + 1) / 2, WAVES = 40 };

/** CPUs give the first one's bits; every context is within the error of the right sums. */
static void compare(const differ *d, int k, const char *what, double *const *sums,
                    const double *right, const double *error, int64_t n)
{
    const char *name = kith_backend(d->ctx[k]);
    for (int64_t at = 0; at < n; at++) {
        if (!CHECK(fabs(sums[k][at] - right[at]) <= error[at],
                   "%s, %s: sum %lld is %.17g, expected %.17g", what, name, (long long)at,
                   sums[k][at], right[at])) {
            return;
        }
    }
    for (int first = 0; first < k; first++) {
        if (differ_is_cpu(d->ctx[first]) && differ_is_cpu(d->ctx[k])) {
            CHECK(memcmp(sums[first], sums[k], (size_t)n * sizeof *right) == 0,
                  "%s: other bits of %s than of %s", what, name, kith_backend(d->ctx[first]));
            return;
        }
    }
}

static double *zeros(int64_t n)
{
    double *x = check_malloc((size_t)n * sizeof *x);
    memset(x, 0, (size_t)n * sizeof *x);
    return x;
}

/* ------------------------------------------------------------------------------------- Debye */

static void right_debye(const kith_points *points, const kith_debye_options *o, double *right,
                        double *error)
{
    static const int row[KINDS] = {0, KINDS, 2 * KINDS - 1};
    for (int64_t i = 0; i < points->n; i++) {
        for (int64_t j = i + 1; j < points->n; j++) {
            const int s = o->species ? o->species[i] : 0, t = o->species ? o->species[j] : 0;
            const int a = s < t ? s : t, b = s + t - a;
            double r2 = 0, size = 0;
            for (int k = 0; k < 3; k++) {
                const double x = points_get(points, i, k), y = points_get(points, j, k);
                r2 += (y - x) * (y - x);
                size += fabs(x) + fabs(y);
            }
            for (int64_t q = 0; q < o->n_q; q++) {
                const double x = (o->q_min + (double)q * o->q_width) * sqrt(r2);
                const int64_t at = (row[a] + b - a) * o->n_q + q;
                right[at] += x > 0 ? sin(x) / x : 1;
                error[at] += 1e-11 + 1e-13 * size * (o->q_min + (double)q * o->q_width);
            }
        }
    }
}

void differ_debye(differ *d, rng *r)
{
    const differ_wish wish = {
        .most = differ_one_in(r, 8) ? MOST : 60, .work = 1e9, .reach = 1, .plain = true};
    differ_input in = differ_input_make(r, &wish);
    for (int64_t k = 2; k < 3 * in.n && in.box.dim == 2; k += 3) {
        in.xyz[k] = 0;
    }
    stored points = stored_make(in.xyz, in.n, in.precision, in.how);
    int32_t species[MOST];
    for (int64_t p = 0; p < in.n; p++) {
        species[p] = (int32_t)rng_below(r, KINDS);
    }
    kith_debye_options o;
    kith_debye_options_init(&o);
    o.n_q = 1 + rng_below(r, MOST_Q);
    o.q_min = differ_one_in(r, 2) ? 0 : rng_uniform(r, 0, 5);
    o.q_width = exp(rng_uniform(r, -4, 2));
    o.species = differ_one_in(r, 2) ? species : NULL;
    o.n_species = o.species ? KINDS : 1;
    double right[PARTIALS * MOST_Q] = {0}, error[PARTIALS * MOST_Q] = {0};
    const int64_t n = o.n_q * (o.species ? PARTIALS : 1);
    right_debye(&points.points, &o, right, error);
    double *sums[DIFFER_MOST_CONTEXTS];
    for (int k = 0; k < d->contexts; k++) {
        sums[k] = zeros(n);
        if (CHECK(kith_debye_sum(d->ctx[k], &points.points, &o, sums[k]) == KITH_OK, "%s",
                  kith_message(d->ctx[k]))) {
            compare(d, k, "Debye", sums, right, error, n);
        }
    }
    for (int k = 0; k < d->contexts; k++) {
        free(sums[k]);
    }
    stored_free(&points);
    differ_input_free(&in);
}

/* ------------------------------------------------------------------------------------- waves */

/** Sums over the particles as they are given: whole boxes do not change a phase. */
static void right_waves(const differ_input *in, const kith_points *points, const kith_waves *w,
                        double *right, double *error)
{
    const double two_pi = 6.283185307179586;
    const double epsilon = in->precision == KITH_FLOAT ? 1e-5 : 1e-13;
    for (int64_t p = 0; p < points->n; p++) {
        double x[3] = {0, 0, 0}, f[3], far = 1;
        for (int k = 0; k < in->box.dim; k++) {
            x[k] = points_get(points, p, k);
        }
        oracle_fractions(&in->box, in->precision, x, f);
        for (int k = 0; k < 3; k++) {
            far = fmax(far, fabs(f[k]));
        }
        for (int64_t at = 0; at < w->n; at++) {
            const int32_t *hkl = w->hkl + 3 * at;
            const double turns = hkl[0] * f[0] + hkl[1] * f[1] + hkl[2] * f[2];
            const int64_t sum = 2 * (at * w->n_species + (w->species ? w->species[p] : 0));
            const double order = 1 + abs(hkl[0]) + abs(hkl[1]) + abs(hkl[2]);
            /* wrapping rounds coordinates that are outside the box */
            const double off = order * (far > 1 ? far * epsilon * 50 : 1e-12) / 1e-3;
            right[sum] += cos(two_pi * (turns - rint(turns)));
            right[sum + 1] += sin(two_pi * (turns - rint(turns)));
            error[sum] += off;
            error[sum + 1] += off;
        }
    }
}

static kith_waves make_waves(rng *r, const differ_input *in, const int32_t *species, int32_t *hkl)
{
    kith_waves w;
    kith_waves_init(&w);
    w.n = rng_below(r, WAVES + 1);
    const int32_t most = (int32_t)(1 + rng_below(r, differ_one_in(r, 4) ? 200 : 12));
    for (int64_t at = 0; at < 3 * w.n; at++) {
        const int32_t power = (int32_t)rng_below(r, 2 * (int64_t)most + 1) - most;
        hkl[at] = at % 3 < in->box.dim && in->box.periodic[at % 3] ? power : 0;
    }
    w.hkl = hkl;
    w.species = differ_one_in(r, 2) ? species : NULL;
    w.n_species = w.species ? KINDS : 1;
    return w;
}

void differ_waves(differ *d, rng *r)
{
    const differ_wish wish = {.most = MOST, .work = 1e9, .reach = 1, .plain = true};
    differ_input in = differ_input_make(r, &wish);
    for (int k = 0; k < 3; k++) {
        in.open = in.open || (k < in.box.dim && !in.box.periodic[k] && in.box.row[k][k] == 0);
    }
    int32_t species[MOST], hkl[3 * WAVES];
    for (int64_t p = 0; p < in.n; p++) {
        species[p] = (int32_t)rng_below(r, KINDS);
    }
    const kith_waves w = make_waves(r, &in, species, hkl);
    stored points = stored_make(in.xyz, in.n, in.precision, in.how);
    double right[2 * KINDS * WAVES] = {0}, error[2 * KINDS * WAVES] = {0};
    double *sums[DIFFER_MOST_CONTEXTS];
    right_waves(&in, &points.points, &w, right, error);
    for (int k = 0; k < d->contexts; k++) {
        sums[k] = zeros(2 * KINDS * WAVES);
        if (!in.open &&
            CHECK(kith_waves_sum(d->ctx[k], &points.points, &in.box, &w, sums[k]) == KITH_OK, "%s",
                  kith_message(d->ctx[k]))) {
            compare(d, k, "waves", sums, right, error, 2 * w.n_species * w.n);
        }
    }
    for (int k = 0; k < d->contexts; k++) {
        free(sums[k]);
    }
    stored_free(&points);
    differ_input_free(&in);
}

/* ---------------------------------------------------------------------------------- overlaps */

static void check_counts(const differ *d, const overlap_case *c, const kith_overlap_options *o)
{
    const kith_replicas *x = &c->replicas;
    double *centred = o->subtract_mean ? overlap_case_centred(c) : NULL;
    int64_t *right = check_malloc((size_t)o->bins * sizeof *right);
    for (int k = 0; k < d->contexts; k++) {
        kith_overlaps found = {0};
        const kith_status status = kith_overlap_count(d->ctx[k], x, o, &found);
        if (status == KITH_INVALID && strstr(kith_message(d->ctx[k]), "no cosine")) {
            kith_overlaps_free(&found);
            break; /* a zero vector; all contexts check their arguments alike */
        }
        if (CHECK(status == KITH_OK, "%s: %s", kith_backend(d->ctx[k]), kith_message(d->ctx[k]))) {
            if (k == 0) {
                overlap_case_count(centred ? centred : c->numbers, x->n, x->dim, o->measure,
                                   found.edges, found.bins, right);
            }
            CHECK(memcmp(found.counts, right, (size_t)o->bins * sizeof *right) == 0,
                  "%s: %lld replicas of %lld, type %d, measure %d: other counts",
                  kith_backend(d->ctx[k]), (long long)x->n, (long long)x->dim, x->type,
                  (int)o->measure);
        }
        kith_overlaps_free(&found);
    }
    free(right);
    free(centred);
}

/** Some rows of the matrix, which are values by the definition. */
static void check_rows(const differ *d, rng *r, const overlap_case *c,
                       const kith_overlap_options *o)
{
    const kith_replicas *x = &c->replicas;
    const int64_t first = rng_below(r, x->n), rows = rng_below(r, fmin(9, x->n - first) + 1);
    double *centred = o->subtract_mean ? overlap_case_centred(c) : NULL;
    const double *numbers = centred ? centred : c->numbers;
    double *matrix = zeros(rows * x->n);
    for (int k = 0; k < d->contexts; k++) {
        if (kith_overlap_rows(d->ctx[k], x, o, first, rows, matrix) != KITH_OK) {
            CHECK(strstr(kith_message(d->ctx[k]), "cosine"), "%s", kith_message(d->ctx[k]));
            break;
        }
        int64_t wrong = 0;
        for (int64_t at = 0; at < rows * x->n; at++) {
            const double *a = numbers + (first + at / x->n) * x->dim;
            const double *b = numbers + at % x->n * x->dim;
            wrong += matrix[at] != overlap_case_value(a, b, x->dim, o->measure);
        }
        CHECK(wrong == 0, "%s: rows %lld to %lld: %lld wrong", kith_backend(d->ctx[k]),
              (long long)first, (long long)(first + rows), (long long)wrong);
    }
    free(matrix);
    free(centred);
}

void differ_overlap(differ *d, rng *r)
{
    static const int types[] = {KITH_FLOAT, KITH_DOUBLE, KITH_BITS};
    const overlap_kind kind = (overlap_kind)rng_below(r, OVERLAP_KINDS);
    const int type = types[rng_below(r, kind == OVERLAP_SPINS ? 3 : 2)];
    const int64_t n = 2 + rng_below(r, differ_one_in(r, 8) ? 300 : 60);
    const int64_t dim = 1 + rng_below(r, differ_one_in(r, 4) ? 300 : 40);
    overlap_case c = overlap_case_make(r, kind, n, dim, type, rng_below(r, 4));
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    o.measure = (kith_overlap_measure)rng_below(r, 3);
    o.subtract_mean = type != KITH_BITS && differ_one_in(r, 2);
    o.bins = 1 + rng_below(r, differ_one_in(r, 6) ? 100000 : 300);
    if (differ_one_in(r, 4)) {
        o.low = rng_uniform(r, -2, 0.5);
        o.high = o.low + exp(rng_uniform(r, -3, 3));
    }
    check_counts(d, &c, &o);
    check_rows(d, r, &c, &o);
    overlap_case_free(&c);
}
