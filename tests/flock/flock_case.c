/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A flock under test. Shares no code with the library.
 */
#include "flock_case.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "oracle.h"

static double on_grid(double x, double grid)
{
    return grid > 0 ? grid * floor(x / grid) : x;
}

flock_case flock_case_make(const char *name, int64_t n, double side, kith_box box,
                           kith_precision precision, double grid, uint64_t seed)
{
    flock_case c = {.name = name, .n = n, .box = box, .precision = precision};
    double *r = check_malloc((size_t)n * 3 * sizeof *r);
    double *v = check_malloc((size_t)n * 3 * sizeof *v);
    rng random = {seed};
    for (int64_t e = 0; e < 3 * n; e++) {
        const int k = (int)(e % 3);
        const bool flat = k == 2 && box.dim == 2;
        r[e] = flat ? 0 : box.origin[k] + on_grid(rng_uniform(&random, 0, side), grid);
        v[e] = flat ? 0 : on_grid(rng_uniform(&random, -1, 1), grid);
    }
    c.r = stored_make(r, n, precision, LAYOUT_PACKED);
    c.v = stored_make(v, n, precision, LAYOUT_STRIDE7);
    kith_flock_options_init(&c.options);
    free(r);
    free(v);
    return c;
}

void flock_case_free(flock_case *c)
{
    stored_free(&c->r);
    stored_free(&c->v);
}

kith_flock *flock_case_open(kith_ctx *ctx, const flock_case *c)
{
    kith_flock *flock = NULL;
    CHECK(kith_flock_open(ctx, &c->r.points, &c->v.points, &c->box, &c->options, &flock) == KITH_OK,
          "%s: %s", c->name, kith_message(ctx));
    return flock;
}

/* What a particle sees. */
typedef struct seen {
    double r2, d[3];
    int32_t j;
} seen;

typedef struct view {
    const flock_case *c;
    double *wrapped; /* [n][3] positions in the box */
    double unit;     /* offsets are multiples of it where they are summed */
    double *push;    /* [n][3] sums of the repulsion [length] */
    double *blur;    /* [n] what rounding to units may change in a component of push [length] */
    int32_t *count;
    seen *list; /* [n][room] */
    int room;
} view;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The radius of a rule, 0 where it is off. */
static double radius_of(const flock_case *c, int rule)
{
    const kith_flock_options *o = &c->options;
    const kith_flock_rule rules[3] = {o->separation, o->alignment, o->cohesion};
    if (o->model != KITH_BOIDS)
        return rule == 1 ? o->alignment.radius : 0;
    return rules[rule].weight != 0 ? rules[rule].radius : 0;
}

/* The factor by which i takes what a rule has of j, 1 without species. */
static double factor_of(const flock_case *c, int64_t i, int64_t j, int rule)
{
    const kith_flock_options *o = &c->options;
    const int64_t s = o->n_species;
    if (s == 0)
        return 1;
    const int64_t a = o->species ? o->species[i] : i % s, b = o->species ? o->species[j] : j % s;
    const kith_flock_factors *f = &o->factors[a * s + b];
    return rule == 0 ? f->separation : rule == 1 ? f->alignment : f->cohesion;
}

/* The range of the repulsion, 0 where it is off. */
static double range_of(const flock_case *c)
{
    return c->options.repulsion.weight > 0 ? c->options.repulsion.radius : 0;
}

/* The largest radius. */
static double reach_of(const flock_case *c)
{
    return fmax(fmax(radius_of(c, 0), range_of(c)), fmax(radius_of(c, 1), radius_of(c, 2)));
}

/* A number in the precision of the points. */
static double rounded(const flock_case *c, double x)
{
    return c->precision == KITH_FLOAT ? (double)(float)x : x;
}

/* Return true when j is in the blind cone of i, by the rounded offset, which is the definition in
 * kith.h. */
static bool is_blind(const view *w, const oracle_pair *pair, const double v[3])
{
    const double *ri = w->wrapped + 3 * (int64_t)pair->i, *rj = w->wrapped + 3 * (int64_t)pair->j;
    const double blind = w->c->options.blind_angle;
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = rint(rj[k] / w->unit) - rint(ri[k] / w->unit);
        for (int m = 0; m < w->c->box.dim && k < w->c->box.dim; m++)
            d[k] += pair->image[m] * rint(rounded(w->c, w->c->box.row[m][k]) / w->unit);
    }
    return blind > 0 && dot(d, v) < -cos(blind / 2) * sqrt(dot(v, v) * dot(d, d));
}

