/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours with a radius for each particle against the oracle, to the last bit: every
 * rule, radii that are equal, near each other, that span a factor of 1000, of which one is far
 * larger, and some are 0; the random inputs of test_nearest_random.c. Then batches, whose rows are
 * those of their systems, and what a call refuses.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "nearest_case.h"

enum { MOST = 300 };

/** The radii of both sets. */
typedef struct radii {
    kith_radius_rule rule;
    double h[2][MOST]; /**< rounded to float: of either precision */
    float single[2][MOST];
} radii;

static double radius(rng *r, int64_t spread, double largest, int64_t p)
{
    switch (spread) {
    case 0: return largest;
    case 1: return largest * rng_uniform(r, 0.55, 1);
    case 2: return p % 50 == 7 ? 0 : largest * pow(1000, -rng_uniform(r, 0, 1));
    default: return p == 3 || p == 0 ? largest : 0.1 * largest * rng_uniform(r, 0.3, 1);
    }
}

static void make_radii(rng *r, double largest, radii *x)
{
    const int64_t spread = rng_below(r, 4);
    x->rule = (kith_radius_rule)(KITH_RADIUS_GATHER + rng_below(r, 5));
    for (int set = 0; set < 2; set++) {
        for (int64_t p = 0; p < MOST; p++) {
            x->single[set][p] = (float)radius(r, spread, largest, p);
            x->h[set][p] = (double)x->single[set][p];
        }
    }
}

static const void *radii_of(const radii *x, int set, kith_precision precision)
{
    return precision == KITH_FLOAT ? (const void *)x->single[set] : x->h[set];
}

/** The square of a radius, or of a sum of two. */
static double squared(double a, double b, kith_precision precision)
{
    if (precision == KITH_DOUBLE) {
        return (a + b) * (a + b);
    }
    const volatile float sum = (float)a + (float)b;
    const volatile float square = sum * sum;
    return (double)square;
}

static bool is_permitted(const radii *x, bool two_sets, kith_precision precision,
                         const oracle_pair *pair)
{
    const double hi = x->h[0][pair->i], hj = x->h[two_sets][pair->j];
    const bool gather = pair->r2 <= squared(hi, 0, precision);
    const bool scatter = pair->r2 <= squared(hj, 0, precision);
    switch (x->rule) {
    case KITH_RADIUS_GATHER: return gather;
    case KITH_RADIUS_SCATTER: return scatter;
    case KITH_RADIUS_EITHER: return gather || scatter;
    case KITH_RADIUS_BOTH: return gather && scatter;
    default: return pair->r2 <= squared(hi, hj, precision);
    }
}

/** The pairs that the radii permit, sorted by i and distance. @param largest  largest radius */
static oracle_list expected(const nearest_input *in, const radii *x, double largest,
                            const kith_points *points, const kith_points *against)
{
    const double by_radii = x->rule == KITH_RADIUS_SUM ? 2.0001 * largest : 1.0001 * largest;
    const double reach = in->cutoff > 0 && in->cutoff < by_radii ? in->cutoff : by_radii;
    oracle_list list = oracle_full(points, against, &in->box, reach);
    int64_t kept = 0;
    for (int64_t p = 0; p < list.n; p++) {
        if (is_permitted(x, against != NULL, points->precision, &list.pairs[p])) {
            list.pairs[kept++] = list.pairs[p];
        }
    }
    list.n = kept;
    nearest_sort(&list);
    return list;
}

static void check_input(kith_ctx *ctx, const nearest_input *in, const radii *x, double largest,
                        kith_precision precision, layout how, kith_nearest *out)
{
    stored a = stored_make(in->xyz, in->n, precision, how);
    stored b = stored_make(in->against ? in->against : in->xyz, in->against ? in->m : 0, precision,
                           how);
    const kith_points *against = in->against ? &b.points : NULL;
    if (oracle_margin(&a.points, &in->box) > 1e-12 && oracle_margin(&b.points, &in->box) > 1e-12) {
        oracle_list list = expected(in, x, largest, &a.points, against);
        kith_nearest_options options;
        kith_nearest_options_init(&options);
        options.against = against;
        options.cutoff = in->cutoff;
        options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
        options.radius_rule = x->rule;
        options.radii = radii_of(x, 0, precision);
        options.radii_against = against ? radii_of(x, 1, precision) : NULL;
        const kith_status status = kith_nearest_find(ctx, &a.points, &in->box, in->k, &options,
                                                     out);
        if (CHECK(status == KITH_OK, "%s, rule %d: %s", in->name, (int)x->rule,
                  kith_message(ctx))) {
            nearest_check(in->name, out, in->n, in->k, precision, &list);
        }
        oracle_free(&list);
    }
    stored_free(&a);
    stored_free(&b);
}

static void check_random(kith_ctx *ctx, kith_nearest *out)
{
    static radii x;
    const int cases = check_deep() ? 3000 : check_brief() ? 150 : 600;
    for (int c = 0; c < cases; c++) {
        rng r = {7000 + (uint64_t)c};
        nearest_input in = nearest_random(&r);
        const double largest = in.least * rng_uniform(&r, 0.1, 1);
        make_radii(&r, largest, &x);
        for (int precision = 0; precision < 2; precision++) {
            check_input(ctx, &in, &x, largest, precision ? KITH_FLOAT : KITH_DOUBLE,
                        (layout)(c % LAYOUTS), out);
        }
        nearest_input_free(&in);
    }
}

