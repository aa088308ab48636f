/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lanes: a ring buffer of records, threads that claim them in ascending order, and the calling
 * thread that adds them in ascending order. As records are claimed in order, all frames before a
 * bad one have been claimed when it fails, so the error that is reported is that of the first bad
 * frame.
 */
#include "lanes.h"

#include "engine.h"
#include "report.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** Frames with more particles than MOST_PARTICLES are not worth the memory of lanes: on two
 *  threads, with 90 or 260 neighbours, lanes take 0.6 to 0.7 of the time that the threads of one
 *  context take where frames hold 1,000 particles, 0.75 to 0.9 at 10,000, 0.9 to 1 at 50,000. */
enum { MOST_PARTICLES = 20000 };

/* Frames that a rank counts at a time: messages between ranks take longer than the smallest frames.
 * Of more than MOST_DEALT_RANKS ranks, some count none: reading is then the limit. */
enum { DEALT_EACH = 4, MOST_DEALT_RANKS = 256 };

enum { RECORDS_EACH = 8 }; /* records for each lane */

static const double most_bytes = 256e6; /* largest memory for the records of all lanes [bytes] */

typedef struct lanes lanes;

/** A thread that counts frames. */
struct lane {
    lanes *all;       /* the lanes that this one belongs to */
    kith_ctx *ctx;    /* context with one thread */
    pthread_t thread; /* the thread */
};

/** The ring buffer of records, and the threads. Frame k is in record k % records. */
struct lanes {
    lanes_calls calls;     /* what is done with a frame */
    void *user;            /* first argument of the calls */
    bool together;         /* the only lane counts several frames by one call */
    int64_t before;        /* frames that were counted before there were lanes */
    int64_t records;       /* number of records */
    char *memory;          /* [records] records of calls.bytes */
    bool *done;            /* [records] the frame has been counted, and is not added yet */
    int64_t submitted;     /* frames that have been prepared for the lanes */
    int64_t claimed;       /* frames that a lane has claimed */
    int64_t added;         /* frames added to the results; of the calling thread alone */
    int64_t counted;       /* frames whose counting has ended */
    int64_t awaited;       /* the calling thread waits for all frames before this one */
    int64_t missing;       /* awaited frames whose counting has not ended */
    bool failed;           /* a frame could not be counted; no more are claimed */
    bool stop;             /* the threads should end */
    int status;            /* status of the first frame that could not be added */
    double busy_since;     /* time when a frame was submitted to lanes that were all idle [s] */
    double seconds;        /* time in which a lane counted, before busy_since [s] */
    pthread_mutex_t lock;  /* guards submitted, claimed, counted, awaited, missing, done, failed,
                              stop, busy_since and seconds */
    pthread_cond_t work;   /* a frame was submitted, or the threads should end */
    pthread_cond_t result; /* all awaited frames have been counted, or one has failed */
    int n;                 /* number of lanes */
    struct lane lane[];    /* [n] the lanes */
};

/** Return the record of a frame. */
static void *record_of(const lanes *l, int64_t frame)
{
    return l->memory + (size_t)(frame % l->records) * l->calls.bytes;
}

/** Return how many of the frames that wait a lane claims. The lock is held. */
static int64_t number_to_claim(const lanes *l)
{
    if (!l->together) {
        return 1;
    }
    const int64_t waiting = l->submitted - l->claimed;
    const int64_t fit = l->calls.together(l->user, l->before + l->claimed);
    const int64_t most = fit < LANES_MOST_TOGETHER ? fit : LANES_MOST_TOGETHER;
    return waiting < most ? waiting : most;
}

/** Count frames that a lane has claimed. @return false: failed */
static bool count_claimed(const struct lane *lane, int64_t first, int64_t n)
{
    const lanes *l = lane->all;
    void *record[LANES_MOST_TOGETHER];
    if (!l->together) {
        return l->calls.count(l->user, lane->ctx, record_of(l, first));
    }
    for (int64_t k = 0; k < n; k++) {
        record[k] = record_of(l, first + k);
    }
    return l->calls.count_together(l->user, lane->ctx, l->before + first, record, n);
}

