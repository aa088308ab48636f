/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of every call for pairs made to fail.
 */
#include <stdlib.h>

#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 1500, ROOM = 20000 };

typedef struct search {
    const kith_points *points;
    const kith_box *box;
    kith_pairs_options options;
    kith_pairs list;
} search;

static int add_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)first;
    *(int64_t *)user += block->n;
    return 0;
}

/* Into arrays of the caller's, against another set. */
static kith_status fill(const search *s, kith_ctx *ctx, int64_t *seen)
{
    static int32_t i[ROOM], j[ROOM];
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.against = s->points;
    kith_pairs list = {.i = i, .j = j, .capacity = ROOM};
    const kith_status status = kith_pairs_fill(ctx, s->points, s->box, 0.05, &options, &list);
    *seen += status == KITH_OK ? list.n : 0;
    return status;
}

static kith_status find(void *user, kith_ctx *ctx, int64_t *seen)
{
    search *s = user;
    int64_t n = 0;
    kith_status status = kith_pairs_find(ctx, s->points, s->box, 0.1, &s->options, &s->list);
    *seen += s->list.n;
    if (status == KITH_OK) {
        status = kith_pairs_count(ctx, s->points, s->box, 0.12, &s->options, &n, NULL);
        *seen += n;
    }
    if (status == KITH_OK) {
        status = kith_pairs_each(ctx, s->points, s->box, 0.13, &s->options, add_block, seen);
    }
    if (status == KITH_OK) { /* the list grows */
        status = kith_pairs_find(ctx, s->points, s->box, 0.15, &s->options, &s->list);
    }
    *seen += s->list.n;
    return status == KITH_OK ? fill(s, ctx, seen) : status;
}

/* Rules: a table of cutoffs, radii of many classes. */
static void add_rules(kith_pairs_options *options)
{
    static const double cutoffs[4] = {0.1, 0.2, 0.2, 0.15};
    static int32_t species[N];
    static double radii[N];
    for (int p = 0; p < N; p++) {
        species[p] = p % 2;
        radii[p] = 0.15 / (1 << p % 4);
    }
    options->species = species;
    options->n_species = 2;
    options->cutoffs = cutoffs;
    options->radii = radii;
    options->radius_rule = KITH_RADIUS_EITHER;
}

/* Rows of a fixed width: into arrays that grow, and into the caller's. */
static kith_status find_rows(void *user, kith_ctx *ctx, int64_t *seen)
{
    static int32_t j[N * 3];
    search *s = user;
    kith_pairs_options options = s->options;
    options.extras = 0;
    options.width = 3;
    kith_pairs mine = {.size = sizeof mine, .j = j, .capacity = N * 3};
    kith_status status = kith_pairs_find(ctx, s->points, s->box, 0.1, &s->options, &s->list);
    *seen += s->list.n + s->list.widest;
    if (status == KITH_OK) {
        status = kith_pairs_fill(ctx, s->points, s->box, 0.1, &options, &mine);
        *seen += mine.n;
        CHECK(status != KITH_OK, "no row has more than 3 neighbours");
    }
    return status == KITH_CAPACITY ? KITH_OK : status;
}

static void release(void *user)
{
    kith_pairs_free(&((search *)user)->list);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {10};
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    double *xyz = points_in_box(&r, N, &box);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    search s = {.points = &points};
    for (int sparse = 0; sparse < 2; sparse++) {
        if (sparse) /* a clump far away: tables of occupied cells */
            for (int p = 0; p < N / 2; p++)
                xyz[3 * p] += 1e6;
        s.box = sparse ? NULL : &box;
        for (int form = 0; form < 3; form++) {
            kith_pairs_options_init(&s.options);
            s.options.full = form > 0;
            s.options.sorted = form == 1;
            s.options.layout = form == 2 ? KITH_CSR : KITH_IJ;
            s.options.extras = form > 0 ? KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS : 0;
            s.options.block_pairs = 1000;
            no_memory_check(&(no_memory_use){backend, find, release, &s});
        }
        for (int sorted = 0; sorted < 2; sorted++) {
            kith_pairs_options_init(&s.options);
            s.options.layout = KITH_MATRIX;
            s.options.sorted = sorted;
            s.options.width = sorted ? 3 : 0;
            s.options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
            s.list.size = sizeof s.list;
            no_memory_check(&(no_memory_use){backend, find_rows, release, &s});
            s.list.size = 0;
        }
    }
    for (int form = 0; form < 3; form++) {
        kith_pairs_options_init(&s.options);
        add_rules(&s.options);
        s.options.sorted = form > 0;
        s.options.layout = form == 2 ? KITH_MATRIX : form == 1 ? KITH_CSR : KITH_IJ;
        s.options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
        s.list.size = form == 2 ? sizeof s.list : 0;
        no_memory_check(&(no_memory_use){backend, form == 2 ? find_rows : find, release, &s});
        s.list.size = 0;
    }
    free(xyz);
    return check_done();
}
