/* SPDX-License-Identifier: BSD-3-Clause */
#include "cancel_case.h"

#include <kith/debye.h>
#include <kith/overlap.h>
#include <kith/waves.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { WAVES = 2000, SPECIES = 8, GROUPS = 1000, MEMBERS = 1000 };

static const double origin[3] = {0, 0, 0}, unit[3] = {1, 1, 1}, small[3] = {1e-3, 1e-3, 1e-3};

cancel_sets *cancel_sets_make(int64_t count, int64_t dense, int64_t few)
{
    cancel_sets *s = check_malloc(sizeof *s);
    rng r = {31};
    *s = (cancel_sets){.n = count, .dense = dense, .few = few};
    const size_t n = (size_t)s->n;
    s->spread = points_uniform(&r, s->n, origin, unit);
    s->clustered = points_clustered(&r, s->n, 100, 1, 0.01);
    s->clump = points_uniform(&r, s->dense, origin, small);
    s->single = check_malloc(3 * n * sizeof *s->single);
    s->weights = check_malloc(n * sizeof *s->weights);
    s->species = check_malloc(n * sizeof *s->species);
    s->roles = check_malloc(n);
    s->labels = check_malloc(n * sizeof *s->labels);
    s->hkl = check_malloc(3 * WAVES * sizeof *s->hkl);
    for (size_t p = 0; p < n; p++) {
        for (size_t k = 0; k < 3; k++) {
            s->single[3 * p + k] = (float)s->spread[3 * p + k] * 0.999F;
            s->clustered[3 * p + k] -= floor(s->clustered[3 * p + k]);
        }
        s->weights[p] = rng_uniform(&r, -1, 1);
        s->species[p] = (int32_t)rng_below(&r, SPECIES);
        s->roles[p] = (uint8_t)rng_below(&r, 3);
        s->labels[p] = (int32_t)(p % MEMBERS ? 1 : p / MEMBERS % GROUPS + 1);
    }
    for (int k = 0; k < 3 * WAVES; k++) {
        s->hkl[k] = (int32_t)rng_below(&r, 201) - 100;
    }
    return s;
}

void cancel_sets_free(cancel_sets *s)
{
    void *const all[] = {s->spread,  s->clustered, s->clump, s->single, s->weights,
                         s->species, s->roles,     s->hkl,   s->labels};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k]);
    }
    free(s);
}

/* ------------------------------------------------------------------------------ groups, halos */

static kith_status run_fof(kith_ctx *ctx, const kith_points *points, double length,
                           const kith_fof_options *options)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_groups groups = {0};
    const kith_status status = kith_fof_find(ctx, points, &box, length, options, &groups);
    kith_groups_free(&groups);
    return status;
}

static kith_status fof_spread(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    return run_fof(ctx, &points, 0.2 / cbrt((double)s->n), NULL);
}

static kith_status fof_clustered(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clustered, s->n, KITH_DOUBLE);
    return run_fof(ctx, &points, 0.002, NULL);
}

static kith_status fof_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->few, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.velocities = s->spread;
    options.velocity_length = 1e-9; /* no friends: else the search ends with the first block */
    return run_fof(ctx, &points, 100, &options);
}

static kith_status fof_links(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clustered, s->n, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_links = 10;
    return run_fof(ctx, &points, 0.001, &options);
}

static kith_status fof_roles(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, s->dense, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.roles = s->roles;
    return run_fof(ctx, &points, 0.1, &options);
}

static kith_status fof_role_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->few, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.roles = s->roles;
    options.min_links = 1;
    return run_fof(ctx, &points, 40, &options);
}

static kith_status fof_velocities(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, s->dense, KITH_DOUBLE);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.velocities = s->spread;
    options.velocity_length = 0.001;
    return run_fof(ctx, &points, 0.1, &options);
}

/** One group of most particles, and others of a few. */
static kith_groups groups_of(const cancel_sets *s)
{
    const int64_t n = s->n / MEMBERS;
    return (kith_groups){.n = n < GROUPS ? n : GROUPS, .points = s->n, .labels = s->labels};
}

