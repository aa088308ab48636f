/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A film is made by a thread of its own, so that the simulation continues while a frame is drawn
 * and encoded. The two threads share a buffer of one frame, `next`: film_add fills it and sets
 * `full`; the drawing thread empties it. film_add waits while the buffer is full.
 */
#include "film.h"

#include "pictures/encoder.h"
#include "film_internal.h"
#include "pictures/png_frames.h"
#include "pictures/render.h"
#include "common/box.h"
#include "common/progress.h"
#include "common/report.h"

#include <core/quote.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILM_WORD = 4096 }; /* length of a path quoted for a shell */

struct film {
    film_options how;        /**< options */
    char *path;              /**< name of the film, or of its PNG frames as in png_frames.h */
    io_lock *lock_file;      /**< lock on the name against other runs */
    encoder *encoder;        /**< ffmpeg; NULL: PNG frames, or it has failed */
    bool encodes;            /**< an encoder was opened */
    struct kith__pool *pool; /**< threads to draw with */
    render *render;          /**< picture in progress */
    picture next;            /**< written by film_add while not `full`; read by the thread while
                                  `full`, until the light of its particles is added */
    int64_t room;            /**< particles for which next.pos and next.value have room */
    bool begun;              /**< a frame was added, so next.stage is set */
    int64_t frames;          /**< frames that were drawn; the camera turns by them */
    int64_t added, held;     /**< frames given to film_add; frames that were encoded */
    int64_t last_step;       /**< step of the last frame that was encoded; 0: none */
    pthread_t thread;        /**< the drawing thread */
    pthread_mutex_t lock;    /**< protects full, ended and problem */
    pthread_cond_t changed;  /**< signalled when full or ended changes */
    bool full, ended;        /**< `next` holds a frame to draw; film_add will not be called again */
    encoder_problem problem; /**< first error of the thread; film_add reports it */
};

int64_t film_held(const film *f, int64_t *last_step)
{
    *last_step = f->last_step;
    return f->held;
}

const char *film_path(const film *f)
{
    return f ? f->path : NULL;
}

/** Return true when frames that are not written yet are given up: the run was interrupted, and the
 *  film need not be whole. Also the test by which the pool stops. */
static bool drops(void *user)
{
    const film *f = user;
    return !f->how.whole && progress_interrupted();
}

/** Send a frame that was drawn to ffmpeg, or write it as PNG.
 *  @return false when it is not in the film: with a problem, or, for a PNG, given up without one */
static bool hand_over(film *f, const uint32_t *pixels, int64_t number, encoder_problem *problem)
{
    if (!f->encoder) {
        return png_frames_write(f->path, number, pixels, f->how.width, f->how.height, !f->how.whole,
                                problem);
    }
    const bool sent = encoder_send(f->encoder, pixels, problem);
    if (!sent) {
        (void)encoder_close(f->encoder, problem); /* ffmpeg's message, if any, is the better one */
        f->encoder = NULL;
    }
    return sent;
}

/** Set a flag and wake the other thread: a frame is ready, there is room for one, or the film
 *  ends. */
