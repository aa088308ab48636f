/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark of pair lists. The standard case is a million uniform points in the unit cube with
 * cutoff 0.03, 54.7 million pairs; other sizes keep the number of neighbours. For each case and
 * number of threads: the list is made once and compared with the answer of an independent method
 * (verify.c), pair for pair by a hash of the set, and only then timed.
 */
#include "bench.h"
#include "result.h"
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STANDARD_N = 1000000, CHECKED_N = 2000 }; /* points of the standard case; of judge() */

/** A case: a list of one set of points. */
typedef struct pairs_case {
    const char *name, *set;   /**< names of the case and of the set of points */
    int scale;                /**< number of points in units of -n */
    double cutoff;            /**< cutoff at a million points */
    kith_precision precision; /**< precision of the points */
    /** The cube is periodic, else open; pairs are counted, not listed; the case is run with each
     *  instruction set, not with --backend. */
    bool periodic, count_only, every_isa;
    /** Order of the points in memory; AS_MADE: random, for uniform points. */
    enum { AS_MADE, BY_ROWS, BY_CURVE } order;
    kith_pairs_options list; /**< form of the list */
} pairs_case;

/* Cases in groups of one set, precision and boundary: a group is verified once. */
static const pairs_case cases[] = {
    {"half", "uniform", 1, 0.03, KITH_DOUBLE, .every_isa = true},
    {"half distances", "uniform", 1, 0.03, KITH_DOUBLE, .list.extras = KITH_DISTANCES},
    {"half sorted", "uniform", 1, 0.03, KITH_DOUBLE, .list.sorted = 1},
    {"full csr", "uniform", 1, 0.03, KITH_DOUBLE, .list.full = 1, .list.layout = KITH_CSR},
    {"matrix", "uniform", 1, 0.03, KITH_DOUBLE, .list.layout = KITH_MATRIX, .list.width = 192},
    {"count", "uniform", 1, 0.03, KITH_DOUBLE, .count_only = true},
    {"half, by rows", "uniform", 1, 0.03, KITH_DOUBLE, .order = BY_ROWS},
    {"full csr, by rows", "uniform", 1, 0.03, KITH_DOUBLE, .list.full = 1, .list.layout = KITH_CSR,
     .order = BY_ROWS},
    {"half, by curve", "uniform", 1, 0.03, KITH_DOUBLE, .order = BY_CURVE},
    {"full csr, by curve", "uniform", 1, 0.03, KITH_DOUBLE, .list.full = 1, .list.layout = KITH_CSR,
     .order = BY_CURVE},
    {"periodic", "uniform", 1, 0.03, KITH_DOUBLE, .periodic = true},
    {"float", "uniform", 1, 0.03, KITH_FLOAT, .periodic = false},
    {"float periodic", "uniform", 1, 0.03, KITH_FLOAT, .periodic = true},
    {"clustered", "clustered", 1, 0.002, KITH_DOUBLE, .periodic = false},
    {"clustered periodic", "clustered", 1, 0.002, KITH_DOUBLE, .periodic = true},
    {"ten times", "uniform", 10, 0.03, KITH_DOUBLE, .periodic = false},
};

/** Points of a group of cases, and the right answer. */
typedef struct problem {
    const pairs_case *made_for; /**< first case of the group; NULL: not made */
    double *xyz;                /**< [n][3] points, rounded to the precision */
    float *single;              /**< [n][3] points in float; NULL in double */
    verify_question question;   /**< points and cutoff, for verify.c */
    verify_answer answer;       /**< pairs by verify.c */
} problem;

/** A list that is made repeatedly. */
typedef struct job {
    kith_ctx *ctx;           /**< context of the job */
    kith_points points;      /**< the points */
    kith_box box;            /**< the unit cube, periodic or open */
    double cutoff;           /**< cutoff of the list */
    kith_pairs_options list; /**< form of the list */
    bool count_only;         /**< count pairs, make no list */
    kith_pairs pairs;        /**< the list; of a count n alone is set */
} job;

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->single);
    memset(p, 0, sizeof *p);
}

