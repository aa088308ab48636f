/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checking kith_flock_options, and making the rules (flock_rules.h) from them.
 */
#include "flock_rules.h"

#include <float.h>
#include <stdbool.h>

#include "core/sized.h"
#include "flock.h"

static const double pi = 3.14159265358979323846;

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_FLOCK_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_flock_options, first_step) };

static const kith_flock_options defaults = {.size = sizeof(kith_flock_options),
                                            .separation = {3, 0.1},
                                            .alignment = {5, 0.1},
                                            .cohesion = {5, 0.01},
                                            .max_speed = 1,
                                            .time_step = 0.2,
                                            .repulsion = {0, 1}};

/* kith_flock_options_init_sized, kith_flock_options_init */
KITH_INIT_CALLS(kith_flock_options, KITH_FLOCK_OPTIONS_0_1)

static kith_status check_rule(kith_ctx *ctx, const char *name, const kith_flock_rule *rule)
{
    KITH_CHECK(ctx, isfinite(rule->radius) && rule->radius >= 0, KITH_INVALID,
               "options.%s.radius is %g, expected a finite length, 0 or more", name, rule->radius);
    KITH_CHECK(ctx, isfinite(rule->weight), KITH_INVALID,
               "options.%s.weight is %g, expected a finite number", name, rule->weight);
    return KITH_OK;
}

static kith_status check_numbers(kith_ctx *ctx, const kith_flock_options *o)
{
    KITH_TRY(check_rule(ctx, "separation", &o->separation));
    KITH_TRY(check_rule(ctx, "alignment", &o->alignment));
    KITH_TRY(check_rule(ctx, "cohesion", &o->cohesion));
    KITH_TRY(check_rule(ctx, "repulsion", &o->repulsion));
    KITH_CHECK(ctx, o->repulsion.weight >= 0, KITH_INVALID,
               "options.repulsion.weight is %g, expected a rate of 0 or more", o->repulsion.weight);
    KITH_CHECK(ctx, o->model >= KITH_BOIDS && o->model <= KITH_VICSEK_VECTORIAL, KITH_INVALID,
               "options.model is %d, expected KITH_BOIDS, KITH_VICSEK_ANGULAR or "
               "KITH_VICSEK_VECTORIAL",
               (int)o->model);
    KITH_TRY(kith__check_flag(ctx, "options.relative", o->relative));
    KITH_TRY(kith__check_flag(ctx, "options.reflecting[0]", o->reflecting[0]));
    KITH_TRY(kith__check_flag(ctx, "options.reflecting[1]", o->reflecting[1]));
    KITH_TRY(kith__check_flag(ctx, "options.reflecting[2]", o->reflecting[2]));
    KITH_CHECK(ctx, isfinite(o->max_speed) && o->max_speed >= 0, KITH_INVALID,
               "options.max_speed is %g, expected a finite speed, 0 or more; 0: no limit",
               o->max_speed);
    KITH_CHECK(ctx, o->model == KITH_BOIDS || o->max_speed > 0, KITH_INVALID,
               "options.max_speed is 0: Vicsek's particles move with that speed");
    KITH_CHECK(ctx, isfinite(o->min_speed) && o->min_speed >= 0, KITH_INVALID,
               "options.min_speed is %g, expected a finite speed, 0 or more", o->min_speed);
    KITH_CHECK(ctx, o->max_speed == 0 || o->min_speed <= o->max_speed, KITH_INVALID,
               "options.min_speed is %g, more than options.max_speed, %g", o->min_speed,
               o->max_speed);
    KITH_CHECK(ctx, isfinite(o->time_step) && o->time_step > 0, KITH_INVALID,
               "options.time_step is %g, expected a finite time above 0", o->time_step);
    KITH_CHECK(ctx, o->noise >= 0 && o->noise <= 1, KITH_INVALID,
               "options.noise is %g, expected 0 to 1", o->noise);
    KITH_TRY(kith__check_flag(ctx, "options.gaussian", o->gaussian));
    KITH_CHECK(ctx, !o->gaussian || o->model != KITH_VICSEK_VECTORIAL, KITH_INVALID,
               "options.gaussian: the noise of KITH_VICSEK_VECTORIAL is no angle");
    KITH_CHECK(ctx, isfinite(o->turn_rate) && o->turn_rate >= 0, KITH_INVALID,
               "options.turn_rate is %g, expected a finite rate, 0 or more; 0: no limit",
               o->turn_rate);
    KITH_CHECK(ctx, o->leaders >= 0 && o->leaders <= 1, KITH_INVALID,
               "options.leaders is %g, expected a share from 0 to 1", o->leaders);
    KITH_CHECK(ctx, o->leader_weight >= 0 && o->leader_weight <= 1e9, KITH_INVALID,
               "options.leader_weight is %g, expected 0 to 1e9", o->leader_weight);
    KITH_CHECK(ctx, o->blind_angle >= 0 && o->blind_angle <= 2 * pi, KITH_INVALID,
               "options.blind_angle is %g, expected 0 to 2 pi", o->blind_angle);
    KITH_CHECK(ctx, o->nearest >= 0 && o->nearest <= KITH_MOST_NEAREST, KITH_INVALID,
               "options.nearest is %lld, expected 0 to %d", (long long)o->nearest,
               KITH_MOST_NEAREST);
    KITH_CHECK(ctx, o->first_step >= 0, KITH_INVALID,
               "options.first_step is %lld, expected 0 or "
               "more",
               (long long)o->first_step);
    return KITH_OK;
}

