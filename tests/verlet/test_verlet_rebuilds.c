/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When a kept list is rebuilt, and why; lists that nothing can be kept of; and arguments that are
 * refused, after which the list goes on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verlet_case.h"

enum { N = 500 };

static void expect(const kept *k, kith_verlet_reason reason, const char *what)
{
    const kith_verlet_state state = kept_state(k);
    CHECK(state.reason == reason, "%s: reason %d, expected %d", what, (int)state.reason,
          (int)reason);
    CHECK(state.rebuilt == (reason != KITH_VERLET_KEPT), "%s: rebuilt %d", what, state.rebuilt);
}

static kept open_list(kith_ctx *ctx, double cutoff, double skin)
{
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = cutoff;
    o.skin = skin;
    return kept_open(ctx, &o, "rebuilds");
}

/* Each reason, by the smallest cause. */
static void check_reasons(kith_ctx *ctx)
{
    rng r = {3};
    kith_box box = kith_box_periodic(10, 10, 10);
    double *x = points_in_box(&r, N, &box);
    kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    kept k = open_list(ctx, 1, 0.5);
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_FIRST, "first");
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_KEPT, "unchanged");
    const double allowed = kept_state(&k).allowed;
    CHECK(allowed > 0.2499 && allowed < 0.25, "allowed %.17g", allowed);
    x[7] += 0.2499;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_KEPT, "moved by less than half the skin");
    CHECK(fabs(kept_state(&k).displacement - 0.2499) < 1e-9, "displacement %.17g",
          kept_state(&k).displacement);
    x[7] += 0.0002;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_MOVED, "moved by more than half the skin");
    points_drift(&r, x, N, &box, 3);
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_KEPT, "moved by whole boxes");
    kith_verlet_rebuild(k.verlet);
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_ASKED, "asked");
    points.n--;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_PARTICLES, "a particle less");
    box.row[1][0] = 0.5; /* changes distances by 5 %; particles with large y have moved by 0.5 */
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_MOVED, "a box whose change particles do not follow");
    box.row[1][0] = -9.5;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_BOX, "another box");
    box.periodic[2] = 0;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_BOX, "an open axis");
    stored s = stored_make(x, N - 1, KITH_FLOAT, LAYOUT_SPLIT);
    kept_check(&k, &s.points, &box);
    expect(&k, KITH_VERLET_PARTICLES, "float");
    stored_free(&s);
    const kith_verlet_state state = kept_state(&k);
    CHECK(state.updates == 11 && state.rebuilds == 8, "%lld updates, %lld rebuilds",
          (long long)state.updates, (long long)state.rebuilds);
    kept_close(&k);
    free(x);
}

/* Small steps need few rebuilds: a walk of 0.01 a step in a skin of 0.5 takes 25 steps and more. */
static void check_rare(kith_ctx *ctx)
{
    enum { STEPS = 300 };
    rng r = {4};
    kith_box box = kith_box_periodic(10, 10, 10);
    double *x = points_in_box(&r, N, &box);
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    kept k = open_list(ctx, 1, 0.5);
    for (int step = 0; step < STEPS; step++) {
        kept_check(&k, &points, &box);
        for (int64_t p = 0; p < 3 * N; p++)
            x[p] += 0.01 / sqrt(3) * (rng_below(&r, 2) ? 1 : -1);
        for (int64_t p = 0; p < N; p++) /* a program that wraps */
            x[3 * p] -= 10 * floor(x[3 * p] / 10);
    }
    CHECK(kept_state(&k).rebuilds <= STEPS / 25, "%lld rebuilds",
          (long long)kept_state(&k).rebuilds);
    CHECK(kept_state(&k).rebuilds >= 3, "%lld rebuilds", (long long)kept_state(&k).rebuilds);
    kept_close(&k);
    free(x);
}

/* A sheared liquid: particles follow the box, which is replaced by an equivalent one at a half. */
static void check_shear(kith_ctx *ctx)
{
    enum { STEPS = 200 };
    rng r = {5};
    kith_box box = kith_box_periodic(10, 10, 10);
    double *x = points_in_box(&r, N, &box);
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    kept k = open_list(ctx, 1, 0.3);
    int flips = 0;
    for (int step = 0; step < STEPS; step++) {
        kept_check(&k, &points, &box);
        for (int64_t p = 0; p < N; p++)
            x[3 * p] += 0.01 * x[3 * p + 1];
        box.row[1][0] += 0.1;
        if (box.row[1][0] > 5) {
            box.row[1][0] -= 10;
            flips++;
        }
    }
    /* |d| changes by a factor of 1 +- strain / 2: 0.3 of 1.3 allows a strain of about 0.46 */
    const int64_t rebuilds = kept_state(&k).rebuilds;
    CHECK(rebuilds <= flips + STEPS / 40 + 1, "%lld rebuilds, %d flips", (long long)rebuilds,
          flips);
    CHECK(rebuilds > flips, "%lld rebuilds, %d flips", (long long)rebuilds, flips);
    kept_close(&k);
    free(x);
}

/* No skin, and boxes that are too short: every update searches. */
static void check_always(kith_ctx *ctx)
{
    rng r = {6};
    kith_box box = kith_box_periodic(10, 10, 10);
    double *x = points_in_box(&r, N, &box);
    const double skins[] = {0, 1e-16, 1};
    for (int s = 0; s < 3; s++) {
        kith_points points = kith_points_packed(x, s < 2 ? N : 2, KITH_DOUBLE);
        kept k = open_list(ctx, s < 2 ? 1 : 3, skins[s]);
        box.row[0][0] = s < 2 ? 10 : 0.009;
        for (int step = 0; step < 3; step++) {
            kept_check(&k, &points, &box);
            CHECK(kept_state(&k).reason == KITH_VERLET_ALWAYS, "skin %g: reason %d", skins[s],
                  (int)kept_state(&k).reason);
        }
        kept_close(&k);
    }
    free(x);
}

