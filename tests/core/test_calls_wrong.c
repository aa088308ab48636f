/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Values that one call refuses, beside those that all calls refuse (test_calls_refused.c): the
 * status and the words of the message. On the processor, which cannot reach device memory.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <kith/overlap.h>
#include <kith/waves.h>

#include "check.h"

enum { N = 4 };
static const double xyz[3 * N] = {0.1, 0.1, 0.1, 0.2, 0.1, 0.1, 0.8, 0.5, 0.5, 0.8, 0.6, 0.5};

static void refused(kith_ctx *ctx, kith_status status, kith_status wanted, const char *words)
{
    CHECK(status == wanted && strstr(kith_message(ctx), words), "%s: '%s', expected %s: '%s'",
          kith_status_name(status), kith_message(ctx), kith_status_name(wanted), words);
}

static kith_points points_in(kith_memory memory)
{
    kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    points.memory = memory;
    return points;
}

static void test_pairs(kith_ctx *ctx)
{
    const kith_points points = points_in(KITH_HOST), device = points_in(KITH_DEVICE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    kith_pairs out = {0};
    int64_t n = 0, result = 0;
    refused(ctx, kith_pairs_count(ctx, &device, &box, 0.2, NULL, &n, NULL), KITH_UNSUPPORTED,
            "points: in device memory, which backend");
    const kith_points nowhere = points_in((kith_memory)9);
    refused(ctx, kith_pairs_count(ctx, &nowhere, &box, 0.2, NULL, &n, NULL), KITH_INVALID,
            "memory is 9");
    options.against = &device;
    refused(ctx, kith_pairs_count(ctx, &points, &box, 0.2, &options, &n, NULL), KITH_INVALID,
            "memory");
    out.memory = (kith_memory)9;
    refused(ctx, kith_pairs_find(ctx, &points, &box, 0.2, NULL, &out), KITH_INVALID,
            "out: memory is 9, expected KITH_HOST or KITH_DEVICE");
    out.memory = KITH_DEVICE;
    refused(ctx, kith_pairs_find(ctx, &points, &box, 0.2, NULL, &out), KITH_UNSUPPORTED,
            "out: in device memory, which backend");
    refused(ctx, kith_pairs_enqueue(ctx, &points, &box, 0.2, NULL, &out, &result), KITH_UNSUPPORTED,
            "kith_pairs_enqueue needs a GPU; the backend is");
    refused(ctx, kith_pairs_enqueue(ctx, &points, &box, -1, NULL, &out, &result), KITH_INVALID,
            "cutoff");
    refused(ctx, kith_set_stream(ctx, NULL), KITH_UNSUPPORTED,
            "kith_set_stream needs a GPU; the backend is");
    CHECK(kith_set_stream(NULL, NULL) == KITH_INVALID && kith_message(NULL)[0], "no context");
    out = (kith_pairs){0};
    int32_t mine = 0;
    int64_t offsets = 0;
    kith_pairs *const foreign[] = {&(kith_pairs){.i = &mine}, &(kith_pairs){.j = &mine},
                                   &(kith_pairs){.offsets = &offsets}};
    for (int k = 0; k < 3; k++)
        refused(ctx, kith_pairs_find(ctx, &points, &box, 0.2, NULL, foreign[k]), KITH_INVALID,
                "out's arrays are not the library's");
    CHECK(kith_pairs_find(ctx, &points, &box, 0.2, NULL, &out) == KITH_OK && out.n == 2, "%s",
          kith_message(ctx));
    refused(ctx, kith_pairs_fill(ctx, &points, &box, 0.2, NULL, &out), KITH_INVALID,
            "out's arrays belong to the library: use kith_pairs_find");
    kith_pairs_free(&out);
}

static void test_nearest(kith_ctx *ctx)
{
    const kith_points points = points_in(KITH_HOST), device = points_in(KITH_DEVICE);
    kith_nearest out = {.memory = (kith_memory)9};
    kith_nearest_options o;
    kith_nearest_options_init(&o);
    refused(ctx, kith_nearest_find(ctx, &points, NULL, 2, &o, &out), KITH_INVALID,
            "out: memory is 9, expected KITH_HOST or KITH_DEVICE");
    out.memory = KITH_DEVICE;
    refused(ctx, kith_nearest_find(ctx, &points, NULL, 2, &o, &out), KITH_UNSUPPORTED,
            "out: in device memory, which backend");
    refused(ctx, kith_nearest_fill(ctx, &points, NULL, 2, &o, &out), KITH_UNSUPPORTED,
            "out: in device memory, which backend");
    out.memory = KITH_HOST;
    refused(ctx, kith_nearest_find(ctx, &device, NULL, 2, &o, &out), KITH_UNSUPPORTED,
            "points: in device memory, which backend");
    o.against = &device;
    refused(ctx, kith_nearest_find(ctx, &points, NULL, 2, &o, &out), KITH_INVALID, "memory");
    o.against = NULL;
    int32_t mine[2 * N] = {0};
    kith_nearest *const foreign[] = {&(kith_nearest){.j = mine}, &(kith_nearest){.counts = mine}};
    for (int k = 0; k < 2; k++)
        refused(ctx, kith_nearest_find(ctx, &points, NULL, 2, &o, foreign[k]), KITH_INVALID,
                "out's arrays are not the library's");
    static const double cutoffs[] = {-1, 1e-200, 1e200, (double)INFINITY, (double)NAN};
    for (size_t k = 0; k < sizeof cutoffs / sizeof *cutoffs; k++) {
        o.cutoff = cutoffs[k];
        refused(ctx, kith_nearest_find(ctx, &points, NULL, 2, &o, &out), KITH_INVALID, "cutoff");
    }
    o.cutoff = 0;
    kith_nearest own = {.j = mine};
    static const struct {
        unsigned extras;
        const char *words;
    } missing[] = {{KITH_DISTANCES, "out->distances is NULL, but options.extras contains"},
                   {KITH_VECTORS, "out->vectors is NULL, but options.extras contains"},
                   {KITH_SHIFTS, "out->shifts is NULL, but options.extras contains"}};
    for (int k = 0; k < 3; k++) {
        o.extras = missing[k].extras;
        refused(ctx, kith_nearest_fill(ctx, &points, NULL, 2, &o, &own), KITH_INVALID,
                missing[k].words);
    }
    o.extras = 0;
    CHECK(kith_nearest_find(ctx, &points, NULL, 2, &o, &out) == KITH_OK && out.j[0] == 1, "%s",
          kith_message(ctx));
    refused(ctx, kith_nearest_fill(ctx, &points, NULL, 2, &o, &out), KITH_INVALID,
            "out's arrays belong to the library: use kith_nearest_find");
    kith_nearest_free(&out);
}

static void test_fof(kith_ctx *ctx)
{
    const kith_points points = points_in(KITH_HOST), device = points_in(KITH_DEVICE);
    double velocities[3 * N] = {0};
    int64_t members = 0;
    kith_groups out = {.members = &members};
    kith_fof_options o;
    kith_fof_options_init(&o);
    refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, NULL, &out), KITH_INVALID,
            "out's arrays are not the library's");
    out = (kith_groups){.memory = (kith_memory)9};
    refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, NULL, &out), KITH_INVALID,
            "out: memory is 9");
    out.memory = KITH_DEVICE;
    refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, NULL, &out), KITH_UNSUPPORTED,
            "out: in device memory, which backend");
    out.memory = KITH_HOST;
    refused(ctx, kith_fof_find(ctx, &device, NULL, 0.2, NULL, &out), KITH_UNSUPPORTED,
            "device memory");
    o.min_links = -1;
    refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, &o, &out), KITH_INVALID,
            "options.min_links is -1, expected 0 or more");
    o.min_links = 0;
    o.velocities = velocities;
    static const double lengths[] = {0, -1, 1e-200, 1e200, (double)INFINITY, (double)NAN};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        o.velocity_length = lengths[k];
        refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, &o, &out), KITH_INVALID,
                "options.velocity_length is ");
    }
    o.velocity_length = 1;
    velocities[3 * 2 + 1] = (double)NAN;
    refused(ctx, kith_fof_find(ctx, &points, NULL, 0.2, &o, &out), KITH_NOT_FINITE,
            "options.velocities: the velocity of particle 2 (counted from 0) is not finite");
    kith_groups_free(&out);
}

