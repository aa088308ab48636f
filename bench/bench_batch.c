/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks of batches, many systems in one call: full lists with images, nearest
 * neighbours, groups, and g(r) of many frames; on a GPU from device memory to device memory, groups
 * and g(r) to host memory. Each result is first compared with those of a loop of calls on the CPU,
 * one for each system: lists by a hash of the set of pairs, others bit for bit.
 */
#include "bench.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

/* Particles in a unit of volume, and the cutoff of lists, within which a particle has 52 neighbours
 * on average. */
static const double density = 0.1, cutoff = 5;

/* k of the nearest neighbours, and the linking length of groups: 0.7 of the mean spacing. */
enum { NEIGHBOURS = 8 };
static const double linking = 1.5;

struct job;

/** A question that cases ask of a batch. */
typedef struct question {
    const char *noun;           /**< its results, for messages: "lists" */
    void (*set)(struct job *j); /**< set the options of a job, whose case and batch are set */
    harness_work work;          /**< make the result */
    /** Return true when the result equals that of a loop of calls. */
    bool (*is_right)(const struct job *j);
    /** Add the rate to the row of a result. @param seconds  median time */
    void (*put_rate)(json_t *row, const struct job *j, double seconds);
} question;
static const question lists, nearest, groups, frames;

/** A case of the benchmark. */
typedef struct batch_case {
    const char *name;         /**< name of the case; "one pass": lists in any order */
    const question *question; /**< what it asks */
    int64_t systems, each;    /**< systems at -n 1000000; particles of each */
    kith_pairs_options list;  /**< layout and order of the lists */
} batch_case;

/* The sizes are those with which nvalchemi-toolkit-ops (NVIDIA) is timed. On CPU cores an eighth as
 * many systems are used. */
static const batch_case cases[] = {
    {"batch 6144", &lists, 512, 6144, {.layout = KITH_CSR}},
    {"batch 6144 one pass", &lists, 512, 6144, {.unordered = 1}},
    {"batch 64", &lists, 10000, 64, {.layout = KITH_CSR}},
    {"batch 64 one pass", &lists, 10000, 64, {.unordered = 1}},
    {"batch 20", &lists, 100000, 20, {.layout = KITH_CSR}},
    {"batch 20 one pass", &lists, 100000, 20, {.unordered = 1}},
    {"batch nearest 6144", &nearest, 512, 6144, {0}},
    {"batch nearest 64", &nearest, 10000, 64, {0}},
    {"batch nearest 20", &nearest, 100000, 20, {0}},
    {"batch groups 6144", &groups, 512, 6144, {0}},
    {"batch groups 64", &groups, 10000, 64, {0}},
    {"batch groups 20", &groups, 100000, 20, {0}},
    {"batch frames", &frames, 10000, 1000, {0}},
};

/** The systems of a case. */
typedef struct problem {
    int64_t n;                     /**< particles of all systems */
    float *xyz;                    /**< [n][3] positions */
    int64_t *offsets;              /**< [systems + 1] first particle of each system */
    kith_box box;                  /**< the box, of all systems */
    kith_batch host, device;       /**< the batch by offsets in host memory, in device memory */
    kith_points points, on_device; /**< the positions in host memory, in device memory */
    void *copies[2];               /**< positions and offsets in device memory; NULL on a CPU */
} problem;

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->offsets);
    bench_gpu_free(p->copies[0]);
    bench_gpu_free(p->copies[1]);
}

/** Make systems of `each` random particles. @return false without memory */
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

/** A call for all systems that is timed. A case uses the options and the result of one question. */
typedef struct job {
    const batch_case *c;          /**< the case */
    const problem *p;             /**< the systems */
    kith_ctx *ctx;                /**< context of the job */
    const kith_points *points;    /**< positions in the memory of the backend */
    const kith_batch *batch;      /**< the batch in the memory of the backend */
    kith_pairs_options options;   /**< options of lists */
    kith_pairs list;              /**< the list of all systems */
    kith_nearest_options nearest; /**< options of nearest neighbours */
    kith_nearest neighbours;      /**< nearest neighbours */
    kith_fof_options fof;         /**< options of groups */
    kith_groups groups;           /**< groups */
    kith_rdf_options rdf;         /**< options of g(r) */
    kith_histogram histogram;     /**< counts of g(r) over all systems */
} job;

/* The works that are timed: find lists, nearest neighbours, groups, and count distances. */
static bool find(void *user)
{
    job *const j = user;
    const bool has_room = j->list.capacity > 0;
    if (!j->options.unordered || !has_room) {
        return kith_pairs_find(j->ctx, j->points, &j->p->box, cutoff, &j->options, &j->list) ==
               KITH_OK;
    }
    /* Into arrays of the first call, by kith_pairs_fill: kith_pairs_find ignores `unordered`. */
    kith_pairs mine = j->list;
    mine.owner = NULL;
    const kith_status status = kith_pairs_fill(j->ctx, j->points, &j->p->box, cutoff, &j->options,
                                               &mine);
    j->list.n = mine.n;
    return status == KITH_OK;
}