static kith_status measure_halos(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_groups groups = groups_of(s);
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.velocities = s->clustered;
    kith_halos halos = {0};
    const kith_status status = kith_halos_measure(ctx, &points, &box, &groups, &input, &halos);
    kith_halos_free(&halos);
    return status;
}

static kith_status measure_spheres(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_groups groups = groups_of(s);
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.sphere_density[0] = 0.99 * (double)s->n;
    input.sphere_density[1] = 0.9 * (double)s->n;
    kith_halos halos = {0};
    const kith_status status = kith_halos_measure(ctx, &points, &box, &groups, &input, &halos);
    kith_halos_free(&halos);
    return status;
}

/* ------------------------------------------------------------------------- distances and waves */

static kith_status run_rdf(kith_ctx *ctx, const kith_points *points, kith_rdf_options *options,
                           double r_max)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_histogram histogram = {0};
    options->r_max = r_max;
    const kith_status status = kith_rdf_count(ctx, points, &box, options, &histogram);
    kith_histogram_free(&histogram);
    return status;
}

static kith_rdf_options plain_rdf(void)
{
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    return options;
}

static kith_status rdf_spread(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    kith_rdf_options options = plain_rdf();
    return run_rdf(ctx, &points, &options, 0.04);
}

static kith_status find_nearest(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                int64_t k)
{
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    kith_nearest nearest = {.size = sizeof nearest};
    const kith_status status = kith_nearest_find(ctx, points, box, k, &options, &nearest);
    kith_nearest_free(&nearest);
    return status;
}

static kith_status nearest_spread(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    return find_nearest(ctx, &points, NULL, 8);
}

static kith_status nearest_many(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, 3000, KITH_DOUBLE);
    return find_nearest(ctx, &points, NULL, 2900);
}

static kith_status nearest_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, 10, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    return find_nearest(ctx, &points, &box, 300000);
}

/** Rows of many images in a long box: those with one S along its long axis are as many as all
 *  others that are nearer. */
static kith_status nearest_slabs(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, 32, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 40);
    return find_nearest(ctx, &points, &box, 200000);
}

static kith_status rdf_species(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    kith_rdf_options options = plain_rdf();
    options.species = s->species;
    options.n_species = SPECIES;
    options.weights = s->weights;
    options.bins = 1 << 18;
    return run_rdf(ctx, &points, &options, 0.02);
}

static kith_status rdf_images(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->single, s->few, KITH_FLOAT);
    kith_rdf_options options = plain_rdf();
    return run_rdf(ctx, &points, &options, 40);
}

static kith_status rdf_forces(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    kith_rdf_options options = plain_rdf();
    options.forces = s->clustered;
    return run_rdf(ctx, &points, &options, 0.03);
}

static kith_status rdf_nearest(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    kith_rdf_options options = plain_rdf();
    options.minimum_image = 1;
    options.weights = s->weights;
    return run_rdf(ctx, &points, &options, 0.8);
}

static kith_status rdf_bins(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->few, KITH_DOUBLE);
    kith_rdf_options options = plain_rdf();
    options.minimum_image = 1;
    options.bins = 1 << 20;
    return run_rdf(ctx, &points, &options, 0.8);
}

static kith_status sum_waves(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->spread, s->n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = WAVES;
    waves.hkl = s->hkl;
    double *sums = check_malloc(2 * WAVES * sizeof *sums);
    const kith_status status = kith_waves_sum(ctx, &points, &box, &waves, sums);
    free(sums);
    return status;
}

static kith_status run_debye(kith_ctx *ctx, const cancel_sets *s, int64_t n, int64_t n_q)
{
    const kith_points points = kith_points_packed(s->spread, n, KITH_DOUBLE);
    kith_debye_options options;
    kith_debye_options_init(&options);
    options.q_width = 0.1;
    options.n_q = n_q;
    double *sums = check_malloc((size_t)n_q * sizeof *sums);
    const kith_status status = kith_debye_sum(ctx, &points, &options, sums);
    free(sums);
    return status;
}

