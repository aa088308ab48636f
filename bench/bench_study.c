/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The study of flocks: steps per second of the kernels of UPenn's CIS 565 and of the library, in
 * the box of that course, [-100, 100)^3 but for its origin. Against the number of boids; with a
 * viewer, to whom each step is copied; on a GPU also against the number of threads in a block and
 * the width of cells. Every rung is checked first, as the ladder does.
 */
#include <kith/glance.h>
#include <math.h>
#include <stdlib.h>

#include "bench_study.h"

enum { VISIBLE = 1000000 }; /* most boids that a viewer sees */

int64_t study_number(const bench_options *options, int k)
{
    static const double numbers[STUDY_NUMBERS] = {1e3, 2e3, 5e3, 1e4, 2e4, 5e4,
                                                  1e5, 2e5, 5e5, 1e6, 2e6, 5e6};
    return llrint(fmax(100, 1e-6 * numbers[k] * (double)options->n));
}

bool study_time(const study_case *c, const char *backend, const bench_options *options,
                harness_work fly, void *user, int64_t *at_once, double *seconds, json_t *out)
{
    enum { MOST = 1000 };
    const double enough = 0.02; /* of steps that are timed together [s] */
    harness_times times;
    *at_once = 1;
    if (!fly(user) || !harness_time(fly, user, 0, &times)) {
        return false;
    }
    *at_once = (int64_t)fmax(1, fmin(MOST, enough / times.median));
    const double least = fmin(options->least_seconds, enough * HARNESS_LEAST_REPEATS);
    if (!harness_time(fly, user, least, &times)) {
        return false;
    }
    const double each = 1 / (double)*at_once;
    times.first *= each;
    times.median *= each;
    times.least *= each;
    times.most *= each;
    json_t *row = json_object();
    json_array_append_new(out, row);
    put_text(row, "rung", c->rung);
    put_text(row, "backend", backend);
    put_integer(row, "n", c->n);
    put_integer(row, "threads", c->threads);
    put_bool(row, "viewed", c->viewed);
    put_number(row, "cell_width", c->cell_width);
    put_number(row, "steps_per_second", 1 / times.median);
    harness_write_times(row, &times);
    printf("%-30s %-18s %9lld %5d %6g %s %12.1f steps/s\n", c->rung, backend, (long long)c->n,
           c->threads, c->cell_width, c->viewed ? "viewed" : "      ", 1 / times.median);
    fflush(stdout);
    *seconds = times.median;
    return true;
}

/* --------------------------------------------------------------------------------- the library */

/** A flock of the library. */
typedef struct library {
    kith_flock *flock; /**< the flock */
    bool viewed;       /**< copy each step for a viewer */
    int64_t at_once;   /**< steps of a call of fly_library */
} library;

/** Do a step of the library, while the state before it is copied for a viewer. */
static bool step_viewed(kith_flock *flock)
{
    const void *r = NULL, *v = NULL;
    return kith_glance_take(flock) == KITH_OK && kith_flock_step(flock, 1) == KITH_OK &&
           kith_glance_see(flock, &r, &v) == KITH_OK;
}

/** A harness_work: do some steps of the library. */
static bool fly_library(void *user)
{
    const library *l = user;
    if (!l->viewed) {
        return kith_flock_step(l->flock, l->at_once) == KITH_OK;
    }
    bool ok = true;
    for (int64_t s = 0; ok && s < l->at_once; s++) {
        ok = step_viewed(l->flock);
    }
    return ok;
}

/** Open the flock, and choose what a viewer sees of it: the first boids, which are at random
 *  places. */
static bool open_library(library *l, kith_ctx *ctx, const rung_herd *h)
{
    const kith_points r = kith_points_packed(h->r, h->n, KITH_FLOAT);
    const kith_points v = kith_points_packed(h->v, h->n, KITH_FLOAT);
    const kith_box box = kith_box_periodic(study_side, study_side, study_side);
    const int64_t seen = h->n < VISIBLE ? h->n : VISIBLE;
    int32_t *index = malloc((size_t)seen * sizeof *index);
    bool ok = index && kith_flock_open(ctx, &r, &v, &box, NULL, &l->flock) == KITH_OK;
    for (int64_t k = 0; ok && k < seen; k++) {
        index[k] = (int32_t)k;
    }
    ok = ok && (!l->viewed || kith_glance_choose(l->flock, index, seen) == KITH_OK);
    free(index);
    return ok;
}

