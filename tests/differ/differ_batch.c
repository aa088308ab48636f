/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Batches: lists of pairs, rows of a fixed width, nearest neighbours, groups and histograms of many
 * small systems in one call, on every context, against calls for each system alone on one context.
 */
#include <stdlib.h>
#include <string.h>

#include "differ.h"

enum { MOST_SYSTEMS = 24 };

/** A batch of random systems. */
typedef struct batch {
    differ_input system[MOST_SYSTEMS];
    int64_t systems;
    differ_input whole; /**< the particles of all systems; open where each system has its box */
    int64_t a[MOST_SYSTEMS + 1], b[MOST_SYSTEMS + 1];
    kith_box boxes[MOST_SYSTEMS];
    kith_batch given;
    stored points, other; /**< of the whole */
} batch;

/** Append n points to a set that holds `at`. */
static double *append(double *set, int64_t at, const double *xyz, int64_t n)
{
    double *all = realloc(set, (size_t)(3 * (at + n) + 1) * sizeof *all);
    if (!all) {
        exit(EXIT_FAILURE);
    }
    memcpy(all + 3 * at, xyz, (size_t)(3 * n) * sizeof *all);
    return all;
}

/** Make the systems: each is like the one before it, so that the cutoff of the last suits all. */
static void make_systems(rng *r, batch *made)
{
    differ_wish wish = {.most = 100, .work = 1e5, .reach = 6};
    const bool one_box = differ_one_in(r, 3);
    made->systems = 1 + rng_below(r, MOST_SYSTEMS);
    for (int64_t s = 0; s < made->systems; s++) {
        wish.most = differ_one_in(r, 4) ? 0 : differ_one_in(r, 2) ? 20 : 100;
        made->system[s] = differ_input_make(r, &wish);
        wish.like = &made->system[s];
        wish.one_box = one_box;
        made->boxes[s] = made->system[s].open ? kith_box_open() : made->system[s].box;
    }
    made->whole = made->system[made->systems - 1];
    made->whole.open = one_box ? made->whole.open : true;
    kith_batch_init(&made->given);
    made->given.boxes = one_box ? NULL : made->boxes;
}

static void make_batch(rng *r, batch *made)
{
    memset(made, 0, sizeof *made);
    make_systems(r, made);
    differ_input *whole = &made->whole;
    const bool cross = whole->other != NULL;
    whole->xyz = whole->other = NULL;
    for (int64_t s = 0; s < made->systems; s++) {
        const differ_input *in = &made->system[s];
        whole->xyz = append(whole->xyz, made->a[s], in->xyz, in->n);
        made->a[s + 1] = made->a[s] + in->n;
        if (cross) {
            whole->other = append(whole->other, made->b[s], in->other, in->m);
            made->b[s + 1] = made->b[s] + in->m;
        }
    }
    whole->n = made->a[made->systems];
    whole->m = made->b[made->systems];
    made->given.systems = made->systems;
    made->given.offsets = made->a;
    made->given.against_offsets = cross ? made->b : NULL;
    made->points = stored_make(whole->xyz, whole->n, whole->precision, whole->how);
    made->other = stored_make(whole->other, whole->m, whole->precision, LAYOUT_PACKED);
}

static void free_batch(batch *made)
{
    for (int64_t s = 0; s < made->systems; s++) {
        differ_input_free(&made->system[s]);
    }
    stored_free(&made->points);
    stored_free(&made->other);
    differ_input_free(&made->whole);
}

/** One system, as a call for it alone is given it. */
typedef struct alone {
    stored a, b;
    const kith_points *against;
    const kith_box *box;
    int64_t first, by; /**< what indices i and j are shifted by in the batch */
} alone;

static alone make_alone(const batch *made, int64_t s)
{
    const differ_input *in = &made->system[s];
    const bool cross = in->other != NULL;
    return (alone){.a = stored_make(in->xyz, in->n, in->precision, in->how),
                   .b = stored_make(in->other, cross ? in->m : 0, in->precision, LAYOUT_PACKED),
                   .box = differ_box(in),
                   .first = made->a[s],
                   .by = cross ? made->b[s] : made->a[s]};
}

