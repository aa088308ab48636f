/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A film is made by a thread of its own: while it draws a frame and ffmpeg takes it, the simulation
 * goes on. One frame may wait; who brings another waits with it.
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
    film_options how;
    char *path; /* of the film or its PNG frames */
    io_lock *lock_file;
    encoder *encoder;
    bool encodes;            /* there is an encoder, or was one until it failed */
    struct kith__pool *pool; /* threads to draw with */
    render *render;
    picture next;   /* written by the caller, then owned by the thread until its light is added */
    int64_t room;   /* particles */
    bool begun;     /* a frame was added, which sets the stage */
    int64_t frames; /* that were drawn */
    int64_t added, held; /* that were added; that the film holds */
    int64_t last_step;   /* of the last of these */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full, ended; /* `next` waits to be drawn; no further frame will come */
    encoder_problem problem;
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

/** Return true when frames that are not written yet are given up: the run was interrupted. */
static bool drops(void *user)
{
    const film *f = user;
    return !f->how.whole && progress_interrupted();
}

/** Encode a frame that was drawn. @return false: it is not in the film */
static bool hand_over(film *f, const uint32_t *pixels, int64_t number, encoder_problem *problem)
{
    if (!f->encoder) {
        return png_frames_write(f->path, number, pixels, f->how.width, f->how.height, !f->how.whole,
                                problem);
    }
    const bool sent = encoder_send(f->encoder, pixels, problem);
    if (!sent) {
        (void)encoder_close(f->encoder, problem); /* the messages of ffmpeg, if any */
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

/** Draw the next frame; the caller continues once its light is added. */
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

static int report_problem(const encoder_problem *problem)
{
    return problem->status == STATUS_OK
               ? STATUS_OK
               : report_error(problem->status, problem->hint, "%s", problem->text);
}

/** The name of a film that begins at a step: "film.1200.mp4". NULL without memory. */
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

/** The folder of frames if ffmpeg is not installed. NULL without memory */
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

/** Without ffmpeg: write frames into a folder next to the film, and say how to make a film of
 *  them. */
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

/** Lock the names of the film against other runs. */
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

static double component(const io_particles *p, int64_t k, int axis)
{
    return io_real(p->velocity, 3 * k + axis, p->precision);
}

static double speed(const io_particles *p, int64_t k)
{
    const double v[3] = {component(p, k, 0), component(p, k, 1), component(p, k, 2)};
    return box_vector_length(v);
}

static double twice_mean_speed(const film *f, const io_particles *p)
{
    enum { POLL = 1 << 16 }; /* particles between two tests for an interrupt */
    double sum = 0;
    for (int64_t k = 0; k < p->n && (k % POLL || !kith__pool_stopped(f->pool)); k++) {
        sum += speed(p, k);
    }
    return sum > 0 ? 2 * sum / (double)p->n : 1;
}

/** A loop over particles that chooses their colours. */
struct colour_loop {
    const io_particles *particles;
    bool heading;      /**< colours show the heading; else the speed */
    double full_speed; /**< speed that has the last colour of the palette */
    float *value;      /**< [n] places on the palette */
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

/** Choose the colour of each particle. */
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
    if (!drops(f)) { /* else the copy may not be complete */
        tell(f, &f->full, true);
    }
    return STATUS_OK;
}

int film_finish(film *f, int status)
{
    if (!f) {
        return status;
    }
    if (f->encodes && f->added > 0 && progress_interrupted()) { /* an answer before ffmpeg's */
        (void)report_error(STATUS_OK, "a second Ctrl-C ends the command without the film",
                           "interrupted; ffmpeg finishes %s", f->path);
    }
    tell(f, &f->ended, true);
    pthread_join(f->thread, NULL);
    encoder_problem problem = f->problem;
    const bool cut = problem.status == STATUS_OK && f->held < f->added;
    encoder_problem *told = problem.status == STATUS_OK ? &problem : &(encoder_problem){0};
    (void)encoder_close(f->encoder, told);
    if (status == STATUS_OK) {
        status = report_problem(&problem);
    }
    return status == STATUS_OK && cut ? STATUS_INTERRUPTED : status;
}
