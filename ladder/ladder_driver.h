/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The driver that all ladders share: sets of points on which every rung is checked, timing, and
 * opening a context.
 */
#ifndef KITH_LADDER_DRIVER_H
#define KITH_LADDER_DRIVER_H

#include <kith.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LADDER_REPEATS = 5 }; /* how often a rung is timed */

/** Check a rung on a set of points. @param xyz  [n][3] @return false if the rung is wrong */
typedef bool (*ladder_check)(void *user, const char *set, const double *xyz, int64_t n,
                             double cutoff);

/** Call a check on difficult sets until it fails: uniform points with cutoffs up to the size of the
 *  set, no and few points, a lattice, where many distances equal the cutoff but for rounding,
 *  clusters, and coincident points. */
bool ladder_hard_sets(ladder_check check, void *user);

/** Time of a monotonic clock [s]. */
double ladder_now(void);

/** Sort n times in ascending order. */
void ladder_sort(double *times, int n);

/** Run work LADDER_REPEATS times. @param[out] seconds  median time [s] @return false if work
 *  fails */
bool ladder_time(bool (*work)(void *user), void *user, double *seconds);

/** Open a context. @param threads  number of threads; 0: default
 *  @return NULL on failure, with a message printed */
kith_ctx *ladder_open(const char *program, const char *backend, int threads);

/** Open a context on a GPU. @return NULL on failure, with a message printed that its rungs are
 *  omitted */
kith_ctx *ladder_open_gpu(void);

#ifdef __cplusplus
}
#endif

#endif
