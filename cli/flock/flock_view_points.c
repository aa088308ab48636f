/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points of a flock for viewers: a glance at those chosen, made a message of beside the steps that
 * follow.
 */
#include "flock_view.h"

#include <kith/glance.h>
#include <pool.h>
#include <stdlib.h>
#include <string.h>

/** Encode the message and publish it. */
static void publish(view_points *p)
{
    web_scene *scene = &p->scene;
    web_enclose(&p->frame, scene);
    scene->box = p->frame;
    if (scene->colour == WEB_SPEED) {
        viewer_speed_range(scene, NULL, scene->range);
        scene->range[1] = p->most_speed > 0 ? p->most_speed : scene->range[1];
    }
    web_blob *blob = web_points(p->server, scene, NULL, viewer_points(p->server, scene->n));
    p->failed = !blob;
    p->bytes = blob ? blob->size : 0;
    web_publish(p->server, WEB_POINTS, blob);
}

static void *work(void *user)
{
    view_points *p = user;
    pthread_mutex_lock(&p->lock);
    while (!p->ends) {
        if (p->busy) {
            pthread_mutex_unlock(&p->lock);
            publish(p);
            pthread_mutex_lock(&p->lock);
            p->busy = false;
            pthread_cond_broadcast(&p->news);
        } else {
            pthread_cond_wait(&p->news, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

bool flock_points_open(view_points *p, web_server *server)
{
    p->server = server;
    p->labelled = p->chosen = -1;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->news, NULL);
    p->runs = pthread_create(&p->thread, NULL, work, p) == 0;
    return p->runs;
}

/** Choose the particles of glances: twice as many as viewers ask for, so that they can ask for
 *  more; choose anew if that is far too many. */
static bool choose(view_points *p, const flock_run *run)
{
    enum { TOO_MANY = 8 };
    const int64_t n = run->in.particles.n, shown = viewer_points(p->server, n);
    if (p->chosen >= shown && p->chosen / TOO_MANY <= shown) {
        return true;
    }
    const int64_t most = n < VIEWER_MOST_POINTS ? n : VIEWER_MOST_POINTS;
    const int64_t wanted = 2 * shown < most ? 2 * shown : most;
    int32_t *labels = realloc(p->labels, (size_t)(wanted + 1) * sizeof *labels);
    p->labels = labels ? labels : p->labels;
    p->chosen = p->labelled = -1;
    if (!labels || !web_choose(&p->choice, n, wanted) ||
        kith_glance_choose(run->flock, p->choice.index, wanted) != KITH_OK) {
        return false;
    }
    p->chosen = wanted;
    return true;
}

/** Labels of the chosen particles, if groups of this step were found. */
static const int32_t *find_labels(view_points *p, const flock_run *run, int64_t sampled)
{
    if (!run->groups.labels || run->groups.points != run->in.particles.n || sampled < 0) {
        return NULL;
    }
    for (int64_t k = 0; k < p->chosen && p->labelled != sampled; k++) {
        p->labels[k] = run->groups.labels[p->choice.index[k]];
    }
    p->labelled = sampled;
    return p->labels;
}

bool flock_points_take(flock_view *view, flock_run *run)
{
    enum { FEW = 4 };
    view_points *p = &view->points;
    if (!choose(p, run) || kith_glance_take(run->flock) != KITH_OK) {
        return false;
    }
    p->beside = strncmp(kith_backend(run->ctx), "cuda", strlen("cuda")) == 0;
    if (!p->pool) {
        const int threads = kith_threads(run->ctx);
        p->pool = kith__pool_open(p->beside && threads > FEW ? FEW : threads);
    }
    p->most_speed = flock_view_stage(view, run)->model.max_speed;
    p->scene = (web_scene){.n = p->chosen,
                           .all = run->in.particles.n,
                           .precision = run->in.particles.precision,
                           .labels = view->colour == WEB_GROUP ? find_labels(p, run, view->sampled)
                                                               : NULL,
                           .step = (double)run->step,
                           .time = flock_time(view->task, run->step),
                           .epoch = view->epoch,
                           .pool = p->pool,
                           .colour = view->colour};
    if (p->scene.colour == WEB_GROUP && !p->scene.labels) {
        p->scene.colour = WEB_PLAIN;
    }
    if (p->frame.dim == 0) {
        p->frame = run->space;
    }
    p->taken = true;
    flock_view_send_things(view, run);
    return true;
}

void flock_points_hand_over(view_points *p, flock_run *run)
{
    p->taken = false;
    if (kith_glance_see(run->flock, &p->scene.positions, &p->scene.velocities) != KITH_OK) {
        return; /* the next step reports the error */
    }
    pthread_mutex_lock(&p->lock);
    p->busy = true;
    pthread_cond_broadcast(&p->news);
    while (p->busy && !p->beside) {
        pthread_cond_wait(&p->news, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

view_progress flock_points_progress(view_points *p)
{
    pthread_mutex_lock(&p->lock);
    const view_progress done = p->taken    ? VIEW_TAKEN
                               : p->busy   ? VIEW_BUSY
                               : p->failed ? VIEW_FAILED
                                           : VIEW_IDLE;
    pthread_mutex_unlock(&p->lock);
    return done;
}

void flock_points_forget(view_points *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->busy) {
        pthread_cond_wait(&p->news, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    p->taken = false;
    p->chosen = p->labelled = -1;
    p->frame = (kith_box){.dim = 0};
}

void flock_points_close(view_points *p)
{
    if (p->runs) {
        pthread_mutex_lock(&p->lock);
        p->ends = true;
        pthread_cond_broadcast(&p->news);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    kith__pool_close(p->pool);
    web_choice_free(&p->choice);
    free(p->labels);
}
