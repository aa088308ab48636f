/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorted lists of pairs: each rank holds its part of the list, and rank 0 merges blocks of them.
 */
#include "ranks_internal.h"

#include <stdlib.h>
#include <string.h>

/** The arrays of a list of pairs, and their number. */
enum { LIST_I, LIST_J, LIST_DISTANCES, LIST_VECTORS, LIST_SHIFTS, LIST_ARRAYS };

/** The list of a rank, sorted, on its way to rank 0. */
struct list {
    kith_team_pairs pairs;     /**< the list, in numbers of the rank at first */
    size_t size[LIST_ARRAYS];  /**< bytes of an element of each array; 0: not in the list */
    char *mine[LIST_ARRAYS];   /**< the arrays of the list, with numbers of all particles */
    int64_t at;                /**< first pair that has not travelled yet */
    int64_t room;              /**< rank 0: pairs of a block that fit */
    char *ranked[LIST_ARRAYS]; /**< rank 0: a block in the order of the ranks */
    char *merged[LIST_ARRAYS]; /**< rank 0: the block in the order of the list */
};

/** Put numbers of all particles into the list, and describe its arrays. */
static void describe_list(const struct job *job, struct list *list)
{
    kith_team_pairs *pairs = &list->pairs;
    const size_t real = (size_t)job->precision;
    const unsigned extras = job->pairs.extras;
    const int64_t *ids = pairs->ids_against ? pairs->ids_against : pairs->ids;
    for (int64_t p = 0; p < pairs->n; p++) {
        pairs->i[p] = (int32_t)pairs->ids[pairs->i[p]];
        pairs->j[p] = (int32_t)ids[pairs->j[p]];
    }
    list->size[LIST_I] = list->size[LIST_J] = sizeof *pairs->i;
    list->size[LIST_DISTANCES] = extras & KITH_DISTANCES ? real : 0;
    list->size[LIST_VECTORS] = extras & KITH_VECTORS ? 3 * real : 0;
    list->size[LIST_SHIFTS] = extras & KITH_SHIFTS ? 3 * sizeof *pairs->shifts : 0;
    list->mine[LIST_I] = (char *)pairs->i;
    list->mine[LIST_J] = (char *)pairs->j;
    list->mine[LIST_DISTANCES] = pairs->distances;
    list->mine[LIST_VECTORS] = pairs->vectors;
    list->mine[LIST_SHIFTS] = (char *)pairs->shifts;
}

/** Make room for the pairs of a block at rank 0. @return false: no memory */
static bool need_block(struct list *list, int64_t n)
{
    for (int a = 0; a < LIST_ARRAYS && n > list->room; a++) {
        free(list->ranked[a]);
        free(list->merged[a]);
        list->ranked[a] = malloc((size_t)n * list->size[a] + 1);
        list->merged[a] = malloc((size_t)n * list->size[a] + 1);
    }
    list->room = n > list->room ? n : list->room;
    bool fits = true;
    for (int a = 0; a < LIST_ARRAYS && list->room > 0; a++) {
        fits = fits && list->ranked[a] && list->merged[a];
    }
    return fits;
}

/** Merge the parts of the ranks by i: the pairs of one i come from one rank.
 *  @param next  [parts] first pair of each part; changed
 *  @param end   [parts] end of each part */
static void merge_block(const struct list *list, int parts, int64_t *next, const int64_t *end)
{
    const int32_t *i = (const int32_t *)(const void *)list->ranked[LIST_I];
    for (int64_t to = 0;;) {
        int least = -1;
        for (int k = 0; k < parts; k++) {
            least = next[k] < end[k] && (least < 0 || i[next[k]] < i[next[least]]) ? k : least;
        }
        if (least < 0) {
            return;
        }
        const int64_t from = next[least];
        while (next[least] < end[least] && i[next[least]] == i[from]) {
            next[least]++;
        }
        const int64_t n = next[least] - from;
        for (int a = 0; a < LIST_ARRAYS; a++) {
            const size_t size = list->size[a];
            memcpy(list->merged[a] + (size_t)to * size, list->ranked[a] + (size_t)from * size,
                   (size_t)n * size);
        }
        to += n;
    }
}

/** Bring the pairs with i below `end` that have not travelled yet to rank 0.
 *  @param[out] block  rank 0: the pairs, sorted */
