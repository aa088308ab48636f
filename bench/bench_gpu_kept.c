/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of kept lists (kith_verlet, Verlet lists) on a GPU, from device memory to device
 * memory: 10^6 particles with the density of the usual Lennard-Jones liquid (rho* = 0.8442), its
 * cutoff of 2.5 sigma and a skin of 0.35 sigma, on jittered places of an fcc crystal. Four works
 * are timed by the host's clock: an update that keeps its pairs, one that rebuilds them, a sorted
 * search and a search in any order. Lists are first compared with those of an independent method
 * (verify.c).
 */
#include "bench.h"

#include <math.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "verify.h"

/* Of the liquid: [1 / sigma^3], [sigma], [sigma]. */
static const double DENSITY = 0.8442, CUTOFF = 2.5, SKIN = 0.35;

/** A case: a form of kept lists. */
typedef struct kept_case {
    const char *name;         /**< name of the case */
    kith_precision precision; /**< precision of the points */
    kith_verlet_options list; /**< form of the list; cutoff and skin are set by open_job */
} kept_case;

static const kept_case cases[] = {
    {"kept half", KITH_DOUBLE, .list.full = 0},
    {"kept half vectors", KITH_DOUBLE, .list.extras = KITH_VECTORS},
    {"kept half float", KITH_FLOAT, .list.full = 0},
    {"kept full csr float", KITH_FLOAT, .list.full = 1, .list.layout = KITH_CSR},
};

/* The works that are timed, and the text that follows the name of the case in their results. */
enum { KEPT, REBUILT, SORTED, SEARCHED, WORKS };
static const char *const work_names[WORKS] = {"", ", rebuild", ", search sorted", ", search"};

/** Lists of a case. */
typedef struct job {
    kith_ctx *ctx;              /**< context of the job */
    kith_verlet *verlet;        /**< the kept list */
    void *on_device[3];         /**< device memory of the points */
    kith_points points[3];      /**< points at the first rebuild, and of two steps */
    int step;                   /**< index of the points that are used: 1 or 2 */
    kith_box box;               /**< the periodic unit cube */
    double cutoff;              /**< cutoff of lists */
    kith_pairs_options options; /**< form of the lists of searches */
    kith_pairs kept, found;     /**< the kept list, the list of a search; in device memory */
} job;

/* The works: each is a harness_work. An update goes to the points of the other step. */
static bool update(void *user)
{
    job *const j = user;
    j->step = 3 - j->step;
    return kith_verlet_update(j->verlet, &j->points[j->step], &j->box, &j->kept) == KITH_OK;
}

static bool rebuild(void *user)
{
    const job *const j = user;
    return kith_verlet_rebuild(j->verlet) == KITH_OK && update(user);
}

static bool search(void *user)
{
    job *const j = user;
    return kith_pairs_find(j->ctx, &j->points[j->step], &j->box, j->cutoff, &j->options,
                           &j->found) == KITH_OK;
}

/** Return the hash of the pairs of a list in device memory. */
static rung_hash hash_of(const kith_pairs *list)
{
    kith_pairs host = {.n = list->n, .rows = list->rows};
    host.i = bench_gpu_fetch(list->i, (size_t)list->n * sizeof(int32_t));
    host.j = bench_gpu_fetch(list->j, (size_t)list->n * sizeof(int32_t));
    host.offsets = bench_gpu_fetch(list->offsets, (size_t)(list->rows + 1) * sizeof(int64_t));
    const rung_hash hash = bench_hash(&host, NULL);
    free(host.i);
    free(host.j);
    free(host.offsets);
    return hash;
}

/** Return true when a list has the pairs that the independent method finds. */
static bool is_right(const job *j, const kith_pairs *list, const double *xyz)
{
    verify_answer answer;
    const verify_question q = {xyz, j->points[0].n, j->cutoff, j->points[0].precision, true};
    if (!verify_cells(&q, &answer) || answer.pairs == 0) {
        return false;
    }
    const rung_hash hash = hash_of(list);
    return memcmp(&hash, j->options.full ? &answer.full : &answer.half, sizeof hash) == 0;
}

/** Verify and time one of the works. @param xyz  points as in job.points, in host memory
 *  @return false, reported, on failure */
static bool run_work(job *j, const kept_case *c, int work, double *const xyz[3],
                     const bench_options *options, double store_rate, json_t *out)
{
    char name[64];
    kith_verlet_state state = {.rebuilt = -1};
    const bool searches = work >= SORTED;
    const harness_work run = work == KEPT ? update : work == REBUILT ? rebuild : search;
    harness_times times;
    j->options.sorted = work == SORTED;
    j->options.unordered = work == SEARCHED && j->options.layout == KITH_IJ;
    bool ok = run(j) && kith_verlet_read(j->verlet, &state) == KITH_OK;
    ok = ok && (searches || state.rebuilt == (work == REBUILT)) &&
         is_right(j, searches ? &j->found : &j->kept, xyz[j->step]) &&
         harness_time(run, j, options->least_seconds, &times);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s%s: wrong list, or a failed call %s\n", c->name,
                work_names[work], kith_message(j->ctx));
        return false;
    }
    snprintf(name, sizeof name, "%s%s", c->name, work_names[work]);
    bench_result result = {.name = name,
                           .set = "fcc jittered",
                           .ctx = j->ctx,
                           .n = j->points[0].n,
                           .cutoff = j->cutoff,
                           .precision = c->precision,
                           .periodic = true,
                           .list = j->options,
                           .pairs = searches ? j->found.n : j->kept.n,
                           .times = times,
                           .store_rate = store_rate};
    result.list.sorted = work != SEARCHED;
    bench_result_write(out, &result);
    return true;
}

