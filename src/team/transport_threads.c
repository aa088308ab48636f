/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The transport between ranks that are threads of one process. Each collective function has three
 * steps: every rank publishes pointers to its arrays; a barrier; every rank copies what it needs
 * out of the arrays of the others; a second barrier, after which the arrays may change. A message
 * is one copy, without a buffer between.
 */
#include <kith.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"

enum { MOST_RANKS = 4096 }; /* limit that kith/team.h states */

/** What a rank publishes for one collective function. */
struct published {
    const void *from; /**< counts, gather: the array that others read */
    int64_t *inout;   /**< combine: [n] the array; each rank writes one piece of all arrays */
    const kith_parcel *parcel; /**< exchange: [parcels] the parcels that the rank sends */
    int64_t parcels;           /**< exchange: their number */
    int64_t n;                 /**< combine: elements, gather: bytes of the array; each rank checks
                                    that all ranks state one number */
};

/** State that all ranks share. */
struct shared {
    pthread_mutex_t lock; /**< guards arrived, generation, lost and open */
    pthread_cond_t next;  /**< signalled when a barrier opens or the ranks are lost */
    int ranks;            /**< number of ranks */
    int arrived;          /**< ranks that wait at the barrier */
    int64_t generation;   /**< barriers that have opened, by which a rank that waits finds that its
                               own has */
    bool lost;            /**< a rank aborted or closed: all barriers fail */
    int open;             /**< transports that are not closed; the last one frees the memory */
    struct published published[]; /**< [ranks] what each rank published last */
};

/** One rank's part of a transport: kith_transport.self. */
struct member {
    struct shared *shared; /**< what all ranks share */
    int rank;              /**< number of the rank */
    int64_t *cursor;       /**< [ranks] exchange: index of the next parcel in each rank's list that
                                may be for this rank */
};

/** Barrier: wait until all ranks have called this. @return 0, or 1 when a rank is lost */
static int wait_for_all(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    const int64_t generation = s->generation;
    if (!s->lost && ++s->arrived == s->ranks) {
        s->arrived = 0;
        s->generation++;
        pthread_cond_broadcast(&s->next);
    }
    while (!s->lost && s->generation == generation) {
        pthread_cond_wait(&s->next, &s->lock);
    }
    const int failed = s->generation == generation;
    pthread_mutex_unlock(&s->lock);
    return failed;
}

/** Publish this rank's arrays, and wait until all ranks have published theirs.
 *  @return 0, or 1 when a rank is lost */
static int publish(const struct member *m, struct published mine)
{
    m->shared->published[m->rank] = mine;
    return wait_for_all(m->shared);
}

/* The functions of a kith_transport, which kith/team.h describes. They return 0, or 1 when a rank
 * is lost. A rank also returns 1, after the second barrier, when the sizes that ranks state do not
 * fit its own. */

static int threads_counts(void *self, const int64_t *to, int64_t *from)
{
    const struct member *m = self;
    if (publish(m, (struct published){.from = to})) {
        return 1;
    }
    for (int r = 0; r < m->shared->ranks; r++) {
        from[r] = ((const int64_t *)m->shared->published[r].from)[m->rank];
    }
    return wait_for_all(m->shared);
}

static int threads_gather(void *self, const void *mine, int64_t bytes, void *all)
{
    const struct member *m = self;
    if (publish(m, (struct published){.from = mine, .n = bytes})) {
        return 1;
    }
    bool fits = true;
    for (int r = 0; r < m->shared->ranks; r++) {
        const struct published *other = &m->shared->published[r];
        fits = fits && other->n == bytes;
        if (fits && bytes > 0) {
            memcpy((char *)all + r * bytes, other->from, (size_t)bytes);
        }
    }
    return wait_for_all(m->shared) || !fits;
}

/** Return a sum that wraps, a minimum or a maximum. */
static int64_t combined(int op, int64_t a, int64_t b)
{
    if (op == KITH_SUM) {
        return (int64_t)((uint64_t)a + (uint64_t)b);
    }
    return (op == KITH_MIN) == (a < b) ? a : b;
}

/** kith_transport.combine: each rank combines one piece of the arrays, and writes the result into
 *  the arrays of all ranks: no other rank accesses that piece between the two barriers. */
static int threads_combine(void *self, int op, int64_t *inout, int64_t n)
{
    const struct member *m = self;
    struct shared *s = m->shared;
    if (publish(m, (struct published){.inout = inout, .n = n})) {
        return 1;
    }
    bool fits = true;
    for (int r = 0; r < s->ranks; r++) {
        fits = fits && s->published[r].n == n;
    }
    const int64_t end = fits ? kith__piece_begin(n, s->ranks, m->rank + 1) : 0;
    for (int64_t k = fits ? kith__piece_begin(n, s->ranks, m->rank) : 0; k < end; k++) {
        int64_t all = s->published[0].inout[k];
        for (int r = 1; r < s->ranks; r++) {
            all = combined(op, all, s->published[r].inout[k]);
        }
        for (int r = 0; r < s->ranks; r++) {
            s->published[r].inout[k] = all;
        }
    }
    return wait_for_all(s) || !fits;
}

