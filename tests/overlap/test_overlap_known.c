/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps whose distribution is known: random directions, P(q) ~ (1 - q^2)^((d - 3) / 2); equal
 * and flipped replicas; the random-energy model below its transition (Derrida 1981, Phys. Rev. B
 * 24, 2613; Derrida & Flyvbjerg 1987, J. Phys. A 20, 5273): P(q) = m at 0 and 1 - m at 1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "overlap_case.h"

static int64_t count_between(const kith_overlaps *o, double low, double high)
{
    int64_t n = 0;
    for (int64_t k = 0; k < o->bins; k++) {
        const double middle = (o->edges[k] + o->edges[k + 1]) / 2;
        n += middle > low && middle < high ? o->counts[k] : 0;
    }
    return n;
}

/* Pairs of isotropic vectors are independent two by two: the error of a part is binomial. */
static void check_random(kith_ctx *ctx)
{
    static const struct {
        int64_t dim;
        double inside; /* P(|q| < 0.1) */
    } known[] = {{3, 0.1}, {10, 0.230125}, {100, 0.680252}, {1000, 0.998464}};
    const int64_t n = check_brief() ? 300 : 600;
    rng r = {11};
    for (int k = 0; k < 4; k++) {
        const int64_t dim = known[k].dim;
        float *x = check_malloc((size_t)(n * dim) * sizeof *x);
        for (int64_t at = 0; at < n * dim; at++) {
            x[at] = (float)rng_normal(&r);
        }
        const kith_replicas replicas = {n, dim, x, dim, KITH_FLOAT};
        kith_overlaps found = {0};
        CHECK(kith_overlap_count(ctx, &replicas, NULL, &found) == KITH_OK, "%s", kith_message(ctx));
        const double p = known[k].inside, pairs = (double)found.pairs;
        const double part = (double)count_between(&found, -0.1, 0.1) / pairs;
        CHECK(fabs(part - p) < 5 * sqrt(p * (1 - p) / pairs), "d = %lld: P(|q| < 0.1) = %g, not %g",
              (long long)dim, part, p);
        double square = 0; /* <q^2> = 1 / d; that of a bin's middle is off by its width^2 / 12 */
        for (int64_t b = 0; b < found.bins; b++) {
            const double q = (found.edges[b] + found.edges[b + 1]) / 2;
            square += q * q * (double)found.counts[b] / pairs;
        }
        CHECK(fabs(square - 1e-4 / 12 - 1 / (double)dim) < 0.02 / (double)dim,
              "d = %lld: <q^2> = %g", (long long)dim, square);
        kith_overlaps_free(&found);
        free(x);
    }
}

/* Equal replicas have q = 1 exactly, and so are in the last bin however narrow it is; flipped ones
 * q = -1. Odd numbers, whose squares are rounded. */
static void check_equal(kith_ctx *ctx)
{
    enum { N = 300, DIM = 37 };
    static double x[N][DIM];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < DIM; k++) {
            x[i][k] = (i % 2 ? -1 : 1) * (0.1 + sqrt(k + 2));
        }
    }
    for (int flipped = 0; flipped < 2; flipped++) {
        const kith_replicas replicas = {.n = flipped ? N : N / 2,
                                        .dim = DIM,
                                        .values = x,
                                        .stride = flipped ? DIM : 2 * DIM,
                                        .type = KITH_DOUBLE};
        kith_overlap_options o;
        kith_overlap_options_init(&o);
        o.bins = 1 << 20;
        kith_overlaps found = {0};
        CHECK(kith_overlap_count(ctx, &replicas, &o, &found) == KITH_OK, "%s", kith_message(ctx));
        const int64_t same = flipped ? N / 2 * (N / 2 - 1) : found.pairs;
        CHECK(found.counts[found.bins - 1] == same, "%lld of %lld pairs have q = 1",
              (long long)found.counts[found.bins - 1], (long long)same);
        CHECK(found.counts[0] == found.pairs - same, "%lld pairs have q = -1",
              (long long)found.counts[0]);
        o.measure = KITH_DISTANCE;
        CHECK(kith_overlap_count(ctx, &replicas, &o, &found) == KITH_OK, "%s", kith_message(ctx));
        CHECK(found.counts[0] == same, "%lld pairs have distance 0", (long long)found.counts[0]);
        kith_overlaps_free(&found);
    }
}

/* Replicas of one sample of the random-energy model: state k with weight ~ T_k^(-1/m), T_k the
 * times of a Poisson process; a state is a vector of random spins. @return the part with q = 1 */
