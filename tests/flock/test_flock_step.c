/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a flock against brute force in double, in every kind of space, with every rule.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"
#include "flock_case.h"

enum { N = 150 };

static const double side = 11;

/* How far x is from y in a box whose faces may lie between them. */
static double apart(const kith_box *box, const double *x, const double *y)
{
    double best = INFINITY;
    for (int image = 0; image < 27; image++) {
        const int s[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double sum = 0;
        bool allowed = true;
        for (int k = 0; k < 3; k++) {
            double d = x[k] - y[k];
            for (int m = 0; m < box->dim; m++) {
                d += s[m] * box->row[m][k];
                allowed = allowed && (s[m] == 0 || box->periodic[m]);
            }
            sum += d * d;
        }
        allowed = allowed && (box->dim == 3 || s[2] == 0);
        best = allowed ? fmin(best, sqrt(sum)) : best;
    }
    return best;
}

static void compare(kith_ctx *ctx, const flock_case *c, bool exact)
{
    double *r = check_malloc(3 * N * sizeof *r), *v = check_malloc(3 * N * sizeof *v);
    double *br = check_malloc(3 * N * sizeof *br), *bv = check_malloc(3 * N * sizeof *bv);
    double error[N];
    kith_flock *flock = flock_case_open(ctx, c);
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s: %s", c->name, kith_message(ctx));
    flock_case_read(c, flock, r, v);
    flock_case_step(c, br, bv, error);
    const bool single = c->precision == KITH_FLOAT;
    const double rounding = single ? 1e-7 : 2e-16;
    for (int p = 0; p < N; p++) {
        double worst = 0;
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(v[3 * p + k] - bv[3 * p + k]));
        const double allowed = (exact ? 0 : error[p]) + 40 * rounding;
        if (!CHECK(worst <= allowed, "%s: v of %d is off by %g, not %g", c->name, p, worst,
                   allowed))
            break;
        const double away = apart(&c->box, r + 3 * p, br + 3 * p);
        CHECK(away <= 2 * allowed * c->options.time_step + 60 * rounding,
              "%s: r of %d is off by %g", c->name, p, away);
        for (int k = 0; k < c->box.dim; k++) {
            const double x = r[3 * p + k] - c->box.origin[k];
            const bool upright = c->box.row[1][0] == 0 && c->box.row[2][0] == 0;
            CHECK(!upright || !(c->box.periodic[k] || c->options.reflecting[k]) ||
                      (x >= 0 && x <= c->box.row[k][k]),
                  "%s: %d is outside", c->name, p);
        }
    }
    CHECK(kith_flock_steps(flock) == c->options.first_step + 1, "%s: steps", c->name);
    kith_flock_close(flock);
    free(r);
    free(v);
    free(br);
    free(bv);
}

enum { SPACES = 6, RULES = 10 };

static kith_box space(int kind, kith_flock_options *o)
{
    kith_box box = kith_box_periodic(side, side, side);
    switch (kind) {
    case 1: /* flat */ box.dim = 2; break;
    case 2: /* walls */
        for (int k = 0; k < 3; k++) {
            box.periodic[k] = 0;
            o->reflecting[k] = 1;
            box.origin[k] = -5;
        }
        break;
    case 3: /* of each kind one */
        box.periodic[1] = box.periodic[2] = 0;
        o->reflecting[1] = 1;
        break;
    case 4: box = kith_box_triclinic(side, side, side, 3, -2, 4); break;
    case 5: box = kith_box_open(); break;
    default: break;
    }
    return box;
}

static const char *set_rules(int kind, kith_flock_options *o)
{
    o->time_step = 0.5;
    switch (kind) {
    case 0: return "usual";
    case 1:
        o->relative = 1;
        o->alignment.radius = 4.5;
        return "three radii";
    case 2:
        o->separation.weight = 0;
        o->cohesion.radius = 0;
        return "alignment alone";
    case 3: o->separation.weight = o->cohesion.weight = o->alignment.weight = 0; return "none";
    case 4: o->nearest = 7; return "nearest";
    case 5: o->blind_angle = 2; return "blind";
    case 6:
        o->blind_angle = 4;
        o->nearest = 3;
        o->separation.radius = 5;
        return "blind, nearest";
    case 7: o->model = KITH_VICSEK_ANGULAR; return "Vicsek";
    case 8:
        o->model = KITH_VICSEK_VECTORIAL;
        o->alignment.radius = 3;
        return "vectorial";
    default:
        o->min_speed = 0.7;
        o->max_speed = 0;
        o->separation.radius = 6;
        return "fast";
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    for (int e = 0; e < SPACES * RULES * 2; e++) {
        const int kind = e % SPACES, rules = e / SPACES % RULES, exact = e / (SPACES * RULES);
        if (check_brief() && e % 5)
            continue;
        kith_flock_options o;
        kith_flock_options_init(&o);
        const kith_box box = space(kind, &o);
        const char *name = set_rules(rules, &o);
        /* floats; doubles; doubles that need no rounding, so that all sums are exact */
        const kith_precision precision = !exact && e / 2 % 2 ? KITH_FLOAT : KITH_DOUBLE;
        flock_case c = flock_case_make(name, N, side, box, precision, exact ? ldexp(1, -14) : 0,
                                       (uint64_t)e + 1);
        c.options = o;
        compare(ctx, &c, exact);
        flock_case_free(&c);
    }
    kith_close(ctx);
    return check_done();
}
