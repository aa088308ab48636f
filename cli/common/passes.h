/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Passes over all particles of an input, in their order, which several ranks make one after the
 * other over the shares that they have read: the state of a pass travels from rank to rank. Sums of
 * floating point numbers then have the bits of one process. Cost: one pass over the particles, on
 * one rank at a time.
 */
#ifndef KITH_CLI_PASSES_H
#define KITH_CLI_PASSES_H

#include "io.h"

/** Which of the states below a pass has. */
typedef enum pass_kind {
    PASS_EXTENT,    /**< range of the coordinates */
    PASS_FIELDS,    /**< which fields have numbers that differ; particles and masses by type */
    PASS_MASSES,    /**< range of the masses of some types */
    PASS_VELOCITIES /**< sums over the velocities of some types */
} pass_kind;

/** The fields whose numbers are compared. */
enum { PASS_MASS, PASS_VELOCITY, PASS_POTENTIAL, PASS_DENSITY, PASS_COMPARED };

/** A pass, and what it has found so far. Zero it, then set kind and what it needs. */
typedef struct pass {
    pass_kind kind;              /**< which fields below count */
    int dim;                     /**< EXTENT, VELOCITIES: components */
    double origin[3];            /**< EXTENT: origin of the box */
    double normal[3][3];         /**< EXTENT: rows; x . normal[k] is the coordinate along row k */
    double low[3], high[3];      /**< EXTENT: range of these; to be set to INFINITY, -INFINITY */
    bool any[PASS_COMPARED];     /**< FIELDS: a number was seen */
    double first[PASS_COMPARED]; /**< FIELDS: the first number */
    bool differs[PASS_COMPARED]; /**< FIELDS: a later number differs from the first */
    int64_t n_of_type[IO_MOST_TYPES];     /**< FIELDS: particles by type; none without types */
    int64_t first_of_type[IO_MOST_TYPES]; /**< FIELDS: index of the first particle of each */
    double mass_of_type[IO_MOST_TYPES];   /**< FIELDS: sums of masses; without types all in [1] */
    bool bad;                             /**< FIELDS: a mass is not finite and above 0 */
    int64_t bad_particle;      /**< FIELDS: index of the first particle whose mass is bad */
    double bad_mass;           /**< FIELDS: its mass */
    bool types[IO_MOST_TYPES]; /**< MASSES, VELOCITIES: types that count; all without types */
    double least, most;        /**< MASSES: range; to be set to INFINITY, 0 */
    bool squares;              /**< VELOCITIES: sums of squares of differences from `mean` */
    double mean[3];            /**< VELOCITIES: the means */
    double sum[3];             /**< VELOCITIES: the sums */
} pass;

/** Make a pass over the particles of one share. */
void pass_over(pass *p, const io_particles *share);

#endif
