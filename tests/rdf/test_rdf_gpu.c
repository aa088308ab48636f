/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A GPU counts what cpu:baseline counts, to the last bit of the sums, on sets that fill
 * many cells, pieces, tiles and blocks: too many pairs for brute force to be asked often.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 3503, M = 2100, KINDS = 5, BINS = 2000 };

static double xyz[3 * N], other[3 * M];
static float single[3 * N], single_other[3 * M];
static int32_t species[2][N], molecules[2][N];
static double weights[2][N], log_edges[BINS + 1];

static void make_inputs(const kith_box *box)
{
    rng r = {47};
    double *a = points_in_box(&r, N, box);
    double *b = points_in_box(&r, M, box);
    memcpy(xyz, a, sizeof xyz);
    memcpy(other, b, sizeof other);
    free(a);
    free(b);
    for (int k = 0; k < 3 * N; k++)
        single[k] = (float)xyz[k];
    for (int k = 0; k < 3 * M; k++)
        single_other[k] = (float)other[k];
    for (int set = 0; set < 2; set++)
        for (int p = 0; p < N; p++) {
            const int kind = (int)rng_below(&r, 100);
            species[set][p] = kind < 60 ? 3 : kind < 98 ? 1 : kind == 98 ? 0 : 4; /* none of 2 */
            molecules[set][p] = p / 3;
            weights[set][p] = rng_uniform(&r, -1, 1);
        }
    for (int k = 0; k <= BINS; k++)
        log_edges[k] = 0.95 * pow(10, -3 * (1 - (double)k / BINS));
}

/* Along a line, many cutoffs long, and so far from one point that one cell holds it. */
static void make_line(void)
{
    rng r = {48};
    for (int k = 0; k < 3 * N; k++)
        xyz[k] = k < 3 ? 1e10 : rng_uniform(&r, 0, k % 3 == 0 ? 3000 : 0.1);
    for (int k = 0; k < 3 * N; k++)
        single[k] = (float)xyz[k];
}

static void compare(const char *name, const kith_histogram *a, const kith_histogram *b)
{
    for (int64_t at = 0; at < a->partials * a->bins; at++) {
        if (!CHECK(a->counts[at] == b->counts[at],
                   "%s: partial %lld, bin %lld: %lld, cpu:baseline %lld", name,
                   (long long)(at / a->bins), (long long)(at % a->bins), (long long)a->counts[at],
                   (long long)b->counts[at]))
            return;
        if (a->sums)
            CHECK(a->sums[at] == b->sums[at], "%s: sum %.17g, cpu:baseline %.17g", name,
                  a->sums[at], b->sums[at]);
    }
}

static void check(kith_ctx *ctx, kith_ctx *cpu, const char *name, kith_precision precision,
                  const kith_box *box, kith_rdf_options o)
{
    const kith_points points = kith_points_packed(precision == KITH_FLOAT ? (void *)single : xyz, N,
                                                  precision);
    const kith_points against = kith_points_packed(
        precision == KITH_FLOAT ? (void *)single_other : other, M, precision);
    kith_histogram got = {0}, right = {0};
    o.against = o.against ? &against : NULL;
    CHECK(kith_rdf_count(ctx, &points, box, &o, &got) == KITH_OK, "%s: %s", name,
          kith_message(ctx));
    CHECK(kith_rdf_count(cpu, &points, box, &o, &right) == KITH_OK, "%s: %s", name,
          kith_message(cpu));
    if (CHECK(got.partials == right.partials && got.counts && right.counts, "%s: shapes", name))
        compare(name, &got, &right);
    kith_histogram_free(&got);
    kith_histogram_free(&right);
}

static void check_forms(kith_ctx *ctx, kith_ctx *cpu, const char *name, const kith_box *box,
                        kith_rdf_options o)
{
    static const kith_points two_sets; /* any: which they are is decided later */
    for (int form = 0; form < 12; form++) {
        const kith_precision precision = form % 2 ? KITH_DOUBLE : KITH_FLOAT;
        const bool cross = form == 6 || form == 7 || form > 9;
        o.bins = form > 7 ? 300 : BINS; /* then all partials fit the memory of a block */
        o.edges = form == 2 || form == 3 ? log_edges : NULL;
        o.against = cross ? &two_sets : NULL;
        o.species = form > 3 ? species[0] : NULL;
        o.species_against = cross ? species[1] : NULL;
        o.n_species = form > 3 ? KINDS : 1;
        o.molecules = form == 4 || form == 7 ? molecules[0] : NULL;
        o.molecules_against = form == 7 ? molecules[1] : NULL;
        o.weights = form == 5 || form == 6 ? weights[0] : NULL;
        o.weights_against = form == 6 ? weights[1] : NULL;
        check(ctx, cpu, name, precision, box, o);
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    kith_ctx *cpu = check_open("cpu:baseline", 2);
    const kith_box box = kith_box_periodic(1, 1.1, 0.9);
    make_inputs(&box);
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.bins = BINS;
    o.r_max = 0.07;
    check_forms(ctx, cpu, "cells", &box, o);
    o.r_min = 0.02;
    check_forms(ctx, cpu, "cells from r_min", &box, o);
    o.r_max = 0.8;
    o.r_min = 0.1;
    o.minimum_image = 1;
    check_forms(ctx, cpu, "nearest", &box, o);
    const kith_box skewed = kith_box_triclinic(1, 1.1, 0.9, 0.3, -0.2, 0.1);
    kith_rdf_options_init(&o);
    o.r_max = 0.11;
    check(ctx, cpu, "skewed", KITH_FLOAT, &skewed, o);
    check(ctx, cpu, "skewed", KITH_DOUBLE, &skewed, o);
    make_line();
    o.r_max = 1;
    check(ctx, cpu, "line", KITH_FLOAT, NULL, o);
    check(ctx, cpu, "line", KITH_DOUBLE, NULL, o);
    kith_close(cpu);
    kith_close(ctx);
    return check_done();
}
