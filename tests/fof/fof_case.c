/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups by brute force: every pair of the oracle unites two lists of members.
 */
#include "fof_case.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/** What the oracle's pairs are turned into. */
typedef struct truth {
    const fof_case *c;
    kith_precision precision;
    int64_t *group; /**< [n] another member of smaller index; the smallest index: itself */
    int64_t *links; /**< [n] others that link and are friends */
    bool *core;     /**< [n] links */
    double *nearest;
    int64_t *whom; /**< [n] nearest that links, -1: none */
} truth;

static int role_of(const truth *t, int64_t p)
{
    return t->c->options.roles ? t->c->options.roles[p] : KITH_LINK;
}

/** Return true when the two particles are friends. Rounded step by step, as kith.h says. */
static bool friends(const truth *t, const oracle_pair *pair)
{
    const double *v = t->c->options.velocities;
    if (!v) {
        return true;
    }
    const double *a = v + (int64_t)3 * pair->i;
    const double *b = v + (int64_t)3 * pair->j;
    if (t->precision == KITH_FLOAT) {
        float d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = (float)b[k] - (float)a[k];
        }
        const float length = (float)t->c->length;
        const float speed = (float)t->c->options.velocity_length;
        const float v2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
        return (float)pair->r2 / (length * length) + v2 / (speed * speed) <= 1;
    }
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double length = t->c->length;
    const double speed = t->c->options.velocity_length;
    const double v2 = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
    return pair->r2 / (length * length) + v2 / (speed * speed) <= 1;
}

static void count_link(truth *t, const oracle_pair *pair)
{
    if (pair->i != pair->j && role_of(t, pair->i) == KITH_LINK &&
        role_of(t, pair->j) == KITH_LINK && friends(t, pair)) {
        t->links[pair->i]++;
    }
}

/** The smallest index of p's group. */
static int64_t first_of(const truth *t, int64_t p)
{
    while (t->group[p] != p) {
        p = t->group[p] = t->group[t->group[p]];
    }
    return p;
}

static void unite(truth *t, const oracle_pair *pair)
{
    const int64_t a = first_of(t, pair->i);
    const int64_t b = first_of(t, pair->j);
    if (a != b && t->core[pair->i] && t->core[pair->j] && friends(t, pair)) {
        t->group[a > b ? a : b] = a < b ? a : b;
    }
}

static void attach(truth *t, const oracle_pair *pair)
{
    const int64_t i = pair->i;
    if (!t->core[i] && role_of(t, i) != KITH_IGNORE && t->core[pair->j] && friends(t, pair) &&
        (t->whom[i] < 0 || pair->r2 < t->nearest[i] ||
         (pair->r2 == t->nearest[i] && pair->j < t->whom[i]))) {
        t->nearest[i] = pair->r2;
        t->whom[i] = pair->j;
    }
}

/** A group as it is to be numbered; `group` is its smallest index. */
typedef struct rank {
    int64_t group, members, id;
} rank;

static int by_size_then_id(const void *left, const void *right)
{
    const rank *a = left;
    const rank *b = right;
    if (a->members != b->members) {
        return a->members < b->members ? 1 : -1;
    }
    if (a->id != b->id) {
        return a->id < b->id ? -1 : 1;
    }
    return (a->group > b->group) - (a->group < b->group);
}

/** Number the groups into labels; returns how many there are. */
static int64_t number(const truth *t, rank *ranks, int32_t *labels)
{
    const int64_t n = t->c->n;
    const int64_t *ids = t->c->options.ids;
    int64_t groups = 0;
    int32_t *label = check_malloc(((size_t)n + 1) * sizeof *label);
    memset(label, 0, ((size_t)n + 1) * sizeof *label);
    rank *all = check_malloc(((size_t)n + 1) * sizeof *all);
    for (int64_t p = 0; p < n; p++) {
        const int64_t id = ids ? ids[p] : p;
        rank *r = &all[first_of(t, p)];
        all[p] = (rank){p, 0, INT64_MAX};
        r->members += t->core[p];
        r->id = t->core[p] && id < r->id ? id : r->id;
    }
    for (int64_t g = 0; g < n; g++) {
        if (all[g].members > 0 && all[g].members >= t->c->options.min_members) {
            ranks[groups++] = all[g];
        }
    }
    free(all);
    qsort(ranks, (size_t)groups, sizeof *ranks, by_size_then_id);
    for (int64_t g = 0; g < groups; g++) {
        label[ranks[g].group] = (int32_t)(g + 1);
    }
    for (int64_t p = 0; p < n; p++) {
        const int64_t linked = t->core[p] ? p : t->whom[p];
        labels[p] = linked >= 0 ? label[first_of(t, linked)] : 0;
    }
    free(label);
    return groups;
}

