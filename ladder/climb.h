/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the ladders share: points on which every rung is checked, and timing.
 */
#ifndef KITH_CLIMB_H
#define KITH_CLIMB_H

#include <kith.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLIMB_REPEATS = 5 };

typedef bool (*climb_check)(void *user, const char *set, const double *xyz, int64_t n,
                            double cutoff);

/**
 * Hand sets that are hard in different ways to a check, until it fails: uniform points at cutoffs
 * up to the whole, none and few, a lattice, where many distances are the cutoff but for rounding,
 * clusters, and points that coincide.
 */
bool climb_hard_sets(climb_check check, void *user);

/** Seconds on a clock that only goes forward. */
double climb_now(void);

/** Sort n times, the least first. */
void climb_sort(double *times, int n);

/** Do work CLIMB_REPEATS times. @param[out] seconds  the median. @return false when work fails. */
bool climb_time(bool (*work)(void *user), void *user, double *seconds);

/** Open a context. @param threads  0: all there are. @return NULL, after saying why: that failed */
kith_ctx *climb_open(const char *program, const char *backend, int threads);

/** Open one on a GPU. @return NULL, after saying that its rungs are left out. */
kith_ctx *climb_open_gpu(void);

#ifdef __cplusplus
}
#endif

#endif