static void tell(film *f, bool *what, bool now)
{
    pthread_mutex_lock(&f->lock);
    *what = now;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

/** Draw the frame in f->next and encode it. film_add may fill f->next again once the light of its
 *  particles is added; what the overlay needs is copied before. */
static void draw(film *f, encoder_problem *problem)
{
    const picture shown = f->next;
    const double turn = f->how.turn * (double)f->frames / f->how.rate;
    const camera eye = camera_look(&shown.stage.box, turn, f->how.width, f->how.height);
    things_hide(&f->next, &eye, f->pool);
    const render_scene scene = {.n = shown.n,
                                .pos = shown.pos,
                                .value = shown.valued ? shown.value : NULL,
                                .palette = f->how.colour == FILM_HEADING ? PALETTE_CIRCLE
                                                                         : PALETTE_LIT,
                                .afterglow = (float)exp(-1 / (f->how.rate * f->how.afterglow)),
                                .camera = eye};
    const bool gathered = render_gather(f->render, &scene);
    tell(f, &f->full, false);
    if (!gathered) {
        encoder_fail(problem, STATUS_NO_MEMORY, NULL, "%s: no memory to draw with", f->path);
        return;
    }
    f->frames++;
    uint32_t *pixels = render_develop(f->render);
    if (drops(f)) {
        return;
    }
    overlay_draw(pixels, f->how.width, f->how.height, &shown, &eye);
    if (hand_over(f, pixels, shown.number, problem)) {
        f->held++;
        f->last_step = shown.step;
    }
}

/** The drawing thread: draw frames until the film has ended and the buffer is empty. After an error
 *  or an interrupt, empty the buffer without drawing. */
static void *work(void *user)
{
    film *f = user;
    io_stop_writes(f->how.whole ? NULL : progress_interrupted);
    pthread_mutex_lock(&f->lock);
    while (!f->ended || f->full) {
        if (!f->full) {
            pthread_cond_wait(&f->changed, &f->lock);
            continue;
        }
        encoder_problem problem = f->problem;
        pthread_mutex_unlock(&f->lock);
        if (problem.status == STATUS_OK && !drops(f)) {
            draw(f, &problem);
        } else {
            tell(f, &f->full, false);
        }
        pthread_mutex_lock(&f->lock);
        f->problem = problem;
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/** Report a problem, if there is one. @return its exit status */
static int report_problem(const encoder_problem *problem)
{
    return problem->status == STATUS_OK
               ? STATUS_OK
               : report_error(problem->status, problem->hint, "%s", problem->text);
}

/** Return the name of a film that begins at a step, to be freed: film.1200.mp4 for film.mp4 and
 *  step 1200; path itself at step 0 and for PNG frames. NULL without memory. */
static char *name_from(const char *path, int64_t first)
{
    char *name = NULL;
    const char *dot = strrchr(path, '.');
    if (first == 0 || !encoder_knows(path)) {
        return strdup(path);
    }
    return asprintf(&name, "%.*s.%lld%s", (int)(dot - path), path, (long long)first, dot) < 0
               ? NULL
               : name;
}

/** Return the name of the folder of frames that is used without ffmpeg, to be freed. NULL without
 *  memory. */
static char *folder_of(const char *path)
{
    char *folder = NULL;
    return asprintf(&folder, "%s.frames/", path) < 0 ? NULL : folder;
}

char *film_file(const char *path, int kind, int64_t number)
{
    if (!encoder_knows(path)) {
        return kind == 0 ? png_frames_name(path, number) : NULL;
    }
    char *base = name_from(path, kind == 1 ? 0 : number);
    if (!base || kind == 0) {
        return base;
    }
    char *folder = folder_of(base);
    char *name = folder ? png_frames_name(folder, number) : NULL;
    free(folder);
    free(base);
    return name;
}

/** Change f->path to a folder of PNG frames, as ffmpeg is not installed, and print the command that
 *  makes a film of them. @return exit status, reported */
static int fall_back(film *f)
{
    char *folder = folder_of(f->path);
    if (!folder) {
        return report_no_memory("a film");
    }
    char frames[FILM_WORD], name[FILM_WORD], words[2 * FILM_WORD + 80];
    io_quote(frames, sizeof frames, IO_QUOTE_SHELL, folder);
    io_quote(name, sizeof name, IO_QUOTE_SHELL, f->path);
    snprintf(words, sizeof words, "ffmpeg -framerate %g -i %s%%06d.png -pix_fmt yuv420p %s%s",
             f->how.rate, frames, *f->path == '-' ? "./" : "", name);
    (void)report_error(STATUS_OK, words, "%s: ffmpeg is not installed; frames go to %s", f->path,
                       folder);
    free(f->path);
    f->path = folder;
    return STATUS_OK;
}

void film_free(film *f)
{
    if (!f) {
        return;
    }
    render_close(f->render);
    kith__pool_close(f->pool);
    free(f->next.pos);
    free(f->next.value);
    free(f->path);
    io_lock_release(f->lock_file);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->changed);
    free(f);
}

/** Lock the name of the film, whose folder is made, against other runs.
 *  @return exit status, reported */
static int lock(film *f)
{
    if (png_frames_named(f->path) && !png_frames_make_folder(f->path)) {
        return report_error(STATUS_OUTPUT, NULL, "%s: cannot make its folder: %s", f->path,
                            strerror(errno));
    }
    return report_lock(f->path, IO_LOCK_BESIDE, &f->lock_file);
}

int film_open(const film_options *o, int64_t first, film **out)
{
    film *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) {
        return report_no_memory("a film");
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->how = *o;
    f->path = name_from(o->path, first);
    f->pool = kith__pool_open(o->threads > 0 ? o->threads : kith__default_threads());
    if (f->pool) {
        kith__pool_watch(f->pool, drops, f);
    }
    f->render = render_open(o->width, o->height, f->pool);
    int status = f->path && f->pool && f->render ? lock(f) : report_no_memory("a film");
    bool absent = false;
    if (status == STATUS_OK && encoder_knows(o->path)) {
        f->encoder = encoder_open(f->path, o->width, o->height, o->rate, &absent, &f->problem);
        f->encodes = f->encoder != NULL;
        status = f->encoder ? STATUS_OK : absent ? fall_back(f) : report_problem(&f->problem);
        f->problem = (encoder_problem){0};
    }
    if (status == STATUS_OK) {
        status = pthread_create(&f->thread, NULL, work, f) == 0
                     ? STATUS_OK
                     : report_error(STATUS_NO_MEMORY, NULL, "no thread to draw a film with");
    }
    if (status != STATUS_OK) {
        (void)encoder_close(f->encoder, &f->problem);
        film_free(f);
        return status;
    }
    *out = f;
    return STATUS_OK;
}

/** Make room for n particles in f->next; its contents are lost. @return false without memory */
static bool reserve(film *f, int64_t n)
{
    if (n > f->room) {
        free(f->next.pos);
        free(f->next.value);
        f->next.pos = malloc(3 * (size_t)n * sizeof *f->next.pos);
        f->next.value = malloc((size_t)n * sizeof *f->next.value);
        f->room = f->next.pos && f->next.value ? n : 0;
    }
    return f->room >= n;
}

/** Return a component of the velocity of particle k. */
static double component(const io_particles *p, int64_t k, int axis)
{
    return io_real(p->velocity, 3 * k + axis, p->precision);
}

static double speed(const io_particles *p, int64_t k)
{
    const double v[3] = {component(p, k, 0), component(p, k, 1), component(p, k, 2)};
    return box_vector_length(v);
}

/** Return twice the mean speed, the speed of the last colour by default; 1 if all particles rest.
 *  The sum is serial, so it does not depend on the number of threads. */
static double twice_mean_speed(const film *f, const io_particles *p)
{
    enum { POLL = 1 << 16 }; /* particles between two tests for an interrupt */
    double sum = 0;
    for (int64_t k = 0; k < p->n && (k % POLL || !kith__pool_stopped(f->pool)); k++) {
        sum += speed(p, k);
    }
    return sum > 0 ? 2 * sum / (double)p->n : 1;
}

/** Shared state of the parallel loop that chooses colours. */
struct colour_loop {
    const io_particles *particles; /**< particles with velocities */
    bool heading;                  /**< colours show the heading in the x-y plane; else the speed */
    double full_speed;             /**< speed that has the last colour of the palette */
    float *value;                  /**< [n] receives places on the palette, 0 to 1 or above */
};

static void colour_range(void *state, int64_t begin, int64_t end)
{
    const struct colour_loop *loop = state;
    const io_particles *p = loop->particles;
    for (int64_t k = begin; k < end; k++) {
        const double at = loop->heading
                              ? atan2(component(p, k, 1), component(p, k, 0)) / (2 * M_PI) + 0.5
                              : speed(p, k) / loop->full_speed;
        loop->value[k] = (float)at;
    }
}

/** Set value and valued of f->next: the frame's own values, else heading or speed. */
static void choose_colours(film *f, const film_frame *frame)
{
    enum { GRAIN = 1024 };
    const io_particles *p = frame->particles;
    const bool heading = f->how.colour == FILM_HEADING;
    picture *shown = &f->next;
    shown->valued = frame->value != NULL || (p->velocity && f->how.colour != FILM_DENSITY);
    if (frame->value) {
        memcpy(shown->value, frame->value, (size_t)p->n * sizeof *shown->value);
    } else if (shown->valued) {
        const double full = heading                 ? 1
                            : frame->full_speed > 0 ? frame->full_speed
                                                    : twice_mean_speed(f, p);
        struct colour_loop loop = {p, heading, full, shown->value};
        kith__pool_for(f->pool, kith__pool_threads(f->pool), p->n, GRAIN, colour_range, &loop);
    }
}

int film_add(film *f, const film_frame *frame)
{
    pthread_mutex_lock(&f->lock);
    while (f->full) {
        pthread_cond_wait(&f->changed, &f->lock);
    }
    const encoder_problem problem = f->problem;
    pthread_mutex_unlock(&f->lock);
    if (problem.status != STATUS_OK) {
        return report_problem(&problem);
    }
    if (!reserve(f, frame->particles->n)) {
        return report_error(STATUS_NO_MEMORY, NULL, "%s: no memory for a frame", f->path);
    }
    picture *shown = &f->next;
    const bool known = f->begun && !shown->stage.wraps; /* frames use the first one's stage */
    shown->n = frame->particles->n;
    shown->stage = known ? shown->stage : stage_of(frame->box, frame->particles);
    shown->number = frame->number;
    shown->step = frame->step;
    snprintf(shown->caption, sizeof shown->caption, "%s", frame->caption ? frame->caption : "");
    stage_place(&shown->stage, frame->particles, f->pool, shown->pos);
    shown->n_things = frame->n_things;
    for (int64_t k = 0; k < frame->n_things; k++) {
        shown->things[k] = frame->things[k];
        for (int a = 0; a < 3; a++) {
            shown->things[k].place[a] -= a < shown->stage.box.dim ? shown->stage.middle[a] : 0;
        }
    }
    choose_colours(f, frame);
    f->begun = true;
    f->added++;
    if (!drops(f)) { /* after an interrupt the pool's loops end early: the copy is incomplete */
        tell(f, &f->full, true);
    }
    return STATUS_OK;
}

int film_finish(film *f, int status)
{
    if (!f) {
        return status;
    }
    if (f->encodes && f->added > 0 && progress_interrupted()) { /* ffmpeg may take seconds */
        (void)report_error(STATUS_OK, "a second Ctrl-C ends the command without the film",
                           "interrupted; ffmpeg finishes %s", f->path);
    }
    tell(f, &f->ended, true);
    pthread_join(f->thread, NULL);
    encoder_problem problem = f->problem;
    const bool cut = problem.status == STATUS_OK && f->held < f->added;
    /* An error of closing is reported only if there was none before: the first one counts. */
    encoder_problem *told = problem.status == STATUS_OK ? &problem : &(encoder_problem){0};
    (void)encoder_close(f->encoder, told);
    if (status == STATUS_OK) {
        status = report_problem(&problem);
    }
    return status == STATUS_OK && cut ? STATUS_INTERRUPTED : status;
}