static kith_status check_thing(kith_ctx *ctx, const kith_flock_thing *thing, int t)
{
    const bool obstacle = thing->kind == KITH_SPHERE || thing->kind == KITH_WALL;
    KITH_CHECK(ctx, thing->kind >= KITH_POINT && thing->kind <= KITH_PREDATOR, KITH_INVALID,
               "options.things[%d].kind is %d, expected one of kith_flock_kind", t,
               (int)thing->kind);
    KITH_CHECK(ctx, kith__is_finite(thing->place), KITH_INVALID,
               "options.things[%d].place is not finite", t);
    KITH_CHECK(
        ctx, isfinite(thing->weight) && (thing->kind != KITH_PREDATOR || thing->weight >= 0),
        KITH_INVALID,
        "options.things[%d].weight is %g, expected a finite number, 0 or more for a predator", t,
        thing->weight);
    KITH_CHECK(ctx, isfinite(thing->reach) && thing->reach >= 0, KITH_INVALID,
               "options.things[%d].reach is %g, expected a finite length, 0 or more", t,
               thing->reach);
    KITH_CHECK(
        ctx, !obstacle || thing->weight == 0 || thing->reach > 0, KITH_INVALID,
        "options.things[%d].reach is 0, expected a length above 0 for an obstacle whose weight is "
        "not 0",
        t);
    KITH_CHECK(ctx, thing->kind != KITH_SPHERE || (isfinite(thing->radius) && thing->radius > 0),
               KITH_INVALID, "options.things[%d].radius is %g, expected a length above 0", t,
               thing->radius);
    KITH_CHECK(ctx, thing->kind != KITH_PREDATOR || (isfinite(thing->speed) && thing->speed >= 0),
               KITH_INVALID, "options.things[%d].speed is %g, expected 0 or more", t, thing->speed);
    const double length = kith__flock_length(thing->normal);
    KITH_CHECK(ctx, thing->kind != KITH_WALL || (isfinite(length) && length > 0), KITH_INVALID,
               "options.things[%d].normal has length %g, expected a finite length above 0", t,
               length);
    return KITH_OK;
}

/** Copy and check obstacles and attractors; in 2-D their z is set to 0. */
static kith_status set_things(kith_ctx *ctx, const kith_flock_options *o,
                              struct kith__flock_rules *rules)
{
    rules->n_things = (int)o->n_things;
    for (int t = 0; t < rules->n_things; t++) {
        kith_flock_thing *thing = &rules->thing[t];
        *thing = o->things[t];
        for (int k = rules->dim; k < 3; k++) {
            thing->place[k] = thing->normal[k] = 0;
        }
        KITH_TRY(check_thing(ctx, thing, t));
        const double length = kith__flock_length(thing->normal);
        /* A normal of length 1 is not divided, so that a flock opened again with the result of
         * kith_flock_read_things has equal bits. Its length is 1 but for the few roundings of the
         * division here and of the length. */
        const bool unit = fabs(length - 1) < 8 * DBL_EPSILON;
        for (int k = 0; k < 3 && thing->kind == KITH_WALL && !unit; k++) {
            thing->normal[k] /= length;
        }
    }
    return KITH_OK;
}

/** Set radii and weights of the rules and the repulsion that are on, and the largest radius, 0 when
 *  none is on. */
static void set_rules(const kith_flock_options *o, const struct kith__question *q,
                      struct kith__flock_rules *rules)
{
    const bool boids = o->model == KITH_BOIDS;
    const kith_flock_rule rule[KITH_RULES] = {[KITH_SEPARATION] = o->separation,
                                              [KITH_ALIGNMENT] = o->alignment,
                                              [KITH_COHESION] = o->cohesion};
    for (int k = 0; k < KITH_RULES; k++) {
        const bool on = boids ? rule[k].radius > 0 && rule[k].weight != 0 : k == KITH_ALIGNMENT;
        rules->radius[k] = on ? kith__rounded(rule[k].radius, q->precision) : 0;
        rules->weight[k] = on ? rule[k].weight : 0;
        rules->reach = fmax(rules->reach, rules->radius[k]);
    }
    const bool pushes = o->repulsion.radius > 0 && o->repulsion.weight > 0;
    rules->push_radius = pushes ? kith__rounded(o->repulsion.radius, q->precision) : 0;
    rules->push_rate = pushes ? o->repulsion.weight : 0;
    rules->reach = fmax(rules->reach, rules->push_radius);
}

