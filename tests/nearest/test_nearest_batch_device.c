/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of a batch on a GPU are those of the CPU, to the last bit: with points,
 * offsets, boxes and arrays in host and in device memory; small systems, which are searched
 * together, large ones, and both; many neighbours, ties, radii, images far away, and what is wrong
 * with a system.
 */
#include "batches.h"
#include "check.h"
#include "device.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compare an array of the GPU with that of the CPU; NULL: there is none. */
static int same_array(const void *got, kith_memory memory, const void *want, size_t bytes)
{
    if (!want || bytes == 0)
        return 1;
    return memory == KITH_DEVICE ? device_holds(got, want, bytes) : memcmp(got, want, bytes) == 0;
}

static void check_rows(const char *name, const kith_nearest *got, const kith_nearest *want,
                       kith_precision precision)
{
    const size_t rows = (size_t)want->rows, n = rows * (size_t)want->k, real = (size_t)precision;
    const char *where = got->memory == KITH_DEVICE ? "device" : "host";
    CHECK(got->rows == want->rows, "%s: %lld rows", name, (long long)got->rows);
    CHECK(same_array(got->counts, got->memory, want->counts, rows * 4), "%s: counts, k %lld, %s",
          name, (long long)want->k, where);
    CHECK(same_array(got->j, got->memory, want->j, n * 4), "%s: j, k %lld, %s", name,
          (long long)want->k, where);
    CHECK(same_array(got->distances, got->memory, want->distances, n * real),
          "%s: distances, k %lld, %s", name, (long long)want->k, where);
    CHECK(same_array(got->vectors, got->memory, want->vectors, 3 * n * real),
          "%s: vectors, k %lld, %s", name, (long long)want->k, where);
    CHECK(same_array(got->shifts, got->memory, want->shifts, 12 * n), "%s: shifts, k %lld, %s",
          name, (long long)want->k, where);
}

/* Radii of n particles, in the precision of the batch: some 0, one large, the others up to 0.8. */
static void *make_radii(rng *r, int64_t n, kith_precision precision)
{
    void *radii = check_malloc((size_t)(n + 1) * (size_t)precision);
    for (int64_t p = 0; p < n; p++) {
        const double h = p % 20 == 3 ? 0 : p == n / 2 ? 1.5 : 0.8 * rng_uniform(r, 0, 1);
        if (precision == KITH_FLOAT)
            ((float *)radii)[p] = (float)h;
        else
            ((double *)radii)[p] = h;
    }
    return radii;
}

/* Search a batch in host and in device memory, and compare with the CPU.
 * rule: NONE, or with radii */
static void check_rule(kith_ctx *gpu, kith_ctx *cpu, const random_batch *batch, int cross,
                       int64_t k, double cutoff, unsigned extras, kith_radius_rule rule)
{
    const int64_t n[2] = {batch->points.points.n, batch->other.points.n};
    rng r = {(uint64_t)(k + rule)};
    void *radii[2] = {NULL, NULL}, *there[2] = {NULL, NULL};
    for (int set = 0; set < 2 && rule != KITH_RADIUS_NONE; set++) {
        radii[set] = make_radii(&r, n[set], batch->precision);
        there[set] = device_make(radii[set], (size_t)n[set] * (size_t)batch->precision);
    }
    const kith_batch on_host = batch_public(batch, cross);
    device_batch made = device_batch_make(batch, cross);
    kith_nearest want = {.size = sizeof want}, host = {.size = sizeof host};
    kith_nearest device = {.size = sizeof device, .memory = KITH_DEVICE};
    kith_nearest_options o;
    kith_nearest_options_init(&o);
    o.cutoff = cutoff;
    o.extras = extras;
    o.batch = &on_host;
    o.against = cross ? &batch->other.points : NULL;
    o.radius_rule = rule;
    o.radii = radii[0];
    o.radii_against = cross ? radii[1] : NULL;
    const kith_points *points = &batch->points.points;
    const kith_box *box = batch_box(batch);
    const kith_status right = kith_nearest_find(cpu, points, box, k, &o, &want);
    kith_status status = kith_nearest_find(gpu, points, box, k, &o, &host);
    CHECK(status == right, "%s: host, k %lld: %s: %s, the CPU %s", batch->name, (long long)k,
          kith_status_name(status), kith_message(gpu), kith_status_name(right));
    if (status == KITH_OK && right == KITH_OK)
        check_rows(batch->name, &host, &want, batch->precision);
    o.batch = &made.given;
    o.against = cross ? &made.b : NULL;
    o.radii = there[0];
    o.radii_against = cross ? there[1] : NULL;
    status = kith_nearest_find(gpu, &made.a, box, k, &o, &device);
    CHECK(status == right, "%s: device, k %lld: %s: %s, the CPU %s", batch->name, (long long)k,
          kith_status_name(status), kith_message(gpu), kith_status_name(right));
    if (status == KITH_OK && right == KITH_OK)
        check_rows(batch->name, &device, &want, batch->precision);
    kith_nearest_free(&want);
    kith_nearest_free(&host);
    kith_nearest_free(&device);
    device_batch_free(&made);
    for (int set = 0; set < 2; set++) {
        cudaFree(there[set]);
        free(radii[set]);
    }
}

