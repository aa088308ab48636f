/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two particles that are a little farther apart than cutoff + skin, and then a little nearer than
 * the cutoff: without the bounds on rounding errors, a kept list would miss some of these pairs.
 * And kept pairs that cross the cutoff. In boxes far from the origin, skewed ones, ones that
 * change, and both precisions.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "verlet_case.h"

/* A box: cubic, far from the origin, skewed, flat and skewed, or none. */
static kith_box make_box(int kind, double side, rng *r)
{
    kith_box box = kith_box_periodic(side, side, side);
    if (kind == 1)
        box.origin[0] = box.origin[2] = 30 * side;
    if (kind == 2)
        box = kith_box_triclinic(side, side, side, rng_uniform(r, -1, 1) * side,
                                 rng_uniform(r, -1, 1) * side, rng_uniform(r, -1, 1) * side);
    if (kind == 3)
        box = kith_box_triclinic(8 * side, side, 0.5 * side, 20 * side, 30 * side, 5 * side);
    return box;
}

static void unit(rng *r, double u[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = rng_normal(r);
        sum += u[k] * u[k];
    }
    for (int k = 0; k < 3; k++)
        u[k] /= sqrt(sum);
}

static double skin_of(const kept *k)
{
    return k->options.cutoff + k->options.skin;
}

/* A pair at a distance, in direction u, around a place in the box. */
static void place(const kith_box *box, const double f[3], const double u[3], double distance,
                  double xyz[6])
{
    for (int m = 0; m < 3; m++) {
        double x = box->origin[m];
        for (int k = 0; k < 3; k++)
            x += f[k] * box->row[k][m];
        xyz[m] = x - u[m] * distance / 2;
        xyz[3 + m] = x + u[m] * distance / 2;
    }
}

static int check_points(kept *k, double xyz[6], kith_precision precision, const kith_box *box)
{
    stored s = stored_make(xyz, 2, precision, LAYOUT_PACKED);
    const int good = kept_check(k, &s.points, box);
    stored_free(&s);
    return good;
}

/* Approach from just beyond the skin to just within the cutoff. @return whether all is well. */
static int check_approach(kept *k, rng *r, const kith_box *box, int is_open,
                          kith_precision precision)
{
    const double eps = precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
    const double side = box->row[1][1]; /* rounding errors are as large as eps * side at faces */
    double f[3], u[3], xyz[6];
    kith_box now = *box;
    if (rng_below(r, 2)) /* the box is compressed, and the particles with it */
        for (int k3 = 0; k3 < 3; k3++)
            for (int m = 0; m < 3; m++)
                now.row[k3][m] *= 1 - 1e-3;
    unit(r, u);
    for (int a = 0; a < 3; a++)
        f[a] = rng_below(r, 2) ? 0 : rng_uniform(r, 0, 1);
    const double beyond = skin_of(k) + eps * side * rng_uniform(r, -2, 2);
    place(box, f, u, beyond, xyz);
    kith_verlet_rebuild(k->verlet);
    int good = check_points(k, xyz, precision, is_open ? NULL : box);
    double within = k->options.cutoff + eps * side * rng_uniform(r, -2, 2);
    if (good && rng_below(r, 2)) { /* as far as the list allows in this box */
        good = check_points(k, xyz, precision, is_open ? NULL : box);
        within = beyond - 2 * kept_state(k).allowed * (1 - 4 * eps * rng_uniform(r, 0, 1));
    }
    place(&now, f, u, within, xyz);
    return good && check_points(k, xyz, precision, is_open ? NULL : &now);
}

/* Move a kept pair to just within or just beyond the cutoff, both particles by the same length: the
 * bands of distance that need no test end there. @return whether all is well. */
static int check_crossing(kept *k, rng *r, const kith_box *box, int is_open,
                          kith_precision precision)
{
    const double eps = precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
    const double side = box->row[1][1];
    const double cutoff = k->options.cutoff, skin = k->options.skin;
    double f[3], u[3], xyz[6];
    kith_box now = *box;
    if (rng_below(r, 2)) /* the box is compressed or stretched, and the particles with it */
        for (int m = 0; m < 9; m++)
            now.row[m / 3][m % 3] *= 1 + rng_uniform(r, -0.2, 0.2) * skin / cutoff;
    unit(r, u);
    for (int a = 0; a < 3; a++)
        f[a] = rng_below(r, 2) ? 0 : rng_uniform(r, 0, 1);
    place(box, f, u, cutoff + skin * rng_uniform(r, -1, 1), xyz);
    kith_verlet_rebuild(k->verlet);
    int good = check_points(k, xyz, precision, is_open ? NULL : box);
    place(&now, f, u, cutoff + eps * side * rng_uniform(r, -2, 2), xyz);
    return good && check_points(k, xyz, precision, is_open ? NULL : &now);
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 1);
    rng r = {17};
    const int trials = check_deep() ? 4000000 : 100000 / (1 + check_brief());
    int64_t kept_lists = 0;
    for (int t = 0; t < trials / 50; t++) {
        const int kind = (int)rng_below(&r, 5);
        const kith_precision precision = rng_below(&r, 2) ? KITH_FLOAT : KITH_DOUBLE;
        const double side = pow(10, rng_uniform(&r, -3, 3));
        const kith_box box = make_box(kind, side, &r);
        kith_verlet_options o;
        kith_verlet_options_init(&o);
        o.cutoff = side * rng_uniform(&r, 0.05, 0.2);
        const double eps = precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
        o.skin = side * eps * pow(10, rng_uniform(&r, 0, 4)); /* from rounding errors on */
        o.extras = KITH_SHIFTS | KITH_VECTORS;
        char name[64];
        snprintf(name, sizeof name, "trial %d, box %d, %s", t, kind,
                 precision == KITH_FLOAT ? "float" : "double");
        kept k = kept_open(ctx, &o, name);
        int good = 1;
        for (int s = 0; s < 50 && good; s++) {
            good = s % 2 ? check_crossing(&k, &r, &box, kind == 4, precision)
                         : check_approach(&k, &r, &box, kind == 4, precision);
            kept_lists += !kept_state(&k).rebuilt;
        }
        kept_close(&k);
    }
    CHECK(kept_lists > trials / 50, "only %lld lists were kept", (long long)kept_lists);
    kith_close(ctx);
    return check_done();
}
