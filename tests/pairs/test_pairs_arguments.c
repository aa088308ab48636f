/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arguments that make no sense: the status stated, a message that names the thing, and a context
 * that answers the next question rightly.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

/* A call to all four searches; start_call gives one without a fault. */
typedef struct call {
    kith_ctx *ctx;
    kith_points points;
    const kith_points *points_given;
    kith_box box;
    double cutoff;
    kith_pairs_options options;
} call;

static const double corners[12] = {0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.1, 0.9};

static call start_call(kith_ctx *ctx)
{
    call c = {.ctx = ctx,
              .box = kith_box_periodic(1.0, 1.0, 1.0),
              .cutoff = 0.2,
              .points = kith_points_packed(corners, 4, KITH_DOUBLE)};
    kith_pairs_options_init(&c.options);
    return c;
}

static int ignore_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)user;
    (void)block;
    (void)first;
    return 0;
}

static int stop_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)block;
    (void)first;
    ++*(int *)user;
    return 1;
}

static void check_status(const kith_ctx *ctx, const char *what, kith_status got, kith_status want,
                         const char *word)
{
    CHECK(got == want, "%s: %s, expected %s (message: %s)", what, kith_status_name(got),
          kith_status_name(want), kith_message(ctx));
    if (word)
        CHECK(strstr(kith_message(ctx), word) != NULL, "%s: the message does not say \"%s\": %s",
              what, word, kith_message(ctx));
}

/* The context still answers rightly: points 1, 2 and 3, alone, are within 0.21 of point 0. */
static void check_usable(kith_ctx *ctx, const char *after)
{
    call c = start_call(ctx);
    kith_pairs list = {0};
    const kith_status status = kith_pairs_find(ctx, &c.points, &c.box, 0.21, &c.options, &list);
    CHECK(status == KITH_OK, "after %s: %s", after, kith_message(ctx));
    CHECK(list.n == 3, "after %s: %lld pairs", after, (long long)list.n);
    kith_pairs_free(&list);
}

/* Every kind of search refuses c, with a message that holds word. */
static void check_refused(const char *what, const call *c, kith_status want, const char *word)
{
    const kith_points *points = c->points_given ? c->points_given : &c->points;
    kith_pairs found = {0};
    check_status(c->ctx, what,
                 kith_pairs_find(c->ctx, points, &c->box, c->cutoff, &c->options, &found), want,
                 word);
    CHECK(found.n == 0, "%s: a list of %lld pairs", what, (long long)found.n);
    kith_pairs_free(&found);

    int64_t n = 0;
    check_status(c->ctx, what,
                 kith_pairs_count(c->ctx, points, &c->box, c->cutoff, &c->options, &n, NULL), want,
                 word);
    int32_t i[16], j[16], shifts[48];
    int64_t offsets[16];
    double distances[16], vectors[48];
    kith_pairs mine = {.capacity = 16,
                       .i = i,
                       .j = j,
                       .offsets = offsets,
                       .shifts = shifts,
                       .distances = distances,
                       .vectors = vectors};
    check_status(c->ctx, what,
                 kith_pairs_fill(c->ctx, points, &c->box, c->cutoff, &c->options, &mine), want,
                 word);
    check_status(
        c->ctx, what,
        kith_pairs_each(c->ctx, points, &c->box, c->cutoff, &c->options, ignore_block, NULL), want,
        word);
    check_usable(c->ctx, what);
}

