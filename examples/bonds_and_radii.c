/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists beyond one radius. Bonds of water: cutoffs by pair of species find the two hydrogens of
 * each oxygen. Contacts between molecules: other cutoffs, without pairs of one molecule. And a gas
 * of which each particle has a smoothing length of its own, as in smoothed particle hydrodynamics.
 */
#include <kith.h>

#include <math.h>
#include <stdio.h>

enum { SIDE = 8, MOLECULES = SIDE * SIDE * SIDE, ATOMS = 3 * MOLECULES };
enum { OXYGEN, HYDROGEN, SPECIES };

/** Put molecules on a lattice, with the atoms in the order O, H, H [angstrom]. */
static void make_water(double (*xyz)[3], int32_t *species, int32_t *molecules)
{
    static const double place[3][3] = {{0, 0, 0}, {0.96, 0, 0}, {-0.24, 0.93, 0}};
    for (int a = 0; a < ATOMS; a++) {
        const int m = a / 3;
        const int cell[3] = {m % SIDE, m / SIDE % SIDE, m / SIDE / SIDE};
        for (int k = 0; k < 3; k++) {
            xyz[a][k] = 3.1 * cell[k] + place[a % 3][k];
        }
        species[a] = a % 3 == 0 ? OXYGEN : HYDROGEN;
        molecules[a] = m;
    }
}

/** Count the pairs of a list. @return 1 when there are as many as expected */
static int check(kith_ctx *ctx, const char *what, const kith_points *points, const kith_box *box,
                 const kith_pairs_options *options, int64_t expected)
{
    kith_pairs list = {0};
    /* the cutoff 0: the table, or the radii, decide alone */
    if (kith_pairs_find(ctx, points, box, 0, options, &list) != KITH_OK) {
        puts(kith_message(ctx));
        return 0;
    }
    const int64_t n = list.n;
    printf("%s: %lld pairs, expected %lld\n", what, (long long)n, (long long)expected);
    kith_pairs_free(&list);
    return n == expected;
}

int main(void)
{
    static double xyz[ATOMS][3];
    static int32_t species[ATOMS], molecules[ATOMS];
    static double smoothing[ATOMS];
    kith_ctx *ctx = NULL;
    if (kith_open(NULL, &ctx) != KITH_OK) {
        puts(kith_message(NULL));
        return 1;
    }
    make_water(xyz, species, molecules);
    const kith_points points = kith_points_packed(xyz, ATOMS, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(3.1 * SIDE, 3.1 * SIDE, 3.1 * SIDE);

    const double bonds[SPECIES][SPECIES] = {{0, 1.2}, {1.2, 0}}; /* 0: no pairs */
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.species = species;
    options.n_species = SPECIES;
    options.cutoffs = &bonds[0][0];
    int good = check(ctx, "O-H bonds", &points, &box, &options, 2 * MOLECULES);

    const double contacts[SPECIES][SPECIES] = {{0, 2.2}, {2.2, 0}};
    options.cutoffs = &contacts[0][0];
    options.molecules = molecules;
    good &= check(ctx, "O-H contacts of two molecules", &points, &box, &options, 2 * MOLECULES);

    /* one particle in 64 has a smoothing length of 3.2, the others of 0.5: each gathers the
     * particles that are within its own */
    int64_t expected = 0;
    kith_pairs_options_init(&options);
    options.full = 1;
    options.radii = smoothing;
    options.radius_rule = KITH_RADIUS_GATHER;
    for (int a = 0; a < ATOMS; a++) {
        smoothing[a] = 0.5;
    }
    for (int a = 0; a < ATOMS; a += 192) { /* oxygens, with equal surroundings */
        smoothing[a] = 3.2;
    }
    int64_t all = 0, around = 0;
    static int64_t neighbours[ATOMS];
    if (kith_pairs_count(ctx, &points, &box, 3.2, NULL, &all, neighbours) == KITH_OK) {
        around = neighbours[0];
        expected = around * ((ATOMS + 191) / 192);
    }
    good &= check(ctx, "neighbours by smoothing length", &points, &box, &options, expected);
    kith_close(ctx);
    return good && around > 0 ? 0 : 1;
}