static void free_alone(alone *one)
{
    stored_free(&one->a);
    stored_free(&one->b);
}

/** Return true when n elements of `size` bytes of an array, from element `at` on, are those of
 *  another; no array has none. */
static bool same(const void *all, int64_t at, const void *one, int64_t n, size_t size)
{
    return n == 0 || !one ||
           (all && memcmp((const char *)all + (size_t)at * size, one, (size_t)n * size) == 0);
}

/** Return true when n indices from element `at` on are those of another, shifted by a number;
 *  negative ones are not shifted. */
static bool shifted(const int32_t *all, int64_t at, const int32_t *one, int64_t n, int64_t by)
{
    bool good = true;
    for (int64_t p = 0; p < n && good; p++) {
        good = all[at + p] == (one[p] < 0 ? one[p] : one[p] + by);
    }
    return good;
}

static bool is_ok(kith_ctx *ctx, kith_status status)
{
    return CHECK(status == KITH_OK, "%s: %s", kith_backend(ctx), kith_message(ctx));
}

/* ------------------------------------------------------------------------------------- lists */

/** Compare a part of a list with the list of one system. @param at  its first pair in the whole */
static bool is_list(const kith_pairs *all, int64_t at, const kith_pairs *one, const alone *system,
                    kith_precision precision)
{
    const size_t real = (size_t)precision;
    bool good = at + one->n <= all->n && shifted(all->j, at, one->j, one->n, system->by) &&
                (!one->i || shifted(all->i, at, one->i, one->n, system->first)) &&
                same(all->distances, at, one->distances, one->n, real) &&
                same(all->vectors, at, one->vectors, one->n, 3 * real) &&
                same(all->shifts, at, one->shifts, one->n, 3 * sizeof *one->shifts);
    for (int64_t row = 0; row <= one->rows && one->offsets && good; row++) {
        good = all->offsets[system->first + row] == at + one->offsets[row];
    }
    return good;
}

/** Compare the lists of all contexts with those of the systems. */
static void check_lists(differ *d, const batch *made, const kith_pairs *lists,
                        kith_pairs_options form)
{
    kith_ctx *ctx = d->ctx[d->contexts - 1];
    int64_t at = 0;
    form.batch = NULL;
    for (int64_t s = 0; s < made->systems; s++) {
        alone system = make_alone(made, s);
        kith_pairs one = {0};
        form.against = made->whole.other ? &system.b.points : NULL;
        if (is_ok(ctx, kith_pairs_find(ctx, &system.a.points, system.box, made->whole.cutoff, &form,
                                       &one))) {
            for (int k = 0; k < d->contexts; k++) {
                CHECK(is_list(&lists[k], at, &one, &system, made->whole.precision),
                      "%s: the %lld pairs of system %lld of %lld differ", kith_backend(d->ctx[k]),
                      (long long)one.n, (long long)s, (long long)made->systems);
            }
            at += one.n;
        }
        kith_pairs_free(&one);
        free_alone(&system);
    }
    for (int k = 0; k < d->contexts; k++) {
        CHECK(lists[k].n == at && lists[k].rows == made->whole.n,
              "%s: %lld pairs, %lld rows; alone %lld, %lld", kith_backend(d->ctx[k]),
              (long long)lists[k].n, (long long)lists[k].rows, (long long)at,
              (long long)made->whole.n);
    }
}