/** Main function of a lane's thread: claim and count frames until `stop` is set. */
static void *run_lane(void *user)
{
    struct lane *lane = user;
    lanes *l = lane->all;
    pthread_mutex_lock(&l->lock);
    while (!l->stop) {
        if (l->failed || l->claimed == l->submitted) {
            pthread_cond_wait(&l->work, &l->lock);
            continue;
        }
        const int64_t first = l->claimed;
        const int64_t n = number_to_claim(l);
        l->claimed += n;
        pthread_mutex_unlock(&l->lock);
        const bool counted = count_claimed(lane, first, n);
        pthread_mutex_lock(&l->lock);
        l->failed = l->failed || !counted;
        l->counted += n;
        if (l->counted == l->submitted) {
            l->seconds += progress_clock() - l->busy_since;
        }
        for (int64_t frame = first; frame < first + n; frame++) {
            l->done[frame % l->records] = true;
            l->missing -= frame < l->awaited;
        }
        if (l->missing == 0 || l->failed) {
            pthread_cond_signal(&l->result);
        }
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/** Return true when a context counts on CPU cores. */
static bool is_cpu(const kith_ctx *ctx)
{
    return strncmp(kith_backend(ctx), "cpu", 3) == 0;
}

/** Return true when one lane is to count several frames by one call. */
static bool counts_together(const lanes_counting *c, int64_t particles)
{
    const bool wanted = !is_cpu(c->ctx) || getenv("KITH_TEST_TOGETHER");
    return wanted && particles <= MOST_PARTICLES && c->calls->together &&
           c->calls->together(c->user, c->taken) > 0;
}

/** Return the number of records of a lane that counts several frames by one call.
 *  @param bytes  memory that counting one frame takes */
static int64_t records_together(int64_t particles, int64_t bytes)
{
    /* 64 bytes for the copies of a particle in its record: an estimate */
    const double each = 64.0 * (double)particles + (double)bytes;
    const double fit = most_bytes / (each > 0 ? each : 1);
    const int64_t most = 2 * LANES_MOST_TOGETHER; /* half are counted while others are prepared */
    return fit < (double)most ? (int64_t)fit + 1 : most;
}

/** Return the number of lanes for frames of this size; 0: the frames are to be counted one after
 *  the other, as they are large or a GPU counts them.
 *  @param frames  number of frames still to be read; -1: unknown
 *  @param bytes   memory that counting one frame takes */
static int number_of_lanes(const kith_ctx *ctx, int64_t particles, int64_t frames, int64_t bytes)
{
    double n = kith_threads(ctx);
    n = frames >= 0 && (double)frames < n ? (double)frames : n;
    const double fit = most_bytes / (RECORDS_EACH * (double)(bytes > 0 ? bytes : 1));
    n = fit < n ? fit : n;
    const bool small = particles <= MOST_PARTICLES && is_cpu(ctx);
    return small && n >= 2 ? (int)n : 0;
}

/** Start a lane. @return false: no memory or no thread */
static bool start(lanes *l, const kith_ctx *ctx)
{
    struct lane *lane = &l->lane[l->n];
    lane->all = l;
    if (!engine_open_lane(ctx, &lane->ctx)) {
        return false;
    }
    if (pthread_create(&lane->thread, NULL, run_lane, lane) != 0) {
        kith_close(lane->ctx);
        return false;
    }
    l->n++;
    return true;
}

/** Free the lanes and their records; the threads have ended. */
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

/** Open lanes. report_hold is called: an error of a later frame must not be printed before that of
 *  an earlier one. @return NULL: no memory or no threads; count the frames one after the other */
static lanes *open_lanes(const lanes_counting *c, int n, int64_t records, bool together)
{
    lanes *l = calloc(1, sizeof *l + (size_t)n * sizeof *l->lane);
    if (!l) {
        return NULL;
    }
    l->calls = *c->calls;
    l->user = c->user;
    l->together = together;
    l->before = c->taken;
    l->records = records;
    l->memory = calloc((size_t)l->records, l->calls.bytes);
    l->done = calloc((size_t)l->records, sizeof *l->done);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->work, NULL);
    pthread_cond_init(&l->result, NULL);
    while (l->memory && l->done && l->n < n && start(l, c->ctx)) {}
    if (l->n == 0) {
        close_lanes(l);
        return NULL;
    }
    report_hold();
    return l;
}

/** Wait until all frames before `awaited` have been counted. If these are more than one of the
 *  frames that are not added yet, also end the wait when a frame has failed: those that no lane has
 *  claimed are never counted then. Unless a frame has failed, the calling thread is woken once. */
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

/** Add the frames that have been counted, in order. Stop when the oldest frame is still being
 *  counted and at most `most` frames are left.
 *  @param keep  false: the frames are dropped instead
 *  @return exit status of the first frame that failed */
static int add_counted(lanes *l, int64_t most, bool keep)
{
    if (l->status == STATUS_OK) {
        await(l, l->submitted - most);
    }
    while (l->added < l->submitted && l->status == STATUS_OK) {
        bool *done = &l->done[l->added % l->records];
        if (l->submitted - l->added > most) {
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
    const bool full = l->submitted - l->added == l->records;
    CLI_TRY(add_counted(l, full ? l->records / 2 : l->records - 1, true));
    *record = record_of(l, l->submitted);
    return STATUS_OK;
}

/** Let the lanes count the frame of the record that next_record returned. */
static void submit(lanes *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->counted == l->submitted) {
        l->busy_since = progress_clock();
    }
    l->submitted++;
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

/** Open lanes for the frames after the first, where they pay.
 *  @param particles  those of the first frame */
static void choose_lanes(lanes_counting *c, int64_t particles)
{
    const int64_t left = c->from->wanted > 0 ? c->from->wanted - 1 : -1;
    const int64_t bytes = c->calls->memory(c->user);
    if (counts_together(c, particles)) {
        const int64_t records = records_together(particles, bytes);
        c->lanes = left != 0 ? open_lanes(c, 1, records, true) : NULL;
        return;
    }
    const int n = number_of_lanes(c->ctx, particles, left, bytes);
    c->lanes = n > 0 ? open_lanes(c, n, RECORDS_EACH * (int64_t)n, false) : NULL;
}

/** The record of a frame that is held. */
static void *held_record(const lanes_counting *c, int64_t k)
{
    return c->held + (size_t)k * c->calls->bytes;
}

/** Count the frames that are held, and add them. @param keep  false: they are dropped instead
 *  @return exit status, reported */
static int count_held(lanes_counting *c, bool keep)
{
    void *record[DEALT_EACH * MOST_DEALT_RANKS];
    const int64_t n = c->n_held;
    const double start = progress_clock();
    for (int64_t k = 0; k < n; k++) {
        record[k] = held_record(c, k);
    }
    c->n_held = 0;
    if (n > 0) {
        (void)c->calls->count_dealt(c->user, c->ctx, record, n);
    }
    c->seconds += progress_clock() - start;
    for (int64_t k = 0; k < n; k++) {
        CLI_TRY(c->calls->report(c->user, record[k]));
        CLI_TRY(keep ? c->calls->add(c->user, record[k]) : STATUS_OK);
    }
    return STATUS_OK;
}

/** Hold a frame until there is one for each rank, or several. @return exit status, reported */
static int hold(lanes_counting *c, const io_frame *frame)
{
    CLI_TRY(c->calls->prepare(c->user, frame, true, held_record(c, c->n_held)));
    c->n_held++;
    return c->n_held < c->most_held ? STATUS_OK : count_held(c, true);
}

/** Deal the frames after the first to the ranks, where they are small. Without memory all ranks
 *  count each. report_hold is called, as by open_lanes. */
static void choose_dealing(lanes_counting *c, int64_t particles)
{
    const int64_t n = DEALT_EACH *
                      (int64_t)(c->ranks < MOST_DEALT_RANKS ? c->ranks : MOST_DEALT_RANKS);
    /* 64 bytes for the copies of a particle, as in records_together */
    const double bytes = (double)n * (64.0 * (double)particles + (double)c->calls->memory(c->user));
    if (c->calls->count_dealt && particles <= MOST_PARTICLES && bytes <= most_bytes) {
        c->held = calloc((size_t)n, c->calls->bytes);
        c->most_held = c->held ? n : 0;
        if (c->held) {
            report_hold();
        }
    }
}

/** An input_frame_fn: prepare a frame and count it, hold it, or submit it to the lanes. While there
 *  are lanes or held frames report_error keeps the message of an error.
 *  @param counting  a lanes_counting   @return exit status, reported */
static int take(void *counting, const io_frame *frame)
{
    lanes_counting *c = counting;
    void *record = c->alone;
    if (c->held) {
        return hold(c, frame);
    }
    if (c->lanes) {
        CLI_TRY(next_record(c->lanes, &record));
    }
    CLI_TRY(c->calls->prepare(c->user, frame, c->lanes != NULL, record));
    if (c->lanes) {
        submit(c->lanes);
        return STATUS_OK;
    }
    const double start = progress_clock();
    (void)c->calls->count(c->user, c->ctx, record); /* `report` finds out whether it failed */
    c->seconds += progress_clock() - start;
    CLI_TRY(c->calls->report(c->user, record));
    CLI_TRY(c->calls->add(c->user, record));
    if (c->taken++ == 0 && c->ranks > 1) {
        choose_dealing(c, frame->particles.n);
    } else if (c->taken == 1) {
        choose_lanes(c, frame->particles.n);
    }
    return STATUS_OK;
}

/** Return the status of two errors of which the last one is of an earlier frame, so that it counts.
 *  An interrupt does not take the place of an error. */
static int earlier_of(int status, int earlier)
{
    const bool failed = status != STATUS_OK && status != STATUS_INTERRUPTED;
    const bool later = earlier == STATUS_OK || (earlier == STATUS_INTERRUPTED && failed);
    return later ? status : earlier;
}

/** Wait until all frames have been counted, add them, and end the threads. An error of an earlier
 *  frame takes the place of `status`.
 *  @param status     how reading and preparing ended; after an error frames are no longer added
 *  @param[out] busy  as in lanes_count
 *  @return exit status, reported but for STATUS_INTERRUPTED */
static int end(lanes_counting *c, int status, double *busy)
{
    lanes *l = c->lanes;
    const bool keep = status == STATUS_OK || status == STATUS_INTERRUPTED;
    *busy = -1;
    if (c->held) {
        status = earlier_of(status, count_held(c, keep));
        report_release();
        for (int64_t k = 0; k < c->most_held; k++) {
            c->calls->free(held_record(c, k));
        }
        free(c->held);
    }
    if (l) {
        const int earlier = add_counted(l, 0, keep);
        join(l);
        report_release();
        status = earlier_of(status, earlier);
        *busy = c->seconds + l->seconds;
        close_lanes(l);
    }
    c->calls->free(c->alone);
    return status;
}

int lanes_count(lanes_counting *c, const char *path, const io_trajectory_options *how, bool quiet,
                progress *bar, double *busy)
{
    *bar = progress_start("counting", "particles", 0, quiet);
    const int status = end(c, input_each_frame(path, how, take, c, c->from), busy);
    if (*busy >= 0) { /* frames were counted while others were read */
        c->from->seconds = fmax(progress_clock() - bar->start - *busy, 0);
    }
    progress_end(bar);
    return status;
}
