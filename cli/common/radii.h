/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A radius for each particle of a set, or of a rank's share of it: a field that was read with the
 * coordinates, or the numbers of a file of their own; scaled, and checked.
 */
#ifndef KITH_CLI_RADII_H
#define KITH_CLI_RADII_H

#include "io.h"

#include <limits.h>

/** Where the radii of a set come from. It has no pointers, so that it can travel between ranks. */
typedef struct radii_source {
    char option[32];     /**< option that names the radii, for messages: "--radii" */
    char path[PATH_MAX]; /**< file of the particles, for messages */
    char file[PATH_MAX]; /**< file of numbers; "": the radii are a field of the particles */
    bool zeros;          /**< all radii are 0, as the rule does not use them */
    double scale;        /**< factor of all radii */
} radii_source;

/** The range of the radii of a set. */
typedef struct radii_range {
    double least; /**< smallest radius [length]; infinite: there is none */
    double most;  /**< largest radius [length]; 0: there is none */
} radii_range;

/** Get the radii of the particles of a set, or of a share.
 *  @param particles   the particles, with the field if the radii are one
 *  @param[out] radii  [particles->n] in the precision of the particles [length]
 *  @return IO_FORMAT where a radius is negative or not finite; IO_INVALID where a scaled radius
 *  leaves the range of the precision, or a file has another number of radii; IO_NO_MEMORY */
io_status radii_read(const radii_source *from, const io_particles *particles, void *radii,
                     radii_range *range, io_error *error);

#endif
