/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random boxes, sets of particles and cutoffs, with weight on what engines find hard: skewed and
 * unreduced rows, coordinates on faces, coincident particles, distances equal to the cutoff,
 * outliers, unwrapped coordinates, denormal numbers.
 */
#include "differ.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

bool differ_one_in(rng *r, int64_t n)
{
    return rng_below(r, n) == 0;
}

const kith_box *differ_box(const differ_input *input)
{
    return input->open ? NULL : &input->box;
}

/* ------------------------------------------------------------------------------------- boxes */

/** Volume of the unit vectors along the rows of the used axes; rows of 0 do not count. */
static double unit_volume(const kith_box *box)
{
    kith_box unit = *box;
    for (int k = 0; k < 3; k++) {
        double length2 = 0;
        for (int m = 0; m < 3; m++) {
            unit.row[k][m] = k < box->dim && m < box->dim ? unit.row[k][m] : k == m;
            length2 += unit.row[k][m] * unit.row[k][m];
        }
        for (int m = 0; m < 3; m++) {
            unit.row[k][m] /= sqrt(length2);
        }
    }
    double(*u)[3] = unit.row;
    return fabs(u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) +
                u[0][1] * (u[1][2] * u[2][0] - u[1][0] * u[2][2]) +
                u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]));
}

/** Add whole multiples of rows to other rows: the lattice stays, the rows are not reduced. */
static void shear(rng *r, kith_box *box)
{
    for (int64_t times = 1 + rng_below(r, 3); times > 0; times--) {
        const int to = (int)rng_below(r, box->dim);
        const int from = (to + 1 + (int)rng_below(r, box->dim - 1)) % box->dim;
        const double factor = (double)(rng_below(r, 9) - 4);
        for (int m = 0; m < 3; m++) {
            box->row[to][m] += factor * box->row[from][m];
        }
    }
}

/** Rows of some shape, about 1 long. */
static void make_rows(rng *r, kith_box *box)
{
    const int64_t kind = rng_below(r, 8);
    const bool round = differ_one_in(r, 3); /* sides that floats hold exactly */
    for (int k = 0; k < 3; k++) {
        const double side = round ? (double)(1 + rng_below(r, 8)) / 4 : exp(rng_uniform(r, -1, 1));
        box->row[k][k] = side * (kind == 1 ? pow(10, rng_uniform(r, -2, 2)) : 1);
    }
    const double skew = kind == 3 ? 0.5 : kind == 4 ? 4 : 0;
    box->row[1][0] = skew * rng_uniform(r, -1, 1);
    box->row[2][0] = skew * rng_uniform(r, -1, 1);
    box->row[2][1] = skew * rng_uniform(r, -1, 1);
    for (int k = 0; k < 9 && kind == 5; k++) {
        box->row[k / 3][k % 3] = rng_normal(r);
    }
    if (kind == 6) {
        shear(r, box);
    }
    for (int k = 0; k < 3 && kind == 7; k++) { /* rows in another order, of either sign */
        double row[3];
        const int other = (int)rng_below(r, box->dim);
        memcpy(row, box->row[k % box->dim], sizeof row);
        memcpy(box->row[k % box->dim], box->row[other], sizeof row);
        memcpy(box->row[other], row, sizeof row);
        const double sign = differ_one_in(r, 2) ? 1 : -1;
        for (int m = 0; m < 3; m++) {
            box->row[k][m] *= sign;
        }
    }
}

static kith_box make_box(rng *r, double scale, int dim)
{
    kith_box box = {.dim = dim};
    const double least = differ_one_in(r, 4) ? 1e-3 : 0.02;
    const int64_t periodic = differ_one_in(r, 2) ? 7 : rng_below(r, 8);
    const int64_t from = rng_below(r, 3);
    do {
        memset(box.row, 0, sizeof box.row);
        make_rows(r, &box);
    } while (!(unit_volume(&box) > least));
    for (int k = 0; k < 3; k++) {
        box.periodic[k] = (int)(periodic >> k & 1);
        box.origin[k] = scale * (from == 0   ? 0
                                 : from == 1 ? (double)(rng_below(r, 17) - 8) / 4
                                             : rng_uniform(r, -3, 3));
        for (int m = 0; m < 3; m++) {
            box.row[k][m] *= scale;
        }
    }
    for (int k = 0; k < 3 && differ_one_in(r, 3); k++) {
        if (!box.periodic[k]) {
            memset(box.row[k], 0, sizeof box.row[k]);
        }
    }
    return box;
}

