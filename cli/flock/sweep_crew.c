/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The threads of a crew: each takes a run, makes it without the lock, and gives its answer.
 */
#include "sweep_crew.h"

#include "common/engine.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_SIDE_BY_SIDE = 20000
}; /* boids of a flock that one thread flies: a larger one occupies
                                       several threads */

int64_t sweep_most_boids(const sweep *s)
{
    int64_t most = 0;
    for (int v = 0; v < s->n; v++) {
        most = s->value[v].boids > most ? s->value[v].boids : most;
    }
    return most;
}

int sweep_lanes(const kith_ctx *ctx, int64_t most_boids, int64_t runs)
{
    const int threads = kith_threads(ctx);
    const bool small = strncmp(kith_backend(ctx), "cpu", 3) == 0 && most_boids <= MOST_SIDE_BY_SIDE;
    return !small || runs < 1 ? 1 : runs < threads ? (int)runs : threads;
}

/** sweep_progress: count the steps. */
static int count_steps(void *user, int64_t steps)
{
    sweep_crew *c = user;
    pthread_mutex_lock(&c->lock);
    c->steps += steps;
    const bool stop = (c->watch && c->watch(c)) || c->stop;
    pthread_mutex_unlock(&c->lock);
    return stop;
}

/** Make runs until there are no more. */
static void *make_runs(void *user)
{
    const sweep_lane *lane = user;
    sweep_crew *c = lane->crew;
    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        sweep_flock *flock = c->take(c);
        if (flock) {
            sweep_answer answer;
            pthread_mutex_unlock(&c->lock);
            sweep_run(c->s, flock, lane->ctx, count_steps, c, &answer);
            sweep_flock_free(flock);
            pthread_mutex_lock(&c->lock);
            c->give(c, &answer);
        } else if (c->waits) {
            pthread_cond_wait(&c->more, &c->lock);
        } else {
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

bool sweep_crew_start(sweep_crew *c, kith_ctx *ctx, int wanted, bool caller)
{
    c->lane = calloc((size_t)wanted, sizeof *c->lane);
    c->n = 0;
    while (c->lane && c->n < wanted) {
        sweep_lane *lane = &c->lane[c->n];
        const bool alone = wanted == 1, called = caller && c->n == 0;
        *lane = (sweep_lane){.crew = c, .ctx = ctx};
        lane->own = !alone && engine_open_lane(ctx, &lane->ctx);
        lane->ctx = lane->own ? lane->ctx
                              : ctx; /* which serves the first lane where memory is short */
        if ((c->n > 0 && !lane->own) ||
            (!called && pthread_create(&lane->thread, NULL, make_runs, lane) != 0)) {
            kith_close(lane->own ? lane->ctx : NULL);
            break;
        }
        c->n++;
    }
    if (c->n == 0) {
        free(c->lane);
        c->lane = NULL;
    }
    return c->n > 0;
}

void sweep_crew_work(sweep_crew *c)
{
    (void)make_runs(&c->lane[0]);
}

void sweep_crew_stop(sweep_crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_broadcast(&c->more);
    pthread_mutex_unlock(&c->lock);
}

void sweep_crew_end(sweep_crew *c, bool caller)
{
    for (int k = 0; k < c->n; k++) {
        if (!caller || k > 0) {
            pthread_join(c->lane[k].thread, NULL);
        }
        kith_close(c->lane[k].own ? c->lane[k].ctx : NULL);
    }
    free(c->lane);
}
