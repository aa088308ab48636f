/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of friends of friends: a million particles in random order, in float, in a periodic
 * box, linked at 0.2 of their mean spacing; groups of 20 and more. For each set and number of
 * threads the labels are found once and compared with those that follow from the pair list, which
 * bench_pairs.c verifies, and only then the search is timed. The comparison is of groups of 2 and
 * more: few of the uniform particles are in larger ones.
 */
#include "bench.h"
#include "fof_job.h"
#include "rung_fof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const cases[] = {"uniform", "clustered", "soneira_peebles"};

/** Particles, and their right labels. */
typedef struct problem {
    const char *set; /**< name of the set */
    int64_t n;       /**< number of particles */
    float *xyz;      /**< [n][3] positions */
    double length;   /**< linking length */
    int32_t *labels; /**< [n] right labels of groups of FOF_JOB_LEAST_COMPARED and more */
    int64_t groups;  /**< number of these groups */
} problem;

/** Receive a block of pairs: unite their particles. @param user  the union-find forest, [n] */
static int unite_block(void *user, const kith_pairs *block, int64_t first)
{
    int32_t *const parent = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        rung_unite(parent, block->i[p], block->j[p]);
    }
    return 0;
}

/** Find the right labels: unite the particles of all pairs of a pair list by a union-find structure
 *  of the ladder. @return false without memory, or when the pair list failed */
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
    p->groups = ok ? rung_number(parent, p->n, FOF_JOB_LEAST_COMPARED, p->labels, &scratch) : -1;
    free(parent);
    return p->groups >= 0;
}

/** Make a set, and find its right labels. @return false on failure */
static bool problem_make(problem *p, const char *set, int64_t n, const char *backend)
{
    kith_ctx *const ctx = bench_open(backend, 0);
    *p = (problem){.set = set, .n = n, .length = FOF_JOB_SPACINGS / cbrt((double)n)};
    p->xyz = fof_job_make_points(set, n);
    const bool ok = p->xyz && ctx && find_right(p, ctx);
    kith_close(ctx);
    return ok;
}

/** Return true when the labels of a search are equal to the right ones. */
static bool is_right(const fof_job *j, const problem *p)
{
    return j->groups.n == p->groups &&
           memcmp(j->groups.labels, p->labels, (size_t)p->n * sizeof *p->labels) == 0;
}

/** Verify, then time a search. Every run has its own context, so that the scratch memory that is
 *  reported is that of the case alone. @return false, reported, on failure */
static bool run(const problem *p, const bench_options *options, int threads, json_t *out)
{
    harness_times times;
    const kith_points points = kith_points_packed(p->xyz, p->n, KITH_FLOAT);
    fof_job j = fof_job_make(p->set, &points, true);
    j.ctx = bench_open(options->backend, threads);
    j.options.min_members = FOF_JOB_LEAST_COMPARED;
    bool ok = j.ctx && fof_job_find(&j);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", p->set, kith_message(j.ctx));
    } else if (!is_right(&j, p)) {
        fprintf(stderr,
                "kith_bench: %s, %s, %d threads: wrong labels; %lld groups, %lld expected\n",
                p->set, kith_backend(j.ctx), threads, (long long)j.groups.n, (long long)p->groups);
        ok = false;
    }
    fof_job_free(&j);
    j.options.min_members = FOF_JOB_LEAST;
    if (ok && (ok = harness_time(fof_job_find, &j, options->least_seconds, &times))) {
        fof_job_report(&j, j.groups.n ? j.groups.members[0] : 0, &times, out);
    }
    fof_job_free(&j);
    kith_close(j.ctx);
    return ok;
}

bool bench_fof(const bench_options *options, json_t *out)
{
    bool ok = true;
    json_t *const list = put_array(out, "results");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        problem p = {0};
        if (!bench_wants(options, cases[c])) {
            continue;
        }
        ok = problem_make(&p, cases[c], options->n, options->backend);
        if (!ok) {
            fprintf(stderr, "kith_bench: %s: no memory, or no pairs\n", cases[c]);
        }
        for (int t = 0; ok && options->threads[t]; t++) {
            ok = run(&p, options, options->threads[t], list);
        }
        free(p.xyz);
        free(p.labels);
    }
    return ok;
}