static void check_points(kith_ctx *ctx)
{
    call c = start_call(ctx);
    c.points.n = -1;
    check_refused("n < 0", &c, KITH_INVALID, "n");
    c.points.n = INT64_C(1) << 31; /* refused before a coordinate is read */
    check_refused("too many", &c, KITH_LIMIT, "2147483648");
    c.points.n = INT64_MAX;
    check_refused("far too many", &c, KITH_LIMIT, "points");
    c = start_call(ctx);
    c.points.stride = 0;
    check_refused("stride 0", &c, KITH_INVALID, "stride");
    c.points.stride = -3;
    check_refused("stride < 0", &c, KITH_INVALID, "stride");
    c = start_call(ctx);
    c.points.x = NULL;
    check_refused("x NULL", &c, KITH_INVALID, "NULL");
    c = start_call(ctx);
    c.points.z = NULL;
    check_refused("z NULL", &c, KITH_INVALID, "NULL");
    c = start_call(ctx);
    c.points.precision = (kith_precision)3;
    check_refused("precision 3", &c, KITH_INVALID, "precision");
    c = start_call(ctx);
    c.points.memory = (kith_memory)9;
    check_refused("memory 9", &c, KITH_INVALID, "memory");

    c = start_call(ctx);
    kith_points against = c.points;
    c.options.against = &against;
    against.n = -5;
    check_refused("against n < 0", &c, KITH_INVALID, "against");
    against.n = 4;
    against.precision = KITH_FLOAT;
    check_refused("against in float", &c, KITH_INVALID, "precision");
}

static void check_cutoffs(kith_ctx *ctx)
{
    const double bad[] = {0.0,   -0.0,  -1.0, (double)NAN, (double)INFINITY, -(double)INFINITY,
                          1e200, 1e-200};
    call c = start_call(ctx);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        c.cutoff = bad[k];
        check_refused("cutoff", &c, KITH_INVALID, "cutoff");
    }
    const float few[3] = {0.5f, 0.5f, 0.5f};
    c.points = kith_points_packed(few, 1, KITH_FLOAT);
    const double bad_float[] = {1e20, 1e-30, 1e60, 1e-60};
    for (size_t k = 0; k < 4; k++) {
        c.cutoff = bad_float[k];
        check_refused("cutoff in float", &c, KITH_INVALID, "cutoff");
    }
}

static void check_boxes(kith_ctx *ctx)
{
    call c = start_call(ctx);
    c.box.row[1][1] = 0.0;
    check_refused("zero row", &c, KITH_INVALID, "row b");
    c = start_call(ctx);
    memcpy(c.box.row[2], c.box.row[0], sizeof c.box.row[0]);
    check_refused("flat box", &c, KITH_INVALID, "volume");
    c = start_call(ctx);
    c.box.row[2][1] = (double)NAN;
    check_refused("NaN in a row", &c, KITH_INVALID, "row c");
    c = start_call(ctx);
    c.box.row[0][0] = (double)INFINITY;
    check_refused("infinite row", &c, KITH_INVALID, "row a");
    c = start_call(ctx);
    c.box.origin[1] = (double)NAN;
    check_refused("NaN origin", &c, KITH_INVALID, "origin");
    c = start_call(ctx);
    const int dims[] = {0, 1, 4, -3};
    for (int d = 0; d < 4; d++) {
        c.box.dim = dims[d];
        check_refused("dim", &c, KITH_INVALID, "dim");
    }
    const float few[3] = {0.5f, 0.5f, 0.5f};
    c = start_call(ctx);
    c.points = kith_points_packed(few, 1, KITH_FLOAT);
    c.box.row[0][0] = 1e60; /* infinite once rounded to float */
    check_refused("box beyond float", &c, KITH_INVALID, "row a");
}

static void check_options(kith_ctx *ctx)
{
    call c = start_call(ctx);
    c.options.size = 0;
    check_refused("size 0", &c, KITH_INVALID, "size");
    c.options.size = sizeof c.options + 4;
    check_refused("size", &c, KITH_INVALID, "size");
    c = start_call(ctx);
    c.options.layout = (kith_layout)7;
    check_refused("layout 7", &c, KITH_INVALID, "layout");
    c = start_call(ctx);
    c.options.extras = 8;
    check_refused("extras 8", &c, KITH_INVALID, "extras");
    c = start_call(ctx);
    c.options.block_pairs = -1;
    check_refused("block_pairs < 0", &c, KITH_INVALID, "block_pairs");
}