/** The squared distance of a pair, from its vector, rounded step by step. */
static double square_of(const void *vectors, int64_t pair, kith_precision precision)
{
    if (precision == KITH_FLOAT) {
        const float *d = (const float *)vectors + 3 * pair;
        return (double)((d[0] * d[0] + d[1] * d[1]) + d[2] * d[2]);
    }
    const double *d = (const double *)vectors + 3 * pair;
    return (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
}

/** The full list of kith_pairs_find, as far as groups need it. */
static oracle_list find_pairs(kith_ctx *ctx, const truth *t, const kith_points *points)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.extras = KITH_VECTORS;
    kith_pairs found = {0};
    const kith_status status = kith_pairs_find(ctx, points, t->c->box, t->c->length, &options,
                                               &found);
    CHECK(status == KITH_OK, "%s: pairs: %s", t->c->name, kith_message(ctx));
    oracle_list list = {.n = found.n, .capacity = found.n};
    list.pairs = check_malloc((size_t)found.n * sizeof *list.pairs);
    for (int64_t k = 0; k < found.n; k++) {
        list.pairs[k] = (oracle_pair){
            .i = found.i[k], .j = found.j[k], .r2 = square_of(found.vectors, k, t->precision)};
    }
    kith_pairs_free(&found);
    return list;
}

static void find_truth(kith_ctx *ctx, truth *t, const kith_points *points)
{
    const fof_case *c = t->c;
    for (int64_t p = 0; p < c->n; p++) {
        t->group[p] = p;
        t->links[p] = 0;
        t->whom[p] = -1;
    }
    oracle_list pairs = c->large ? find_pairs(ctx, t, points)
                                 : oracle_full(points, NULL, c->box, c->length);
    for (int64_t k = 0; k < pairs.n; k++) {
        count_link(t, &pairs.pairs[k]);
    }
    for (int64_t p = 0; p < c->n; p++) {
        t->core[p] = role_of(t, p) == KITH_LINK && t->links[p] >= c->options.min_links;
    }
    for (int64_t k = 0; k < pairs.n; k++) {
        unite(t, &pairs.pairs[k]);
    }
    for (int64_t k = 0; k < pairs.n; k++) {
        attach(t, &pairs.pairs[k]);
    }
    oracle_free(&pairs);
}

/** Compare the groups that one context finds with the expected ones. */
static void compare(kith_ctx *ctx, const fof_case *c, const kith_points *points,
                    const kith_fof_options *options, const rank *ranks, int64_t groups,
                    const int32_t *labels)
{
    kith_groups found = {0};
    const kith_status status = kith_fof_find(ctx, points, c->box, c->length, options, &found);
    if (!CHECK(status == KITH_OK, "%s, %s: %s", c->name, kith_backend(ctx), kith_message(ctx))) {
        kith_groups_free(&found);
        return;
    }
    CHECK(found.points == c->n && found.n == groups,
          "%s, %s, precision %d: %lld groups, expected %lld", c->name, kith_backend(ctx),
          (int)points->precision, (long long)found.n, (long long)groups);
    for (int64_t g = 0; g < groups && g < found.n; g++) {
        if (!CHECK(found.members[g] == ranks[g].members, "%s: group %lld has %lld, expected %lld",
                   c->name, (long long)g + 1, (long long)found.members[g],
                   (long long)ranks[g].members)) {
            break;
        }
    }
    for (int64_t p = 0; p < c->n; p++) {
        if (!CHECK(found.labels[p] == labels[p], "%s: particle %lld is in %d, expected %d", c->name,
                   (long long)p, (int)found.labels[p], (int)labels[p])) {
            break;
        }
    }
    kith_groups_free(&found);
}

void fof_check_form(kith_ctx *const *ctx, int contexts, const fof_case *c, kith_precision precision,
                    layout how)
{
    const size_t n = (size_t)c->n + 1;
    truth t = {.c = c, .precision = precision};
    t.group = check_malloc(n * sizeof *t.group);
    t.links = check_malloc(n * sizeof *t.links);
    t.core = check_malloc(n * sizeof *t.core);
    t.nearest = check_malloc(n * sizeof *t.nearest);
    t.whom = check_malloc(n * sizeof *t.whom);
    rank *ranks = check_malloc(n * sizeof *ranks);
    int32_t *labels = check_malloc(n * sizeof *labels);

    stored s = stored_make(c->xyz, c->n, precision, how);
    kith_fof_options options = c->options;
    float *slow = check_malloc(n * 3 * sizeof *slow);
    for (int64_t k = 0; k < 3 * c->n && options.velocities; k++) {
        slow[k] = (float)((const double *)c->options.velocities)[k];
    }
    if (options.velocities && precision == KITH_FLOAT) {
        options.velocities = slow;
    }
    find_truth(ctx[0], &t, &s.points);
    const int64_t groups = number(&t, ranks, labels);
    for (int k = 0; k < contexts; k++) {
        compare(ctx[k], c, &s.points, &options, ranks, groups, labels);
    }
    stored_free(&s);
    free(slow);
    free(labels);
    free(ranks);
    free(t.whom);
    free(t.nearest);
    free(t.core);
    free(t.links);
    free(t.group);
}

void fof_check(kith_ctx *ctx, const fof_case *c)
{
    fof_case mine = *c;
    if (mine.options.size == 0) {
        mine.options.size = sizeof mine.options;
        mine.options.min_members = mine.options.min_members ? mine.options.min_members : 1;
    }
    static int cases;
    cases++;
    if (check_brief() > 1 && cases / 2 % check_brief()) {
        return;
    }
    if (!check_brief() || cases % 2) {
        fof_check_form(&ctx, 1, &mine, KITH_DOUBLE, LAYOUT_STRIDE7);
    }
    if (!check_brief() || cases % 2 == 0) {
        fof_check_form(&ctx, 1, &mine, KITH_FLOAT, LAYOUT_PACKED);
    }
}
