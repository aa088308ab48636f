/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Timing, and the description of a run that makes it comparable with another: machine, build,
 * settings.
 */
#ifndef KITH_BENCH_HARNESS_H
#define KITH_BENCH_HARNESS_H

#include "put.h"

#include <pool.h>

enum { HARNESS_LEAST_REPEATS = 5, HARNESS_MOST_REPEATS = 25 };

/** Times of one piece of work [s]. */
typedef struct harness_times {
    int repeats;        /**< number of timed calls, without the first */
    double first;       /**< the first call: memory is allocated and touched */
    double median;      /**< median of the repeats */
    double least, most; /**< range of the repeats */
} harness_times;

/** Work that is timed. @return false when it failed */
typedef bool (*harness_work)(void *user);

/**
 * Run work once, then repeat it until it ran at least 5 times and `least` seconds, but at most 25
 * times.
 * @return false as soon as work does
 */
bool harness_time(harness_work work, void *user, double least, harness_times *out);

/** Time two functions alternately, as harness_time does one, so that a disturbance slows both. They
 *  are repeated equally often, for twice `least` seconds together. */
bool harness_time_turns(const harness_work work[2], void *user, double least, harness_times out[2]);

/** Sort n times of repeats, and compute median and range; out->first is not changed. */
void harness_summarise(double *times, int n, harness_times *out);

/**
 * Measure how fast memory can be written: the floor under every list.
 * @param bytes  size of the buffer; should be far beyond the caches
 * @return bytes a second, the better of memset and non-temporal stores; 0 without memory
 */
double harness_store_rate(int threads, int64_t bytes);

/** Run a loop over n items in ranges of `grain` items, on all cores; not for timed work. */
void harness_for(int64_t n, int64_t grain, kith__range_fn *fn, void *state);

/** Return the number of processors that this process may use: a part of the machine's under
 *  taskset. */
int harness_cores(void);

/** Return the memory of this machine [byte]. */
int64_t harness_memory(void);

/** Add repeats, median and range to an object. */
void harness_write_times(json_t *out, const harness_times *times);

/** Add the objects "machine", "build" and "run". @param argc, argv  command line, for "run" */
void harness_describe(json_t *out, int argc, char **argv);

#endif