static double same_state(kith_ctx *ctx, rng *r, double m)
{
    enum { STATES = 2000, WORDS = 4, N = 300 };
    static double sum[STATES];
    static uint64_t state[STATES][WORDS], replica[N][WORDS];
    double time = 0, all = 0;
    for (int k = 0; k < STATES; k++) {
        time -= log(1 - rng_uniform(r, 0, 1));
        all += pow(time, -1 / m);
        sum[k] = all;
        for (int w = 0; w < WORDS; w++) {
            state[k][w] = rng_bits(r);
        }
    }
    for (int i = 0; i < N; i++) {
        const double at = rng_uniform(r, 0, all);
        int k = 0;
        while (k + 1 < STATES && sum[k] <= at) {
            k++;
        }
        memcpy(replica[i], state[k], sizeof state[k]);
    }
    const kith_replicas replicas = {N, 64 * WORDS, replica, 8 * WORDS, KITH_BITS};
    kith_overlaps found = {0};
    CHECK(kith_overlap_count(ctx, &replicas, NULL, &found) == KITH_OK, "%s", kith_message(ctx));
    const double same = (double)found.counts[found.bins - 1] / (double)found.pairs;
    CHECK(count_between(&found, 0.5, 0.99) == 0, "m = %g: states are alike", m);
    CHECK(found.spins == 1, "bits are spins");
    kith_overlaps_free(&found);
    return same;
}

/* Averages over samples of Y, the weight at q = 1: <Y> = 1 - m, <Y^2> = (3 - 5 m + 2 m^2) / 3. */
static void check_random_energies(kith_ctx *ctx)
{
    static const double ms[] = {0.3, 0.5, 0.7};
    const int samples = check_brief() ? 40 : 120;
    rng r = {13};
    for (int k = 0; k < 3; k++) {
        const double m = ms[k], mean = 1 - m, square = (3 - 5 * m + 2 * m * m) / 3;
        double y = 0, y2 = 0;
        for (int s = 0; s < samples; s++) {
            const double one = same_state(ctx, &r, m);
            y += one / samples;
            y2 += one * one / samples;
        }
        const double error = sqrt((square - mean * mean) / samples);
        CHECK(fabs(y - mean) < 4 * error, "m = %g: <Y> = %g, not %g +- %g", m, y, mean, error);
        CHECK(fabs(y2 - square) < 6 * error, "m = %g: <Y^2> = %g, not %g", m, y2, square);
    }
}

/* A scalar product by the definition that rounding leaves almost 2^15 units too small: of each
 * partial sum the first term is 1, and all others, a little less than half a unit in the last place
 * of 1, are lost. Its bin is that of this sum, 32, which is below the middle edge; the true one is
 * above. */
static void check_lost(kith_ctx *ctx)
{
    enum { DIM = 1000000, SUMS = 32 };
    double *x = check_malloc(sizeof(double) * 2 * DIM);
    for (int64_t at = 0; at < (int64_t)2 * DIM; at++) {
        x[at] = at % DIM < SUMS ? 1 : 0.9999 * 0x1p-26 * sqrt(0.5);
    }
    const kith_replicas replicas = {2, DIM, x, DIM, KITH_DOUBLE};
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    o.measure = KITH_PRODUCT;
    o.bins = 2;
    o.high = 2 * (SUMS + 200000 * 0x1p-53);
    double row[2];
    CHECK(kith_overlap_rows(ctx, &replicas, &o, 0, 1, row) == KITH_OK && row[1] == SUMS,
          "a scalar product of %.17g", row[1]);
    kith_overlaps found = {0};
    CHECK(kith_overlap_count(ctx, &replicas, &o, &found) == KITH_OK, "%s", kith_message(ctx));
    CHECK(found.counts[0] == 1 && found.counts[1] == 0, "lost terms: %lld and %lld pairs",
          (long long)found.counts[0], (long long)found.counts[1]);
    kith_overlaps_free(&found);
    free(x);
}

/* Light as a fluctuation: replicas that differ from the mean by a random direction have the P(q) of
 * random directions once it is subtracted, and q near 1 before. */
static void check_mean(kith_ctx *ctx)
{
    enum { N = 500, DIM = 50 };
    static float x[N][DIM];
    rng r = {17};
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < DIM; k++) {
            x[i][k] = (float)(10 + rng_normal(&r));
        }
    }
    const kith_replicas replicas = {N, DIM, x, DIM, KITH_FLOAT};
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    kith_overlaps found = {0};
    CHECK(kith_overlap_count(ctx, &replicas, &o, &found) == KITH_OK, "%s", kith_message(ctx));
    CHECK(count_between(&found, 0.97, 1) == found.pairs, "the mean is all");
    o.subtract_mean = 1;
    CHECK(kith_overlap_count(ctx, &replicas, &o, &found) == KITH_OK, "%s", kith_message(ctx));
    double square = 0;
    for (int64_t b = 0; b < found.bins; b++) {
        const double q = (found.edges[b] + found.edges[b + 1]) / 2;
        square += q * q * (double)found.counts[b] / (double)found.pairs;
    }
    CHECK(fabs(square * DIM - 1) < 0.05, "<q^2> = %g / d", square * DIM);
    kith_overlaps_free(&found);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_random(ctx);
    check_equal(ctx);
    check_random_energies(ctx);
    check_mean(ctx);
    check_lost(ctx);
    kith_close(ctx);
    return check_done();
}
