/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Presets: named sets of options that make a well-known flock. An option that is given on the
 * command line or in a file of parameters wins over the preset.
 */
#include "flock_options.h"

#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 16 };

/** A preset. Its box is centred on 0, unless --origin is given. */
typedef struct preset {
    const char *name; /* name of the preset */
    struct {
        const char *option; /* name of the option */
        char value[24];     /* its value, as on the command line */
    } values[MOST_VALUES];  /* ends with an empty one */
} preset;

static preset presets[] = {{"murmuration",
                            {{"boids", "4000"},
                             {"box", "100"},
                             {"nearest", "7"},
                             {"separation", "3,0.06"},
                             {"alignment", "6,0.08"},
                             {"cohesion", "6,0.008"},
                             {"min-speed", "0.6"},
                             {"point", "0,0,0,0.008,0"},
                             {"predator", "40,0,0,1.2,0.6,12"}}},
                           {"mill",
                            {{"boids", "2500"},
                             {"box", "60"},
                             {"separation", "2,0.04"},
                             {"alignment", "2.5,0.02"},
                             {"cohesion", "0,0"},
                             {"min-speed", "1"},
                             {"max-speed", "1"},
                             {"point", "0,0,0,0.015,0"}}},
                           {"bands",
                            {{"boids", "16200"},
                             {"dim", "2"},
                             {"box", "90"},
                             {"model", "vectorial"},
                             {"alignment", "1"},
                             {"noise", "0.6"},
                             {"max-speed", "0.5"},
                             {"time-step", "1"}}},
                           {"shoal",
                            {{"boids", "2000"},
                             {"box", "80"},
                             {"separation", "2.5,0.1"},
                             {"alignment", "5,0.06"},
                             {"cohesion", "8,0.01"},
                             {"min-speed", "0.4"},
                             {"point", "0,0,0,0.006,0"},
                             {"predator", "30,0,0,0.8,0.6,14"}}},
                           {"abp",
                            {{"boids", "6000"},
                             {"dim", "2"},
                             {"box", "88"},
                             {"separation", "0,0"},
                             {"alignment", "0,0"},
                             {"cohesion", "0,0"},
                             {"repulsion", "1,12"},
                             {"min-speed", "1"},
                             {"max-speed", "1"},
                             {"time-step", "0.02"},
                             {"gaussian", ""},
                             {"noise", "0.009"}}}};
enum { PRESETS = sizeof presets / sizeof *presets };

/** The row of an option of flock_line. */
static const option_row *row_of(const char *name)
{
    const option_row *row = NULL;
    for (const option_table *table = flock_line.tables; table->rows && !row; table++) {
        row = option_find(table->rows, name);
    }
    return row;
}

/** The preset of a live view without INPUT, --boids and --preset: what fits --model. */
static const char *preset_to_see(const flock_task *task)
{
    return task->start.model.model == KITH_BOIDS ? "murmuration" : "bands";
}

/** Centre the box on 0, where things of presets are. */
static void centre(options *o, int dim)
{
    for (int k = 0; k < dim && o->box_numbers <= 3 && !o->has_origin; k++) {
        o->origin[k] = -o->box[o->box_numbers == 1 ? 0 : k] / 2;
    }
    o->has_origin = true;
}

/** Return true for options that place the particles: INPUT has places of its own. */
static bool is_of_input(const char *option)
{
    return strcmp(option, "boids") == 0 || strcmp(option, "box") == 0 || strcmp(option, "dim") == 0;
}

/** Find a preset. @return NULL: none has this name */
static preset *find(const char *name)
{
    preset *found = NULL;
    for (int k = 0; k < PRESETS; k++) {
        found = strcmp(presets[k].name, name) == 0 ? &presets[k] : found;
    }
    return found;
}

const char *flock_preset_name(int k)
{
    return k < PRESETS ? presets[k].name : NULL;
}

static _Noreturn void refuse_name(const char *name, const struct argp_state *state)
{
    char names[80] = "";
    for (int k = 0; k < PRESETS; k++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 k == 0            ? ""
                 : k < PRESETS - 1 ? ", "
                                   : " or ",
                 presets[k].name);
    }
    option_error(state, "--preset: got '%s', expected %s", name, names);
    exit(STATUS_USAGE);
}

/** Give --repulsion R, without K, the K of the preset. */
static void apply_strength(flock_task *task, char *value, struct argp_state *state)
{
    kith_flock_rule *rule = &task->start.model.repulsion;
    const double radius = rule->radius;
    flock_set_named(task, "--preset", "repulsion", value, state);
    rule->radius = radius;
}

void flock_apply_preset(flock_task *task, struct argp_state *state)
{
    if (!task->preset && task->view && !task->input && task->boids == 0) {
        task->preset = preset_to_see(task);
    }
    if (!task->preset) {
        return;
    }
    preset *chosen = find(task->preset);
    if (!chosen) {
        refuse_name(task->preset, state);
    }
    for (int k = 0; k < MOST_VALUES && chosen->values[k].option; k++) {
        const char *option = chosen->values[k].option;
        if (!option_is_set(row_of(option)) && !(task->input && is_of_input(option))) {
            flock_set_named(task, "--preset", option, chosen->values[k].value, state);
        } else if (strcmp(option, "repulsion") == 0 && !task->start.strength) {
            apply_strength(task, chosen->values[k].value, state);
        }
    }
    if (!task->input) {
        centre(&task->shared, task->dim);
    }
}

bool flock_use_preset(flock_task *task, const char *name)
{
    preset *chosen = find(name);
    if (!chosen) {
        return false;
    }
    const uint64_t seed = task->start.model.seed;
    flock_stage_init(&task->start);
    task->start.model.seed = seed;
    task->dim = 3;
    task->preset = chosen->name;
    task->shared.has_origin = task->shared.has_periodic = false;
    for (int k = 0; k < MOST_VALUES && chosen->values[k].option; k++) {
        flock_set_named(task, "--preset", chosen->values[k].option, chosen->values[k].value, NULL);
    }
    centre(&task->shared, task->dim);
    task->stage[0] = task->start;
    memcpy(task->stage[0].given, task->start.things, sizeof task->start.things);
    flock_lay_out(&task->stage[0]);
    return true;
}
