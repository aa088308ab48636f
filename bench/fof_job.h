/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups that a benchmark finds again and again, and what a results file says of them.
 */
#ifndef KITH_BENCH_FOF_JOB_H
#define KITH_BENCH_FOF_JOB_H

#include <kith.h>

#include "harness.h"

/** A search for groups, which is timed. fof_job_make makes it, fof_job_free frees its results. */
typedef struct fof_job {
    const char *set;
    kith_ctx *ctx;
    kith_points points;
    kith_box box; /**< periodic on all axes or on none */
    double length;
    kith_fof_options options;
    bool catalogue;        /**< measure the groups, too */
    kith_halo_input input; /**< masses and velocities for the catalogue */
    kith_groups groups;
    kith_halos halos;
} fof_job;

/** Mean spacings that the benchmarks link at, and members from which a group is kept: when its time
 *  is taken, and when it is compared, as few of the uniform particles are in larger ones. */
#define FOF_JOB_SPACINGS 0.2
enum { FOF_JOB_LEAST = 20, FOF_JOB_LEAST_COMPARED = 2 };

/** Make a set in random order (bench_make_set). @return [n][3]; NULL: an unknown name, or
 *  no memory */
float *fof_job_make_points(const char *set, int64_t n);

/** Link points of the unit cube at the usual length. */
fof_job fof_job_make(const char *set, const kith_points *points, bool periodic);

/** Find the groups. @param job  a fof_job. @return false when that failed; kith_message says why */
bool fof_job_find(void *job);

/** Free groups and halos. */
void fof_job_free(fof_job *job);

/** Add a result to an array, and print it. @param largest  members of group 1 */
void fof_job_report(const fof_job *job, int64_t largest, const harness_times *times, json_t *out);

#endif