static void refuse(kept *k, const kith_points *points, const kith_box *box, kith_status want,
                   const char *text)
{
    const kith_status status = kith_verlet_update(k->verlet, points, box, &k->list);
    CHECK(status == want && strstr(kith_message(k->ctx), text), "%s, expected %s with \"%s\": %s",
          kith_status_name(status), kith_status_name(want), text, kith_message(k->ctx));
    CHECK(k->list.n == 0 && k->list.rows == 0, "%lld pairs after a failure", (long long)k->list.n);
}

/* Refused updates leave the list as it is: the next one finds it good, or rebuilds it. */
static void check_refused(kith_ctx *ctx)
{
    rng r = {7};
    kith_box box = kith_box_periodic(10, 10, 10);
    double *x = points_in_box(&r, N, &box);
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    kept k = open_list(ctx, 1, 0.5);
    kept_check(&k, &points, &box);
    const double was = x[5];
    x[5] = (double)NAN;
    refuse(&k, &points, &box, KITH_NOT_FINITE, "points: a coordinate of particle 1");
    x[5] = 1e12;
    refuse(&k, &points, &box, KITH_LIMIT, "particle 1 is too far outside");
    x[5] = was;
    kith_box flat = box;
    memcpy(flat.row[1], flat.row[0], sizeof flat.row[0]);
    refuse(&k, &points, &flat, KITH_INVALID, "span no volume");
    refuse(&k, NULL, &box, KITH_INVALID, "points is NULL");
    box.row[0][0] = 0.0025;
    refuse(&k, &points, &box, KITH_LIMIT, "cutoff + skin is 1.5, more than 500 times");
    box.row[0][0] = 0.0015;
    refuse(&k, &points, &box, KITH_LIMIT, "cutoff is 1, more than 500 times");
    box.row[0][0] = 10;
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_KEPT, "after refused updates");
    double *more = points_in_box(&r, 20 * N, &box); /* arrays that grow must not lose the list */
    more[8] = (double)NAN;
    const kith_points many = kith_points_packed(more, 20 * N, KITH_DOUBLE);
    refuse(&k, &many, &box, KITH_NOT_FINITE, "points: a coordinate of particle 2");
    kept_check(&k, &points, &box);
    expect(&k, KITH_VERLET_KEPT, "after a refused update of more particles");
    free(more);
    kith_pairs mine = {.size = sizeof mine, .j = (int32_t[1]){0}};
    CHECK(kith_verlet_update(k.verlet, &points, &box, &mine) == KITH_INVALID &&
              strstr(kith_message(ctx), "list's arrays are not the library's"),
          "%s", kith_message(ctx));
    CHECK(kith_verlet_update(k.verlet, &points, &box, NULL) == KITH_INVALID &&
              strcmp(kith_message(ctx), "list is NULL") == 0,
          "no list: %s", kith_message(ctx));
    CHECK(kith_verlet_update(NULL, &points, &box, &k.list) == KITH_INVALID &&
              strstr(kith_message(NULL), "verlet is NULL"),
          "%s", kith_message(NULL));
    CHECK(kith_verlet_read(k.verlet, NULL) == KITH_INVALID, "no state");
    CHECK(kith_verlet_rebuild(NULL) == KITH_INVALID, "no list to rebuild");
    kith_verlet_close(NULL);
    kept_close(&k);
    free(x);
}

static void check_options(kith_ctx *ctx)
{
    kith_verlet_options o;
    kith_verlet *verlet;
    kith_verlet_options_init(&o);
    CHECK(kith_verlet_open(ctx, NULL, &verlet) == KITH_INVALID && !verlet, "no options");
    CHECK(kith_verlet_open(ctx, &o, NULL) == KITH_INVALID, "no out");
    const struct {
        double cutoff, skin;
        int with_skin, full, layout;
        unsigned extras;
        const char *text;
    } wrong[] = {{0, 1, 0, 0, 0, 0, "options.cutoff is 0"},
                 {(double)INFINITY, 1, 0, 0, 0, 0, "options.cutoff is inf"},
                 {1, -1, 0, 0, 0, 0, "options.skin is -1"},
                 {1, (double)NAN, 0, 0, 0, 0, "options.skin is"},
                 {1, 1, 2, 0, 0, 0, "options.with_skin is 2"},
                 {1, 1, 0, -1, 0, 0, "options.full is -1"},
                 {1, 1, 0, 0, KITH_MATRIX, 0, "expected KITH_IJ or KITH_CSR"},
                 {1, 1, 0, 0, 0, 8, "options.extras is 0x8"}};
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        o.cutoff = wrong[w].cutoff;
        o.skin = wrong[w].skin;
        o.with_skin = wrong[w].with_skin;
        o.full = wrong[w].full;
        o.layout = (kith_layout)wrong[w].layout;
        o.extras = wrong[w].extras;
        verlet = (kith_verlet *)(void *)&o;
        CHECK(kith_verlet_open(ctx, &o, &verlet) == KITH_INVALID && !verlet &&
                  strstr(kith_message(ctx), wrong[w].text),
              "expected \"%s\": %s", wrong[w].text, kith_message(ctx));
    }
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    check_reasons(ctx);
    check_rare(ctx);
    check_shear(ctx);
    check_always(ctx);
    check_refused(ctx);
    check_options(ctx);
    kith_close(ctx);
    return check_done();
}
