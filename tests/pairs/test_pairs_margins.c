/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a rounding decides: distances equal to the cutoff across the borders of cells, coordinates
 * that wrapping rounds to the upper face, coordinates as far outside the box as they may be.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "pairs_case.h"

/* In float the distance of -2^-30 and 1 is rounded to 1, but they lie more than one cell of width 1
 * apart: without a margin in the width of cells they would not be compared. Whole numbers around
 * them make the origin of the cells a whole number. */
static void check_rounded_distances(kith_ctx *ctx)
{
    enum { N = 11 };
    for (int axis = 0; axis < 3; axis++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            double xyz[N + 2][3] = {{0}};
            for (int p = 0; p < N; p++) {
                xyz[p][axis] = p - N / 2;
            }
            xyz[N][axis] = sign * 0x1p-30;
            xyz[N + 1][axis] = -sign * 0x1p-40;
            case_check(ctx, &(pair_case){.name = "rounded distances",
                                         .xyz = xyz[0],
                                         .n = N + 2,
                                         .cutoff = 1,
                                         .precisions = CASE_FLOAT});
        }
    }
}

/* In float the difference between coordinates at opposite faces of a wide box is rounded: to the
 * cutoff, although the particles are further apart than the width of a cell without a margin for
 * that. */
static void check_wide_box(kith_ctx *ctx)
{
    const double side = 0x1p18; /* numbers below it are 2^-6 apart, those below its half 2^-7 */
    for (int axis = 0; axis < 3; axis++) {
        kith_box box = kith_box_periodic(4, 4, 4);
        box.row[axis][axis] = side;
        box.origin[axis] = -side / 2;
        double xyz[2][3] = {{0}};
        xyz[0][axis] = -side / 2;
        xyz[1][axis] = side / 2 - 1 - 0x1p-7;
        case_check(ctx, &(pair_case){.name = "wide box",
                                     .xyz = xyz[0],
                                     .n = 2,
                                     .box = &box,
                                     .cutoff = 1,
                                     .precisions = CASE_FLOAT});
    }
}

/* Far from the origin of the cells a coordinate in cells is rounded by more than the distances
 * differ: pairs at the cutoff, or one unit in the last place more or less, up to 2^50 cutoffs
 * away. */
static void check_far_cells(kith_ctx *ctx, rng *r)
{
    enum { PAIRS = 60, N = 2 * PAIRS + PAIRS };
    for (int power = 20; power <= 50; power += 3) {
        double xyz[N][3];
        const double cutoff = rng_uniform(r, 0.7, 1.4);
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) { /* most are near 0, where the cells' origin is */
                xyz[p][k] = 3 * rng_uniform(r, -1, 1);
            }
        }
        for (int p = 0; p < PAIRS; p += 2) {
            const int axis = p / 2 % 3;
            const double x = ldexp(rng_uniform(r, -1, 1), power);
            const double ulp = nextafter(fabs(x), INFINITY) - fabs(x);
            const double d = floor(cutoff / ulp) * ulp;
            xyz[p][axis] = x;
            xyz[p + 1][axis] = x + d + ulp * (double)(rng_below(r, 3) - 1);
            for (int k = 1; k < 3; k++) {
                xyz[p + 1][(axis + k) % 3] = xyz[p][(axis + k) % 3];
            }
        }
        case_check(ctx, &(pair_case){.name = "far cells",
                                     .xyz = xyz[0],
                                     .n = N,
                                     .cutoff = cutoff,
                                     .precisions = CASE_DOUBLE});
    }
}

/* Far along two open axes that are nearly parallel, coordinates are large and the distances from
 * the planes of the axes small: these are rounded as the coordinates are. */
