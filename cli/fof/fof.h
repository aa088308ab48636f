/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `kith fof` was asked and what it found: passed from step to step.
 */
#ifndef KITH_CLI_FOF_H
#define KITH_CLI_FOF_H

#include "catalogues/catalogue.h"
#include "common/cosmology.h"
#include "common/input.h"
#include "common/options.h"
#include "common/space.h"

/** How long the mean spacing is. */
typedef enum spacing {
    SPACING_AUTO,   /**< by mass where the file has what that needs, else of the linked */
    SPACING_LINKED, /**< (volume / number of particles that link)^(1/3) */
    SPACING_DARK,   /**< (volume / number of dark matter particles)^(1/3) */
    SPACING_MASS    /**< (mean mass of the particles that link / mean density of their species in
                         the universe)^(1/3) */
} spacing;

/** Types of particles in snapshots. */
enum { FOF_GAS = 0, FOF_DARK = 1, FOF_STARS = 4, FOF_HOLES = 5 };

typedef struct fof_task {
    options shared;
    const char *input;
    double length; /**< --length; 0: by b */
    double b;
    spacing spacing;
    const char *link, *attach; /**< NULL: by convention */
    bool allow_unwrapped;      /**< coordinates may span more than two lengths of the box */
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
    double volume; /**< of the box; 0 in open space */
    bool closed;   /**< the box is periodic on all three axes */
    double cover;  /**< largest extent of the coordinates along a row of the box, in lengths of that
                       row; 0: not measured */
    double mass_of_type[IO_MOST_TYPES]; /**< of the particles read; 0 where masses are not known */
    int64_t n_of_type[IO_MOST_TYPES];   /**< particles read */
    bool links[IO_MOST_TYPES], attaches[IO_MOST_TYPES];
    uint8_t *roles; /**< [n]; NULL: all link */
    int64_t linked; /**< particles that link */
    cosmology cosmology;
    spacing spacing; /**< that was used; AUTO: --length was given */
    double mean_spacing, length;
    double spacing_omega;          /**< by mass: Omega of the linked species */
    char spacing_why[80];          /**< by mass: where this Omega is from; else why this spacing */
    const char *spacing_warning;   /**< why the spacing may be wrong; NULL: no doubt */
    double sigma, velocity_length; /**< --phase-space */
    const void *masses, *velocities, *potentials, *densities; /**< those that tell something */
    kith_ctx *ctx;
    kith_groups groups;
    int64_t *linked_members; /**< [groups.n] members that link; NULL: all members link */
    kith_halos halos;
    int64_t grouped; /**< particles in groups */
    io_catalogue catalogue;
    double link_seconds;
    double measure_seconds; /**< of sums over members, without the spheres */
    double write_seconds;
} fof_outcome;

/** Decide who links, how far, and in which universe. @return an exit status, reported. */
int fof_prepare(const fof_task *task, fof_outcome *found);

/** Decide the linking length. @return an exit status, reported. */
int fof_choose_length(const fof_task *task, fof_outcome *found);

/** Whether particles may be in a group that do not link. */
static inline bool fof_attaches(const fof_task *task, const fof_outcome *found)
{
    return found->roles || task->min_links > 0;
}

/** Order the groups by all their members, and drop those of fewer than --min-members. @return an
 *  exit status, reported. */
int fof_order_groups(const fof_task *task, fof_outcome *found);

/** Draw the picture. @return an exit status, reported. */
int fof_plot(const fof_task *task, const fof_outcome *found);

void fof_print(const fof_task *task, const fof_outcome *found);
json_t *fof_json(const fof_task *task, const fof_outcome *found);

#endif
