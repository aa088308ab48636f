/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the study of flocks shares between CPU cores (bench_study.c) and a GPU (bench_gpu_study.c).
 */
#ifndef KITH_BENCH_STUDY_H
#define KITH_BENCH_STUDY_H

#include "bench.h"
#include "rung_flock.h"

enum { STUDY_NUMBERS = 12 }; /* numbers of boids that are timed */

/** Side of the box [length]. */
static const double study_side = 200;

/** After a longer step a rung is not given more boids [s]. */
static const double study_slowest = 0.2;

/** What is timed. */
typedef struct study_case {
    const char *rung;  /**< name of the rung */
    int64_t n;         /**< number of boids */
    int threads;       /**< CPU: of the context; GPU: of a block; 0: the default */
    double cell_width; /**< width of a cell of a GPU's rung; 0: the rung's own */
    bool viewed;       /**< each step is copied to a viewer; of the library alone */
} study_case;

/** Return number k of boids, 0 <= k < STUDY_NUMBERS. */
int64_t study_number(const bench_options *options, int k);

/** Time steps that are done `at_once` times in a call of `fly`, and add a result.
 *  @param fly            a harness_work
 *  @param at_once        set to the number of steps that a call of fly does
 *  @param[out] seconds   of a step
 *  @return false when fly does */
bool study_time(const study_case *c, const char *backend, const bench_options *options,
                harness_work fly, void *user, int64_t *at_once, double *seconds, json_t *out);

/** Time the library. @param[out] seconds  of a step @return false, reported */
bool study_library(const study_case *c, const bench_options *options, double *seconds, json_t *out);

/** Check the rungs on a GPU, and add "gpu" and "study". @return false, reported */
bool bench_gpu_study(const rung_truth *truth, const bench_options *options, json_t *out);

#endif