static void check_far_skewed(kith_ctx *ctx, rng *r)
{
    enum { PAIRS = 40, N = 200 };
    kith_box box = kith_box_open();
    box.row[0][0] = 0.999;
    box.row[0][2] = box.row[1][1] = box.row[2][0] = box.row[2][2] = 1;
    for (int power = 44; power <= 48; power++) {
        double xyz[N][3];
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) { /* most are near 0, where the cells' origin is */
                xyz[p][k] = 3 * rng_uniform(r, -1, 1);
            }
        }
        for (int p = 0; p < PAIRS; p++) { /* across the planes, a little less than the cutoff */
            const double t = ldexp(1 + rng_uniform(r, 0, 0.9), power);
            const double ulp = nextafter(t, INFINITY) - t;
            double *i = xyz[2 * p], *j = xyz[2 * p + 1];
            i[0] = i[2] = t;
            j[0] = t + floor(0.7 / ulp) * ulp;
            j[1] = i[1];
            j[2] = t - floor(0.7 / ulp) * ulp;
        }
        case_check(ctx, &(pair_case){.name = "far and skewed",
                                     .xyz = xyz[0],
                                     .n = N,
                                     .box = &box,
                                     .cutoff = 1,
                                     .precisions = CASE_DOUBLE});
    }
}

/* Particles more than 2^40 cutoffs from most others share the outermost cell. That cell may be so
 * wide that the squares of lengths in it, in cutoffs, overflow floats. */
static void check_widest_cell(kith_ctx *ctx, rng *r)
{
    enum { N = 40 };
    for (int power = 45; power <= 100; power += 5) {
        double xyz[N][3];
        const int axis = power / 5 % 3;
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) {
                xyz[p][k] = rng_uniform(r, -1, 1);
            }
            if (p % 4 == 0) { /* at two places, as numbers there are more than a cutoff apart */
                xyz[p][axis] = ldexp(1, p % 8 ? power : 42);
            }
        }
        case_check(ctx, &(pair_case){.name = "widest cell", .xyz = xyz[0], .n = N, .cutoff = 0.8});
    }
}

/* Fill xyz with two particles of a flat box with rows a and b: j, at the image with Sb = boxes + 1,
 * is a little further than `boxes` heights of the box above i. Return true when rounding makes that
 * a pair all the same. */
static bool find_image_pair(rng *r, const kith_box *box, double boxes, double cutoff,
                            float xyz[2][3])
{
    enum { TRIES = 400 };
    const double *a = box->row[0], *b = box->row[1];
    const double length = hypot(a[0], a[1]), up[2] = {-a[1] / length, a[0] / length};
    const double height = b[0] * up[0] + b[1] * up[1], beside = 0.05;
    const double sb = boxes + 1, sa = -round((a[0] * b[0] + a[1] * b[1]) / (length * length) * sb);
    for (int t = 0; t < TRIES; t++) {
        const double along = rng_uniform(r, 0.1, 0.9);
        double i[2], j[3] = {0}, f[3];
        for (int m = 0; m < 2; m++) {
            i[m] = along * a[m] + (1 - beside) * b[m];
            j[m] = i[m] + up[m] * (boxes + 2 * beside) * height - sa * a[m] - sb * b[m];
        }
        oracle_fractions(box, KITH_FLOAT, j, f);
        float d[2];
        for (int m = 0; m < 2; m++) {
            xyz[0][m] = (float)i[m];
            xyz[1][m] = (float)(j[m] - floor(f[0]) * a[m]);
            const float row_b = (float)sb * (float)b[m];
            const float row_a = (float)(sa + floor(f[0])) * (float)a[m];
            d[m] = xyz[1][m] - xyz[0][m];
            d[m] = d[m] + row_b;
            d[m] = d[m] + row_a;
        }
        const float xx = d[0] * d[0], yy = d[1] * d[1];
        if (xx + yy <= (float)cutoff * (float)cutoff) {
            return true;
        }
    }
    return false;
}

/* Return true when rounding may bring images within the cutoff whose shifts cannot be packed: more
 * than 511 boxes away. */
static bool moves_too_far(const kith_box *box, const double height[3], double cutoff)
{
    const double *a = box->row[0], *b = box->row[1];
    const double least = fmin(height[0], height[1]), images = ceil(cutoff / least) + 1;
    const double rows = hypot(a[0], a[1]) + hypot(b[0], b[1]);
    return cutoff + (double)FLT_EPSILON * rows * (16 + 8 * images) > 508 * least;
}

