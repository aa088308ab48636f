/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counts of overlaps against brute force, exactly: every type, measure and kind of numbers, sizes
 * around those of the blocks inside, many bins and few, with the mean and without.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "overlap_case.h"

enum { MOST_BINS = 100000 };

static void check(kith_ctx *ctx, const char *name, const overlap_case *c,
                  const kith_overlap_options *options)
{
    static int64_t right[MOST_BINS];
    const kith_replicas *r = &c->replicas;
    kith_overlaps found = {0};
    const kith_status status = kith_overlap_count(ctx, r, options, &found);
    double *centred = options->subtract_mean ? overlap_case_centred(c) : NULL;
    if (CHECK(status == KITH_OK, "%s: %s", name, kith_message(ctx))) {
        overlap_case_count(centred ? centred : c->numbers, r->n, r->dim, options->measure,
                           found.edges, found.bins, right);
        int64_t wrong = 0, outside = found.pairs;
        for (int64_t k = 0; k < found.bins; k++) {
            wrong += found.counts[k] != right[k];
            outside -= found.counts[k];
        }
        CHECK(wrong == 0,
              "%s: n %lld, dim %lld, type %d, measure %d, mean %d, %lld bins: %lld wrong", name,
              (long long)r->n, (long long)r->dim, r->type, (int)options->measure,
              options->subtract_mean, (long long)found.bins, (long long)wrong);
        CHECK(outside == 0 || options->low != 0, "%s: %lld pairs are outside", name,
              (long long)outside);
        CHECK(found.pairs == r->n * (r->n - 1) / 2, "%s: %lld pairs", name, (long long)found.pairs);
    }
    free(centred);
    kith_overlaps_free(&found);
}

/* Every kind, type and measure. */
static void check_kinds(kith_ctx *ctx, rng *r)
{
    static const char *const names[] = {"normal", "whole", "huge", "spins", "twins", "opposed"};
    static const int types[] = {KITH_FLOAT, KITH_DOUBLE, KITH_BITS};
    for (int kind = 0; kind < OVERLAP_KINDS; kind++) {
        for (int t = 0; t < (kind == OVERLAP_SPINS ? 3 : 2); t++) {
            overlap_case c = overlap_case_make(r, (overlap_kind)kind, check_brief() ? 40 : 100, 67,
                                               types[t], t);
            for (int m = 0; m < 6; m++) {
                kith_overlap_options o;
                kith_overlap_options_init(&o);
                o.measure = (kith_overlap_measure)(m % 3);
                o.subtract_mean = m / 3;
                o.bins = 20 + 60 * m;
                if (types[t] != KITH_BITS || !o.subtract_mean) {
                    check(ctx, names[kind], &c, &o);
                }
            }
            overlap_case_free(&c);
        }
    }
}

/* Sizes around those of blocks, panels and sums. */
static void check_sizes(kith_ctx *ctx, rng *r)
{
    static const int64_t sizes[][2] = {{2, 1},   {3, 31},   {49, 32}, {240, 5},
                                       {241, 2}, {129, 64}, {300, 6}, {97, 257}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int type = KITH_BITS; type <= KITH_DOUBLE; type = type == KITH_BITS ? 4 : 2 * type) {
            const overlap_kind kind = type == KITH_BITS ? OVERLAP_SPINS : OVERLAP_NORMAL;
            overlap_case c = overlap_case_make(r, kind, sizes[s][0], sizes[s][1], type, 3);
            check(ctx, "sizes", &c,
                  &(kith_overlap_options){.size = sizeof(kith_overlap_options), .bins = 50});
            overlap_case_free(&c);
        }
    }
}

/* So many bins that floats cannot tell them apart; ends that leave some pairs outside. */
static void check_bins(kith_ctx *ctx, rng *r)
{
    static const int64_t bins[] = {1, 5000, MOST_BINS};
    for (int b = 0; b < 3; b++) {
        for (int type = KITH_FLOAT; type <= KITH_DOUBLE; type *= 2) {
            overlap_case c = overlap_case_make(r, OVERLAP_NORMAL, 80, 300, type, 0);
            kith_overlap_options o;
            kith_overlap_options_init(&o);
            o.bins = bins[b];
            check(ctx, "bins", &c, &o);
            o.low = -0.05;
            o.high = 0.1;
            check(ctx, "ends", &c, &o);
            overlap_case_free(&c);
        }
    }
}

/* Sums that grow and cancel, whose rounding is larger than that of the edges, which are near 0: the
 * overlaps within the error bound of an edge are summed again. */
static void check_bands(kith_ctx *ctx, rng *r)
{
    for (int type = KITH_FLOAT; type <= KITH_DOUBLE; type *= 2) {
        overlap_case c = overlap_case_make(r, OVERLAP_OPPOSED, 240, 200, type, 0);
        kith_overlap_options o;
        kith_overlap_options_init(&o);
        o.bins = 900;
        o.low = -0.1;
        o.high = 0.1;
        check(ctx, "bands", &c, &o);
        overlap_case_free(&c);
    }
}

/* The rows of the matrix are the definition's values. */
static void check_rows(kith_ctx *ctx, rng *r)
{
    enum { N = 40, DIM = 45, FIRST = 7, ROWS = 12 };
    double matrix[ROWS * N];
    for (int type = KITH_FLOAT; type <= KITH_DOUBLE; type *= 2) {
        overlap_case c = overlap_case_make(r, OVERLAP_NORMAL, N, DIM, type, 1);
        for (int m = 0; m < 3; m++) {
            kith_overlap_options o;
            kith_overlap_options_init(&o);
            o.measure = (kith_overlap_measure)m;
            CHECK(kith_overlap_rows(ctx, &c.replicas, &o, FIRST, ROWS, matrix) == KITH_OK, "%s",
                  kith_message(ctx));
            int wrong = 0;
            for (int k = 0; k < ROWS * N; k++) {
                wrong += matrix[k] != overlap_case_value(c.numbers + (FIRST + k / N) * DIM,
                                                         c.numbers + k % N * DIM, DIM, o.measure);
            }
            CHECK(wrong == 0, "rows: type %d, measure %d: %d wrong", type, m, wrong);
        }
        overlap_case_free(&c);
    }
}

int main(int argc, char **argv)
{
    rng r = {7};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_kinds(ctx, &r);
    check_rows(ctx, &r);
    kith_close(ctx);
    ctx = check_open(check_backend(argc, argv), 1);
    check_sizes(ctx, &r);
    check_bins(ctx, &r);
    check_bands(ctx, &r);
    kith_close(ctx);
    return check_done();
}