/* -------------------------------------------------------------------------------------- sets */

enum { KINDS = 7, PLACES = 12 };

/** How the fractional coordinates of a set are made. */
typedef struct recipe {
    int64_t kind;
    double place[PLACES][3];
    int64_t places;
    double width;
    int64_t grid;
    bool flat[3]; /**< all coordinates along an axis are equal */
} recipe;

static recipe make_recipe(rng *r)
{
    recipe c = {.kind = rng_below(r, KINDS), .places = 1 + rng_below(r, PLACES)};
    c.width = pow(10, rng_uniform(r, -5, -0.5));
    c.grid = 1 + rng_below(r, 8);
    for (int k = 0; k < 3; k++) {
        c.flat[k] = differ_one_in(r, 12);
        for (int64_t p = 0; p < PLACES; p++) {
            c.place[p][k] = rng_uniform(r, 0, 1);
        }
    }
    return c;
}

/** One fractional coordinate of a particle at `place`. */
static double make_fraction(rng *r, const recipe *c, int64_t place, int k)
{
    const double at = c->place[place][k];
    if (c->flat[k]) {
        return c->place[0][k];
    }
    switch (c->kind) {
    case 1: /* clusters */ return at + c->width * rng_normal(r);
    case 2: /* coincident */ return at;
    case 3: /* a lattice, with both faces */
        return (double)rng_below(r, c->grid + 1) / (double)c->grid;
    case 4: /* beside faces */ {
        const double face = (double)rng_below(r, 3) / 2;
        const double ulp = differ_one_in(r, 2) ? DBL_EPSILON : (double)FLT_EPSILON;
        return face + ulp * (double)(rng_below(r, 5) - 2);
    }
    case 5: /* every order of magnitude */
        return c->place[0][k] + rng_normal(r) * pow(10, rng_uniform(r, -8, -0.5));
    default: return rng_uniform(r, 0, 1);
    }
}

static void place_at(const kith_box *box, const double f[3], double x[3])
{
    for (int m = 0; m < 3; m++) {
        x[m] = box->origin[m];
        for (int k = 0; k < 3; k++) {
            x[m] += f[k] * box->row[k][m];
        }
    }
}

/** The box with rows for open axes that have none: sets are made in it. */
static kith_box filled(const kith_box *box, double scale)
{
    kith_box out = *box;
    for (int k = 0; k < 3; k++) {
        double most = 0;
        for (int m = 0; m < 3; m++) {
            most = fmax(most, fabs(out.row[k][m]));
        }
        out.row[k][k] = most > 0 ? out.row[k][k] : scale;
    }
    return out;
}

static double *make_set(rng *r, const kith_box *box, int64_t n)
{
    double *xyz = check_malloc((size_t)(3 * n) * sizeof *xyz);
    const recipe recipes[2] = {make_recipe(r), make_recipe(r)};
    const bool mixed = differ_one_in(r, 4);
    for (int64_t p = 0; p < n; p++) {
        const recipe *c = &recipes[mixed && differ_one_in(r, 2)];
        const int64_t place = rng_below(r, c->places);
        double f[3];
        for (int k = 0; k < 3; k++) {
            f[k] = make_fraction(r, c, place, k);
        }
        place_at(box, f, xyz + 3 * p);
    }
    return xyz;
}

/** Move particles by whole boxes. */
static void drift(rng *r, const differ_input *in, double *xyz, int64_t n)
{
    const int64_t far = in->straight ? (in->precision == KITH_FLOAT ? 1 << 19 : 1 << 29) : 1000;
    const int64_t by = rng_below(r, 10);
    points_drift(r, xyz, n, &in->box, by == 0 ? (int)far : by == 1 ? 30 : by < 4 ? 2 : 0);
}