static kith_status bring_block(struct ranks *r, struct list *list, int64_t end, kith_pairs *block)
{
    const kith_transport *t = &r->control;
    struct part part[MOST_RANKS];
    int64_t held[MOST_RANKS], first[MOST_RANKS], last[MOST_RANKS];
    int64_t n = 0, all = 0;
    while (list->at + n < list->pairs.n && list->pairs.i[list->at + n] < end) {
        n++;
    }
    RANKS_TRY(ranks__gather(r, &n, sizeof n, held));
    for (int k = 0; k < t->ranks; k++) {
        first[k] = all;
        all += held[k];
        last[k] = all;
    }
    RANKS_TRY(ranks__agree(r, ranks__got(t->rank > 0 || need_block(list, all) ? r : NULL)));
    for (int a = 0; a < LIST_ARRAYS; a++) {
        const size_t size = list->size[a];
        for (int k = 0; k < t->ranks && t->rank == 0 && size > 0; k++) {
            part[k] = (struct part){list->ranked[a] + (size_t)first[k] * size,
                                    held[k] * (int64_t)size};
        }
        if (size > 0) {
            char *mine = list->mine[a] + (size_t)list->at * size;
            if (t->rank == 0) {
                memcpy(list->ranked[a], mine, (size_t)n * size);
            } else {
                part[0] = (struct part){mine, n * (int64_t)size};
            }
            RANKS_TRY(ranks__agree(
                r, ranks__got(ranks__need_parcels(r, all * (int64_t)size) ? r : NULL)));
            RANKS_TRY(ranks__exchange(r, part, true));
        }
    }
    list->at += n;
    if (t->rank == 0) {
        merge_block(list, t->ranks, first, last);
    }
    *block = (kith_pairs){.n = all,
                          .i = (int32_t *)(void *)list->merged[LIST_I],
                          .j = (int32_t *)(void *)list->merged[LIST_J],
                          .distances = list->merged[LIST_DISTANCES],
                          .vectors = list->merged[LIST_VECTORS],
                          .shifts = (int32_t *)(void *)list->merged[LIST_SHIFTS],
                          .memory = KITH_HOST};
    return KITH_OK;
}

kith_status ranks__do_list(struct ranks *r, const struct job *job, kith_block_fn fn, void *user)
{
    struct list list = {.at = 0};
    kith_points points, against;
    kith_pairs_options o = job->pairs;
    RANKS_TRY(ranks__scatter_points(r, job, &points));
    RANKS_TRY(ranks__scatter_against(r, job, &against, &o.against));
    RANKS_TRY(ranks__scatter_rules(r, job, &o));
    kith_status status = kith_team_pairs_find(r->team, &points, ranks__box_of(job), job->length, &o,
                                              &list.pairs);
    /* A block holds the pairs of `rows` consecutive i: about block_pairs pairs on average, fewer
     * where particles have less than one pair each. */
    const double each = (double)list.pairs.all / (double)(job->n > 0 ? job->n : 1);
    const int64_t rows = 1 + (int64_t)((double)job->pairs.block_pairs / (each > 1 ? each : 1));
    int64_t done = 0;
    describe_list(job, &list);
    for (int64_t first = 0; first < job->n && status == KITH_OK; first += rows) {
        kith_pairs block = {0};
        int64_t stop = 0;
        status = bring_block(r, &list, first + rows, &block);
        if (status == KITH_OK && r->control.rank == 0 && block.n > 0) {
            stop = fn(user, &block, done) != 0;
        }
        done += block.n;
        status = status == KITH_OK ? ranks__combine(r, KITH_MAX, &stop, 1) : status;
        status = status == KITH_OK && stop ? KITH_CANCELLED : status;
    }
    for (int a = 0; a < LIST_ARRAYS; a++) {
        free(list.ranked[a]);
        free(list.merged[a]);
    }
    kith_team_pairs_free(&list.pairs);
    return status;
}

kith_status ranks_pairs_each(ranks *r, kith_ctx *ctx, const kith_points *points,
                             const kith_box *box, double cutoff, const kith_pairs_options *how,
                             kith_block_fn fn, void *user)
{
    if (!r) {
        return kith_pairs_each(ctx, points, box, cutoff, how, fn, user);
    }
    struct job job = ranks__list_job(r, JOB_LIST, points, box, cutoff, how);
    RANKS_TRY(ranks__tell(r, &job));
    return ranks__do_list(r, &job, fn, user);
}
