/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points and lists in device memory: found, filled, filled in any order, queued on the caller's
 * stream; the capacity too small, a coordinate that is not finite, no memory; and a second call
 * that allocates nothing. Lists are compared with the CPU's.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 20000 };

static void *device_alloc(size_t bytes)
{
    void *data = NULL;
    CHECK(cudaMalloc(&data, bytes + 1) == cudaSuccess, "%zu bytes", bytes);
    return data;
}

static void *to_device(const void *from, size_t bytes)
{
    void *to = device_alloc(bytes);
    CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    return to;
}

static void *to_host(const void *from, size_t bytes)
{
    void *to = check_malloc(bytes + 1);
    if (from)
        CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    return to;
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The ends of a list in device or host memory, sorted. */
static uint64_t *ends(const kith_pairs *list)
{
    const int on_device = list->memory == KITH_DEVICE;
    const size_t bytes = (size_t)list->n * sizeof(int32_t);
    int32_t *i = on_device ? to_host(list->i, bytes) : list->i;
    int32_t *j = on_device ? to_host(list->j, bytes) : list->j;
    uint64_t *sorted = check_malloc((size_t)list->n * sizeof *sorted);
    for (int64_t p = 0; p < list->n; p++)
        sorted[p] = (uint64_t)i[p] << 32 | (uint32_t)j[p];
    qsort(sorted, (size_t)list->n, sizeof *sorted, ascending);
    if (on_device) {
        free(i);
        free(j);
    }
    return sorted;
}

static void same_pairs(const char *what, const kith_pairs *right, const kith_pairs *list)
{
    if (!CHECK(right->n == list->n, "%s: %lld pairs, not %lld", what, (long long)list->n,
               (long long)right->n))
        return;
    uint64_t *a = ends(right), *b = ends(list);
    CHECK(memcmp(a, b, (size_t)list->n * sizeof *a) == 0, "%s: other pairs", what);
    free(a);
    free(b);
}

static int same_on_host(const void *host, const void *device, size_t bytes)
{
    void *copy = to_host(device, bytes);
    const int same = memcmp(host, copy, bytes) == 0;
    free(copy);
    return same;
}

/* Sorted lists with everything are the CPU's to the last bit. */
static void check_sorted(kith_ctx *cpu, kith_ctx *gpu, const kith_points *host,
                         const kith_points *device, const kith_box *box, double cutoff,
                         kith_layout form)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.sorted = 1;
    o.full = form == KITH_CSR;
    o.layout = form;
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    kith_pairs right = {0}, list = {.memory = KITH_DEVICE};
    CHECK(kith_pairs_find(cpu, host, box, cutoff, &o, &right) == KITH_OK, "%s", kith_message(cpu));
    CHECK(kith_pairs_find(gpu, device, box, cutoff, &o, &list) == KITH_OK, "%s", kith_message(gpu));
    if (CHECK(right.n == list.n && list.n > 0, "%lld, not %lld", (long long)list.n,
              (long long)right.n)) {
        const size_t n = (size_t)list.n, real = (size_t)host->precision;
        CHECK(list.memory == KITH_DEVICE, "list moved");
        CHECK(same_on_host(right.j, list.j, n * 4), "j differs");
        if (form == KITH_IJ)
            CHECK(same_on_host(right.i, list.i, n * 4), "i differs");
        else
            CHECK(same_on_host(right.offsets, list.offsets, (size_t)(host->n + 1) * 8), "offsets");
        CHECK(same_on_host(right.distances, list.distances, n * real), "distances differ");
        CHECK(same_on_host(right.vectors, list.vectors, 3 * n * real), "vectors differ");
        CHECK(same_on_host(right.shifts, list.shifts, 12 * n), "shifts differ");
    }
    kith_pairs_free(&right);
    kith_pairs_free(&list);
}

