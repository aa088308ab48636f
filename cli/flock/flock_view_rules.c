/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a flock as sliders of the live view, and back.
 */
#include "flock_view.h"

#include "common/report.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { BOIDS = 1, VICSEK = 2, ANY = 3 };

typedef struct rule {
    const char *name;  /* name in commands of the page */
    const char *label; /* name on the page */
    size_t at;         /* offset of a double in kith_flock_options */
    int models;        /* models that have this rule */
    double most, step; /* upper end of the slider, unless the value is higher, and its step */
    const char *zero;  /* what the page shows for 0; NULL: the number */
} rule;

#define AT(field) offsetof(kith_flock_options, field)
static const rule rules[] = {
    {"separation.radius", "separation radius", AT(separation.radius), BOIDS, 12, 0.1, "off"},
    {"separation.weight", "separation weight", AT(separation.weight), BOIDS, 0.5, 0.005, "off"},
    {"alignment.radius", "alignment radius", AT(alignment.radius), ANY, 12, 0.1, "off"},
    {"alignment.weight", "alignment weight", AT(alignment.weight), BOIDS, 0.5, 0.005, "off"},
    {"cohesion.radius", "cohesion radius", AT(cohesion.radius), BOIDS, 12, 0.1, "off"},
    {"cohesion.weight", "cohesion weight", AT(cohesion.weight), BOIDS, 0.1, 0.001, "off"},
    {"noise", "noise", AT(noise), ANY, 1, 0.01, NULL},
    {"min_speed", "least speed", AT(min_speed), BOIDS, 3, 0.05, "no limit"},
    {"max_speed", "most speed", AT(max_speed), ANY, 3, 0.05, "no limit"},
    {"time_step", "time step", AT(time_step), ANY, 1, 0.01, NULL},
    {"blind_angle", "blind angle °", AT(blind_angle), ANY, 360, 5, "none"},
    {"turn_rate", "turn rate °", AT(turn_rate), ANY, 720, 5, "no limit"},
    {"repulsion.radius", "repulsion range", AT(repulsion.radius), ANY, 12, 0.1, "off"},
    {"leaders", "share of leaders", AT(leaders), ANY, 1, 0.01, "none"},
    {"leader_weight", "weight of leaders", AT(leader_weight), ANY, 2, 0.05, "off"},
    {"repulsion.weight", "repulsion strength", AT(repulsion.weight), ANY, 50, 0.5, "off"},
};
enum { RULES = sizeof rules / sizeof *rules, MOST_NEAREST = 64 };

static bool is_radius(const rule *r)
{
    return strstr(r->name, ".radius") != NULL;
}

static double scale(const rule *r)
{
    const bool angle = r->at == offsetof(kith_flock_options, blind_angle) ||
                       r->at == offsetof(kith_flock_options, turn_rate);
    return angle ? M_PI / 180 : 1;
}

static double *field(const rule *r, kith_flock_options *m)
{
    return (double *)((char *)m + r->at);
}

static bool is_named(const rule *r, const char *name)
{
    return strcmp(r->name, name) == 0;
}

/** Half the shortest side of the box along axes that bound a step; HUGE_VAL: there are none. */
static double half_side(const kith_box *box)
{
    double least = HUGE_VAL;
    for (int k = 0; k < box->dim; k++) {
        const double side = fabs(box->row[k][k]);
        least = side > 0 ? fmin(least, side / 2) : least;
    }
    return least;
}

/** Multiple of a step next below, or above, a number. */
static double grid(double x, double step, bool above)
{
    static const double rounding = 1e-9;
    return (above ? ceil(x / step - rounding) : floor(x / step + rounding)) * step;
}

/** Ends of a slider: the upper one is at least twice the value. Values between them fit each other:
 *  a radius the box, the least speed the most speed, and a step half the box. */
static void find_ends(const rule *r, double value, const kith_flock_options *m, const kith_box *box,
                      double ends[2])
{
    double least = value < 0 ? 2 * value : 0;
    double most = r->most < 2 * value && r->step < 1 ? 2 * value : r->most;
    if (is_radius(r)) {
        most = fmin(most, half_side(box));
    } else if (is_named(r, "min_speed") && m->max_speed > 0) {
        most = grid(m->max_speed, r->step, false);
    } else if (is_named(r, "max_speed")) {
        least = m->model == KITH_BOIDS ? grid(m->min_speed, r->step, true) : r->step;
        most = fmin(most, fmax(r->step, grid(half_side(box) / m->time_step, r->step, false)));
    } else if (is_named(r, "time_step")) {
        least = r->step;
        most = m->max_speed > 0
                   ? fmin(most, fmax(r->step, grid(half_side(box) / m->max_speed, r->step, false)))
                   : most;
    }
    ends[0] = fmin(least, value);
    ends[1] = fmax(most, value);
}

