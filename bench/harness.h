/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timing, and what must be known about a run to compare it with another.
 */
#ifndef KITH_BENCH_HARNESS_H
#define KITH_BENCH_HARNESS_H

#include "put.h"

#include <pool.h>

enum { HARNESS_LEAST_REPEATS = 5, HARNESS_MOST_REPEATS = 25 };

/** Times of one piece of work [s]. */
typedef struct harness_times {
    int repeats;
    double first;  /**< the first call: memory is allocated and touched */
    double median; /**< of the repeats after the first */
    double least, most;
} harness_times;

typedef bool (*harness_work)(void *user);

/**
 * Run work once, then again until it ran at least five times and that many seconds.
 * @return false as soon as work does
 */
bool harness_time(harness_work work, void *user, double least, harness_times *out);

/** Time two functions alternately, as harness_time does one: a disturbance then slows both. */
bool harness_time_turns(const harness_work work[2], void *user, double least, harness_times out[2]);

/** Sort the times of repeats, and compute median and range; `first` is not changed. */
void harness_summarise(double *times, int n, harness_times *out);

/**
 * Measure how fast memory can be written: the floor under every list.
 * @param bytes  size of the buffer; should be far beyond the caches
 * @return bytes a second, the better of memset and non-temporal stores; 0 without memory
 */
double harness_store_rate(int threads, int64_t bytes);

/** Run a loop over n items in ranges of `grain` items, on all cores; not for timed work. */
void harness_for(int64_t n, int64_t grain, kith__range_fn *fn, void *state);

/** Processors that this process may use: a part of the machine's under taskset. */
int harness_cores(void);

/** Bytes of memory of this machine. */
int64_t harness_memory(void);

/** Add repeats, median and range to an object. */
void harness_write_times(json_t *out, const harness_times *times);

/** Write the objects "machine", "build" and "run". */
void harness_describe(json_t *out, int argc, char **argv);

#endif
