/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lanes: a ring of records, threads that claim them in ascending order, and the calling thread that
 * adds them in ascending order. As records are claimed in order, every frame before a bad one is
 * being counted when that one fails, and the first error in the order of the frames is found.
 */
#include "lanes.h"

#include "progress.h"
#include "report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** Frames with more particles than MOST_PARTICLES are not worth the memory of lanes: on two
 *  threads, with 90 or 260 neighbours, lanes take 0.6 to 0.7 of the time that the threads of one
 *  context take where frames hold 1,000 particles, 0.75 to 0.9 at 10,000, 0.9 to 1 at 50,000. */
enum { MOST_PARTICLES = 20000, RECORDS_EACH = 8 };

static const double most_bytes = 256e6; /* of memory for the records of all lanes */

typedef struct lanes lanes;

struct lane {
    lanes *of;
    kith_ctx *ctx; /* one thread */
    pthread_t thread;
};

struct lanes {
    lanes_calls calls;
    void *user;
    int64_t records;
    char *memory;                  /* [records] of calls.bytes */
    bool *done;                    /* [records] counted, and not yet added */
    int64_t given, claimed, added; /* frames submitted, claimed by a lane, added to the results */
    int64_t counted;               /* frames whose counting has ended */
    int64_t awaited;               /* the calling thread waits for the frames before this one */
    int64_t missing;               /* those of them whose counting has not ended */
    bool failed;                   /* a frame could not be counted; no more are claimed */
    bool stop;                     /* the threads should end */
    int status;                    /* of the first frame that could not be added */
    double busy_since, seconds;
    pthread_mutex_t lock; /* of given, claimed, counted, awaited, missing, done, failed, stop and
                             the times */
    pthread_cond_t work, result;
    int n;
    struct lane lane[]; /* [n] */
};

static void *record_of(const lanes *l, int64_t frame)
{
    return l->memory + (size_t)(frame % l->records) * l->calls.bytes;
}

