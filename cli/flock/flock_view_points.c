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

/** Set the range of speeds that colours show. It follows that of the points slowly, so that colours
 *  do not flicker. */
static void fit_range(view_points *p, web_scene *scene)
{
    static const double share = 0.1;
    viewer_speed_range(scene, NULL, scene->range);
    for (int k = 0; k < 2 && p->range[1] > 0; k++) {
        scene->range[k] = p->range[k] + share * (scene->range[k] - p->range[k]);
    }
    memcpy(p->range, scene->range, sizeof p->range);
}

/** Publish the values of the particle that a viewer has selected. */
static void publish_particle(const view_points *p)
{
    const int64_t k = p->inspected;
    if (k >= 0 && k < p->scene.n) {
        json_t *one = viewer_particle(&p->scene, k, k, p->choice.index[k]);
        if (p->scene.labels) {
            json_object_set_new(one, "group", json_integer(p->labels[k]));
        }
        web_publish_json(p->server, WEB_PARTICLE, one);
    }
}

/** Encode the message and publish it. */
static void publish(view_points *p)
{
    web_scene *scene = &p->scene;
    web_enclose(&p->frame, scene);
    scene->box = p->frame;
    if (scene->colour == WEB_SPEED) {
        fit_range(p, scene);
    }
    web_blob *blob = web_points(p->server, scene, NULL, viewer_points(p->server, scene->n));
    p->failed = !blob;
    p->bytes = blob ? blob->size : 0;
    web_publish(p->server, WEB_POINTS, blob);
    publish_particle(p);
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

/** Colours of the groups of the chosen particles, if groups of this step were found. */
static const int32_t *find_labels(view_points *p, const flock_run *run, int64_t sampled)
{
    if (!run->groups.labels || run->groups.points != run->in.particles.n || sampled < 0) {
        return NULL;
    }
    if (p->labelled != sampled) {
        for (int64_t k = 0; k < p->chosen; k++) {
            p->labels[k] = run->groups.labels[p->choice.index[k]];
        }
        p->labelled = viewer_tags_follow(&p->tags, p->labels, p->chosen) ? sampled : -1;
    }
    return p->labelled == sampled ? p->tags.tag : NULL;
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
    p->inspected = view->inspected;
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
    memset(p->range, 0, sizeof p->range);
    viewer_tags_free(&p->tags);
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
    viewer_tags_free(&p->tags);
    free(p->labels);
}