/* The first index is named, whatever comes after it, in both precisions and in either set. */
static void check_not_finite(kith_ctx *ctx)
{
    enum { MANY = 70000 };
    const double values[3] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    rng r = {8};
    for (int v = 0; v < 3; v++)
        for (int p = 0; p < 2; p++) {
            double *xyz = points_uniform(&r, MANY, lo, hi);
            xyz[3 * 61234 + v] = values[v];
            xyz[3 * 69999 + 1] = (double)NAN;
            stored s = stored_make(xyz, MANY, p ? KITH_DOUBLE : KITH_FLOAT, (layout)v);
            call c = start_call(ctx);
            c.points = s.points;
            c.cutoff = 0.01;
            check_refused("not finite", &c, KITH_NOT_FINITE, "61234");
            if (p) {
                c.points = kith_points_packed(corners, 4, KITH_DOUBLE);
                c.options.against = &s.points;
                check_refused("B not finite", &c, KITH_NOT_FINITE, "61234");
            }
            stored_free(&s);
            free(xyz);
        }
    double first[3] = {(double)NAN, 0.5, 0.5};
    call c = start_call(ctx);
    c.points = kith_points_packed(first, 1, KITH_DOUBLE);
    check_refused("the only point", &c, KITH_NOT_FINITE, "0");
}

static void check_null(kith_ctx *ctx)
{
    const call c = start_call(ctx);
    kith_pairs list = {0};
    int64_t n = 0;
    check_status(ctx, "points NULL", kith_pairs_find(ctx, NULL, &c.box, 0.2, NULL, &list),
                 KITH_INVALID, "points");
    check_status(ctx, "out NULL", kith_pairs_find(ctx, &c.points, &c.box, 0.2, NULL, NULL),
                 KITH_INVALID, "out");
    check_status(ctx, "fill out NULL", kith_pairs_fill(ctx, &c.points, &c.box, 0.2, NULL, NULL),
                 KITH_INVALID, "out");
    check_status(ctx, "n NULL", kith_pairs_count(ctx, &c.points, &c.box, 0.2, NULL, NULL, NULL),
                 KITH_INVALID, "n");
    check_status(ctx, "fn NULL", kith_pairs_each(ctx, &c.points, &c.box, 0.2, NULL, NULL, NULL),
                 KITH_INVALID, "fn");
    CHECK(kith_pairs_find(NULL, &c.points, &c.box, 0.2, NULL, &list) == KITH_INVALID, "ctx NULL");
    CHECK(kith_pairs_count(NULL, &c.points, &c.box, 0.2, NULL, &n, NULL) == KITH_INVALID,
          "ctx NULL");
    kith_pairs_free(NULL);
    kith_pairs_free(&list);
    kith_close(NULL);
    check_usable(ctx, "NULL arguments");
}

/* The caller's arrays: capacity and arrays that go with the options. */
static void check_fill(kith_ctx *ctx)
{
    int32_t i[8], j[8];
    double room[24];
    const struct {
        const char *word;
        kith_layout layout;
        unsigned extras;
        kith_pairs list;
    } faults[] = {
        {"capacity", KITH_IJ, 0, {.capacity = -1, .i = i, .j = j}},
        {"j", KITH_IJ, 0, {.capacity = 8, .i = i}},
        {"i", KITH_IJ, 0, {.capacity = 8, .j = j}},
        {"offsets", KITH_CSR, 0, {.capacity = 8, .j = j}},
        {"distances", KITH_IJ, KITH_DISTANCES, {.capacity = 8, .i = i, .j = j, .vectors = room}},
        {"vectors", KITH_IJ, KITH_VECTORS, {.capacity = 8, .i = i, .j = j, .distances = room}},
        {"shifts", KITH_IJ, KITH_SHIFTS, {.capacity = 8, .i = i, .j = j, .distances = room}},
    };
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
        call c = start_call(ctx);
        c.options.layout = faults[f].layout;
        c.options.extras = faults[f].extras;
        kith_pairs list = faults[f].list;
        check_status(ctx, faults[f].word,
                     kith_pairs_fill(ctx, &c.points, &c.box, c.cutoff, &c.options, &list),
                     KITH_INVALID, faults[f].word);
        check_usable(ctx, faults[f].word);
    }
    call c = start_call(ctx);
    kith_pairs list = {.capacity = 8, .i = i, .j = j};
    check_status(ctx, "the caller's arrays to find",
                 kith_pairs_find(ctx, &c.points, &c.box, c.cutoff, &c.options, &list), KITH_INVALID,
                 "out");
    CHECK(list.owner == NULL, "find took over the caller's arrays");
}

