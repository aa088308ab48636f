/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What searches with radii cost: candidates that are tested, on CPU cores, are at most a multiple
 * of the pairs plus a multiple of the particles, where radii span a factor of 1000 and where one
 * radius is far above the others. One search with the largest radius would test all particles
 * against all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "engine/cpu/cpu_state.h"

#include "check.h"
#include "points.h"

enum { N = 40000 };

static int64_t candidates_of(const kith_ctx *ctx)
{
    return kith__sweep_of(ctx, 0)->candidates;
}

/** Count the pairs of all rules that full lists have, and the candidates. */
static void check_cost(kith_ctx *ctx, const char *name, const double *xyz, const double *h,
                       const kith_box *box)
{
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    for (int rule = KITH_RADIUS_GATHER; rule <= KITH_RADIUS_SUM; rule++) {
        kith_pairs_options o;
        int64_t n = 0;
        kith_pairs_options_init(&o);
        o.full = 1;
        o.radii = h;
        o.radius_rule = (kith_radius_rule)rule;
        const int64_t before = candidates_of(ctx);
        CHECK(kith_pairs_count(ctx, &points, box, 0, &o, &n, NULL) == KITH_OK, "%s",
              kith_message(ctx));
        const double tested = (double)(candidates_of(ctx) - before);
        /* a search tests the particles of the cells around a query block; there are up to 2 x 12
         * searches, each of which considers some tens of candidates for each particle */
        const double most = 150.0 * (double)n + 2000.0 * N;
        CHECK(tested <= most, "%s, rule %d: %.3g candidates of %lld pairs", name, rule, tested,
              (long long)n);
        CHECK(tested < 0.25 * N * (double)N, "%s, rule %d: %.3g candidates", name, rule, tested);
        if (getenv("KITH_TEST_VERBOSE"))
            printf("%s, rule %d: %lld pairs, %.3g candidates: %.1f a pair, %.1f a particle\n", name,
                   rule, (long long)n, tested, tested / (double)n, tested / N);
    }
}

int main(void)
{
    kith_ctx *ctx = check_open("cpu", 1);
    rng r = {95};
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &box);
    double *h = check_malloc(N * sizeof *h);
    for (int p = 0; p < N; p++)
        h[p] = 0.45 * pow(1000, -pow(rng_uniform(&r, 0, 1), 0.25)); /* most are small */
    check_cost(ctx, "a factor of 1000", xyz, h, &box);
    for (int p = 0; p < N; p++)
        h[p] = 0.02;
    h[7] = 0.45;
    check_cost(ctx, "one huge radius", xyz, h, &box);
    check_cost(ctx, "one huge radius, open", xyz, h, NULL);
    free(h);
    free(xyz);
    kith_close(ctx);
    return check_done();
}
