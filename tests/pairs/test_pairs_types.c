/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cutoffs by pair of species against the oracle: tables with entries that are 0, equal and far
 * apart; pairs at exactly their cutoff; one set and two; open, periodic, skewed and flat boxes;
 * images; a cutoff beside the table; a batch; and tables that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_case.h"

enum { MOST = 800, SPECIES = 3 };

/** Species of the particles, and the table. */
typedef struct table {
    int32_t species[MOST], other[MOST];
    double cutoffs[SPECIES * SPECIES];
    int32_t n;
    int two_sets;
    double cutoff; /**< beside the table; 0: none */
} table;

static void add_rules(const void *user, kith_precision precision, kith_pairs_options *o)
{
    const table *t = user;
    (void)precision;
    o->species = t->species;
    o->species_against = t->two_sets ? t->other : NULL;
    o->n_species = t->n;
    o->cutoffs = t->cutoffs;
}

static double squared(double length, kith_precision precision)
{
    if (precision == KITH_DOUBLE)
        return length * length;
    const volatile float single = (float)length;
    const volatile float square = single * single;
    return (double)square;
}

static int is_listed(const void *user, kith_precision precision, const oracle_pair *pair)
{
    const table *t = user;
    const int32_t a = t->species[pair->i], b = (t->two_sets ? t->other : t->species)[pair->j];
    const double c = t->cutoffs[a * t->n + b];
    return c > 0 && pair->r2 <= squared(c, precision) &&
           (t->cutoff == 0 || pair->r2 <= squared(t->cutoff, precision));
}

