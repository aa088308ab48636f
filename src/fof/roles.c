/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends with roles, called by fof.c where the backend has no operation for them. Four
 * steps: list the particles that link and those that are attached; with min_links, count by a pair
 * search the friends of each linking particle, and attach those that have too few; have the backend
 * group the linking particles, without roles; give each attached particle the label of its nearest
 * linking friend, found by a pair search between the two sets. Coincident particles are merged
 * before each pair search (distinct.h). O(n + pairs of distinct positions).
 */
#include <string.h>

#include "groups.h"
#include "pairs/pairs.h"
#include "distinct.h"
#include "nearest_friend.h"
#include "engine/bounds.h"

/* Pairs in each block that the search passes to count_links and find_nearest. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Numbers of buffers of the context's scratch memory. LINK, ATTACH, MERGED: selection.index of the
 *  two selections, and of `attach` after demote. LINKS, NEAREST, NEAREST_FRIEND: arrays of struct
 *  role_search. POINTS, IDS, VELOCITIES: copies of the data of the linking particles.
 *  LINK_DISTINCT, ATTACH_DISTINCT: first buffers of their distinct positions. */
enum {
    LINK = KITH_FOF_ROLES_BUFFER,
    ATTACH,
    MERGED,
    LINKS,
    NEAREST,
    NEAREST_FRIEND,
    POINTS,
    IDS,
    VELOCITIES,
    LINK_DISTINCT,
    ATTACH_DISTINCT = LINK_DISTINCT + KITH_DISTINCT_BUFFERS,
    BUFFERS_END = ATTACH_DISTINCT + KITH_DISTINCT_BUFFERS
};
_Static_assert((int)BUFFERS_END <= (int)KITH_FOF_PAIRS_BUFFER,
               "every purpose needs its own buffer");

/** The particles of one role. */
struct selection {
    int64_t n;                      /**< particles selected */
    int32_t *index;                 /**< [n] caller's index of each, ascending */
    struct kith__distinct distinct; /**< their distinct positions */
};

/** State of one search with roles. */
struct role_search {
    const struct kith__question *q; /**< points, box and linking length */
    const struct kith__fof *fof;    /**< options */
    struct selection link;          /**< particles that link others */
    struct selection attach;        /**< particles that are attached to the nearest friend */
    int64_t *links;  /**< [link.distinct.n] number of linking friends of a particle at each distinct
                          position of `link` */
    double *nearest; /**< [attach.distinct.n] squared distance from each distinct position of
                          `attach` to the nearest friend that links [length^2] */
    /** [attach.distinct.n] caller's index of that friend; -1: none so far. */
    int32_t *nearest_friend;
};

/** Allocate scratch memory for n elements of `size` bytes.
 *  @param buffer    number of the buffer
 *  @param[out] out  address of the pointer to set, of any type */
static kith_status need(kith_ctx *ctx, int buffer, int64_t n, size_t size, void *out)
{
    void *data = kith__work_need(&ctx->work, buffer, (size_t)n * size);
    KITH_CHECK(ctx, data != NULL, KITH_NO_MEMORY, "out of memory for the roles of %lld particles",
               (long long)n);
    memcpy(out, &data, sizeof data);
    return KITH_OK;
}

static int role_of(const struct role_search *search, int64_t p)
{
    return search->fof->roles ? search->fof->roles[p] : KITH_LINK;
}

/** List the particles of each role. */
static kith_status select_roles(kith_ctx *ctx, struct role_search *search)
{
    struct selection *const to[] = {
        [KITH_LINK] = &search->link, [KITH_ATTACH] = &search->attach, [KITH_IGNORE] = NULL};
    for (int64_t p = 0; p < search->q->a.n; p++) {
        struct selection *s = to[role_of(search, p)];
        if (s) {
            s->n++;
        }
    }
    KITH_TRY(need(ctx, LINK, search->link.n, sizeof(int32_t), &search->link.index));
    KITH_TRY(need(ctx, ATTACH, search->attach.n, sizeof(int32_t), &search->attach.index));
    search->link.n = search->attach.n = 0;
    for (int64_t p = 0; p < search->q->a.n; p++) {
        struct selection *s = to[role_of(search, p)];
        if (s) {
            s->index[s->n++] = (int32_t)p;
        }
    }
    return KITH_OK;
}

/** Find the distinct positions of a selection. */
static kith_status find_distinct(kith_ctx *ctx, const struct role_search *search,
                                 struct selection *s, int buffer)
{
    return kith__distinct_find(ctx, search->q, search->fof->velocities, s->index, s->n, buffer,
                               &s->distinct);
}

/** Move the particles with fewer than min_links links from `link` to `attach`, by a merge: both
 *  lists stay in ascending order. */
