/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs of a sweep over several ranks: rank 0 places the boids of each run and sends them to a rank
 * that has a thread to spare, which flies them and sends back the answer. So rank 0 alone reads
 * INPUT and writes, and a sweep over ranks has the files of one process.
 *
 * The main thread of each rank exchanges messages, while lanes make runs. A transport has
 * collective calls only, of known sizes: so messages are exchanged in rounds, some milliseconds one
 * after the other. A round:
 *
 *     1. all tell all how many lanes are free, and how many answers they have;
 *     2. answers go to rank 0;
 *     3. rank 0 tells each rank how many runs it gets, and whether the sweep has ended;
 *     4. if there are runs for any rank: their heads, an agreement that all have memory, their
 *        boids.
 */
#include "sweep_crew.h"

#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOST_DEALT = 64,      /* runs of a round: rank 0 holds their boids at one time */
    PAUSE_NS = 5000000,   /* between two rounds, where the first one had no runs [ns] */
    MOST_PARCEL = 1 << 30 /* largest parcel: MPI counts in int [bytes] */
};

/** What ranks have to know of the sweep before the first round. Its fields have 8 bytes. */
struct plan {
    int64_t samples, every, equilibrate; /**< steps of a run */
    int64_t most_boids, runs;            /**< for sweep_lanes */
    double flock_length, flock_velocity; /**< options of the task */
    int64_t flock_members;               /**< option of the task */
};

/** What a rank tells all others in each round. */
struct pulse {
    int64_t idle;    /**< lanes without a run; rank 0, which takes runs by itself: 0 */
    int64_t answers; /**< answers that it has for rank 0 */
    int64_t steps;   /**< steps made by its lanes */
};

/** What rank 0 tells a rank in each round. */
struct command {
    int64_t runs; /**< that it gets */
    int64_t all;  /**< that all ranks get */
    int64_t stop; /**< the sweep has ended */
};

/** The head of a run; positions follow, velocities, and species where the model has them. */
struct head {
    int64_t number;           /**< as in sweep_flock */
    char about[96];           /**< as in sweep_flock */
    flock_stage stage;        /**< the model; pointers in it are not used */
    kith_box space;           /**< as in flock_run */
    int64_t n;                /**< boids */
    int dim;                  /**< of the box */
    kith_precision precision; /**< of the boids */
};

/** The parcels of a call of the transport. */
struct parcels {
    kith_parcel *parcel; /**< [room] the parcels */
    int64_t n, room;     /**< their number; for how many there is room */
};

/** Add an array, in parcels of the largest size and a rest. @return false: no memory */
static bool add_array(struct parcels *p, int peer, void *data, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += MOST_PARCEL) {
        const int64_t left = bytes - at;
        if (p->n == p->room) {
            const int64_t room = 2 * p->room + 16;
            kith_parcel *more = realloc(p->parcel, (size_t)room * sizeof *more);
            if (!more) {
                return false;
            }
            p->parcel = more;
            p->room = room;
        }
        p->parcel[p->n++] = (kith_parcel){.peer = peer,
                                          .data = (char *)data + at,
                                          .bytes = left < MOST_PARCEL ? left : MOST_PARCEL};
    }
    return true;
}

/** Add the boids of a run. @return false: no memory */
static bool add_boids(struct parcels *p, int peer, const sweep_flock *flock)
{
    const io_particles *boids = &flock->run.in.particles;
    const int64_t bytes = 3 * boids->n * (int64_t)boids->precision;
    return add_array(p, peer, boids->pos, bytes) && add_array(p, peer, boids->velocity, bytes) &&
           add_array(p, peer, flock->run.species, flock->run.species ? boids->n : 0);
}

/** Make room for the parcels that each round may have without boids. @return false: no memory */
static bool reserve(struct parcels *p, const kith_transport *t)
{
    p->room = t->ranks + MOST_DEALT;
    p->parcel = malloc((size_t)p->room * sizeof *p->parcel);
    return p->parcel != NULL;
}