static int stop_watch(void *user, int64_t done, int64_t total)
{
    CHECK(0 <= done && done <= total, "progress %lld of %lld", (long long)done, (long long)total);
    ++*(int *)user;
    return 1;
}

/* What a watch callback saw. */
struct seen {
    int calls;      /* how often it was called */
    double largest; /* largest progress, as a part of the whole */
};

static int see(void *user, int64_t done, int64_t total)
{
    struct seen *seen = user;
    seen->calls++;
    seen->largest = fmax(seen->largest, (double)done / (double)total);
    return 0;
}

/* Counting, with the neighbours of each particle or without, has a progress up to the whole. */
static void check_progress(const char *backend)
{
    enum { MANY = 100000, CALLS = 10 };
    struct seen seen = {0};
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = 1;
    options.watch = see;
    options.user = &seen;
    kith_ctx *ctx = NULL;
    CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL));
    rng r = {10};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    double *xyz = points_uniform(&r, MANY, lo, hi);
    int64_t *neighbours = check_malloc(MANY * sizeof *neighbours), n = 0;
    const kith_points many = kith_points_packed(xyz, MANY, KITH_DOUBLE);
    for (int with = 0; with < 2; with++) {
        seen = (struct seen){0};
        for (double cutoff = 0.08; seen.calls < CALLS && cutoff < 1; cutoff *= 1.5) {
            seen = (struct seen){0};
            CHECK(kith_pairs_count(ctx, &many, NULL, cutoff, NULL, &n, with ? neighbours : NULL) ==
                      KITH_OK,
                  "%s", kith_message(ctx));
        }
        CHECK(seen.calls >= CALLS && seen.largest > 0.75 && seen.largest <= 1,
              "neighbours %d: %d calls, the progress ends at %g", with, seen.calls, seen.largest);
    }
    free(neighbours);
    free(xyz);
    kith_close(ctx);
}

/* Stopped by a block, and by the watch callback during work long enough for it to be called. */
static void check_cancelled(const char *backend)
{
    enum { MANY = 200000 };
    int blocks = 0, watched = 0;
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = 2;
    options.watch = stop_watch;
    options.user = &watched;
    kith_ctx *watching = NULL, *ctx = check_open(backend, 2);
    CHECK(kith_open(&options, &watching) == KITH_OK, "%s", kith_message(NULL));

    const call c = start_call(ctx);
    check_status(ctx, "stopped by a block",
                 kith_pairs_each(ctx, &c.points, &c.box, 0.25, NULL, stop_block, &blocks),
                 KITH_CANCELLED, NULL);
    CHECK(blocks == 1, "%d blocks after the stop", blocks);
    check_usable(ctx, "a stop");

    rng r = {9};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    double *xyz = points_uniform(&r, MANY, lo, hi);
    const kith_points many = kith_points_packed(xyz, MANY, KITH_DOUBLE);
    int64_t n = 0;
    check_status(watching, "stopped by the watch",
                 kith_pairs_count(watching, &many, NULL, 0.2, NULL, &n, NULL), KITH_CANCELLED,
                 NULL);
    CHECK(watched >= 1, "the watch was not called");
    kith_pairs list = {0};
    check_status(watching, "stopped by the watch",
                 kith_pairs_find(watching, &many, NULL, 0.05, NULL, &list), KITH_CANCELLED, NULL);
    CHECK(list.n == 0, "a list of %lld pairs after a stop", (long long)list.n);
    kith_pairs_free(&list);
    free(xyz);
    kith_close(watching);
    kith_close(ctx);
}

