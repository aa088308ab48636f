/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What must be refused, with a sentence; cancellation; memory that does not grow with n^2.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "overlap_case.h"

enum { N = 20, DIM = 6 };

static double x[N][DIM];

static const kith_replicas good = {N, DIM, x, DIM, KITH_DOUBLE};

static void refuse(kith_ctx *ctx, const char *words, const kith_replicas *r,
                   const kith_overlap_options *o, kith_status wanted)
{
    kith_overlaps found = {0};
    const kith_status got = kith_overlap_count(ctx, r, o, &found);
    CHECK(got == wanted, "%s: %s", words, kith_status_name(got));
    CHECK(strstr(kith_message(ctx), words) != NULL, "%s: %s", words, kith_message(ctx));
    CHECK(found.counts == NULL, "%s: there are counts", words);
    kith_overlaps_free(&found);
}

static void check_replicas(kith_ctx *ctx)
{
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    refuse(ctx, "replicas is NULL", NULL, NULL, KITH_INVALID);
    kith_replicas r = good;
    r.n = 1;
    refuse(ctx, "replicas.n is 1", &r, NULL, KITH_INVALID);
    r.n = 0;
    refuse(ctx, "replicas.n is 0", &r, NULL, KITH_INVALID);
    r.n = (int64_t)1 << 40;
    refuse(ctx, "at most 2^31", &r, NULL, KITH_LIMIT);
    r = good;
    r.dim = 0;
    refuse(ctx, "replicas.dim", &r, NULL, KITH_INVALID);
    r = good;
    r.stride = DIM - 1;
    refuse(ctx, "replicas.stride", &r, NULL, KITH_INVALID);
    r = good;
    r.type = 2;
    refuse(ctx, "replicas.type", &r, NULL, KITH_INVALID);
    r = good;
    r.values = NULL;
    refuse(ctx, "replicas.values", &r, NULL, KITH_INVALID);
    r = good;
    r.type = KITH_BITS;
    o.subtract_mean = 1;
    refuse(ctx, "bits", &r, &o, KITH_INVALID);
}

static void check_values(kith_ctx *ctx)
{
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++) {
        x[3][2] = bad[b];
        refuse(ctx, "number 2 of replica 3", &good, &o, KITH_NOT_FINITE);
    }
    memset(x[3], 0, sizeof x[3]);
    refuse(ctx, "replica 3, counted from 0, is zero", &good, &o, KITH_INVALID);
    o.measure = KITH_DISTANCE;
    kith_overlaps found = {0};
    CHECK(kith_overlap_count(ctx, &good, &o, &found) == KITH_OK, "zero has a distance: %s",
          kith_message(ctx));
    kith_overlaps_free(&found);
    x[3][0] = 1e160;
    refuse(ctx, "scale", &good, NULL, KITH_LIMIT);
    for (int k = 0; k < DIM; k++) {
        x[3][k] = x[0][k];
    }
    o.measure = KITH_COSINE;
    o.subtract_mean = 1;
    const kith_replicas equal = {N, DIM, x, 0, KITH_DOUBLE};
    static double same[N][DIM];
    for (int i = 0; i < N; i++) {
        memcpy(same[i], x[0], sizeof same[i]);
    }
    kith_replicas r = equal;
    r.values = same;
    r.stride = DIM;
    refuse(ctx, "replica 0, counted from 0, equals the mean", &r, &o, KITH_INVALID);
}

static void check_options(kith_ctx *ctx)
{
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    o.size = 1;
    refuse(ctx, "options.size", &good, &o, KITH_INVALID);
    kith_overlap_options_init(&o);
    o.bins = 0;
    refuse(ctx, "options.bins", &good, &o, KITH_INVALID);
    o.bins = (1 << 20) + 1;
    refuse(ctx, "options.bins", &good, &o, KITH_INVALID);
    kith_overlap_options_init(&o);
    memcpy(&o.measure, &(int){3}, sizeof o.measure);
    refuse(ctx, "options.measure", &good, &o, KITH_INVALID);
    const double ends[][2] = {{1, 0}, {1, 1}, {NAN, 1}, {0, INFINITY}};
    for (int e = 0; e < 4; e++) {
        kith_overlap_options_init(&o);
        o.low = ends[e][0];
        o.high = ends[e][1];
        refuse(ctx, "options.low", &good, &o, KITH_INVALID);
    }
    double row[N];
    CHECK(kith_overlap_rows(ctx, &good, NULL, N, 1, row) == KITH_INVALID, "a row too many");
    CHECK(kith_overlap_rows(ctx, &good, NULL, 0, 1, NULL) == KITH_INVALID, "no matrix");
    CHECK(kith_overlap_count(ctx, &good, NULL, NULL) == KITH_INVALID, "no out");
    CHECK(kith_overlap_count(NULL, &good, NULL, &(kith_overlaps){0}) == KITH_INVALID, "no ctx");
    kith_overlaps_free(NULL);
}

static int stop(void *user, int64_t done, int64_t total)
{
    ++*(int *)user;
    return done >= 0 && done <= total;
}

static void check_cancel(const char *backend)
{
    int calls = 0;
    kith_options options;
    kith_ctx *ctx = NULL;
    kith_options_init(&options);
    options.backend = backend;
    options.watch = stop;
    options.user = &calls;
    CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL));
    refuse(ctx, "cancelled", &good, NULL, KITH_CANCELLED);
    double row[N];
    CHECK(kith_overlap_rows(ctx, &good, NULL, 0, 1, row) == KITH_CANCELLED, "rows go on");
    CHECK(calls == 2, "%d calls", calls);
    kith_close(ctx);
}

/* A MB or two for the replicas, a copy and the threads: a matrix would have 64 MB. */
static void check_scratch(kith_ctx *ctx)
{
    enum { MANY = 4000, FEW = 3 };
    static float y[MANY][FEW];
    rng r = {3};
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < FEW; k++) {
            y[i][k] = (float)rng_normal(&r);
        }
    }
    const kith_replicas replicas = {MANY, FEW, y, FEW, KITH_FLOAT};
    kith_overlaps found = {0};
    for (int k = 0; k < 2; k++) {
        CHECK(kith_overlap_count(ctx, &replicas, NULL, &found) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_scratch_bytes(ctx) < 1 << 22, "%lld bytes of scratch",
              (long long)kith_scratch_bytes(ctx));
    }
    kith_overlaps_free(&found);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {5};
    for (int k = 0; k < N * DIM; k++) {
        x[k / DIM][k % DIM] = rng_normal(&r);
    }
    check_replicas(ctx);
    check_options(ctx);
    check_cancel(backend);
    check_scratch(ctx);
    check_values(ctx);
    kith_close(ctx);
    return check_done();
}