/* Every way to an (i, j) list in device memory. */
static void check_ways(kith_ctx *cpu, kith_ctx *gpu, cudaStream_t stream, const kith_points *host,
                       const kith_points *device, const kith_box *box, double cutoff)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    kith_pairs right = {0}, found = {.memory = KITH_DEVICE};
    CHECK(kith_pairs_find(cpu, host, box, cutoff, &o, &right) == KITH_OK, "%s", kith_message(cpu));
    CHECK(kith_pairs_find(gpu, device, box, cutoff, &o, &found) == KITH_OK, "%s",
          kith_message(gpu));
    same_pairs("found", &right, &found);
    CHECK(cudaMemset(found.j, 0xff, (size_t)right.n * 4) == cudaSuccess, "memset");
    o.queued = 1;
    CHECK(kith_pairs_find(gpu, device, box, cutoff, &o, &found) == KITH_OK, "%s",
          kith_message(gpu));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess, "stream");
    same_pairs("found, queued", &right, &found);
    o.queued = 0;
    kith_pairs list = {.capacity = right.n, .memory = KITH_DEVICE};
    list.i = device_alloc((size_t)right.n * 4);
    list.j = device_alloc((size_t)right.n * 4);
    int64_t *result = device_alloc(sizeof *result);
    int64_t scratch = 0;
    for (int call = 0; call < 6; call++) {
        int64_t n = 0;
        o.unordered = call % 2;
        CHECK(cudaMemset(list.j, 0xff, (size_t)right.n * 4) == cudaSuccess, "memset");
        CHECK(kith_pairs_fill(gpu, device, box, cutoff, &o, &list) == KITH_OK, "%s",
              kith_message(gpu));
        same_pairs(o.unordered ? "filled in any order" : "filled", &right, &list);
        CHECK(cudaMemset(list.j, 0xff, (size_t)right.n * 4) == cudaSuccess, "memset");
        list.n = 0;
        CHECK(kith_pairs_enqueue(gpu, device, box, cutoff, &o, &list, result) == KITH_OK, "%s",
              kith_message(gpu));
        CHECK(cudaMemcpyAsync(&n, result, sizeof n, cudaMemcpyDeviceToHost, stream) ==
                      cudaSuccess &&
                  cudaStreamSynchronize(stream) == cudaSuccess,
              "stream");
        list.n = n;
        same_pairs("queued", &right, &list);
        if (call > 1)
            CHECK(kith_scratch_bytes(gpu) == scratch, "call %d allocates", call);
        scratch = kith_scratch_bytes(gpu);
    }
    list.capacity = right.n - 1;
    for (o.unordered = 0; o.unordered < 2; o.unordered++) {
        CHECK(kith_pairs_fill(gpu, device, box, cutoff, &o, &list) == KITH_CAPACITY, "capacity");
        CHECK(list.n == right.n, "%lld pairs needed, not %lld", (long long)list.n,
              (long long)right.n);
    }
    cudaFree(list.i);
    cudaFree(list.j);
    cudaFree(result);
    kith_pairs_free(&right);
    kith_pairs_free(&found);
}

