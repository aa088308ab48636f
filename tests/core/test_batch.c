/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours, groups and histograms of a batch are those of calls for each system alone,
 * bit for bit.
 */
#include "batches.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static void check_nearest(kith_ctx *ctx, const random_batch *batch, int cross, int64_t k,
                          double cutoff)
{
    const kith_batch given = batch_public(batch, cross);
    const size_t real = (size_t)batch->precision;
    kith_nearest_options o;
    kith_nearest all = {0}, alone = {0};
    kith_nearest_options_init(&o);
    o.batch = &given;
    o.against = cross ? &batch->other.points : NULL;
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    o.cutoff = cutoff;
    kith_status status = kith_nearest_find(ctx, &batch->points.points, batch_box(batch), k, &o,
                                           &all);
    for (int64_t s = 0; s < batch->systems; s++) {
        const kith_points a = batch_slice(&batch->points.points, batch->a[s], batch->a[s + 1]);
        const kith_points b = batch_slice(&batch->other.points, batch->b[s], batch->b[s + 1]);
        const int64_t first = batch->a[s] * k, by = cross ? batch->b[s] : batch->a[s];
        kith_nearest_options own = o;
        own.batch = NULL;
        own.against = cross ? &b : NULL;
        const kith_status one = kith_nearest_find(ctx, &a, batch_box_of(batch, s), k, &own, &alone);
        if (one != KITH_OK) { /* a neighbour is too many boxes away, or there is none to find */
            CHECK(status == one, "%s: system %lld gives %s, the batch %s", batch->name,
                  (long long)s, kith_status_name(one), kith_status_name(status));
            break;
        }
        if (!CHECK(status == KITH_OK || s + 1 < batch->systems, "%s: %s", batch->name,
                   kith_status_name(status)) ||
            status != KITH_OK)
            continue;
        const size_t n = (size_t)(a.n * k);
        int good = same_bytes(all.counts + batch->a[s], alone.counts, (size_t)a.n * 4) &&
                   same_bytes((char *)all.distances + (size_t)first * real, alone.distances,
                              n * real) &&
                   same_bytes((char *)all.vectors + 3 * (size_t)first * real, alone.vectors,
                              3 * n * real) &&
                   same_bytes(all.shifts + 3 * first, alone.shifts, 12 * n);
        for (size_t e = 0; e < n; e++)
            good = good && all.j[first + (int64_t)e] == (alone.j[e] < 0 ? -1 : alone.j[e] + by);
        if (!CHECK(good, "%s: nearest of system %lld, k %lld", batch->name, (long long)s,
                   (long long)k))
            break;
    }
    kith_nearest_free(&all);
    kith_nearest_free(&alone);
}

static void check_fof(kith_ctx *ctx, const random_batch *batch, int with)
{
    const kith_batch given = batch_public(batch, 0);
    const int64_t n = batch->points.points.n;
    kith_fof_options o;
    kith_groups all = {.size = sizeof all}, alone = {0};
    uint8_t *roles = check_malloc((size_t)n + 1);
    int64_t *ids = check_malloc((size_t)(n + 1) * 8);
    for (int64_t p = 0; p < n; p++) {
        roles[p] = (uint8_t)(p % 7 == 3 ? KITH_ATTACH : p % 11 == 5 ? KITH_IGNORE : KITH_LINK);
        ids[p] = n - p;
    }
    kith_fof_options_init(&o);
    o.batch = &given;
    o.min_members = 1 + with;
    o.roles = with ? roles : NULL;
    o.ids = with ? ids : NULL;
    int64_t groups = 0;
    const kith_status status = kith_fof_find(ctx, &batch->points.points, batch_box(batch), 0.5, &o,
                                             &all);
    CHECK(status == KITH_OK && all.systems == batch->systems && all.offsets && all.offsets[0] == 0,
          "%s: groups: %s", batch->name, kith_message(ctx));
    for (int64_t s = 0; s < batch->systems && status == KITH_OK; s++) {
        const kith_points a = batch_slice(&batch->points.points, batch->a[s], batch->a[s + 1]);
        kith_fof_options own = o;
        own.batch = NULL;
        own.roles = o.roles ? o.roles + batch->a[s] : NULL;
        own.ids = o.ids ? o.ids + batch->a[s] : NULL;
        int good = CHECK(kith_fof_find(ctx, &a, batch_box_of(batch, s), 0.5, &own, &alone) ==
                             KITH_OK,
                         "%s: %s", batch->name, kith_message(ctx));
        for (int64_t p = 0; p < a.n && good; p++)
            good = all.labels[batch->a[s] + p] ==
                   (alone.labels[p] > 0 ? alone.labels[p] + groups : 0);
        good = good && groups + alone.n <= all.n &&
               same_bytes(all.members + groups, alone.members, (size_t)alone.n * 8);
        groups += alone.n;
        if (!CHECK(good && all.offsets[s + 1] == groups, "%s: groups of system %lld", batch->name,
                   (long long)s))
            break;
    }
    CHECK(status != KITH_OK || check_failures() > 0 || all.n == groups,
          "%s: %lld groups, alone %lld", batch->name, (long long)all.n, (long long)groups);
    kith_groups_free(&all);
    kith_groups_free(&alone);
    free(roles);
    free(ids);
}

