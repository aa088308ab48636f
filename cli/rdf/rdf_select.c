/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which particles `kith rdf` counts, and in which classes. With --partials each species is a class;
 * without, a class holds all species that are in --select alone, in --with alone, or in both.
 */
#include "common/name_order.h"
#include "rdf.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Return the name of a species for readers: "unnamed" if the file has none. */
static const char *shown(const char *name)
{
    return *name ? name : "unnamed";
}

/** Find or make the class of a name. @return -1: too many classes */
static int find_class(const rdf_task *task, rdf_classes *classes, const char *name, bool first,
                      bool second)
{
    for (int k = 0; k < classes->n; k++) {
        const rdf_class *c = &classes->item[k];
        if (task->partials ? strcmp(c->name, shown(name)) == 0
                           : c->first == first && c->second == second) {
            return k;
        }
    }
    if (classes->n == RDF_MOST_CLASSES) {
        return -1;
    }
    rdf_class *made = &classes->item[classes->n];
    *made = (rdf_class){.first = first, .second = second};
    const char *merged = first && task->select  ? task->select
                         : second && task->with ? task->with
                                                : "all";
    snprintf(made->name, sizeof made->name, "%.*s", (int)sizeof made->name - 1,
             task->partials ? shown(name) : merged);
    return classes->n++;
}

/** Give species k of the frame its class. @return exit status, reported */
static int classify(const rdf_task *task, const io_frame *frame, int k, rdf_classes *classes)
{
    const char *name = frame->names[k];
    const char *with = task->with ? task->with : task->select;
    const bool typed = frame->particles.type != NULL;
    const bool first = !task->select || name_position(task->select, name, typed) >= 0;
    const bool second = !with || name_position(with, name, typed) >= 0;
    const bool wanted = first || second;
    const int class = wanted ? find_class(task, classes, name, first, second) : -1;
    if (wanted && class < 0) {
        return report_error(STATUS_LIMIT, "choose some with --select",
                            "%s: --partials of more than %d species", task->input,
                            RDF_MOST_CLASSES);
    }
    classes->of_name[k] = class;
    classes->has_rest = classes->has_rest || !wanted;
    return STATUS_OK;
}

int rdf_classify(const rdf_task *task, const io_frame *frame, rdf_classes *classes)
{
    const int n = frame->n_names, known = classes->n_names;
    if (n == known) {
        return STATUS_OK;
    }
    int *of_name = realloc(classes->of_name, (size_t)n * sizeof *of_name);
    int *order = malloc((size_t)n * sizeof *order);
    classes->of_name = of_name ? of_name : classes->of_name;
    int status = of_name && order ? STATUS_OK : report_no_memory("species");
    if (status == STATUS_OK) {
        name_order(n - known, (const char(*)[IO_NAME_LENGTH])frame->names + known, task->select,
                   task->with, frame->particles.type != NULL, order);
    }
    for (int k = 0; k < n - known && status == STATUS_OK; k++) {
        status = classify(task, frame, known + order[k], classes);
    }
    classes->n_names = status == STATUS_OK ? n : known;
    free(order);
    return status;
}

/** List the names of the species of a frame, for a message. */
static void list_names(const io_frame *frame, char *out, size_t room)
{
    size_t used = 0;
    for (int k = 0; k < frame->n_names && used < room; k++) {
        used += (size_t)snprintf(out + used, room - used, "%s%s", k ? ", " : "",
                                 shown(frame->names[k]));
    }
}

/** Fail if a frame lacks a species of an option. @return exit status, reported */
static int check_list(const rdf_task *task, const char *option, const char *list,
                      const io_frame *frame)
{
    for (const char *at = list; at && *at;) {
        at += strspn(at, " \t");
        const size_t word = strcspn(at, ",");
        bool found = false;
        for (int k = 0; k < frame->n_names; k++) {
            found = found || name_is(at, word, frame->names[k], frame->particles.type != NULL);
        }
        if (!found) {
            char names[256];
            list_names(frame, names, sizeof names);
            return report_error(STATUS_INVALID, "--by element, type or name says which is meant",
                                "%s: %s: no particle is '%.*s'; there are: %s", task->input, option,
                                (int)word, at, names);
        }
        at += word + (at[word] == ',');
    }
    return STATUS_OK;
}

int rdf_check_selection(const rdf_task *task, const io_frame *frame)
{
    CLI_TRY(check_list(task, "--select", task->select, frame));
    return check_list(task, "--with", task->with, frame);
}