/** Send parcels, or receive them, and forget them. @return false: the transport has failed */
static bool trade(const kith_transport *t, struct parcels *p, bool sends)
{
    const int64_t n = p->n;
    p->n = 0;
    return t->exchange(t->self, sends ? p->parcel : NULL, sends ? n : 0, sends ? NULL : p->parcel,
                       sends ? 0 : n, NULL) == 0;
}

/** Make one of the states of all ranks. @param[in,out] good  this rank's; then: all are good
 *  @return false: the transport has failed */
static bool agree(const kith_transport *t, bool *good)
{
    int64_t least = *good;
    const bool works = t->combine(t->self, KITH_MIN, &least, 1) == 0;
    *good = least == 1;
    return works;
}

/** Tell all ranks what rank 0 plans. The sum of its numbers and the zeros of the other ranks needs
 *  no memory. @return false: the transport has failed */
static bool share_plan(const kith_transport *t, struct plan *plan)
{
    int64_t words[sizeof *plan / sizeof(int64_t)];
    memcpy(words, plan, sizeof words);
    const bool works = t->combine(t->self, KITH_SUM, words, sizeof words / sizeof *words) == 0;
    memcpy(plan, words, sizeof words);
    return works;
}

/** Wait for the next round. */
static void pause_round(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* -------------------------------------------------------------------------------------- rank 0 */

/** Rank 0 while it deals. */
struct dealer {
    const kith_transport *t;        /* the transport */
    sweep_crew *crew;               /* the lanes of this rank */
    struct pulse *pulse;            /* [ranks] of this round */
    struct command *command;        /* [ranks] of this round */
    sweep_answer *answer;           /* [lanes of all ranks] received answers */
    sweep_flock *flock[MOST_DEALT]; /* [command->all] runs of this round */
    int to[MOST_DEALT];             /* the rank that gets each */
    struct head head[MOST_DEALT];   /* their heads */
    struct parcels parcels;         /* of a call */
};

/** End all runs, as one of the ranks has no memory. */
static void lack_memory(const kith_transport *t, sweep_crew *c)
{
    sweep_answer lack = {.status = KITH_NO_MEMORY, .about = "--sweep"};
    snprintf(lack.message, sizeof lack.message, "out of memory on one of %d ranks", t->ranks);
    pthread_mutex_lock(&c->lock);
    c->give(c, &lack);
    pthread_mutex_unlock(&c->lock);
}

/** Receive the answers of this round, and give them to the crew.
 *  @return false: the transport has failed */
static bool collect_answers(struct dealer *d)
{
    const kith_transport *t = d->t;
    sweep_crew *c = d->crew;
    sweep_answer *end = d->answer;
    for (int k = 1; k < t->ranks; k++) {
        (void)add_array(&d->parcels, k, end, d->pulse[k].answers * (int64_t)sizeof *end);
        end += d->pulse[k].answers;
    }
    if (!trade(t, &d->parcels, false)) {
        return false;
    }
    pthread_mutex_lock(&c->lock);
    c->elsewhere = 0;
    for (int k = 1; k < t->ranks; k++) {
        c->elsewhere += d->pulse[k].steps;
    }
    for (const sweep_answer *a = d->answer; a < end; a++) {
        c->give(c, a);
    }
    (void)c->watch(c);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/** Choose the runs of this round: in turns, one for each rank that has an idle lane. */
static void choose_runs(struct dealer *d)
{
    sweep_crew *c = d->crew;
    int64_t n = 0;
    bool more = true;
    memset(d->command, 0, (size_t)d->t->ranks * sizeof *d->command);
    pthread_mutex_lock(&c->lock);
    while (more) {
        more = false;
        for (int k = 1; k < d->t->ranks && n < MOST_DEALT; k++) {
            sweep_flock *flock = d->command[k].runs < d->pulse[k].idle ? c->take(c) : NULL;
            if (flock) {
                d->flock[n] = flock;
                d->to[n++] = k;
                d->command[k].runs++;
                more = true;
            }
        }
    }
    for (int k = 0; k < d->t->ranks; k++) {
        d->command[k].all = n;
        d->command[k].stop = c->stop || c->left == 0;
    }
    pthread_mutex_unlock(&c->lock);
}

/** Describe a run, and add its head to the parcels. */
static void add_head(struct dealer *d, int64_t run)
{
    const sweep_flock *flock = d->flock[run];
    const io_particles *p = &flock->run.in.particles;
    struct head *head = &d->head[run];
    *head = (struct head){.number = flock->number,
                          .stage = flock->stage,
                          .space = flock->run.space,
                          .n = p->n,
                          .dim = p->dim,
                          .precision = p->precision};
    memcpy(head->about, flock->about, sizeof head->about);
    (void)add_array(&d->parcels, d->to[run], head, sizeof *head);
}

/** Send the runs of this round. @return false: the transport has failed */
static bool send_runs(struct dealer *d)
{
    const int64_t n = d->command[0].all;
    bool good = true;
    for (int64_t k = 0; k < n; k++) {
        add_head(d, k);
    }
    if (!trade(d->t, &d->parcels, true)) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        good = good && add_boids(&d->parcels, d->to[k], d->flock[k]);
    }
    if (!agree(d->t, &good)) {
        return false;
    }
    if (!good) {
        d->parcels.n = 0;
        lack_memory(d->t, d->crew);
    }
    return !good || trade(d->t, &d->parcels, true);
}

/** Make a round. @return false: the transport has failed */
static bool deal_round(struct dealer *d)
{
    const kith_transport *t = d->t;
    const struct pulse mine = {0};
    if (t->gather(t->self, &mine, sizeof mine, d->pulse) != 0 || !collect_answers(d)) {
        return false;
    }
    choose_runs(d);
    for (int k = 1; k < t->ranks; k++) {
        (void)add_array(&d->parcels, k, &d->command[k], sizeof *d->command);
    }
    bool works = trade(t, &d->parcels, true);
    works = works && (d->command[0].all == 0 || send_runs(d));
    for (int64_t k = 0; k < d->command[0].all; k++) {
        sweep_flock_free(d->flock[k]);
    }
    return works;
}

kith_status sweep_deal(const kith_transport *t, kith_ctx *ctx, void *user)
{
    sweep_crew *c = user;
    const sweep *s = c->s;
    const flock_task *task = s->task;
    struct plan plan = {.samples = s->samples,
                        .every = s->every,
                        .equilibrate = task->equilibrate,
                        .most_boids = sweep_most_boids(s),
                        .runs = c->left,
                        .flock_length = task->flock_length,
                        .flock_velocity = task->flock_velocity,
                        .flock_members = task->flock_members};
    struct dealer *d = calloc(1, sizeof *d);
    bool works = share_plan(t, &plan), good = d != NULL;
    good = sweep_crew_start(c, ctx, sweep_lanes(ctx, plan.most_boids, plan.runs), false) && good;
    int64_t lanes = c->n;
    works = works && t->combine(t->self, KITH_SUM, &lanes, 1) == 0;
    if (good && works) {
        d->t = t;
        d->crew = c;
        d->pulse = calloc((size_t)t->ranks, sizeof *d->pulse);
        d->command = calloc((size_t)t->ranks, sizeof *d->command);
        d->answer = malloc((size_t)lanes * sizeof *d->answer);
        good = reserve(&d->parcels, t) && d->pulse && d->command && d->answer;
    }
    works = works && agree(t, &good);
    if (works && !good) {
        lack_memory(t, c);
    }
    c->all = (int)lanes;
    for (bool stop = !good; works && !stop;) {
        works = deal_round(d);
        stop = d->command[0].stop;
        if (works && !stop && d->command[0].all == 0) {
            pause_round();
        }
    }
    sweep_crew_stop(c);
    sweep_crew_end(c, false);
    if (d) {
        free(d->parcels.parcel);
        free(d->pulse);
        free(d->command);
        free(d->answer);
        free(d);
    }
    return works ? KITH_OK : KITH_TEAM_LOST;
}

/* --------------------------------------------------------------------------------- other ranks */

/** A rank above 0 while it helps. */
struct helper {
    const kith_transport *t; /* the transport */
    flock_task task;         /* what flocks are flown by, and looked at */
    sweep s;                 /* how they are sampled */
    sweep_crew crew;         /* the lanes, whose lock guards the next fields */
    sweep_flock *queue;      /* runs that no lane has taken */
    int64_t held;            /* runs that have no answer */
    int64_t answers;         /* answers that are not sent */
    sweep_answer *answer;    /* [lanes] these */
    sweep_answer *sent;      /* [lanes] those that are sent in this round */
    struct pulse *pulse;     /* [ranks] of this round */
    struct head *head;       /* [lanes] of the runs of this round */
    struct parcels parcels;  /* of a call */
};

/** sweep_crew.take: the first run of the queue. */
static sweep_flock *take_received(sweep_crew *c)
{
    struct helper *h = c->user;
    sweep_flock *flock = h->queue;
    h->queue = flock ? flock->next : NULL;
    return flock;
}

/** sweep_crew.give: keep an answer for the next round. */
static void keep_answer(sweep_crew *c, const sweep_answer *answer)
{
    struct helper *h = c->user;
    h->answer[h->answers++] =
        *answer; /* at most one for each run that was held in the last round */
    h->held--;
}

/** Tell what this rank has, and send its answers. @return false: the transport has failed */
static bool report_round(struct helper *h)
{
    const kith_transport *t = h->t;
    sweep_crew *c = &h->crew;
    pthread_mutex_lock(&c->lock);
    const struct pulse mine = {.idle = c->n - h->held, .answers = h->answers, .steps = c->steps};
    memcpy(h->sent, h->answer, (size_t)h->answers * sizeof *h->sent);
    h->answers = 0;
    pthread_mutex_unlock(&c->lock);
    (void)add_array(&h->parcels, 0, h->sent, mine.answers * (int64_t)sizeof *h->sent);
    return t->gather(t->self, &mine, sizeof mine, h->pulse) == 0 && trade(t, &h->parcels, true);
}

/** Make the flock of a head, without boids. @return NULL: no memory */
static sweep_flock *receive_head(const struct helper *h, const struct head *head)
{
    sweep_flock *flock = calloc(1, sizeof *flock);
    if (!flock) {
        return NULL;
    }
    const size_t bytes = 3 * (size_t)head->n * (size_t)head->precision + 1;
    flock->number = head->number;
    memcpy(flock->about, head->about, sizeof flock->about);
    flock->stage = head->stage;
    flock->task = h->task;
    flock->task.start = flock->stage;
    flock->task.stage = &flock->stage;
    flock->task.n_stages = 1;
    flock->run = (flock_run){.saved = -1, .box = head->space, .space = head->space};
    flock->run.in.particles = (io_particles){.n = head->n,
                                             .dim = head->dim,
                                             .precision = head->precision,
                                             .pos = malloc(bytes),
                                             .velocity = malloc(bytes)};
    const bool has_species = head->stage.model.n_species > 0;
    flock->run.species = has_species ? malloc((size_t)head->n + 1) : NULL;
    if (!flock->run.in.particles.pos || !flock->run.in.particles.velocity ||
        (has_species && !flock->run.species)) {
        sweep_flock_free(flock);
        flock = NULL;
    }
    return flock;
}

/** Receive some runs, and give them to the lanes. @return false: the transport has failed */
static bool receive_runs(struct helper *h, int64_t n)
{
    sweep_crew *c = &h->crew;
    sweep_flock *first = NULL, **last = &first;
    bool good = true;
    for (int64_t k = 0; k < n; k++) {
        (void)add_array(&h->parcels, 0, &h->head[k], sizeof h->head[k]);
    }
    bool works = trade(h->t, &h->parcels, false);
    for (int64_t k = 0; k < n && works && good; k++) {
        sweep_flock *flock = receive_head(h, &h->head[k]);
        good = flock && add_boids(&h->parcels, 0, flock);
        *last = flock;
        last = flock ? &flock->next : last;
    }
    works = works && agree(h->t, &good);
    if (works && good) {
        works = trade(h->t, &h->parcels, false);
    }
    if (works && good) {
        pthread_mutex_lock(&c->lock);
        *last = h->queue;
        h->queue = first;
        h->held += n;
        pthread_cond_broadcast(&c->more);
        pthread_mutex_unlock(&c->lock);
        return true;
    }
    h->parcels.n = 0;
    while (first) {
        sweep_flock *next = first->next;
        sweep_flock_free(first);
        first = next;
    }
    return works;
}

/** Make a round. @param[out] command  what rank 0 says   @return false: the transport has failed */
static bool help_round(struct helper *h, struct command *command)
{
    if (!report_round(h)) {
        return false;
    }
    (void)add_array(&h->parcels, 0, command, sizeof *command);
    return trade(h->t, &h->parcels, false) && (command->all == 0 || receive_runs(h, command->runs));
}

/** Set what is made of the plan. */
static void set_helper(struct helper *h, const kith_transport *t, const struct plan *plan)
{
    h->t = t;
    h->task = (flock_task){.equilibrate = plan->equilibrate,
                           .sample = plan->samples * plan->every,
                           .flock_length = plan->flock_length,
                           .flock_velocity = plan->flock_velocity,
                           .flock_members = plan->flock_members};
    h->s = (sweep){.task = &h->task, .samples = plan->samples, .every = plan->every};
    h->crew = (sweep_crew){.s = &h->s,
                           .user = h,
                           .take = take_received,
                           .give = keep_answer,
                           .waits = true,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .more = PTHREAD_COND_INITIALIZER};
}

kith_status sweep_help(const kith_transport *t, kith_ctx *ctx, void *user)
{
    (void)user;
    struct plan plan = {0};
    struct helper *h = calloc(1, sizeof *h);
    bool works = share_plan(t, &plan), good = false;
    int64_t lanes = sweep_lanes(ctx, plan.most_boids, plan.runs);
    if (h) {
        h->crew.user = h; /* for take_received, also where the plan did not arrive */
    }
    if (h && works) {
        set_helper(h, t, &plan);
        h->answer = malloc((size_t)lanes * sizeof *h->answer);
        h->sent = malloc((size_t)lanes * sizeof *h->sent);
        h->head = malloc((size_t)lanes * sizeof *h->head);
        h->pulse = malloc((size_t)t->ranks * sizeof *h->pulse);
        good = reserve(&h->parcels, t) && h->answer && h->sent && h->head && h->pulse &&
               sweep_crew_start(&h->crew, ctx, (int)lanes, false);
        lanes = h->crew.n;
    }
    works = works && t->combine(t->self, KITH_SUM, &lanes, 1) == 0 && agree(t, &good);
    for (struct command command = {.stop = !good}; works && !command.stop;) {
        works = help_round(h, &command);
        if (works && !command.stop && command.all == 0) {
            pause_round();
        }
    }
    if (h) {
        sweep_crew_stop(&h->crew);
        sweep_crew_end(&h->crew, false);
        for (sweep_flock *flock; (flock = take_received(&h->crew)) != NULL;) {
            sweep_flock_free(flock);
        }
        free(h->answer);
        free(h->sent);
        free(h->head);
        free(h->pulse);
        free(h->parcels.parcel);
        free(h);
    }
    return works ? KITH_OK : KITH_TEAM_LOST;
}