static void check_batch(kith_ctx *gpu, kith_ctx *cpu, const random_batch *batch, int cross,
                        int64_t k, double cutoff, unsigned extras)
{
    check_rule(gpu, cpu, batch, cross, k, cutoff, extras, KITH_RADIUS_NONE);
}

static void check_random(kith_ctx *gpu, kith_ctx *cpu, uint64_t seed)
{
    static const int64_t many[] = {1, 2, 7, 8, 9, 16, 17, 32, 33, 60};
    rng r = {seed + 99};
    random_batch batch = batch_make(seed, seed % 4 == 3);
    const int cross = seed % 3 == 2;
    for (int turn = 0; turn < 3; turn++)
        check_batch(gpu, cpu, &batch, cross, many[rng_below(&r, 10)],
                    rng_below(&r, 2) ? 0 : rng_uniform(&r, 0.2, 2), (unsigned)rng_below(&r, 8));
    check_rule(gpu, cpu, &batch, cross, many[rng_below(&r, 10)], 0, (unsigned)rng_below(&r, 8),
               (kith_radius_rule)(KITH_RADIUS_GATHER + seed % 5));
    batch_free(&batch);
}

/* Systems of given sizes in one box: uniform, or on the places of a coarse lattice, where most
 * distances are equal and many particles coincide. */
static void check_sizes(kith_ctx *gpu, kith_ctx *cpu, const int64_t *sizes, int systems, int places,
                        kith_precision precision, int periodic)
{
    rng r = {(uint64_t)(systems + 10 * places + (int)precision)};
    random_batch batch = {.systems = systems, .precision = precision, .has_boxes = 0};
    double *xyz = NULL;
    batch.one = kith_box_periodic(1, 1.2, 0.9);
    for (int k = 0; k < 3; k++)
        batch.one.periodic[k] = periodic;
    for (int s = 0; s < systems; s++) {
        xyz = batch_append(&r, xyz, batch.a[s], sizes[s], &batch.one, 1, 0);
        batch.a[s + 1] = batch.a[s] + sizes[s];
    }
    for (int64_t c = 0; c < 3 * batch.a[systems] && places; c++)
        xyz[c] = floor(xyz[c] * 8) / 8;
    batch.points = stored_make(xyz, batch.a[systems], precision, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, precision, LAYOUT_PACKED);
    free(xyz);
    snprintf(batch.name, sizeof batch.name, "%d systems of %lld to %lld, places %d", systems,
             (long long)sizes[0], (long long)sizes[systems - 1], places);
    check_batch(gpu, cpu, &batch, 0, 8, 0, KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS);
    check_batch(gpu, cpu, &batch, 0, 20, 0.1, KITH_SHIFTS);
    batch_free(&batch);
}

/* One particle in a box that is flat or skewed: all neighbours are its own images. In a box that is
 * skewed too far they are too many boxes away. */
