/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs in device memory: found, filled and queued by a GPU from points in device memory,
 * against the list of a CPU. Each list is compared as a set of records of all its numbers, bit by
 * bit; a sorted list in its order, too.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"

enum { ARRAYS = 6, GUARD = 64, GUARD_BYTE = 0xa5 };

/** A pair with its extras: bytes that are not used are 0. */
typedef struct record {
    int32_t i, j, shift[3];
    unsigned char reals[4 * sizeof(double)]; /**< distance, then vector */
} record;

/** A list in arrays of the caller in device memory, each with guard bytes behind it. */
typedef struct device_list {
    kith_pairs list;
    void *memory[ARRAYS]; /**< i, j, offsets, distances, vectors, shifts */
    size_t bytes[ARRAYS];
} device_list;

/** One input for a GPU, and the list that is expected. */
typedef struct trial {
    kith_ctx *ctx;
    const kith_points *points; /**< in device memory */
    const kith_box *box;
    double cutoff;
    const kith_pairs_options *form;
    const record *expected; /**< [n] */
    int64_t n;
} trial;

static void *device_alloc(size_t bytes)
{
    void *data = NULL;
    CHECK(cudaMalloc(&data, bytes + 1) == cudaSuccess, "%zu bytes", bytes);
    return data;
}

static void *to_host(const void *from, size_t bytes)
{
    void *to = check_malloc(bytes + 1);
    if (from && bytes) {
        CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "copy");
    }
    return to;
}

/* ------------------------------------------------------------------------------------- points */

/** Copy stored points to device memory, in the same layout. @return the memory, for cudaFree */
static void *points_to_device(const stored *from, kith_points *out)
{
    const size_t size = (size_t)from->points.precision;
    const size_t bytes = (7 * (size_t)from->points.n + 7) * size; /* as stored_make */
    char *memory = device_alloc(bytes);
    const char *begin = from->memory;
    CHECK(cudaMemcpy(memory, begin, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "copy");
    *out = from->points;
    out->x = memory + ((const char *)from->points.x - begin);
    out->y = memory + ((const char *)from->points.y - begin);
    out->z = memory + ((const char *)from->points.z - begin);
    out->memory = KITH_DEVICE;
    return memory;
}

/* -------------------------------------------------------------------------------------- lists */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(record));
}

/** The records of a list in host memory, in its order or, if that is not defined, in one order. */
static record *make_records(const kith_pairs *list, kith_precision precision,
                            const kith_pairs_options *form)
{
    const size_t real = (size_t)precision;
    record *out = check_malloc(((size_t)list->n + 1) * sizeof *out);
    memset(out, 0, ((size_t)list->n + 1) * sizeof *out);
    int64_t row = 0;
    for (int64_t p = 0; p < list->n; p++) {
        while (form->layout == KITH_CSR && row + 1 < list->rows && list->offsets[row + 1] <= p) {
            row++;
        }
        out[p].i = form->layout == KITH_CSR ? (int32_t)row : list->i[p];
        out[p].j = list->j[p];
        if (form->extras & KITH_SHIFTS) {
            memcpy(out[p].shift, list->shifts + 3 * p, sizeof out[p].shift);
        }
        if (form->extras & KITH_DISTANCES) {
            memcpy(out[p].reals, (const char *)list->distances + (size_t)p * real, real);
        }
        if (form->extras & KITH_VECTORS) {
            memcpy(out[p].reals + real, (const char *)list->vectors + 3 * (size_t)p * real,
                   3 * real);
        }
    }
    if (!form->sorted) {
        qsort(out, (size_t)list->n, sizeof *out, by_bytes);
    }
    return out;
}

