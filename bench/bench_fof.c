/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends: a million particles in random order, in float, in a periodic
 * box, linked at 0.2 of their mean spacing; groups of 20 and more. For each set and number of
 * threads the labels are found once and compared with those that follow from the pair list, whose
 * own benchmark verifies it, and only then timed. What is compared are groups of 2 and more: few of
 * the uniform particles are in larger ones.
 */
#include "bench_fof.h"
#include "harness.h"
#include "rung_fof.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 20, LEAST_COMPARED = 2 };
static const double spacings = 0.2;
static const char *const cases[] = {"uniform", "clustered", "soneira_peebles"};

/* Particles, and what is right for them. */
typedef struct problem {
    const char *set;
    int64_t n;
    float *xyz; /* [n][3] */
    double length;
    int32_t *labels; /* [n] */
    int64_t groups;
} problem;

/* Groups to be found, again and again. */
typedef struct job {
    kith_ctx *ctx;
    kith_points points;
    kith_box box;
    double length;
    kith_fof_options options;
    kith_groups groups;
} job;

static void shuffle(double *xyz, int64_t n)
{
    random_state random = random_start(7);
    for (int64_t p = n - 1; p > 0; p--) {
        const int64_t q = (int64_t)(random_bits(&random) % (uint64_t)(p + 1));
        double swap[3];
        memcpy(swap, xyz + 3 * p, sizeof swap);
        memcpy(xyz + 3 * p, xyz + 3 * q, sizeof swap);
        memcpy(xyz + 3 * q, swap, sizeof swap);
    }
}

static int unite_block(void *user, const kith_pairs *block, int64_t first)
{
    int32_t *const parent = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        rung_unite(parent, block->i[p], block->j[p]);
    }
    return 0;
}

/* Labels that follow from the pairs, one by one. */
static bool find_right(problem *p, kith_ctx *ctx)
{
    const kith_points points = kith_points_packed(p->xyz, p->n, KITH_FLOAT);
    const kith_box box = kith_box_periodic(1, 1, 1);
    int32_t *const parent = rung_plant(p->n);
    int64_t scratch = 0;
    p->labels = malloc(((size_t)p->n + 1) * sizeof *p->labels);
    const bool ok = parent && p->labels &&
                    kith_pairs_each(ctx, &points, &box, p->length, NULL, unite_block, parent) ==
                        KITH_OK;
    p->groups = ok ? rung_number(parent, p->n, LEAST_COMPARED, p->labels, &scratch) : -1;
    free(parent);
    return p->groups >= 0;
}

static bool problem_make(problem *p, const char *set, int64_t n, const char *backend)
{
    kith_ctx *ctx = NULL;
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    double *const xyz = bench_make_set(set, n);
    *p = (problem){.set = set, .n = n, .length = spacings / cbrt((double)n)};
    if (xyz) {
        shuffle(xyz, n);
        p->xyz = bench_round_points(xyz, n);
    }
    free(xyz);
    const bool ok = p->xyz && kith_open(&options, &ctx) == KITH_OK && find_right(p, ctx);
    kith_close(ctx);
    return ok;
}

static bool find(void *user)
{
    job *const j = user;
    return kith_fof_find(j->ctx, &j->points, &j->box, j->length, &j->options, &j->groups) ==
           KITH_OK;
}

static bool is_right(const job *j, const problem *p)
{
    return j->groups.n == p->groups &&
           memcmp(j->groups.labels, p->labels, (size_t)p->n * sizeof *p->labels) == 0;
}

static void report(const problem *p, const job *j, const harness_times *times, json *out)
{
    const double n = (double)p->n;
    const double scratch = (double)kith_scratch_bytes(j->ctx) / n;
    const int64_t largest = j->groups.n ? j->groups.members[0] : 0;
    json_open(out, NULL, '{');
    json_text(out, "program", "kith");
    json_text(out, "version", kith_version());
    json_text(out, "case", "fof");
    json_text(out, "set", p->set);
    json_integer(out, "n", p->n);
    json_number(out, "length", p->length);
    json_number(out, "spacings", spacings);
    json_bool(out, "periodic", true);
    json_text(out, "precision", "float");
    json_integer(out, "min_members", LEAST);
    json_text(out, "backend", kith_backend(j->ctx));
    json_integer(out, "threads", kith_threads(j->ctx));
    json_integer(out, "groups", j->groups.n);
    json_integer(out, "largest", largest);
    harness_write_times(out, times);
    json_number(out, "seconds_first", times->first);
    json_number(out, "million_particles_per_second", 1e-6 * n / times->median);
    json_number(out, "scratch_bytes_per_particle", scratch);
    json_close(out, '}');
    printf("%-19s %-12s %3d %9lld %8lld %8lld %9.4f %9.4f %9.4f %9.2f %7.1f\n", p->set,
           kith_backend(j->ctx), kith_threads(j->ctx), (long long)p->n, (long long)j->groups.n,
           (long long)largest, times->median, times->least, times->first, 1e-6 * n / times->median,
           scratch);
    fflush(stdout);
}

/* Every run has its own context, so that scratch is that of the case alone. */
static bool run(const problem *p, const bench_options *options, int threads, json *out)
{
    kith_options open;
    harness_times times;
    job j = {.points = kith_points_packed(p->xyz, p->n, KITH_FLOAT),
             .box = kith_box_periodic(1, 1, 1),
             .length = p->length};
    kith_options_init(&open);
    open.backend = options->backend;
    open.threads = threads;
    kith_fof_options_init(&j.options);
    j.options.min_members = LEAST_COMPARED;
    bool ok = kith_open(&open, &j.ctx) == KITH_OK && find(&j);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", p->set, kith_message(j.ctx));
    } else if (!is_right(&j, p)) {
        fprintf(stderr,
                "kith_bench: %s, %s, %d threads: wrong labels; %lld groups, %lld expected\n",
                p->set, kith_backend(j.ctx), threads, (long long)j.groups.n, (long long)p->groups);
        ok = false;
    }
    kith_groups_free(&j.groups);
    j.options.min_members = LEAST;
    if (ok && (ok = harness_time(find, &j, options->least_seconds, &times))) {
        report(p, &j, &times, out);
    }
    kith_groups_free(&j.groups);
    kith_close(j.ctx);
    return ok;
}

bool bench_fof(const bench_options *options, json *out)
{
    bool ok = true, any = false;
    json_open(out, "results", '[');
    printf("%-19s %-12s %3s %9s %8s %8s %9s %9s %9s %9s %7s\n", "", "", "", "", "", "", "median",
           "least", "first", "million", "scratch");
    printf("%-19s %-12s %3s %9s %8s %8s %9s %9s %9s %9s %7s\n", "set", "backend", "thr", "n",
           "groups", "largest", "s", "s", "s", "/s", "B/point");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        problem p = {0};
        if (options->only && strcmp(options->only, cases[c]) != 0) {
            continue;
        }
        any = true;
        ok = problem_make(&p, cases[c], options->n, options->backend);
        if (!ok) {
            fprintf(stderr, "kith_bench: %s: no memory, or no pairs\n", cases[c]);
        }
        for (int t = 0; ok && options->threads[t]; t++) {
            ok = run(&p, options, options->threads[t], out);
        }
        free(p.xyz);
        free(p.labels);
    }
    json_close(out, ']');
    if (!any) {
        fprintf(stderr, "kith_bench: no set \"%s\"\n", options->only);
    }
    return ok && any;
}
