/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith fof` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_FOF_H
#define KITH_CLI_FOF_H

#include "catalogue.h"
#include "cosmology.h"
#include "input.h"
#include "options.h"
#include "space.h"

/** How long the mean spacing is. */
typedef enum spacing {
    SPACING_AUTO,   /**< by mass where the file has what that needs, else of the linked */
    SPACING_LINKED, /**< (volume / number of particles that link)^(1/3) */
    SPACING_DARK,   /**< (volume / number of dark matter particles)^(1/3) */
    SPACING_MASS    /**< (mass of a particle that links / mean density of their species)^(1/3) */
} spacing;

typedef struct fof_task {
    options shared;
    const char *input;
    double length; /**< --length; 0: by b */
    double b;
    spacing spacing;
    const char *link, *attach; /**< NULL: by convention */
    int64_t min_members, min_links;
    double velocity;        /**< --phase-space; 0: positions alone */
    bool velocity_in_sigma; /**< in units of the velocity dispersion */
    cosmology cosmology;    /**< --cosmology */
    io_catalogue_format format;
    const char *labels, *sorted, *plot;
} fof_task;

typedef struct fof_outcome {
    input in;
    space space;
    double volume;                    /**< of the box; 0 in open space */
    int64_t n_of_type[IO_MOST_TYPES]; /**< particles read */
    bool links[IO_MOST_TYPES], attaches[IO_MOST_TYPES];
    uint8_t *roles; /**< [n]; NULL: all link */
    int64_t linked; /**< particles that link */
    cosmology cosmology;
    spacing spacing; /**< that was used; AUTO: --length was given */
    double mean_spacing, length;
    double spacing_omega;          /**< by mass: Omega of the linked species */
    double sigma, velocity_length; /**< --phase-space */
    const void *masses, *velocities, *potentials, *densities; /**< those that tell something */
    kith_ctx *ctx;
    kith_groups groups;
    kith_halos halos;
    int64_t grouped; /**< particles in groups */
    io_catalogue catalogue;
    double link_seconds, measure_seconds, write_seconds;
} fof_outcome;

/** Decide who links, how far, and in which universe. @return an exit status, reported. */
int fof_prepare(const fof_task *task, fof_outcome *found);

/** Draw the picture. @return an exit status, reported. */
int fof_plot(const fof_task *task, const fof_outcome *found);

void fof_print(const fof_task *task, const fof_outcome *found);
json_t *fof_json(const fof_task *task, const fof_outcome *found);

#endif