enum { SPECIES = 1, WEIGHTS = 2, FORCES = 4, MOLECULES = 8 };

static void check_rdf(kith_ctx *ctx, const random_batch *batch, int cross, unsigned with)
{
    const kith_batch given = batch_public(batch, cross);
    const int64_t n = batch->points.points.n, m = batch->other.points.n, most = n > m ? n : m;
    const size_t real = (size_t)batch->precision;
    int32_t *species = check_malloc((size_t)(most + 1) * 4);
    int32_t *molecules = check_malloc((size_t)(most + 1) * 4);
    double *weights = check_malloc((size_t)(most + 1) * 8);
    char *forces = check_malloc((size_t)(most + 1) * 3 * real);
    for (int64_t p = 0; p < most; p++) {
        species[p] = (int32_t)(p % 3);
        molecules[p] = (int32_t)(p / 2);
        weights[p] = sin((double)p);
        for (int k = 0; k < 3; k++)
            if (batch->precision == KITH_FLOAT)
                ((float *)(void *)forces)[3 * p + k] = (float)cos((double)(3 * p + k));
            else
                ((double *)(void *)forces)[3 * p + k] = cos((double)(3 * p + k));
    }
    kith_rdf_options o;
    kith_histogram all = {0}, alone = {0};
    kith_rdf_options_init(&o);
    o.bins = 40;
    o.r_max = 1;
    o.against = cross ? &batch->other.points : NULL;
    o.n_species = with & SPECIES ? 3 : 1;
    o.species = with & SPECIES ? species : NULL;
    o.molecules = with & MOLECULES ? molecules : NULL;
    o.weights = with & WEIGHTS ? weights : NULL;
    o.forces = with & FORCES ? forces : NULL;
    o.species_against = cross ? o.species : NULL;
    o.molecules_against = cross ? o.molecules : NULL;
    o.weights_against = cross ? o.weights : NULL;
    o.forces_against = cross ? o.forces : NULL;
    kith_rdf_options own = o;
    o.batch = &given;
    for (int turn = 0; turn < 2; turn++) { /* the second is added to the first */
        CHECK(kith_rdf_count(ctx, &batch->points.points, batch_box(batch), &o, &all) == KITH_OK,
              "%s: g(r): %s", batch->name, kith_message(ctx));
        for (int64_t s = 0; s < batch->systems; s++) {
            const kith_points a = batch_slice(&batch->points.points, batch->a[s], batch->a[s + 1]);
            const kith_points b = batch_slice(&batch->other.points, batch->b[s], batch->b[s + 1]);
            const int64_t i = batch->a[s], j = batch->b[s];
            own.against = cross ? &b : NULL;
            own.species = o.species ? o.species + i : NULL;
            own.molecules = o.molecules ? o.molecules + i : NULL;
            own.weights = o.weights ? o.weights + i : NULL;
            own.forces = o.forces ? (const char *)o.forces + 3 * (size_t)i * real : NULL;
            own.species_against = cross && o.species ? o.species + j : NULL;
            own.molecules_against = cross && o.molecules ? o.molecules + j : NULL;
            own.weights_against = cross && o.weights ? o.weights + j : NULL;
            own.forces_against = cross && o.forces ? (const char *)o.forces + 3 * (size_t)j * real
                                                   : NULL;
            CHECK(kith_rdf_count(ctx, &a, batch_box_of(batch, s), &own, &alone) == KITH_OK,
                  "%s: system %lld: %s", batch->name, (long long)s, kith_message(ctx));
        }
    }
    if (batch->systems > 0 && CHECK(all.frames == alone.frames && all.bins == alone.bins,
                                    "%s: %lld frames", batch->name, (long long)all.frames)) {
        const size_t bytes = (size_t)(all.partials * all.bins) * 8;
        CHECK(same_bytes(all.counts, alone.counts, bytes), "%s: counts, with %u", batch->name,
              with);
        CHECK(same_bytes(all.ideal, alone.ideal, bytes), "%s: ideal, with %u", batch->name, with);
        CHECK(!all.sums || same_bytes(all.sums, alone.sums, bytes), "%s: sums, with %u",
              batch->name, with);
        CHECK(same_bytes(all.pairs, alone.pairs, (size_t)all.partials * 8) &&
                  same_bytes(all.centres, alone.centres, (size_t)all.n_species * 8),
              "%s: pairs and centres, with %u", batch->name, with);
        CHECK(!all.pushes || (same_bytes(all.pushes, alone.pushes,
                                         (size_t)(2 * all.partials * (all.bins + 1)) * 8) &&
                              same_bytes(all.density, alone.density, (size_t)all.partials * 8)),
              "%s: force sums, with %u", batch->name, with);
    }
    kith_histogram_free(&all);
    kith_histogram_free(&alone);
    free(species);
    free(molecules);
    free(weights);
    free(forces);
}