/** Compare a list in device memory with the expected one. @param how  the way it was made */
static void check_list(const trial *t, const kith_pairs *list, const char *how)
{
    const char *name = kith_backend(t->ctx);
    if (!CHECK(list->memory == KITH_DEVICE && list->n == t->n && list->rows == t->points->n,
               "%s, %s: %lld pairs of %lld rows, expected %lld of %lld", name, how,
               (long long)list->n, (long long)list->rows, (long long)t->n,
               (long long)t->points->n)) {
        return;
    }
    const size_t n = (size_t)list->n, real = (size_t)t->points->precision;
    const bool csr = t->form->layout == KITH_CSR;
    kith_pairs host = *list;
    host.i = to_host(csr ? NULL : list->i, csr ? 0 : 4 * n);
    host.j = to_host(list->j, 4 * n);
    host.offsets = to_host(csr ? list->offsets : NULL, csr ? 8 * ((size_t)list->rows + 1) : 0);
    host.distances = to_host(list->distances, t->form->extras & KITH_DISTANCES ? n * real : 0);
    host.vectors = to_host(list->vectors, t->form->extras & KITH_VECTORS ? 3 * n * real : 0);
    host.shifts = to_host(list->shifts, t->form->extras & KITH_SHIFTS ? 12 * n : 0);
    if (!csr || CHECK(host.offsets[0] == 0 && host.offsets[list->rows] == list->n,
                      "%s, %s: offsets", name, how)) {
        record *got = make_records(&host, t->points->precision, t->form);
        CHECK(memcmp(got, t->expected, n * sizeof *got) == 0,
              "%s, %s: other pairs than the CPU's %lld", name, how, (long long)t->n);
        free(got);
    }
    free(host.i);
    free(host.j);
    free(host.offsets);
    free(host.distances);
    free(host.vectors);
    free(host.shifts);
}

static device_list make_list(const trial *t, int64_t capacity)
{
    const size_t n = (size_t)capacity, real = (size_t)t->points->precision;
    const bool csr = t->form->layout == KITH_CSR;
    const unsigned extras = t->form->extras;
    device_list d = {.bytes = {csr ? 0 : 4 * n, 4 * n, csr ? 8 * ((size_t)t->points->n + 1) : 0,
                               extras & KITH_DISTANCES ? n * real : 0,
                               extras & KITH_VECTORS ? 3 * n * real : 0,
                               extras & KITH_SHIFTS ? 12 * n : 0}};
    for (int a = 0; a < ARRAYS; a++) {
        d.memory[a] = device_alloc(d.bytes[a] + GUARD);
        CHECK(cudaMemset(d.memory[a], GUARD_BYTE, d.bytes[a] + GUARD) == cudaSuccess, "memset");
    }
    d.list = (kith_pairs){.capacity = capacity,
                          .memory = KITH_DEVICE,
                          .i = csr ? NULL : d.memory[0],
                          .j = d.memory[1],
                          .offsets = csr ? d.memory[2] : NULL,
                          .distances = extras & KITH_DISTANCES ? d.memory[3] : NULL,
                          .vectors = extras & KITH_VECTORS ? d.memory[4] : NULL,
                          .shifts = extras & KITH_SHIFTS ? d.memory[5] : NULL};
    return d;
}

/** Free a list, and check its guard bytes. */
static void free_list(const trial *t, device_list *d, const char *how)
{
    bool intact = true;
    for (int a = 0; a < ARRAYS; a++) {
        unsigned char *guard = to_host((char *)d->memory[a] + d->bytes[a], GUARD);
        for (int k = 0; k < GUARD; k++) {
            intact = intact && guard[k] == GUARD_BYTE;
        }
        free(guard);
        cudaFree(d->memory[a]);
    }
    CHECK(intact, "%s, %s: wrote past the end of an array", kith_backend(t->ctx), how);
}

/* --------------------------------------------------------------------------------------- ways */

static bool is_ok(const trial *t, kith_status status, const char *how)
{
    return CHECK(status == KITH_OK, "%s, %s: %s", kith_backend(t->ctx), how, kith_message(t->ctx));
}

static void check_find(const trial *t)
{
    kith_pairs list = {.memory = KITH_DEVICE};
    if (is_ok(t, kith_pairs_find(t->ctx, t->points, t->box, t->cutoff, t->form, &list), "found")) {
        check_list(t, &list, "found");
    }
    kith_pairs_free(&list);
}

/** @param lack  pairs that the arrays are too small for */
static void check_fill(const trial *t, int64_t lack)
{
    device_list d = make_list(t, t->n - lack);
    const kith_status status = kith_pairs_fill(t->ctx, t->points, t->box, t->cutoff, t->form,
                                               &d.list);
    if (lack > 0) {
        CHECK(status == KITH_CAPACITY && d.list.n == t->n, "%s: %s, %lld pairs needed, not %lld",
              kith_backend(t->ctx), kith_status_name(status), (long long)d.list.n, (long long)t->n);
    } else if (is_ok(t, status, "filled")) {
        check_list(t, &d.list, "filled");
    }
    free_list(t, &d, "filled");
}

