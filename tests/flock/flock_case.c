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
    int32_t *count;
    seen *list; /* [n][room] */
    int room;
} view;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
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
    const double blind = c->options.blind_angle;
    if (blind > 0 && dot(v, one.d) < -cos(blind / 2) * sqrt(dot(v, v) * dot(one.d, one.d)))
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
} sums;

static sums add_up(const flock_case *c, const seen *list, int n)
{
    const kith_flock_options *o = &c->options;
    const bool boids = o->model == KITH_BOIDS;
    const double radius[3] = {boids ? o->separation.radius : 0, o->alignment.radius,
                              boids ? o->cohesion.radius : 0};
    sums s = {.n = {0, 0, 0}};
    for (int p = 0; p < n; p++) {
        for (int rule = 0; rule < 3; rule++) {
            /* r2 and the radius are those of the precision, as the definition has them */
            const double wide = radius[rule] * radius[rule];
            const float narrow = (float)radius[rule] * (float)radius[rule];
            if (list[p].r2 > (c->precision == KITH_FLOAT ? (double)narrow : wide))
                continue;
            s.n[rule]++;
            for (int k = 0; k < 3; k++)
                s.sum[rule][k] += rule == 1 ? points_get(&c->v.points, list[p].j, k) : list[p].d[k];
        }
    }
    return s;
}

static void steer(const flock_case *c, const sums *s, const double v[3], double u[3])
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
            u[k] += o->alignment.weight * (s->sum[1][k] / s->n[1] - (o->relative ? v[k] : 0));
        if (s->n[2] > 0)
            u[k] += o->cohesion.weight * s->sum[2][k] / s->n[2];
    }
    const double speed = sqrt(dot(u, u));
    const double least = boids ? o->min_speed : o->max_speed;
    double wanted = speed;
    if (o->max_speed > 0 && wanted > o->max_speed)
        wanted = o->max_speed;
    if (wanted < least)
        wanted = least;
    for (int k = 0; k < 3 && speed > 0; k++)
        u[k] *= wanted / speed;
}

/* Units of the sums, for the error that rounding to them makes. */
static double error_of(const flock_case *c, const sums *s)
{
    const kith_flock_options *o = &c->options;
    const double unit = ldexp(1, -22); /* of the radius or velocity, at most */
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
    const double reach = o->model == KITH_BOIDS
                             ? fmax(o->separation.radius,
                                    fmax(o->alignment.radius, o->cohesion.radius))
                             : o->alignment.radius;
    view w = {.c = c, .room = 400};
    w.count = calloc((size_t)c->n, sizeof *w.count);
    w.list = check_malloc((size_t)(c->n * w.room) * sizeof *w.list);
    oracle_each(&c->r.points, NULL, &c->box, reach, look, &w);
    for (int64_t i = 0; i < c->n; i++) {
        seen *list = w.list + i * w.room;
        int n = w.count[i];
        if (o->nearest > 0) {
            qsort(list, (size_t)n, sizeof *list, nearer);
            n = n < o->nearest ? n : (int)o->nearest;
        }
        const sums s = add_up(c, list, n);
        double old[3], u[3];
        for (int k = 0; k < 3; k++)
            old[k] = points_get(&c->v.points, i, k);
        old[2] = c->box.dim == 2 ? 0 : old[2];
        steer(c, &s, old, u);
        error[i] = error_of(c, &s);
        for (int k = 0; k < 3; k++) {
            const double length = c->box.row[k][k];
            const double low = c->box.origin[k];
            double x = (k == 2 && c->box.dim == 2 ? 0 : points_get(&c->r.points, i, k)) +
                       u[k] * o->time_step;
            if (o->reflecting[k] && (x < low || x > low + length)) {
                x = x < low ? 2 * low - x : 2 * (low + length) - x;
                u[k] = -u[k];
            }
            r[3 * i + k] = x;
            v[3 * i + k] = u[k];
        }
    }
    free(w.count);
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
