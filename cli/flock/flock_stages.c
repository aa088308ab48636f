/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of parameters, and parameters that change on the way: the run is cut into stages, each with
 * a model of its own.
 */
#include "flock_options.h"

#include "common/box.h"
#include "ranks/ranks.h"
#include "common/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A change of an option of the model, from a step on. */
typedef struct change {
    int64_t step;
    const option_row *option;
    char *value;
} change;

/** Return true when an option can have a value: one without an argument can have none, and a flag 0
 *  or 1, too, so that a file or a change can take it back. */
static bool can_have(const option_row *row, const char *value)
{
    const bool flag = row->kind == OPTION_FLAG &&
                      (strcmp(value, "0") == 0 || strcmp(value, "1") == 0);
    return row->argument || *value == '\0' || flag;
}

/** Set an option to a value that it can have. @param base  of its table */
static void set_value(void *base, const option_row *row, char *value, struct argp_state *state)
{
    option_set(base, &(option_given){row, value, state}); /* a 0, too, wins over a preset */
    if (row->kind == OPTION_FLAG && strcmp(value, "0") == 0) {
        memset((char *)base + row->at, 0, row->size);
    }
}

bool flock_set_named(flock_task *task, const char *path, const char *name, char *value,
                     struct argp_state *state)
{
    for (const option_table *table = flock_line.tables; table->rows; table++) {
        const option_row *row = option_find(table->rows, name);
        if (row && row->argument && *value == '\0') {
            option_error(state, "%s: %s has no value", path, name);
        }
        if (row && !can_have(row, value)) {
            option_error(state, "%s: %s is '%s', expected %s", path, name, value,
                         row->kind == OPTION_FLAG ? "0, 1 or no value" : "no value");
        }
        if (row) {
            set_value((char *)task + table->base, row, value, state);
            return true;
        }
    }
    return false;
}

/** Set the option of a line "NAME = VALUE" of a file of parameters. The task keeps the value. */
static void set_parameter(flock_task *task, const char *path, char *line, struct argp_state *state)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *name = line + strspn(line, " \t");
    char *end = name + strcspn(name, " \t=");
    char *value = end + strspn(end, " \t=");
    for (char *last = value + strlen(value); last > value && strchr(" \t", last[-1]);) {
        *--last = '\0';
    }
    *end = '\0';
    if (*name &&
        (strcmp(name, "parameters") == 0 || !flock_set_named(task, path, name, value, state))) {
        exit(report_error(STATUS_FORMAT, "kith flock --help lists the names",
                          "%s: '%s' is no option of kith flock", path, name));
    }
}

void flock_read_parameters(void *at, const option_given *given)
{
    flock_task *task = at;
    const char *const path = given->arg;
    if (task->parameters) {
        option_error(given->state, "one --parameters FILE only: got another, '%s'", path);
    }
    task->parameters_file = path;
    errno = 0;
    FILE *file = fopen(path, "r");
    size_t room = 0;
    const ssize_t length = file ? getdelim(&task->parameters, &room, '\0', file) : -1;
    if (length < 0 && errno != 0) {
        exit(report_error(STATUS_INPUT, NULL, "%s: %s", path, strerror(errno)));
    }
    fclose(file);
    char *rest = length > 0 ? task->parameters : NULL;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        set_parameter(task, path, line, given->state);
    }
}

static void *need(void *memory)
{
    if (!memory) {
        exit(report_no_memory("the options"));
    }
    return memory;
}

void flock_note_change(void *at, const option_given *given)
{
    flock_task *task = at;
    const size_t n = (size_t)task->n_changes;
    task->change = need(realloc(task->change, (n + 1) * sizeof *task->change));
    task->change[task->n_changes++] = given->arg;
}

static _Noreturn void refuse_change(const struct argp_state *state, const char *text,
                                    const char *why)
{
    option_error(state, "--at: got '%s', %s", text, why);
    exit(STATUS_USAGE);
}