static void test_halos(kith_ctx *ctx)
{
    const kith_points points = points_in(KITH_HOST), device = points_in(KITH_DEVICE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_box flat = kith_box_periodic(1, 1, 1);
    flat.dim = 2;
    kith_fof_options o;
    kith_fof_options_init(&o);
    o.min_members = 1;
    kith_groups groups = {0};
    CHECK(kith_fof_find(ctx, &points, &box, 0.2, &o, &groups) == KITH_OK && groups.n == 2, "%s",
          kith_message(ctx));
    kith_halo one = {0};
    kith_halos out = {.halo = &one};
    kith_halo_input in;
    kith_halo_input_init(&in);
    refused(ctx, kith_halos_measure(ctx, &points, &box, &groups, &in, &out), KITH_INVALID,
            "out holds an array that is not the library's");
    out = (kith_halos){.memory = (kith_memory)9};
    refused(ctx, kith_halos_measure(ctx, &points, &box, &groups, &in, &out), KITH_INVALID,
            "out: memory is 9, expected KITH_HOST or KITH_DEVICE");
    out.memory = KITH_DEVICE;
    refused(ctx, kith_halos_measure(ctx, &points, &box, &groups, &in, &out), KITH_UNSUPPORTED,
            "out: in device memory, which backend");
    out.memory = KITH_HOST;
    refused(ctx, kith_halos_measure(ctx, &device, &box, &groups, &in, &out), KITH_UNSUPPORTED,
            "points: in device memory, which backend");
    struct {
        kith_groups groups;
        kith_status status;
        const char *words;
    } wrong[] = {{groups, KITH_INVALID, "groups: memory is 9"},
                 {groups, KITH_UNSUPPORTED, "groups: in device memory, which backend"},
                 {groups, KITH_INVALID, "groups are of 3 particles, but there are 4"},
                 {groups, KITH_INVALID, "groups.n is -1, expected 0 to the number of particles, 4"},
                 {groups, KITH_INVALID, "groups.n is 5, expected 0 to the number of particles, 4"},
                 {groups, KITH_INVALID, "groups.labels is NULL"}};
    wrong[0].groups.memory = (kith_memory)9;
    wrong[1].groups.memory = KITH_DEVICE;
    wrong[2].groups.points = 3;
    wrong[3].groups.n = -1;
    wrong[4].groups.n = 5;
    wrong[5].groups.labels = NULL;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refused(ctx, kith_halos_measure(ctx, &points, &box, &wrong[k].groups, &in, &out),
                wrong[k].status, wrong[k].words);
    static const double densities[] = {-1, (double)INFINITY, (double)NAN};
    for (int k = 0; k < 3; k++) {
        in.sphere_density[1] = densities[k];
        refused(ctx, kith_halos_measure(ctx, &points, &box, &groups, &in, &out), KITH_INVALID,
                "sphere_density[1] is ");
    }
    in.sphere_density[1] = 200;
    refused(ctx, kith_halos_measure(ctx, &points, &flat, &groups, &in, &out), KITH_INVALID,
            "sphere_density[1] is 200, but the box is flat: spheres need dim 3");
    out.memory = KITH_DEVICE;
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, &in, &out) == KITH_UNSUPPORTED,
          "spheres in device memory");
    out.memory = KITH_HOST;
    kith_halos_free(&out);
    kith_groups_free(&groups);
}

