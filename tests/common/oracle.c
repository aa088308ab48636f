/* SPDX-License-Identifier: BSD-3-Clause
 *
 * All arithmetic is done in double. For float points each result is then rounded to float, which
 * gives the float operation exactly: rounding twice is harmless for + - * / and sqrt when the wide
 * format has at least 2 * 24 + 2 bits (Figueroa 1995), and double has 53.
 */
#include "oracle.h"

#include "check.h"
#include "points.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline double rounded(kith_precision precision, double x)
{
    return precision == KITH_FLOAT ? (double)(float)x : x;
}

/* A box in the points' precision. */
typedef struct space {
    kith_precision precision;
    int dim;
    int periodic[3];
    int straight; /* orthorhombic: no entry off the diagonal, none on it negative */
    double origin[3];
    double row[3][3];
    double dual[3][3]; /* f[k] = dual[k] . (x - origin); rounded to double only */
    double height[3];  /* distance between the faces of axis k */
} space;

static void cross(const double u[3], const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
}

static double dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

static int is_zero(const double v[3])
{
    return v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0;
}

/* Replace zero rows, those of open axes, by vectors perpendicular to the others. */
static void fill_zero_rows(double row[3][3])
{
    for (int k = 0; k < 3; k++) {
        if (!is_zero(row[k]))
            continue;
        const double *u = row[(k + 1) % 3], *v = row[(k + 2) % 3];
        double guess[3] = {0.0, 0.0, 0.0};
        if (is_zero(u) && is_zero(v)) {
            row[k][k] = 1.0;
            continue;
        }
        if (is_zero(u) || is_zero(v)) {
            const double *only = is_zero(u) ? v : u;
            int least = 0;
            for (int m = 1; m < 3; m++)
                if (fabs(only[m]) < fabs(only[least]))
                    least = m;
            guess[least] = 1.0;
            cross(only, guess, row[k]);
        } else {
            cross(u, v, row[k]);
        }
        const double length = sqrt(dot(row[k], row[k]));
        for (int m = 0; m < 3; m++)
            row[k][m] /= length;
    }
}

/* The power of 2 at or below the largest component, or 1. */
static double power_of_largest(double row[3][3])
{
    double largest = 0.0;
    for (int k = 0; k < 9; k++)
        largest = fmax(largest, fabs(row[k / 3][k % 3]));
    return largest > 0.0 ? ldexp(1.0, ilogb(largest)) : 1.0;
}

static space space_make(const kith_box *box, kith_precision precision)
{
    space s = {.precision = precision, .dim = box ? box->dim : 3, .straight = 1};
    double full[3][3] = {{0}};
    for (int k = 0; k < s.dim && box; k++) {
        s.periodic[k] = box->periodic[k];
        s.origin[k] = rounded(precision, box->origin[k]);
        for (int m = 0; m < s.dim; m++) {
            full[k][m] = s.row[k][m] = rounded(precision, box->row[k][m]);
            s.straight &= k == m ? s.row[k][m] >= 0.0 : s.row[k][m] == 0.0;
        }
    }
    const double unit = power_of_largest(full); /* products of three lengths stay in range */
    for (int k = 0; k < 9; k++)
        full[k / 3][k % 3] /= unit;
    fill_zero_rows(full);
    for (int k = 0; k < 3; k++) {
        cross(full[(k + 1) % 3], full[(k + 2) % 3], s.dual[k]);
        const double volume = dot(full[k], s.dual[k]);
        for (int m = 0; m < 3; m++)
            s.dual[k][m] /= volume;
        s.height[k] = unit / sqrt(dot(s.dual[k], s.dual[k]));
        for (int m = 0; m < 3; m++)
            s.dual[k][m] /= unit;
    }
    return s;
}

/* Wrap x along axis k of an orthorhombic box; return how many boxes it was moved down. */
static double wrap_straight(const space *s, int k, double *x)
{
    const kith_precision p = s->precision;
    const double length = s->row[k][k], lo = s->origin[k], hi = rounded(p, lo + length);
    if (lo <= *x && *x < hi)
        return 0.0;
    double w = floor(rounded(p, rounded(p, *x - lo) / length));
    *x = rounded(p, *x - rounded(p, w * length));
    if (*x >= hi) {
        *x = rounded(p, *x - length);
        w += 1.0;
    }
    if (*x < lo) {
        *x = rounded(p, *x + length);
        w -= 1.0;
    }
    if (*x >= hi)
        *x = lo;
    return w;
}

