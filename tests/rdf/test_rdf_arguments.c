/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What must be refused, with a sentence; cancellation; and the same counts with any threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 30000 };

static double xyz[3 * N];

static kith_rdf_options good(void)
{
    kith_rdf_options o;
    kith_rdf_options_init(&o);
    o.r_max = 0.1;
    return o;
}

static void refuse(kith_ctx *ctx, const char *what, const kith_rdf_options *o, kith_status wanted)
{
    const kith_points points = kith_points_packed(xyz, 10, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_histogram h = {0};
    const kith_status got = kith_rdf_count(ctx, &points, &box, o, &h);
    CHECK(got == wanted, "%s: %s", what, kith_status_name(got));
    CHECK(strlen(kith_message(ctx)) > 0, "%s: no message", what);
    CHECK(h.frames == 0, "%s: a frame was added", what);
    kith_histogram_free(&h);
}

static void check_refusals(kith_ctx *ctx)
{
    refuse(ctx, "no options", NULL, KITH_INVALID);
    const double falling[] = {0, 2, 1}, negative[] = {-1, 1, 2}, endless[] = {0, 1, INFINITY};
    const double *edges[] = {falling, negative, endless};
    for (int e = 0; e < 3; e++) {
        kith_rdf_options o = good();
        o.bins = 2;
        o.edges = edges[e];
        refuse(ctx, "edges", &o, KITH_INVALID);
    }
    const double bad[] = {0, -1, NAN, INFINITY};
    for (int b = 0; b < 4; b++) {
        kith_rdf_options o = good();
        o.r_max = bad[b];
        refuse(ctx, "r_max", &o, KITH_INVALID);
    }
    kith_rdf_options o = good();
    o.size = 1;
    refuse(ctx, "size", &o, KITH_INVALID);
    o = good();
    o.bins = 0;
    refuse(ctx, "bins", &o, KITH_INVALID);
    o = good();
    o.r_min = 0.1;
    refuse(ctx, "r_min", &o, KITH_INVALID);
    const int32_t species[10] = {0, 1, 2};
    o = good();
    o.species = species;
    o.n_species = 2;
    refuse(ctx, "species", &o, KITH_INVALID);
    o.n_species = 1 << 20;
    refuse(ctx, "n_species", &o, KITH_INVALID);
    o.n_species = 1000;
    refuse(ctx, "counters", &o, KITH_LIMIT);
    const int64_t offsets[11] = {0, 2, 1};
    o = good();
    o.bond_offsets = offsets;
    o.bonds = species;
    refuse(ctx, "bond offsets", &o, KITH_INVALID);
    const double weights[10] = {1, NAN};
    o = good();
    o.weights = weights;
    refuse(ctx, "weights", &o, KITH_NOT_FINITE);
    kith_points against = kith_points_packed(xyz, 10, KITH_DOUBLE);
    o = good();
    o.against = &against;
    o.n_species = 3;
    o.species = species;
    refuse(ctx, "species of one set", &o, KITH_INVALID);
}

/* Nearest images beyond half the box in boxes where they are not offered; another shape. */
static void check_boxes(kith_ctx *ctx)
{
    const kith_points points = kith_points_packed(xyz, 10, KITH_DOUBLE);
    kith_box box = kith_box_triclinic(1, 1, 1, 0.2, 0, 0);
    kith_rdf_options o = good();
    kith_histogram h = {0};
    o.minimum_image = 1;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_OK, "%s", kith_message(ctx));
    o.r_max = 0.6;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "other edges");
    kith_histogram_free(&h);
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "oblique, beyond half");
    box = kith_box_periodic(1, 1, 1);
    box.periodic[1] = 0;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &h) == KITH_INVALID, "open, beyond half");
    kith_histogram_free(&h);
    double broken[6] = {0, 0, 0, 1, NAN, 1};
    const kith_points bad = kith_points_packed(broken, 2, KITH_DOUBLE);
    box.periodic[1] = 1;
    for (int nearest = 0; nearest < 2; nearest++) {
        o.minimum_image = nearest;
        CHECK(kith_rdf_count(ctx, &bad, &box, &o, &h) == KITH_NOT_FINITE, "not finite");
        kith_histogram_free(&h);
    }
}

static int stop(void *user, int64_t done, int64_t total)
{
    ++*(int *)user;
    return done >= 0 && done <= total;
}

static void check_threads(const char *backend)
{
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    int asked = 0;
    for (int nearest = 0; nearest < 2; nearest++) {
        kith_rdf_options o = good();
        o.r_max = nearest ? 0.7 : 0.05;
        o.minimum_image = nearest;
        const kith_points few = kith_points_packed(xyz, nearest ? 5000 : N, KITH_DOUBLE);
        kith_histogram h[3] = {{0}};
        for (int t = 0; t < 3; t++) {
            kith_ctx *ctx = check_open(backend, t + 1);
            CHECK(kith_rdf_count(ctx, &few, &box, &o, &h[t]) == KITH_OK, "%s", kith_message(ctx));
            CHECK(t == 0 || memcmp(h[0].counts, h[t].counts, 200 * sizeof *h[0].counts) == 0,
                  "%d threads count differently", t + 1);
            kith_close(ctx);
        }
        kith_options options;
        kith_options_init(&options);
        options.backend = backend;
        options.watch = stop;
        options.user = &asked;
        kith_ctx *ctx = NULL;
        CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL));
        CHECK(kith_rdf_count(ctx, &points, &box, &o, &h[0]) == KITH_CANCELLED, "not cancelled");
        CHECK(asked > 0 && h[0].frames == 1, "a cancelled frame was added");
        kith_close(ctx);
        for (int t = 0; t < 3; t++)
            kith_histogram_free(&h[t]);
    }
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {14};
    for (int e = 0; e < 3 * N; e++)
        xyz[e] = rng_uniform(&r, 0, 1);
    check_refusals(ctx);
    check_boxes(ctx);
    kith_close(ctx);
    check_threads(backend);
    return check_done();
}
