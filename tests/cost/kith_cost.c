/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program whose instructions are counted: kith_cost CASE runs one case on one thread with
 * cpu:avx2; kith_cost alone prints the compiler, the backend, then the names of the cases.
 *
 * Each case makes about 10^8 instructions in the library. Generating its input is outside of it.
 */
#include <kith/debye.h>
#include <kith/overlap.h>
#include <kith/waves.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const char backend[] = "cpu:avx2";

typedef struct cost_case cost_case;

/** The input of a case. */
typedef struct cost_input {
    kith_ctx *ctx;
    const cost_case *c;
    kith_points points; /**< in [0, 1)^3 */
    kith_box box;       /**< the unit cube, periodic or open as the case says */
} cost_input;

/** What is counted. */
struct cost_case {
    const char *name;
    void (*set)(double *xyz, int64_t n, uint64_t seed);
    int64_t n; /**< particles */
    kith_precision precision;
    bool periodic;
    double length; /**< cutoff, linking length, r_max, or the largest radius of a flock */
    kith_status (*run)(const cost_input *in);
};

static kith_status run_pairs(const cost_input *in, const kith_pairs_options *options)
{
    kith_pairs pairs = {0};
    const kith_status status = kith_pairs_find(in->ctx, &in->points, &in->box, in->c->length,
                                               options, &pairs);
    kith_pairs_free(&pairs);
    return status;
}

/** The eight nearest neighbours. */
static kith_status run_eight(const cost_input *in)
{
    kith_nearest found = {.size = sizeof found};
    const kith_status status = kith_nearest_find(in->ctx, &in->points, &in->box, 8, NULL, &found);
    kith_nearest_free(&found);
    return status;
}

static kith_status run_half(const cost_input *in)
{
    return run_pairs(in, NULL);
}

/** Full rows with distances and shifts. */
static kith_status run_rows(const cost_input *in)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = options.sorted = 1;
    options.layout = KITH_CSR;
    options.extras = KITH_DISTANCES | KITH_SHIFTS;
    return run_pairs(in, &options);
}

/** Updates of a kept list that keep its pairs: particles move back and forth. */
static kith_status run_kept(const cost_input *in)
{
    enum { UPDATES = 12 };
    const int64_t n = in->points.n;
    double *moved = check_malloc(3 * (size_t)n * sizeof *moved);
    kith_pairs pairs = {.size = sizeof pairs};
    kith_verlet_options options;
    kith_verlet_options_init(&options);
    options.cutoff = in->c->length;
    options.skin = 0.12 * in->c->length;
    kith_verlet *verlet = NULL;
    kith_status status = kith_verlet_open(in->ctx, &options, &verlet);
    for (int u = 0; u <= UPDATES && status == KITH_OK; u++) {
        for (int64_t k = 0; k < 3 * n; k++) {
            const double part = (double)(k * 37 % 64) / 63 - 0.5;
            moved[k] = ((const double *)in->points.x)[k] + (u % 3) * 0.1 * options.skin * part;
        }
        const kith_points points = kith_points_packed(moved, n, KITH_DOUBLE);
        status = kith_verlet_update(verlet, &points, &in->box, &pairs);
    }
    kith_pairs_free(&pairs);
    kith_verlet_close(verlet);
    free(moved);
    return status;
}

/** Full rows with radii that span a factor of 1024. */
static kith_status run_radii(const cost_input *in)
{
    double *h = check_malloc((size_t)in->points.n * sizeof *h);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.radii = h;
    options.radius_rule = KITH_RADIUS_GATHER;
    for (int64_t p = 0; p < in->points.n; p++) {
        const double part = (double)(p * 37 % 64) / 63;
        h[p] = in->c->length * (1 - part / 2) / (double)(1 << p % 10);
    }
    kith_pairs pairs = {0};
    const kith_status status = kith_pairs_find(in->ctx, &in->points, &in->box, 0, &options, &pairs);
    kith_pairs_free(&pairs);
    free(h);
    return status;
}

static kith_status run_fof(const cost_input *in)
{
    kith_groups groups = {0};
    const kith_status status = kith_fof_find(in->ctx, &in->points, &in->box, in->c->length, NULL,
                                             &groups);
    kith_groups_free(&groups);
    return status;
}

/** Pairs by distance; beyond half the box by nearest images, which takes all pairs. */
static kith_status run_rdf(const cost_input *in)
{
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.r_max = in->c->length;
    options.minimum_image = in->c->length > 0.5;
    kith_histogram histogram = {0};
    const kith_status status = kith_rdf_count(in->ctx, &in->points, &in->box, &options, &histogram);
    kith_histogram_free(&histogram);
    return status;
}

enum { WAVES = 1000, Q = 200 };

static kith_status run_waves(const cost_input *in)
{
    static int32_t hkl[WAVES][3];
    static double sums[2 * WAVES];
    for (int w = 0; w < WAVES; w++) {
        for (int k = 0, rest = w; k < 3; k++, rest /= 10) {
            hkl[w][k] = rest % 10 - (k > 0 ? 5 : 0);
        }
    }
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = WAVES;
    waves.hkl = hkl[0];
    return kith_waves_sum(in->ctx, &in->points, &in->box, &waves, sums);
}

