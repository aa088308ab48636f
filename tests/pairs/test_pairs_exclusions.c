/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs that lists leave out, against the oracle: pairs of a molecule, bonded pairs given at one
 * end or both, pairs nearer than r_min, at exactly r_min too, rows of particles that are not
 * active, and all of these together; one set and two; periodic, skewed and open boxes; images; a
 * batch; and options that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs_case.h"

enum { MOST = 600, BONDS = 3 };
enum { MOLECULES = 1, BONDED = 2, LEAST = 4, ACTIVE = 8, KINDS = 16 };

/** What is left out. */
typedef struct rules {
    int kinds; /**< a bit set of those above */
    int two_sets;
    int32_t molecules[MOST], other[MOST];
    int64_t offsets[MOST + 1];
    int32_t bonds[BONDS * MOST];
    double r_min;
    uint8_t active[MOST];
} rules;

static void add_rules(const void *user, kith_precision precision, kith_pairs_options *o)
{
    const rules *x = user;
    (void)precision;
    o->molecules = x->kinds & MOLECULES ? x->molecules : NULL;
    o->molecules_against = x->kinds & MOLECULES && x->two_sets ? x->other : NULL;
    o->bond_offsets = x->kinds & BONDED ? x->offsets : NULL;
    o->bonds = x->kinds & BONDED ? x->bonds : NULL;
    o->r_min = x->kinds & LEAST ? x->r_min : 0;
    o->active = x->kinds & ACTIVE ? x->active : NULL;
}

static int has_bond(const rules *x, int32_t i, int32_t j)
{
    int found = 0;
    for (int64_t b = x->offsets[i]; b < x->offsets[i + 1]; b++)
        found |= x->bonds[b] == j;
    return found;
}

static int is_listed(const void *user, kith_precision precision, const oracle_pair *pair)
{
    const rules *x = user;
    const volatile float single = (float)x->r_min;
    const volatile float square = single * single;
    const double least = precision == KITH_FLOAT ? (double)square : x->r_min * x->r_min;
    const int32_t molecule = x->molecules[pair->i];
    if ((x->kinds & MOLECULES) && molecule >= 0 &&
        molecule == (x->two_sets ? x->other : x->molecules)[pair->j])
        return 0;
    if ((x->kinds & BONDED) &&
        (has_bond(x, pair->i, pair->j) || (!x->two_sets && has_bond(x, pair->j, pair->i))))
        return 0;
    if ((x->kinds & LEAST) && pair->r2 < least)
        return 0;
    return !(x->kinds & ACTIVE) || x->active[pair->i];
}

/** Rules for n particles and m others. */
static rules make_rules(rng *r, int kinds, int64_t n, int64_t m, int two_sets, double r_min)
{
    rules x = {.kinds = kinds, .two_sets = two_sets, .r_min = r_min};
    for (int p = 0; p < MOST; p++) {
        x.molecules[p] = (int32_t)rng_below(r, 9) - 2;
        x.other[p] = (int32_t)rng_below(r, 9) - 2;
        x.active[p] = rng_below(r, 3) == 0;
    }
    for (int64_t p = 0, at = 0; p < n; p++) {
        for (int64_t b = rng_below(r, BONDS); b > 0 && m > 0; b--)
            x.bonds[at++] = (int32_t)rng_below(r, m);
        x.offsets[p + 1] = at;
    }
    return x;
}

static void check_set(kith_ctx *ctx, rng *r, const char *name, const double *xyz, int64_t n,
                      const double *against, int64_t m, const kith_box *box, double cutoff)
{
    for (int kinds = 1; kinds < KINDS; kinds++) {
        const int single = kinds == 1 || kinds == 2 || kinds == 4 || kinds == 8;
        if (!single && kinds != 7 && kinds != 15)
            continue;
        rules x = make_rules(r, kinds, n, against ? m : n, against != NULL, 0.6 * cutoff);
        case_check(ctx, &(pair_case){.name = name,
                                     .xyz = xyz,
                                     .n = n,
                                     .against = against,
                                     .m = m,
                                     .box = box,
                                     .cutoff = cutoff,
                                     .rules = add_rules,
                                     .listed = is_listed,
                                     .user = &x,
                                     .reach = cutoff,
                                     .full_only = (kinds & ACTIVE) != 0});
    }
}

static void check_cases(kith_ctx *ctx)
{
    rng r = {81};
    const kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    double *a = points_in_box(&r, MOST, &brick), *b = points_in_box(&r, 90, &brick);
    check_set(ctx, &r, "open", a, 400, NULL, 0, NULL, 0.15);
    check_set(ctx, &r, "periodic", a, 300, NULL, 0, &brick, 0.2);
    check_set(ctx, &r, "two sets", a, 300, b, 90, &brick, 0.25);
    check_set(ctx, &r, "no particles", a, 0, NULL, 0, &brick, 0.25);
    check_set(ctx, &r, "an empty set", a, 7, b, 0, &brick, 0.25);
    check_set(ctx, &r, "images", a, 4, NULL, 0, &brick, 1.6);
    free(a);
    free(b);
    a = points_in_box(&r, 250, &cell);
    points_drift(&r, a, 250, &cell, 2);
    check_set(ctx, &r, "triclinic", a, 250, NULL, 0, &cell, 0.25);
    free(a);
}