/* Check the pair that find_image_pair found. @return false when the library has to refuse it */
static bool check_flat_pair(kith_ctx *ctx, const kith_box *box, double cutoff, bool refused,
                            float xyz[2][3])
{
    double given[2][3];
    for (int k = 0; k < 6; k++) {
        given[k / 3][k % 3] = (double)xyz[k / 3][k % 3];
    }
    stored s = stored_make(given[0], 2, KITH_FLOAT, LAYOUT_PACKED);
    kith_pairs_options form;
    kith_pairs_options_init(&form);
    form.extras = KITH_SHIFTS;
    if (refused) {
        kith_pairs list = {0};
        const kith_status status = kith_pairs_find(ctx, &s.points, box, cutoff, &form, &list);
        CHECK(status == KITH_LIMIT, "flat box, cutoff %g: %s", cutoff, kith_status_name(status));
        kith_pairs_free(&list);
    } else {
        const pair_case c = {
            .name = "flat box", .xyz = given[0], .n = 2, .box = box, .cutoff = cutoff};
        case_check_form(&ctx, 1, &c, KITH_FLOAT, LAYOUT_PACKED, form);
    }
    stored_free(&s);
    return !refused;
}

/* In a very flat and skewed box the sums of hundreds of rows, which give the distance of an image,
 * are rounded by more than a height of the box: pairs are at images that are further away than the
 * cutoff by more than a part of it, and by more than the rounding of one row. */
static void check_flat_box(kith_ctx *ctx, rng *r)
{
    enum { BOXES = 12 };
    int checked = 0, refused = 0;
    for (int tries = 0; checked < BOXES && tries < 20000; tries++) {
        const double boxes = floor(rng_uniform(r, 60, 300)), skew = rng_uniform(r, 0.5, 1.1);
        const double angle = rng_uniform(r, 0, 6.28);
        const double side = rng_uniform(r, 0.03, 0.1) / (double)FLT_EPSILON;
        const double u[2] = {cos(angle), sin(angle)};
        kith_box box = {.dim = 2, .periodic = {1, 1, 0}};
        for (int m = 0; m < 2; m++) {
            box.row[0][m] = (double)(float)(side * u[m]);
            box.row[1][m] = (double)(float)(skew * side * u[m] + (m ? u[0] : -u[1]));
        }
        double height[3];
        oracle_heights(&box, KITH_FLOAT, height);
        const double *a = box.row[0], *b = box.row[1];
        const double rows = hypot(a[0], a[1]) + hypot(b[0], b[1]);
        const double margins = boxes / 256 + 16 * (double)FLT_EPSILON * rows / height[1] + 0.05;
        const double cutoff = (boxes - margins) * height[1];
        float xyz[2][3] = {{0}};
        if (a[0] * b[1] - a[1] * b[0] > 0 && cutoff > 50 * height[1] && cutoff < 490 * height[0] &&
            find_image_pair(r, &box, boxes, cutoff, xyz)) {
            const bool too_far = moves_too_far(&box, height, cutoff);
            checked += check_flat_pair(ctx, &box, cutoff, too_far, xyz);
            refused += too_far;
        }
    }
    CHECK(checked == BOXES && refused > 0, "%d flat boxes, %d refused", checked, refused);
}

static double rounded(kith_precision precision, double x)
{
    return precision == KITH_FLOAT ? (double)(float)x : x;
}

/* Return true when wrapping the upper face gives the upper face again, because moving it down by
 * the length rounds to a number below the lower face. */
static int returns(kith_precision p, double lo, double length)
{
    const double hi = rounded(p, lo + length);
    const double t = floor(rounded(p, rounded(p, hi - lo) / length));
    double x = rounded(p, hi - rounded(p, t * length));
    x = x >= hi ? rounded(p, x - length) : x;
    return x < lo && rounded(p, x + length) >= hi;
}

/* Particles on the upper face and on the lower one are at one place, whatever wrapping rounds. */
static void check_upper_face(kith_ctx *ctx, rng *r, kith_precision precision)
{
    enum { N = 12 };
    int found = 0;
    for (int tries = 0; found < 12 && tries < 1000000; tries++) {
        const double lo = rounded(precision,
                                  rng_uniform(r, -1, 1) * pow(10, rng_uniform(r, -3, 1)));
        const double length = rounded(precision, exp(rng_uniform(r, -2, 2)));
        if (!returns(precision, lo, length)) {
            continue;
        }
        const int axis = found++ % 3;
        kith_box box = kith_box_periodic(3, 3, 3);
        box.origin[axis] = lo;
        box.row[axis][axis] = length;
        double xyz[N][3];
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) {
                xyz[p][k] = box.origin[k] + 0.125 * (p / 2 % 3);
            }
            xyz[p][axis] = p % 2 ? lo : rounded(precision, lo + length);
        }
        case_check(ctx,
                   &(pair_case){.name = "upper face",
                                .xyz = xyz[0],
                                .n = N,
                                .box = &box,
                                .cutoff = 0.15,
                                .precisions = precision == KITH_FLOAT ? CASE_FLOAT : CASE_DOUBLE});
    }
    CHECK(found == 12, "%d boxes whose upper face returns", found);
}