/** Compute the right answer by cells (verify_cells). That method is itself checked with the first
 *  CHECKED_N points, by all pairs. @return false without memory, or when they differ */
static bool judge(problem *p)
{
    verify_question few = p->question;
    verify_answer by_cells, by_all;
    if (few.n > CHECKED_N) {
        few.cutoff = fmin(few.cutoff * cbrt((double)few.n / CHECKED_N), 0.3);
        few.n = CHECKED_N;
    }
    verify_all_pairs(&few, &by_all);
    if (!verify_cells(&few, &by_cells) || !verify_cells(&p->question, &p->answer)) {
        return false;
    }
    return memcmp(&by_all, &by_cells, sizeof by_all) == 0 && p->answer.pairs > 0;
}

/** Make points and answer of a case, unless those of the case before serve. @param standard  -n
 *  @return false on failure */
static bool problem_make(problem *p, const pairs_case *c, int64_t standard)
{
    const pairs_case *const old = p->made_for;
    if (old && strcmp(old->set, c->set) == 0 && old->scale == c->scale &&
        old->precision == c->precision && old->periodic == c->periodic && old->order == c->order) {
        return true;
    }
    const int64_t n = standard * c->scale;
    problem_free(p);
    const double cutoff = c->cutoff * cbrt((double)STANDARD_N / (double)n);
    p->xyz = bench_make_set(c->set, n);
    if (p->xyz && c->order != AS_MADE &&
        !bench_reorder(p->xyz, n, c->order == BY_ROWS ? cutoff : 0)) {
        return false;
    }
    p->single = c->precision == KITH_FLOAT ? bench_round_points(p->xyz, n) : NULL;
    if (!p->xyz || (c->precision == KITH_FLOAT && !p->single)) {
        return false;
    }
    p->question = (verify_question){p->xyz, n, cutoff, c->precision, c->periodic};
    p->made_for = c;
    return judge(p);
}

/** A harness_work: make the list, or count. */
static bool make_list(void *user)
{
    job *const j = user;
    if (j->count_only) {
        return kith_pairs_count(j->ctx, &j->points, &j->box, j->cutoff, &j->list, &j->pairs.n,
                                NULL) == KITH_OK;
    }
    return kith_pairs_find(j->ctx, &j->points, &j->box, j->cutoff, &j->list, &j->pairs) == KITH_OK;
}

/** Return true when the pairs ascend by i, then j. */
static bool is_sorted(const kith_pairs *pairs)
{
    for (int64_t p = 1; p < pairs->n; p++) {
        const int32_t di = pairs->i[p] - pairs->i[p - 1];
        if (di < 0 || (di == 0 && pairs->j[p] <= pairs->j[p - 1])) {
            return false;
        }
    }
    return true;
}

/** Return true when distances are right to a few units in the last place. For lists in open space
 *  and double precision. */
static bool are_distances(const kith_pairs *pairs, const double *xyz)
{
    const double *const distances = pairs->distances;
    for (int64_t p = 0; p < pairs->n; p++) {
        const double *const a = xyz + 3 * (int64_t)pairs->i[p];
        const double *const b = xyz + 3 * (int64_t)pairs->j[p];
        const double d = hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
        if (!(fabs(distances[p] - d) <= 1e-15 * d)) {
            return false;
        }
    }
    return true;
}

/** Return true when a list is right; of a count, when the number is. */
static bool is_right(const job *j, const problem *p)
{
    const kith_pairs *const pairs = &j->pairs;
    const int64_t expected = p->answer.pairs * (j->list.full ? 2 : 1);
    if (pairs->n != expected || j->count_only) {
        return pairs->n == expected;
    }
    const rung_hash hash = bench_hash(pairs, NULL);
    return memcmp(&hash, j->list.full ? &p->answer.full : &p->answer.half, sizeof hash) == 0 &&
           (!j->list.sorted || is_sorted(pairs)) &&
           (!(j->list.extras & KITH_DISTANCES) || are_distances(pairs, p->xyz));
}

