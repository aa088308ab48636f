/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Roles in the search for groups. Links are counted, and the nearest are found, by the pair search:
 * particles that link among themselves, then those that are attached against them.
 */
#include "roles.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "groups.h"

/* Pairs handed over at once while links are counted or the nearest are sought. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Some of the particles, packed. */
struct selection {
    int64_t n;
    int32_t *index; /**< [n] with the caller; ascending */
    char *xyz;      /**< [n][3] */
};

/** The particles by role. */
struct cast {
    const struct kith__question *q;
    const struct kith__fof *fof;
    struct selection link, attach;
    int64_t *links;  /**< [link.n] others that link and are friends; or NULL */
    double *nearest; /**< [attach.n] squared distance to the nearest that links, */
    int32_t *whom;   /**< [attach.n] and its index with the caller; -1: none yet */
};

static void free_cast(struct cast *cast)
{
    free(cast->link.index);
    free(cast->link.xyz);
    free(cast->attach.index);
    free(cast->attach.xyz);
    free(cast->links);
    free(cast->nearest);
    free(cast->whom);
}

/** Check all coordinates, so that a failure names the particle as the caller counts. */
static kith_status check_all(kith_ctx *ctx, const struct kith__question *q)
{
    struct kith__survey survey = {.bad = INT64_MAX, .far = INT64_MAX};
    for (int64_t p = 0; p < q->a.n; p++) {
        int32_t image[3];
        if (q->precision == KITH_FLOAT) {
            float r[3];
            const int fits = kith__load_f(&q->box_f, &q->a, q->dim, p, r, image);
            kith__survey_add_f(&q->box_f, p, r, fits, image, &survey);
        } else {
            double r[3];
            const int fits = kith__load_d(&q->box_d, &q->a, q->dim, p, r, image);
            kith__survey_add_d(&q->box_d, p, r, fits, image, &survey);
        }
    }
    if (survey.bad != INT64_MAX) {
        return kith__refuse(ctx, q, "points", KITH_NOT_FINITE, survey.bad);
    }
    return survey.far == INT64_MAX ? KITH_OK
                                   : kith__refuse(ctx, q, "points", KITH_LIMIT, survey.far);
}

/** Pack the particles of a selection. */
static bool pack(const struct kith__question *q, struct selection *s)
{
    const size_t size = (size_t)q->precision;
    const char *const axis[3] = {q->a.x, q->a.y, q->a.z};
    const int dim = q->dim == 2 ? 2 : 3;
    s->xyz = calloc((size_t)s->n + 1, 3 * size);
    for (int64_t at = 0; s->xyz && at < s->n; at++) {
        const size_t from = (size_t)(s->index[at] * q->a.stride) * size;
        for (int k = 0; k < dim; k++) {
            memcpy(s->xyz + (3 * (size_t)at + (size_t)k) * size, axis[k] + from, size);
        }
    }
    return s->xyz != NULL;
}

/** Select the particles by role. */
static bool select_roles(struct cast *cast)
{
    const int64_t n = cast->q->a.n;
    const uint8_t *roles = cast->fof->roles;
    cast->link.index = malloc(((size_t)n + 1) * sizeof *cast->link.index);
    cast->attach.index = malloc(((size_t)n + 1) * sizeof *cast->attach.index);
    if (!cast->link.index || !cast->attach.index) {
        return false;
    }
    for (int64_t p = 0; p < n; p++) {
        const int role = roles ? roles[p] : KITH_LINK;
        if (role != KITH_IGNORE) {
            struct selection *to = role == KITH_LINK ? &cast->link : &cast->attach;
            to->index[to->n++] = (int32_t)p;
        }
    }
    return pack(cast->q, &cast->link);
}

