/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups that are found, timed and reported.
 */
#include "fof_job.h"

#include "bench.h"
#include "harness.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

/** Return the place of p in a pseudo-random permutation of n numbers. A Feistel network permutes
 *  the numbers of 2 half bits (Luby & Rackoff 1988); it is applied again until the result is below
 *  n (cycle walking). Each place is computed by itself, so that all cores shuffle at one time. */
static int64_t place_of(int64_t p, int64_t n)
{
    enum { ROUNDS = 4 };
    int half = 1;
    while (n > (int64_t)1 << 2 * half) {
        half++;
    }
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    uint64_t at = (uint64_t)p;
    do {
        uint64_t left = at >> half, right = at & mask;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            const uint64_t next = left ^ (random_mix(right << 8 | (round + 1)) & mask);
            left = right;
            right = next;
        }
        at = left << half | right;
    } while (at >= (uint64_t)n);
    return (int64_t)at;
}

/** Shared state of the parallel loop that permutes points. */
struct place_loop {
    int64_t n;             /**< number of points */
    const float *in_order; /**< [n][3] points as they were made */
    float *out;            /**< [n][3] receives them in random order */
};

/** Copy the points whose places are [begin, end). */
static void place_range(void *state, int64_t begin, int64_t end)
{
    const struct place_loop *loop = state;
    for (int64_t p = begin; p < end; p++) {
        memcpy(loop->out + 3 * p, loop->in_order + 3 * place_of(p, loop->n), 3 * sizeof *loop->out);
    }
}

float *fof_job_make_points(const char *set, int64_t n)
{
    double *const xyz = bench_make_set(set, n);
    float *const in_order = bench_round_points(xyz, n);
    free(xyz);
    float *const out = in_order ? malloc(((size_t)n + 1) * 3 * sizeof *out) : NULL;
    enum { GRAIN = 4096 };
    struct place_loop loop = {n, in_order, out};
    harness_for(out ? n : 0, GRAIN, place_range, &loop);
    free(in_order);
    return out;
}

fof_job fof_job_make(const char *set, const kith_points *points, bool periodic)
{
    fof_job job = {.set = set,
                   .points = *points,
                   .box = periodic ? kith_box_periodic(1, 1, 1) : kith_box_open(),
                   .length = FOF_JOB_SPACINGS / cbrt((double)points->n)};
    kith_fof_options_init(&job.options);
    job.options.min_members = FOF_JOB_LEAST;
    kith_halo_input_init(&job.input);
    return job;
}

bool fof_job_find(void *job)
{
    fof_job *const j = job;
    return kith_fof_find(j->ctx, &j->points, &j->box, j->length, &j->options, &j->groups) ==
               KITH_OK &&
           (!j->catalogue || kith_halos_measure(j->ctx, &j->points, &j->box, &j->groups, &j->input,
                                                &j->halos) == KITH_OK);
}

void fof_job_free(fof_job *job)
{
    kith_halos_free(&job->halos);
    kith_groups_free(&job->groups);
}

void fof_job_report(const fof_job *job, int64_t largest, const harness_times *times, json_t *out)
{
    json_t *const row = bench_begin(out, "fof", job->set, job->points.n);
    put_number(row, "length", job->length);
    put_number(row, "spacings", FOF_JOB_SPACINGS);
    put_bool(row, "periodic", job->box.periodic[0]);
    put_integer(row, "min_members", job->options.min_members);
    put_bool(row, "catalogue", job->catalogue);
    put_bool(row, "roles", job->options.roles != NULL);
    put_integer(row, "groups", job->groups.n);
    put_integer(row, "largest", largest);
    put_number(row, "million_particles_per_second", 1e-6 * (double)job->points.n / times->median);
    bench_end(row, job->points.precision, job->ctx, times);
}
