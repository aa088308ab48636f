/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos measured on a GPU, from host and from device memory, have the bits of the CPU's: small
 * groups, groups of many pieces, one that holds all, in any box; and what is wrong with particles
 * in device memory is said likewise.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 300000, FEW = 6000 }; /* more than 64^3 members: sums of sums of sums */

static void *to_device(const void *from, size_t bytes)
{
    void *to = NULL;
    CHECK(cudaMalloc(&to, bytes + 1) == cudaSuccess, "%zu bytes", bytes);
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    return to;
}

/* Everything that can be known of some particles, in one memory. */
typedef struct world {
    kith_points points;
    kith_groups groups;
    kith_halo_input input;
    void *reals; /* 9 n: positions, velocities, masses, densities, one more */
    uint8_t *types;
} world;

static world make_world(rng *r, int64_t n, int64_t groups, kith_precision precision)
{
    const size_t real = (size_t)precision;
    world w = {.groups = {.n = groups, .points = n}};
    double *xyz = points_clustered(r, n, 40, 1, 0.05);
    double *others = check_malloc((size_t)n * 6 * sizeof *others);
    int32_t *labels = check_malloc((size_t)n * sizeof *labels);
    uint8_t *types = check_malloc((size_t)n);
    for (int64_t p = 0; p < n; p++) {
        /* half of the particles in the first group, the rest in small ones or in none */
        const int64_t any = groups > 1 && p % 2 ? rng_below(r, groups + 1) : 1;
        labels[p] = (int32_t)(p < groups ? p + 1 : any);
        types[p] = (uint8_t)rng_below(r, KITH_TYPES);
        for (int k = 0; k < 6; k++) {
            others[6 * p + k] = rng_uniform(r, 0.5, 2);
        }
    }
    char *all = check_malloc((size_t)n * 9 * real);
    for (int64_t k = 0; k < 9 * n; k++) {
        const double value = k < 3 * n ? xyz[k] : others[k - 3 * n];
        if (precision == KITH_FLOAT) {
            ((float *)(void *)all)[k] = (float)value;
        } else {
            ((double *)(void *)all)[k] = value;
        }
    }
    free(xyz);
    free(others);
    w.reals = all;
    w.types = types;
    w.points = kith_points_packed(all, n, precision);
    w.groups.labels = labels;
    kith_halo_input_init(&w.input);
    w.input.velocities = all + 3 * (size_t)n * real;
    w.input.masses = all + 6 * (size_t)n * real;
    w.input.densities = all + 7 * (size_t)n * real;
    w.input.types = types;
    return w;
}

/* The same in device memory. */
static world copy_world(const world *w)
{
    const size_t n = (size_t)w->points.n, real = (size_t)w->points.precision;
    world d = *w;
    char *all = to_device(w->reals, 9 * n * real);
    d.reals = all;
    d.types = to_device(w->types, n);
    d.points = kith_points_packed(all, w->points.n, w->points.precision);
    d.points.memory = KITH_DEVICE;
    d.groups.memory = KITH_DEVICE;
    d.groups.labels = to_device(w->groups.labels, n * sizeof(int32_t));
    d.input.velocities = all + 3 * n * real;
    d.input.masses = all + 6 * n * real;
    d.input.densities = all + 7 * n * real;
    d.input.types = d.types;
    return d;
}

static void free_world(world *w, void (*release)(void *))
{
    release(w->reals);
    release(w->groups.labels);
    release(w->types);
}

static void free_on_device(void *data)
{
    CHECK(cudaFree(data) == cudaSuccess, "free");
}

/* Measure, and compare with halos that are right. */
static void check_same(kith_ctx *gpu, const world *w, const kith_box *box, kith_memory memory,
                       const kith_halos *right, const char *what)
{
    kith_halos halos = {.memory = memory};
    const size_t bytes = (size_t)right->n * sizeof *right->halo;
    kith_halo *copy = check_malloc(bytes);
    for (int again = 0; again < 2; again++) {
        if (CHECK(kith_halos_measure(gpu, &w->points, box, &w->groups, &w->input, &halos) ==
                          KITH_OK &&
                      halos.n == right->n,
                  "%s: %s", what, kith_message(gpu))) {
            CHECK(cudaMemcpy(copy, halos.halo, bytes, cudaMemcpyDefault) == cudaSuccess, "copy");
            CHECK(memcmp(copy, right->halo, bytes) == 0, "%s: other bits", what);
        }
    }
    free(copy);
    kith_halos_free(&halos);
}

