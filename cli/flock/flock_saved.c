/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options that a restart file keeps are compared field by field, by the table below.
 */
#include "flock_saved.h"

#include "common/report.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/** How the value of an option is printed. */
typedef enum form { NAME, MODEL, FLAG, WHOLE, SEED, AXES, REALS, DEGREES, OR_DEFAULT } form;

#define AT(member) offsetof(flock_saved, member), sizeof((flock_saved *)0)->member

static const struct field {
    const char *option;
    form form;
    size_t offset, size;
} fields[] = {{"INPUT", NAME, AT(input)},
              {"--model", MODEL, AT(model)},
              {"--separation", REALS, AT(separation)},
              {"--alignment", REALS, AT(alignment)},
              {"--cohesion", REALS, AT(cohesion)},
              {"--relative", FLAG, AT(relative)},
              {"--min-speed", REALS, AT(min_speed)},
              {"--max-speed", REALS, AT(max_speed)},
              {"--time-step", REALS, AT(time_step)},
              {"--nearest", WHOLE, AT(nearest)},
              {"--blind-angle", DEGREES, AT(blind_angle)},
              {"--reflect", AXES, AT(reflecting)},
              {"--noise", REALS, AT(noise)},
              {"--gaussian", FLAG, AT(gaussian)},
              {"--turn-rate", DEGREES, AT(turn_rate)},
              {"--repulsion", REALS, AT(repulsion)},
              {"--leaders", REALS, AT(leaders)},
              {"--leader-weight", REALS, AT(leader_weight)},
              {"--leader-direction", REALS, AT(leader_direction)},
              {"--flock-species", WHOLE, AT(n_species)},
              {"--seed", SEED, AT(seed)},
              {"--flock-length", OR_DEFAULT, AT(flock_length)},
              {"--flock-velocity", OR_DEFAULT, AT(flock_velocity)},
              {"--flock-members", WHOLE, AT(flock_members)},
              {"--r-max", OR_DEFAULT, AT(r_max)},
              {"--bins", WHOLE, AT(bins)}};

enum { FIELDS = sizeof fields / sizeof *fields };

flock_saved flock_saved_of(const flock_task *task, int64_t step)
{
    const flock_stage *stage = &task->stage[flock_stage_at(task, step > 0 ? step - 1 : 0)];
    const kith_flock_options *m = &stage->model;
    flock_saved out = {.model = (int64_t)m->model,
                       .relative = m->relative,
                       .nearest = m->nearest,
                       .separation = {m->separation.radius, m->separation.weight},
                       .alignment = {m->alignment.radius, m->alignment.weight},
                       .cohesion = {m->cohesion.radius, m->cohesion.weight},
                       .min_speed = m->min_speed,
                       .max_speed = m->max_speed,
                       .time_step = m->time_step,
                       .blind_angle = m->blind_angle,
                       .noise = m->noise,
                       .gaussian = m->gaussian,
                       .turn_rate = m->turn_rate,
                       .repulsion = {m->repulsion.radius, m->repulsion.weight},
                       .seed = m->seed,
                       .flock_length = task->flock_length,
                       .flock_velocity = task->flock_velocity,
                       .r_max = task->r_max,
                       .flock_members = task->flock_members,
                       .bins = task->bins,
                       .leaders = m->leaders,
                       .leader_weight = m->leader_weight,
                       .n_species = m->n_species,
                       .n_things = m->n_things};
    for (int64_t k = 0; k < m->n_species * m->n_species; k++) {
        const int64_t i = k / m->n_species, j = k % m->n_species;
        const kith_flock_factors *f = &stage->heed[i][j];
        memcpy(out.heed[i][j], (double[]){f->separation, f->alignment, f->cohesion},
               sizeof out.heed[i][j]);
    }
    for (int k = 0; k < 3; k++) {
        out.reflecting[k] = m->reflecting[k];
        out.leader_direction[k] = m->leader_direction[k];
    }
    for (int64_t t = 0; t < m->n_things; t++) {
        io_thing_numbers(&stage->given[t], out.things[t]);
    }
    if (task->input) {
        const char *slash = strrchr(task->input, '/');
        snprintf(out.input, sizeof out.input, "%s", slash ? slash + 1 : task->input);
    }
    return out;
}

static void put_reals(FILE *out, const double *x, int n)
{
    for (int k = 0; k < n; k++) {
        fprintf(out, "%s%s", k ? "," : "", report_real(x[k]).s);
    }
}

