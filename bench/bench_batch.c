/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks of batches, many systems in one call: full lists with images, and g(r) of many
 * frames; on a GPU from device memory to device memory. Each list is first compared with those of a
 * loop of calls on the CPU, one for each system, by a hash of the set.
 */
#include "bench.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

/* Particles in a unit of volume, and the cutoff: 52 neighbours. */
static const double density = 0.1, cutoff = 5;

typedef struct batch_case {
    const char *name;
    int64_t systems, each; /* of the standard case */
    kith_pairs_options list;
} batch_case;

/* The sizes that nvalchemi-toolkit-ops (NVIDIA) is timed with. */
static const batch_case cases[] = {
    {"batch 6144", 512, 6144, {.layout = KITH_CSR}},
    {"batch 6144 one pass", 512, 6144, {.unordered = 1}},
    {"batch 64", 10000, 64, {.layout = KITH_CSR}},
    {"batch 64 one pass", 10000, 64, {.unordered = 1}},
    {"batch 20", 100000, 20, {.layout = KITH_CSR}},
    {"batch 20 one pass", 100000, 20, {.unordered = 1}},
};

typedef struct problem {
    int64_t n;
    float *xyz;
    int64_t *offsets;
    kith_box box; /* of each system */
    kith_batch host, device;
    kith_points points, on_device;
    void *copies[2]; /* positions and offsets in device memory */
} problem;

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->offsets);
    bench_gpu_free(p->copies[0]);
    bench_gpu_free(p->copies[1]);
}

static bool problem_make(problem *p, int64_t systems, int64_t each, bool gpu)
{
    random_state random = random_start(1);
    const double side = cbrt((double)each / density);
    *p = (problem){.n = systems * each, .box = kith_box_periodic(side, side, side)};
    p->xyz = malloc((size_t)p->n * sizeof(float[3]));
    p->offsets = malloc((size_t)(systems + 1) * sizeof *p->offsets);
    if (!p->xyz || !p->offsets) {
        return false;
    }
    for (int64_t k = 0; k < 3 * p->n; k++) {
        p->xyz[k] = (float)(side * random_unit(&random));
    }
    for (int64_t s = 0; s <= systems; s++) {
        p->offsets[s] = s * each;
    }
    p->points = kith_points_packed(p->xyz, p->n, KITH_FLOAT);
    kith_batch_init(&p->host);
    p->host.systems = systems;
    p->host.offsets = p->offsets;
    p->device = p->host;
    if (gpu) {
        p->copies[0] = bench_gpu_upload(p->xyz, (size_t)p->n * sizeof(float[3]));
        p->copies[1] = bench_gpu_upload(p->offsets, (size_t)(systems + 1) * sizeof *p->offsets);
        p->on_device = kith_points_packed(p->copies[0], p->n, KITH_FLOAT);
        p->on_device.memory = KITH_DEVICE;
        p->device.offsets = p->copies[1];
        p->device.memory = KITH_DEVICE;
    }
    return !gpu || (p->copies[0] && p->copies[1]);
}

typedef struct job {
    const problem *p;
    kith_ctx *ctx;
    const kith_points *points;
    kith_pairs_options options;
    kith_pairs list;
    kith_rdf_options rdf;
    kith_histogram histogram;
} job;

static bool find(void *user)
{
    job *const j = user;
    const bool has_room = j->list.capacity > 0;
    if (!j->options.unordered || !has_room) {
        return kith_pairs_find(j->ctx, j->points, &j->p->box, cutoff, &j->options, &j->list) ==
               KITH_OK;
    }
    /* kith_pairs_find always takes a fixed order. */
    kith_pairs mine = j->list;
    mine.owner = NULL;
    const kith_status status = kith_pairs_fill(j->ctx, j->points, &j->p->box, cutoff, &j->options,
                                               &mine);
    j->list.n = mine.n;
    return status == KITH_OK;
}

static bool count(void *user)
{
    job *const j = user;
    kith_histogram_free(&j->histogram);
    return kith_rdf_count(j->ctx, j->points, &j->p->box, &j->rdf, &j->histogram) == KITH_OK;
}

/* Hash of the lists of all systems, by a call for each. @return false: a call failed */
static bool hash_of_loop(const problem *p, const job *like, int64_t *pairs, rung_hash *hash)
{
    kith_ctx *const ctx = bench_open("cpu", 1);
    kith_pairs list = {.size = sizeof list};
    kith_pairs_options options = like->options;
    options.batch = NULL;
    options.layout = KITH_IJ;
    bool ok = ctx != NULL;
    *pairs = 0;
    for (int64_t s = 0; ok && s < p->host.systems; s++) {
        const int32_t first = (int32_t)p->offsets[s];
        const kith_points own = kith_points_packed(p->xyz + 3 * (int64_t)first,
                                                   p->offsets[s + 1] - first, KITH_FLOAT);
        ok = kith_pairs_find(ctx, &own, &p->box, cutoff, &options, &list) == KITH_OK;
        for (int64_t k = 0; ok && k < list.n; k++) {
            list.i[k] += first;
            list.j[k] += first;
        }
        if (ok) {
            const rung_hash part = bench_hash(&list, list.shifts);
            hash->sum[0] += part.sum[0];
            hash->sum[1] += part.sum[1];
            *pairs += list.n;
        }
    }
    kith_pairs_free(&list);
    kith_close(ctx);
    return ok;
}