/* Add the force of a harmonic spring that is compressed by the overlap of i and j. */
static void push_away(view *w, int32_t i, const seen *one)
{
    const double range = rounded(w->c, range_of(w->c)), distance = sqrt(dot(one->d, one->d));
    if (distance > range)
        return;
    for (int k = 0; k < 3 && distance > 0; k++)
        w->push[3 * (int64_t)i + k] += (1 - range / distance) * one->d[k];
    /* the direction has the error of the offset, divided by the distance */
    w->blur[i] += distance > 4 * w->unit ? 4 * w->unit * (1 + range / distance) : 2 * range;
}

static void look(void *user, const oracle_pair *pair)
{
    view *w = user;
    const flock_case *c = w->c;
    seen one = {.r2 = pair->r2, .j = pair->j};
    double v[3];
    for (int k = 0; k < 3; k++) {
        one.d[k] = points_get(&c->r.points, pair->j, k) - points_get(&c->r.points, pair->i, k);
        for (int m = 0; m < c->box.dim; m++)
            one.d[k] += pair->shift[m] * c->box.row[m][k];
        if (k == 2 && c->box.dim == 2)
            one.d[k] = 0;
        v[k] = points_get(&c->v.points, pair->i, k);
    }
    push_away(w, pair->i, &one);
    bool heeded = false;
    for (int rule = 0; rule < 3; rule++)
        heeded = heeded || (radius_of(c, rule) > 0 && factor_of(c, pair->i, pair->j, rule) != 0);
    if (is_blind(w, pair, v) || (c->options.n_species > 0 && !heeded))
        return;
    if (CHECK(w->count[pair->i] < w->room, "%s: too many neighbours", c->name))
        w->list[(int64_t)pair->i * w->room + w->count[pair->i]++] = one;
}

static int nearer(const void *left, const void *right)
{
    const seen *a = left, *b = right;
    if (a->r2 != b->r2)
        return a->r2 < b->r2 ? -1 : 1;
    return a->j < b->j ? -1 : a->j > b->j;
}

/* The rules' sums over a list. */
typedef struct sums {
    double n[3], sum[3][3];
    double followed; /* sum of the factors of alignment */
    double most;     /* largest of all factors */
} sums;

static sums add_up(const flock_case *c, int64_t i, const seen *list, int n)
{
    sums s = {.n = {0, 0, 0}};
    for (int p = 0; p < n; p++) {
        for (int rule = 0; rule < 3; rule++) {
            const double radius = rounded(c, radius_of(c, rule));
            if (radius == 0 || list[p].r2 > rounded(c, radius * radius))
                continue;
            const double factor = factor_of(c, i, list[p].j, rule);
            s.n[rule] += factor != 0;
            s.followed += rule == 1 ? factor : 0;
            s.most = fmax(s.most, fabs(factor));
            for (int k = 0; k < 3; k++)
                s.sum[rule][k] += factor * (rule == 1 ? points_get(&c->v.points, list[p].j, k)
                                                      : list[p].d[k]);
        }
    }
    return s;
}

/* Rotate v towards u by the largest angle of a turn, at the speed of u, where u is farther away.
 * Rodrigues' formula about v x u. Return by how much errors of u grow. */
static double turn_back(const flock_case *c, const double v[3], double u[3])
{
    const double angle = c->options.turn_rate * c->options.time_step;
    const double before = sqrt(dot(v, v)), speed = sqrt(dot(u, u));
    const double across[3] = {v[1] * u[2] - v[2] * u[1], v[2] * u[0] - v[0] * u[2],
                              v[0] * u[1] - v[1] * u[0]};
    const double size = sqrt(dot(across, across));
    if (angle == 0 || before == 0 || speed == 0 || atan2(size, dot(u, v)) <= angle)
        return 1;
    for (int k = 0; k < 3; k++) { /* the axis is at right angles to v */
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        const double side = (across[l] * v[m] - across[m] * v[l]) / size;
        u[k] = speed / before * (v[k] * cos(angle) + side * sin(angle));
    }
    return 1 + before * speed / size;
}

/* Turn u of leader i by Couzin's rule. Return by how much errors of u grow: of two vectors that
 * nearly cancel any direction is possible. */
static double lead(const flock_case *c, int64_t i, double u[3])
{
    const kith_flock_options *o = &c->options;
    const double *g = o->leader_direction, w = o->leader_weight;
    const double flat[3] = {g[0], g[1], c->box.dim == 2 ? 0 : g[2]};
    const double speed = sqrt(dot(u, u)), length = sqrt(dot(flat, flat));
    double wish[3]; /* times |u| */
    if ((double)i + 0.5 >= floor(o->leaders * (double)c->n + 0.5) || w == 0)
        return 1;
    for (int k = 0; k < 3; k++)
        wish[k] = u[k] + w * speed * flat[k] / length;
    const double size = sqrt(dot(wish, wish));
    for (int k = 0; k < 3 && size > 0; k++)
        u[k] = wish[k] * speed / size;
    return size > 0 ? 1 + 2 * speed / size : 1;
}

