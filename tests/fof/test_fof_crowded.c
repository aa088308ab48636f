/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups in phase space where many particles share a position, found on a GPU, are those found on
 * the CPU: sites of a square lattice, planes, and more pairs of clumps than the GPU defers. Prints
 * the time of both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "points.h"

/** A set of particles on sites or planes. */
struct crowd {
    const char *name;
    int64_t n;                /**< particles */
    int sites[3];             /**< sites along each axis; 0: uniform in [0, 1) */
    double length;            /**< linking length */
    double velocity_length;   /**< of velocities in [0, 1)^3 */
    kith_precision precision; /**< of coordinates and velocities */
};

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Return [n][3] values in [0, 1), on sites where sites[k] > 0, in the precision of the set. */
static void *make_values(rng *r, const struct crowd *c, const int sites[3])
{
    double *values = check_malloc((size_t)(3 * c->n) * sizeof *values);
    for (int64_t p = 0; p < 3 * c->n; p++) {
        const int m = sites[p % 3];
        const double u = rng_uniform(r, 0, 1);
        const double value = m > 0 ? (double)(int)(u * m) / m : u;
        if (c->precision == KITH_FLOAT) {
            ((float *)(void *)values)[p] = (float)value * 0.9999F;
        } else {
            values[p] = value;
        }
    }
    return values;
}

/** Find groups. @return the seconds that the search takes, the faster of two */
static double find(kith_ctx *ctx, const kith_points *points, double length,
                   const kith_fof_options *options, kith_groups *groups)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    double least = 1e9;
    for (int again = 0; again < 2; again++) {
        const double from = seconds();
        CHECK(kith_fof_find(ctx, points, &box, length, options, groups) == KITH_OK, "%s",
              kith_message(ctx));
        const double taken = seconds() - from;
        least = taken < least ? taken : least;
    }
    return least;
}

static void check_crowd(kith_ctx *cpu, kith_ctx *gpu, const struct crowd *c)
{
    static const int no_sites[3] = {0, 0, 0};
    rng r = {23};
    void *xyz = make_values(&r, c, c->sites);
    void *velocities = make_values(&r, c, no_sites);
    const kith_points points = kith_points_packed(xyz, c->n, c->precision);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 2;
    options.velocities = velocities;
    options.velocity_length = c->velocity_length;
    kith_groups right = {0};
    kith_groups found = {0};
    const double on_cpu = find(cpu, &points, c->length, &options, &right);
    const double on_gpu = find(gpu, &points, c->length, &options, &found);
    printf("%-24s %7lld particles %6lld groups: cpu %8.4f s, gpu %8.4f s\n", c->name,
           (long long)c->n, (long long)right.n, on_cpu, on_gpu);
    CHECK(right.n > 10, "%s: %lld groups", c->name, (long long)right.n);
    if (CHECK(found.n == right.n && found.points == right.points, "%s: %lld groups, expected %lld",
              c->name, (long long)found.n, (long long)right.n)) {
        CHECK(memcmp(found.labels, right.labels, (size_t)c->n * sizeof *right.labels) == 0,
              "%s: other labels", c->name);
        CHECK(memcmp(found.members, right.members, (size_t)right.n * sizeof *right.members) == 0,
              "%s: other members", c->name);
    }
    kith_groups_free(&found);
    kith_groups_free(&right);
    free(velocities);
    free(xyz);
}

int main(int argc, char **argv)
{
    static const struct crowd crowds[] = {
        {"square lattice, float", 5000, {17, 17, 1}, 0.3, 0.07, KITH_FLOAT},
        {"square lattice", 20000, {17, 17, 1}, 0.3, 0.04, KITH_DOUBLE},
        {"square lattice, near", 20000, {17, 17, 1}, 0.07, 0.08, KITH_DOUBLE},
        {"one site", 20000, {1, 1, 1}, 0.1, 0.02, KITH_DOUBLE},
        {"planes", 20000, {0, 0, 4}, 0.1, 0.08, KITH_DOUBLE},
        {"lines", 20000, {0, 4, 4}, 0.1, 0.06, KITH_DOUBLE},
        {"more pairs than deferred", 400000, {29, 29, 29}, 0.06, 0.05, KITH_DOUBLE},
    };
    kith_ctx *gpu = check_open(check_backend(argc, argv), 2);
    kith_ctx *cpu = check_open("cpu", 2);
    const int all = (int)(sizeof crowds / sizeof *crowds);
    const int n = check_brief() ? 1 : all;
    for (int c = 0; c < n; c++) {
        check_crowd(cpu, gpu, &crowds[c]);
    }
    kith_close(cpu);
    kith_close(gpu);
    return check_done();
}
