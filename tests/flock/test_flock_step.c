/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of a flock against brute force in double, in every kind of space, with every rule.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flock_case.h"

enum { N = 150 };

static const double side = 11;

enum { SPACES = 6, RULES = 23 };

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

/* How three species heed each other; every column and row differs. */
static const kith_flock_factors heed[9] = {{1, 1, 1},     {0, 0, 0}, {2, 0, -0.5},
                                           {1, -0.25, 0}, {0, 1, 3}, {0.5, 0.5, 0.25},
                                           {0, 2, 1},     {1, 0, 0}, {0, 0, 1}};
static uint8_t species[N];

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
    case 9:
        o->turn_rate = 0.5;
        o->min_speed = 0.4;
        return "slow turns";
    case 10:
        o->turn_rate = 3;
        o->model = KITH_VICSEK_ANGULAR;
        return "Vicsek, slow turns";
    case 11:
        o->separation.radius = o->alignment.radius = o->cohesion.radius = 0;
        o->repulsion = (kith_flock_rule){2.5, 0.8};
        o->min_speed = 1;
        return "repulsion";
    case 12:
        o->repulsion = (kith_flock_rule){3.7, 2};
        o->blind_angle = 3;
        o->nearest = 4;
        return "repulsion of what is not seen";
    case 13:
        o->model = KITH_VICSEK_ANGULAR;
        o->repulsion = (kith_flock_rule){5.3, 0.3};
        o->alignment.radius = 2;
        return "Vicsek, repulsion of the largest radius";
    case 15:
        o->factors = heed;
        o->n_species = 3;
        o->relative = 1;
        o->cohesion.radius = 4;
        return "species";
    case 16:
        o->factors = heed;
        o->n_species = 3;
        o->species = species;
        o->nearest = 6;
        o->blind_angle = 1;
        o->repulsion = (kith_flock_rule){2.5, 0.8};
        return "species by a list, nearest";
    case 17:
        o->factors = heed;
        o->n_species = 2;
        o->model = KITH_VICSEK_ANGULAR;
        return "Vicsek's species";
    case 19:
        o->leaders = 0.3;
        o->leader_weight = 0.7;
        o->leader_direction[0] = -3;
        o->leader_direction[1] = o->leader_direction[2] = 4;
        o->min_speed = 0.4;
        return "leaders";
    case 21:
        o->separation.weight = o->cohesion.weight = o->alignment.weight = 0;
        o->leaders = 0.5;
        o->leader_weight = 1.3;
        o->leader_direction[1] = -1;
        return "leaders without rules";
    case 20:
        o->model = KITH_VICSEK_ANGULAR;
        o->leaders = 1;
        o->leader_weight = 2;
        o->leader_direction[1] = 1e-3;
        return "Vicsek's leaders, all";
    case 18:
        o->factors = heed + 1;
        o->n_species = 1;
        return "one species, which ignores itself";
    case 14: o->repulsion = (kith_flock_rule){9, 0}; return "repulsion without strength";
    default:
        o->min_speed = 0.7;
        o->max_speed = 0;
        o->separation.radius = 6;
        return "fast";
    }
}

/* Positions on a grid: many neighbours are equally near, of which those of smallest index count. */
static void check_ties(kith_ctx *ctx)
{
    for (int e = 0; e < 4 * SPACES; e++) {
        kith_flock_options o;
        kith_flock_options_init(&o);
        const kith_box box = space(e % SPACES, &o);
        o.nearest = 1 + 3 * (e / SPACES);
        flock_case c = flock_case_make("ties", N, side, box, e % 2 ? KITH_FLOAT : KITH_DOUBLE, 1,
                                       (uint64_t)e + 1);
        for (int p = 0; p < N; p++) { /* neighbours are told apart by their velocities */
            kith_points *v = &c.v.points;
            for (int k = 0; k < box.dim; k++) {
                const double x = ((7 * p + 3 * k) % 128 - 64) / 64.0;
                void *axis[3];
                memcpy(axis, &v->x, sizeof axis);
                if (v->precision == KITH_FLOAT)
                    ((float *)axis[k])[p * v->stride] = (float)x;
                else
                    ((double *)axis[k])[p * v->stride] = x;
            }
        }
        o.alignment.weight = 0.5;
        c.options = o;
        flock_case_check(ctx, &c, false);
        flock_case_free(&c);
    }
}

int main(int argc, char **argv)
{
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    for (int p = 0; p < N; p++)
        species[p] = (uint8_t)(p < 100 ? 2 : p % 7 % 3);
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
        flock_case_check(ctx, &c, exact);
        flock_case_free(&c);
    }
    check_ties(ctx);
    kith_close(ctx);
    return check_done();
}