/** Open a context and a kept list, and make it from points[0]. @param sigma  length unit of the
 *  liquid in the unit cube */
static bool open_job(job *j, const kept_case *c, double sigma)
{
    kith_verlet_options own = c->list;
    own.size = sizeof own;
    own.cutoff = CUTOFF * sigma;
    own.skin = SKIN * sigma;
    j->box = kith_box_periodic(1, 1, 1);
    j->cutoff = own.cutoff;
    j->step = 1;
    kith_pairs_options_init(&j->options);
    j->options.full = own.full;
    j->options.layout = own.layout;
    j->options.extras = own.extras;
    j->kept = j->found = (kith_pairs){.size = sizeof j->kept, .memory = KITH_DEVICE};
    j->ctx = bench_open("cuda", 1);
    return j->ctx && kith_verlet_open(j->ctx, &own, &j->verlet) == KITH_OK &&
           kith_verlet_update(j->verlet, &j->points[0], &j->box, &j->kept) == KITH_OK;
}

/** Return points that are moved at random by up to `most` along each axis, wrapped, and rounded to
 *  float if that is the precision. */
static double *move(const double *xyz, int64_t n, double most, uint64_t seed,
                    kith_precision precision)
{
    double *const moved = malloc(sizeof(double[3]) * (size_t)n);
    if (moved) {
        sets_uniform(moved, n, seed);
    }
    for (int64_t k = 0; moved && k < 3 * n; k++) {
        moved[k] = xyz[k] + most * (2 * moved[k] - 1);
        moved[k] -= floor(moved[k]);
    }
    if (precision == KITH_FLOAT) {
        free(bench_round_points(moved, n));
    }
    return moved;
}

/** Copy points to device memory as j->points[k]. @return false without memory */
static bool upload(job *j, int k, const double *xyz, int64_t n, kith_precision precision)
{
    void *const values = malloc(sizeof(double[3]) * (size_t)n);
    for (int64_t m = 0; values && m < 3 * n; m++) {
        io_put_real(values, m, precision, xyz[m]);
    }
    if (values) {
        j->on_device[k] = bench_gpu_upload(values, 3 * (size_t)n * (size_t)precision);
    }
    j->points[k] = kith_points_packed(j->on_device[k], n, precision);
    j->points[k].memory = KITH_DEVICE;
    free(values);
    return j->on_device[k] != NULL;
}

/** Run all works of a case. @return false, reported, on failure */
static bool run_case(const kept_case *c, const bench_options *options, double store_rate,
                     json_t *out)
{
    const int64_t most = options->n + options->n / 100; /* so that 10^6 become 63^3 cells of 4 */
    double *const crystal = malloc(sizeof(double[3]) * (size_t)most);
    const int64_t n = crystal ? sets_lattice(crystal, most, 4) : 0;
    const double sigma = n > 0 ? cbrt(DENSITY / (double)n) : 0;
    double *xyz[3] = {NULL, NULL, NULL};
    job j = {.ctx = NULL};
    bool ok = n > 0;
    /* The points of the two steps are displaced by up to skin / 4, half of what needs a rebuild. */
    for (int k = 0; k < 3 && ok; k++) {
        xyz[k] = k == 0
                     ? move(crystal, n, 0.1 * sigma, 1, c->precision)
                     : move(xyz[0], n, SKIN * sigma / 4 / sqrt(3), 1 + (uint64_t)k, c->precision);
        ok = xyz[k] && upload(&j, k, xyz[k], n, c->precision);
    }
    ok = ok && open_job(&j, c, sigma);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: could not be made ready %s\n", c->name,
                j.ctx ? kith_message(j.ctx) : "");
    }
    for (int work = 0; ok && work < WORKS; work++) {
        ok = run_work(&j, c, work, xyz, options, store_rate, out);
    }
    kith_pairs_free(&j.kept);
    kith_pairs_free(&j.found);
    kith_verlet_close(j.verlet);
    kith_close(j.ctx);
    for (int k = 0; k < 3; k++) {
        bench_gpu_free(j.on_device[k]);
        free(xyz[k]);
    }
    free(crystal);
    return ok;
}

bool bench_gpu_kept(const bench_options *options, double store_rate, json_t *out)
{
    bool ok = true;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ok = (!bench_wants(options, cases[c].name) ||
              run_case(&cases[c], options, store_rate, out)) &&
             ok;
    }
    return ok;
}
