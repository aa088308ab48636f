/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A radius for each particle against the oracle: every rule, radii that are equal, near each other,
 * that span a factor of 1000, of which one is far larger, and some are 0; pairs at exactly their
 * distance; one set and two; open, periodic, skewed and flat boxes; images; with other rules; bits
 * that do not depend on threads; options that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_case.h"

enum { MOST = 1400 };
typedef enum spread { EQUAL, NEAR, WIDER, ONE_HUGE, SPREADS, WIDE } spread;

/** The radii. */
typedef struct rules {
    kith_radius_rule rule;
    int two_sets;
    double h[2][MOST]; /**< rounded to float: of either precision */
    float single[2][MOST];
    double cutoff;           /**< beside the radii; 0: none */
    int32_t molecules[MOST]; /**< of one set */
    uint8_t active[MOST];
    int more; /**< molecules and active particles too */
} rules;

static void add_rules(const void *user, kith_precision precision, kith_pairs_options *o)
{
    const rules *x = user;
    o->radius_rule = x->rule;
    o->radii = precision == KITH_FLOAT ? (const void *)x->single[0] : x->h[0];
    if (x->two_sets)
        o->radii_against = precision == KITH_FLOAT ? (const void *)x->single[1] : x->h[1];
    o->molecules = x->more ? x->molecules : NULL;
    o->active = x->more ? x->active : NULL;
}

/** The square of a radius, or of a sum of two. */
static double squared(double a, double b, kith_precision precision)
{
    if (precision == KITH_DOUBLE)
        return (a + b) * (a + b);
    const volatile float sum = (float)a + (float)b;
    const volatile float square = sum * sum;
    return (double)square;
}

static int is_listed(const void *user, kith_precision precision, const oracle_pair *pair)
{
    const rules *x = user;
    const double hi = x->h[0][pair->i], hj = x->h[x->two_sets][pair->j];
    const int gather = pair->r2 <= squared(hi, 0, precision);
    const int scatter = pair->r2 <= squared(hj, 0, precision);
    if (x->cutoff > 0 && pair->r2 > squared(x->cutoff, 0, precision))
        return 0;
    if (x->more && (!x->active[pair->i] ||
                    (x->molecules[pair->i] >= 0 && x->molecules[pair->i] == x->molecules[pair->j])))
        return 0;
    switch (x->rule) {
    case KITH_RADIUS_GATHER: return gather;
    case KITH_RADIUS_SCATTER: return scatter;
    case KITH_RADIUS_EITHER: return gather || scatter;
    case KITH_RADIUS_BOTH: return gather && scatter;
    default: return pair->r2 <= squared(hi, hj, precision);
    }
}

static double radius(rng *r, spread how, double largest, int64_t p)
{
    switch (how) {
    case EQUAL: return largest;
    case NEAR: return largest * rng_uniform(r, 0.55, 1);
    case WIDER: return p % 50 == 7 ? 0 : largest * pow(10, -rng_uniform(r, 0, 1));
    case WIDE: return p % 50 == 7 ? 0 : largest * pow(1000, -rng_uniform(r, 0, 1));
    default: return p == 3 ? largest : 0.2 * largest * rng_uniform(r, 0.3, 1);
    }
}

static void make_radii(rng *r, spread how, double largest, rules *x)
{
    for (int set = 0; set < 2; set++)
        for (int p = 0; p < MOST; p++) {
            x->single[set][p] = (float)radius(r, how, largest, p);
            x->h[set][p] = (double)x->single[set][p];
        }
    for (int p = 0; p < MOST; p++) {
        x->molecules[p] = (int32_t)rng_below(r, 20) - 5;
        x->active[p] = rng_below(r, 3) != 0;
    }
}

static int is_one_sided(kith_radius_rule rule)
{
    return rule == KITH_RADIUS_GATHER || rule == KITH_RADIUS_SCATTER;
}

static void check_rule(kith_ctx *ctx, const char *name, const double *xyz, int64_t n,
                       const double *against, int64_t m, const kith_box *box, rules *x,
                       int exact_inverse)
{
    static int turn;
    double largest = 0;
    for (int p = 0; p < MOST; p++)
        largest = fmax(largest, fmax(x->h[0][p], x->h[1][p]));
    x->two_sets = against != NULL;
    case_check(
        ctx, &(pair_case){.name = name,
                          .xyz = xyz,
                          .n = n,
                          .against = against,
                          .m = m,
                          .box = box,
                          .cutoff = x->cutoff,
                          .rules = add_rules,
                          .listed = is_listed,
                          .user = x,
                          .reach = x->rule == KITH_RADIUS_SUM ? 2.0001 * largest : 1.0001 * largest,
                          .full_only = x->more || is_one_sided(x->rule),
                          .precisions = turn++ % 2 ? CASE_FLOAT : CASE_DOUBLE,
                          .exact_inverse = exact_inverse});
}