/** @param lack  pairs that the arrays are too small for */
static void check_enqueue(const trial *t, int64_t lack)
{
    device_list d = make_list(t, t->n - lack);
    int64_t *result = device_alloc(sizeof *result);
    const kith_status status = kith_pairs_enqueue(t->ctx, t->points, t->box, t->cutoff, t->form,
                                                  &d.list, result);
    if (is_ok(t, status, "queued") &&
        CHECK(cudaDeviceSynchronize() == cudaSuccess, "the device failed")) {
        int64_t *n = to_host(result, sizeof *result);
        d.list.n = *n;
        d.list.rows = t->points->n;
        free(n);
        if (lack > 0) {
            CHECK(d.list.n > d.list.capacity, "%s, queued: result %lld, %lld pairs fit",
                  kith_backend(t->ctx), (long long)d.list.n, (long long)d.list.capacity);
        } else {
            check_list(t, &d.list, "queued");
        }
    }
    cudaFree(result);
    free_list(t, &d, "queued");
}

/** Allocate on the device of the context: "cuda" is the first, "cuda:1" the second. */
static void choose_device(const kith_ctx *ctx)
{
    const char *number = strchr(kith_backend(ctx), ':');
    CHECK(cudaSetDevice(number ? atoi(number + 1) : 0) == cudaSuccess, "%s", kith_backend(ctx));
}

void differ_device(kith_ctx *ctx, const differ_input *in, kith_pairs_options form,
                   const kith_pairs *expected)
{
    choose_device(ctx);
    stored a = stored_make(in->xyz, in->n, in->precision, in->how);
    stored b = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    kith_points points, other;
    void *memory[2] = {points_to_device(&a, &points), points_to_device(&b, &other)};
    form.against = in->other ? &other : NULL;
    record *records = make_records(expected, in->precision, &form);
    const trial t = {.ctx = ctx,
                     .points = &points,
                     .box = differ_box(in),
                     .cutoff = in->cutoff,
                     .form = &form,
                     .expected = records,
                     .n = expected->n};
    check_find(&t);
    for (int64_t lack = 0; lack < 2 && lack <= t.n; lack++) {
        check_fill(&t, lack);
        if (!form.batch) { /* test_pairs_batch_device queues batches: all of one in device memory */
            check_enqueue(&t, lack);
        }
    }
    free(records);
    cudaFree(memory[0]);
    cudaFree(memory[1]);
    stored_free(&a);
    stored_free(&b);
}

/* ----------------------------------------------------------------------------------- nearest */

/** Return true when n elements in device memory are those in host memory; NULL holds none. */
static bool is_equal(const void *device, const void *host, int64_t n, size_t size)
{
    const size_t bytes = host ? (size_t)n * size : 0;
    void *copy = to_host(device, bytes);
    const bool equal = bytes == 0 || memcmp(copy, host, bytes) == 0;
    free(copy);
    return equal;
}

void differ_device_nearest(kith_ctx *ctx, const differ_input *in, int64_t k,
                           kith_nearest_options options, const kith_nearest *expected)
{
    choose_device(ctx);
    stored a = stored_make(in->xyz, in->n, in->precision, in->how);
    stored b = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    kith_points points, other;
    void *memory[2] = {points_to_device(&a, &points), points_to_device(&b, &other)};
    const size_t real = (size_t)in->precision;
    const int64_t n = in->n * k;
    options.against = in->other ? &other : NULL;
    kith_nearest got = {.size = sizeof got, .memory = KITH_DEVICE};
    if (CHECK(kith_nearest_find(ctx, &points, differ_box(in), k, &options, &got) == KITH_OK,
              "%s: %s", kith_backend(ctx), kith_message(ctx))) {
        CHECK(got.rows == in->n && got.k == k &&
                  is_equal(got.counts, expected->counts, in->n, sizeof *got.counts) &&
                  is_equal(got.j, expected->j, n, sizeof *got.j) &&
                  is_equal(got.distances, expected->distances, n, real) &&
                  is_equal(got.vectors, expected->vectors, n, 3 * real) &&
                  is_equal(got.shifts, expected->shifts, n, 3 * sizeof *got.shifts),
              "%s: %lld particles, k %lld: neighbours in device memory differ", kith_backend(ctx),
              (long long)in->n, (long long)k);
    }
    kith_nearest_free(&got);
    cudaFree(memory[0]);
    cudaFree(memory[1]);
    stored_free(&a);
    stored_free(&b);
}