static void test_bits(kith_ctx *cpu, kith_ctx *gpu, const kith_box *box, kith_precision precision,
                      int64_t n, int64_t groups)
{
    rng r = {(uint64_t)(n + groups + (int64_t)precision)};
    world w = make_world(&r, n, groups, precision);
    world d = copy_world(&w);
    for (int bare = 0; bare < 2; bare++) {
        kith_halos right = {0};
        if (bare) {
            kith_halo_input_init(&w.input);
            kith_halo_input_init(&d.input);
        }
        CHECK(kith_halos_measure(cpu, &w.points, box, &w.groups, &w.input, &right) == KITH_OK, "%s",
              kith_message(cpu));
        check_same(gpu, &w, box, KITH_HOST, &right, "host");
        check_same(gpu, &d, box, KITH_HOST, &right, "device to host");
        check_same(gpu, &d, box, KITH_DEVICE, &right, "device");
        kith_halos_free(&right);
    }
    free_world(&w, free);
    free_world(&d, free_on_device);
}

/* A particle that makes no sense. */
static void test_faults(kith_ctx *cpu, kith_ctx *gpu)
{
    rng r = {3};
    world w = make_world(&r, 1000, 3, KITH_FLOAT);
    float *all = w.reals;
    for (int what = 0; what < 6; what++) {
        static const size_t at[] = {1500, 5300, 6500, 7500};
        const float was = what < 4 ? all[at[what]] : 0;
        const int32_t label = w.groups.labels[900];
        if (what < 4) {
            all[at[what]] = what % 2 ? NAN : what ? -1 : INFINITY;
        }
        w.groups.labels[900] = what == 4 ? 4 : label;
        w.groups.n = what == 5 ? 4 : 3;
        kith_halos halos = {0};
        world d = copy_world(&w);
        const kith_status status = kith_halos_measure(cpu, &w.points, NULL, &w.groups, &w.input,
                                                      &halos);
        CHECK(status != KITH_OK, "fault %d is not found", what);
        CHECK(kith_halos_measure(gpu, &d.points, NULL, &d.groups, &d.input, &halos) == status &&
                  strcmp(kith_message(cpu), kith_message(gpu)) == 0 && halos.n == 0,
              "%s, but on the CPU %s", kith_message(gpu), kith_message(cpu));
        kith_halos_free(&halos);
        free_world(&d, free_on_device);
        if (what < 4) {
            all[at[what]] = was;
        }
        w.groups.labels[900] = label;
    }
    free_world(&w, free);
}

/* Spheres are found from host memory. */
static void test_spheres(kith_ctx *gpu)
{
    rng r = {4};
    world w = make_world(&r, 1000, 3, KITH_DOUBLE), d = copy_world(&w);
    kith_halos halos = {0};
    d.input.sphere_density[1] = 1;
    CHECK(kith_halos_measure(gpu, &d.points, NULL, &d.groups, &d.input, &halos) ==
                  KITH_UNSUPPORTED &&
              strstr(kith_message(gpu), "sphere_density[1]"),
          "%s", kith_message(gpu));
    kith_halos_free(&halos);
    free_world(&w, free);
    free_world(&d, free_on_device);
}

int main(int argc, char **argv)
{
    kith_ctx *gpu = check_open(check_backend(argc, argv), 2), *cpu = check_open("cpu", 2);
    const kith_box periodic = kith_box_periodic(1, 1, 1), open = kith_box_open();
    const kith_box oblique = kith_box_triclinic(1, 1.2, 0.9, 0.4, -0.3, 0.2);
    kith_box flat = kith_box_periodic(1, 1, 1);
    flat.dim = 2;
    for (int k = 0; k < 2; k++) {
        const kith_precision precision = k ? KITH_FLOAT : KITH_DOUBLE;
        test_bits(cpu, gpu, &periodic, precision, N, 2000);
        test_bits(cpu, gpu, &periodic, precision, N, 1);
        test_bits(cpu, gpu, &open, precision, FEW, 100);
        test_bits(cpu, gpu, &oblique, precision, FEW, FEW);
        test_bits(cpu, gpu, &flat, precision, FEW, 70);
    }
    test_faults(cpu, gpu);
    test_spheres(gpu);
    kith_close(cpu);
    kith_close(gpu);
    return check_done();
}