/* A coordinate may be 2^30 boxes outside on either side, in float 2^20; not one box more. */
static void check_farthest_images(kith_ctx *ctx, kith_precision precision)
{
    const double most = precision == KITH_FLOAT ? 0x1p20 : 0x1p30;
    const kith_box straight = kith_box_periodic(1, 1, 1);
    kith_box skewed = kith_box_triclinic(1, 1, 1, 0.5, 0.5, 0.5);
    for (int e = 0; e < 24; e++) {
        const int axis = e % 3, more = e / 3 % 2, sign = e / 6 % 2 ? -1 : 1;
        const kith_box *box = e / 12 ? &skewed : &straight;
        const double boxes = sign * (most + more);
        double xyz[2][3] = {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
        for (int k = 0; k < 3; k++) {
            xyz[0][k] += boxes * box->row[axis][k];
        }
        stored s = stored_make(xyz[0], 2, precision, LAYOUT_PACKED);
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.extras = KITH_SHIFTS;
        kith_pairs list = {0};
        const kith_status status = kith_pairs_find(ctx, &s.points, box, 0.25, &o, &list);
        const char *name = e / 12 ? "skewed" : "straight";
        if (CHECK(status == (more ? KITH_LIMIT : KITH_OK), "%s, precision %d, %.17g boxes: %s",
                  name, (int)precision, boxes, kith_status_name(status)) &&
            !more) {
            CHECK(list.n == 1 && list.shifts[axis] == (int32_t)boxes, "%s: %lld pairs", name,
                  (long long)list.n);
        }
        kith_pairs_free(&list);
        stored_free(&s);
    }
}

/* Outliers along open axes make cells so wide that many boxes of a short periodic axis fit into
 * one; the pairs do not reach farther than before. */
static void check_outliers(kith_ctx *ctx, rng *r)
{
    enum { N = 30 };
    static const double far[] = {0, 0, 0, 1e9, -1e9};
    for (int axis = 0; axis < 3; axis++) {
        double xyz[N][3];
        kith_box box = kith_box_periodic(5e-14, 5e-14, 5e-14);
        box.periodic[(axis + 1) % 3] = box.periodic[(axis + 2) % 3] = 0;
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) {
                xyz[p][k] = rng_uniform(r, 0, 5e-14) + (k == axis ? 0 : far[rng_below(r, 5)]);
            }
        }
        case_check(ctx,
                   &(pair_case){
                       .name = "outliers", .xyz = xyz[0], .n = N, .box = &box, .cutoff = 1.5e-14});
    }
}

/* Wrapping a coordinate over 100,000 skewed boxes rounds it by more than a hundredth of the box:
 * particles lie beside the box, by a part of the cutoff that cells must allow for. Cells are only
 * a little wider than the cutoff. */
static void check_beside_box(kith_ctx *ctx, rng *r)
{
    enum { N = 250 };
    const kith_box box = kith_box_triclinic(1, 1.1, 0.9, 0.3, -0.2, 0.25);
    double height[3];
    oracle_heights(&box, KITH_FLOAT, height);
    for (int round = 0; round < 48; round++) {
        double xyz[N][3] = {{0}};
        for (int p = 0; p < N; p++) {
            for (int k = 0; k < 3; k++) { /* about a face */
                const double f = k == round % 3 ? rng_uniform(r, -0.03, 0.05)
                                                : rng_uniform(r, 0.4, 0.45);
                for (int m = 0; m < 3; m++) {
                    xyz[p][m] += f * box.row[k][m];
                }
            }
        }
        points_drift(r, xyz[0], N, &box, 100000);
        stored s = stored_make(xyz[0], N, KITH_FLOAT, LAYOUT_PACKED);
        kith_pairs_options form;
        kith_pairs_options_init(&form);
        const pair_case c = {.name = "beside the box",
                             .xyz = xyz[0],
                             .n = N,
                             .box = &box,
                             .cutoff = height[round % 3] / (25 + round / 3) / 1.006};
        if (oracle_margin(&s.points, &box) > 1e-12) {
            case_check_form(&ctx, 1, &c, KITH_FLOAT, LAYOUT_PACKED, form);
        }
        stored_free(&s);
    }
}

