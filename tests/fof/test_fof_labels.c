/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Labels against brute force: random and clustered sets in every kind of box, at lengths from a
 * part of the spacing to several boxes; roles, density floors, velocities and ids.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fof_case.h"

static const double unit[3] = {1, 1, 1};
static const double zero[3] = {0, 0, 0};

static kith_box some_box(int kind)
{
    kith_box box = kith_box_periodic(1, 1, 1);
    switch (kind) {
    case 0: return kith_box_open();
    case 1: return box;
    case 2: return kith_box_triclinic(1, 0.9, 0.8, 0.4, -0.3, 0.35);
    case 3: box.periodic[1] = 0; return box;
    case 4: box.dim = 2; return box;
    case 5: return kith_box_triclinic(1, 0.5, 0.6, 0.9, 0.2, -0.5);
    case 6: box.row[2][2] = 0.02; return box;
    default: /* in two dimensions, a row oblique to both axes, and one that is not given */
        box.dim = 2;
        box.periodic[1] = 0;
        box.row[0][1] = 0.3;
        box.row[1][1] = 0;
        return box;
    }
}

enum { BOXES = 8 };

static void check_random(kith_ctx *ctx, rng *r)
{
    for (int kind = 0; kind < BOXES; kind++) {
        const kith_box box = some_box(kind);
        for (int round = 0; round < 4; round++) {
            const int64_t n = 1 + rng_below(r, 150);
            const kith_box around = kind == 7 ? kith_box_triclinic(1, 2, 1, 0.2, 0, 0) : box;
            const double length = 0.008 * (double)(1 << rng_below(r, kind == 6 ? 4 : 7));
            double *xyz = round % 2 ? points_in_box(r, n, &around)
                                    : points_clustered(r, n, 6, 1, 0.3 * length);
            points_drift(r, xyz, n, &box, round > 2 ? 2 : 0);
            char name[64];
            snprintf(name, sizeof name, "box %d, round %d, length %g", kind, round, length);
            fof_check(ctx,
                      &(fof_case){.name = name, .xyz = xyz, .n = n, .box = &box, .length = length});
            free(xyz);
        }
    }
}

/** Clumps of many particles, which cells and their indexes are for. */
static void check_dense(kith_ctx *ctx, rng *r)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    for (int round = 0; round < 8; round++) {
        const double width = 0.01 * (1 + round);
        double *xyz = points_clustered(r, 400, 1 + round % 3, 1, width);
        for (int k = 0; k < 900 && round > 3; k++) {
            xyz[k] = xyz[k % 30]; /* some in one place */
        }
        fof_check(ctx, &(fof_case){.name = "dense",
                                   .xyz = xyz,
                                   .n = 400,
                                   .box = round % 2 ? &box : NULL,
                                   .length = 0.01,
                                   .options = {.size = sizeof(kith_fof_options),
                                               .min_members = 1 + round}});
        free(xyz);
    }
}

static void check_far(kith_ctx *ctx, rng *r)
{
    double *xyz = points_uniform(r, 300, zero, unit);
    for (int64_t p = 0; p < 300; p++) {
        xyz[3 * p] += p % 3 ? 0 : 1e9;       /* two clumps, far apart */
        xyz[3 * p + 1] += p % 7 ? 0 : -3e14; /* and beyond what cells can number */
    }
    fof_check(ctx, &(fof_case){.name = "far", .xyz = xyz, .n = 300, .length = 0.1});
    fof_check(ctx, &(fof_case){.name = "far, longer", .xyz = xyz, .n = 300, .length = 1e9});
    free(xyz);
}

