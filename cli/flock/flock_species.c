/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The species of the particles of a flock: those that INPUT names, else 0, 1, ... in turns.
 *
 * Names are numbered in their order (name_order.h), so that A, B and so on of kith's own recordings
 * are again 0, 1 and so on. Letters of the first species are numbered by the alphabet, also where a
 * species between them has no particle.
 */
#include "flock_place.h"

#include "common/name_order.h"
#include "common/progress.h"
#include "common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Names of species of which there are particles. */
struct names {
    int n;                        /* number of names */
    char (*name)[IO_NAME_LENGTH]; /* [n] in the order in which they appear */
    int *number; /* [frame->n_names] number of each name of the frame; -1: no particle has it */
    int species[FLOCK_SPECIES]; /* [n] the species of each name */
};

/** What take_names sets. */
struct naming {
    const flock_task *task; /* the task */
    flock_run *run;         /* receives species and names */
};

/** Collect the names of which there are particles. @return false: no memory */
static bool collect_names(const io_frame *frame, struct names *out)
{
    out->name = calloc((size_t)frame->n_names + 1, sizeof *out->name);
    out->number = malloc(((size_t)frame->n_names + 1) * sizeof *out->number);
    if (!out->name || !out->number) {
        return false;
    }
    for (int k = 0; k < frame->n_names; k++) {
        out->number[k] = -1;
    }
    for (int64_t p = 0; p < frame->particles.n; p++) {
        const int32_t k = frame->species[p];
        if (out->number[k] < 0) {
            memcpy(out->name[out->n], frame->names[k], sizeof *out->name);
            out->number[k] = out->n++;
        }
    }
    return true;
}

/** Return true when each name is the letter of one of some species. */
static bool are_letters(const struct names *names, int64_t species)
{
    bool letters = true;
    for (int k = 0; k < names->n && letters; k++) {
        const char *name = names->name[k];
        letters = name[0] >= 'A' && name[0] < 'A' + species && name[1] == '\0';
    }
    return letters;
}

/** Report that there are more or fewer names than species.
 *  @param order  their order, where there are at most FLOCK_SPECIES   @return exit status */
static int refuse_names(const flock_task *task, const struct names *names, const int *order)
{
    char list[FLOCK_SPECIES * (IO_NAME_LENGTH + 2)] = "";
    const bool few = names->n <= FLOCK_SPECIES;
    for (int k = 0; k < names->n && few; k++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : ": ",
                 names->name[order[k]]);
    }
    return report_error(
        STATUS_INVALID,
        few ? report_format("give --flock-species %d, or choose by --species", names->n).s
            : "choose at most 8 by --species",
        "%s: its particles have %d species%s, but --flock-species is %lld", task->input, names->n,
        list, (long long)task->start.model.n_species);
}

/** Number the names, of which there are two or more. @return exit status, reported */
static int number_names(const flock_task *task, struct names *names)
{
    const int64_t species = task->start.model.n_species;
    int order[FLOCK_SPECIES] = {0};
    if (are_letters(names, species)) {
        for (int k = 0; k < names->n; k++) {
            names->species[k] = names->name[k][0] - 'A';
        }
        return STATUS_OK;
    }
    if (names->n <= FLOCK_SPECIES) {
        name_order(names->n, (const char(*)[IO_NAME_LENGTH])names->name, task->shared.read.species,
                   NULL, order);
    }
    if (names->n != species) {
        return refuse_names(task, names, order);
    }
    for (int k = 0; k < names->n; k++) {
        names->species[order[k]] = k;
    }
    return STATUS_OK;
}

/** input_frame_fn: set the species of the particles, where the frame names two or more. */
static int take_names(void *user, const io_frame *frame)
{
    const struct naming *naming = user;
    flock_run *run = naming->run;
    struct names names = {0};
    if (frame->particles.n != run->in.particles.n) {
        return report_error(STATUS_FORMAT, NULL, "%s: changed while it was read",
                            naming->task->input);
    }
    int status = collect_names(frame, &names) ? STATUS_OK : report_no_memory("the species");
    if (status == STATUS_OK && names.n > 1) {
        status = number_names(naming->task, &names);
        for (int k = 0; k < names.n && status == STATUS_OK; k++) {
            memcpy(run->species_name[names.species[k]], names.name[k], sizeof *names.name);
        }
        for (int64_t p = 0; p < frame->particles.n && status == STATUS_OK; p++) {
            run->species[p] = (uint8_t)names.species[names.number[frame->species[p]]];
        }
    }
    free(names.name);
    free(names.number);
    return status;
}

int flock_set_species(const flock_task *task, flock_run *run)
{
    const int64_t n = run->in.particles.n, species = task->start.model.n_species;
    free(run->species);
    run->species = NULL;
    memset(run->species_name, 0, sizeof run->species_name);
    if (species == 0) {
        return STATUS_OK;
    }
    run->species = malloc((size_t)n + 1);
    if (!run->species) {
        return report_no_memory("the species");
    }
    for (int64_t p = 0; p < n; p++) {
        run->species[p] = (uint8_t)(p % species);
    }
    if (!task->input) {
        return STATUS_OK;
    }
    const printed frame = report_format("%lld", (long long)run->in.frame);
    struct naming naming = {task, run};
    input_frames from = {0};
    io_trajectory_options how = input_how(&task->shared);
    how.frames = frame.s;
    how.read.fields = 0;
    how.read.watch = progress_watch_interrupt;
    const int status = input_each_frame(task->input, &how, take_names, &naming, &from);
    return status == STATUS_INTERRUPTED ? report_interrupted(NULL) : status;
}