static double fraction(const space *s, int k, const double x[3])
{
    double from_origin[3];
    for (int m = 0; m < 3; m++)
        from_origin[m] = x[m] - s->origin[m];
    return dot(s->dual[k], from_origin);
}

static void wrap_skewed(const space *s, double x[3], double w[3])
{
    const kith_precision p = s->precision;
    for (int k = 0; k < 3; k++)
        w[k] = s->periodic[k] ? rounded(p, floor(fraction(s, k, x))) : 0.0;
    for (int k = 2; k >= 0; k--)
        for (int m = 0; m < 3; m++)
            x[m] = rounded(p, x[m] - rounded(p, w[k] * s->row[k][m]));
}

static void load(const space *s, const kith_points *points, int64_t at, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = k < s->dim ? points_get(points, at, k) : 0.0;
}

static void wrap_all(const space *s, const kith_points *points, double *xyz, int64_t *boxes)
{
    for (int64_t at = 0; at < points->n; at++) {
        double *x = &xyz[3 * at], w[3] = {0.0, 0.0, 0.0};
        load(s, points, at, x);
        if (!s->straight)
            wrap_skewed(s, x, w);
        for (int k = 0; k < 3; k++) {
            if (s->straight && s->periodic[k])
                w[k] = wrap_straight(s, k, &x[k]);
            boxes[3 * at + k] = (int64_t)w[k];
        }
    }
}

void oracle_wrap(const kith_points *points, const kith_box *box, double *xyz, int64_t *boxes)
{
    const space s = space_make(box, points->precision);
    wrap_all(&s, points, xyz, boxes);
}

void oracle_heights(const kith_box *box, kith_precision precision, double height[3])
{
    const space s = space_make(box, precision);
    memcpy(height, s.height, sizeof s.height);
}

void oracle_fractions(const kith_box *box, kith_precision precision, const double x[3], double f[3])
{
    const space s = space_make(box, precision);
    for (int k = 0; k < 3; k++)
        f[k] = fraction(&s, k, x);
}

double oracle_margin(const kith_points *points, const kith_box *box)
{
    const space s = space_make(box, points->precision);
    double margin = (double)INFINITY;
    for (int64_t at = 0; at < points->n && !s.straight; at++) {
        double x[3];
        load(&s, points, at, x);
        for (int k = 0; k < 3; k++) {
            const double f = fraction(&s, k, x);
            if (s.periodic[k])
                margin = fmin(margin, fabs(f - nearbyint(f)) / (1.0 + fabs(f)));
        }
    }
    return margin;
}

/* What a search runs over: the wrapped sets and the images. */
typedef struct search {
    space s;
    int64_t n, m;
    int one_set;
    double *x, *y; /* [n][3], [m][3] */
    int64_t *x_boxes, *y_boxes;
    int reach[3]; /* images -reach to reach along each axis */
    double rc2;
} search;

/* d moved by s rows of the axis. */
static inline void move(const search *q, kith_precision p, const double d[3], int axis, int32_t s,
                        double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = rounded(p, d[k] + rounded(p, s * q->s.row[axis][k]));
}

/* Test the pair whose vector is known, and pass it to fn when it is within the cutoff. */
static inline void decide(const search *q, kith_precision p, oracle_pair *t, oracle_fn fn,
                          void *user)
{
    const double *d = t->vector;
    const double xy = rounded(p, rounded(p, d[0] * d[0]) + rounded(p, d[1] * d[1]));
    t->r2 = rounded(p, xy + rounded(p, d[2] * d[2]));
    const int self = q->one_set && t->i == t->j && !t->image[0] && !t->image[1] && !t->image[2];
    if (self || !(t->r2 <= q->rc2))
        return;
    for (int k = 0; k < 3; k++)
        t->shift[k] = (int32_t)(t->image[k] - q->y_boxes[3 * (int64_t)t->j + k] +
                                q->x_boxes[3 * (int64_t)t->i + k]);
    t->distance = rounded(p, sqrt(t->r2));
    fn(user, t);
}