bool study_library(const study_case *c, const bench_options *options, double *seconds, json_t *out)
{
    library l = {.viewed = c->viewed};
    rung_herd start = {0};
    kith_ctx *ctx = bench_open(options->backend, c->threads);
    const bool ok = ctx && rung_herd_make(&start, c->n, study_side) &&
                    open_library(&l, ctx, &start) &&
                    study_time(c, kith_backend(ctx), options, fly_library, &l, &l.at_once, seconds,
                               out);
    if (!ok) {
        fprintf(stderr, "kith_bench: study: %lld boids: no memory, or %s\n", (long long)c->n,
                kith_message(ctx));
    }
    rung_herd_free(&start);
    kith_flock_close(l.flock);
    kith_close(ctx);
    return ok;
}

/* ------------------------------------------------------------------------- rungs on a CPU core */

/** A rung between two states. */
typedef struct climber {
    rung_step step;        /**< the rung */
    rung_flock state;      /**< its state */
    rung_herd herd[2];     /**< boids now, and after a step */
    rung_herd *now, *next; /**< each of herd, exchanged after a step */
    int64_t at_once;       /**< steps of a call of climb */
} climber;

/** A harness_work: do some steps of a rung. */
static bool climb(void *user)
{
    climber *c = user;
    bool ok = true;
    for (int64_t s = 0; ok && s < c->at_once; s++) {
        ok = c->step(&c->state, c->now, c->next);
        rung_herd *before = c->now;
        c->now = c->next;
        c->next = before;
    }
    return ok;
}

/** Time a rung. @param[out] seconds  of a step @return false, reported */
static bool study_rung(const study_case *c, rung_step step, const bench_options *options,
                       double *seconds, json_t *out)
{
    climber up = {.step = step};
    up.now = &up.herd[0];
    up.next = &up.herd[1];
    const bool ok = rung_herd_make(up.now, c->n, study_side) &&
                    rung_herd_make(up.next, c->n, study_side) &&
                    study_time(c, "cpu", options, climb, &up, &up.at_once, seconds, out);
    if (!ok) {
        fprintf(stderr, "kith_bench: study: %s, %lld boids: no memory\n", c->rung, (long long)c->n);
    }
    rung_flock_free(&up.state);
    rung_herd_free(&up.herd[0]);
    rung_herd_free(&up.herd[1]);
    return ok;
}

/** Check the rungs and the library, then time each against the number of boids. */
static bool study_cores(const rung_truth *truth, const bench_options *options, json_t *out)
{
    static const struct {
        const char *name;
        rung_step step; /* NULL: the library */
        bool all;       /* all cores; else one */
        bool viewed;
    } ways[] = {{"naive", rung_flock_naive, false, false},
                {"scattered", rung_flock_scattered, false, false},
                {"coherent", rung_flock_coherent, false, false},
                {"kith", NULL, false, false},
                {"kith", NULL, true, false},
                {"kith", NULL, true, true}};
    kith_ctx *ctx = bench_open("cpu", 1);
    bool ok = ctx != NULL;
    for (size_t w = 0; ok && w < sizeof ways / sizeof *ways; w++) {
        ok = rung_flock_prove(truth, ways[w].name,
                              ways[w].step ? ways[w].step : rung_flock_mainline,
                              &(rung_flock){.ctx = ctx});
        double seconds = 0;
        for (int k = 0; ok && k < STUDY_NUMBERS && seconds < study_slowest; k++) {
            const study_case c = {.rung = ways[w].name,
                                  .n = study_number(options, k),
                                  .threads = ways[w].all ? harness_cores() : 1,
                                  .viewed = ways[w].viewed};
            ok = ways[w].step ? study_rung(&c, ways[w].step, options, &seconds, out)
                              : study_library(&c, options, &seconds, out);
        }
    }
    kith_close(ctx);
    return ok;
}

bool bench_study(const bench_options *options, json_t *out)
{
    rung_truth truth;
    const bool ok = bench_wants(options, "study") && rung_truth_make(&truth);
    if (!ok) {
        return false;
    }
    const bool done = bench_on_gpu(options) ? bench_gpu_study(&truth, options, out)
                                            : study_cores(&truth, options, put_array(out, "study"));
    rung_truth_free(&truth);
    return done;
}
