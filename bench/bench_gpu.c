/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair lists on a GPU, from device memory to device memory, everything included.
 * Each list is first compared with the CPU backend's, pair for pair by a hash of the set; then it
 * is timed in two ways: kith_pairs_enqueue by the device's clock, kith_pairs_fill by the host's.
 */
#include "bench.h"

#include <ladder_driver.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

enum { REPEATS = 25, WARM_UP = 3 }; /* calls timed by the device's clock; untimed calls before */

/** A case: a list of one set of points. */
typedef struct gpu_case {
    const char *name, *set;   /**< names of the case and of the set; "cscl N": a crystal of N^3
                                   cells */
    double cutoff;            /**< cutoff at a million points of the unit cube, or in a crystal; 0:
                                   100 neighbours on average */
    kith_precision precision; /**< precision of the points */
    bool periodic;            /**< the box is periodic; else open */
    kith_pairs_options list;  /**< form of the list */
    /** Order of the points in memory; AS_MADE: random, for uniform points. */
    enum { AS_MADE, BY_ROWS, BY_CURVE } order;
} gpu_case;

/* Three crystals are the cases that NVIDIA published for an H100 (nvalchemi-toolkit-ops 0.4): CsCl
 * with lattice constant 4.119, 137,842 and 65,536 atoms. 41^3 and 32^3 cells of two atoms have
 * these numbers. "One pass" lists are in any order. */
static const gpu_case cases[] = {
    {"half one pass", "uniform", 0.03, KITH_DOUBLE, .list.unordered = 1},
    {"half", "uniform", 0.03, KITH_DOUBLE, .periodic = false},
    {"half one pass float", "uniform", 0.03, KITH_FLOAT, .list.unordered = 1},
    {"half float", "uniform", 0.03, KITH_FLOAT, .periodic = false},
    {"full csr", "uniform", 0.03, KITH_DOUBLE, .list.full = 1, .list.layout = KITH_CSR},
    {"half sorted", "uniform", 0.03, KITH_DOUBLE, .list.sorted = 1},
    {"half one pass periodic", "uniform", 0.03, KITH_DOUBLE, .periodic = true, .list.unordered = 1},
    {"half periodic", "uniform", 0.03, KITH_DOUBLE, .periodic = true},
    {"clustered one pass", "clustered", 0, KITH_DOUBLE, .list.unordered = 1},
    {"clustered", "clustered", 0, KITH_DOUBLE, .periodic = false},
    {"matrix", "uniform", 0.03, KITH_DOUBLE, .list.full = 1, .list.layout = KITH_MATRIX,
     .list.width = 192},
    {"ordered none", "uniform", 0.0212, KITH_FLOAT, true, .list.full = 1, .list.layout = KITH_CSR},
    {"ordered by rows", "uniform", 0.0212, KITH_FLOAT, true, .list.full = 1,
     .list.layout = KITH_CSR, .order = BY_ROWS},
    {"ordered by curve", "uniform", 0.0212, KITH_FLOAT, true, .list.full = 1,
     .list.layout = KITH_CSR, .order = BY_CURVE},
    {"crystal 6", "cscl 41", 6, KITH_FLOAT, true, .list.full = 1, .list.layout = KITH_CSR,
     .list.extras = KITH_SHIFTS},
    {"crystal 15", "cscl 41", 15, KITH_FLOAT, true, .list.full = 1, .list.layout = KITH_CSR,
     .list.extras = KITH_SHIFTS},
    {"crystal 25", "cscl 32", 25, KITH_FLOAT, true, .list.full = 1, .list.layout = KITH_CSR,
     .list.extras = KITH_SHIFTS},
};

