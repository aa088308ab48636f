/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A search for friends-of-friends groups that is repeated and timed, and its result in a results
 * file. On CPU cores and on a GPU.
 */
#ifndef KITH_BENCH_FOF_JOB_H
#define KITH_BENCH_FOF_JOB_H

#include <kith.h>

#include "harness.h"

/** A search for groups, which is timed. fof_job_make makes it, fof_job_free frees its results. */
typedef struct fof_job {
    const char *set;          /**< name of the set of points */
    kith_ctx *ctx;            /**< context, borrowed; set by the caller after fof_job_make */
    kith_points points;       /**< the points, borrowed */
    kith_box box;             /**< the unit cube, periodic on all axes or on none */
    double length;            /**< linking length */
    kith_fof_options options; /**< options of the search */
    bool catalogue;           /**< measure the groups, too */
    kith_halo_input input;    /**< masses and velocities for the catalogue */
    kith_groups groups;       /**< result of the search */
    kith_halos halos;         /**< measures of the groups, with a catalogue */
} fof_job;

/** Linking length of the benchmarks, in mean spacings of the points. */
#define FOF_JOB_SPACINGS 0.2

/** Least members of a group when a search is timed, and when its labels are compared: few of the
 *  uniform particles are in groups of 20, so that a comparison of these would test little. */
enum { FOF_JOB_LEAST = 20, FOF_JOB_LEAST_COMPARED = 2 };

/** Make a set in random order (bench_make_set). @return [n][3]; NULL: an unknown name, or
 *  no memory */
float *fof_job_make_points(const char *set, int64_t n);

/** Return a job that links points of the unit cube at FOF_JOB_SPACINGS, without a context. */
fof_job fof_job_make(const char *set, const kith_points *points, bool periodic);

/** Find the groups. @param job  a fof_job. @return false when that failed; kith_message says why */
bool fof_job_find(void *job);

/** Free groups and halos. */
void fof_job_free(fof_job *job);

/** Add a result to an array, and print it. @param largest  members of group 1 */
void fof_job_report(const fof_job *job, int64_t largest, const harness_times *times, json_t *out);

#endif
