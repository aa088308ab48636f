/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers for the species of particles. Cost: one pass over the particles to find the names that
 * are in use, and one to number them.
 */
#include "species.h"

#include <stdlib.h>
#include <string.h>

/** Find a species by its name, or append it. @return its number; 0 where names->full */
static int32_t number_of(species_names *names, const char *name)
{
    for (int k = 0; k < names->n; k++) {
        if (strcmp(names->name[k], name) == 0) {
            return k;
        }
    }
    if (names->n == SPECIES_MOST) {
        names->full = true;
        return 0;
    }
    memcpy(names->name[names->n], name, IO_NAME_LENGTH);
    return names->n++;
}

void species_number(const io_frame *frame, species_names *names, int32_t *species)
{
    names->typed = names->typed || frame->particles.type;
    int32_t *of_name = calloc((size_t)frame->n_names + 1, sizeof *of_name);
    if (!of_name) {
        names->no_memory = true;
        return;
    }
    for (int64_t p = 0; p < frame->particles.n; p++) {
        of_name[frame->species[p]] = 1;
    }
    for (int k = 0; k < frame->n_names; k++) {
        if (of_name[k] != 0) {
            names->named = names->named || *frame->names[k];
            of_name[k] = number_of(names, frame->names[k]);
        }
    }
    for (int64_t p = 0; p < frame->particles.n; p++) {
        species[p] = of_name[frame->species[p]];
    }
    free(of_name);
}