/** Check all rules, in one precision each by turns; in the short form of the test a third of them.
 *  @param wide  with radii that span a factor of 1000; else the spreads by turns */
static void check_set(kith_ctx *ctx, rng *r, const char *name, const double *xyz, int64_t n,
                      const double *against, int64_t m, const kith_box *box, double largest,
                      int wide)
{
    static int turn, sets;
    static rules x;
    sets++;
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        char text[100];
        if (check_brief() > 0 && (sets + rule) % 3 != 0) {
            continue;
        }
        const spread how = wide ? WIDE : (spread)(turn++ % SPREADS);
        snprintf(text, sizeof text, "%s, rule %d, spread %d", name, rule, (int)how);
        make_radii(r, how, rule == KITH_RADIUS_SUM ? largest / 2 : largest, &x);
        x.rule = (kith_radius_rule)rule;
        x.more = !wide && !against && turn % 2;
        x.cutoff = turn % 3 == 0 ? 0.7 * largest : 0;
        check_rule(ctx, text, xyz, n, against, m, box, &x, 0);
    }
}

static void check_cases(kith_ctx *ctx)
{
    rng r = {91};
    const kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    kith_box plane = kith_box_triclinic(1.0, 0.9, 0.0, 0.4, 0.0, 0.0);
    plane.dim = 2;
    double *a = points_in_box(&r, MOST, &brick), *b = points_in_box(&r, MOST, &brick);
    check_set(ctx, &r, "open", a, 1100, NULL, 0, NULL, 0.22, 1);
    for (int k = 0; k < 2; k++)
        check_set(ctx, &r, "few", a, 60 + 100 * k, NULL, 0, k % 2 ? &brick : NULL, 0.3, k == 0);
    check_set(ctx, &r, "two sets", a, 780, b, 1350, &brick, 0.25, 1);
    check_set(ctx, &r, "two sets, open", b, 350, a, 280, NULL, 0.25, 0);
    check_set(ctx, &r, "few of two sets", a, 150, b, 90, &brick, 0.3, 0);
    check_set(ctx, &r, "an empty set", a, 600, b, 0, &brick, 0.25, 0);
    check_set(ctx, &r, "no particles", a, 0, NULL, 0, &brick, 0.25, 0);
    points_drift(&r, a, 1030, &brick, 2);
    check_set(ctx, &r, "outside the box", a, 1030, NULL, 0, &brick, 0.2, 0);
    free(a);
    free(b);
    a = points_in_box(&r, 1030, &cell);
    points_drift(&r, a, 1030, &cell, 2);
    check_set(ctx, &r, "triclinic", a, 1030, NULL, 0, &cell, 0.25, 0);
    free(a);
    a = points_in_box(&r, 1030, &plane);
    check_set(ctx, &r, "plane", a, 1030, NULL, 0, &plane, 0.1, 0);
    free(a);
    a = points_clustered(&r, 1100, 9, 1.0, 0.02);
    check_set(ctx, &r, "clustered", a, 1100, NULL, 0, NULL, 0.05, 0);
    free(a);
}

/** Images of a particle at distances of more than a box: few particles have so large radii. */
static void check_images(kith_ctx *ctx)
{
    static rules x;
    rng r = {92};
    const kith_box box = kith_box_periodic(1.0, 1.25, 0.75);
    double *xyz = points_in_box(&r, 1030, &box);
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        make_radii(&r, EQUAL, 0.02, &x);
        x.single[0][100] = rule == KITH_RADIUS_SUM ? 0.4f : 0.8f;
        x.single[0][101] = 0.3f;
        for (int p = 100; p < 102; p++)
            x.h[0][p] = (double)x.single[0][p];
        x.rule = (kith_radius_rule)rule;
        x.cutoff = 0;
        x.more = 0;
        check_rule(ctx, "images", xyz, 1030, NULL, 0, &box, &x, 0);
    }
    free(xyz);
}

/** A lattice, whose pairs are at exactly the radii 1, 2 and 1/2. */
static void check_exact(kith_ctx *ctx)
{
    static rules x;
    double *xyz = points_lattice(LATTICE_SC, 11, 1.0);
    const kith_box box = kith_box_periodic(11, 11, 11);
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        for (int p = 0; p < MOST; p++) {
            x.single[0][p] = p % 40 == 0 ? 2.0f : p % 3 == 0 ? 1.0f : p % 7 == 0 ? 0.25f : 0.5f;
            x.h[0][p] = (double)x.single[0][p];
        }
        x.rule = (kith_radius_rule)rule;
        x.cutoff = 0;
        check_rule(ctx, "lattice", xyz, 1331, NULL, 0, &box, &x, 1);
    }
    free(xyz);
}

