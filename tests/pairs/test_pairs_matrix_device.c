/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists in device memory: found, filled, queued, and replayed in a CUDA graph whose
 * particles move. Sorted rows are the CPU's to the last bit, overflowed ones included; unsorted
 * rows of a replay are those of a plain call. The counters land in device memory: of lists that
 * fit, of lists that overflow, of coordinates that are not finite.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 6000, OTHERS = 1500, BEHIND = 64, UNWRITTEN = 0xee, ARRAYS = 5, STEPS = 5 };
enum { ALL_EXTRAS = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS };

static const double cutoff = 0.09; /* 18 neighbours */

#define CU(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

/** Arrays of a list, on the device or on the host. */
typedef struct room {
    size_t bytes[ARRAYS];
    void *memory[ARRAYS];
    kith_pairs list;
    int64_t *result; /**< [KITH_RESULTS] on the device */
} room;

static room room_make(kith_memory where, kith_precision precision, unsigned extras, int64_t width)
{
    const size_t n = (size_t)N * (size_t)width, real = (size_t)precision;
    room r = {.bytes = {N * 4, n * 4, extras & KITH_DISTANCES ? n * real : 0,
                        extras & KITH_VECTORS ? 3 * n * real : 0,
                        extras & KITH_SHIFTS ? 12 * n : 0}};
    for (int a = 0; a < ARRAYS; a++) {
        if (where == KITH_DEVICE)
            CU(cudaMalloc(&r.memory[a], r.bytes[a] + BEHIND));
        else
            r.memory[a] = check_malloc(r.bytes[a] + BEHIND);
    }
    r.list = (kith_pairs){.size = sizeof r.list,
                          .memory = where,
                          .capacity = (int64_t)n,
                          .counts = r.memory[0],
                          .j = r.memory[1],
                          .distances = r.memory[2],
                          .vectors = r.memory[3],
                          .shifts = r.memory[4]};
    CU(cudaMalloc((void **)&r.result, KITH_RESULTS * sizeof *r.result));
    return r;
}

static void room_free(room *r)
{
    for (int a = 0; a < ARRAYS; a++) {
        if (r->list.memory == KITH_DEVICE)
            CU(cudaFree(r->memory[a]));
        else
            free(r->memory[a]);
    }
    CU(cudaFree(r->result));
}

static void room_clear(const room *r)
{
    for (int a = 0; a < ARRAYS; a++)
        CU(cudaMemset(r->memory[a], UNWRITTEN, r->bytes[a] + BEHIND));
    CU(cudaMemset(r->result, UNWRITTEN, KITH_RESULTS * sizeof *r->result));
    CU(cudaDeviceSynchronize());
}

/** Compare device arrays with those of another list, and what is behind them with UNWRITTEN. */
static void check_arrays(const char *what, void *const device[ARRAYS], const room *right,
                         int guarded)
{
    for (int a = 0; a < ARRAYS; a++) {
        const size_t bytes = right->bytes[a], behind = guarded ? BEHIND : 0;
        unsigned char *copy = check_malloc(bytes + BEHIND), *expected = check_malloc(bytes + 1);
        if (bytes + behind > 0)
            CU(cudaMemcpy(copy, device[a], bytes + behind, cudaMemcpyDeviceToHost));
        if (right->list.memory == KITH_DEVICE)
            CU(cudaMemcpy(expected, right->memory[a], bytes, cudaMemcpyDeviceToHost));
        else
            memcpy(expected, right->memory[a], bytes);
        CHECK(memcmp(copy, expected, bytes) == 0, "%s: array %d differs", what, a);
        for (size_t b = bytes; b < bytes + behind; b++)
            if (!CHECK(copy[b] == UNWRITTEN, "%s: array %d is written behind its end", what, a))
                break;
        free(copy);
        free(expected);
    }
}