/** Set species.data and heed.data, and check them.
 *  @param rules         the rules, set but for the species
 *  @param[out] species  empty; receives uint8_t [n]
 *  @param[out] heed     empty; receives struct kith__flock_heed [n_species][n_species] */
static kith_status set_species(struct kith_flock *flock, const kith_flock_options *o,
                               const struct kith__flock_rules *rules, struct kith__buffer *species,
                               struct kith__buffer *heed)
{
    kith_ctx *ctx = flock->ctx;
    const int64_t s = o->n_species;
    uint8_t *to = kith__buffer_need(species, (size_t)flock->n + 1);
    struct kith__flock_heed *row = kith__buffer_need(heed, (size_t)(s * s) * sizeof *row);
    KITH_CHECK(ctx, to && row, KITH_NO_MEMORY, "out of memory for the species of %lld particles",
               (long long)flock->n);
    for (int64_t p = 0; p < flock->n; p++) {
        to[p] = (uint8_t)(o->species ? o->species[p] : (flock->first + p) % s);
        KITH_CHECK(ctx, to[p] < s, KITH_INVALID,
                   "options.species[%lld] is %d, expected less than options.n_species, %lld",
                   (long long)p, to[p], (long long)s);
    }
    for (int64_t e = 0; e < s * s; e++) {
        static const char *const name[KITH_RULES] = {"separation", "alignment", "cohesion"};
        const kith_flock_factors *f = &o->factors[e];
        const double factor[KITH_RULES] = {f->separation, f->alignment, f->cohesion};
        row[e].any = 0;
        for (int k = 0; k < KITH_RULES; k++) {
            KITH_CHECK(ctx, fabs(factor[k]) <= KITH_LARGEST_FACTOR, KITH_INVALID,
                       "options.factors[%lld][%lld].%s is %g, expected -%d to %d",
                       (long long)(e / s), (long long)(e % s), name[k], factor[k],
                       KITH_LARGEST_FACTOR, KITH_LARGEST_FACTOR);
            row[e].factor[k] = (int32_t)rint(factor[k] * KITH_FACTOR);
            row[e].any |= row[e].factor[k] != 0 && rules->radius[k] > 0;
        }
    }
    return KITH_OK;
}

/** Set the leaders and their goal. */
static kith_status set_leaders(const struct kith_flock *flock, const kith_flock_options *o,
                               struct kith__flock_rules *rules)
{
    double g[3] = {0, 0, 0};
    for (int k = 0; k < rules->dim; k++) {
        g[k] = o->leader_direction[k];
    }
    const double length = kith__flock_length(g);
    const bool lead = o->leaders > 0 && o->leader_weight > 0;
    KITH_CHECK(flock->ctx, !lead || (isfinite(length) && length > 0), KITH_INVALID,
               "options.leader_direction has length %g, expected a finite length above 0", length);
    rules->n_leaders = lead ? (int64_t)floor(o->leaders * (double)flock->all + 0.5) : 0;
    for (int k = 0; k < 3 && lead; k++) {
        rules->goal[k] = o->leader_weight * (g[k] / length);
    }
    return KITH_OK;
}

/** Replace the species of a flock, if the options are good.
 *  @param rules  the new rules, set but for the species */
static kith_status replace_species(struct kith_flock *flock, const kith_flock_options *o,
                                   struct kith__flock_rules *rules)
{
    struct kith__buffer species = {NULL, 0}, heed = {NULL, 0};
    const kith_status status = o->n_species > 0 ? set_species(flock, o, rules, &species, &heed)
                                                : KITH_OK;
    if (status == KITH_OK) {
        const struct kith__buffer old[2] = {flock->species, flock->heed};
        flock->species = species;
        flock->heed = heed;
        flock->edition++;
        rules->n_species = (int)o->n_species;
        species = old[0];
        heed = old[1];
    }
    kith__buffer_free(&species);
    kith__buffer_free(&heed);
    return status;
}