/** Sorted lists. */
static void check_pairs(differ *d, const batch *made, rng *r)
{
    kith_pairs list[DIFFER_MOST_CONTEXTS] = {0};
    kith_pairs_options form;
    kith_pairs_options_init(&form);
    form.against = made->whole.other ? &made->other.points : NULL;
    form.batch = &made->given;
    form.full = (int)rng_below(r, 2);
    form.sorted = 1;
    form.layout = differ_one_in(r, 2) ? KITH_CSR : KITH_IJ;
    form.extras = (unsigned)rng_below(r, 8);
    bool good = true;
    for (int k = 0; k < d->contexts && good; k++) {
        good = is_ok(d->ctx[k],
                     kith_pairs_find(d->ctx[k], &made->points.points, differ_box(&made->whole),
                                     made->whole.cutoff, &form, &list[k]));
    }
    if (good) {
        check_lists(d, made, list, form);
#ifdef DIFFER_CUDA
        if (!differ_is_cpu(d->ctx[0])) {
            differ_device(d->ctx[0], &made->whole, form, &list[d->contexts - 1]);
        }
#endif
    }
    for (int k = 0; k < d->contexts; k++) {
        kith_pairs_free(&list[k]);
    }
}

/* ----------------------------------------------------------------------------------- nearest */

/** Compare the rows of one system. */
static bool are_neighbours(const kith_nearest *all, const kith_nearest *one, const alone *system,
                           kith_precision precision)
{
    const size_t real = (size_t)precision;
    const int64_t at = system->first * one->k, n = one->rows * one->k;
    return same(all->counts, system->first, one->counts, one->rows, sizeof *one->counts) &&
           shifted(all->j, at, one->j, n, system->by) &&
           same(all->distances, at, one->distances, n, real) &&
           same(all->vectors, at, one->vectors, n, 3 * real) &&
           same(all->shifts, at, one->shifts, n, 3 * sizeof *one->shifts);
}

static void check_nearest(differ *d, const batch *made, rng *r)
{
    kith_nearest all = {.size = sizeof all}, one = {.size = sizeof one};
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.cutoff = differ_one_in(r, 2) ? made->whole.cutoff : 0;
    options.extras = (unsigned)rng_below(r, 8);
    const int64_t k = 1 + rng_below(r, 16);
    kith_ctx *last = d->ctx[d->contexts - 1];
    for (int c = 0; c < d->contexts; c++) {
        kith_nearest_options own = options;
        own.batch = &made->given;
        own.against = made->whole.other ? &made->other.points : NULL;
        const kith_status status = kith_nearest_find(d->ctx[c], &made->points.points,
                                                     differ_box(&made->whole), k, &own, &all);
        bool good = true;
        for (int64_t s = 0; s < made->systems && good; s++) {
            alone system = make_alone(made, s);
            own.batch = NULL;
            own.against = made->whole.other ? &system.b.points : NULL;
            const kith_status expected = kith_nearest_find(last, &system.a.points, system.box, k,
                                                           &own, &one);
            good = expected == KITH_OK; /* else a neighbour is too many boxes away */
            CHECK(good ? status == KITH_OK || s + 1 < made->systems : status == expected,
                  "%s: %s, system %lld alone %s", kith_backend(d->ctx[c]), kith_status_name(status),
                  (long long)s, kith_status_name(expected));
            CHECK(!good || status != KITH_OK ||
                      are_neighbours(&all, &one, &system, made->whole.precision),
                  "%s: neighbours of system %lld of %lld differ, k %lld", kith_backend(d->ctx[c]),
                  (long long)s, (long long)made->systems, (long long)k);
            free_alone(&system);
        }
    }
    kith_nearest_free(&all);
    kith_nearest_free(&one);
}

/* ------------------------------------------------------------------------------------- groups */

/** Return true when the labels of n particles are those of one system, raised by a number. */
static bool are_labels(const int32_t *all, const int32_t *one, int64_t n, int64_t by)
{
    for (int64_t p = 0; p < n; p++) {
        if (all[p] != (one[p] > 0 ? one[p] + by : 0)) {
            return false;
        }
    }
    return true;
}