/* All images of (i, j). Inlined with a constant precision: double then needs no rounding. */
static inline void sweep_images(const search *q, kith_precision p, oracle_pair *t, oracle_fn fn,
                                void *user)
{
    const double *a = &q->x[3 * (int64_t)t->i], *b = &q->y[3 * (int64_t)t->j];
    double d[3], dc[3], dcb[3];
    for (int k = 0; k < 3; k++)
        d[k] = rounded(p, b[k] - a[k]);
    int32_t *s = t->image;
    for (s[2] = -q->reach[2]; s[2] <= q->reach[2]; s[2]++) {
        move(q, p, d, 2, s[2], dc);
        for (s[1] = -q->reach[1]; s[1] <= q->reach[1]; s[1]++) {
            move(q, p, dc, 1, s[1], dcb);
            for (s[0] = -q->reach[0]; s[0] <= q->reach[0]; s[0]++) {
                move(q, p, dcb, 0, s[0], t->vector);
                decide(q, p, t, fn, user);
            }
        }
    }
}

static inline void sweep(const search *q, kith_precision p, oracle_fn fn, void *user)
{
    oracle_pair t;
    for (t.i = 0; t.i < q->n; t.i++)
        for (t.j = 0; t.j < q->m; t.j++)
            sweep_images(q, p, &t, fn, user);
}

/* A bound on what rounding takes from the distance of an image: each component is the sum of four
 * numbers, which are at most as many times the lengths of the rows as there are images. */
static double rounding_of_images(const space *s, double rc)
{
    const double epsilon = s->precision == KITH_FLOAT ? (double)FLT_EPSILON : DBL_EPSILON;
    double lengths = 0.0, images = 1.0;
    for (int k = 0; k < 3; k++) {
        if (s->periodic[k]) {
            lengths += sqrt(dot(s->row[k], s->row[k]));
            images = fmax(images, ceil(rc / s->height[k]) + 1.0);
        }
    }
    return s->straight ? 0.0 : 8.0 * epsilon * lengths * images;
}

void oracle_each(const kith_points *points, const kith_points *against, const kith_box *box,
                 double cutoff, oracle_fn fn, void *user)
{
    const kith_precision p = points->precision;
    const kith_points *other = against ? against : points;
    search q = {.s = space_make(box, p), .n = points->n, .m = other->n, .one_set = !against};
    q.x = check_malloc((size_t)q.n * 3 * sizeof(double));
    q.y = check_malloc((size_t)q.m * 3 * sizeof(double));
    q.x_boxes = check_malloc((size_t)q.n * 3 * sizeof(int64_t));
    q.y_boxes = check_malloc((size_t)q.m * 3 * sizeof(int64_t));
    wrap_all(&q.s, points, q.x, q.x_boxes);
    wrap_all(&q.s, other, q.y, q.y_boxes);
    const double rc = rounded(p, cutoff);
    q.rc2 = rounded(p, rc * rc);
    const double error = rounding_of_images(&q.s, rc);
    for (int k = 0; k < 3; k++)
        q.reach[k] = q.s.periodic[k] ? (int)ceil((rc + error) / q.s.height[k]) + 1 : 0;

    if (p == KITH_FLOAT)
        sweep(&q, KITH_FLOAT, fn, user);
    else
        sweep(&q, KITH_DOUBLE, fn, user);

    free(q.y_boxes);
    free(q.x_boxes);
    free(q.y);
    free(q.x);
}

static void append(void *user, const oracle_pair *pair)
{
    oracle_list *list = user;
    if (list->n == list->capacity) {
        list->capacity = 2 * list->capacity + 64;
        oracle_pair *grown = check_malloc((size_t)list->capacity * sizeof *grown);
        if (list->n > 0)
            memcpy(grown, list->pairs, (size_t)list->n * sizeof *grown);
        free(list->pairs);
        list->pairs = grown;
    }
    list->pairs[list->n++] = *pair;
}

oracle_list oracle_full(const kith_points *points, const kith_points *against, const kith_box *box,
                        double cutoff)
{
    oracle_list list = {0};
    oracle_each(points, against, box, cutoff, append, &list);
    return list;
}

static int last_non_zero(const int32_t s[3])
{
    return s[2] != 0 ? s[2] : s[1] != 0 ? s[1] : s[0];
}

oracle_list oracle_half(const oracle_list *full)
{
    oracle_list half = {0};
    for (int64_t t = 0; t < full->n; t++) {
        const oracle_pair *pair = &full->pairs[t];
        if (pair->i < pair->j || (pair->i == pair->j && last_non_zero(pair->image) > 0))
            append(&half, pair);
    }
    return half;
}

void oracle_free(oracle_list *list)
{
    free(list->pairs);
    *list = (oracle_list){0};
}