/** Set the reflecting walls: which axes have them, and their positions, from the box. */
static kith_status set_walls(kith_ctx *ctx, const kith_flock_options *o, const kith_box *box,
                             const struct kith__question *q, struct kith__flock_rules *rules)
{
    for (int k = 0; k < q->dim; k++) {
        rules->reflecting[k] = o->reflecting[k];
        if (!rules->reflecting[k]) {
            continue;
        }
        KITH_CHECK(ctx, !box->periodic[k], KITH_INVALID,
                   "options.reflecting: axis %c of the box is periodic", 'a' + k);
        KITH_CHECK(ctx, q->box_d.orthorhombic && box->row[k][k] > 0 && isfinite(box->row[k][k]),
                   KITH_INVALID,
                   "options.reflecting: axis %c needs an orthorhombic box, with box.row[%d][%d], "
                   "its length, "
                   "above 0",
                   'a' + k, k, k);
        /* as arithmetic in the question's precision gives them: the length is rounded, as the box
         * of the question has it, and so is the sum */
        rules->lo[k] = kith__rounded(box->origin[k], q->precision);
        rules->hi[k] = kith__rounded(rules->lo[k] + kith__rounded(box->row[k][k], q->precision),
                                     q->precision);
    }
    return KITH_OK;
}

kith_status kith__flock_options_read(kith_ctx *ctx, const kith_flock_options *options,
                                     kith_flock_options *own)
{
    *own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_flock_options_init, options, KITH_FLOCK_OPTIONS_0_1,
                      own);
    KITH_CHECK(ctx, own->n_things >= 0 && own->n_things <= KITH_MOST_THINGS, KITH_INVALID,
               "options.n_things is %lld, expected 0 to %d", (long long)own->n_things,
               KITH_MOST_THINGS);
    KITH_CHECK(ctx, own->n_things == 0 || own->things, KITH_INVALID, "options.things is NULL");
    KITH_CHECK(ctx, own->n_species >= 0 && own->n_species <= KITH_MOST_SPECIES, KITH_INVALID,
               "options.n_species is %lld, expected 0 to %d", (long long)own->n_species,
               KITH_MOST_SPECIES);
    KITH_CHECK(ctx, own->n_species == 0 || own->factors, KITH_INVALID, "options.factors is NULL");
    KITH_CHECK(ctx, own->n_species > 0 || !own->species, KITH_INVALID,
               "options.species is given, but options.n_species is 0");
    return KITH_OK;
}

kith_status kith__flock_options_known(kith_ctx *ctx, const kith_flock_options *own,
                                      const char *what)
{
    enum { KNOWN = KITH_SIZE_UP_TO(kith_flock_options, leader_direction) };
    for (size_t b = KNOWN; b < sizeof *own; b++) {
        KITH_CHECK(
            ctx, ((const char *)own)[b] == ((const char *)&defaults)[b], KITH_UNSUPPORTED,
            "options: fields after leader_direction must be at their defaults, as %s do not take "
            "these rules yet",
            what);
    }
    return KITH_OK;
}

kith_status kith__flock_rules_init(struct kith_flock *flock, const kith_flock_options *options,
                                   int64_t *first_step)
{
    kith_ctx *ctx = flock->ctx;
    kith_flock_options own;
    KITH_TRY(kith__flock_options_read(ctx, options, &own));
    const kith_flock_options *o = &own;
    KITH_TRY(check_numbers(ctx, o));
    struct kith__question q = flock->question;
    struct kith__flock_rules rules = {
        .model = o->model,
        .dim = q.dim,
        .relative = o->relative,
        .min_speed = o->model == KITH_BOIDS ? o->min_speed : o->max_speed,
        .max_speed = o->max_speed > 0 ? o->max_speed : (double)INFINITY,
        .time_step = o->time_step,
        .nearest = o->nearest,
        .sees_all = !(o->blind_angle > 0),
        .noise = o->noise,
        .gaussian = o->gaussian,
        .turns_freely = !(o->turn_rate > 0 && o->turn_rate * o->time_step < pi),
        .seed = o->seed,
    };
    double unused;
    kith__flock_cos_sin(o->blind_angle / (2 * pi), &rules.blind, &unused);
    if (!rules.turns_freely) {
        kith__flock_cos_sin(o->turn_rate * o->time_step / pi, &rules.turn_cos, &rules.turn_sin);
    }
    set_rules(o, &q, &rules);
    KITH_TRY(set_things(ctx, o, &rules));
    KITH_TRY(set_walls(ctx, o, &flock->box, &q, &rules));
    if (rules.reach > 0) {
        KITH_TRY(kith__question_init(ctx, &flock->question.a, NULL, &flock->box, rules.reach,
                                     "the largest radius of the rules", &q));
    }
    for (int k = 0; k < q.dim && rules.reach > 0; k++) {
        KITH_CHECK(ctx, !q.box_d.periodic[k] || rules.reach < q.height[k], KITH_INVALID,
                   "options: a radius of %g is no less than the box's height along %c, %g: "
                   "particles would see themselves",
                   rules.reach, 'a' + k, q.height[k]);
    }
    KITH_TRY(set_leaders(flock, o, &rules));
    KITH_TRY(replace_species(flock, o, &rules));
    flock->question = q;
    flock->rules = rules;
    *first_step = o->first_step;
    return KITH_OK;
}
