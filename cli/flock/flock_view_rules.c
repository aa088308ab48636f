/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a flock as sliders of the live view, and back.
 */
#include "flock_view.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { BOIDS = 1, VICSEK = 2, ANY = 3 };

typedef struct rule {
    const char *name, *label;
    size_t at;  /* offset of a double in kith_flock_options */
    int models; /* models that have this rule */
    double most, step;
} rule;

#define AT(field) offsetof(kith_flock_options, field)
static const rule rules[] = {
    {"separation.radius", "separation radius", AT(separation.radius), BOIDS, 12, 0.1},
    {"separation.weight", "separation weight", AT(separation.weight), BOIDS, 0.5, 0.005},
    {"alignment.radius", "alignment radius", AT(alignment.radius), ANY, 12, 0.1},
    {"alignment.weight", "alignment weight", AT(alignment.weight), BOIDS, 0.5, 0.005},
    {"cohesion.radius", "cohesion radius", AT(cohesion.radius), BOIDS, 12, 0.1},
    {"cohesion.weight", "cohesion weight", AT(cohesion.weight), BOIDS, 0.1, 0.001},
    {"noise", "noise", AT(noise), VICSEK, 1, 0.01},
    {"min_speed", "least speed", AT(min_speed), BOIDS, 3, 0.05},
    {"max_speed", "most speed", AT(max_speed), ANY, 3, 0.05},
    {"time_step", "time step", AT(time_step), ANY, 1, 0.01},
    {"blind_angle", "blind angle °", AT(blind_angle), ANY, 360, 5},
};
enum { RULES = sizeof rules / sizeof *rules, MOST_NEAREST = 64 };

static bool is_radius(const rule *r)
{
    return strstr(r->name, ".radius") != NULL;
}

static double scale(const rule *r)
{
    return strcmp(r->name, "blind_angle") == 0 ? M_PI / 180 : 1;
}

static double *field(const rule *r, kith_flock_options *m)
{
    return (double *)((char *)m + r->at);
}

/** Upper end of a slider: at least twice its value; of a radius at most the box. */
static double most(const rule *r, double value, const kith_box *box)
{
    double limit = r->most < 2 * value && r->step < 1 ? 2 * value : r->most;
    for (int k = 0; k < box->dim && is_radius(r); k++) {
        const double side = fabs(box->row[k][k]);
        limit = side > 0 && limit > side / 2 ? side / 2 : limit;
    }
    return limit > value ? limit : value;
}

static json_t *slider(const char *name, const char *label, double value, double limit, double step)
{
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "name", name, "label", label, "value", value,
                     "min", value < 0 ? 2 * value : 0.0, "max", limit, "step", step);
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
            json_array_append_new(
                list, slider(r->name, r->label, value, most(r, value, &run->space), r->step));
        }
    }
    json_array_append_new(
        list, slider("nearest", "nearest (0: all)", (double)m.nearest, MOST_NEAREST, 1));
    if (model == BOIDS) {
        json_array_append_new(list, slider("relative", "relative alignment", m.relative, 1, 1));
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
    if (strcmp(name, "model") == 0 && whole && value <= KITH_VICSEK_VECTORIAL) {
        m->model = (kith_flock_model)(int)value;
        return true;
    }
    return false;
}

void flock_view_set_rules(flock_view *view, flock_run *run, json_t *wanted)
{
    flock_stage *stage = flock_view_stage(view, run), next = *stage;
    kith_flock_options *m = &next.model;
    const char *name;
    json_t *value;
    json_object_foreach(wanted, name, value)
    {
        if (!json_is_number(value) || !set_rule(m, name, json_number_value(value))) {
            snprintf(view->message, sizeof view->message, "%.40s cannot be that", name);
            return;
        }
    }
    if (!flock_steps_fit(m, &run->box)) {
        snprintf(view->message, sizeof view->message, "a step would cross more than half the box");
        return;
    }
    if (m->n_things > 0) {
        kith_flock_read_things(run->flock, next.things); /* predators have moved */
    }
    const kith_flock_options model = flock_model_of(&next);
    if (kith_flock_change(run->flock, &model) != KITH_OK) {
        snprintf(view->message, sizeof view->message, "%s", kith_message(run->ctx));
        return;
    }
    *stage = next;
}
