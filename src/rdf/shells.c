/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Volumes of spherical shells, whole or cut by a rectangular box around their centre, in closed
 * form.
 *
 * The part of a ball of radius r inside a box with half sides h is a union of cones from the centre
 * to its surface: V = (r A + 2 sum_k h_k F_k) / 3, with A the area of the sphere inside the box and
 * F_k the area of face k inside the ball. A is the area of the sphere, less the caps beyond the
 * faces, plus the overlaps of two caps, which the caps count twice. Three caps overlap only when
 * the sphere reaches beyond the corners, and then the ball contains the whole box.
 *
 * The overlap of two caps of the unit sphere is bounded by two arcs of circles, in planes at
 * c = h / r from the centre, which intersect at two points. By the Gauss-Bonnet theorem its area is
 * 2 alpha - c1 phi1 - c2 phi2: alpha = acos(c1 c2 / sqrt((1 - c1^2) (1 - c2^2))) is the interior
 * angle at both points, phi the azimuth that an arc spans on its circle, and c phi the integral of
 * the geodesic curvature along the arc.
 */
#include <math.h>

#include "histogram.h"

static const double pi = 3.141592653589793;

/** Return acos(x), with x clamped to [-1, 1]: rounding may have put it outside. */
static double arccos(double x)
{
    return acos(fmin(fmax(x, -1), 1));
}

/** Return the area of a disc of radius r inside a rectangle with half sides p and q around its
 *  centre: the disc less the circular segments beyond the sides. These do not overlap, as a disc
 *  that reaches a corner contains the whole rectangle. */
static double disc_in_rectangle(double r, double p, double q)
{
    const double r2 = r * r;
    if (r2 >= p * p + q * q) {
        return 4 * p * q;
    }
    double area = pi * r2;
    area -= r > p ? 2 * (r2 * arccos(p / r) - p * sqrt(r2 - p * p)) : 0;
    area -= r > q ? 2 * (r2 * arccos(q / r) - q * sqrt(r2 - q * q)) : 0;
    return area;
}

/** Return the interior angle of the overlap of the caps x > a and y > b of the unit sphere, at each
 *  of the two points where their circles intersect. */
static double angle(double a, double b)
{
    return arccos(a * b / sqrt((1 - a * a) * (1 - b * b)));
}

/** Return the area of the part of the unit sphere with x > a and y > b, a and b 0 or more: the
 *  overlap of two caps, by the formula at the head of this file. It is empty when
 *  a^2 + b^2 >= 1. */
static double two_caps(double a, double b)
{
    if (a * a + b * b >= 1) {
        return 0;
    }
    return 2 * (angle(a, b) - a * arccos(b / sqrt(1 - a * a)) - b * arccos(a / sqrt(1 - b * b)));
}

/** Return the volume of a ball of radius r inside a box with half sides h around its centre. */
static double ball_in_block(double r, const double h[3])
{
    if (r * r >= h[0] * h[0] + h[1] * h[1] + h[2] * h[2]) {
        return 8 * h[0] * h[1] * h[2];
    }
    const double c[3] = {h[0] / r, h[1] / r, h[2] / r};
    double area = 4 * pi;
    double faces = 0;
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3;
        area -= c[k] < 1 ? 4 * pi * (1 - c[k]) : 0; /* two caps of area 2 pi (1 - c) */
        area += 4 * two_caps(c[k], c[next]);        /* at the four edges between the faces */
        if (r > h[k]) {
            faces += h[k] * disc_in_rectangle(sqrt(r * r - h[k] * h[k]), h[next], h[(k + 2) % 3]);
        }
    }

    return (r * r * r * area + 2 * faces) / 3;
}

/** Return the volume of the shell between radii r and s; in 2-D the area of the ring. The factor
 *  s - r is split off, as the digits of s^3 - r^3 would cancel in narrow shells. */
static double whole_shell(int dim, double r, double s)
{
    return dim == 3 ? 4 * pi / 3 * (s - r) * (s * s + s * r + r * r) : pi * (s - r) * (s + r);
}

