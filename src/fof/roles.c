/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends with roles. The pair search counts the links of particles and finds the
 * nearest linking particle of each attached one: first among the particles that link, then between
 * those that are attached and those that link. Coincident particles are merged before each search
 * (spots.h). O(n + pairs of distinct positions).
 */
#include <string.h>

#include "groups.h"
#include "pairs/pairs.h"
#include "spots.h"
#include "engine/survey.h"

/* Pairs in each block that the search passes to count_links and find_nearest. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Slots of the context's scratch memory. */
enum {
    LINK = KITH_FOF_ROLES_SLOT,
    ATTACH,
    MERGED,
    LINKS,
    NEAREST,
    WHOM,
    POINTS,
    IDS,
    VELOCITIES,
    LINK_SPOTS,
    ATTACH_SPOTS = LINK_SPOTS + KITH_SPOTS_SLOTS,
    SLOTS_END = ATTACH_SPOTS + KITH_SPOTS_SLOTS
};
_Static_assert((int)SLOTS_END <= (int)KITH_FOF_PAIRS_SLOT, "every purpose needs its own buffer");

/** The particles of one role. */
struct selection {
    int64_t n;                /**< particles selected */
    int32_t *index;           /**< [n] caller's index of each, ascending */
    struct kith__spots spots; /**< their distinct positions */
};

/** State of one search with roles. */
struct cast {
    const struct kith__question *q; /**< points, box and linking length */
    const struct kith__fof *fof;    /**< options */
    struct selection link;          /**< particles that link others */
    struct selection attach;        /**< particles that are attached to the nearest friend */
    int64_t *links;  /**< [link.spots.n] friends that link, of one particle on each position */
    double *nearest; /**< [attach.spots.n] squared distance to the nearest friend that links
                          [length^2] */
    int32_t *whom;   /**< [attach.spots.n] caller's index of that friend; -1: none so far */
};

/** Allocate scratch memory for n elements of `size` bytes. @param[out] out  the pointer to set */
static kith_status need(kith_ctx *ctx, int slot, int64_t n, size_t size, void *out)
{
    void *data = kith__work_need(&ctx->work, slot, (size_t)n * size);
    KITH_CHECK(ctx, data != NULL, KITH_NO_MEMORY, "out of memory for the roles of %lld particles",
               (long long)n);
    memcpy(out, &data, sizeof data);
    return KITH_OK;
}

static int role_of(const struct cast *cast, int64_t p)
{
    return cast->fof->roles ? cast->fof->roles[p] : KITH_LINK;
}

/** List the particles of each role. */
static kith_status select_roles(kith_ctx *ctx, struct cast *cast)
{
    struct selection *const to[] = {
        [KITH_LINK] = &cast->link, [KITH_ATTACH] = &cast->attach, [KITH_IGNORE] = NULL};
    for (int64_t p = 0; p < cast->q->a.n; p++) {
        struct selection *s = to[role_of(cast, p)];
        if (s) {
            s->n++;
        }
    }
    KITH_TRY(need(ctx, LINK, cast->link.n, sizeof(int32_t), &cast->link.index));
    KITH_TRY(need(ctx, ATTACH, cast->attach.n, sizeof(int32_t), &cast->attach.index));
    cast->link.n = cast->attach.n = 0;
    for (int64_t p = 0; p < cast->q->a.n; p++) {
        struct selection *s = to[role_of(cast, p)];
        if (s) {
            s->index[s->n++] = (int32_t)p;
        }
    }
    return KITH_OK;
}

/** Find the distinct positions of a selection. */
static kith_status find_spots(kith_ctx *ctx, const struct cast *cast, struct selection *s, int slot)
{
    return kith__spots_find(ctx, cast->q, cast->fof->velocities, s->index, s->n, slot, &s->spots);
}

/** Move the particles with fewer than min_links links from `link` to `attach`; both lists stay in
 *  ascending order. */