/* Return by how much errors of the sums grow in u. */
static double steer(const flock_case *c, int64_t i, const sums *s, const double v[3], double u[3])
{
    const kith_flock_options *o = &c->options;
    const bool boids = o->model == KITH_BOIDS;
    for (int k = 0; k < 3; k++) {
        u[k] = v[k];
        if (!boids) {
            u[k] += s->sum[1][k];
            continue;
        }
        u[k] -= o->separation.weight * s->sum[0][k];
        if (s->n[1] > 0 && o->alignment.weight != 0)
            u[k] += o->alignment.weight * (s->sum[1][k] - (o->relative ? s->followed * v[k] : 0)) /
                    s->n[1];
        if (s->n[2] > 0)
            u[k] += o->cohesion.weight * s->sum[2][k] / s->n[2];
    }
    const double growth = lead(c, i, u);
    const double speed = sqrt(dot(u, u));
    const double least = boids ? o->min_speed : o->max_speed;
    double wanted = speed;
    if (o->max_speed > 0 && wanted > o->max_speed)
        wanted = o->max_speed;
    if (wanted < least)
        wanted = least;
    for (int k = 0; k < 3 && speed > 0; k++)
        u[k] *= wanted / speed;
    return growth * turn_back(c, v, u);
}

/* Units of the sums, for the error that rounding to them makes. */
static double error_of(const flock_case *c, const sums *s)
{
    const kith_flock_options *o = &c->options;
    const double unit = fmax(1, s->most) * ldexp(1, -22); /* of the radius or velocity, at most */
    const double widest = fmax(o->separation.radius, fmax(o->alignment.radius, o->cohesion.radius));
    const double most = 2; /* |v| */
    if (o->model != KITH_BOIDS)
        return 4 * unit * most * (s->n[1] + 1); /* directions of small sums turn easily */
    return 2 * unit *
           (widest * (fabs(o->separation.weight) * s->n[0] + fabs(o->cohesion.weight)) +
            most * fabs(o->alignment.weight));
}

void flock_case_step(const flock_case *c, double *r, double *v, double *error)
{
    const kith_flock_options *o = &c->options;
    int exponent = 0;
    (void)frexp(rounded(c, reach_of(c)), &exponent);
    view w = {.c = c, .unit = ldexp(1, exponent - 23)};
    w.room = c->n > 50 ? 400 : (int)(8 * c->n + 8);
    w.wrapped = check_malloc(3 * (size_t)c->n * sizeof *w.wrapped);
    int64_t *boxes = check_malloc(3 * (size_t)c->n * sizeof *boxes);
    oracle_wrap(&c->r.points, &c->box, w.wrapped, boxes);
    free(boxes);
    w.count = calloc((size_t)c->n, sizeof *w.count);
    w.push = calloc(3 * (size_t)c->n, sizeof *w.push);
    w.blur = calloc((size_t)c->n, sizeof *w.blur);
    w.list = check_malloc((size_t)(c->n * w.room) * sizeof *w.list);
    oracle_each(&c->r.points, NULL, &c->box, reach_of(c), look, &w);
    for (int64_t i = 0; i < c->n; i++) {
        seen *list = w.list + i * w.room;
        int n = w.count[i];
        if (o->nearest > 0) {
            qsort(list, (size_t)n, sizeof *list, nearer);
            n = n < o->nearest ? n : (int)o->nearest;
        }
        const sums s = add_up(c, i, list, n);
        double old[3], u[3];
        for (int k = 0; k < 3; k++)
            old[k] = points_get(&c->v.points, i, k);
        old[2] = c->box.dim == 2 ? 0 : old[2];
        const double growth = steer(c, i, &s, old, u);
        double *of = error + 3 * i;
        of[0] = error_of(c, &s) * growth;
        of[1] = o->time_step * (2 * of[0] + o->repulsion.weight * w.blur[i]);
        of[2] = growth;
        for (int k = 0; k < 3; k++) {
            const double length = c->box.row[k][k];
            const double low = c->box.origin[k];
            double x = (k == 2 && c->box.dim == 2 ? 0 : points_get(&c->r.points, i, k)) +
                       (u[k] + o->repulsion.weight * w.push[3 * i + k]) * o->time_step;
            while (o->reflecting[k] && (x < low || x > low + length)) { /* it may meet both walls */
                u[k] = x < low ? fabs(u[k]) : -fabs(u[k]);
                x = x < low ? 2 * low - x : 2 * (low + length) - x;
            }
            r[3 * i + k] = x;
            v[3 * i + k] = u[k];
        }
    }
    free(w.wrapped);
    free(w.count);
    free(w.push);
    free(w.blur);
    free(w.list);
}