static void *run_lane(void *user)
{
    struct lane *lane = user;
    lanes *l = lane->of;
    pthread_mutex_lock(&l->lock);
    while (!l->stop) {
        if (l->failed || l->claimed == l->given) {
            pthread_cond_wait(&l->work, &l->lock);
            continue;
        }
        const int64_t frame = l->claimed++;
        pthread_mutex_unlock(&l->lock);
        const bool counted = l->calls.count(l->user, lane->ctx, record_of(l, frame));
        pthread_mutex_lock(&l->lock);
        l->done[frame % l->records] = true;
        l->failed = l->failed || !counted;
        if (++l->counted == l->given) {
            l->seconds += progress_clock() - l->busy_since;
        }
        l->missing -= frame < l->awaited;
        if (l->missing == 0 || l->failed) {
            pthread_cond_signal(&l->result);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/** A kith_watch_fn: the calling thread shows the progress. */
static int watch_interrupt(void *user, int64_t done, int64_t total)
{
    (void)user, (void)done, (void)total;
    return progress_interrupted();
}

/** Number of lanes for frames of this size.
 *  @param frames  still to come; -1: unknown   @param bytes  memory that counting one frame takes
 *  @return 0: count the frames one after the other, as they are large or a GPU counts them */
static int number_of_lanes(const kith_ctx *ctx, int64_t particles, int64_t frames, int64_t bytes)
{
    double n = kith_threads(ctx);
    n = frames >= 0 && (double)frames < n ? (double)frames : n;
    const double fit = most_bytes / (RECORDS_EACH * (double)(bytes > 0 ? bytes : 1));
    n = fit < n ? fit : n;
    const bool small = particles <= MOST_PARTICLES && strncmp(kith_backend(ctx), "cpu", 3) == 0;
    return small && n >= 2 ? (int)n : 0;
}

/** Start a lane. @return false: no memory or no thread */
static bool start(lanes *l, const kith_ctx *ctx)
{
    struct lane *lane = &l->lane[l->n];
    kith_options settings;
    kith_options_init(&settings);
    settings.backend = kith_backend(ctx);
    settings.threads = 1;
    settings.watch = watch_interrupt;
    lane->of = l;
    if (kith_open(&settings, &lane->ctx) != KITH_OK) {
        return false;
    }
    if (pthread_create(&lane->thread, NULL, run_lane, lane) != 0) {
        kith_close(lane->ctx);
        return false;
    }
    l->n++;
    return true;
}

static void close_lanes(lanes *l)
{
    for (int64_t k = 0; k < l->records && l->memory; k++) {
        l->calls.free(record_of(l, k));
    }
    pthread_cond_destroy(&l->result);
    pthread_cond_destroy(&l->work);
    pthread_mutex_destroy(&l->lock);
    free(l->done);
    free(l->memory);
    free(l);
}

/** Open lanes. @return NULL: no memory or no threads; count the frames one after the other */
static lanes *open_lanes(const kith_ctx *ctx, int n, const lanes_calls *calls, void *user)
{
    lanes *l = calloc(1, sizeof *l + (size_t)n * sizeof *l->lane);
    if (!l) {
        return NULL;
    }
    l->calls = *calls;
    l->user = user;
    l->records = RECORDS_EACH * (int64_t)n;
    l->memory = calloc((size_t)l->records, calls->bytes);
    l->done = calloc((size_t)l->records, sizeof *l->done);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->result, NULL);
    while (l->memory && l->done && l->n < n && start(l, ctx)) {}
    if (l->n == 0) {
        close_lanes(l);
        return NULL;
    }
    report_hold();
    return l;
}

/** Wait until the frames before `awaited` are counted, or, with more than one left, until one has
 *  failed: no more are claimed then. The calling thread is woken once, at the end. */
static void await(lanes *l, int64_t awaited)
{
    pthread_mutex_lock(&l->lock);
    l->awaited = awaited;
    l->missing = 0;
    for (int64_t frame = l->added; frame < awaited; frame++) {
        l->missing += !l->done[frame % l->records];
    }
    while (l->missing > 0 && !(l->failed && awaited - l->added > 1)) {
        pthread_cond_wait(&l->result, &l->lock);
    }
    l->awaited = 0;
    l->missing = 0;
    pthread_mutex_unlock(&l->lock);
}

/** Add the frames that have been counted, in order, until the oldest one is still being counted and
 *  at most `most` are left. @return exit status of the first frame that failed */
static int add_counted(lanes *l, int64_t most, bool keep)
{
    if (l->status == STATUS_OK) {
        await(l, l->given - most);
    }
    while (l->added < l->given && l->status == STATUS_OK) {
        bool *done = &l->done[l->added % l->records];
        if (l->given - l->added > most) {
            await(l, l->added + 1); /* returns at once unless a frame has failed */
        }
        pthread_mutex_lock(&l->lock);
        const bool ready = *done;
        *done = false;
        pthread_mutex_unlock(&l->lock);
        if (!ready) {
            break;
        }
        void *record = record_of(l, l->added++);
        l->status = l->calls.report(l->user, record);
        if (l->status == STATUS_OK && keep) {
            l->status = l->calls.add(l->user, record);
        }
    }
    return l->status;
}

/** Get a free record to prepare the next frame in. Adds frames that have been counted, and waits
 *  for the oldest one if no record is free. @return exit status */
static int next_record(lanes *l, void **record)
{
    /* from a full ring, half of the frames are added at a time: the calling thread sleeps and wakes
     * once for all of them, while the lanes count the other half */
    const bool full = l->given - l->added == l->records;
    CLI_TRY(add_counted(l, full ? l->records / 2 : l->records - 1, true));
    *record = record_of(l, l->given);
    return STATUS_OK;
}

/** Let the lanes count the frame of the record that next_record gave. */
static void give(lanes *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->counted == l->given) {
        l->busy_since = progress_clock();
    }
    l->given++;
    pthread_cond_signal(&l->work);
    pthread_mutex_unlock(&l->lock);
}

/** End the threads. After this call, the calling thread alone reads and writes the lanes. */
static void join(lanes *l)
{
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (int k = 0; k < l->n; k++) {
        pthread_join(l->lane[k].thread, NULL);
        kith_close(l->lane[k].ctx);
    }
}

int lanes_take(void *counting, const io_frame *frame)
{
    lanes_counting *c = counting;
    void *record = c->alone;
    if (c->lanes) {
        CLI_TRY(next_record(c->lanes, &record));
    }
    CLI_TRY(c->calls->prepare(c->user, frame, c->lanes != NULL, record));
    if (c->lanes) {
        give(c->lanes);
        return STATUS_OK;
    }
    const double start = progress_clock();
    (void)c->calls->count(c->user, c->ctx, record);
    c->seconds += progress_clock() - start;
    CLI_TRY(c->calls->report(c->user, record));
    CLI_TRY(c->calls->add(c->user, record));
    if (c->taken++ == 0) {
        const int64_t left = c->from->wanted > 0 ? c->from->wanted - 1 : -1;
        const int n = number_of_lanes(c->ctx, frame->particles.n, left, c->calls->memory(c->user));
        c->lanes = n > 0 ? open_lanes(c->ctx, n, c->calls, c->user) : NULL;
    }
    return STATUS_OK;
}

int lanes_end(lanes_counting *c, int status, double *busy)
{
    lanes *l = c->lanes;
    *busy = -1;
    if (l) {
        const bool keep = status == STATUS_OK || status == STATUS_INTERRUPTED;
        const int earlier = add_counted(l, 0, keep);
        join(l);
        report_release();
        const bool later = earlier == STATUS_OK || (earlier == STATUS_INTERRUPTED && !keep);
        status = later ? status : earlier;
        *busy = c->seconds + l->seconds;
        close_lanes(l);
    }
    c->calls->free(c->alone);
    return status;
}
