/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of random sets against the oracle, to the last bit: two and three dimensions,
 * open to periodic, orthorhombic to skewed boxes, one set and two, all images, with and without a
 * cutoff, points outside the box, equal points and lattices, whose neighbours are ordered by j and
 * S alone.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "nearest_case.h"
#include "oracle.h"
#include "points.h"

/** Return true when each particle has k pairs in the list. */
static bool is_enough(const oracle_list *list, int64_t n, int64_t k)
{
    int64_t *count = check_malloc((size_t)n * sizeof *count);
    memset(count, 0, (size_t)n * sizeof *count);
    for (int64_t p = 0; p < list->n; p++) {
        count[list->pairs[p].i]++;
    }
    bool enough = true;
    for (int64_t p = 0; p < n; p++) {
        enough = enough && count[p] >= k;
    }
    free(count);
    return enough;
}

/** The pairs that hold the k nearest neighbours of each particle, sorted by i and distance. Without
 *  a cutoff the list is made with larger and larger ones until each particle has enough, or, where
 *  there are no images, all others. */
static oracle_list expected(const nearest_input *in, const kith_points *points,
                            const kith_points *against)
{
    const bool images = in->box.periodic[0] || in->box.periodic[1] || in->box.periodic[2];
    double extent = 0;
    for (int k = 0; k < in->box.dim; k++) {
        extent += hypot(hypot(in->box.row[k][0], in->box.row[k][1]), in->box.row[k][2]);
    }
    const int64_t candidates = against ? against->n : points->n;
    double cutoff = in->cutoff > 0 ? in->cutoff : images ? 0.2 * extent : 20 * extent;
    oracle_list list = oracle_full(points, against, &in->box, cutoff);
    while (in->cutoff == 0 && images && candidates > 0 && points->n > 0 &&
           !is_enough(&list, points->n, in->k)) {
        oracle_free(&list);
        cutoff *= 1.4;
        list = oracle_full(points, against, &in->box, cutoff);
    }
    nearest_sort(&list);
    return list;
}

static void check_input(kith_ctx *ctx, const nearest_input *in, kith_precision precision,
                        layout how, kith_nearest *out)
{
    stored a = stored_make(in->xyz, in->n, precision, how);
    stored b = stored_make(in->against ? in->against : in->xyz, in->against ? in->m : 0, precision,
                           how);
    const kith_points *against = in->against ? &b.points : NULL;
    if (oracle_margin(&a.points, &in->box) > 1e-12 && oracle_margin(&b.points, &in->box) > 1e-12) {
        oracle_list list = expected(in, &a.points, against);
        kith_nearest_options options;
        kith_nearest_options_init(&options);
        options.against = against;
        options.cutoff = in->cutoff;
        options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
        const kith_status status = kith_nearest_find(ctx, &a.points, &in->box, in->k, &options,
                                                     out);
        if (CHECK(status == KITH_OK, "%s: %s", in->name, kith_message(ctx))) {
            nearest_check(in->name, out, in->n, in->k, precision, &list);
        }
        oracle_free(&list);
    }
    stored_free(&a);
    stored_free(&b);
}

/** An image and a particle at distances that are equal when they are rounded to float. The image is
 *  a little further away, but has the smaller index: it is the nearest neighbour. */
static void check_image_at_tie(kith_ctx *ctx, rng *r, kith_nearest *out)
{
    enum { FOUND = 60 };
    int found = 0;
    for (int tries = 0; found < FOUND && tries < 100000; tries++) {
        const float first = (float)rng_uniform(r, 0, 0.1), i = (float)rng_uniform(r, 0.6, 0.99);
        const float across = (float)(first - i) + 1.0F; /* from i to the image of `first` */
        const float second = i - across;
        if (i - second != across || !((double)across < (double)first - (double)i + 1)) {
            continue;
        }
        const int axis = found++ % 3;
        double xyz[3] = {0.5, 0.5, 0.5};
        double against[6] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
        xyz[axis] = (double)i;
        against[axis] = (double)first;
        against[3 + axis] = (double)second;
        const nearest_input in = {.box = kith_box_periodic(1, 1, 1),
                                  .n = 1,
                                  .m = 2,
                                  .k = 1 + found % 2,
                                  .xyz = xyz,
                                  .against = against,
                                  .name = "image at a tie"};
        check_input(ctx, &in, KITH_FLOAT, LAYOUT_PACKED, out);
    }
    CHECK(found == FOUND, "%d images at ties", found);
}

/** A particle far away along an open axis does not make images along the periodic axis that matter
 *  to the others more distant. */
static void check_far_along_open_axis(kith_ctx *ctx, kith_nearest *out)
{
    double xyz[] = {0.1, 0.5, 0.5, 0.9, 0.5, 0.5, 0.4, 1e17, 0.5, 0.2, 0.5, 0.4};
    nearest_input in = {.box = kith_box_periodic(1, 1, 1),
                        .n = 4,
                        .m = -1,
                        .k = 3,
                        .cutoff = 0.3,
                        .xyz = xyz,
                        .name = "far along an open axis"};
    in.box.periodic[1] = 0;
    for (int precision = 0; precision < 2; precision++) {
        check_input(ctx, &in, precision ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED, out);
    }
}

/** Particles spread along an open axis that is not perpendicular to the periodic ones: those in the
 *  box are many boxes from each other along the normals of the periodic axes. */
static void check_spread_along_skewed_axis(kith_ctx *ctx, kith_nearest *out)
{
    enum { N = 6 };
    double xyz[3 * N];
    nearest_input in = {.box = {.dim = 3,
                                .row = {{1.2, -1.1, 0}, {4.8, 0.4, 3.8}, {2.4, 0, 1.9}},
                                .periodic = {1, 0, 1}},
                        .n = N,
                        .m = -1,
                        .k = 8,
                        .cutoff = 2,
                        .xyz = xyz,
                        .name = "spread along a skewed axis"};
    for (int p = 0; p < N; p++) {
        const double f[3] = {0.1 + 0.13 * p, p < 3 ? 0.2 : 700.3, 0.9 - 0.11 * p};
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = f[0] * in.box.row[0][m] + f[1] * in.box.row[1][m] +
                             f[2] * in.box.row[2][m];
        }
    }
    for (int precision = 0; precision < 2; precision++) {
        check_input(ctx, &in, precision ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED, out);
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    const int cases = check_deep() ? 3000 : check_brief() ? 150 : 600;
    kith_nearest out = {.size = sizeof out};
    for (int c = 0; c < cases; c++) {
        rng r = {1000 + (uint64_t)c};
        nearest_input in = nearest_random(&r);
        for (int precision = 0; precision < 2; precision++) {
            check_input(ctx, &in, precision ? KITH_FLOAT : KITH_DOUBLE, (layout)(c % LAYOUTS),
                        &out);
        }
        nearest_input_free(&in);
    }
    rng r = {20261125};
    check_image_at_tie(ctx, &r, &out);
    check_far_along_open_axis(ctx, &out);
    check_spread_along_skewed_axis(ctx, &out);
    kith_nearest_free(&out);
    kith_close(ctx);
    return check_done();
}