static json_t *slider(const char *name, const char *label, const char *zero, double value,
                      const double ends[2], double step)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f}", "name", name, "label", label, "zero",
                     zero ? zero : "", "value", value, "min", ends[0], "max", ends[1], "step",
                     step);
}

flock_stage *flock_view_stage(const flock_view *view, const flock_run *run)
{
    return &view->task->stage[run->stage];
}

json_t *flock_view_rules(const flock_view *view, const flock_run *run)
{
    kith_flock_options m = flock_view_stage(view, run)->model;
    const int model = m.model == KITH_BOIDS ? BOIDS : VICSEK;
    json_t *list = json_array();
    for (int k = 0; k < RULES; k++) {
        const rule *r = &rules[k];
        if (r->models & model) {
            const double value = *field(r, &m) / scale(r);
            double ends[2];
            find_ends(r, value, &m, &run->space, ends);
            json_array_append_new(list, slider(r->name, r->label, r->zero, value, ends, r->step));
        }
    }
    json_array_append_new(list, slider("nearest", "nearest", "all", (double)m.nearest,
                                       (const double[]){0, MOST_NEAREST}, 1));
    if (model == BOIDS) {
        json_array_append_new(list, slider("relative", "relative alignment", "off", m.relative,
                                           (const double[]){0, 1}, 1));
    }
    if (m.model != KITH_VICSEK_VECTORIAL) {
        json_array_append_new(list, slider("gaussian", "Gaussian noise", "off", m.gaussian,
                                           (const double[]){0, 1}, 1));
    }
    json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:[s,s,s]}", "name", "model", "label",
                                          "model", "value", (int)m.model, "choices", "boids",
                                          "Vicsek", "vectorial"));
    return list;
}

/** Set one rule. @return false: the name is not known, or the number is not allowed */
static bool set_rule(kith_flock_options *m, const char *name, double value)
{
    if (!isfinite(value)) {
        return false;
    }
    for (int k = 0; k < RULES; k++) {
        if (strcmp(name, rules[k].name) == 0) {
            *field(&rules[k], m) = value * scale(&rules[k]);
            return value >= 0 || strstr(name, ".weight") != NULL;
        }
    }
    const bool whole = value >= 0 && value <= MOST_NEAREST && value == floor(value);
    if (strcmp(name, "nearest") == 0 && whole) {
        m->nearest = (int64_t)value;
        return true;
    }
    if (strcmp(name, "relative") == 0 && whole && value <= 1) {
        m->relative = (int)value;
        return true;
    }
    if (strcmp(name, "gaussian") == 0 && whole && value <= 1) {
        m->gaussian = (int)value;
        return true;
    }
    if (strcmp(name, "model") == 0 && whole && value <= KITH_VICSEK_VECTORIAL) {
        m->model = (kith_flock_model)(int)value;
        m->gaussian = m->model == KITH_VICSEK_VECTORIAL ? 0 : m->gaussian;
        return true;
    }
    return false;
}

/** Name of a rule on the page. */
static const char *label_of(const char *name)
{
    for (int k = 0; k < RULES; k++) {
        if (is_named(&rules[k], name)) {
            return rules[k].label;
        }
    }
    return strcmp(name, "relative") == 0   ? "relative alignment"
           : strcmp(name, "gaussian") == 0 ? "Gaussian noise"
                                           : name;
}

void flock_view_set_rules(flock_view *view, flock_run *run, json_t *wanted)
{
    flock_stage *stage = flock_view_stage(view, run), next = *stage;
    kith_flock_options *m = &next.model;
    const char *name;
    const char *last = NULL;
    json_t *value;
    json_object_foreach(wanted, name, value)
    {
        const double number = json_is_number(value) ? json_number_value(value) : NAN;
        if (!set_rule(m, name, number)) {
            snprintf(view->message, sizeof view->message, "%.40s cannot be %s", label_of(name),
                     json_is_number(value) ? report_real(number).s : "that");
            return;
        }
        last = name;
    }
    if (!flock_steps_fit(m, &run->box)) {
        snprintf(view->message, sizeof view->message, "a step would cross more than half the box");
        return;
    }
    kith_flock_read_things(run->flock, next.things); /* predators have moved */
    if (flock_view_change(view, run, &next) && last) {
        snprintf(view->changed, sizeof view->changed, "%.40s", label_of(last));
    }
}

bool flock_view_change(flock_view *view, flock_run *run, flock_stage *next)
{
    const kith_flock_options model = flock_model_of(next, run);
    if (kith_flock_change(run->flock, &model) != KITH_OK) {
        snprintf(view->message, sizeof view->message, "%s", kith_message(run->ctx));
        return false;
    }
    *flock_view_stage(view, run) = *next;
    view->steered = true;
    return true;
}