/** Coordinates that are rare: denormal numbers and zeros of either sign, outliers of open axes. */
static void make_rare(rng *r, const differ_input *in, double *xyz, int64_t n)
{
    const double tiny = in->precision == KITH_FLOAT ? 1e-41 : 1e-310;
    const bool small = differ_one_in(r, 12), far = differ_one_in(r, 8);
    const double distance = pow(10, rng_uniform(r, 1, in->precision == KITH_FLOAT ? 12 : 15));
    for (int64_t p = 0; p < n; p++) {
        for (int k = 0; k < 3; k++) {
            double *x = &xyz[3 * p + k];
            if (small && differ_one_in(r, 2)) {
                *x = tiny * (double)(rng_below(r, 7) - 3);
            } else if (far && (in->open || (in->straight && !in->box.periodic[k])) &&
                       differ_one_in(r, 6)) {
                *x += distance * (double)(rng_below(r, 5) - 2);
            }
        }
    }
}

/* ----------------------------------------------------------------------------------- cutoffs */

/** The distance of two particles of the input, rounded as the library rounds it. */
static double some_distance(rng *r, const differ_input *in)
{
    const double *a = in->xyz + 3 * rng_below(r, in->n);
    const double *b = in->other ? in->other + 3 * rng_below(r, in->m)
                                : in->xyz + 3 * rng_below(r, in->n);
    double square = 0;
    for (int k = 0; k < in->box.dim; k++) {
        square += (b[k] - a[k]) * (b[k] - a[k]);
    }
    const double distance = sqrt(square);
    return in->precision == KITH_FLOAT ? (double)(float)distance : distance;
}

static double make_cutoff(rng *r, const differ_input *in, double scale, double height)
{
    const double n = (double)(in->n > 0 ? in->n : 1);
    const double spacing = scale / (in->box.dim == 2 ? sqrt(n) : cbrt(n));
    const double base = isfinite(height) ? height : scale;
    switch (rng_below(r, 6)) {
    case 0: return in->n > 1 && (!in->other || in->m > 0) ? some_distance(r, in) : spacing;
    case 1: return base * (double)(1 + rng_below(r, 16)) / 8;
    case 2: return base * pow(10, rng_uniform(r, -3, 0.7));
    case 3: return base / (double)(1 + rng_below(r, 8)) * (differ_one_in(r, 2) ? 1 : sqrt(2));
    default: return spacing * exp(rng_uniform(r, -2, 1));
    }
}

/** Images that brute force looks at. */
static double count_images(const differ_input *in, const double height[3])
{
    double images = 1;
    for (int k = 0; k < in->box.dim; k++) {
        if (in->box.periodic[k]) {
            images *= 2 * (ceil(in->cutoff / height[k]) + 1) + 1;
        }
    }
    return images;
}

/** Choose a cutoff that the library allows, and as many particles as brute force can take. */
static void fit(rng *r, differ_input *in, const differ_wish *wish, double scale)
{
    double height[3], least = INFINITY;
    oracle_heights(&in->box, in->precision, height);
    for (int k = 0; k < in->box.dim; k++) {
        least = in->box.periodic[k] ? fmin(least, height[k]) : least;
    }
    in->cutoff = wish->like ? wish->like->cutoff : make_cutoff(r, in, scale, least);
    if (!(in->cutoff > 1e-12 * scale) || !isfinite(in->cutoff)) {
        in->cutoff = 0.1 * scale;
    }
    const double shortest = in->precision == KITH_FLOAT ? 2e-19 : 2e-154;
    in->cutoff = fmin(fmax(in->cutoff, shortest), in->precision == KITH_FLOAT ? 1e19 : 1e154);
    in->cutoff = fmin(in->cutoff, wish->reach * least);
    const double work = in->large ? 40 * (double)in->n * (double)in->n : wish->work;
    while ((double)in->n * (double)(in->other ? in->m : in->n) * count_images(in, height) > work) {
        if (in->n > 6 && !in->large) {
            in->n = in->n * 3 / 4;
            in->m = in->m * 3 / 4;
        } else {
            in->cutoff *= 0.7;
            if (in->cutoff < 0.01 * least) {
                break; /* it is not the images */
            }
        }
    }
}

