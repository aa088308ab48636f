/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends of friends at every linking length that kith.h allows: very skewed boxes, flat boxes,
 * thin boxes of which up to 500 images are within the length, and particles far outside the box.
 * Every option gives the groups of the brute-force oracle.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "fof_case.h"
#include "oracle.h"

/** The options of kith_fof_options, each alone, and all of them together. */
enum { PLAIN, LINKS, ROLES, PHASE_SPACE, IDS, EVERY_OPTION, OPTIONS };

static const char *const option_name[OPTIONS] = {"plain",       "min_links", "roles",
                                                 "phase space", "ids",       "every option"};

/** What options are given of each particle. */
struct extras {
    uint8_t *roles;
    double *velocities; /**< [n][3] */
    int64_t *ids;
};

static struct extras make_extras(rng *r, int64_t n)
{
    static const double zero[3] = {0, 0, 0};
    static const double one[3] = {1, 1, 1};
    struct extras e = {.roles = check_malloc((size_t)n),
                       .velocities = points_uniform(r, n, zero, one),
                       .ids = check_malloc((size_t)n * sizeof *e.ids)};
    for (int64_t p = 0; p < n; p++) {
        e.roles[p] = (uint8_t)(rng_below(r, 4) % 3);
        e.ids[p] = (int64_t)rng_bits(r);
    }
    return e;
}

static void free_extras(struct extras *e)
{
    free(e->roles);
    free(e->velocities);
    free(e->ids);
}

static kith_fof_options options_for(int which, const struct extras *e)
{
    const bool every = which == EVERY_OPTION;
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 1;
    options.min_links = which == LINKS || every ? 2 : 0;
    options.roles = which == ROLES || every ? e->roles : NULL;
    options.velocities = which == PHASE_SPACE || every ? e->velocities : NULL;
    options.velocity_length = 0.6;
    options.ids = which == IDS || every ? e->ids : NULL;
    return options;
}

/** Return true when the wrapping of all points does not depend on how the inverse of the box is
 *  rounded. */
static bool is_unambiguous(const double *xyz, int64_t n, const kith_box *box)
{
    bool yes = true;
    for (int k = 0; k < 2; k++) {
        stored s = stored_make(xyz, n, k ? KITH_FLOAT : KITH_DOUBLE, LAYOUT_PACKED);
        yes = yes && oracle_margin(&s.points, box) > 1e-12;
        stored_free(&s);
    }
    return yes;
}

static void check_option(kith_ctx *ctx, const fof_case *c, int which, const struct extras *e)
{
    char name[160];
    fof_case mine = *c;
    snprintf(name, sizeof name, "%s, %s", c->name, option_name[which]);
    mine.name = name;
    mine.options = options_for(which, e);
    fof_check(ctx, &mine);
}

/** A box of which the rows are these. */
static kith_box box_of(const double rows[3][3], int a, int b, int c)
{
    kith_box box = {.periodic = {a, b, c}, .dim = 3};
    for (int k = 0; k < 9; k++) {
        box.row[k / 3][k % 3] = rows[k / 3][k % 3];
    }
    return box;
}

/** Particles spread uniformly over `boxes` boxes in each direction. */
static double *spread(rng *r, int64_t n, const kith_box *box, double boxes)
{
    double *xyz = check_malloc((size_t)n * 3 * sizeof *xyz);
    for (int64_t p = 0; p < n; p++) {
        double f[3];
        for (int k = 0; k < 3; k++) {
            f[k] = rng_uniform(r, 0, boxes);
        }
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = f[0] * box->row[0][m] + f[1] * box->row[1][m] + f[2] * box->row[2][m];
        }
    }
    return xyz;
}

static void check_known(kith_ctx *ctx, rng *r)
{
    static const double many_rows[3][3] = {
        {0.2943, -0.2328, -0.3947}, {-0.1047, 0.2240, -0.4771}, {-0.9872, 1.1927, 1.8422}};
    static const double few_rows[3][3] = {
        {1.4653, 0, 0}, {2.4261, 1.5110, 0}, {-1.3287, -2.6707, 0.4070}};
    const kith_box many_box = box_of(many_rows, 1, 1, 0);
    const kith_box few_box = box_of(few_rows, 1, 1, 1);
    enum { MANY = 20000, FEW = 31 };
    double *many = spread(r, MANY, &many_box, 3);
    double *few = spread(r, FEW, &few_box, 1);
    struct extras e = make_extras(r, MANY);
    for (int which = 0; which < OPTIONS; which++) {
        check_option(ctx,
                     &(fof_case){.name = "20,000 particles in a skewed box",
                                 .xyz = many,
                                 .n = MANY,
                                 .box = &many_box,
                                 .length = 0.02335,
                                 .large = 1},
                     which, &e);
        check_option(ctx,
                     &(fof_case){.name = "31 particles in a skewed box",
                                 .xyz = few,
                                 .n = FEW,
                                 .box = &few_box,
                                 .length = 0.2013},
                     which, &e);
    }
    free_extras(&e);
    free(few);
    free(many);
}

/** A box with random rows, of lengths from 1/10 to 10, and often nearly parallel. */
static kith_box random_box(rng *r)
{
    kith_box box = {.dim = rng_below(r, 4) ? 3 : 2};
    for (int k = 0; k < 3; k++) {
        const double size = pow(10, rng_uniform(r, -1, 1));
        for (int m = 0; m < 3; m++) {
            box.row[k][m] = size * rng_uniform(r, -1, 1);
        }
        box.periodic[k] = rng_below(r, 4) > 0;
        box.origin[k] = rng_uniform(r, -1, 1);
    }
    for (int k = 0; k < 2; k++) {
        const double skew = rng_below(r, 2) ? rng_uniform(r, -8, 8) : 0;
        for (int m = 0; m < 3; m++) {
            box.row[k + 1][m] += skew * box.row[k][m];
        }
    }
    if (rng_below(r, 6) == 0) {
        box = kith_box_periodic(fabs(box.row[0][0]), fabs(box.row[1][1]), fabs(box.row[2][2]));
    }
    return box;
}