static void check_images(kith_ctx *gpu, kith_ctx *cpu)
{
    random_batch batch = {.systems = 6, .precision = KITH_DOUBLE, .has_boxes = 1};
    double xyz[3 * 6];
    for (int s = 0; s < 6; s++) {
        batch.boxes[s] = kith_box_periodic(1 + s, 0.1, 40);
        batch.boxes[s].row[1][0] = 3 * s;
        batch.a[s + 1] = s + 1;
        for (int k = 0; k < 3; k++)
            xyz[3 * s + k] = 0.01 + 0.01 * k;
    }
    batch.points = stored_make(xyz, 6, KITH_DOUBLE, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, KITH_DOUBLE, LAYOUT_PACKED);
    snprintf(batch.name, sizeof batch.name, "images");
    check_batch(gpu, cpu, &batch, 0, 16, 0, KITH_SHIFTS | KITH_VECTORS);
    batch.boxes[4].row[1][0] = 5e4;
    check_batch(gpu, cpu, &batch, 0, 16, 0, KITH_SHIFTS);
    kith_nearest out = {.size = sizeof out};
    kith_nearest_options o;
    const kith_batch given = batch_public(&batch, 0);
    kith_nearest_options_init(&o);
    o.batch = &given;
    const kith_status status = kith_nearest_find(gpu, &batch.points.points, NULL, 16, &o, &out);
    CHECK(status == KITH_LIMIT && strstr(kith_message(gpu), "system 4 of the batch"), "%s: %s",
          kith_status_name(status), kith_message(gpu));
    kith_nearest_free(&out);
    batch_free(&batch);
}

/* Coordinates whose squares leave the range of float. */
static void check_units(kith_ctx *gpu, kith_ctx *cpu, double unit)
{
    enum { SYSTEMS = 4, EACH = 30, N = SYSTEMS * EACH };
    rng r = {5};
    random_batch batch = {.systems = SYSTEMS, .precision = KITH_DOUBLE};
    double xyz[3 * N];
    batch.one = kith_box_periodic(unit, unit, unit);
    for (int s = 0; s < SYSTEMS; s++)
        batch.a[s + 1] = (s + 1) * EACH;
    for (int c = 0; c < 3 * N; c++)
        xyz[c] = unit * rng_uniform(&r, 0, 1);
    batch.points = stored_make(xyz, N, KITH_DOUBLE, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, KITH_DOUBLE, LAYOUT_PACKED);
    snprintf(batch.name, sizeof batch.name, "unit %g", unit);
    check_batch(gpu, cpu, &batch, 0, 8, 0, KITH_DISTANCES | KITH_SHIFTS);
    batch_free(&batch);
}

/* What is wrong with a system is said, whether arrays are in host or in device memory. */
static void check_refused(kith_ctx *gpu, kith_ctx *cpu)
{
    for (int fault = 0; fault < 3; fault++) {
        random_batch batch = {.systems = 4, .precision = KITH_DOUBLE, .has_boxes = 1};
        double xyz[3 * 8];
        for (int s = 0; s < 4; s++) {
            batch.boxes[s] = kith_box_periodic(1, 1, 1);
            batch.a[s + 1] = 2 * s + 2;
        }
        for (int c = 0; c < 24; c++)
            xyz[c] = 0.03 * c;
        xyz[13] = fault == 0 ? NAN : fault == 1 ? 1e18 : 0.3;
        batch.boxes[2].row[0][0] = fault == 2 ? 0 : 1;
        batch.points = stored_make(xyz, 8, KITH_DOUBLE, LAYOUT_PACKED);
        batch.other = stored_make(xyz, 0, KITH_DOUBLE, LAYOUT_PACKED);
        snprintf(batch.name, sizeof batch.name, "fault %d", fault);
        check_batch(gpu, cpu, &batch, 0, 3, 0, 0);
        CHECK(strstr(kith_message(gpu), "system 2 of the batch"), "%s", kith_message(gpu));
        batch_free(&batch);
    }
}

int main(int argc, char **argv)
{
    static const int64_t mixed[] = {20000, 64, 0, 5000, 16384, 16385, 3, 1};
    static const int64_t small[] = {1, 20, 64, 65, 0, 700, 32, 33, 3000};
    const int cases = check_deep() ? 3000 : check_brief() ? 10 : 120;
    kith_ctx *gpu = check_open(check_backend(argc, argv), 0);
    kith_ctx *cpu = check_open("cpu", 0);
    check_refused(gpu, cpu);
    check_images(gpu, cpu);
    check_units(gpu, cpu, 1e25);
    check_units(gpu, cpu, 1e-30);
    for (int turn = 0; turn < 4; turn++) {
        const kith_precision precision = turn % 2 ? KITH_FLOAT : KITH_DOUBLE;
        check_sizes(gpu, cpu, small, 9, turn / 2, precision, turn != 1);
        if (!check_brief())
            check_sizes(gpu, cpu, mixed, 8, 0, precision, turn / 2);
    }
    for (int seed = 0; seed < cases; seed++)
        check_random(gpu, cpu, (uint64_t)seed + 700000);
    kith_close(gpu);
    kith_close(cpu);
    return check_done();
}