static bool find_nearest(void *user)
{
    job *const j = user;
    return kith_nearest_find(j->ctx, j->points, &j->p->box, NEIGHBOURS, &j->nearest,
                             &j->neighbours) == KITH_OK;
}

static bool find_groups(void *user)
{
    job *const j = user;
    return kith_fof_find(j->ctx, j->points, &j->p->box, linking, &j->fof, &j->groups) == KITH_OK;
}

static bool count(void *user)
{
    job *const j = user;
    kith_histogram_free(&j->histogram);
    return kith_rdf_count(j->ctx, j->points, &j->p->box, &j->rdf, &j->histogram) == KITH_OK;
}

/** Return the particles of one system. */
static kith_points system_of(const problem *p, int64_t s)
{
    return kith_points_packed(p->xyz + 3 * p->offsets[s], p->offsets[s + 1] - p->offsets[s],
                              KITH_FLOAT);
}

/** Compute the hash of the lists of all systems from a call for each, with the indices of the
 *  batch.
 *  @param like        the job with the options
 *  @param[out] pairs  number of pairs
 *  @return false: a call failed */
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
        const kith_points own = system_of(p, s);
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

/** Return true when the list has the pairs and shifts of a loop of calls. */
static bool are_lists_right(const job *j)
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

/** Return a job with a context, and with points and batch in the memory of its backend. */
static job job_open(const batch_case *c, const problem *p, const bench_options *options,
                    int threads)
{
    const bool gpu = bench_on_gpu(options);
    return (job){.c = c,
                 .p = p,
                 .ctx = bench_open(options->backend, threads),
                 .points = gpu ? &p->on_device : &p->points,
                 .batch = gpu ? &p->device : &p->host,
                 .list = {.size = sizeof(kith_pairs)},
                 .neighbours = {.size = sizeof(kith_nearest)},
                 .groups = {.size = sizeof(kith_groups)},
                 .histogram = {.size = sizeof(kith_histogram)}};
}

static void job_close(job *j)
{
    kith_pairs_free(&j->list);
    kith_nearest_free(&j->neighbours);
    kith_groups_free(&j->groups);
    kith_histogram_free(&j->histogram);
    kith_close(j->ctx);
}

static void set_lists(job *j)
{
    j->list.memory = j->points->memory;
    kith_pairs_options_init(&j->options);
    j->options.full = 1;
    j->options.layout = j->c->list.layout;
    j->options.unordered = j->c->list.unordered;
    j->options.extras = KITH_SHIFTS;
    j->options.batch = j->batch;
}

static void put_pairs_rate(json_t *row, const job *j, double seconds)
{
    put_integer(row, "pairs", j->list.n);
    put_number(row, "million_pairs_per_second", 1e-6 * (double)j->list.n / seconds);
}

static const question lists = {"lists", set_lists, find, are_lists_right, put_pairs_rate};

static void set_nearest(job *j)
{
    j->neighbours.memory = j->points->memory;
    kith_nearest_options_init(&j->nearest);
    j->nearest.extras = KITH_DISTANCES;
    j->nearest.batch = j->batch;
}

static void put_particles_rate(json_t *row, const job *j, double seconds)
{
    put_number(row, "million_particles_per_second", 1e-6 * (double)j->p->n / seconds);
}

/** Return true when neighbours and distances are equal to those of a loop of calls. */
static bool are_neighbours_right(const job *j)
{
    const problem *const p = j->p;
    const bool gpu = j->neighbours.memory == KITH_DEVICE;
    const size_t entries = (size_t)p->n * NEIGHBOURS;
    int32_t *const found = gpu ? bench_gpu_fetch(j->neighbours.j, entries * sizeof *found)
                               : j->neighbours.j;
    float *const distances = gpu ? bench_gpu_fetch(j->neighbours.distances,
                                                   entries * sizeof *distances)
                                 : j->neighbours.distances;
    job loop = {.p = p,
                .ctx = bench_open("cpu", 1),
                .nearest = j->nearest,
                .neighbours = {.size = sizeof loop.neighbours}};
    loop.nearest.batch = NULL;
    bool ok = loop.ctx && found && distances;
    for (int64_t s = 0; ok && s < p->host.systems; s++) {
        const kith_points own = system_of(p, s);
        const int64_t first = p->offsets[s] * NEIGHBOURS, n = own.n * NEIGHBOURS;
        loop.points = &own;
        ok = find_nearest(&loop) && memcmp(distances + first, loop.neighbours.distances,
                                           (size_t)n * sizeof *distances) == 0;
        for (int64_t e = 0; ok && e < n; e++) {
            ok = found[first + e] == loop.neighbours.j[e] + p->offsets[s];
        }
    }
    kith_nearest_free(&loop.neighbours);
    kith_close(loop.ctx);
    if (gpu) {
        free(found);
        free(distances);
    }
    return ok;
}