/** Move those that link but have too few links to those that are attached. */
static bool demote(struct cast *cast)
{
    struct selection *link = &cast->link;
    struct selection *attach = &cast->attach;
    int32_t *merged = malloc(((size_t)cast->q->a.n + 1) * sizeof *merged);
    if (!merged) {
        return false;
    }
    int64_t kept = 0;
    int64_t n = 0;
    int64_t other = 0;
    for (int64_t at = 0; at < link->n; at++) {
        const int32_t p = link->index[at];
        if (cast->links[at] >= cast->fof->min_links) {
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
    free(attach->index);
    *attach = (struct selection){.n = n, .index = merged};
    link->n = kept;
    free(link->xyz);
    return pack(cast->q, link);
}

/** Are particles i and j friends? From pair p of a block with vectors; *r2 receives their squared
 *  distance. */
static bool are_friends(const struct cast *cast, const kith_pairs *block, int64_t p, int64_t i,
                        int64_t j, double *r2)
{
    const struct kith__fof *fof = cast->fof;
    if (cast->q->precision == KITH_FLOAT) {
        const float *d = (const float *)block->vectors + 3 * p;
        const float square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        const float *v = fof->velocities;
        *r2 = (double)square;
        return !v || kith__phase_f(square, (float)cast->q->cutoff, v + 3 * i, v + 3 * j,
                                   (float)fof->velocity_length) <= 1;
    }
    const double *d = (const double *)block->vectors + 3 * p;
    const double *v = fof->velocities;
    *r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    return !v ||
           kith__phase_d(*r2, cast->q->cutoff, v + 3 * i, v + 3 * j, fof->velocity_length) <= 1;
}

static int count_links(void *user, const kith_pairs *block, int64_t first)
{
    const struct cast *cast = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t i = block->i[p];
        const int32_t j = block->j[p];
        double r2;
        if (i != j && are_friends(cast, block, p, cast->link.index[i], cast->link.index[j], &r2)) {
            cast->links[i]++;
            cast->links[j]++;
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
        const int32_t j = cast->link.index[block->j[p]];
        double r2;
        if (are_friends(cast, block, p, cast->attach.index[at], j, &r2) &&
            (cast->whom[at] < 0 || r2 < cast->nearest[at] ||
             (r2 <= cast->nearest[at] && j < cast->whom[at]))) {
            cast->nearest[at] = r2;
            cast->whom[at] = j;
        }
    }
    return 0;
}

/** Hand all pairs of a selection, or of one against another, to fn, with their vectors. */
static kith_status each_pair(kith_ctx *ctx, struct cast *cast, const struct selection *a,
                             const struct selection *b, kith_block_fn fn)
{
    struct kith__question question = *cast->q;
    question.part = 0;
    question.a = kith_points_packed(a->xyz, a->n, question.precision);
    question.b = kith_points_packed(b->xyz, b->n, question.precision);
    question.cross = a != b;
    const struct kith__list list = {
        .full = question.cross, .extras = KITH_VECTORS, .block_pairs = BLOCK_PAIRS};
    return ctx->backend->pairs_each(ctx, &question, &list, fn, cast);
}

/** Decide who links. */
static kith_status cast_roles(kith_ctx *ctx, struct cast *cast)
{
    bool fits = select_roles(cast);
    if (fits && cast->fof->min_links > 0) {
        cast->links = calloc((size_t)cast->link.n + 1, sizeof *cast->links);
        fits = cast->links != NULL;
        if (fits) {
            KITH_TRY(each_pair(ctx, cast, &cast->link, &cast->link, count_links));
            fits = demote(cast);
        }
    }
    fits = fits && pack(cast->q, &cast->attach);
    KITH_CHECK(ctx, fits, KITH_NO_MEMORY, "out of memory for the roles of %lld particles",
               (long long)cast->q->a.n);
    return KITH_OK;
}

/** Group those that link. */
static kith_status group(kith_ctx *ctx, const struct cast *cast, kith_groups *out)
{
    const struct selection *link = &cast->link;
    const size_t size = 3 * (size_t)cast->q->precision;
    struct kith__question question = *cast->q;
    question.a = question.b = kith_points_packed(link->xyz, link->n, question.precision);
    struct kith__fof fof = *cast->fof;
    int64_t *ids = fof.ids ? malloc(((size_t)link->n + 1) * sizeof *ids) : NULL;
    char *velocities = fof.velocities ? malloc(((size_t)link->n + 1) * size) : NULL;
    kith_groups found = {0};
    kith_status status = KITH_NO_MEMORY;
    if ((fof.ids && !ids) || (fof.velocities && !velocities)) {
        (void)kith__fail(ctx, status, "out of memory to group %lld particles", (long long)link->n);
        goto done;
    }
    for (int64_t at = 0; at < link->n && ids; at++) {
        ids[at] = fof.ids[link->index[at]];
    }
    for (int64_t at = 0; at < link->n && velocities; at++) {
        memcpy(velocities + (size_t)at * size,
               (const char *)fof.velocities + (size_t)link->index[at] * size, size);
    }
    fof.ids = ids;
    fof.velocities = velocities;
    KITH_GO(ctx->backend->fof_find(ctx, &question, &fof, &found));
    KITH_GO(kith__groups_number(ctx, found.n, out));
    for (int64_t at = 0; at < link->n; at++) {
        out->labels[link->index[at]] = found.labels[at];
    }
    memcpy(out->members, found.members, (size_t)found.n * sizeof *out->members);
done:
    kith_groups_free(&found);
    free(ids);
    free(velocities);
    return status;
}

/** Give each attached particle the label of the nearest that links and is its friend. */
static kith_status attach(kith_ctx *ctx, struct cast *cast, kith_groups *out)
{
    const int64_t n = cast->attach.n;
    cast->nearest = malloc(((size_t)n + 1) * sizeof *cast->nearest);
    cast->whom = malloc(((size_t)n + 1) * sizeof *cast->whom);
    KITH_CHECK(ctx, cast->nearest && cast->whom, KITH_NO_MEMORY,
               "out of memory to attach %lld particles", (long long)n);
    for (int64_t at = 0; at < n; at++) {
        cast->whom[at] = -1;
    }
    KITH_TRY(each_pair(ctx, cast, &cast->attach, &cast->link, find_nearest));
    for (int64_t at = 0; at < n; at++) {
        out->labels[cast->attach.index[at]] = cast->whom[at] < 0 ? 0 : out->labels[cast->whom[at]];
    }
    return KITH_OK;
}

kith_status kith__fof_by_roles(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct cast cast = {.q = q, .fof = fof};
    kith_status status;
    KITH_TRY(kith__groups_need(ctx, q->a.n, out));
    memset(out->labels, 0, (size_t)q->a.n * sizeof *out->labels);
    KITH_GO(check_all(ctx, q));
    KITH_GO(cast_roles(ctx, &cast));
    KITH_GO(group(ctx, &cast, out));
    KITH_GO(attach(ctx, &cast, out));
done:
    free_cast(&cast);
    return status;
}
