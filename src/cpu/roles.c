/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Roles in the search for groups. Links are counted, and the nearest are found, by the pair search:
 * particles that link among themselves, then those that are attached against them.
 */
#include "roles.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

/* Pairs handed over at once while links are counted or the nearest are sought. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Copy particle p of the caller's to place `at` of a packed array. */
static void pack(const kith_points *from, int dim, int64_t p, char *to, int64_t at)
{
    const size_t size = (size_t)from->precision;
    const void *const axis[3] = {from->x, from->y, from->z};
    to += (size_t)at * 3 * size;
    memset(to, 0, 3 * size);
    for (int k = 0; k < dim; k++) {
        memcpy(to + (size_t)k * size, (const char *)axis[k] + (size_t)(p * from->stride) * size,
               size);
    }
}

/** Split the particles that are not ignored: links[p] enough links them. NULL: by role alone. */
static void split(const struct kith__question *q, const struct kith__fof *fof, const int64_t *links,
                  char *xyz, int32_t *index, struct kith__cast *cast)
{
    const int64_t n = q->a.n;
    int64_t linking = 0;
    int64_t attached = 0;
    for (int64_t p = 0; p < n; p++) {
        const int role = fof->roles ? fof->roles[p] : KITH_LINK;
        if (role == KITH_IGNORE) {
            continue;
        }
        /* from both ends of the arrays, then the second turned around */
        const bool first = role == KITH_LINK && (!links || links[p] >= fof->min_links);
        const int64_t at = first ? linking++ : n - ++attached;
        index[at] = (int32_t)p;
    }
    for (int64_t low = n - attached, high = n - 1; low < high; low++, high--) {
        const int32_t swap = index[low];
        index[low] = index[high];
        index[high] = swap;
    }
    for (int64_t at = 0; at < n; at++) {
        if (at < linking || at >= n - attached) {
            pack(&q->a, q->dim, index[at], xyz, at);
        }
    }
    cast->link = *q;
    cast->link.a = cast->link.b = kith_points_packed(xyz, linking, q->precision);
    cast->linkers = index;
    cast->attach = kith_points_packed(xyz + (size_t)(n - attached) * 3 * (size_t)q->precision,
                                      attached, q->precision);
    cast->attached = index + n - attached;
}

/** Are i and j friends? From a pair of the list, with its vector; *r2 receives their distance. */
static bool are_friends(const struct kith__fof *fof, const kith_pairs *block,
                        const struct kith__question *q, int64_t p, int64_t i, int64_t j, double *r2)
{
    if (q->precision == KITH_FLOAT) {
        const float *d = (const float *)block->vectors + 3 * p;
        const float square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        const float *v = fof->velocities;
        *r2 = (double)square;
        return !v || kith__phase_f(square, (float)q->cutoff, v + 3 * i, v + 3 * j,
                                   (float)fof->velocity_length) <= 1;
    }
    const double *d = (const double *)block->vectors + 3 * p;
    const double *v = fof->velocities;
    *r2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    return !v || kith__phase_d(*r2, q->cutoff, v + 3 * i, v + 3 * j, fof->velocity_length) <= 1;
}

/** What receives the pairs. */
struct search {
    const struct kith__question *q;
    const struct kith__fof *fof;
    const struct kith__cast *cast;
    int64_t *links;  /**< [caller's n], or */
    double *nearest; /**< [attached] squared distance to the nearest that links, */
    int32_t *whom;   /**< [attached] and its index with the caller; -1: none yet */
};

static int count_links(void *user, const kith_pairs *block, int64_t first)
{
    const struct search *s = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t i = s->cast->linkers[block->i[p]];
        const int32_t j = s->cast->linkers[block->j[p]];
        double r2;
        if (i != j && are_friends(s->fof, block, s->q, p, i, j, &r2)) {
            s->links[i]++;
            s->links[j]++;
        }
    }
    return 0;
}

static int find_nearest(void *user, const kith_pairs *block, int64_t first)
{
    const struct search *s = user;
    (void)first;
    for (int64_t p = 0; p < block->n; p++) {
        const int32_t at = block->i[p];
        const int32_t j = s->cast->linkers[block->j[p]];
        double r2;
        if (are_friends(s->fof, block, s->q, p, s->cast->attached[at], j, &r2) &&
            (s->whom[at] < 0 || r2 < s->nearest[at] || (r2 <= s->nearest[at] && j < s->whom[at]))) {
            s->nearest[at] = r2;
            s->whom[at] = j;
        }
    }
    return 0;
}

/** Hand all pairs of the question to fn, with their vectors. */
static kith_status each_pair(kith_ctx *ctx, const struct kith__question *q, kith_block_fn fn,
                             struct search *search)
{
    const struct kith__list list = {
        .full = q->cross, .extras = KITH_VECTORS, .block_pairs = BLOCK_PAIRS};
    return kith__cpu_pairs_each(ctx, q, &list, fn, search);
}

kith_status kith__cast_roles(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__fof *fof, struct kith__cast *cast)
{
    const size_t n = (size_t)q->a.n;
    const size_t coordinates = n * 3 * (size_t)q->precision;
    char *xyz = kith__work_need(&ctx->work, KITH_FOF_ROLES, coordinates + n * sizeof(int32_t));
    KITH_CHECK(ctx, xyz != NULL, KITH_NO_MEMORY, "out of memory for the roles of %lld particles",
               (long long)q->a.n);
    int32_t *index = (int32_t *)(void *)(xyz + coordinates);
    split(q, fof, NULL, xyz, index, cast);
    if (fof->min_links == 0) {
        return KITH_OK;
    }
    int64_t *links = calloc(n + 1, sizeof *links);
    KITH_CHECK(ctx, links != NULL, KITH_NO_MEMORY, "out of memory for the links of %lld particles",
               (long long)q->a.n);
    struct kith__question among = cast->link;
    among.part = 0;
    struct search search = {.q = &among, .fof = fof, .cast = cast, .links = links};
    const kith_status status = each_pair(ctx, &among, count_links, &search);
    if (status == KITH_OK) {
        split(q, fof, links, xyz, index, cast);
    }
    free(links);
    return status;
}

kith_status kith__attach(kith_ctx *ctx, const struct kith__cast *cast, const struct kith__fof *fof,
                         kith_groups *out)
{
    const int64_t n = cast->attach.n;
    struct kith__question against = cast->link;
    against.part = 0;
    against.a = cast->attach;
    against.cross = true;
    struct search search = {.q = &against,
                            .fof = fof,
                            .cast = cast,
                            .nearest = malloc((size_t)(n + 1) * sizeof *search.nearest),
                            .whom = malloc((size_t)(n + 1) * sizeof *search.whom)};
    kith_status status = KITH_NO_MEMORY;
    if (search.nearest && search.whom) {
        for (int64_t at = 0; at < n; at++) {
            search.whom[at] = -1;
        }
        status = n ? each_pair(ctx, &against, find_nearest, &search) : KITH_OK;
    } else {
        (void)kith__fail(ctx, status, "out of memory to attach %lld particles", (long long)n);
    }
    for (int64_t at = 0; at < n && status == KITH_OK; at++) {
        out->labels[cast->attached[at]] = search.whom[at] < 0 ? 0 : out->labels[search.whom[at]];
    }
    free(search.nearest);
    free(search.whom);
    return status;
}