void flock_case_read(const flock_case *c, const kith_flock *flock, double *r, double *v)
{
    double *const to[2] = {r, v};
    float *single[2] = {check_malloc((size_t)c->n * 3 * sizeof(float)),
                        check_malloc((size_t)c->n * 3 * sizeof(float))};
    const bool narrow = c->precision == KITH_FLOAT;
    CHECK(kith_flock_read(flock, narrow ? (void *)single[0] : r, narrow ? (void *)single[1] : v) ==
              KITH_OK,
          "%s: not read", c->name);
    for (int a = 0; a < 2; a++) {
        for (int64_t e = 0; e < 3 * c->n && narrow; e++)
            to[a][e] = (double)single[a][e];
        free(single[a]);
    }
}

/* How far x is from y in a box, by any number of boxes. */
static double apart(const kith_box *box, const double *x, const double *y)
{
    double d[3], at[3], f[3], best = INFINITY;
    for (int k = 0; k < 3; k++) {
        d[k] = x[k] - y[k];
        at[k] = box->origin[k] + d[k];
    }
    oracle_fractions(box, KITH_DOUBLE, at, f);
    for (int image = 0; image < 27; image++) {
        const int s[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double sum = 0;
        bool allowed = true;
        for (int k = 0; k < box->dim; k++) {
            double moved = d[k];
            for (int m = 0; m < box->dim; m++) {
                moved += (s[m] - (box->periodic[m] ? rint(f[m]) : 0)) * box->row[m][k];
                allowed = allowed && (s[m] == 0 || box->periodic[m]);
            }
            sum += moved * moved;
        }
        allowed = allowed && (box->dim == 3 || s[2] == 0);
        best = allowed ? fmin(best, sqrt(sum)) : best;
    }
    return best;
}

static bool is_upright(const kith_box *box)
{
    bool yes = true;
    for (int k = 0; k < 9; k++)
        yes = yes && (k % 4 == 0 || box->row[k / 3][k % 3] == 0);
    return yes;
}

void flock_case_check(kith_ctx *ctx, const flock_case *c, bool exact)
{
    double *r = check_malloc(3 * (size_t)c->n * sizeof *r),
           *v = check_malloc(3 * (size_t)c->n * sizeof *v);
    double *br = check_malloc(3 * (size_t)c->n * sizeof *br),
           *bv = check_malloc(3 * (size_t)c->n * sizeof *bv);
    double *error = check_malloc(3 * (size_t)c->n * sizeof *error);
    kith_flock *flock = flock_case_open(ctx, c);
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s: %s", c->name, kith_message(ctx));
    flock_case_read(c, flock, r, v);
    flock_case_step(c, br, bv, error);
    const bool single = c->precision == KITH_FLOAT;
    const double rounding = single ? 1e-7 : 2e-16;
    for (int64_t p = 0; p < c->n; p++) {
        double worst = 0;
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(v[3 * p + k] - bv[3 * p + k]));
        const double allowed = (exact ? 0 : error[3 * p]) + 40 * rounding * error[3 * p + 2];
        if (!CHECK(worst <= allowed, "%s, %s: v of %lld is off by %g, not %g", c->name,
                   kith_backend(ctx), (long long)p, worst, allowed))
            break;
        const double away = apart(&c->box, r + 3 * p, br + 3 * p);
        CHECK(away <= 2 * allowed * c->options.time_step + error[3 * p + 1] + 60 * rounding,
              "%s: r of %lld is off by %g", c->name, (long long)p, away);
        for (int k = 0; k < c->box.dim; k++) {
            const double x = r[3 * p + k], low = rounded(c, c->box.origin[k]);
            const double high = rounded(c, low + rounded(c, c->box.row[k][k]));
            const bool bounded = c->box.periodic[k] || c->options.reflecting[k];
            CHECK(!is_upright(&c->box) || !bounded || (x >= low && x <= high),
                  "%s: %lld is outside", c->name, (long long)p);
        }
    }
    CHECK(kith_flock_steps(flock) == c->options.first_step + 1, "%s: steps", c->name);
    kith_flock_close(flock);
    free(error);
    free(r);
    free(v);
    free(br);
    free(bv);
}