/** Return the volume of a ball of radius r inside a box with half sides h around its centre; in 2-D
 *  the area of a disc inside a rectangle. */
static double cut_ball(int dim, double r, const double h[3])
{
    return dim == 3 ? ball_in_block(r, h) : disc_in_rectangle(r, h[0], h[1]);
}

/** State of the loop that measures shells. */
struct shells {
    const double *edges; /**< [bins + 1] radii [length] */
    double *volumes;     /**< [bins] results [length^dim] */
    double half[3];      /**< half sides of the box; infinite where shells are whole [length] */
    double inscribed;    /**< radius of the largest ball that the box does not cut [length] */
    int dim;             /**< 2 or 3 dimensions */
};

/** Compute the volumes of shells [begin, end): a kith__range_fn. */
static void measure_range(void *state, int64_t begin, int64_t end)
{
    const struct shells *shells = state;
    double inner = -1; /* volume within the lower edge; -1: not computed for the bin before */
    for (int64_t k = begin; k < end; k++) {
        const double r = shells->edges[k];
        const double s = shells->edges[k + 1];
        if (s <= shells->inscribed) {
            shells->volumes[k] = whole_shell(shells->dim, r, s);
        } else {
            inner = inner >= 0 ? inner : cut_ball(shells->dim, r, shells->half);
            const double outer = cut_ball(shells->dim, s, shells->half);
            shells->volumes[k] = fmax(outer - inner, 0); /* rounding may give less than 0 */
            inner = outer;
        }
    }
}

kith_status kith__shell_volumes(kith_ctx *ctx, const kith_box *box, int minimum_image, int64_t bins,
                                const double *edges, double *volumes)
{
    const int dim = box ? box->dim : 3;
    KITH_CHECK(ctx, dim == 2 || dim == 3, KITH_INVALID, "box: dim is %d, expected 2 or 3", dim);
    KITH_TRY(kith__check_flag(ctx, "minimum_image", minimum_image));
    KITH_CHECK(ctx, bins >= 0, KITH_INVALID, "bins is %lld, expected 0 or more", (long long)bins);
    KITH_CHECK(ctx, edges && volumes, KITH_INVALID, "edges or volumes is NULL");
    struct shells shells = {
        .edges = edges, .volumes = volumes, .half = {INFINITY, INFINITY, INFINITY}, .dim = dim};
    for (int k = 0; k < dim && minimum_image; k++) {
        KITH_CHECK(ctx, box && box->periodic[k] && box->row[k][k] > 0, KITH_INVALID,
                   "the part of a shell in the box: axis %c is open", 'a' + k);
        for (int m = 0; m < dim; m++) {
            KITH_CHECK(ctx, m == k || box->row[k][m] == 0, KITH_INVALID,
                       "the part of a shell in the box: the box is not orthorhombic");
        }
        shells.half[k] = 0.5 * box->row[k][k];
    }
    shells.inscribed = fmin(shells.half[0], fmin(shells.half[1], shells.half[2]));
    for (int64_t k = 0; k < bins; k++) {
        KITH_CHECK(ctx, edges[k] >= 0 && edges[k + 1] > edges[k] && isfinite(edges[k + 1]),
                   KITH_INVALID,
                   "edges[%lld] is %g, edges[%lld] is %g, expected ascending from 0 or more",
                   (long long)k, edges[k], (long long)k + 1, edges[k + 1]);
    }
    if (!ctx) {
        measure_range(&shells, 0, bins);
        return KITH_OK;
    }
    kith__loop(ctx, bins, measure_range, &shells);
    return kith__proceed(ctx);
}

kith_status kith_shell_volumes(const kith_box *box, int minimum_image, int64_t bins,
                               const double *edges, double *volumes)
{
    kith__clear_message();
    return kith__shell_volumes(NULL, box, minimum_image, bins, edges, volumes);
}