static void check_roles(kith_ctx *ctx, rng *r)
{
    const bool repeat_ids = strncmp(kith_backend(ctx), "cpu", 3) == 0; /* GPUs want distinct ids */
    const kith_box box = kith_box_periodic(1, 1, 1);
    enum { N = 200 };
    uint8_t roles[N];
    int64_t ids[N];
    for (int round = 0; round < 12; round++) {
        double *xyz = points_clustered(r, N, 8, 1, 0.02);
        double *velocities = points_uniform(r, N, zero, unit);
        for (int p = 0; p < N; p++) {
            roles[p] = (uint8_t)rng_below(r, 3);
            /* few distinct ids: groups with one smallest id are numbered by their smallest index */
            ids[p] = round % 4 == 3 && repeat_ids ? rng_below(r, 3) : (int64_t)rng_bits(r);
        }
        for (int p = N / 2; round % 4 > 1 && p < N; p++) { /* some places are shared */
            const int other = rng_below(r, N / 4);
            memcpy(xyz + 3 * p, xyz + 3 * other, 3 * sizeof *xyz);
            memcpy(velocities + 3 * p, velocities + 3 * (p % 3 ? other : p), 3 * sizeof *xyz);
        }
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 1 + round % 3;
        options.roles = round % 2 ? roles : NULL;
        const bool wide = round == 7; /* images are others too */
        options.min_links = wide ? 100 : round % 3 == 1 ? 4 : 0;
        options.ids = round % 4 ? ids : NULL;
        options.velocities = round % 5 > 2 ? velocities : NULL;
        options.velocity_length = 0.3;
        fof_check(ctx, &(fof_case){.name = "roles",
                                   .xyz = xyz,
                                   .n = N,
                                   .box = &box,
                                   .length = wide ? 0.7 : 0.02, /* images too */
                                   .options = options});
        free(velocities);
        free(xyz);
    }
}

/** Friends at the bound of phase space: the sum is exactly 1 where positions are equal and
 *  velocities differ by the velocity length, where both terms are 1/2, and where velocities are
 *  equal and positions differ by the length; every other pair is 2^-20 farther apart. */
static void check_phase_bound(kith_ctx *ctx)
{
    enum { N = 64 };
    const kith_box box = kith_box_periodic(12, 12, 12);
    double xyz[N][3], velocities[N][3];
    uint8_t roles[N];
    for (int form = 0; form < 12; form++) {
        const int way = form % 3, axis = form / 3 % 4;
        for (int p = 0; p < N; p++) {
            roles[p] = p % 8 == 1 || p % 8 == 3 ? KITH_ATTACH : KITH_LINK;
            for (int k = 0; k < 3; k++) {
                xyz[p][k] = 3.0 * (k == 0 ? p / 2 % 4 : k == 1 ? p / 8 % 4 : p / 32);
                velocities[p][k] = 0;
            }
            /* 1 + 0, 0 + 1, 1/2 + 1/2; the other of two is one unit in the last place farther */
            const int other = p % 2;
            const double scale = p / 2 % 2 ? 1 + 0x1p-20 : 1;
            xyz[p][axis % 3] += other && way != 1 ? (way == 0 ? 1 : -0.5) * scale : 0;
            xyz[p][(axis + 1) % 3] += other && way == 2 ? 0.5 : 0;
            velocities[p][axis % 3] = other && way > 0 ? (way == 1 ? 1 : 0.5) * scale : 0;
            velocities[p][(axis + 1) % 3] = other && way == 2 ? -0.5 : 0;
        }
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 1;
        options.roles = form / 6 ? roles : NULL;
        options.min_links = form == 5 || form == 10;
        options.velocities = velocities;
        options.velocity_length = 1;
        fof_check(ctx, &(fof_case){.name = "bound of phase space",
                                   .xyz = xyz[0],
                                   .n = N,
                                   .box = form % 2 ? &box : NULL,
                                   .length = 1,
                                   .options = options});
    }
}

/** Attached particles as far from one group as from another join that of the smallest index: links
 *  at even places of a line, attached particles between them, in any order, some in one place. */
static void check_ties(kith_ctx *ctx, rng *r)
{
    enum { N = 80, PLACES = 20 };
    const kith_box box = kith_box_periodic(PLACES, PLACES, PLACES);
    for (int round = 0; round < 12; round++) {
        double xyz[N][3] = {{0}};
        uint8_t roles[N];
        for (int p = 0; p < N; p++) {
            const int place = (int)rng_below(r, PLACES);
            xyz[p][round % 3] = place;
            roles[p] = place % 2 ? KITH_ATTACH : KITH_LINK;
        }
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 1;
        options.roles = roles;
        fof_check(ctx, &(fof_case){.name = "ties",
                                   .xyz = xyz[0],
                                   .n = N,
                                   .box = round / 3 % 2 ? &box : NULL,
                                   .length = 1,
                                   .options = options});
    }
}

