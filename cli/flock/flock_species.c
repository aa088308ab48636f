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
#include "common/species.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What take_names sets. */
struct naming {
    const flock_task *task; /* the task */
    flock_run *run;         /* receives species and names */
};

/** Return true when each name is the letter of one of some species. */
static bool are_letters(const species_names *names, int64_t species)
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
static int refuse_names(const flock_task *task, const species_names *names, const int *order)
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
        "%s: its particles have %s%d species%s, but --flock-species is %lld", task->input,
        names->full ? "more than " : "", names->n, list, (long long)task->start.model.n_species);
}

/** Number the names, of which there are two or more.
 *  @param[out] species  [names->n] the species of each name   @return exit status, reported */
static int number_names(const flock_task *task, const species_names *names,
                        int species[FLOCK_SPECIES])
{
    const int64_t most = task->start.model.n_species;
    int order[FLOCK_SPECIES] = {0};
    if (are_letters(names, most)) {
        for (int k = 0; k < names->n; k++) {
            species[k] = names->name[k][0] - 'A';
        }
        return STATUS_OK;
    }
    if (names->n <= FLOCK_SPECIES) {
        name_order(names->n, names->name, task->shared.read.species, NULL, names->typed, order);
    }
    if (names->n != most) {
        return refuse_names(task, names, order);
    }
    for (int k = 0; k < names->n; k++) {
        species[order[k]] = k;
    }
    return STATUS_OK;
}

/** input_frame_fn: set the species of the particles, where the frame names two or more. */
static int take_names(void *user, const io_frame *frame)
{
    const struct naming *naming = user;
    flock_run *run = naming->run;
    const int64_t n = frame->particles.n;
    species_names names = {0};
    int species[FLOCK_SPECIES] = {0};
    if (n != run->in.particles.n) {
        return report_error(STATUS_FORMAT, NULL, "%s: changed while it was read",
                            naming->task->input);
    }
    int32_t *name = malloc(((size_t)n + 1) * sizeof *name); /* the name of each particle */
    names.no_memory = !name;
    if (name) {
        species_number(frame, &names, name);
    }
    int status = names.no_memory ? report_no_memory("the species") : STATUS_OK;
    if (status == STATUS_OK && names.n > 1) {
        status = number_names(naming->task, &names, species);
        for (int k = 0; k < names.n && status == STATUS_OK; k++) {
            memcpy(run->species_name[species[k]], names.name[k], sizeof *names.name);
        }
        for (int64_t p = 0; p < n && status == STATUS_OK; p++) {
            run->species[p] = (uint8_t)species[name[p]];
        }
    }
    free(name);
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