static table make_table(rng *r, int n, double largest, int symmetric)
{
    table t = {.n = n};
    for (int p = 0; p < MOST; p++) {
        t.species[p] = (int32_t)rng_below(r, n);
        t.other[p] = (int32_t)rng_below(r, n);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            t.cutoffs[a * n + b] = largest * rng_uniform(r, 0.3, 1.0);
    if (n > 1) {
        t.cutoffs[n] = 0; /* (1, 0) */
        t.cutoffs[1] = symmetric ? 0 : largest;
    }
    for (int a = 0; a < n && symmetric; a++)
        for (int b = 0; b < a; b++)
            t.cutoffs[a * n + b] = t.cutoffs[b * n + a];
    return t;
}

static void check_set(kith_ctx *ctx, rng *r, const char *name, const double *xyz, int64_t n,
                      const double *against, int64_t m, const kith_box *box, double largest)
{
    for (int species = 1; species <= SPECIES; species++) {
        table t = make_table(r, species, largest, against == NULL);
        t.two_sets = against != NULL;
        t.cutoff = species == 3 ? 0.8 * largest : 0;
        case_check(ctx, &(pair_case){.name = name,
                                     .xyz = xyz,
                                     .n = n,
                                     .against = against,
                                     .m = m,
                                     .box = box,
                                     .cutoff = t.cutoff,
                                     .rules = add_rules,
                                     .listed = is_listed,
                                     .user = &t,
                                     .reach = largest});
    }
}

static void check_cases(kith_ctx *ctx)
{
    rng r = {71};
    const kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    kith_box plane = kith_box_triclinic(1.0, 0.9, 0.0, 0.4, 0.0, 0.0);
    plane.dim = 2;
    double *a = points_in_box(&r, MOST, &brick), *b = points_in_box(&r, 90, &brick);
    check_set(ctx, &r, "open", a, 500, NULL, 0, NULL, 0.15);
    check_set(ctx, &r, "periodic", a, 300, NULL, 0, &brick, 0.2);
    check_set(ctx, &r, "two sets", a, 400, b, 90, &brick, 0.25);
    check_set(ctx, &r, "two sets, open", b, 90, a, 400, NULL, 0.25);
    check_set(ctx, &r, "no particles", a, 0, NULL, 0, &brick, 0.25);
    check_set(ctx, &r, "an empty set", a, 7, b, 0, &brick, 0.25);
    check_set(ctx, &r, "images", a, 4, NULL, 0, &brick, 2.2);
    points_drift(&r, a, 300, &brick, 2);
    check_set(ctx, &r, "outside the box", a, 300, NULL, 0, &brick, 0.2);
    free(a);
    free(b);
    a = points_in_box(&r, 300, &cell);
    points_drift(&r, a, 300, &cell, 2);
    check_set(ctx, &r, "triclinic", a, 300, NULL, 0, &cell, 0.25);
    check_set(ctx, &r, "triclinic, images", a, 8, NULL, 0, &cell, 1.3);
    free(a);
    a = points_in_box(&r, 300, &plane);
    check_set(ctx, &r, "plane", a, 300, NULL, 0, &plane, 0.12);
    free(a);
}

/** A lattice, whose pairs are at exactly the cutoffs 1, 2 and 3. */
static void check_exact(kith_ctx *ctx)
{
    rng r = {72};
    double *xyz = points_lattice(LATTICE_SC, 5, 1.0);
    const kith_box box = kith_box_periodic(5, 5, 5);
    table t = make_table(&r, 3, 1.0, 1);
    const double exact[9] = {1, 2, 0, 2, 3, 1, 0, 1, 2};
    memcpy(t.cutoffs, exact, sizeof exact);
    case_check(ctx, &(pair_case){.name = "lattice",
                                 .xyz = xyz,
                                 .n = 125,
                                 .box = &box,
                                 .rules = add_rules,
                                 .listed = is_listed,
                                 .user = &t,
                                 .reach = 3,
                                 .exact_inverse = 1});
    free(xyz);
}

/** Each system of a batch is what a call for it alone gives. */
static void check_batch(kith_ctx *ctx)
{
    enum { SYSTEMS = 4 };
    rng r = {73};
    const kith_box box = kith_box_periodic(1, 1, 1);
    const int64_t offsets[SYSTEMS + 1] = {0, 40, 40, 330, 400};
    double *xyz = points_in_box(&r, 400, &box);
    const table t = make_table(&r, 3, 0.3, 1);
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = SYSTEMS;
    batch.offsets = offsets;
    for (int csr = 0; csr < 2; csr++) {
        kith_pairs all = {0}, one = {0};
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.sorted = 1;
        o.layout = csr ? KITH_CSR : KITH_IJ;
        o.extras = KITH_VECTORS;
        add_rules(&t, KITH_DOUBLE, &o);
        o.batch = &batch;
        const kith_points points = kith_points_packed(xyz, 400, KITH_DOUBLE);
        int64_t at = 0, counted = 0;
        CHECK(kith_pairs_find(ctx, &points, &box, 0, &o, &all) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_pairs_count(ctx, &points, &box, 0, &o, &counted, NULL) == KITH_OK &&
                  counted == all.n,
              "%s: %lld of %lld", kith_message(ctx), (long long)counted, (long long)all.n);
        o.batch = NULL;
        for (int s = 0; s < SYSTEMS; s++) {
            const int64_t first = offsets[s], n = offsets[s + 1] - first;
            const kith_points part = kith_points_packed(xyz + 3 * first, n, KITH_DOUBLE);
            o.species = t.species + first;
            CHECK(kith_pairs_find(ctx, &part, &box, 0, &o, &one) == KITH_OK, "%s",
                  kith_message(ctx));
            int same = at + one.n <= all.n;
            for (int64_t p = 0; p < one.n && same; p++)
                same = all.j[at + p] == one.j[p] + first &&
                       (csr || all.i[at + p] == one.i[p] + first) &&
                       memcmp((double *)all.vectors + 3 * (at + p), (double *)one.vectors + 3 * p,
                              3 * sizeof(double)) == 0;
            CHECK(same, "system %d differs", s);
            at += one.n;
        }
        CHECK(at == all.n && at > 0, "%lld pairs of %lld", (long long)at, (long long)all.n);
        add_rules(&t, KITH_DOUBLE, &o);
        o.batch = &batch;
        o.full = 1;
        CHECK(case_check_matrix(ctx, &points, &box, 0, o) > 0, "no pairs");
        kith_pairs_free(&all);
        kith_pairs_free(&one);
    }
    free(xyz);
}

static void check_refused(kith_ctx *ctx)
{
    double xyz[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
    int32_t species[3] = {0, 1, 1};
    double cutoffs[4] = {1, 2, 2, 0};
    kith_pairs_options o, good;
    int64_t n;
    kith_pairs_options_init(&good);
    good.species = species;
    good.cutoffs = cutoffs;
    good.n_species = 2;
    o = good;
    CHECK(kith_pairs_count(ctx, &points, NULL, 0, &o, &n, NULL) == KITH_OK && n == 2, "%lld: %s",
          (long long)n, kith_message(ctx));
    species[2] = 2;
    case_refused(ctx, &points, 0, &o, &good, "options.species[2] is 2");
    species[2] = -1;
    case_refused(ctx, &points, 0, &o, &good, "options.species[2] is -1");
    species[2] = 1;
    o.n_species = 0;
    case_refused(ctx, &points, 0, &o, &good, "options.n_species is 0");
    o.n_species = 1025;
    case_refused(ctx, &points, 0, &o, &good, "options.n_species is 1025");
    o.cutoffs = NULL;
    case_refused(ctx, &points, 0, &o, &good, "options.cutoffs is NULL");
    o.species = NULL;
    case_refused(ctx, &points, 0, &o, &good, "options.n_species is 2");
    o.species_against = species;
    case_refused(ctx, &points, 0, &o, &good, "options.species_against is given");
    o.against = &points;
    case_refused(ctx, &points, 0, &o, &good, "options.species_against is NULL");
    cutoffs[1] = 2.5;
    case_refused(ctx, &points, 0, &o, &good, "options.cutoffs[0][1] is 2.5, but [1][0] is 2");
    cutoffs[1] = 2;
    cutoffs[3] = -1;
    case_refused(ctx, &points, 0, &o, &good, "options.cutoffs[1][1] is -1");
    cutoffs[3] = (double)NAN;
    case_refused(ctx, &points, 0, &o, &good, "options.cutoffs[1][1] is nan");
    cutoffs[0] = cutoffs[1] = cutoffs[2] = cutoffs[3] = 0;
    case_refused(ctx, &points, 0, &o, &good, "all are 0");
    kith_pairs_options_init(&o);
    CHECK(kith_pairs_count(ctx, &points, NULL, 0, &o, &n, NULL) == KITH_INVALID, "%s",
          kith_message(ctx)); /* without rules the cutoff is positive */
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_cases(ctx);
    check_exact(ctx);
    check_batch(ctx);
    check_refused(ctx);
    kith_close(ctx);
    return check_done();
}
