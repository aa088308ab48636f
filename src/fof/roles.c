/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Roles in the search for groups. Links are counted, and the nearest are found, by the pair search:
 * particles that link among themselves, then those that are attached against them. Particles on one
 * spot are searched for once.
 */
#include <string.h>

#include "groups.h"
#include "pairs/pairs.h"
#include "spots.h"
#include "engine/survey.h"

/* Pairs handed over at once while links are counted or the nearest are sought. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Slots of the context's scratch. */
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

/** Some of the particles. */
struct selection {
    int64_t n;
    int32_t *index; /**< [n] with the caller; ascending */
    struct kith__spots spots;
};

/** The particles by role. */
struct cast {
    const struct kith__question *q;
    const struct kith__fof *fof;
    struct selection link, attach;
    int64_t *links;  /**< [link.spots.n] others that link and are friends */
    double *nearest; /**< [attach.spots.n] squared distance to the nearest that links, */
    int32_t *whom;   /**< [attach.spots.n] and its index with the caller; -1: none yet */
};

/** Scratch for n elements. */
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

/** Select the particles by role. */
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

static kith_status find_spots(kith_ctx *ctx, const struct cast *cast, struct selection *s, int slot)
{
    return kith__spots_find(ctx, cast->q, cast->fof->velocities, s->index, s->n, slot, &s->spots);
}

/** Move those that link but have too few links to those that are attached. */
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
        if (i == j) { /* images of one spot: both ways, without those of a particle itself */
            cast->links[i] += 2 * ((int64_t)spots->many[i] - 1);
        } else {
            cast->links[i] += spots->many[j];
            cast->links[j] += spots->many[i];
        }
    }
    return 0;
}

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

/** Hand all pairs of spots, or of one set of them against another, to fn, with their vectors. */
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

/** Decide who links. */
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

/** Label those that link, whose labels come first, at their places among all; 0 elsewhere. */
static void spread_labels(const struct selection *link, int64_t n, int32_t *labels)
{
    int64_t at = link->n - 1;
    for (int64_t p = n - 1; p >= 0; p--) {
        const bool links = at >= 0 && link->index[at] == p;
        labels[p] = links ? labels[at--] : 0;
    }
}

/** Group those that link. */
static kith_status group(kith_ctx *ctx, const struct cast *cast, kith_groups *out)
{
    enum { COPY = 10 }; /* cost */
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

/** Give each attached particle the label of the nearest that links and is its friend. */
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
    KITH_TRY(kith__survey_check(ctx, q)); /* names particles as the caller counts */
    KITH_TRY(cast_roles(ctx, &cast));
    KITH_TRY(group(ctx, &cast, out));
    return cast.attach.n > 0 ? attach(ctx, &cast, out) : KITH_OK;
}