static kith_status run_debye(const cost_input *in)
{
    static double sums[Q];
    kith_debye_options options;
    kith_debye_options_init(&options);
    options.q_width = 0.5;
    options.n_q = Q;
    return kith_debye_sum(in->ctx, &in->points, &options, sums);
}

/** Cosines of replicas: the coordinates of 100 particles are one replica. */
static kith_status run_overlap(const cost_input *in)
{
    enum { DIM = 300 };
    const kith_replicas replicas = {.n = 3 * in->points.n / DIM,
                                    .dim = DIM,
                                    .values = in->points.x,
                                    .stride = DIM,
                                    .type = in->points.precision};
    kith_overlap_options options;
    kith_overlap_options_init(&options);
    options.subtract_mean = 1;
    kith_overlaps found = {0};
    const kith_status status = kith_overlap_count(in->ctx, &replicas, &options, &found);
    kith_overlaps_free(&found);
    return status;
}

static kith_status run_steps(const cost_input *in, int64_t nearest)
{
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.separation.radius = 0.6 * in->c->length;
    options.alignment.radius = options.cohesion.radius = in->c->length;
    options.max_speed = 0.1;
    options.nearest = nearest;
    kith_flock *flock = NULL;
    /* a velocity is the position of the particle: any numbers do */
    kith_status status = kith_flock_open(in->ctx, &in->points, &in->points, &in->box, &options,
                                         &flock);
    status = status == KITH_OK ? kith_flock_step(flock, 3) : status;
    kith_flock_close(flock);
    return status;
}

static kith_status run_flock(const cost_input *in)
{
    return run_steps(in, 0);
}

static kith_status run_nearest(const cost_input *in)
{
    return run_steps(in, 7);
}

static const cost_case cases[] = {
    {"pairs_half_float", sets_uniform, 60000, KITH_FLOAT, false, 0.05, run_half},
    {"pairs_half_double", sets_uniform, 60000, KITH_DOUBLE, false, 0.05, run_half},
    {"pairs_half_periodic", sets_uniform, 60000, KITH_FLOAT, true, 0.05, run_half},
    {"pairs_rows_float", sets_uniform, 30000, KITH_FLOAT, true, 0.05, run_rows},
    {"pairs_rows_double", sets_clustered, 18000, KITH_DOUBLE, true, 0.01, run_rows},
    {"grid", sets_uniform, 60000, KITH_DOUBLE, true, 0.002, run_half},
    {"kept", sets_uniform, 12000, KITH_DOUBLE, true, 0.103, run_kept},
    {"radii_gather", sets_uniform, 6000, KITH_DOUBLE, true, 0.25, run_radii},
    {"nearest_uniform", sets_uniform, 20000, KITH_DOUBLE, true, 0, run_eight},
    {"nearest_clustered", sets_clustered, 20000, KITH_FLOAT, true, 0, run_eight},
    {"fof_uniform", sets_uniform, 300000, KITH_FLOAT, true, 0.003, run_fof},
    {"fof_clustered", sets_clustered, 300000, KITH_FLOAT, true, 0.003, run_fof},
    {"fof_clustered_double", sets_clustered, 300000, KITH_DOUBLE, true, 0.003, run_fof},
    {"rdf_short", sets_uniform, 60000, KITH_FLOAT, true, 0.07, run_rdf},
    {"rdf_all_pairs", sets_uniform, 5500, KITH_DOUBLE, true, 0.7, run_rdf},
    {"waves", sets_uniform, 10000, KITH_DOUBLE, true, 0, run_waves},
    {"debye", sets_uniform, 370, KITH_DOUBLE, false, 0, run_debye},
    {"overlap", sets_uniform, 100000, KITH_FLOAT, false, 0, run_overlap},
    {"flock", sets_uniform, 12000, KITH_FLOAT, true, 0.08, run_flock},
    {"flock_nearest", sets_uniform, 10000, KITH_DOUBLE, true, 0.08, run_nearest},
};

enum { CASES = sizeof cases / sizeof *cases };

static void run(const cost_case *c)
{
    double *xyz = check_malloc(3 * (size_t)c->n * sizeof *xyz);
    float *single = check_malloc(3 * (size_t)c->n * sizeof *single);
    c->set(xyz, c->n, 1);
    for (int64_t k = 0; k < 3 * c->n; k++) {
        single[k] = (float)xyz[k];
    }
    cost_input in = {.ctx = check_open(backend, 1), .c = c};
    const void *const data = c->precision == KITH_FLOAT ? (void *)single : xyz;
    in.points = kith_points_packed(data, c->n, c->precision);
    in.box = c->periodic ? kith_box_periodic(1, 1, 1) : kith_box_open();
    CHECK(c->run(&in) == KITH_OK, "%s: %s", c->name, kith_message(in.ctx));
    kith_close(in.ctx);
    free(single);
    free(xyz);
}

int main(int argc, char **argv)
{
    if (argc == 1) {
#if defined(__clang__)
        printf("clang %s\n", __clang_version__);
#else
        printf("gcc %s\n", __VERSION__);
#endif
        printf("%s\n", backend);
    }
    bool known = argc == 1;
    for (int k = 0; k < CASES; k++) {
        if (argc == 1) {
            printf("%s\n", cases[k].name);
        } else if (strcmp(argv[1], cases[k].name) == 0) {
            run(&cases[k]);
            known = true;
        }
    }
    CHECK(known, "no case \"%s\"", argv[1]);
    return check_done();
}