/* A system that cannot be used leaves the histogram as it was. */
static void check_nothing_added(kith_ctx *ctx)
{
    double xyz[9] = {0.1, 0.1, 0.1, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5};
    const kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const int64_t offsets[3] = {0, 2, 3};
    int64_t bonds[4] = {0, 0, 0, 0};
    kith_batch batch;
    kith_rdf_options o;
    kith_histogram out = {0};
    kith_batch_init(&batch);
    kith_rdf_options_init(&o);
    batch.systems = 2;
    batch.offsets = offsets;
    o.r_max = 0.5;
    o.batch = &batch;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &out) == KITH_OK, "%s", kith_message(ctx));
    const int64_t frames = out.frames, pairs = out.pairs[0];
    xyz[6] = NAN;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &out) == KITH_NOT_FINITE &&
              strstr(kith_message(ctx), "system 1 of the batch"),
          "not finite: %s", kith_message(ctx));
    CHECK(out.frames == frames && out.pairs[0] == pairs, "something was added");
    xyz[6] = 0.5;
    o.bond_offsets = bonds;
    CHECK(kith_rdf_count(ctx, &points, &box, &o, &out) == KITH_UNSUPPORTED, "bonds: %s",
          kith_message(ctx));
    kith_histogram_free(&out);
}

/** Minimum images beyond half of the box of some systems: as counted one by one. A system whose box
 *  does not offer them is refused by its number, and nothing is added. */
static void check_minimum_image(kith_ctx *ctx)
{
    enum { SYSTEMS = 5, EACH = 40, N = SYSTEMS * EACH };
    rng r = {31};
    double xyz[3 * N];
    int32_t species[N];
    int64_t offsets[SYSTEMS + 1];
    kith_box boxes[SYSTEMS];
    for (int s = 0; s <= SYSTEMS; s++)
        offsets[s] = s * EACH;
    for (int p = 0; p < N; p++) {
        const double side = 1 + 0.6 * (p / EACH); /* r_max is beyond half of the first three */
        boxes[p / EACH] = kith_box_periodic(side, side, side);
        species[p] = p % 2;
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] = rng_uniform(&r, 0, side);
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    kith_batch batch;
    kith_batch_init(&batch);
    batch.systems = SYSTEMS;
    batch.offsets = offsets;
    batch.boxes = boxes;
    for (int several = 0; several < 2; several++) {
        kith_rdf_options o;
        kith_histogram all = {0}, alone = {0};
        kith_rdf_options_init(&o);
        o.r_max = 1.2;
        o.minimum_image = 1;
        o.n_species = 1 + several;
        kith_rdf_options own = o;
        o.batch = &batch;
        o.species = several ? species : NULL;
        CHECK(kith_rdf_count(ctx, &points, NULL, &o, &all) == KITH_OK, "%s", kith_message(ctx));
        for (int s = 0; s < SYSTEMS; s++) {
            const kith_points a = batch_slice(&points, offsets[s], offsets[s + 1]);
            own.species = several ? species + offsets[s] : NULL;
            CHECK(kith_rdf_count(ctx, &a, &boxes[s], &own, &alone) == KITH_OK, "%s",
                  kith_message(ctx));
        }
        const size_t bytes = (size_t)(all.partials * all.bins) * 8;
        CHECK(all.partials == alone.partials && all.bins == alone.bins &&
                  same_bytes(all.counts, alone.counts, bytes) &&
                  same_bytes(all.ideal, alone.ideal, bytes),
              "minimum images of a batch, %d species", 1 + several);
        const int64_t frames = all.frames, pairs = all.pairs[0];
        boxes[1].periodic[2] = 0;
        CHECK(kith_rdf_count(ctx, &points, NULL, &o, &all) == KITH_INVALID &&
                  strstr(kith_message(ctx), "system 1 of the batch"),
              "an open box: %s", kith_message(ctx));
        boxes[1].periodic[2] = 1;
        CHECK(all.frames == frames && all.pairs[0] == pairs, "something was added");
        kith_histogram_free(&all);
        kith_histogram_free(&alone);
    }
}

int main(int argc, char **argv)
{
    const int cases = check_deep() ? 1000 : 45;
    for (int threads = 1; threads <= 3; threads += 2) {
        kith_ctx *ctx = check_open(check_backend(argc, argv), threads);
        check_nothing_added(ctx);
        check_minimum_image(ctx);
        for (int seed = 0; seed < cases; seed++) {
            random_batch batch = batch_make((uint64_t)(seed + 20000 * threads), seed % 15 == 14);
            const int cross = (seed + 20000 * threads) % 3 == 2;
            check_nearest(ctx, &batch, cross, 1 + seed % 9, seed % 2 ? 0.8 : 0);
            check_fof(ctx, &batch, seed % 2);
            check_rdf(ctx, &batch, cross, 0);
            check_rdf(ctx, &batch, cross, (unsigned)seed % 16);
            batch_free(&batch);
        }
        kith_close(ctx);
    }
    return check_done();
}