static kith_status demote(kith_ctx *ctx, struct role_search *search)
{
    struct selection *link = &search->link;
    struct selection *attach = &search->attach;
    int32_t *merged = NULL;
    KITH_TRY(need(ctx, MERGED, link->n + attach->n, sizeof *merged, &merged));
    int64_t kept = 0;
    int64_t n = 0;
    int64_t other = 0;
    for (int64_t at = 0; at < link->n; at++) {
        const int32_t p = link->index[at];
        if (search->links[link->distinct.of[at]] >= search->fof->min_links) {
            link->index[kept++] = p;
            continue;
        }
        while (other < attach->n && attach->index[other] < p) {
            merged[n++] = attach->index[other++];
        }
        merged[n++] = p;
    }
    while (other < attach->n) {
        merged[n++] = attach->index[other++];
    }
    attach->index = merged;
    attach->n = n;
    link->n = kept;
    return KITH_OK;
}

/** kith_block_fn: for each pair of distinct positions that are friends, add the number of particles
 *  at one to the links of the other. A friend counts once for each of its images within reach. */
static int count_links(void *user, const kith_pairs *block, int64_t first)
{
    const struct role_search *search = user;
    const struct kith__distinct *distinct = &search->link.distinct;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t i = block->i[p];
        const int32_t j = block->j[p];
        double r2;
        if (!kith__are_friends(search->q, search->fof, block, p, distinct->first[i],
                               distinct->first[j], &r2)) {
            continue;
        }
        /* i == j: a position and its image are friends. The half list holds one pair for an image
         * and its opposite, hence 2; an image of a particle is no friend of the particle, hence
         * - 1. */
        if (i == j) {
            search->links[i] += 2 * ((int64_t)distinct->count[i] - 1);
        } else {
            search->links[i] += distinct->count[j];
            search->links[j] += distinct->count[i];
        }
    }
    return 0;
}

/** kith_block_fn: keep the nearest linking friend of each distinct position of `attach`; of equally
 *  near ones the one of the smallest index. Pairs are of a position of `attach`, i, and one of
 *  `link`, j. */
static int find_nearest(void *user, const kith_pairs *block, int64_t first)
{
    const struct role_search *search = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t at = block->i[p];
        const int32_t j = search->link.distinct.first[block->j[p]];
        double r2;
        if (kith__are_friends(search->q, search->fof, block, p, search->attach.distinct.first[at],
                              j, &r2) &&
            kith__is_nearer_friend(r2, j, search->nearest[at], search->nearest_friend[at])) {
            search->nearest[at] = r2;
            search->nearest_friend[at] = j;
        }
    }
    return 0;
}

/** Pass all pairs of distinct positions within the linking length, with their vectors, to a
 *  callback. Velocities are not tested here.
 *  @param a, b  equal: the pairs within the set, each once; else the pairs between the two sets
 *  @param fn    the callback; its `user` is the search */
static kith_status each_pair(kith_ctx *ctx, struct role_search *search,
                             const struct kith__distinct *a, const struct kith__distinct *b,
                             kith_block_fn fn)
{
    struct kith__question question = *search->q;
    question.subcell = 0;
    question.a = kith_points_packed(a->xyz, a->n, question.precision);
    question.b = kith_points_packed(b->xyz, b->n, question.precision);
    question.cross = a != b;
    const struct kith__list list = {
        .full = question.cross, .extras = KITH_VECTORS, .block_pairs = BLOCK_PAIRS};
    return ctx->backend->pairs->each(ctx, &question, &list, fn, search);
}

/** List the particles that link and those that are attached. */
static kith_status select_linking(kith_ctx *ctx, struct role_search *search)
{
    KITH_TRY(select_roles(ctx, search));
    KITH_TRY(kith__proceed(ctx));
    if (search->fof->min_links == 0) {
        return KITH_OK;
    }
    struct selection *link = &search->link;
    KITH_TRY(find_distinct(ctx, search, link, LINK_DISTINCT));
    KITH_TRY(need(ctx, LINKS, link->distinct.n, sizeof *search->links, &search->links));
    for (int64_t s = 0; s < link->distinct.n; s++) {
        search->links[s] = link->distinct.count[s] - 1;
    }
    KITH_TRY(each_pair(ctx, search, &link->distinct, &link->distinct, count_links));
    return demote(ctx, search);
}

/** Move the labels of the linking particles, which fill the first link->n entries, to the caller's
 *  order; all other labels become 0. In place: runs from the end, as link->index[at] >= at. */
static void scatter_labels(const struct selection *link, int64_t n, int32_t *labels)
{
    int64_t at = link->n - 1;
    for (int64_t p = n - 1; p >= 0; p--) {
        const bool links = at >= 0 && link->index[at] == p;
        labels[p] = links ? labels[at--] : 0;
    }
}

/** Group the particles that link, by a call of the backend with copies of their data. Sets out,
 *  with the labels of all particles in the caller's order; those that do not link have label 0. */