static const question nearest = {"neighbours", set_nearest, find_nearest, are_neighbours_right,
                                 put_particles_rate};

static void set_groups(job *j)
{
    kith_fof_options_init(&j->fof);
    j->fof.min_members = 2;
    j->fof.batch = j->batch;
}

/** Return true when labels are equal to those of a loop of calls. A batch numbers the groups of all
 *  systems consecutively. */
static bool are_groups_right(const job *j)
{
    const problem *const p = j->p;
    job loop = {
        .p = p, .ctx = bench_open("cpu", 1), .fof = j->fof, .groups = {.size = sizeof loop.groups}};
    loop.fof.batch = NULL;
    bool ok = loop.ctx != NULL;
    int64_t before = 0;
    for (int64_t s = 0; ok && s < p->host.systems; s++) {
        const kith_points own = system_of(p, s);
        loop.points = &own;
        ok = find_groups(&loop) && j->groups.offsets[s] == before;
        for (int64_t i = 0; ok && i < own.n; i++) {
            const int32_t label = loop.groups.labels[i];
            ok = j->groups.labels[p->offsets[s] + i] == (label > 0 ? label + before : 0);
        }
        before += loop.groups.n;
    }
    kith_groups_free(&loop.groups);
    kith_close(loop.ctx);
    return ok && j->groups.n == before;
}

static const question groups = {"groups", set_groups, find_groups, are_groups_right,
                                put_particles_rate};

/** g(r) of many frames, up to half the side of the box. */
static void set_frames(job *j)
{
    kith_rdf_options_init(&j->rdf);
    j->rdf.r_max = j->p->box.row[0][0] / 2;
    j->rdf.batch = j->batch;
}

static void put_frames_rate(json_t *row, const job *j, double seconds)
{
    put_number(row, "frames_per_second", (double)j->p->host.systems / seconds);
}

/** Return true when counts are equal to those of a loop of calls, each of which adds to the
 *  histogram. */
static bool are_counts_right(const job *j)
{
    const problem *const p = j->p;
    kith_ctx *const ctx = bench_open("cpu", 1);
    kith_rdf_options options = j->rdf;
    kith_histogram right = {.size = sizeof right};
    options.batch = NULL;
    bool ok = ctx != NULL;
    for (int64_t s = 0; ok && s < p->host.systems; s++) {
        const kith_points own = system_of(p, s);
        ok = kith_rdf_count(ctx, &own, &p->box, &options, &right) == KITH_OK;
    }
    ok = ok &&
         memcmp(j->histogram.counts, right.counts, (size_t)right.bins * sizeof *right.counts) == 0;
    kith_histogram_free(&right);
    kith_close(ctx);
    return ok;
}

static const question frames = {"counts", set_frames, count, are_counts_right, put_frames_rate};

/** Verify the result of a case with a number of threads, then time it, and add its result.
 *  @return false, reported: the result is wrong, or a call failed */
static bool run_job(const batch_case *c, const problem *p, const bench_options *options,
                    int threads, json_t *out)
{
    const question *const q = c->question;
    harness_times times;
    job j = job_open(c, p, options, threads);
    q->set(&j);
    const bool ok = j.ctx && q->work(&j) && q->is_right(&j) &&
                    harness_time(q->work, &j, options->least_seconds, &times);
    if (ok) {
        json_t *const row = bench_begin(out, c->name, "uniform", p->n);
        put_bool(row, "periodic", true);
        put_integer(row, "systems", p->host.systems);
        q->put_rate(row, &j, times.median);
        bench_end(row, KITH_FLOAT, j.ctx, &times);
    } else {
        fprintf(stderr, "kith_bench: %s: wrong %s, or no memory %s\n", c->name, q->noun,
                j.ctx ? kith_message(j.ctx) : "");
    }
    job_close(&j);
    return ok;
}

/** Run a case with all numbers of threads. @return false, reported, on failure */
static bool run_case(const batch_case *c, const bench_options *options, json_t *out)
{
    enum { STANDARD_N = 1000000 };
    const int64_t wanted = c->systems * options->n / (bench_on_gpu(options) ? 1 : 8) / STANDARD_N;
    problem p;
    bool ok = problem_make(&p, wanted > 0 ? wanted : 1, c->each, bench_on_gpu(options));
    for (int t = 0; ok && bench_has_run(options, t); t++) {
        ok = run_job(c, &p, options, options->threads[t], out);
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
    return ok;
}