static bool is_right(const job *j)
{
    const bool gpu = j->list.memory == KITH_DEVICE;
    const size_t n = (size_t)j->list.n;
    const size_t rows = (size_t)(j->p->n + 1);
    kith_pairs got = j->list;
    rung_hash hash = {{0}}, right = {{0}};
    int64_t pairs;
    if (gpu) {
        got.i = bench_gpu_fetch(got.i, n * sizeof *got.i);
        got.j = bench_gpu_fetch(got.j, n * sizeof *got.j);
        got.shifts = bench_gpu_fetch(got.shifts, 3 * n * sizeof *got.shifts);
        got.offsets = bench_gpu_fetch(got.offsets, rows * sizeof *got.offsets);
    }
    bool ok = got.j && got.shifts && (got.i || got.offsets) &&
              hash_of_loop(j->p, j, &pairs, &right) && pairs == j->list.n;
    if (ok) {
        hash = bench_hash(&got, got.shifts);
        ok = memcmp(&hash, &right, sizeof hash) == 0;
    }
    if (gpu) {
        free(got.i);
        free(got.j);
        free(got.shifts);
        free(got.offsets);
    }
    return ok;
}

static bool run_lists(const batch_case *c, const problem *p, const bench_options *options,
                      int threads, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    harness_times times;
    job j = {.p = p,
             .ctx = bench_open(options->backend, threads),
             .points = gpu ? &p->on_device : &p->points,
             .list = {.size = sizeof j.list, .memory = gpu ? KITH_DEVICE : KITH_HOST}};
    kith_pairs_options_init(&j.options);
    j.options.full = 1;
    j.options.layout = c->list.layout;
    j.options.unordered = c->list.unordered;
    j.options.extras = KITH_SHIFTS;
    j.options.batch = gpu ? &p->device : &p->host;
    bool ok = j.ctx && find(&j) && is_right(&j) &&
              harness_time(find, &j, options->least_seconds, &times);
    if (ok) {
        json_t *const row = bench_begin(out, c->name, "uniform", p->n);
        put_bool(row, "periodic", true);
        put_integer(row, "systems", p->host.systems);
        put_integer(row, "pairs", j.list.n);
        put_number(row, "million_pairs_per_second", 1e-6 * (double)j.list.n / times.median);
        bench_end(row, KITH_FLOAT, j.ctx, &times);
    } else {
        fprintf(stderr, "kith_bench: %s: wrong lists, or no memory %s\n", c->name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    kith_pairs_free(&j.list);
    kith_close(j.ctx);
    return ok;
}

/* g(r) of many frames; its counts are compared with those of a loop of calls on the CPU. */
static bool run_frames(const problem *p, const bench_options *options, int threads, json_t *out)
{
    static const char *const name = "batch frames";
    const bool gpu = bench_on_gpu(options);
    harness_times times;
    job j = {.p = p,
             .ctx = bench_open(options->backend, threads),
             .points = gpu ? &p->on_device : &p->points,
             .histogram = {.size = sizeof j.histogram}};
    job loop = {.p = p, .ctx = bench_open("cpu", 1), .histogram = {.size = sizeof j.histogram}};
    kith_rdf_options_init(&j.rdf);
    j.rdf.r_max = p->box.row[0][0] / 2;
    loop.rdf = j.rdf;
    j.rdf.batch = gpu ? &p->device : &p->host;
    bool ok = j.ctx && loop.ctx && count(&j);
    for (int64_t s = 0; ok && s < p->host.systems; s++) {
        const kith_points own = kith_points_packed(p->xyz + 3 * p->offsets[s],
                                                   p->offsets[s + 1] - p->offsets[s], KITH_FLOAT);
        ok = kith_rdf_count(loop.ctx, &own, &p->box, &loop.rdf, &loop.histogram) == KITH_OK;
    }
    ok = ok &&
         memcmp(j.histogram.counts, loop.histogram.counts,
                (size_t)j.histogram.bins * sizeof *j.histogram.counts) == 0 &&
         harness_time(count, &j, options->least_seconds, &times);
    if (ok) {
        json_t *const row = bench_begin(out, name, "uniform", p->n);
        put_bool(row, "periodic", true);
        put_integer(row, "systems", p->host.systems);
        put_number(row, "frames_per_second", (double)p->host.systems / times.median);
        bench_end(row, KITH_FLOAT, j.ctx, &times);
    } else {
        fprintf(stderr, "kith_bench: %s: wrong counts, or no memory %s\n", name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    kith_histogram_free(&j.histogram);
    kith_histogram_free(&loop.histogram);
    kith_close(j.ctx);
    kith_close(loop.ctx);
    return ok;
}

/* Run a case with all numbers of threads. @param c  NULL: g(r) of frames */
static bool run_case(const batch_case *c, const bench_options *options, json_t *out)
{
    enum { STANDARD_N = 1000000, FRAMES = 10000, ATOMS = 1000 };
    const int64_t standard = c ? c->systems : FRAMES;
    const int64_t wanted = standard * options->n / (bench_on_gpu(options) ? 1 : 8) / STANDARD_N;
    problem p;
    bool ok = problem_make(&p, wanted > 0 ? wanted : 1, c ? c->each : ATOMS, bench_on_gpu(options));
    for (int t = 0; ok && bench_has_run(options, t); t++) {
        ok = c ? run_lists(c, &p, options, options->threads[t], out)
               : run_frames(&p, options, options->threads[t], out);
    }
    problem_free(&p);
    return ok;
}

bool bench_batch(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "batches");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        if (bench_wants(options, cases[c].name)) {
            ok = run_case(&cases[c], options, list);
        }
    }
    return (!ok || !bench_wants(options, "batch frames") || run_case(NULL, options, list)) && ok;
}