/** Heights of the box along its periodic axes, by Gram and Schmidt; infinity along the others. */
static void heights_of(const kith_box *box, double height[3])
{
    for (int k = 0; k < 3; k++) {
        double rest[3][3]; /* row k last: what is left of it is across the others */
        int n = 0;
        height[k] = INFINITY;
        for (int turn = 1; turn <= 3; turn++) {
            const int row = (k + turn) % 3;
            if (row >= box->dim) {
                continue;
            }
            for (int m = 0; m < 3; m++) {
                rest[n][m] = m < box->dim ? box->row[row][m] : 0;
            }
            for (int before = 0; before < n; before++) {
                double dot = 0;
                double square = 0;
                for (int m = 0; m < 3; m++) {
                    dot += rest[n][m] * rest[before][m];
                    square += rest[before][m] * rest[before][m];
                }
                for (int m = 0; m < 3; m++) {
                    rest[n][m] -= dot / square * rest[before][m];
                }
            }
            n++;
        }
        if (k < box->dim && box->periodic[k]) {
            const double *d = rest[n - 1];
            height[k] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
}

/** Images of a particle that the oracle looks at. */
static double images_of(const double height[3], double length)
{
    double images = 1;
    for (int k = 0; k < 3; k++) {
        images *= isfinite(height[k]) ? 2 * ceil(length / height[k]) + 3 : 1;
    }
    return images;
}

static void check_random(kith_ctx *ctx, rng *r)
{
    const int rounds = getenv("KITH_TEST_DEEP") ? 20000 : 400;
    const double most = 1e6; /* images that the oracle looks at */
    for (int round = 0; round < rounds; round++) {
        const kith_box box = random_box(r);
        const int64_t n = 2 + rng_below(r, 60);
        double height[3];
        heights_of(&box, height);
        const double least = fmin(fmin(height[0], height[1]), fmin(height[2], 10));
        double length = least * pow(10, rng_uniform(r, -2, 2.6));
        while (images_of(height, length) * (double)(n * n) > most) {
            length *= 0.8;
        }
        double *xyz = points_in_box(r, n, &box);
        points_drift(r, xyz, n, &box, (int)rng_below(r, 3));
        struct extras e = make_extras(r, n);
        if (is_unambiguous(xyz, n, &box)) {
            char name[80];
            snprintf(name, sizeof name, "round %d, dim %d, length %g, %g heights", round, box.dim,
                     length, length / least);
            check_option(
                ctx, &(fof_case){.name = name, .xyz = xyz, .n = n, .box = &box, .length = length},
                round % OPTIONS, &e);
        }
        free_extras(&e);
        free(xyz);
    }
}

/** The longest lengths: 500 heights of an axis, straight and skewed, flat and not. */
static void check_long(kith_ctx *ctx, rng *r)
{
    enum { N = 8 };
    static const double rows[4][3][3] = {{{0.01, 0, 0}, {3, 40, 0}, {-2, 7, 50}},
                                         {{0.01, 0, 0}, {0, 40, 0}, {0, 0, 50}},
                                         {{30, 0, 0}, {2.5, 0.01, 0}, {0, 0, 1}},
                                         {{40, 3, 0}, {0, 45, 9}, {0.1, 0.2, 0.061}}};
    struct extras e = make_extras(r, N);
    for (int k = 0; k < 4; k++) {
        kith_box box = box_of(rows[k], 1, 1, k != 2);
        box.dim = k == 2 ? 2 : 3;
        double height[3];
        heights_of(&box, height);
        const double length = 499.9 * fmin(fmin(height[0], height[1]), height[2]);
        double *xyz = points_in_box(r, N, &box);
        for (int which = 0; which < OPTIONS && is_unambiguous(xyz, N, &box); which++) {
            char name[40];
            snprintf(name, sizeof name, "499.9 heights, box %d", k);
            check_option(
                ctx, &(fof_case){.name = name, .xyz = xyz, .n = N, .box = &box, .length = length},
                which, &e);
        }
        free(xyz);
    }
    free_extras(&e);
}

/** Particles so far outside a box that wrapping rounds float coordinates by much of the length. */
static void check_far(kith_ctx *ctx, rng *r)
{
    enum { N = 100 };
    struct extras e = make_extras(r, N);
    for (int round = 0; round < 2 * OPTIONS; round++) {
        const kith_box box = round % 2 ? kith_box_triclinic(1, 1.1, 0.9, 0.3, -0.2, 0.25)
                                       : kith_box_periodic(1, 1.1, 0.9);
        double *xyz = points_in_box(r, N, &box);
        points_drift(r, xyz, N, &box, 100000);
        if (is_unambiguous(xyz, N, &box)) {
            check_option(
                ctx,
                &(fof_case){
                    .name = "far outside the box", .xyz = xyz, .n = N, .box = &box, .length = 0.05},
                round / 2, &e);
        }
        free(xyz);
    }
    free_extras(&e);
}

int main(int argc, char **argv)
{
    rng r = {20261123};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    check_known(ctx, &r);
    check_random(ctx, &r);
    check_long(ctx, &r);
    check_far(ctx, &r);
    kith_close(ctx);
    return check_done();
}
