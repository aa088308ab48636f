/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers for the species of particles, from the names that a frame has for them. Several frames,
 * or the shares that ranks have of one, are numbered one after the other.
 */
#ifndef KITH_CLI_SPECIES_H
#define KITH_CLI_SPECIES_H

#include "trajectories/trajectory.h"

enum { SPECIES_MOST = 256 }; /* species that can be numbered */

/** Names of species, in the order in which they were first seen. It has no pointers, so that it can
 *  travel between ranks. */
typedef struct species_names {
    int n;                                   /**< number of names */
    bool typed;                              /**< they are types of a snapshot (name_is) */
    bool named;                              /**< a particle has a name that is not empty */
    bool full;                               /**< there are more than SPECIES_MOST names */
    bool no_memory;                          /**< memory was exhausted */
    char name[SPECIES_MOST][IO_NAME_LENGTH]; /**< [n] the names */
} species_names;

/** Number the species of the particles of a frame. Names that are new are appended; names of the
 *  frame that no particle has are not, as their particles were not selected by --species.
 *  @param[in,out] names  the names; the flags become true where they apply
 *  @param[out] species   [particles of the frame] */
void species_number(const io_frame *frame, species_names *names, int32_t *species);

#endif