/** Verify, then time a list. Every run has its own context, so that the scratch memory that is
 *  reported is that of the case alone. An instruction set that the machine lacks is skipped.
 *  @param store_rate  how fast memory can be written by as many threads [bytes/s]
 *  @return false, reported, on failure */
static bool run(const pairs_case *c, const problem *p, const bench_options *options,
                const char *backend, int threads, double store_rate, json_t *out)
{
    const void *const xyz = p->single ? (const void *)p->single : p->xyz;
    harness_times times;
    job j = {.ctx = bench_open(backend, threads),
             .points = kith_points_packed(xyz, p->question.n, c->precision),
             .box = c->periodic ? kith_box_periodic(1, 1, 1) : kith_box_open(),
             .cutoff = p->question.cutoff,
             .count_only = c->count_only,
             .pairs = {.size = sizeof j.pairs}};
    if (!j.ctx) {
        return c->every_isa;
    }
    kith_pairs_options_init(&j.list);
    j.list.full = c->list.full || c->list.layout == KITH_MATRIX;
    j.list.sorted = c->list.sorted;
    j.list.layout = c->list.layout;
    j.list.width = c->list.width;
    j.list.extras = c->list.extras;

    bool ok = make_list(&j);
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: %s\n", c->name, kith_message(j.ctx));
    } else if (!is_right(&j, p)) {
        fprintf(stderr,
                "kith_bench: %s, %s, %d threads: wrong list; %lld pairs, %lld half pairs "
                "expected\n",
                c->name, kith_backend(j.ctx), threads, (long long)j.pairs.n,
                (long long)p->answer.pairs);
        ok = false;
    }
    kith_pairs_free(&j.pairs);
    if (ok && (ok = harness_time(make_list, &j, options->least_seconds, &times))) {
        bench_result_write(out, &(bench_result){.name = c->name,
                                                .set = c->set,
                                                .ctx = j.ctx,
                                                .n = j.points.n,
                                                .cutoff = j.cutoff,
                                                .precision = c->precision,
                                                .periodic = c->periodic,
                                                .count_only = c->count_only,
                                                .list = j.list,
                                                .pairs = j.pairs.n,
                                                .times = times,
                                                .store_rate = store_rate});
    }
    kith_pairs_free(&j.pairs);
    kith_close(j.ctx);
    return ok;
}

/** Run a case with all backends and numbers of threads. */
static bool run_case(const pairs_case *c, const problem *p, const bench_options *options,
                     const double store_rates[BENCH_MOST_THREADS], json_t *out)
{
    const char *const isas[] = {"cpu:baseline", "cpu:avx2", "cpu:avx512", NULL};
    const char *const one[] = {options->backend, NULL};
    for (const char *const *backend = c->every_isa ? isas : one; *backend; backend++) {
        for (int t = 0; options->threads[t]; t++) {
            if (!run(c, p, options, *backend, options->threads[t], store_rates[t], out)) {
                return false;
            }
        }
    }
    return true;
}

bool bench_pairs(const bench_options *options, json_t *out)
{
    double store_rates[BENCH_MOST_THREADS];
    problem p = {0};
    bool ok = true;
    json_t *const store = put_array(out, "store");
    for (int t = 0; options->threads[t]; t++) {
        store_rates[t] = harness_store_rate(options->threads[t], options->store_bytes);
        json_t *const row = put_object(store, NULL);
        put_integer(row, "threads", options->threads[t]);
        put_number(row, "gigabytes_per_second", 1e-9 * store_rates[t]);
        printf("%d threads store %.2f GB/s\n", options->threads[t], 1e-9 * store_rates[t]);
    }
    json_t *const list = put_array(out, "results");
    for (size_t c = 0; ok && c < sizeof cases / sizeof *cases; c++) {
        if (!bench_wants(options, cases[c].name)) {
            continue;
        }
        ok = problem_make(&p, &cases[c], options->n);
        if (!ok) {
            fprintf(stderr, "kith_bench: %s: no memory, or the judge contradicts itself\n",
                    cases[c].name);
        }
        ok = ok && run_case(&cases[c], &p, options, store_rates, list);
    }
    problem_free(&p);
    return ok;
}