static kith_status group(kith_ctx *ctx, const struct role_search *search, kith_groups *out)
{
    enum { COPY = 10 }; /* cost of one copy for kith__skip [about 1 ns] */
    const struct selection *link = &search->link;
    const size_t size = 3 * (size_t)search->q->precision;
    const char *from = search->fof->velocities;
    struct kith__question question = *search->q;
    struct kith__fof fof = *search->fof;
    char *xyz = NULL;
    char *velocities = NULL;
    int64_t *ids = NULL;
    /* room for the labels of all particles: the backend then reuses the array for fewer labels */
    KITH_TRY(kith__groups_need(ctx, search->q->a.n, out));
    KITH_TRY(need(ctx, POINTS, link->n, size, &xyz));
    for (int64_t at = 0; at < link->n && !kith__skip(ctx, at, COPY); at++) {
        kith__distinct_copy(search->q, link->index[at], xyz + (size_t)at * size);
    }
    if (fof.ids) {
        KITH_TRY(need(ctx, IDS, link->n, sizeof *ids, &ids));
    }
    for (int64_t at = 0; at < link->n && ids && !kith__skip(ctx, at, COPY); at++) {
        ids[at] = fof.ids[link->index[at]];
    }
    if (from) {
        KITH_TRY(need(ctx, VELOCITIES, link->n, size, &velocities));
    }
    for (int64_t at = 0; at < link->n && velocities && !kith__skip(ctx, at, COPY); at++) {
        memcpy(velocities + (size_t)at * size, from + (size_t)link->index[at] * size, size);
    }
    KITH_TRY(kith__proceed(ctx));
    question.a = question.b = kith_points_packed(xyz, link->n, question.precision);
    fof.ids = ids;
    fof.velocities = velocities;
    KITH_TRY(ctx->backend->fof->find(ctx, &question, &fof, out));
    out->points = search->q->a.n;
    scatter_labels(link, out->points, out->labels);
    return KITH_OK;
}

/** Find the nearest friend that links of each distinct position of `attach`. */
static kith_status find_nearest_friends(kith_ctx *ctx, struct role_search *search)
{
    struct selection *a = &search->attach;
    KITH_TRY(find_distinct(ctx, search, a, ATTACH_DISTINCT));
    KITH_TRY(find_distinct(ctx, search, &search->link, LINK_DISTINCT));
    KITH_TRY(need(ctx, NEAREST, a->distinct.n, sizeof *search->nearest, &search->nearest));
    KITH_TRY(need(ctx, NEAREST_FRIEND, a->distinct.n, sizeof *search->nearest_friend,
                  &search->nearest_friend));
    for (int64_t s = 0; s < a->distinct.n; s++) {
        search->nearest_friend[s] = -1;
    }
    return each_pair(ctx, search, &a->distinct, &search->link.distinct, find_nearest);
}

/** Give each attached particle the label of its nearest friend that links; 0 if it has none. */
static kith_status attach(kith_ctx *ctx, struct role_search *search, kith_groups *out)
{
    const struct selection *a = &search->attach;
    KITH_TRY(find_nearest_friends(ctx, search));
    for (int64_t at = 0; at < a->n; at++) {
        const int32_t nearest_friend = search->nearest_friend[a->distinct.of[at]];
        out->labels[a->index[at]] = nearest_friend < 0 ? 0 : out->labels[nearest_friend];
    }
    return KITH_OK;
}

kith_status kith__fof_demote(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__fof *fof, uint8_t *roles)
{
    struct role_search search = {.q = q, .fof = fof};
    KITH_TRY(select_linking(ctx, &search));
    for (int64_t at = 0; at < search.attach.n; at++) {
        roles[search.attach.index[at]] = KITH_ATTACH;
    }
    return KITH_OK;
}

kith_status kith__fof_nearest(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__fof *fof, int32_t *nearest)
{
    struct role_search search = {.q = q, .fof = fof};
    KITH_TRY(select_roles(ctx, &search));
    for (int64_t p = 0; p < q->a.n; p++) {
        nearest[p] = -1;
    }
    if (search.attach.n == 0) {
        return KITH_OK;
    }
    KITH_TRY(find_nearest_friends(ctx, &search));
    for (int64_t at = 0; at < search.attach.n; at++) {
        nearest[search.attach.index[at]] = search.nearest_friend[search.attach.distinct.of[at]];
    }
    return KITH_OK;
}

kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct role_search search = {.q = q, .fof = fof};
    /* checked here, so that messages name particles by the caller's index: later questions are of
     * copies of some particles */
    KITH_TRY(kith__bounds_check(ctx, q));
    KITH_TRY(select_linking(ctx, &search));
    KITH_TRY(group(ctx, &search, out));
    return search.attach.n > 0 ? attach(ctx, &search, out) : KITH_OK;
}