static void put_axes(FILE *out, const int64_t axes[3])
{
    for (int k = 0; k < 3; k++) {
        fputs(axes[k] ? (const char *[]){"x", "y", "z"}[k] : "", out);
    }
    fputs(axes[0] || axes[1] || axes[2] ? "" : "none", out);
}

/** Print the value of an option as it is given. */
static void put_value(FILE *out, const struct field *field, const flock_saved *s)
{
    static const char *const models[] = {"boids", "vicsek", "vectorial"};
    const void *value = (const char *)s + field->offset;
    const int64_t *whole = value;
    const double *real = value;
    switch (field->form) {
    case NAME: fputs(*s->input ? s->input : "none", out); break;
    case MODEL: fputs(whole[0] >= 0 && whole[0] < 3 ? models[whole[0]] : "unknown", out); break;
    case FLAG: fputs(whole[0] ? "given" : "not given", out); break;
    case WHOLE: fprintf(out, "%lld", (long long)whole[0]); break;
    case SEED: fprintf(out, "%llu", (unsigned long long)whole[0]); break;
    case AXES: put_axes(out, whole); break;
    case REALS: put_reals(out, real, (int)(field->size / sizeof *real)); break;
    case DEGREES: fprintf(out, "%.6g", real[0] * 180 / M_PI); break;
    case OR_DEFAULT: fputs(real[0] > 0 ? report_real(real[0]).s : "the default", out);
    }
}

/** Print a thing as its option: "--point 5,5,5,0.3,8"; "none" where there is none. */
static void put_thing(FILE *out, const flock_saved *s, int64_t t)
{
    static const char *const kinds[] = {"--point", "--sphere", "--wall", "--predator"};
    const double *v = s->things[t];
    if (t >= s->n_things || !(v[0] >= 0 && v[0] <= 3)) {
        fputs("none", out);
        return;
    }
    const int kind = (int)v[0];
    fprintf(out, "%s ", kinds[kind]);
    put_reals(out, v + 1, 3);
    if (kind == KITH_WALL) {
        fputc(',', out);
        put_reals(out, v + 4, 3);
    } else if (kind != KITH_POINT) {
        fprintf(out, ",%s", report_real(kind == KITH_SPHERE ? v[7] : v[8]).s);
    }
    fputc(',', out);
    put_reals(out, v + 9, 2);
}

static bool is_same_thing(const flock_saved *was, const flock_saved *is, int64_t t)
{
    bool same = (t < was->n_things) == (t < is->n_things);
    for (int k = 0; k < IO_THING_NUMBERS && same; k++) {
        same = was->things[t][k] == is->things[t][k];
    }
    return same;
}

char *flock_saved_differences(const flock_saved *was, const flock_saved *is)
{
    io_memory_file text = {0};
    FILE *out = io_memory_file_open(&text);
    const char *before = "";
    for (int k = 0; k < FIELDS && out; k++) {
        const struct field *field = &fields[k];
        if (memcmp((const char *)was + field->offset, (const char *)is + field->offset,
                   field->size) != 0) {
            fprintf(out, "%s%s was ", before, field->option);
            put_value(out, field, was);
            fputs(" and is ", out);
            put_value(out, field, is);
            before = "; ";
        }
    }
    for (int k = 0; k < FLOCK_SPECIES * FLOCK_SPECIES && out; k++) {
        const int i = k / FLOCK_SPECIES, j = k % FLOCK_SPECIES;
        if (was->n_species == is->n_species &&
            memcmp(was->heed[i][j], is->heed[i][j], sizeof is->heed[i][j]) != 0) {
            fprintf(out, "%s--heed %d,%d was ", before, i, j);
            put_reals(out, was->heed[i][j], 3);
            fputs(" and is ", out);
            put_reals(out, is->heed[i][j], 3);
            before = "; ";
        }
    }
    for (int64_t t = 0; t < KITH_MOST_THINGS && out; t++) {
        if (!is_same_thing(was, is, t)) {
            fprintf(out, "%sthing %lld was ", before, (long long)t + 1);
            put_thing(out, was, t);
            fputs(" and is ", out);
            put_thing(out, is, t);
            before = "; ";
        }
    }
    if (!io_memory_file_close(&text, out)) {
        return NULL;
    }
    return text.data ? text.data : strdup("");
}