/** Links of coincident particles by images: with a length of 1.05 boxes each of three has the other
 *  two at 7 images, 14 links; of one more than these none links. */
static void check_image_links(kith_ctx *ctx)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double xyz[9] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
    for (int64_t least = 13; least <= 15; least++) {
        kith_fof_options options;
        kith_fof_options_init(&options);
        options.min_members = 1;
        options.min_links = least;
        fof_check(ctx, &(fof_case){.name = "links by images",
                                   .xyz = xyz,
                                   .n = 3,
                                   .box = &box,
                                   .length = 1.05,
                                   .options = options});
    }
}

/** Far from the origin of the cells, where coordinates in cells are rounded: particles of one part
 *  are friends without being compared, and so must be no farther apart than the length. Two lie on
 *  opposite corners of a cube whose diagonal is the length, give or take some units in the last
 *  place; most lie at the origin, where the cells then begin. */
static void check_far_parts(kith_ctx *ctx, rng *r)
{
    enum { N = 300, PAIRS = 60 };
    for (int round = 0; round < 40; round++) {
        double xyz[N][3] = {{0}};
        const double length = rng_uniform(r, 0.7, 1.4), side = length / sqrt(3);
        for (int p = 0; p < PAIRS; p++) {
            for (int k = 0; k < 3; k++) {
                const double from = floor(ldexp(rng_uniform(r, 1, 2), 16 + round / 2));
                const double ulp = nextafter(from * side, INFINITY) - from * side;
                xyz[2 * p][k] = from * side + ulp * (double)(rng_below(r, 4) - 1);
                xyz[2 * p + 1][k] = (from + 1) * side + ulp * (double)(rng_below(r, 4) - 2);
            }
        }
        fof_check(ctx, &(fof_case){.name = "far parts", .xyz = xyz[0], .n = N, .length = length});
    }
}

/** In a plane, parts of which five make a cell: coordinates in parts are rounded, so that opposite
 *  corners of a square whose diagonal is the length, or a little more, may be in one part. The last
 *  particle is so far away that a cell of four parts would be too small. */
static void check_flat_parts(kith_ctx *ctx, rng *r)
{
    enum { PAIRS = 25, N = 120, ALONG = 7000, ACROSS = 8 };
    kith_box box = kith_box_open();
    box.dim = 2;
    for (int round = 0; round < 100; round++) {
        double xyz[N][3] = {{0}}; /* most at the origin, where cells then begin */
        const double length = rng_uniform(r, 0.7, 1.4), side = length / sqrt(2);
        for (int p = 0; p < PAIRS; p++) {
            for (int k = 0; k < 2; k++) {
                const double from = 1 + (double)rng_below(r, k ? ACROSS : ALONG);
                xyz[2 * p][k] = from * side;
                xyz[2 * p + 1][k] = (from + 1) * side;
            }
        }
        xyz[N - 1][0] = (ALONG + 2) * side;
        fof_check(
            ctx,
            &(fof_case){
                .name = "parts of a plane", .xyz = xyz[0], .n = N, .box = &box, .length = length});
    }
}

/** Two places, with one particle each and with many: at the length; a rounding error farther apart,
 *  where float rounds the distance to the length; and near each other by an image, straight or
 *  aslant. */