static void check_opening(void)
{
    const char *unknown[] = {"gpu", "cpu:mmx", "cpux", "CPU", "cuda:x", "autos", ":", "cpu:avx2 "};
    for (size_t u = 0; u < sizeof unknown / sizeof unknown[0]; u++) {
        kith_options options;
        kith_options_init(&options);
        options.backend = unknown[u];
        kith_ctx *ctx = (kith_ctx *)&options;
        const kith_status status = kith_open(&options, &ctx);
        CHECK(status == KITH_INVALID || (status == KITH_NO_BACKEND && unknown[u][1] == 'u'),
              "backend \"%s\": %s", unknown[u], kith_status_name(status));
        CHECK(ctx == NULL, "backend \"%s\": a context", unknown[u]);
        CHECK(strstr(kith_message(NULL), unknown[u]) || status != KITH_INVALID,
              "backend \"%s\" is not named: %s", unknown[u], kith_message(NULL));
    }
    kith_options options;
    kith_options_init(&options);
    kith_ctx *ctx = NULL;
    options.threads = -1;
    check_status(NULL, "threads < 0", kith_open(&options, &ctx), KITH_INVALID, "threads");
    kith_options_init(&options);
    options.size--;
    check_status(NULL, "size", kith_open(&options, &ctx), KITH_INVALID, "size");
    check_status(NULL, "out NULL", kith_open(NULL, NULL), KITH_INVALID, "out");
    kith_options_init(&options);
    options.backend = "cuda:99";
    const kith_status absent = kith_open(&options, &ctx);
    CHECK(absent == KITH_NO_BACKEND, "cuda:99: %s", kith_status_name(absent));
    CHECK(kith_message(NULL)[0] != '\0', "no message for an absent backend");
    setenv("KITH_BACKEND", "nonsense", 1);
    check_status(NULL, "KITH_BACKEND", kith_open(NULL, &ctx), KITH_INVALID, "nonsense");
    setenv("KITH_BACKEND", "cpu:baseline", 1);
    if (CHECK(kith_open(NULL, &ctx) == KITH_OK, "%s", kith_message(NULL)))
        CHECK(strcmp(kith_backend(ctx), "cpu:baseline") == 0, "%s", kith_backend(ctx));
    kith_close(ctx);
    unsetenv("KITH_BACKEND");
}

/* Nothing wrong with these. */
static void check_allowed(kith_ctx *ctx)
{
    const kith_points none = kith_points_packed(NULL, 0, KITH_DOUBLE);
    kith_pairs list = {0};
    int64_t n = -1;
    CHECK(kith_pairs_find(ctx, &none, NULL, 1.0, NULL, &list) == KITH_OK, "%s", kith_message(ctx));
    CHECK(list.n == 0, "%lld pairs of no points", (long long)list.n);
    CHECK(kith_pairs_count(ctx, &none, NULL, 1.0, NULL, &n, NULL) == KITH_OK && n == 0, "%s",
          kith_message(ctx));
    kith_pairs mine = {.capacity = 0};
    CHECK(kith_pairs_fill(ctx, &none, NULL, 1.0, NULL, &mine) == KITH_OK, "%s", kith_message(ctx));
    kith_pairs_free(&list);
    for (int status = KITH_TEAM_LOST; status <= KITH_OK; status++)
        CHECK(strncmp(kith_status_name((kith_status)status), "KITH_", 5) == 0, "status %d", status);
    CHECK(kith_status_name((kith_status)1234) != NULL, "an unknown status has no name");
    CHECK(strcmp(kith_version(), KITH_VERSION) == 0, "version %s", kith_version());
    CHECK(kith_threads(ctx) == 2, "%d threads", kith_threads(ctx));
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    check_points(ctx);
    check_cutoffs(ctx);
    check_boxes(ctx);
    check_options(ctx);
    check_not_finite(ctx);
    check_null(ctx);
    check_fill(ctx);
    check_allowed(ctx);
    check_cancelled(backend);
    if (strncmp(backend, "cpu", 3) == 0)
        check_progress(backend);
    kith_close(ctx);
    check_opening();
    return check_done();
}