/** Pairs of a lattice at exactly r_min are listed. */
static void check_exact(kith_ctx *ctx)
{
    rng r = {82};
    double *xyz = points_lattice(LATTICE_SC, 5, 1.0);
    const kith_box box = kith_box_periodic(5, 5, 5);
    rules x = make_rules(&r, LEAST, 125, 125, 0, 1.0);
    for (int k = 0; k < 2; k++, x.r_min = nextafter(1.0, 2.0))
        case_check(ctx, &(pair_case){.name = "lattice",
                                     .xyz = xyz,
                                     .n = 125,
                                     .box = &box,
                                     .cutoff = 2,
                                     .rules = add_rules,
                                     .listed = is_listed,
                                     .user = &x,
                                     .reach = 2,
                                     .exact_inverse = 1});
    free(xyz);
}

/** Indices of a batch are those of all particles. */
static void check_batch(kith_ctx *ctx)
{
    enum { SYSTEMS = 3 };
    rng r = {83};
    const kith_box box = kith_box_periodic(1, 1, 1);
    const int64_t offsets[SYSTEMS + 1] = {0, 150, 400, 500};
    double *xyz = points_in_box(&r, 500, &box);
    const rules x = make_rules(&r, 15, 500, 500, 0, 0.1);
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = SYSTEMS;
    batch.offsets = offsets;
    const kith_points points = kith_points_packed(xyz, 500, KITH_DOUBLE);
    kith_pairs list = {0};
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.full = o.sorted = 1;
    o.batch = &batch;
    add_rules(&x, KITH_DOUBLE, &o);
    int64_t *neighbours = check_malloc(500 * sizeof *neighbours), counted = 0;
    CHECK(kith_pairs_find(ctx, &points, &box, 0.25, &o, &list) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_pairs_count(ctx, &points, &box, 0.25, &o, &counted, neighbours) == KITH_OK &&
              counted == list.n,
          "%s: %lld of %lld", kith_message(ctx), (long long)counted, (long long)list.n);
    int64_t at = 0;
    for (int s = 0; s < SYSTEMS; s++) {
        const kith_points part = kith_points_packed(xyz + 3 * offsets[s],
                                                    offsets[s + 1] - offsets[s], KITH_DOUBLE);
        oracle_list want = oracle_full(&part, NULL, &box, 0.25);
        for (int64_t p = 0; p < want.n; p++) {
            oracle_pair pair = want.pairs[p];
            pair.i += (int32_t)offsets[s];
            pair.j += (int32_t)offsets[s];
            if (!is_listed(&x, KITH_DOUBLE, &pair))
                continue;
            if (!CHECK(at < list.n && list.i[at] == pair.i && list.j[at] == pair.j,
                       "pair %lld of system %d", (long long)at, s))
                break;
            neighbours[pair.i]--;
            at++;
        }
        oracle_free(&want);
    }
    CHECK(at == list.n && at > 0, "%lld pairs of %lld", (long long)at, (long long)list.n);
    for (int p = 0; p < 500; p++)
        CHECK(neighbours[p] == 0, "neighbours[%d]", p);
    CHECK(case_check_matrix(ctx, &points, &box, 0.25, o) == at, "other pairs in rows");
    kith_pairs_free(&list);
    free(neighbours);
    free(xyz);
}

static void check_refused(kith_ctx *ctx)
{
    double xyz[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
    const int32_t molecules[3] = {0, 1, 1};
    int64_t offsets[4] = {0, 1, 1, 1};
    int32_t bonds[1] = {1};
    const uint8_t active[3] = {1, 0, 1};
    kith_pairs_options o, good;
    int64_t n;
    kith_pairs_options_init(&good);
    good.molecules = molecules;
    good.bond_offsets = offsets;
    good.bonds = bonds;
    o = good;
    CHECK(kith_pairs_count(ctx, &points, NULL, 2, &o, &n, NULL) == KITH_OK && n == 1, "%lld: %s",
          (long long)n, kith_message(ctx));
    bonds[0] = 3;
    case_refused(ctx, &points, 2, &o, &good, "options.bonds[0] is 3");
    bonds[0] = 1;
    offsets[1] = -1;
    case_refused(ctx, &points, 2, &o, &good,
                 "options.bond_offsets[1] is less than the one before it");
    offsets[1] = 1;
    o.bonds = NULL;
    case_refused(ctx, &points, 2, &o, &good, "options.bonds is NULL");
    o.bond_offsets = NULL;
    case_refused(ctx, &points, 2, &o, &good, "options.bond_offsets is NULL");
    o.molecules_against = molecules;
    case_refused(ctx, &points, 2, &o, &good, "options.molecules_against is given");
    o.active = active;
    case_refused(ctx, &points, 2, &o, &good, "options.active needs options.full");
    o.r_min = -1;
    case_refused(ctx, &points, 2, &o, &good, "options.r_min is -1");
    o.r_min = (double)NAN;
    case_refused(ctx, &points, 2, &o, &good, "options.r_min is nan");
    o.r_min = 1e200;
    case_refused(ctx, &points, 2, &o, &good, "options.r_min is 1e+200");
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_cases(ctx);
    check_exact(ctx);
    check_batch(ctx);
    check_refused(ctx);
    kith_close(ctx);
    return check_done();
}