static kith_status debye_spread(kith_ctx *ctx, const cancel_sets *s)
{
    return run_debye(ctx, s, s->n, 100);
}

static kith_status debye_many_q(kith_ctx *ctx, const cancel_sets *s)
{
    return run_debye(ctx, s, 2000, 1 << 18);
}

/* ------------------------------------------------------------------------- replicas and flocks */

static kith_status run_overlap(kith_ctx *ctx, const cancel_sets *s, int64_t n, int mean,
                               kith_overlap_measure measure)
{
    const int64_t dim = 3 * s->n / n;
    const kith_replicas replicas = {n, dim, s->clustered, dim, KITH_DOUBLE};
    kith_overlap_options options;
    kith_overlap_options_init(&options);
    options.subtract_mean = mean;
    options.measure = measure;
    kith_overlaps overlaps = {0};
    const kith_status status = kith_overlap_count(ctx, &replicas, &options, &overlaps);
    kith_overlaps_free(&overlaps);
    return status;
}

static kith_status overlap_many(kith_ctx *ctx, const cancel_sets *s)
{
    return run_overlap(ctx, s, 30000, 1, KITH_COSINE);
}

static kith_status overlap_long(kith_ctx *ctx, const cancel_sets *s)
{
    return run_overlap(ctx, s, 4, 0, KITH_DISTANCE);
}

static kith_status overlap_spins(kith_ctx *ctx, const cancel_sets *s)
{
    enum { SPINS = 3000, BYTES = SPINS / 8, MOST = 50000 };
    const int64_t n = 3 * s->n * (int64_t)sizeof *s->single / BYTES;
    const kith_replicas replicas = {n < MOST ? n : MOST, SPINS, s->single, BYTES, KITH_BITS};
    kith_overlaps overlaps = {0};
    const kith_status status = kith_overlap_count(ctx, &replicas, NULL, &overlaps);
    kith_overlaps_free(&overlaps);
    return status;
}

static kith_status overlap_matrix(kith_ctx *ctx, const cancel_sets *s)
{
    enum { N = 300 };
    const int64_t dim = 3 * s->n / N;
    const kith_replicas replicas = {N, dim, s->clustered, dim, KITH_DOUBLE};
    double *matrix = check_malloc((size_t)N * N * sizeof *matrix);
    const kith_status status = kith_overlap_rows(ctx, &replicas, NULL, 0, N, matrix);
    free(matrix);
    return status;
}

