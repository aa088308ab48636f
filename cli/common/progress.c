/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A bar on standard error, written past the stream `stderr`, which shows control characters
 * (report_start). It appears after 0.3 s, so that quick work stays silent.
 */
#include "progress.h"

#include "trajectories/recording.h"
#include "report.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Time before a bar is drawn first, and between two times that it is drawn [s]. */
static const double FIRST_DRAW = 0.3, DRAW_EVERY = 0.1;

/* Set by a signal handler in one thread and read by all: a lock-free atomic may do both. */
static atomic_bool interrupted;
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler needs a lock-free flag");

/* See progress_unstoppable. */
static atomic_bool unstoppable;

/** End the command now. Outputs are renamed only when they are complete, and none is damaged. */
static void end_now(void)
{
    io_cut_recordings();
    io_remove_parts();
    _exit(STATUS_INTERRUPTED);
}

/** Write the message of an interrupt, and end the command. A signal handler may call it. */
static void end_interrupted(void)
{
    static const char message[] = "kith: interrupted\n";
    const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    end_now();
}

/** Store the first signal, so that results so far are kept; end the command at the second, or in
 *  work that cannot be stopped. */
static void interrupt(int number)
{
    (void)number;
    const bool again = atomic_exchange(&interrupted, true);
    if (again) {
        end_now();
    } else if (atomic_load(&unstoppable)) {
        end_interrupted();
    }
}

void progress_unstoppable(bool begins)
{
    atomic_store(&unstoppable, begins);
    if (begins && progress_interrupted()) {
        end_interrupted();
    }
}

void progress_catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int k = 0; k < 3; k++) {
        struct sigaction before;
        /* A signal that the parent process ignores (nohup) stays ignored. */
        if (sigaction(signals[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signals[k], &action, NULL);
        }
    }
}

bool progress_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

double progress_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

progress progress_start(const char *what, const char *unit, int64_t items, bool quiet)
{
    const char *term = getenv("TERM");
    progress p = {.what = what, .unit = unit, .items = items};
    p.draw = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    p.start = progress_clock();
    p.last = p.start + FIRST_DRAW - DRAW_EVERY;
    return p;
}

/** Draw the bar, with the rate, and the time that is left. */
static void draw_bar(progress *p, int64_t done, int64_t total, double now)
{
    enum { WIDTH = 28 }; /* of the bar [characters] */
    const double fraction = (double)done / (double)total;
    const int full = (int)(fraction * WIDTH);
    char bar[WIDTH + 1];
    for (int k = 0; k < WIDTH; k++) {
        bar[k] = k < full ? '=' : k == full ? '>' : ' ';
    }
    bar[WIDTH] = '\0';

    const double spent = now - p->start;
    const int64_t items = p->items < 0 ? done : p->items;
    dprintf(STDERR_FILENO, "\r%-9s [%s] %3d %%", p->what, bar, (int)(100 * fraction));
    if (items > 0) {
        const int64_t rate = (int64_t)report_rate((double)items, spent);
        const bool bytes = strcmp(p->unit, "B") == 0;
        dprintf(STDERR_FILENO, "  %s%s%s/s", (bytes ? report_bytes(rate) : report_count(rate)).s,
                bytes ? "" : " ", bytes ? "" : p->unit);
    }
    if (done > 0) {
        dprintf(STDERR_FILENO, "  %s left", report_seconds(spent * (1 - fraction) / fraction).s);
    }
    dprintf(STDERR_FILENO, "\033[K");
    p->drawn = true;
    p->last = now;
}

int progress_watch(void *user, int64_t done, int64_t total)
{
    progress *p = user;
    if (p->draw && total > 0 && done <= total) {
        const double now = progress_clock();
        if (now - p->last >= DRAW_EVERY) {
            draw_bar(p, done, total, now);
        }
    }
    return progress_interrupted();
}

int progress_watch_interrupt(void *user, int64_t done, int64_t total)
{
    (void)user, (void)done, (void)total;
    return progress_interrupted();
}

double progress_end(progress *p)
{
    if (p->drawn) {
        dprintf(STDERR_FILENO, "\r\033[K");
        p->drawn = false;
    }
    return progress_clock() - p->start;
}