static void check_groups(differ *d, const batch *made, rng *r)
{
    kith_groups all = {.size = sizeof all}, one = {.size = sizeof one};
    kith_fof_options options;
    kith_batch given = made->given;
    kith_fof_options_init(&options);
    given.against_offsets = NULL;
    options.min_members = 1 + rng_below(r, 3);
    kith_ctx *last = d->ctx[d->contexts - 1];
    for (int c = 0; c < d->contexts; c++) {
        kith_fof_options own = options;
        own.batch = &given;
        bool good = is_ok(d->ctx[c],
                          kith_fof_find(d->ctx[c], &made->points.points, differ_box(&made->whole),
                                        made->whole.cutoff, &own, &all));
        own.batch = NULL;
        for (int64_t s = 0; s < made->systems && good; s++) {
            alone system = make_alone(made, s);
            good = is_ok(last, kith_fof_find(last, &system.a.points, system.box, made->whole.cutoff,
                                             &own, &one));
            const int64_t by = good ? all.offsets[s] : 0;
            good = good &&
                   CHECK(
                       all.offsets[s + 1] - by == one.n &&
                           same(all.members, by, one.members, one.n, sizeof *one.members) &&
                           are_labels(all.labels + system.first, one.labels, system.a.points.n, by),
                       "%s: groups of system %lld of %lld differ", kith_backend(d->ctx[c]),
                       (long long)s, (long long)made->systems);
            free_alone(&system);
        }
    }
    kith_groups_free(&all);
    kith_groups_free(&one);
}

/* ------------------------------------------------------------------------------------ g(r) */

/** Random species of n particles. */
static int32_t *make_species(rng *r, int64_t n, int32_t n_species)
{
    int32_t *species = check_malloc((size_t)(n + 1) * sizeof *species);
    for (int64_t p = 0; p < n; p++) {
        species[p] = (int32_t)rng_below(r, n_species);
    }
    return species;
}

static void check_rdf(differ *d, const batch *made, rng *r)
{
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.n_species = (int32_t)(1 + rng_below(r, 3));
    int32_t *species = make_species(r, made->whole.n, options.n_species);
    int32_t *others = make_species(r, made->whole.m, options.n_species);
    options.bins = 1 + rng_below(r, 50);
    options.r_max = made->whole.cutoff;
    kith_histogram expected = {.size = sizeof expected};
    kith_ctx *last = d->ctx[d->contexts - 1];
    for (int64_t s = 0; s < made->systems; s++) {
        alone system = make_alone(made, s);
        options.against = made->whole.other ? &system.b.points : NULL;
        options.species = species + made->a[s];
        options.species_against = made->whole.other ? others + made->b[s] : NULL;
        is_ok(last, kith_rdf_count(last, &system.a.points, system.box, &options, &expected));
        free_alone(&system);
    }
    options.batch = &made->given;
    options.against = made->whole.other ? &made->other.points : NULL;
    options.species = species;
    options.species_against = made->whole.other ? others : NULL;
    for (int c = 0; c < d->contexts; c++) {
        kith_histogram all = {.size = sizeof all};
        if (is_ok(d->ctx[c], kith_rdf_count(d->ctx[c], &made->points.points,
                                            differ_box(&made->whole), &options, &all))) {
            const int64_t n = all.partials * all.bins;
            CHECK(all.frames == expected.frames &&
                      same(all.counts, 0, expected.counts, n, sizeof *all.counts) &&
                      same(all.ideal, 0, expected.ideal, n, sizeof *all.ideal) &&
                      same(all.pairs, 0, expected.pairs, all.partials, sizeof *all.pairs),
                  "%s: %lld frames of a batch have another histogram than alone",
                  kith_backend(d->ctx[c]), (long long)made->systems);
        }
        kith_histogram_free(&all);
    }
    kith_histogram_free(&expected);
    free(species);
    free(others);
}

void differ_batch(differ *d, rng *r)
{
    batch *made = check_malloc(sizeof *made);
    make_batch(r, made);
    switch (rng_below(r, 5)) {
    case 0: check_pairs(d, made, r); break;
    case 1: check_nearest(d, made, r); break;
    case 2: check_groups(d, made, r); break;
    case 3: differ_rows_of(d, r, &made->whole, &made->given); break;
    default: check_rdf(d, made, r); break;
    }
    free_batch(made);
    free(made);
}
