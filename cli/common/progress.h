/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A progress bar on the terminal, and cancellation by Ctrl-C. Both are done by progress_watch, the
 * watch callback of io and of libkith. One stage runs at a time.
 */
#ifndef KITH_CLI_PROGRESS_H
#define KITH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** The progress bar of one stage. */
typedef struct progress {
    const char *what;   /**< name of the stage: "reading" */
    const char *unit;   /**< unit of `items`: "B", "pairs" */
    int64_t items;      /**< items done so far, for the rate; -1: the count passed to the watch */
    bool draw;          /**< a bar is wanted, and stderr is a terminal */
    bool drawn;         /**< a bar is on the terminal now */
    double start, last; /**< when the stage began, and when the bar was last drawn [s] */
} progress;

/** Install signal handlers: from now on the first SIGINT, SIGTERM or SIGHUP cancels the current
 *  call through its watch callback; a second one ends the process at once. */
void progress_catch_signals(void);

/** Return true when a signal that progress_catch_signals handles has arrived. */
bool progress_interrupted(void);

/** Begin, or end, work that cannot be stopped and has no results to keep: a signal then ends the
 *  command at once. */
void progress_unstoppable(bool begins);

/** Begin a stage. @param items  -1: the rate is that of the count passed to the watch; 0: the
 *  caller increases progress.items */
progress progress_start(const char *what, const char *unit, int64_t items, bool quiet);

/** A kith_watch_fn; `user` is the progress. @return nonzero after a signal: cancel the call */
int progress_watch(void *user, int64_t done, int64_t total);

/** A kith_watch_fn of contexts that show no progress: it only cancels the call after a signal. */
int progress_watch_interrupt(void *user, int64_t done, int64_t total);

/** End the stage and erase the bar. @return seconds since its start */
double progress_end(progress *p);

/** Return the time of a monotonic clock [s]. */
double progress_clock(void);

#endif
