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
    int64_t *group; /**< [n] number of a group by no rule; the smallest member's index */
    int64_t *links; /**< [n] others that link and are friends */
    bool *core;     /**< [n] links */
    double *nearest;
    int64_t *whom; /**< [n] nearest that links, -1: none */
} truth;

static int role_of(const truth *t, int64_t p)
{
    return t->c->options.roles ? t->c->options.roles[p] : KITH_LINK;
}

/** Is the pair one of friends? Rounded step by step, as kith.h says. */
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

static void unite(truth *t, const oracle_pair *pair)
{
    const int64_t a = t->group[pair->i];
    const int64_t b = t->group[pair->j];
    if (a != b && t->core[pair->i] && t->core[pair->j] && friends(t, pair)) {
        for (int64_t p = 0; p < t->c->n; p++) {
            t->group[p] = t->group[p] == (a > b ? a : b) ? (a < b ? a : b) : t->group[p];
        }
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

/** A group as it is to be numbered. */
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
    return (a->id > b->id) - (a->id < b->id);
}

/** Number the groups into labels; returns how many there are. */
static int64_t number(const truth *t, rank *ranks, int32_t *labels)
{
    const int64_t n = t->c->n;
    const int64_t *ids = t->c->options.ids;
    int64_t groups = 0;
    int32_t *label = check_malloc(((size_t)n + 1) * sizeof *label);
    memset(label, 0, ((size_t)n + 1) * sizeof *label);
    for (int64_t g = 0; g < n; g++) {
        rank r = {g, 0, INT64_MAX};
        for (int64_t p = g; p < n; p++) {
            if (t->core[p] && t->group[p] == g) {
                const int64_t id = ids ? ids[p] : p;
                r.members++;
                r.id = id < r.id ? id : r.id;
            }
        }
        if (r.members >= t->c->options.min_members) {
            ranks[groups++] = r;
        }
    }
    qsort(ranks, (size_t)groups, sizeof *ranks, by_size_then_id);
    for (int64_t g = 0; g < groups; g++) {
        label[ranks[g].group] = (int32_t)(g + 1);
    }
    for (int64_t p = 0; p < n; p++) {
        labels[p] = t->core[p]        ? label[t->group[p]]
                    : t->whom[p] >= 0 ? label[t->group[t->whom[p]]]
                                      : 0;
    }
    free(label);
    return groups;
}

static void find_truth(truth *t, const kith_points *points)
{
    const fof_case *c = t->c;
    for (int64_t p = 0; p < c->n; p++) {
        t->group[p] = p;
        t->links[p] = 0;
        t->whom[p] = -1;
    }
    oracle_list pairs = oracle_full(points, NULL, c->box, c->length);
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

static void check_precision(kith_ctx *ctx, const fof_case *c, kith_precision precision)
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

    stored s = stored_make(c->xyz, c->n, precision,
                           precision == KITH_FLOAT ? LAYOUT_PACKED : LAYOUT_STRIDE7);
    kith_fof_options options = c->options;
    float *slow = check_malloc(n * 3 * sizeof *slow);
    for (int64_t k = 0; k < 3 * c->n && options.velocities; k++) {
        slow[k] = (float)((const double *)c->options.velocities)[k];
    }
    if (options.velocities && precision == KITH_FLOAT) {
        options.velocities = slow;
    }
    find_truth(&t, &s.points);
    const int64_t groups = number(&t, ranks, labels);

    kith_groups found = {0};
    const kith_status status = kith_fof_find(ctx, &s.points, c->box, c->length, &options, &found);
    CHECK(status == KITH_OK, "%s: %s", c->name, kith_message(ctx));
    CHECK(found.points == c->n && found.n == groups, "%s, precision %d: %lld groups, expected %lld",
          c->name, (int)precision, (long long)found.n, (long long)groups);
    for (int64_t g = 0; g < groups && g < found.n; g++) {
        CHECK(found.members[g] == ranks[g].members, "%s: group %lld has %lld, expected %lld",
              c->name, (long long)g + 1, (long long)found.members[g], (long long)ranks[g].members);
    }
    for (int64_t p = 0; p < c->n && status == KITH_OK; p++) {
        CHECK(found.labels[p] == labels[p], "%s: particle %lld is in %d, expected %d", c->name,
              (long long)p, (int)found.labels[p], (int)labels[p]);
    }
    kith_groups_free(&found);
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
        check_precision(ctx, &mine, KITH_DOUBLE);
    }
    if (!check_brief() || cases % 2 == 0) {
        check_precision(ctx, &mine, KITH_FLOAT);
    }
}