/** The bits of a list do not depend on threads. */
static void check_threads(const char *backend)
{
    static float h[6000];
    rng r = {93};
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, 6000, &box);
    stored points = stored_make(xyz, 6000, KITH_FLOAT, LAYOUT_PACKED);
    kith_ctx *ctx[2] = {check_open(backend, 1), check_open(backend, 3)};
    kith_pairs list[2] = {{0}, {0}};
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    for (int p = 0; p < 6000; p++)
        h[p] = (float)(0.2 * pow(1000, -rng_uniform(&r, 0, 1)));
    o.extras = KITH_VECTORS;
    o.radii = h;
    o.radius_rule = KITH_RADIUS_EITHER;
    for (int k = 0; k < 2; k++)
        CHECK(kith_pairs_find(ctx[k], &points.points, &box, 0, &o, &list[k]) == KITH_OK, "%s",
              kith_message(ctx[k]));
    const size_t n = (size_t)list[0].n;
    CHECK(n > 0 && list[1].n == list[0].n && !memcmp(list[0].i, list[1].i, n * 4) &&
              !memcmp(list[0].j, list[1].j, n * 4) &&
              !memcmp(list[0].vectors, list[1].vectors, n * 12),
          "1 and 3 threads differ");
    for (int k = 0; k < 2; k++) {
        kith_pairs_free(&list[k]);
        kith_close(ctx[k]);
    }
    stored_free(&points);
    free(xyz);
}

static int stop(void *user, const kith_pairs *block, int64_t first)
{
    (void)user, (void)block;
    return first > 0;
}

static void check_refused(kith_ctx *ctx)
{
    static double xyz[1100][3], h[1100];
    rng r = {94};
    for (int p = 0; p < 1100; p++) {
        for (int k = 0; k < 3; k++)
            xyz[p][k] = rng_uniform(&r, 0, 1);
        h[p] = 0.3 / (1 + p % 9);
    }
    const kith_points points = kith_points_packed(xyz, 1100, KITH_DOUBLE);
    kith_pairs_options o, good;
    int64_t n;
    kith_pairs_options_init(&good);
    good.radii = h;
    good.radius_rule = KITH_RADIUS_EITHER;
    good.block_pairs = 100;
    o = good;
    CHECK(kith_pairs_count(ctx, &points, NULL, 0, &o, &n, NULL) == KITH_OK && n > 0, "%s",
          kith_message(ctx));
    CHECK(kith_pairs_each(ctx, &points, NULL, 0, &o, stop, NULL) == KITH_CANCELLED, "%s",
          kith_message(ctx));
    o.radius_rule = KITH_RADIUS_GATHER;
    case_refused(ctx, &points, 0, &o, &good, "KITH_RADIUS_GATHER, which needs options.full");
    o.radius_rule = KITH_RADIUS_SCATTER;
    case_refused(ctx, &points, 0, &o, &good, "KITH_RADIUS_SCATTER, which needs options.full");
    o.radius_rule = KITH_RADIUS_NONE;
    case_refused(ctx, &points, 0, &o, &good, "options.radius_rule is 0");
    o.radius_rule = (kith_radius_rule)6;
    case_refused(ctx, &points, 0, &o, &good, "options.radius_rule is 6");
    o.radii = NULL;
    case_refused(ctx, &points, 0, &o, &good, "options.radii is NULL");
    o.radii_against = h;
    case_refused(ctx, &points, 0, &o, &good, "options.radii_against is given");
    h[5] = -1;
    case_refused(ctx, &points, 0, &o, &good, "options.radii[5] is -1");
    h[5] = (double)NAN;
    case_refused(ctx, &points, 0, &o, &good, "options.radii[5] is nan");
    h[5] = (double)INFINITY;
    case_refused(ctx, &points, 0, &o, &good, "options.radii[5] is inf");
    h[5] = 1.7e308;
    case_refused(ctx, &points, 0, &o, &good, "its square leaves the range of double");
    o.radius_rule = KITH_RADIUS_SUM; /* the largest sum, of h[5] and h[5], is infinite */
    case_refused(ctx, &points, 0, &o, &good, "leaves the range of double");
    memset(h, 0, sizeof h);
    case_refused(ctx, &points, 0, &o, &good, "the largest distance of a pair is 0");
    memcpy(xyz[1], xyz[0], sizeof xyz[0]);
    CHECK(kith_pairs_count(ctx, &points, NULL, 0.5, &o, &n, NULL) == KITH_OK && n == 1,
          "%lld pairs of radius 0 at one position: %s", (long long)n, kith_message(ctx));
    h[7] = 1;
    xyz[11][1] = (double)NAN;
    CHECK(kith_pairs_count(ctx, &points, NULL, 0, &o, &n, NULL) == KITH_NOT_FINITE &&
              strstr(kith_message(ctx), "particle 11 ") != NULL,
          "%s", kith_message(ctx));
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    check_cases(ctx);
    check_images(ctx);
    check_exact(ctx);
    check_threads(backend);
    check_refused(ctx);
    kith_close(ctx);
    return check_done();
}