/** Count with these options. */
static kith_status count(kith_ctx *ctx, const kith_rdf_options *o, kith_histogram *out)
{
    const kith_points points = points_in(KITH_HOST);
    const kith_box box = kith_box_periodic(1, 1, 1);
    return kith_rdf_count(ctx, &points, &box, o, out);
}

static void test_rdf(kith_ctx *ctx)
{
    const kith_points points = points_in(KITH_HOST);
    static const int32_t bonds[2] = {1, N}, before[2] = {1, -1}, species[N] = {0, 1, 1, 0};
    static const int64_t late[N + 1] = {-1, 0, 0, 0, 0}, two[N + 1] = {0, 2, 2, 2, 2};
    static const double huge[N] = {1e200, 1, 1, 1}, bad[N] = {1, 1, (double)NAN, 1};
    static const double ones[N] = {1, 1, 1, 1};
    kith_histogram out = {0};
    kith_rdf_options usual;
    kith_rdf_options_init(&usual);
    usual.r_max = 0.3;
    usual.bins = 10;
    struct {
        kith_rdf_options o;
        kith_status status;
        const char *words;
    } wrong[] = {
        {usual, KITH_INVALID, "options.bins is 0, expected 1 to 2^20"},
        {usual, KITH_INVALID, "options.bins is 1048577, expected 1 to 2^20"},
        {usual, KITH_INVALID, "options.r_min is -0.1, expected 0 or more and less than"},
        {usual, KITH_INVALID, "options.r_min is 0.3, expected 0 or more and less than"},
        {usual, KITH_INVALID, "options.bond_offsets[0] is -1"},
        {usual, KITH_INVALID, "options.bonds is NULL"},
        {usual, KITH_INVALID, "options.bonds[1] is 4, expected 0 to 3"},
        {usual, KITH_INVALID, "options.bonds[1] is -1, expected 0 to 3"},
        {usual, KITH_INVALID, "options.weights: products overflow"},
        {usual, KITH_NOT_FINITE,
         "options.weights_against: the weight of particle 2 (counted from 0) is not finite"},
        {usual, KITH_INVALID, "species, molecules and weights are given for both sets"},
        {usual, KITH_INVALID, "options.n_species is 0"}};
    wrong[0].o.bins = 0;
    wrong[1].o.bins = (1 << 20) + 1;
    wrong[2].o.r_min = -0.1;
    wrong[3].o.r_min = 0.3;
    wrong[4].o.bond_offsets = late;
    wrong[5].o.bond_offsets = wrong[6].o.bond_offsets = wrong[7].o.bond_offsets = two;
    wrong[6].o.bonds = bonds;
    wrong[7].o.bonds = before;
    wrong[8].o.weights = huge;
    wrong[9].o.against = wrong[10].o.against = &points;
    wrong[9].o.weights = ones;
    wrong[9].o.weights_against = bad;
    wrong[10].o.species = species;
    wrong[11].o.n_species = 0;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refused(ctx, count(ctx, &wrong[k].o, &out), wrong[k].status, wrong[k].words);
    const kith_points device = points_in(KITH_DEVICE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    refused(ctx, kith_rdf_count(ctx, &device, &box, &usual, &out), KITH_UNSUPPORTED,
            "points: in device memory, which backend");
    kith_waves waves;
    kith_waves_init(&waves);
    refused(ctx, kith_waves_sum(ctx, &device, &box, &waves, NULL), KITH_UNSUPPORTED,
            "points: in device memory, which backend");
    kith_histogram_free(&out);

    int64_t number = 0;
    double edge = 0;
    kith_histogram foreign = {.counts = &number};
    refused(ctx, count(ctx, &usual, &foreign), KITH_INVALID, "out's arrays are not");
    foreign = (kith_histogram){.edges = &edge};
    refused(ctx, count(ctx, &usual, &foreign), KITH_INVALID, "out's arrays are not");

    CHECK(count(ctx, &usual, &out) == KITH_OK, "%s", kith_message(ctx));
    kith_rdf_options others[] = {usual, usual, usual, usual, usual, usual};
    others[0].bins = 11;
    others[1].n_species = 2;
    others[1].species = species;
    others[2].against = &points;
    others[3].weights = ones;
    others[4].forces = xyz;
    others[5].r_min = 0.01;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        refused(ctx, count(ctx, &others[k], &out), KITH_INVALID,
                "out was made for other bins, species, sets, weights or forces");
    kith_histogram_free(&out);

    /* species 2 has no particles, so that there is nothing around one */
    double g[10] = {0}, n[10] = {0};
    kith_rdf_options three = usual;
    three.n_species = 3;
    three.species = species;
    CHECK(count(ctx, &three, &out) == KITH_OK, "%s", kith_message(ctx));
    const int32_t none[][2] = {{-1, 0}, {0, -1}, {3, 0}, {0, 3}};
    for (int k = 0; k < 4; k++)
        CHECK(kith_histogram_partial(&out, none[k][0], none[k][1]) == -1, "partial %d", k);
    kith_rdf_coordination(&out, 2, 0, n);
    kith_rdf_g(&out, 2, 2, g);
    CHECK(isnan(n[9]) && isnan(g[9]), "species 2: %g, %g", n[9], g[9]);
    kith_rdf_coordination(&out, 0, 1, n);
    CHECK(n[9] == 1, "each particle of species 0 has one of species 1: %g", n[9]);
    kith_histogram_free(&out);
}

static void test_overlap(kith_ctx *ctx)
{
    const kith_replicas usual = {.n = N, .dim = 3, .values = xyz, .stride = 3, .type = KITH_DOUBLE};
    kith_overlap_options o;
    kith_overlap_options_init(&o);
    kith_overlaps out = {0};
    struct {
        kith_replicas r;
        kith_status status;
        const char *words;
    } wrong[] = {{usual, KITH_LIMIT, "replicas: -1 of 3 numbers, expected at most 2^31 - 65"},
                 {usual, KITH_LIMIT, "replicas: 4 of -1 numbers, expected at most 2^31 - 65"},
                 {usual, KITH_LIMIT, "replicas: 4 of 2147483647 numbers, expected at most"},
                 {usual, KITH_LIMIT, "replicas: 2147483647 of 3 numbers, expected at most"},
                 {usual, KITH_LIMIT, "replicas.dim is 16777217, expected at most 2^24 spins"},
                 {usual, KITH_INVALID, "replicas.n is 1: overlaps are of pairs"},
                 {usual, KITH_INVALID, "replicas.dim is 0: vectors have 1 number or more"},
                 {usual, KITH_INVALID, "replicas.stride is 2, expected 3 or more"},
                 {usual, KITH_INVALID, "replicas.values is NULL"},
                 {usual, KITH_INVALID, "replicas.type is 3, expected KITH_FLOAT, KITH_DOUBLE or"}};
    wrong[0].r.n = -1;
    wrong[1].r.dim = -1;
    wrong[2].r.dim = wrong[3].r.n = INT32_MAX;
    wrong[4].r.dim = wrong[4].r.stride = (1 << 24) + 1;
    wrong[4].r.type = KITH_BITS;
    wrong[5].r.n = 1;
    wrong[6].r.dim = 0;
    wrong[7].r.stride = 2;
    wrong[8].r.values = NULL;
    wrong[9].r.type = 3;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        refused(ctx, kith_overlap_count(ctx, &wrong[k].r, &o, &out), wrong[k].status,
                wrong[k].words);
    static const struct {
        double low, high;
        const char *words;
    } ranges[] = {{1, 1, "options.low is 1, expected less than options.high, 1"},
                  {0, -1, "options.low is 0, expected less than options.high, -1"},
                  {1, 0, "options.low is 1, expected less than options.high, 0"},
                  {(double)NAN, 1, "expected finite numbers"},
                  {0, (double)INFINITY, "expected finite numbers"},
                  {-1e308, 1e308, "have no width that a double can hold"},
                  {0, 5e-324, "have no width that a double can hold"}};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        o.low = ranges[k].low;
        o.high = ranges[k].high;
        refused(ctx, kith_overlap_count(ctx, &usual, &o, &out), KITH_INVALID, ranges[k].words);
    }
    static const double zeros[3 * N];
    kith_replicas same = usual;
    same.values = zeros;
    o.low = o.high = 0;
    o.measure = KITH_PRODUCT;
    CHECK(kith_overlap_count(ctx, &same, &o, &out) == KITH_OK && out.edges[0] == -1, "%s",
          kith_message(ctx));
    kith_overlaps_free(&out);
    double matrix[N * N];
    static const int64_t rows[][2] = {{-1, 2}, {0, -1}, {0, N + 1}, {N, 1}};
    for (int k = 0; k < 4; k++)
        refused(ctx, kith_overlap_rows(ctx, &usual, NULL, rows[k][0], rows[k][1], matrix),
                KITH_INVALID, "expected some of 0 to 3");
    refused(ctx, kith_overlap_rows(ctx, &usual, NULL, 0, 1, NULL), KITH_INVALID, "matrix is NULL");
    CHECK(kith_overlap_rows(ctx, &usual, NULL, 2, 0, NULL) == KITH_OK, "%s", kith_message(ctx));
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 1);
    test_pairs(ctx);
    test_nearest(ctx);
    test_fof(ctx);
    test_halos(ctx);
    test_rdf(ctx);
    test_overlap(ctx);
    kith_close(ctx);
    return check_done();
}