/* Return how far a wrapped particle of the set lies outside a triclinic box with rows (1, 0, 0),
 * (row[1][0], 1, 0), (row[2][0], row[2][1], 1) [boxes]. */
static double most_outside(const kith_points *points, const kith_box *box)
{
    enum { MOST = 60 };
    double outside = 0;
    double xyz[3 * MOST];
    int64_t boxes[3 * MOST];
    CHECK(points->n <= MOST, "%lld points", (long long)points->n);
    oracle_wrap(points, box, xyz, boxes);
    for (int64_t p = 0; p < points->n && p < MOST; p++) {
        const double *x = &xyz[3 * p];
        const double fy = x[1] - x[2] * box->row[2][1];
        const double f[3] = {x[0] - fy * box->row[1][0] - x[2] * box->row[2][0], fy, x[2]};
        for (int k = 0; k < 3; k++) {
            outside = fmax(outside, fmax(-f[k], f[k] - 1));
        }
    }
    return outside;
}

/* Particles very far from a very skewed box: rounding leaves them outside it, by up to a box, and
 * further than that they are refused. No search visits more images for it than these boxes. */
static void check_far_wrapping(kith_ctx *ctx, rng *r)
{
    enum { N = 60 };
    int refused = 0, outside = 0;
    for (int e = 2; e <= 19; e++) {
        const kith_box box = kith_box_triclinic(1, 1, 1, 20.3, 5.1, -7.7);
        double xyz[N][3] = {{0}};
        for (int p = 0; p < N; p++) {
            const double place[3] = {rng_uniform(r, 0, 1), rng_uniform(r, 0, 1),
                                     rng_uniform(r, 0, 1)};
            for (int k = 0; k < 3; k++) {
                for (int m = 0; m < 3; m++) {
                    xyz[p][m] += place[k] * box.row[k][m];
                }
            }
        }
        points_drift(r, xyz[0], N, &box, 1 << e);
        stored s = stored_make(xyz[0], N, KITH_FLOAT, LAYOUT_PACKED);
        kith_pairs_options form;
        kith_pairs_options_init(&form);
        const double most = most_outside(&s.points, &box);
        const pair_case c = {
            .name = "far wrapping", .xyz = xyz[0], .n = N, .box = &box, .cutoff = 0.6};
        if (most <= 1) {
            outside += most > 0.1;
            case_check_form(&ctx, 1, &c, KITH_FLOAT, LAYOUT_PACKED, form);
        } else {
            refused++;
            kith_pairs list = {0};
            const kith_status status = kith_pairs_find(ctx, &s.points, &box, 0.6, &form, &list);
            CHECK(status == KITH_LIMIT, "%g boxes outside: %s", most, kith_status_name(status));
            kith_pairs_free(&list);
        }
        stored_free(&s);
    }
    CHECK(outside > 0, "no particle was outside the box");
    CHECK(refused > 0, "no particle was refused");
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    rng r = {20261123};
    check_rounded_distances(ctx);
    check_wide_box(ctx);
    check_far_cells(ctx, &r);
    check_far_skewed(ctx, &r);
    check_widest_cell(ctx, &r);
    check_flat_box(ctx, &r);
    check_upper_face(ctx, &r, KITH_DOUBLE);
    check_upper_face(ctx, &r, KITH_FLOAT);
    check_farthest_images(ctx, KITH_DOUBLE);
    check_farthest_images(ctx, KITH_FLOAT);
    check_outliers(ctx, &r);
    check_beside_box(ctx, &r);
    check_far_wrapping(ctx, &r);
    kith_close(ctx);
    return check_done();
}