/** Check the counters in device memory. */
static void check_result(const char *what, const room *r, kith_status status,
                         const kith_pairs *right)
{
    int64_t result[KITH_RESULTS] = {0};
    const int fine = status == KITH_OK || status == KITH_CAPACITY;
    CU(cudaMemcpy(result, r->result, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result[KITH_RESULT_PAIRS] == (fine ? right->n : (int64_t)status) &&
              result[KITH_RESULT_WIDEST] == (fine ? right->widest : 0) &&
              result[KITH_RESULT_OVERFLOWED] == (fine ? right->overflowed : 0),
          "%s: result %lld, %lld, %lld, expected %lld, %lld, %lld (%s)", what, (long long)result[0],
          (long long)result[1], (long long)result[2], (long long)right->n, (long long)right->widest,
          (long long)right->overflowed, kith_status_name(status));
}

/** Coordinates of a step: in step 2 so close that many rows overflow; in step 3 one is no
 *  number. */
static double *moved(const double *from, int step)
{
    rng r = {(uint64_t)step + 5};
    double *xyz = check_malloc((size_t)N * 3 * sizeof *xyz);
    for (int k = 0; k < 3 * N; k++)
        xyz[k] = (from[k] + 0.3 * step * rng_uniform(&r, 0, 1)) * (step == 2 ? 0.3 : 1);
    if (step == 3)
        xyz[3 * 77 + 1] = (double)NAN;
    return xyz;
}

/** What a test needs. */
typedef struct bed {
    kith_ctx *cpu, *gpu;
    cudaStream_t stream;
    double *xyz; /**< [N][3] */
    void *x;     /**< [N][3] on the device */
} bed;

static const kith_box unit = {
    .row = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .periodic = {1, 1, 1}, .dim = 3};

/** One form of the list: sorted or not, with another set or not. */
static void check_form(bed *b, const char *name, int sorted, int cross, unsigned extras,
                       int64_t width, int32_t fill, const kith_box *box, kith_precision precision)
{
    kith_pairs_options o, here;
    kith_pairs_options_init(&o);
    o.layout = KITH_MATRIX;
    o.sorted = sorted;
    o.extras = extras;
    o.width = width;
    o.fill = fill;
    const size_t size = (size_t)N * 3 * (size_t)precision;
    kith_points points = kith_points_packed(b->x, N, precision), others = points;
    points.memory = others.memory = KITH_DEVICE;
    others.n = OTHERS;
    o.against = cross ? &others : NULL;
    room replayed = room_make(KITH_DEVICE, precision, extras, width);
    room plain = room_make(KITH_DEVICE, precision, extras, width);
    room right = room_make(KITH_HOST, precision, extras, width);
    kith_pairs found = {.size = sizeof found, .memory = KITH_DEVICE};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    CU(cudaMemset(b->x, 0, size));
    CU(cudaDeviceSynchronize());  /* the stream does not wait for it: cudaStreamNonBlocking */
    for (int k = 0; k < 2; k++) { /* the second call is captured */
        if (k)
            CU(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeGlobal));
        CHECK(kith_pairs_enqueue(b->gpu, &points, box, cutoff, &o, &replayed.list,
                                 replayed.result) == KITH_OK,
              "%s: %s", name, kith_message(b->gpu));
        if (k && CU(cudaStreamEndCapture(b->stream, &graph)))
            CU(cudaGraphInstantiate(&exec, graph, 0));
    }
    for (int step = 0; step < STEPS; step++) {
        double *xyz = moved(b->xyz, step);
        stored host = stored_make(xyz, N, precision, LAYOUT_PACKED), near = host;
        near.points.n = OTHERS;
        here = o;
        here.against = cross ? &near.points : NULL;
        CU(cudaMemcpy(b->x, host.points.x, size, cudaMemcpyHostToDevice));
        room_clear(&replayed);
        room_clear(&plain);
        CU(cudaGraphLaunch(exec, b->stream));
        CU(cudaStreamSynchronize(b->stream));
        const kith_status expected = kith_pairs_fill(b->cpu, &host.points, box, cutoff, &here,
                                                     &right.list);
        const kith_status status = kith_pairs_fill(b->gpu, &points, box, cutoff, &o, &plain.list);
        CHECK(status == expected, "%s, step %d: %s, of the CPU %s", name, step,
              kith_status_name(status), kith_status_name(expected));
        CHECK(step == 3   ? expected == KITH_NOT_FINITE
              : step == 2 ? expected == KITH_CAPACITY || cross
                          : expected == KITH_OK || width < 40,
              "%s, step %d: %s", name, step, kith_status_name(expected));
        check_result(name, &replayed, expected, &right.list);
        if (step != 3) {
            CHECK(plain.list.n == right.list.n && plain.list.widest == right.list.widest &&
                      plain.list.overflowed == right.list.overflowed && plain.list.width == width &&
                      plain.list.rows == N,
                  "%s, step %d: other counts", name, step);
            check_arrays(name, replayed.memory, sorted ? &right : &plain, 1);
            check_arrays(name, plain.memory, sorted ? &right : &plain, 1);
            CHECK(kith_pairs_find(b->gpu, &points, box, cutoff, &o, &found) == KITH_OK, "%s",
                  kith_message(b->gpu));
            CHECK(found.width == (width > right.list.widest ? width : right.list.widest),
                  "%s: %lld wide", name, (long long)found.width);
            if (found.width == width)
                check_arrays(
                    name,
                    (void *[]){found.counts, found.j, found.distances, found.vectors, found.shifts},
                    sorted ? &right : &plain, 0);
        }
        stored_free(&host);
        free(xyz);
    }
    kith_pairs_free(&found);
    CU(cudaGraphExecDestroy(exec));
    CU(cudaGraphDestroy(graph));
    room_free(&right);
    room_free(&plain);
    room_free(&replayed);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    bed b = {.cpu = check_open("cpu", 2)};
    CU(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.stream = b.stream;
    if (!CHECK(kith_open(&options, &b.gpu) == KITH_OK, "%s", kith_message(NULL)))
        return check_done();
    rng r = {29};
    b.xyz = points_in_box(&r, N, &unit);
    CU(cudaMalloc(&b.x, (size_t)N * 24));
    for (int k = 0; k < 4; k++) {
        const kith_box *box = k & 1 ? &unit : NULL;
        const kith_precision precision = k & 2 ? KITH_FLOAT : KITH_DOUBLE;
        check_form(&b, "sorted", 1, 0, 0, 48, -1, box, precision);
        check_form(&b, "sorted, extras", 1, 0, ALL_EXTRAS, 48, N, box, precision);
        check_form(&b, "sorted, distances", 1, 0, KITH_DISTANCES, 48, -1, box, precision);
        check_form(&b, "sorted, narrow", 1, 0, ALL_EXTRAS, 9, -1, box, precision);
        check_form(&b, "sorted, narrow, alone", 1, 0, 0, 9, -1, box, precision);
        check_form(&b, "sorted, one", 1, 0, KITH_SHIFTS, 1, -1, box, precision);
        check_form(&b, "unsorted", 0, 0, 0, 48, -1, box, precision);
        check_form(&b, "unsorted, shifts", 0, 0, KITH_SHIFTS, 48, -1, box, precision);
        check_form(&b, "unsorted, extras", 0, 0, ALL_EXTRAS, 17, 7, box, precision);
        check_form(&b, "two sets", 1, 1, ALL_EXTRAS, 40, -1, box, precision);
        check_form(&b, "counts", 0, 0, ALL_EXTRAS, 0, -1, box, precision);
    }
    CU(cudaFree(b.x));
    free(b.xyz);
    kith_close(b.gpu);
    kith_close(b.cpu);
    CU(cudaStreamDestroy(b.stream));
    return check_done();
}
