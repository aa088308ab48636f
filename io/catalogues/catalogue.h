/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halos out, as catalogues that other tools open, and the labels of particles. Every file is
 * written beside its final name and renamed when it is whole.
 */
#ifndef KITH_CATALOGUE_H
#define KITH_CATALOGUE_H

#include "io.h"

typedef enum io_catalogue_format {
    IO_CATALOGUE_BY_NAME,  /**< .csv; .list or .txt Rockstar's; .hdf5 or .h5 Gadget-4's */
    IO_CATALOGUE_CSV,      /**< all numbers, one line a halo, with their units in the first line */
    IO_CATALOGUE_ROCKSTAR, /**< text with the columns of Rockstar's .list at their positions, "nan"
                                where not known; Msun/h, comoving Mpc/h and kpc/h, km/s where units
                                are known */
    IO_CATALOGUE_GADGET4,  /**< HDF5 with /Group, as yt and pynbody read it */
    IO_CATALOGUE_SWIFT     /**< HDF5 with /Groups, as SWIFT's friends-of-friends writes it */
} io_catalogue_format;

/** Which density a sphere of kith_halo has: index of sphere_density. */
enum { IO_SPHERE_200C, IO_SPHERE_200M, IO_SPHERE_500C, IO_SPHERE_VIRIAL };

typedef struct io_catalogue {
    const kith_halos *halos;
    const io_particles *particles; /**< that were grouped: their units, cosmology, time and ids */
    const kith_box *box;
    bool masses, velocities;   /**< known: masses and velocities of halos are written; where masses
                                    are not known, other sums count each particle as 1 */
    bool sphere[KITH_SPHERES]; /**< measured */
    bool type[KITH_TYPES];     /**< types to tell apart; none where there is one only */
    double length;             /**< linking length */
    double b;                  /**< linking length in mean spacings; 0: not known */
    double particle_mass;      /**< mean mass of the particles that link; 0: not known */
    int64_t min_members;
    const int32_t *labels; /**< [particles->n] */
    const char *command;   /**< the command line, kept in headers */
} io_catalogue;

/** Write a catalogue. IO_INVALID: the name tells no format. */
io_status io_write_catalogue(const char *path, io_catalogue_format format,
                             const io_catalogue *catalogue, io_error *error);

/** Write the group of each particle, in the order of the particles: .npy (int32), .grp (tipsy's:
 *  the number of particles, then a label a line), .hdf5 or .h5 (SWIFT's FOFGroupIDs, and
 *  ParticleIDs where known). 0: in no group; in HDF5 2147483647, as SWIFT has it. */
io_status io_write_labels(const char *path, const io_catalogue *catalogue, io_error *error);

/** Read such labels of n particles, .npy, text as .grp, HDF5, from whomever; in HDF5 also those of
 *  a snapshot (PartTypeN/FOFGroupIDs), and catalogues in Gadget's layout that list the ids of their
 *  members (IDs/ID). Labels below 1 mean no group; others are numbered anew by falling size, equal
 *  ones by the number they had.
 *  @param ids          [n] of the particles, by which HDF5 knows them; NULL: by their order
 *  @param[out] labels  [n] 0: in none
 *  @param[out] groups  how many there are */
io_status io_read_labels(const char *path, int64_t n, const int64_t *ids, int32_t *labels,
                         int64_t *groups, io_error *error);

/** Write the particles sorted by type, then by group, those in none last, as a snapshot in Gadget's
 *  HDF5 layout and units (.hdf5 or .h5): positions, velocities, masses, ids,
 *  potentials and densities, where known. */
io_status io_write_sorted(const char *path, const io_catalogue *catalogue, io_error *error);

/** Read the name of a format: "csv", "rockstar", "gadget4", "swift". @return false for others. */
bool io_catalogue_format_find(const char *name, io_catalogue_format *out);

#endif