static void check_errors(kith_ctx *gpu, double *xyz, kith_points device)
{
    kith_pairs list = {.memory = KITH_DEVICE};
    int64_t n = 0, *result = device_alloc(sizeof *result);
    const double was = xyz[3 * 77 + 1];
    xyz[3 * 77 + 1] = NAN;
    void *bad = to_device(xyz, (size_t)N * 24);
    xyz[3 * 77 + 1] = was;
    kith_points points = kith_points_packed(bad, N, KITH_DOUBLE);
    points.memory = KITH_DEVICE;
    CHECK(kith_pairs_find(gpu, &points, NULL, 0.1, NULL, &list) == KITH_NOT_FINITE, "NaN");
    CHECK(strstr(kith_message(gpu), "particle 77 ") != NULL, "%s", kith_message(gpu));
    kith_pairs empty = {.memory = KITH_DEVICE};
    CHECK(kith_pairs_enqueue(gpu, &points, NULL, 0.1, NULL, &empty, result) == KITH_OK, "%s",
          kith_message(gpu));
    CHECK(cudaDeviceSynchronize() == cudaSuccess, "device");
    CHECK(cudaMemcpy(&n, result, sizeof n, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    CHECK(n == KITH_NOT_FINITE, "result is %lld", (long long)n);

    /* 2 * 10^10 pairs of all extras: no device has a terabyte */
    void *zeros = device_alloc(200000 * 24);
    CHECK(cudaMemset(zeros, 0, 200000 * 24) == cudaSuccess, "memset");
    points = kith_points_packed(zeros, 200000, KITH_DOUBLE);
    points.memory = KITH_DEVICE;
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    CHECK(kith_pairs_find(gpu, &points, NULL, 0.1, &o, &list) == KITH_NO_MEMORY, "memory");
    CHECK(kith_pairs_count(gpu, &points, NULL, 0.1, NULL, &n, NULL) == KITH_OK && n == 19999900000,
          "%lld pairs: %s", (long long)n, kith_message(gpu));
    kith_pairs_free(&list);
    CHECK(kith_pairs_find(gpu, &device, NULL, 0.05, NULL, &list) == KITH_OK, "%s",
          kith_message(gpu));
    kith_pairs_free(&list);
    cudaFree(zeros);
    cudaFree(bad);
    cudaFree(result);
}

static void check_current(void)
{
    int current = -1;
    CHECK(cudaGetDevice(&current) == cudaSuccess && current == 0, "current: %d", current);
}

/* Contexts on every device of the machine, called by turns, from a thread whose current device is
 * the first and stays so. Coordinates and list lie in each device's own memory. */
static void check_devices(kith_ctx *cpu, const kith_points *host, double cutoff)
{
    enum { MOST = 8 };
    int devices = 0;
    kith_ctx *ctx[MOST] = {NULL};
    kith_points points[MOST];
    kith_pairs right = {0};
    CHECK(kith_pairs_find(cpu, host, NULL, cutoff, NULL, &right) == KITH_OK, "cpu");
    CHECK(cudaGetDeviceCount(&devices) == cudaSuccess, "no devices");
    devices = devices < MOST ? devices : MOST;
    for (int d = 0; d < devices; d++) {
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", d);
        CHECK(cudaSetDevice(d) == cudaSuccess, "%s", name);
        points[d] = kith_points_packed(
            to_device(host->x, (size_t)host->n * 3 * (size_t)host->precision), host->n,
            host->precision);
        points[d].memory = KITH_DEVICE;
        CHECK(cudaSetDevice(0) == cudaSuccess, "cuda:0");
        ctx[d] = check_open(name, 1);
        CHECK(strcmp(kith_backend(ctx[d]), name) == 0, "%s for %s", kith_backend(ctx[d]), name);
        CHECK(kith_set_stream(ctx[d], NULL) == KITH_OK, "%s", kith_message(ctx[d]));
        check_current();
    }
    for (int call = 0; call < 2 * devices; call++) {
        const int d = call % devices;
        kith_pairs found = {.memory = KITH_DEVICE};
        CHECK(kith_pairs_find(ctx[d], &points[d], NULL, cutoff, NULL, &found) == KITH_OK, "%s",
              kith_message(ctx[d]));
        same_pairs(kith_backend(ctx[d]), &right, &found);
        kith_pairs_free(&found);
        check_current();
    }
    for (int d = 0; d < devices; d++) {
        kith_close(ctx[d]);
        check_current();
        cudaFree((void *)(uintptr_t)points[d].x);
    }
    kith_pairs_free(&right);
    printf("%d device%s\n", devices, devices == 1 ? "" : "s");
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 1));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess, "stream");
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.stream = stream;
    kith_ctx *gpu = NULL, *cpu = check_open("cpu", 2);
    if (!CHECK(kith_open(&options, &gpu) == KITH_OK, "%s", kith_message(NULL)))
        return check_done();
    rng r = {17};
    const kith_box unit = kith_box_periodic(1, 1, 1);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    double *xyz = points_in_box(&r, N, &unit);
    points_drift(&r, xyz, N, &unit, 2);
    kith_points packed = {0};
    for (int p = 0; p < 2; p++) {
        stored host = stored_make(xyz, N, p ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED);
        void *memory = to_device(host.points.x, (size_t)N * 3 * (size_t)host.points.precision);
        packed = kith_points_packed(memory, N, host.points.precision);
        packed.memory = KITH_DEVICE;
        check_ways(cpu, gpu, stream, &host.points, &packed, NULL, 0.05);
        check_ways(cpu, gpu, stream, &host.points, &packed, &unit, 0.05);
        check_ways(cpu, gpu, stream, &host.points, &packed, &cell, 0.05);
        check_sorted(cpu, gpu, &host.points, &packed, &unit, 0.05, KITH_IJ);
        check_sorted(cpu, gpu, &host.points, &packed, &cell, 0.05, KITH_CSR);
        check_sorted(cpu, gpu, &host.points, &packed, NULL, 0.05, KITH_CSR);
        if (p == 0)
            check_devices(cpu, &host.points, 0.05);
        stored_free(&host);
        if (p == 0)
            check_errors(gpu, xyz, packed);
        cudaFree(memory);
    }
    free(xyz);
    kith_close(gpu);
    kith_close(cpu);
    cudaStreamDestroy(stream);
    return check_done();
}
