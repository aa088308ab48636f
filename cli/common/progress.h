/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress on a terminal, and the way out on Ctrl-C: both live in the watch callback of io and of
 * libkith. One stage runs at a time.
 */
#ifndef KITH_CLI_PROGRESS_H
#define KITH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *what; /**< "reading" */
    const char *unit; /**< of `items`: "B", "pairs" */
    int64_t items;    /**< done so far, for the rate; -1: the watch's own count */
    bool draw;        /**< stderr is a terminal */
    bool drawn;       /**< a bar stands there */
    double start, last;
} progress;

/** From now on SIGINT, SIGTERM and SIGHUP stop the watch instead of ending the process; a second
 *  one ends it at once. */
void progress_catch_signals(void);
bool progress_interrupted(void);

/** Begin a stage. @param items  -1: the rate is that of the watch's own units; 0: the caller counts
 *  progress.items up. */
progress progress_start(const char *what, const char *unit, int64_t items, bool quiet);

/** A kith_watch_fn; user is the progress. */
int progress_watch(void *user, int64_t done, int64_t total);

/** End the stage: wipe the bar. @return seconds since its start. */
double progress_end(progress *p);

/** Seconds of a clock that only runs forward. */
double progress_clock(void);

#endif