static kith_status demote(kith_ctx *ctx, struct cast *cast)
{
    struct selection *link = &cast->link;
    struct selection *attach = &cast->attach;
    int32_t *merged = NULL;
    KITH_TRY(need(ctx, MERGED, link->n + attach->n, sizeof *merged, &merged));
    int64_t kept = 0;
    int64_t n = 0;
    int64_t other = 0;
    for (int64_t at = 0; at < link->n; at++) {
        const int32_t p = link->index[at];
        if (cast->links[link->spots.of[at]] >= cast->fof->min_links) {
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

/** kith_block_fn: add the friends of each pair of positions to the number of links. */
static int count_links(void *user, const kith_pairs *block, int64_t first)
{
    const struct cast *cast = user;
    const struct kith__spots *spots = &cast->link.spots;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t i = block->i[p];
        const int32_t j = block->j[p];
        double r2;
        if (!kith__are_friends(cast->q, cast->fof, block, p, spots->first[i], spots->first[j],
                               &r2)) {
            continue;
        }
        if (i == j) { /* periodic images: each pair counts both ways, less a particle's own image */
            cast->links[i] += 2 * ((int64_t)spots->many[i] - 1);
        } else {
            cast->links[i] += spots->many[j];
            cast->links[j] += spots->many[i];
        }
    }
    return 0;
}

/** kith_block_fn: keep the nearest linking friend of each attached position, ties by index. */
static int find_nearest(void *user, const kith_pairs *block, int64_t first)
{
    const struct cast *cast = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t at = block->i[p];
        const int32_t j = cast->link.spots.first[block->j[p]];
        double r2;
        if (kith__are_friends(cast->q, cast->fof, block, p, cast->attach.spots.first[at], j, &r2) &&
            (cast->whom[at] < 0 || r2 < cast->nearest[at] ||
             (r2 <= cast->nearest[at] && j < cast->whom[at]))) {
            cast->nearest[at] = r2;
            cast->whom[at] = j;
        }
    }
    return 0;
}

/** Pass all pairs of the positions a to fn, or, where b is another set, all pairs of a and b, with
 *  their vectors. */
static kith_status each_pair(kith_ctx *ctx, struct cast *cast, const struct kith__spots *a,
                             const struct kith__spots *b, kith_block_fn fn)
{
    struct kith__question question = *cast->q;
    question.part = 0;
    question.a = kith_points_packed(a->xyz, a->n, question.precision);
    question.b = kith_points_packed(b->xyz, b->n, question.precision);
    question.cross = a != b;
    const struct kith__list list = {
        .full = question.cross, .extras = KITH_VECTORS, .block_pairs = BLOCK_PAIRS};
    return ctx->backend->pairs->each(ctx, &question, &list, fn, cast);
}

/** List the particles that link and those that are attached. */
static kith_status cast_roles(kith_ctx *ctx, struct cast *cast)
{
    KITH_TRY(select_roles(ctx, cast));
    KITH_TRY(kith__proceed(ctx));
    if (cast->fof->min_links == 0) {
        return KITH_OK;
    }
    struct selection *link = &cast->link;
    KITH_TRY(find_spots(ctx, cast, link, LINK_SPOTS));
    KITH_TRY(need(ctx, LINKS, link->spots.n, sizeof *cast->links, &cast->links));
    for (int64_t s = 0; s < link->spots.n; s++) {
        cast->links[s] = link->spots.many[s] - 1;
    }
    KITH_TRY(each_pair(ctx, cast, &link->spots, &link->spots, count_links));
    return demote(ctx, cast);
}

/** Move the labels of the linking particles, which fill the first link->n entries, to the caller's
 *  order; all other labels become 0. */
static void spread_labels(const struct selection *link, int64_t n, int32_t *labels)
{
    int64_t at = link->n - 1;
    for (int64_t p = n - 1; p >= 0; p--) {
        const bool links = at >= 0 && link->index[at] == p;
        labels[p] = links ? labels[at--] : 0;
    }
}

/** Group the particles that link, by the backend. */
static kith_status group(kith_ctx *ctx, const struct cast *cast, kith_groups *out)
{
    enum { COPY = 10 }; /* cost of one copy, in the units of kith__skip */
    const struct selection *link = &cast->link;
    const size_t size = 3 * (size_t)cast->q->precision;
    const char *from = cast->fof->velocities;
    struct kith__question question = *cast->q;
    struct kith__fof fof = *cast->fof;
    char *xyz = NULL;
    char *velocities = NULL;
    int64_t *ids = NULL;
    KITH_TRY(kith__groups_need(ctx, cast->q->a.n, out));
    KITH_TRY(need(ctx, POINTS, link->n, size, &xyz));
    for (int64_t at = 0; at < link->n && !kith__skip(ctx, at, COPY); at++) {
        kith__spots_copy(cast->q, link->index[at], xyz + (size_t)at * size);
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
    out->points = cast->q->a.n;
    spread_labels(link, out->points, out->labels);
    return KITH_OK;
}

/** Give each attached particle the label of its nearest friend that links; 0 if it has none. */
static kith_status attach(kith_ctx *ctx, struct cast *cast, kith_groups *out)
{
    struct selection *a = &cast->attach;
    KITH_TRY(find_spots(ctx, cast, a, ATTACH_SPOTS));
    KITH_TRY(find_spots(ctx, cast, &cast->link, LINK_SPOTS));
    KITH_TRY(need(ctx, NEAREST, a->spots.n, sizeof *cast->nearest, &cast->nearest));
    KITH_TRY(need(ctx, WHOM, a->spots.n, sizeof *cast->whom, &cast->whom));
    for (int64_t s = 0; s < a->spots.n; s++) {
        cast->whom[s] = -1;
    }
    KITH_TRY(each_pair(ctx, cast, &a->spots, &cast->link.spots, find_nearest));
    for (int64_t at = 0; at < a->n; at++) {
        const int32_t whom = cast->whom[a->spots.of[at]];
        out->labels[a->index[at]] = whom < 0 ? 0 : out->labels[whom];
    }
    return KITH_OK;
}

kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct cast cast = {.q = q, .fof = fof};
    KITH_TRY(kith__survey_check(ctx, q)); /* here messages name particles by the caller's index */
    KITH_TRY(cast_roles(ctx, &cast));
    KITH_TRY(group(ctx, &cast, out));
    return cast.attach.n > 0 ? attach(ctx, &cast, out) : KITH_OK;
}