/** Check the rows of one system of a batch against a search in that system alone. */
static void check_system(kith_ctx *ctx, const kith_nearest_options *all, const kith_points *points,
                         const kith_box *box, int64_t s, const kith_nearest *got)
{
    const int64_t k = got->k;
    kith_nearest_options options = *all;
    kith_points a = *points, b;
    const int64_t first = all->batch->offsets[s];
    const int64_t first_b = (all->against ? all->batch->against_offsets : all->batch->offsets)[s];
    a.x = (const double *)a.x + first * a.stride;
    a.y = (const double *)a.y + first * a.stride;
    a.z = (const double *)a.z + first * a.stride;
    a.n = all->batch->offsets[s + 1] - first;
    options.batch = NULL;
    options.radii = (const double *)all->radii + first;
    if (all->against) {
        b = *all->against;
        b.x = (const double *)b.x + first_b * b.stride;
        b.y = (const double *)b.y + first_b * b.stride;
        b.z = (const double *)b.z + first_b * b.stride;
        b.n = all->batch->against_offsets[s + 1] - first_b;
        options.against = &b;
        options.radii_against = (const double *)all->radii_against + first_b;
    }
    kith_nearest alone = {.size = sizeof alone};
    CHECK(kith_nearest_find(ctx, &a, box, k, &options, &alone) == KITH_OK, "%s", kith_message(ctx));
    for (int64_t e = 0; e < a.n * k; e++) {
        const int64_t j = alone.j[e] < 0 ? -1 : alone.j[e] + first_b;
        CHECK(got->j[first * k + e] == j && ((const double *)got->distances)[first * k + e] ==
                                                ((const double *)alone.distances)[e],
              "system %lld: entry %lld is %d, alone %lld", (long long)s, (long long)e,
              got->j[first * k + e], (long long)j);
    }
    kith_nearest_free(&alone);
}

static void check_batch(kith_ctx *ctx)
{
    static radii x;
    const int64_t offsets[] = {0, 0, 40, 41, 130, 250}, others[] = {0, 30, 30, 60, 200, 290};
    const kith_box box = kith_box_periodic(1, 1.2, 0.9);
    rng r = {81};
    double *xyz = points_in_box(&r, 250, &box), *other = points_in_box(&r, 290, &box);
    const kith_points a = kith_points_packed(xyz, 250, KITH_DOUBLE);
    const kith_points b = kith_points_packed(other, 290, KITH_DOUBLE);
    kith_nearest got = {.size = sizeof got};
    for (int turn = 0; turn < 12; turn++) {
        kith_nearest_options options;
        const kith_batch batch = {.size = sizeof batch,
                                  .systems = 5,
                                  .offsets = offsets,
                                  .against_offsets = turn % 2 ? others : NULL};
        make_radii(&r, 0.4, &x);
        kith_nearest_options_init(&options);
        options.batch = &batch;
        options.against = turn % 2 ? &b : NULL;
        options.radius_rule = x.rule;
        options.radii = x.h[0];
        options.radii_against = turn % 2 ? x.h[1] : NULL;
        options.extras = KITH_DISTANCES;
        CHECK(kith_nearest_find(ctx, &a, &box, 7, &options, &got) == KITH_OK, "%s",
              kith_message(ctx));
        for (int64_t s = 0; s < batch.systems; s++) {
            check_system(ctx, &options, &a, &box, s, &got);
        }
    }
    kith_nearest_free(&got);
    free(xyz);
    free(other);
}

/** Check one refusal: its status, and a word of its message. */
static void check_refused(kith_ctx *ctx, const kith_points *points,
                          const kith_nearest_options *options, kith_status expected,
                          const char *word)
{
    kith_nearest out = {.size = sizeof out};
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_status status = kith_nearest_find(ctx, points, &box, 2, options, &out);
    CHECK(status == expected && strstr(kith_message(ctx), word), "%s: %s, expected %s with \"%s\"",
          kith_status_name(status), kith_message(ctx), kith_status_name(expected), word);
    CHECK(out.rows == 0, "%s: rows is %lld", word, (long long)out.rows);
    kith_nearest_free(&out);
}

static void check_refusals(kith_ctx *ctx)
{
    const double xyz[6] = {0.1, 0.2, 0.3, 0.7, 0.8, 0.9};
    double h[2] = {0.5, 0.25};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.radii = h;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radius_rule is 0");
    options.radius_rule = (kith_radius_rule)6;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radius_rule is 6");
    options.radius_rule = KITH_RADIUS_SUM;
    options.radii_against = h;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radii_against is given");
    options.against = &points;
    options.radii_against = NULL;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radii_against is NULL");
    options.against = NULL;
    h[1] = -1;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radii[1] is -1");
    h[1] = (double)NAN;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radii[1] is nan");
    h[1] = 600;
    check_refused(ctx, &points, &options, KITH_LIMIT, "options.radii permit is 1200");
    options.cutoff = 700;
    check_refused(ctx, &points, &options, KITH_LIMIT, "options.cutoff is 700");
    options.cutoff = 0;
    h[1] = 1.7e308; /* the largest sum, of h[1] and h[1], is infinite */
    check_refused(ctx, &points, &options, KITH_INVALID, "leaves the range of double");
    h[0] = h[1] = 0;
    check_refused(ctx, &points, &options, KITH_INVALID, "the largest distance of a pair is 0");
    options.radii = NULL;
    check_refused(ctx, &points, &options, KITH_INVALID, "options.radii is NULL");
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    kith_nearest out = {.size = sizeof out};
    check_random(ctx, &out);
    kith_nearest_free(&out);
    check_batch(ctx);
    check_refusals(ctx);
    kith_close(ctx);
    return check_done();
}
