/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation made to fail: of sums over waves, of Debye's sums, and of histograms of two sets
 * with forces, molecules and bonds.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include <kith/debye.h>
#include <kith/waves.h>
#include "no_memory.h"
#include "points.h"

enum { N = 200, BINS = 8, KINDS = 2, WAVES = 3 };

typedef struct use {
    kith_points points, against;
    kith_box box;
    const double *forces;
    int32_t species[N], molecules[N], bonds[1];
    int64_t bond_offsets[N + 1];
    kith_histogram found;
} use;

/* Sums to a number that other threads do not change. */
static int64_t rounded(const double *sums, int n)
{
    double all = 0;
    for (int k = 0; k < n; k++)
        all += sums[k] * (k + 1);
    return (int64_t)(all * 1e6);
}

static kith_status sum_waves(void *user, kith_ctx *ctx, int64_t *seen)
{
    static const int32_t hkl[3 * WAVES] = {1, 0, 0, 0, -2, 5, 3, 3, 3};
    const use *u = user;
    double sums[WAVES * KINDS * 2] = {0};
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = WAVES;
    waves.hkl = hkl;
    waves.species = u->species;
    waves.n_species = KINDS;
    const kith_status status = kith_waves_sum(ctx, &u->points, &u->box, &waves, sums);
    *seen = status == KITH_OK ? rounded(sums, WAVES * KINDS * 2) : 0;
    return status;
}

static kith_status sum_debye(void *user, kith_ctx *ctx, int64_t *seen)
{
    enum { PARTIALS = KINDS * (KINDS + 1) / 2 };
    const use *u = user;
    double sums[PARTIALS * BINS] = {0};
    kith_debye_options options;
    kith_debye_options_init(&options);
    options.q_width = 0.5;
    options.n_q = BINS;
    options.species = u->species;
    options.n_species = KINDS;
    const kith_status status = kith_debye_sum(ctx, &u->points, &options, sums);
    *seen = status == KITH_OK ? rounded(sums, PARTIALS * BINS) : 0;
    return status;
}

static kith_status count(use *u, kith_ctx *ctx, const kith_rdf_options *options, int64_t *seen)
{
    const int64_t frames = u->found.frames;
    const kith_status status = kith_rdf_count(ctx, &u->points, &u->box, options, &u->found);
    CHECK(u->found.frames == frames + (status == KITH_OK), "a frame that failed was added");
    for (int64_t k = 0; k < u->found.partials * u->found.bins && status == KITH_OK; k++)
        *seen += u->found.counts[k] * (k + 1);
    return status;
}

static void release(void *user)
{
    kith_histogram_free(&((use *)user)->found);
}

/* One set with what leaves pairs out, then two sets with forces. */
static kith_status count_pairs(void *user, kith_ctx *ctx, int64_t *seen)
{
    use *u = user;
    release(u);
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.bins = BINS;
    options.r_max = 0.3;
    options.n_species = KINDS;
    options.species = u->species;
    options.molecules = u->molecules;
    options.bond_offsets = u->bond_offsets;
    options.bonds = u->bonds;
    kith_status status = count(u, ctx, &options, seen);
    release(u);
    options.molecules = NULL;
    options.bond_offsets = NULL;
    options.bonds = NULL;
    options.against = &u->against;
    options.species_against = u->species;
    options.forces = options.forces_against = u->forces;
    return status == KITH_OK ? count(u, ctx, &options, seen) : status;
}

static void release_nothing(void *user)
{
    (void)user;
}

int main(int argc, char **argv)
{
    static use u;
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {21};
    u.box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &u.box), *other = points_in_box(&r, N, &u.box);
    u.points = kith_points_packed(xyz, N, KITH_DOUBLE);
    u.against = kith_points_packed(other, N, KITH_DOUBLE);
    u.forces = other;
    for (int p = 0; p < N; p++) {
        u.species[p] = p % KINDS;
        u.molecules[p] = p / 3;
        u.bond_offsets[p + 1] = 1; /* of 0 with 1 */
    }
    u.bonds[0] = 1;
    no_memory_check(&(no_memory_use){backend, sum_waves, release_nothing, &u});
    no_memory_check(&(no_memory_use){backend, sum_debye, release_nothing, &u});
    no_memory_check(&(no_memory_use){backend, count_pairs, release, &u});
    free(xyz);
    free(other);
    return check_done();
}
