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
#include "common/passes.h"
#include "ranks/ranks.h"
#include "common/space.h"

/** Which mean spacing the linking length is a multiple of. */
typedef enum spacing {
    SPACING_AUTO,   /**< chosen: SPACING_MASS if the file has what it needs, else SPACING_LINKED */
    SPACING_LINKED, /**< (volume / number of particles that link)^(1/3) */
    SPACING_DARK,   /**< (volume / number of dark matter particles)^(1/3) */
    SPACING_MASS    /**< (mean mass of the particles that link / mean density of their species in
                         the universe)^(1/3) */
} spacing;

/** Types of particles in snapshots. */
enum { FOF_GAS = 0, FOF_DARK = 1, FOF_STARS = 4, FOF_HOLES = 5 };

/** What was asked: the values of the options. */
typedef struct fof_task {
    options shared;             /**< the options that verbs share */
    const char *input;          /**< path of the snapshot */
    double length;              /**< --length: linking length [length]; 0: by b */
    double b;                   /**< -b: linking length [mean spacings] */
    spacing spacing;            /**< --spacing */
    const char *link, *attach;  /**< --link, --attach: lists of types; NULL: by convention */
    bool without_spheres;       /**< --no-spheres: leave out spherical overdensities */
    bool allow_unwrapped;       /**< coordinates may span more than two box lengths */
    int64_t min_members;        /**< smaller groups are no halos */
    int64_t min_links;          /**< friends that a particle needs in order to link */
    double velocity;            /**< --phase-space: linking length of velocities; 0: none */
    bool velocity_in_sigma;     /**< `velocity` is in units of the velocity dispersion */
    cosmology cosmology;        /**< --cosmology */
    io_catalogue_format format; /**< --format of the catalogue */
    const char *labels, *sorted, *plot; /**< paths of --labels, --sort-snapshot, --plot; or NULL */
} fof_task;

/** What was found. */
typedef struct fof_outcome {
    input in;      /**< the particles */
    space space;   /**< the box */
    double volume; /**< volume of the box, in 2-D its area; 0 in open space */
    bool closed;   /**< the box is periodic on all three axes */
    double cover;  /**< largest extent of the coordinates along a row of the box, in lengths of that
                       row; 0: not measured */
    double mass_of_type[IO_MOST_TYPES]; /**< mass of the particles read; 0 if masses are unknown */
    int64_t n_of_type[IO_MOST_TYPES];   /**< particles read, by type */
    bool links[IO_MOST_TYPES];          /**< types whose particles link */
    bool attaches[IO_MOST_TYPES];       /**< types whose particles join the group of the nearest */
    uint8_t role_of[IO_MOST_TYPES];     /**< kith_role of particles by type */
    uint8_t *roles;                     /**< [n] kith_role of each particle; NULL: all link */
    pass fields;                        /**< what a pass has found in the fields of all particles */
    int64_t linked;                     /**< particles that link */
    cosmology cosmology;                /**< of the file, or of --cosmology */
    spacing spacing;                    /**< the spacing used; SPACING_AUTO: --length was given */
    double mean_spacing, length;        /**< mean spacing, and linking length [length] */
    double spacing_omega;               /**< SPACING_MASS: Omega of the species that link */
    char spacing_why[80];               /**< where this Omega is from; else why this spacing */
    const char *spacing_warning;        /**< why the spacing may be wrong; NULL: no reason */
    double sigma;                       /**< --phase-space: velocity dispersion */
    double velocity_length;             /**< --phase-space: linking length of velocities */
    const void *masses, *velocities;    /**< arrays used to measure; NULL: missing or all equal */
    const void *potentials, *densities; /**< arrays used for centres; NULL: missing or all equal */
    kith_ctx *ctx;                      /**< the library */
    ranks *ranks;                       /**< the ranks that find the groups; NULL: ctx alone */
    kith_groups groups;                 /**< groups of --min-members and more */
    int64_t *linked_members;            /**< [groups.n] members that link; NULL: all link */
    kith_halos halos;                   /**< measures of the groups */
    int64_t grouped;                    /**< particles in groups */
    io_catalogue catalogue;             /**< what is written of the halos */
    ranks_rows rows;                    /**< how writers get the particles of all ranks */
    double link_seconds;                /**< time to find the groups [s] */
    double measure_seconds;             /**< time of sums over members, without spheres [s] */
    double write_seconds;               /**< time to write the outputs [s] */
} fof_outcome;

/** Choose the types that link and attach, the box, the cosmology and the linking length.
 *  @return exit status, reported */
int fof_prepare(const fof_task *task, fof_outcome *found);

/** Set the densities of the spheres that halos are to have.
 *  @param[in,out] density  [mass / length^3]; zeros, which stay where a sphere is not wanted or its
 *                          density is not known */
void fof_spheres(const fof_task *task, const fof_outcome *found, double density[KITH_SPHERES]);

/** Choose the linking length. @return exit status, reported */
int fof_choose_length(const fof_task *task, fof_outcome *found);

/** Return true when groups may have members that do not link. */
static inline bool fof_attaches(const fof_task *task, const fof_outcome *found)
{
    return found->roles || task->min_links > 0;
}

/** Order the groups by all their members, and drop those of fewer than --min-members.
 *  @return exit status, reported */
int fof_order_groups(const fof_task *task, fof_outcome *found);

/** Draw the picture. @return exit status, reported */
int fof_plot(const fof_task *task, const fof_outcome *found);

/** Print the summary. */
void fof_print(const fof_task *task, const fof_outcome *found);

/** Return the summary as JSON. */
json_t *fof_json(const fof_task *task, const fof_outcome *found);

#endif