/** Open a flock of n of the points, let it fly and measure it. */
static kith_status run_flock(kith_ctx *ctx, const cancel_sets *s, const double *xyz, int64_t n,
                             double radius, int64_t steps)
{
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    const kith_points velocities = kith_points_packed(s->spread, n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.separation.radius = options.alignment.radius = options.cohesion.radius = radius;
    options.time_step = 1e-6;
    kith_flock *flock = NULL;
    kith_flock_measures measures;
    kith_status status = kith_flock_open(ctx, &points, &velocities, &box, &options, &flock);
    if (status == KITH_OK) {
        status = kith_flock_step(flock, steps);
    }
    if (status == KITH_OK) {
        status = kith_flock_measure(flock, &measures);
    }
    kith_flock_close(flock);
    return status;
}

static kith_status flock_spread(kith_ctx *ctx, const cancel_sets *s)
{
    return run_flock(ctx, s, s->spread, s->n, 1 / cbrt((double)s->n), 100);
}

static kith_status flock_alone(kith_ctx *ctx, const cancel_sets *s)
{
    return run_flock(ctx, s, s->spread, s->n, 0, 100);
}

static kith_status flock_clump(kith_ctx *ctx, const cancel_sets *s)
{
    return run_flock(ctx, s, s->clump, s->dense, 0.1, 1);
}

static kith_status flock_nearest(kith_ctx *ctx, const cancel_sets *s)
{
    const kith_points points = kith_points_packed(s->clump, s->dense, KITH_DOUBLE);
    const kith_points velocities = kith_points_packed(s->spread, s->dense, KITH_DOUBLE);
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.nearest = 7;
    options.blind_angle = 1;
    kith_flock *flock = NULL;
    kith_status status = kith_flock_open(ctx, &points, &velocities, NULL, &options, &flock);
    if (status == KITH_OK) {
        status = kith_flock_step(flock, 1);
    }
    kith_flock_close(flock);
    return status;
}

/** Update a kept list three times, the last time after particles have moved too far. */
static kith_status keep_list(kith_ctx *ctx, const double *xyz, int64_t n, double radius)
{
    double *moved = check_malloc(3 * (size_t)n * sizeof *moved);
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    const kith_points others = kith_points_packed(moved, n, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    for (int64_t p = 0; p < 3 * n; p++) {
        moved[p] = xyz[p] + (p % 2 ? radius : -radius);
    }
    kith_verlet_options options;
    kith_verlet_options_init(&options);
    options.cutoff = radius;
    options.skin = radius / 4;
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    kith_verlet *verlet = NULL;
    kith_pairs list = {0};
    kith_status status = kith_verlet_open(ctx, &options, &verlet);
    for (int step = 0; step < 3 && status == KITH_OK; step++) {
        status = kith_verlet_update(verlet, step < 2 ? &points : &others, &box, &list);
    }
    kith_verlet_close(verlet);
    kith_pairs_free(&list);
    free(moved);
    return status;
}

static kith_status keep_spread(kith_ctx *ctx, const cancel_sets *s)
{
    return keep_list(ctx, s->spread, s->n < 300000 ? s->n : 300000, 0.02);
}

static kith_status keep_clump(kith_ctx *ctx, const cancel_sets *s)
{
    return keep_list(ctx, s->clump, s->dense < 8000 ? s->dense : 8000, 0.1);
}

const cancel_case *cancel_cases(int *n)
{
    static const cancel_case all[] = {
        {"count pairs of many particles", cancel_count_spread},
        {"count neighbours in float", cancel_count_single},
        {"count neighbours in a clump", cancel_count_clump},
        {"count pairs of many images", cancel_count_images},
        {"count pairs of the most images", cancel_count_most_images},
        {"count pairs of two sets and images", cancel_count_images_between},
        {"find a sorted list with extras", cancel_find_sorted},
        {"find rows", cancel_find_rows},
        {"keep a list of many particles", keep_spread},
        {"keep a list of a clump", keep_clump},
        {"find pairs of many images", cancel_find_images},
        {"stream a clump", cancel_each_clump},
        {"stream sorted pairs", cancel_each_sorted},
        {"stream pairs of many images", cancel_each_image},
        {"groups of many particles", fof_spread},
        {"groups of clusters", fof_clustered},
        {"groups of many images", fof_images},
        {"groups with min_links", fof_links},
        {"groups with roles in a clump", fof_roles},
        {"groups with roles and images", fof_role_images},
        {"groups in phase space in a clump", fof_velocities},
        {"halos", measure_halos},
        {"spheres", measure_spheres},
        {"distances of many particles", rdf_spread},
        {"distances by species with weights", rdf_species},
        {"distances of many images", rdf_images},
        {"distances with forces", rdf_forces},
        {"distances of nearest images", rdf_nearest},
        {"distances in 2^20 bins", rdf_bins},
        {"nearest of many particles", nearest_spread},
        {"most particles as the nearest", nearest_many},
        {"nearest of many images", nearest_images},
        {"nearest of many images in a long box", nearest_slabs},
        {"waves", sum_waves},
        {"sines of many particles", debye_spread},
        {"sines at many q", debye_many_q},
        {"overlaps of many replicas", overlap_many},
        {"overlaps of long replicas", overlap_long},
        {"overlaps of spins", overlap_spins},
        {"matrix of overlaps", overlap_matrix},
        {"steps of a flock", flock_spread},
        {"steps without neighbours", flock_alone},
        {"a step in a clump", flock_clump},
        {"a step with the nearest in a clump", flock_nearest},
    };
    *n = (int)(sizeof all / sizeof *all);
    return all;
}
