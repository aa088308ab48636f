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

enum { STANDARD_N = 1000000, CHECKED_N = 2000 };

typedef struct pairs_case {
    const char *name, *set;
    int scale;     /* points, in units of the standard case */
    double cutoff; /* at a million points */
    kith_precision precision;
    bool periodic, count_only, every_isa;
    enum { AS_MADE, BY_ROWS, BY_CURVE } order; /* of the points: uniform ones are made in none */
    kith_pairs_options list;
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

/* Points of a case, and the right answer. */
typedef struct problem {
    const pairs_case *made_for;
    double *xyz;   /* [n][3] */
    float *single; /* [n][3], in float precision */
    verify_question question;
    verify_answer answer;
} problem;

/* One list to be made, again and again. */
typedef struct job {
    kith_ctx *ctx;
    kith_points points;
    kith_box box;
    double cutoff;
    kith_pairs_options list;
    bool count_only;
    kith_pairs pairs; /* count only: n alone is set */
} job;

static void problem_free(problem *p)
{
    free(p->xyz);
    free(p->single);
    memset(p, 0, sizeof *p);
}

/* The judge is judged too, where all pairs can be compared. */
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

static bool make_list(void *user)
{
    job *const j = user;
    if (j->count_only) {
        return kith_pairs_count(j->ctx, &j->points, &j->box, j->cutoff, &j->list, &j->pairs.n,
                                NULL) == KITH_OK;
    }
    return kith_pairs_find(j->ctx, &j->points, &j->box, j->cutoff, &j->list, &j->pairs) == KITH_OK;
}

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

/* Distances in open space and double precision, to a few units in the last place. */
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

/* Every run has its own context, so that scratch is that of the case alone. */
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