static void check_two_places(kith_ctx *ctx)
{
    enum { MANY = 30, PLACES = 5, FIRST_IMAGE = 2 };
    static const double at[PLACES][2] = {{0, 1}, {-0x1p-30, 1}, {0.5, 3.5}, {0.2, 3.5}, {3.5, 0.2}};
    const kith_box periodic = kith_box_periodic(4, 4, 4), open = kith_box_open();
    for (int e = 0; e < 6 * PLACES; e++) {
        const int place = e / 6, axis = e % 3;
        double xyz[2 * MANY][3] = {{0}};
        for (int p = 0; p < 2 * MANY; p++) {
            xyz[p][axis] = at[place][p % 2];
            xyz[p][(axis + 1) % 3] = place <= FIRST_IMAGE ? 0 : p % 2 ? 2.2 : 1.8;
        }
        fof_check(ctx, &(fof_case){.name = "two places",
                                   .xyz = xyz[0],
                                   .n = e % 6 < 3 ? 2 : 2 * MANY,
                                   .box = place < FIRST_IMAGE ? &open : &periodic,
                                   .length = 1});
    }
}

/** Two cells side by side. One holds a group and a stray particle, the other many particles in a
 *  place that is near the first cell, but too far from its particles, and one that is a friend of
 *  the stray: the only link between the cells. */
static void check_border(kith_ctx *ctx)
{
    enum { MANY = 1100, FIRST = 700, FEW = 40, CLUMPS = 32 };
    for (int form = 0; form < 3; form++) {
        const int many = form == 2 ? FEW : MANY; /* more than are compared at once, or fewer */
        const int n = many + CLUMPS + 3;
        double xyz[MANY + CLUMPS + 3][3] = {{0}}; /* cells begin at 0, where most particles are */
        for (int p = FIRST; p < many && form == 1; p++) {
            xyz[p][1] = xyz[p][2] = 0.5;
        }
        for (int p = 0; p < CLUMPS; p++) {
            xyz[many + p][0] = -0.2 - 0.57 * (p % 4);
            xyz[many + p][1] = 1.3 + 0.7 * (p / 4 % 2);
            xyz[many + p][2] = 0.2 + 0.57 * (p / 8);
        }
        xyz[n - 3][2] = 2.2;
        xyz[n - 2][0] = -0.5;
        xyz[n - 2][2] = 2.2;
        xyz[n - 1][0] = form == 1 ? -0.9 : -2; /* near the block around the many, or far from it */
        xyz[n - 1][1] = form == 1 ? 0.5 : 2;
        fof_check(ctx, &(fof_case){.name = "border", .xyz = xyz[0], .n = n, .length = 1});
    }
}

/** Sites that are no friends of each other, each of two places near each other, most of them in
 *  parts side by side, with many particles; two outliers make the cells hold many sites. */
static void check_sites(kith_ctx *ctx, rng *r)
{
    enum { SIDE = 7, COPIES = 25, N = SIDE * SIDE * SIDE * 2 * COPIES + 2 };
    for (int axis = 0; axis < 3; axis++) {
        double(*xyz)[3] = check_malloc(N * sizeof *xyz);
        for (int site = 0; site < SIDE * SIDE * SIDE; site++) {
            const int cell[3] = {site % SIDE, site / SIDE % SIDE, site / SIDE / SIDE};
            const double apart = rng_uniform(r, 0.3, 0.55);
            for (int p = 0; p < 2 * COPIES; p++) {
                for (int k = 0; k < 3; k++) {
                    xyz[2 * COPIES * site + p][k] = 1.6 * cell[k] +
                                                    (k == axis && p % 2 ? apart : 0);
                }
            }
        }
        for (int k = 0; k < 3; k++) {
            xyz[N - 2][k] = -1e5;
            xyz[N - 1][k] = 1e5;
        }
        fof_check(ctx,
                  &(fof_case){.name = "sites", .xyz = xyz[0], .n = N, .length = 1, .large = 1});
        free(xyz);
    }
}

int main(int argc, char **argv)
{
    rng r = {20261121};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_random(ctx, &r);
    check_dense(ctx, &r);
    check_far(ctx, &r);
    check_roles(ctx, &r);
    check_phase_bound(ctx);
    check_ties(ctx, &r);
    check_image_links(ctx);
    check_far_parts(ctx, &r);
    check_flat_parts(ctx, &r);
    check_two_places(ctx);
    check_border(ctx);
    check_sites(ctx, &r);
    kith_close(ctx);
    return check_done();
}