/** Make the arrays large enough for the particles and bonds of a frame. @return false: no memory */
static bool grow(rdf_part *part, const io_frame *frame)
{
    const size_t n = (size_t)frame->particles.n + 1;
    const size_t row = 3 * (size_t)frame->particles.precision;
    const size_t m = (size_t)frame->n_bonds + 1;
    if (part->bonds && frame->particles.n <= part->room && frame->n_bonds <= part->bond_room &&
        row == part->row) {
        return true;
    }
    rdf_part_free(part);
    part->pos = malloc(n * row);
    part->force = malloc(n * row);
    part->weight = malloc(n * sizeof *part->weight);
    part->species = malloc(n * sizeof *part->species);
    part->molecule = malloc(n * sizeof *part->molecule);
    part->place = malloc(n * sizeof *part->place);
    part->bond_offsets = malloc((n + 1) * sizeof *part->bond_offsets);
    part->bonds = malloc(m * sizeof *part->bonds);
    if (!part->pos || !part->force || !part->weight || !part->species || !part->molecule ||
        !part->place || !part->bond_offsets || !part->bonds) {
        rdf_part_free(part);
        return false;
    }
    part->room = frame->particles.n;
    part->bond_room = frame->n_bonds;
    part->row = row;
    return true;
}

/** Make compressed rows of bonds; each bond is in the row of one of its particles. */
static void sort_bonds(const io_frame *frame, int64_t n, rdf_part *part)
{
    int64_t *at = part->bond_offsets; /* [n + 2]: row p begins at at[p + 1] while it is filled */
    memset(at, 0, (size_t)(n + 2) * sizeof *at);
    for (int64_t k = 0; k < frame->n_bonds; k++) {
        const int32_t i = part->place[frame->bond[2 * k]];
        if (i >= 0 && part->place[frame->bond[2 * k + 1]] >= 0) {
            at[i + 2]++;
        }
    }
    for (int64_t p = 1; p <= n; p++) {
        at[p + 1] += at[p];
    }
    for (int64_t k = 0; k < frame->n_bonds; k++) {
        const int32_t i = part->place[frame->bond[2 * k]];
        const int32_t j = part->place[frame->bond[2 * k + 1]];
        if (i >= 0 && j >= 0) {
            part->bonds[at[i + 1]++] = j;
        }
    }
}

/** Copy the rows of the picked particles, in their order.
 *  @param all      every particle is picked
 *  @param[out] to  [picked] rows of part->row bytes */
static void copy_rows(const rdf_part *part, const void *from, int64_t particles, bool all, void *to)
{
    const size_t row = part->row;
    if (all) {
        memcpy(to, from, (size_t)particles * row);
        return;
    }
    for (int64_t k = 0; k < particles; k++) {
        if (part->place[k] >= 0) {
            memcpy((char *)to + (size_t)part->place[k] * row, (const char *)from + (size_t)k * row,
                   row);
        }
    }
}

int rdf_pick(const rdf_task *task, const rdf_outcome *found, const io_frame *frame, bool copy,
             rdf_part *part)
{
    const rdf_classes *classes = &found->classes;
    const bool all = !classes->has_rest;
    const bool own = copy || !all; /* positions and forces are copied */
    const double *weights = found->weights ? found->weights : frame->weight;
    const io_particles *p = &frame->particles;
    if (!grow(part, frame)) {
        return report_error(STATUS_NO_MEMORY, NULL, "no memory for %lld particles",
                            (long long)p->n);
    }
    int32_t n = 0;
    for (int64_t k = 0; k < p->n; k++) {
        const int class = classes->of_name[frame->species[k]];
        part->place[k] = class >= 0 ? n : -1;
        if (class < 0) {
            continue;
        }
        if (task->without_molecules) {
            part->molecule[n] = frame->molecule[k];
        }
        if (task->weights) {
            part->weight[n] = weights[k];
        }
        part->species[n++] = class;
    }
    if (own) {
        copy_rows(part, p->pos, p->n, all, part->pos);
    }
    if (own && task->force) {
        copy_rows(part, frame->force, p->n, all, part->force);
    }
    part->points = kith_points_packed(own ? part->pos : p->pos, n, p->precision);
    part->forces = !task->force ? NULL : own ? part->force : frame->force;
    if (task->without_bonds) {
        sort_bonds(frame, n, part);
    }
    return STATUS_OK;
}

void rdf_part_free(rdf_part *part)
{
    free(part->pos);
    free(part->force);
    free(part->weight);
    free(part->species);
    free(part->molecule);
    free(part->place);
    free(part->bonds);
    free(part->bond_offsets);
    *part = (rdf_part){0};
}
