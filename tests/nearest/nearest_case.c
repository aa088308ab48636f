/* SPDX-License-Identifier: BSD-3-Clause */
#include "nearest_case.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

static kith_box random_box(rng *r, int dim)
{
    const double side = exp(rng_uniform(r, -2, 3));
    kith_box box = {.dim = dim};
    const bool skewed = rng_below(r, 2);
    for (int k = 0; k < dim; k++) {
        box.origin[k] = rng_uniform(r, -side, side);
        box.row[k][k] = side * rng_uniform(r, 0.4, 1.6);
        for (int m = 0; m < dim && skewed; m++) {
            box.row[k][m] += k == m ? 0 : side * rng_uniform(r, -0.9, 0.9);
        }
        box.periodic[k] = rng_below(r, 4) > 0;
    }
    return box;
}

/** Random points: uniform in the box, in clusters, on a lattice of few places, all equal, or
 *  uniform but for half of them, which are equal. */
static double *random_points(rng *r, int64_t n, const kith_box *box)
{
    const int64_t kind = rng_below(r, 6);
    double *xyz = points_in_box(r, n, box);
    for (int64_t p = 0; p < n && kind >= 2; p++) {
        if (kind == 5 && rng_below(r, 2)) {
            continue;
        }
        for (int m = 0; m < 3; m++) {
            double sum = box->origin[m]; /* no coordinate is on a face: see oracle_margin */
            for (int k = 0; k < box->dim; k++) {
                const double f = kind == 2   ? (double)(1 + 2 * rng_below(r, 4)) / 8
                                 : kind == 3 ? 0.3 + 0.01 * rng_normal(r)
                                             : 0.375;
                sum += f * box->row[k][m];
            }
            xyz[3 * p + m] = m < box->dim ? sum : 0;
        }
    }
    return xyz;
}

nearest_input nearest_random(rng *r)
{
    static const int64_t sizes[] = {0, 1, 2, 5, 31, 32, 33, 64, 65, 100, 300};
    static const int64_t many[] = {1, 2, 3, 8, 16, 33, 70, 150};
    nearest_input in = {.n = sizes[rng_below(r, 11)],
                        .m = rng_below(r, 3) ? -1 : sizes[rng_below(r, 11)],
                        .k = many[rng_below(r, 8)]};
    in.box = random_box(r, rng_below(r, 4) ? 3 : 2);
    in.xyz = random_points(r, in.n, &in.box);
    in.against = in.m >= 0 ? random_points(r, in.m, &in.box) : NULL;
    if (rng_below(r, 2)) {
        points_drift(r, in.xyz, in.n, &in.box, 3);
    }
    double height[3];
    in.least = INFINITY;
    oracle_heights(&in.box, KITH_DOUBLE, height);
    for (int k = 0; k < in.box.dim; k++) {
        in.least = height[k] < in.least ? height[k] : in.least;
    }
    in.cutoff = rng_below(r, 3) ? 0 : in.least * rng_uniform(r, 0.05, 1.5);
    snprintf(in.name, sizeof in.name,
             "%dD, n %lld, against %lld, k %lld, cutoff %g, periodic %d%d%d", in.box.dim,
             (long long)in.n, (long long)in.m, (long long)in.k, in.cutoff, in.box.periodic[0],
             in.box.periodic[1], in.box.periodic[2]);
    return in;
}

void nearest_input_free(nearest_input *in)
{
    free(in->xyz);
    free(in->against);
}

static int by_distance(const void *a, const void *b)
{
    const oracle_pair *p = a, *q = b;
    if (p->i != q->i) {
        return p->i < q->i ? -1 : 1;
    }
    if (p->r2 != q->r2) {
        return p->r2 < q->r2 ? -1 : 1;
    }
    if (p->j != q->j) {
        return p->j < q->j ? -1 : 1;
    }
    for (int k = 2; k >= 0; k--) {
        if (p->shift[k] != q->shift[k]) {
            return p->shift[k] < q->shift[k] ? -1 : 1;
        }
    }
    return 0;
}

void nearest_sort(oracle_list *list)
{
    if (list->n > 0) {
        qsort(list->pairs, (size_t)list->n, sizeof *list->pairs, by_distance);
    }
}

static double real_at(const void *data, int64_t at, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)data)[at] : ((const double *)data)[at];
}

/** Check entry `at` of a row against a pair of the oracle; NULL: it must be empty. */
static bool is_entry(const kith_nearest *got, int64_t at, kith_precision precision,
                     const oracle_pair *pair)
{
    bool same = got->j[at] == (pair ? pair->j : -1) &&
                (!got->distances || real_at(got->distances, at, precision) ==
                                        (pair ? pair->distance : (double)INFINITY));
    for (int m = 0; m < 3; m++) {
        same = same && (!got->shifts || got->shifts[3 * at + m] == (pair ? pair->shift[m] : 0)) &&
               (!got->vectors ||
                real_at(got->vectors, 3 * at + m, precision) == (pair ? pair->vector[m] : 0));
    }
    return same;
}

void nearest_check(const char *name, const kith_nearest *got, int64_t n, int64_t k,
                   kith_precision precision, const oracle_list *list)
{
    CHECK(got->rows == n && got->k == k, "%s: %lld rows of %lld", name, (long long)got->rows,
          (long long)got->k);
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t count = 0;
        for (int64_t e = 0; e < k; e++) {
            const bool some = next < list->n && list->pairs[next].i == i;
            const oracle_pair *pair = some ? &list->pairs[next++] : NULL;
            count += some;
            CHECK(is_entry(got, i * k + e, precision, pair),
                  "%s: neighbour %lld of %lld is %d, expected %d at %.17g", name, (long long)e,
                  (long long)i, got->j[i * k + e], pair ? pair->j : -1,
                  pair ? pair->distance : (double)INFINITY);
        }
        CHECK(got->counts[i] == count, "%s: %d neighbours of %lld, expected %lld", name,
              got->counts[i], (long long)i, (long long)count);
        for (; next < list->n && list->pairs[next].i == i; next++) {} /* those beyond k */
    }
}