static int threads_exchange(void *self, const kith_parcel *to, int64_t n_to, kith_parcel *from,
                            int64_t n_from, void *stream)
{
    const struct member *m = self;
    (void)stream;
    if (publish(m, (struct published){.parcel = to, .parcels = n_to})) {
        return 1;
    }
    bool fits = true;
    memset(m->cursor, 0, (size_t)m->shared->ranks * sizeof *m->cursor);
    for (int64_t k = 0; k < n_from && fits; k++) {
        const struct published *other = &m->shared->published[from[k].peer];
        int64_t *at = &m->cursor[from[k].peer];
        while (*at < other->parcels && other->parcel[*at].peer != m->rank) {
            ++*at;
        }
        fits = *at < other->parcels && other->parcel[*at].bytes == from[k].bytes;
        if (fits) {
            memcpy(from[k].data, other->parcel[(*at)++].data, (size_t)from[k].bytes);
        }
    }
    return wait_for_all(m->shared) || !fits;
}

static void threads_abort(void *self)
{
    struct shared *s = ((struct member *)self)->shared;
    pthread_mutex_lock(&s->lock);
    s->lost = true;
    pthread_cond_broadcast(&s->next);
    pthread_mutex_unlock(&s->lock);
}

static void threads_close(void *self)
{
    struct member *m = self;
    struct shared *s = m->shared;
    pthread_mutex_lock(&s->lock);
    s->lost = true; /* no barrier can open any more */
    pthread_cond_broadcast(&s->next);
    const bool last = --s->open == 0;
    pthread_mutex_unlock(&s->lock);
    if (last) {
        pthread_cond_destroy(&s->next);
        pthread_mutex_destroy(&s->lock);
        free(s);
    }
    free(m->cursor);
    free(m);
}

/** Make the part of one rank. @return NULL when there is no memory */
static struct member *new_member(struct shared *s, int rank)
{
    struct member *m = calloc(1, sizeof *m);
    int64_t *cursor = calloc((size_t)s->ranks, sizeof *cursor);
    if (!m || !cursor) {
        free(m);
        free(cursor);
        return NULL;
    }
    *m = (struct member){s, rank, cursor};
    return m;
}

/** Make what all ranks share, without transports. @return NULL when there is no memory */
static struct shared *new_shared(int ranks)
{
    struct shared *s = calloc(1, sizeof *s + (size_t)ranks * sizeof s->published[0]);
    if (s && pthread_mutex_init(&s->lock, NULL) != 0) {
        free(s);
        return NULL;
    }
    if (s && pthread_cond_init(&s->next, NULL) != 0) {
        pthread_mutex_destroy(&s->lock);
        free(s);
        return NULL;
    }
    if (s) {
        s->ranks = ranks;
        s->open = 1; /* for the maker, who drops it when all transports are made */
    }
    return s;
}

kith_status kith_transport_threads(int ranks, kith_transport *out)
{
    kith__clear_message();
    KITH_CHECK(NULL, out != NULL, KITH_INVALID, "kith_transport_threads: out is NULL");
    KITH_CHECK(NULL, ranks >= 1 && ranks <= MOST_RANKS, KITH_INVALID,
               "kith_transport_threads: ranks is %d, expected 1 to %d", ranks, (int)MOST_RANKS);
    memset(out, 0, (size_t)ranks * sizeof *out);
    struct shared *s = new_shared(ranks);
    KITH_CHECK(NULL, s != NULL, KITH_NO_MEMORY, "out of memory for %d ranks", ranks);
    int made = 0;
    for (; made < ranks; made++) {
        struct member *m = new_member(s, made);
        if (!m) {
            break;
        }
        s->open++;
        out[made] = (kith_transport){.size = sizeof *out,
                                     .self = m,
                                     .rank = made,
                                     .ranks = ranks,
                                     .counts = threads_counts,
                                     .exchange = threads_exchange,
                                     .gather = threads_gather,
                                     .combine = threads_combine,
                                     .abort = threads_abort,
                                     .close = threads_close};
    }
    if (made < ranks) {
        for (int r = 0; r < made; r++) {
            kith_transport_close(&out[r]);
        }
        pthread_cond_destroy(&s->next);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return kith__fail(NULL, KITH_NO_MEMORY, "out of memory for %d ranks", ranks);
    }
    s->open--;
    return KITH_OK;
}

void kith_transport_close(kith_transport *transport)
{
    if (transport) {
        if (transport->self && transport->close) {
            transport->close(transport->self);
        }
        memset(transport, 0, sizeof *transport);
    }
}