/** Parse "STEP:NAME=VALUE". The value is to be freed. */
static change parse_change(const char *text, struct argp_state *state)
{
    char *copy = need(strdup(text));
    char *name = strchr(copy, ':');
    if (!name) {
        refuse_change(state, text, "expected STEP:NAME=VALUE");
    }
    *name++ = '\0';
    char *value = strpbrk(name, "= \t");
    if (value) {
        *value++ = '\0';
    }
    const option_row *option = option_find(flock_model_options, name);
    if (!option) {
        refuse_change(state, text, "which is no option of the model, like noise");
    }
    if (option->argument && (!value || *value == '\0')) {
        refuse_change(state, text, "which has no value");
    }
    if (value && !can_have(option, value)) {
        free(copy);
        refuse_change(state, text,
                      option->kind == OPTION_FLAG ? "expected 0, 1 or no value"
                                                  : "expected no value");
    }
    const change made = {.step = option_whole(state, "--at", copy, 0),
                         .option = option,
                         .value = need(strdup(value ? value : ""))};
    free(copy);
    return made;
}

void flock_make_stages(flock_task *task, struct argp_state *state)
{
    const size_t n = (size_t)task->n_changes;
    static change *list; /* static: a change that is refused ends the command without a leak */
    list = need(calloc(n + 1, sizeof *list));
    task->stage = need(calloc(n + 1, sizeof *task->stage));
    for (size_t k = 0; k < n; k++) {
        const change next = parse_change(task->change[k], state);
        size_t at = k; /* changes at one step keep their order */
        for (; at > 0 && list[at - 1].step > next.step; at--) {
            list[at] = list[at - 1];
        }
        list[at] = next;
    }
    task->stage[0] = task->start;
    task->n_stages = 1;
    for (size_t k = 0; k < n; k++) {
        flock_stage *stage = &task->stage[task->n_stages - 1];
        if (list[k].step > stage->step) {
            stage[1] = stage[0];
            stage++;
            stage->step = list[k].step;
            stage->kept = stage->model.n_things;
            task->n_stages++;
        }
        set_value(stage, list[k].option, list[k].value, state);
        free(list[k].value);
    }
    for (int64_t k = 0; k < task->n_stages; k++) {
        memcpy(task->stage[k].given, task->stage[k].things, sizeof task->stage[k].given);
        flock_lay_out(&task->stage[k]);
        option_refuse(state, task->stage[k].model.n_species != task->stage[0].model.n_species,
                      "--at: flock-species is that of the whole run");
    }
    free(list);
}

void flock_stage_init(flock_stage *stage)
{
    *stage = (flock_stage){.step = 0};
    kith_flock_options_init(&stage->model);
    stage->model.leader_weight = 0.5;
    stage->model.leader_direction[0] = 1;
    for (int k = 0; k < FLOCK_SPECIES * FLOCK_SPECIES; k++) {
        stage->heed[k / FLOCK_SPECIES][k % FLOCK_SPECIES] = (kith_flock_factors){1, 1, 1};
    }
}

void flock_lay_out(flock_stage *stage)
{
    const int64_t n = stage->model.n_species;
    if (stage->heeded > n) {
        exit(report_error(STATUS_INVALID, "species are counted from 0",
                          n == 0 ? "--heed needs --flock-species N"
                                 : "--heed: got species %lld, but --flock-species is %lld",
                          (long long)stage->heeded - 1, (long long)n));
    }
    for (int64_t k = 0; k < n * n; k++) {
        stage->factors[k] = stage->heed[k / n][k % n];
    }
}

kith_flock_options flock_model_of(const flock_stage *stage, const flock_run *run)
{
    kith_flock_options model = stage->model;
    model.things = stage->things;
    model.factors = model.n_species > 0 ? stage->factors : NULL;
    model.species = run->species;
    return model;
}

int64_t flock_things_now(const flock_task *task, const flock_run *run, kith_flock_thing *things)
{
    const int64_t n = task->stage[run->stage].model.n_things;
    ranks_flock_read_things(run->ranks, run->flock, things);
    for (int64_t t = 0; t < n; t++) {
        if (things[t].kind != KITH_WALL) {
            box_wrap(&run->space, things[t].place);
        }
    }
    return n;
}

int64_t flock_stage_at(const flock_task *task, int64_t step)
{
    int64_t at = 0;
    while (at + 1 < task->n_stages && task->stage[at + 1].step <= step) {
        at++;
    }
    return at;
}

double flock_time(const flock_task *task, int64_t step)
{
    double time = task->time_before;
    for (int64_t k = 0; k < task->n_stages && task->stage[k].step < step; k++) {
        const int64_t next = k + 1 < task->n_stages ? task->stage[k + 1].step : step;
        const int64_t end = next < step ? next : step;
        time += (double)(end - task->stage[k].step) * task->stage[k].model.time_step;
    }
    return time;
}