/** A case made ready: points in host and device memory, and room for the list in device memory. */
typedef struct problem {
    int64_t n;                  /**< number of points */
    double side;                /**< side of the cube that holds the points */
    double cutoff;              /**< cutoff of the list */
    double *xyz;                /**< [n][3] the points */
    void *values;               /**< [n][3] the points in the case's precision */
    void *on_device;            /**< copy of values in device memory */
    cudaStream_t stream;        /**< stream of the context `gpu` */
    kith_ctx *cpu, *gpu;        /**< contexts of both backends */
    kith_pairs_options options; /**< form of the list */
    kith_points host, device;   /**< the points in values, in on_device */
    kith_box box;               /**< periodic cube, or open */
    kith_pairs right;           /**< list by the CPU */
    kith_pairs list;            /**< list by the GPU, in device memory */
    int64_t *result;            /**< [KITH_RESULTS] of kith_pairs_enqueue, in device memory */
} problem;

/** Make a crystal of CsCl: two atoms in each of cells^3 cubic cells.
 *  @param[out] n, side  number of atoms; side of the cube
 *  @return [n][3]; NULL without memory */
static double *make_crystal(int cells, int64_t *n, double *side)
{
    const double a = 4.119;
    *n = 2 * (int64_t)cells * cells * cells;
    *side = cells * a;
    double *xyz = malloc((size_t)*n * 3 * sizeof *xyz);
    for (int64_t p = 0; xyz && p < *n; p++) {
        const int64_t cell = p / 2;
        const int64_t place[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
        for (int k = 0; k < 3; k++) {
            xyz[3 * p + k] = a * ((double)place[k] + (p % 2 ? 0.5 : 0));
        }
    }
    return xyz;
}

/** Make the points of a case. @param n  points of a set that is not a crystal */
static bool make_points(problem *p, const gpu_case *c, int64_t n)
{
    if (strncmp(c->set, "cscl", 4) == 0) {
        p->xyz = make_crystal((int)strtol(c->set + 5, NULL, 10), &p->n, &p->side);
    } else {
        p->n = n;
        p->side = 1;
        p->xyz = bench_make_set(c->set, n);
    }
    if (p->xyz && c->order != AS_MADE &&
        !bench_reorder(p->xyz, n, c->order == BY_ROWS ? c->cutoff * cbrt(1e6 / (double)n) : 0)) {
        return false;
    }
    p->values = malloc((size_t)p->n * 3 * sizeof(double));
    for (int64_t k = 0; p->xyz && p->values && k < 3 * p->n; k++) {
        io_put_real(p->values, k, c->precision, p->xyz[k]);
    }
    return p->xyz && p->values;
}

/** Find the cutoff that gives a mean of 100 neighbours, 50 half pairs a point, by bisection of its
 *  logarithm. @return false when a call failed */
static bool find_cutoff(problem *p)
{
    double low = 1e-6, high = 0.1;
    for (int step = 0; step < 30; step++) {
        int64_t pairs = 0;
        p->cutoff = sqrt(low * high);
        if (kith_pairs_count(p->gpu, &p->host, &p->box, p->cutoff, NULL, &pairs, NULL) != KITH_OK) {
            return false;
        }
        *(pairs < 50 * p->n ? &low : &high) = p->cutoff;
    }
    return true;
}

/** Allocate the list in device memory, of exactly the size of the CPU's. */
static bool make_room(problem *p, const gpu_case *c)
{
    const bool csr = c->list.layout == KITH_CSR;
    const bool matrix = c->list.layout == KITH_MATRIX;
    const int64_t room = matrix ? p->n * c->list.width : p->right.n;
    const size_t pairs = (size_t)room;
    p->list = (kith_pairs){
        .size = sizeof p->list, .capacity = room, .width = c->list.width, .memory = KITH_DEVICE};
    bool ok = cudaMalloc((void **)&p->list.j, pairs * sizeof(int32_t)) == cudaSuccess &&
              cudaMalloc((void **)&p->result, KITH_RESULTS * sizeof *p->result) == cudaSuccess;
    if (matrix) {
        ok = ok &&
             cudaMalloc((void **)&p->list.counts, (size_t)p->n * sizeof(int32_t)) == cudaSuccess;
    } else if (csr) {
        ok = ok && cudaMalloc((void **)&p->list.offsets, (size_t)(p->n + 1) * sizeof(int64_t)) ==
                       cudaSuccess;
    } else {
        ok = ok && cudaMalloc((void **)&p->list.i, pairs * sizeof(int32_t)) == cudaSuccess;
    }
    if (c->list.extras & KITH_SHIFTS) {
        ok = ok && cudaMalloc((void **)&p->list.shifts, pairs * 3 * sizeof(int32_t)) == cudaSuccess;
    }
    return ok;
}

/** Open a context on the GPU that uses a stream. @return NULL, reported, on failure */
static kith_ctx *open_on(cudaStream_t stream)
{
    kith_ctx *ctx = NULL;
    kith_options options;
    kith_options_init(&options);
    options.backend = "cuda";
    options.threads = 1; /* no work is done on the CPU */
    options.stream = stream;
    if (kith_open(&options, &ctx) != KITH_OK) {
        fprintf(stderr, "kith_bench: %s\n", kith_message(NULL));
    }
    return ctx;
}

/** Make a case ready, with the CPU's list. @param n  points of a set that is not a crystal
 *  @return false on failure; problem_free the problem also then */
static bool problem_make(problem *p, const gpu_case *c, int64_t n)
{
    *p = (problem){.options = c->list, .right.size = sizeof p->right};
    p->options.size = sizeof p->options;
    if (cudaStreamCreate(&p->stream) != cudaSuccess || !(p->cpu = bench_open("cpu", 0)) ||
        !(p->gpu = open_on(p->stream)) || !make_points(p, c, n)) {
        return false;
    }
    const size_t bytes = (size_t)p->n * 3 * (size_t)c->precision;
    p->cutoff = c->cutoff * (p->side == 1 ? cbrt(1e6 / (double)p->n) : 1);
    p->box = c->periodic ? kith_box_periodic(p->side, p->side, p->side) : kith_box_open();
    p->host = kith_points_packed(p->values, p->n, c->precision);
    if (cudaMalloc(&p->on_device, bytes) != cudaSuccess ||
        cudaMemcpy(p->on_device, p->values, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
        return false;
    }
    p->device = kith_points_packed(p->on_device, p->n, c->precision);
    p->device.memory = KITH_DEVICE;
    return (c->cutoff > 0 || find_cutoff(p)) &&
           kith_pairs_find(p->cpu, &p->host, &p->box, p->cutoff, &p->options, &p->right) ==
               KITH_OK &&
           make_room(p, c);
}

static void problem_free(problem *p)
{
    kith_pairs_free(&p->right);
    kith_close(p->cpu);
    kith_close(p->gpu);
    if (p->stream) {
        cudaStreamDestroy(p->stream);
    }
    cudaFree(p->on_device);
    cudaFree(p->list.i);
    cudaFree(p->list.j);
    cudaFree(p->list.offsets);
    cudaFree(p->list.counts);
    cudaFree(p->list.shifts);
    cudaFree(p->result);
    free(p->xyz);
    free(p->values);
}

void *bench_gpu_upload(const void *from, size_t bytes)
{
    void *to = NULL;
    if (cudaMalloc(&to, bytes) == cudaSuccess &&
        cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaFree(to);
        to = NULL;
    }
    return to;
}

void *bench_gpu_fetch(const void *from, size_t bytes)
{
    void *to = from ? malloc(bytes + 1) : NULL;
    if (to && cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
        free(to);
        to = NULL;
    }
    return to;
}

void bench_gpu_free(void *memory)
{
    cudaFree(memory);
}

/** Return true when the list in device memory is equal to that of the CPU, by length and hash. */
static bool is_right(const problem *p)
{
    const size_t n = (size_t)p->right.n;
    kith_pairs got = {.n = p->list.n};
    int32_t *shifts = NULL;
    bool ok = p->list.n == p->right.n;
    const size_t entries = p->list.counts ? (size_t)(p->n * p->list.width) : n;
    got.width = p->list.width;
    got.rows = p->n;
    got.j = bench_gpu_fetch(p->list.j, entries * sizeof(int32_t));
    got.i = bench_gpu_fetch(p->list.i, n * sizeof(int32_t));
    got.offsets = bench_gpu_fetch(p->list.offsets, (size_t)(p->n + 1) * sizeof(int64_t));
    got.counts = bench_gpu_fetch(p->list.counts, (size_t)p->n * sizeof(int32_t));
    shifts = bench_gpu_fetch(p->list.shifts, 3 * n * sizeof(int32_t));
    if (ok) {
        const rung_hash a = bench_hash(&got, shifts);
        const rung_hash b = bench_hash(&p->right, p->right.shifts);
        ok = memcmp(&a, &b, sizeof a) == 0;
    }
    free(got.i);
    free(got.j);
    free(got.offsets);
    free(got.counts);
    free(shifts);
    return ok;
}

/** A harness_work: make the list, and wait for it. */
static bool fill(void *user)
{
    problem *p = user;
    return kith_pairs_fill(p->gpu, &p->device, &p->box, p->cutoff, &p->options, &p->list) ==
           KITH_OK;
}

/** A harness_work: queue the work of the list on the stream, without waiting. */
static bool enqueue(void *user)
{
    const problem *p = user;
    return kith_pairs_enqueue(p->gpu, &p->device, &p->box, p->cutoff, &p->options, &p->list,
                              p->result) == KITH_OK;
}

/** Time the work that a function queues on a stream by the device's clock, between two events. */
static bool time_queued(cudaStream_t stream, harness_work work, void *user, harness_times *out)
{
    double times[REPEATS];
    cudaEvent_t begin = NULL, end = NULL;
    bool ok = cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess;
    for (int r = -WARM_UP; ok && r < REPEATS; r++) {
        float milliseconds = 0;
        ok = cudaEventRecord(begin, stream) == cudaSuccess && work(user) &&
             cudaEventRecord(end, stream) == cudaSuccess &&
             cudaEventSynchronize(end) == cudaSuccess &&
             cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess;
        times[r < 0 ? 0 : r] = 1e-3 * (double)milliseconds;
    }
    if (begin) {
        cudaEventDestroy(begin);
    }
    if (end) {
        cudaEventDestroy(end);
    }
    if (ok) {
        harness_summarise(times, REPEATS, out);
    }
    return ok;
}

/** Device memory that is written. */
typedef struct store_test {
    void *buffer; /**< [bytes] the memory */
    size_t bytes; /**< its size */
} store_test;

/** A harness_work: queue writing the memory. */
static bool store(void *user)
{
    const store_test *test = user;
    return cudaMemsetAsync(test->buffer, 1, test->bytes, NULL) == cudaSuccess;
}

/** Measure how fast device memory can be written. @return bytes/s; 0: not known */
static double measure_store_rate(int64_t bytes)
{
    store_test test = {NULL, (size_t)bytes};
    harness_times times;
    const bool ok = cudaMalloc(&test.buffer, test.bytes) == cudaSuccess &&
                    time_queued(NULL, store, &test, &times);
    cudaFree(test.buffer);
    return ok ? (double)bytes / times.median : 0;
}

bool bench_gpu_can_run(void)
{
    int devices = 0;
    const bool can = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
    if (!can) {
        fputs("kith_bench: no GPU can be used here\n", stderr);
    }
    return can;
}

bool bench_gpu_has_room(int64_t n, int64_t host, int64_t device)
{
    size_t available = 0, total = 0;
    return host * n < harness_memory() && cudaMemGetInfo(&available, &total) == cudaSuccess &&
           device * n < (int64_t)available;
}

bool bench_gpu_describe(const bench_options *options, json_t *out, double *store_rate)
{
    struct cudaDeviceProp gpu;
    int runtime = 0, driver = 0;
    char capability[16];
    if (cudaGetDeviceProperties(&gpu, 0) != cudaSuccess ||
        cudaRuntimeGetVersion(&runtime) != cudaSuccess ||
        cudaDriverGetVersion(&driver) != cudaSuccess) {
        fputs("kith_bench: the GPU does not say what it is\n", stderr);
        return false;
    }
    *store_rate = measure_store_rate(4 * options->store_bytes);
    snprintf(capability, sizeof capability, "%d.%d", gpu.major, gpu.minor);
    json_t *const about = put_object(out, "gpu");
    put_text(about, "name", gpu.name);
    put_text(about, "compute_capability", capability);
    put_integer(about, "processors", gpu.multiProcessorCount);
    put_integer(about, "memory_bytes", (int64_t)gpu.totalGlobalMem);
    put_number(about, "store_gigabytes_per_second", 1e-9 * *store_rate);
    put_integer(about, "cuda_runtime", runtime);
    put_integer(about, "cuda_driver", driver);
    put_text(about, "compiler", KITH_BENCH_CUDA_COMPILER);
    put_text(about, "architectures", KITH_BENCH_CUDA_ARCHITECTURES);
    printf("%s, %.0f GB/s stored\n", gpu.name, 1e-9 * *store_rate);
    return *store_rate > 0;
}

/** Verify, then time a list. @return false, reported, on failure */
static bool run(const gpu_case *c, problem *p, const bench_options *options, double store_rate,
                json_t *out)
{
    harness_times times, queued;
    const double start = ladder_now();
    bool ok = fill(p);
    const double first = ladder_now() - start;
    if (ok && !is_right(p)) {
        fprintf(stderr, "kith_bench: %s: wrong list: %lld pairs, not %lld\n", c->name,
                (long long)p->list.n, (long long)p->right.n);
        return false;
    }
    ok = ok && harness_time(fill, p, options->least_seconds, &times) &&
         time_queued(p->stream, enqueue, p, &queued);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", c->name, kith_message(p->gpu));
        return false;
    }
    times.first = first;
    bench_result_write(out, &(bench_result){.name = c->name,
                                            .set = c->set,
                                            .ctx = p->gpu,
                                            .n = p->n,
                                            .cutoff = p->cutoff,
                                            .precision = c->precision,
                                            .periodic = c->periodic,
                                            .list = p->options,
                                            .pairs = p->list.n,
                                            .times = times,
                                            .queued = &queued,
                                            .store_rate = store_rate});
    return true;
}

bool bench_gpu(const bench_options *options, json_t *out)
{
    double store_rate;
    if (!bench_gpu_describe(options, out, &store_rate)) {
        return false;
    }
    bool ok = true;
    bench_options shared =
        *options; /* for questions with one table of cases for CPU cores and GPU */
    shared.backend = "cuda";
    shared.threads[0] = 0;
    shared.threads[1] = 0;
    json_t *const list = put_array(out, "results");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        problem p;
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        const bool made = problem_make(&p, &cases[c], options->n);
        if (!made) {
            fprintf(stderr, "kith_bench: %s: could not be made ready\n", cases[c].name);
        }
        ok = made && run(&cases[c], &p, options, store_rate, list) && ok;
        problem_free(&p);
    }
    ok = bench_gpu_kept(options, store_rate, list) && ok;
    ok = bench_gpu_fof(options, list) && ok;
    ok = bench_rdf(&shared, out) && ok;
    ok = bench_nearest(&shared, out) && ok;
    ok = bench_batch(&shared, out) && ok;
    ok = bench_overlap(&shared, out) && ok;
    ok = bench_gpu_waves(options, out) && ok;
    ok = bench_gpu_debye(options, out) && ok;
    return bench_flock(&shared, out) && ok;
}