static bool is_straight(const kith_box *box)
{
    bool yes = true;
    for (int k = 0; k < box->dim; k++) {
        for (int m = 0; m < box->dim; m++) {
            yes = yes && (k == m ? box->row[k][m] > 0 : box->row[k][m] == 0);
        }
    }
    return yes;
}

static bool is_ambiguous(const differ_input *in)
{
    stored a = stored_make(in->xyz, in->n, in->precision, LAYOUT_PACKED);
    stored b = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    const bool yes = !(oracle_margin(&a.points, &in->box) > 1e-12 &&
                       oracle_margin(&b.points, &in->box) > 1e-12);
    stored_free(&a);
    stored_free(&b);
    return yes;
}

static double make_scale(rng *r, const differ_input *in, const differ_wish *wish)
{
    if (wish->plain || !differ_one_in(r, 8)) {
        return differ_one_in(r, 4) ? pow(10, rng_uniform(r, -3, 3)) : 1;
    }
    return pow(10, rng_uniform(r, -1, 1) * (in->precision == KITH_FLOAT ? 14 : 120));
}

static int64_t make_number(rng *r, const differ_wish *wish, bool large)
{
    if (large) {
        return wish->larger / 4 + rng_below(r, wish->larger - wish->larger / 4);
    }
    const int64_t most = differ_one_in(r, 4) ? 9 : differ_one_in(r, 2) ? 60 : wish->most;
    return rng_below(r, (most < wish->most ? most : wish->most) + 1);
}

/** z must not be read in two dimensions. */
static void hide_z(const differ_input *in, double *xyz, int64_t n)
{
    for (int64_t p = 0; p < n && in->box.dim == 2; p++) {
        xyz[3 * p + 2] = (double)NAN;
    }
}

differ_input differ_input_make(rng *r, const differ_wish *wish)
{
    const differ_input *like = wish->like;
    differ_input in = {.precision = differ_one_in(r, 2) ? KITH_FLOAT : KITH_DOUBLE,
                       .how = (layout)rng_below(r, LAYOUTS),
                       .large = wish->larger > 0 && differ_one_in(r, 25)};
    in.precision = like ? like->precision : in.precision;
    in.how = like ? like->how : in.how;
    in.scale = like ? like->scale : make_scale(r, &in, wish);
    const double scale = in.scale;
    in.extreme = scale < 1e-4 || scale > 1e4;
    in.open = differ_one_in(r, 8) && (!like || like->box.dim == 3);
    in.box = in.open ? kith_box_open()
                     : make_box(r, scale,
                                like                  ? like->box.dim
                                : differ_one_in(r, 6) ? 2
                                                      : 3);
    if (like && wish->one_box) {
        in.open = like->open;
        in.box = like->box;
    }
    in.straight = in.open || is_straight(&in.box);
    const kith_box around = filled(&in.box, scale);
    in.n = make_number(r, wish, in.large);
    in.xyz = make_set(r, &around, in.n);
    if (like ? like->other != NULL : differ_one_in(r, 3)) {
        in.m = make_number(r, wish, in.large);
        in.other = make_set(r, &around, in.m);
        drift(r, &in, in.other, in.m);
    }
    drift(r, &in, in.xyz, in.n);
    if (!wish->plain) {
        make_rare(r, &in, in.xyz, in.n);
    }
    hide_z(&in, in.xyz, in.n);
    hide_z(&in, in.other, in.other ? in.m : 0);
    fit(r, &in, wish, scale);
    in.ambiguous = !in.straight && is_ambiguous(&in);
    return in;
}

void differ_input_free(differ_input *input)
{
    free(input->xyz);
    free(input->other);
    *input = (differ_input){0};
}
