/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Catalogues of halos, written in formats that other tools read; labels of particles, the group of
 * each, written and read. Every file is written beside its name and renamed when it is complete.
 */
#ifndef KITH_CATALOGUE_H
#define KITH_CATALOGUE_H

#include "io.h"

/** Format of a catalogue. */
typedef enum io_catalogue_format {
    IO_CATALOGUE_BY_NAME,  /**< By the ending: .csv; .list or .txt: Rockstar; .hdf5 or .h5:
                               Gadget-4. */
    IO_CATALOGUE_CSV,      /**< All numbers, one line for each halo, units in the first line. */
    IO_CATALOGUE_ROCKSTAR, /**< Text with the columns of Rockstar's .list at their positions, "nan"
                                where not known; in Msun/h, comoving Mpc/h and kpc/h, and km/s if
                                the units are known. */
    IO_CATALOGUE_GADGET4,  /**< HDF5 with /Group, as yt and pynbody read it. */
    IO_CATALOGUE_SWIFT     /**< HDF5 with /Groups, as the friends-of-friends of SWIFT writes it. */
} io_catalogue_format;

/** The spheres of kith_halo: index of sphere_mass and sphere_radius by their mean density. */
enum { IO_SPHERE_200C, IO_SPHERE_200M, IO_SPHERE_500C, IO_SPHERE_VIRIAL };

/** Columns of the particles of a catalogue: arrays of io_particles, and the labels. */
typedef enum io_catalogue_column {
    IO_COLUMN_POSITIONS,  /**< [n][3] reals. */
    IO_COLUMN_VELOCITIES, /**< [n][3] reals. */
    IO_COLUMN_MASSES,     /**< [n] reals. */
    IO_COLUMN_IDS,        /**< [n] int64_t. */
    IO_COLUMN_POTENTIALS, /**< [n] reals. */
    IO_COLUMN_DENSITIES,  /**< [n] reals. */
    IO_COLUMN_LABELS      /**< [n] int32_t. */
} io_catalogue_column;

/** Order of the rows of a column. */
typedef enum io_row_order {
    IO_ORDER_INPUT,  /**< As in the input. */
    IO_ORDER_GROUPS, /**< By group, particles in no group last; within a group as in the input. */
    IO_ORDER_TYPES   /**< By type, each type as IO_ORDER_GROUPS. Without types all are of one. */
} io_row_order;

/** Particles of which several processes hold a share each. A function that fails returns false: the
 *  writer then fails, and the owner of `user` knows why. */
typedef struct io_shares {
    void *user; /**< First argument of both functions. */
    /** Sort the particles of all shares, before `rows` is called with this order.
     *  @param order       not IO_ORDER_INPUT
     *  @param[out] begin  IO_ORDER_TYPES: first row of each type, then the number of rows */
    bool (*sort)(void *user, io_row_order order, int64_t begin[KITH_TYPES + 1]);
    /** Copy n rows of a column, from row `first` on. @param[out] to  [n] rows */
    bool (*rows)(void *user, io_catalogue_column column, io_row_order order, int64_t first,
                 int64_t n, void *to);
} io_shares;

/** What a catalogue is written from. All pointers are borrowed. */
typedef struct io_catalogue {
    const kith_halos *halos;       /**< The halos. */
    const io_particles *particles; /**< The particles that were grouped; their units, cosmology,
                                        time and ids are used. */
    const kith_box *box;           /**< The box of the particles. */
    bool masses;                   /**< Masses are known: those of halos are written. If not, other
                                        sums count each particle as 1. */
    bool velocities;               /**< Velocities are known: those of halos are written. */
    bool sphere[KITH_SPHERES];     /**< Element IO_SPHERE_200C, ...: that sphere was measured. */
    bool type[KITH_TYPES];         /**< Types with columns of their own; all false if there is one
                                        type only. */
    double length;                 /**< Linking length [units.length]. */
    double b;                      /**< Linking length in mean particle spacings; 0: not known. */
    double particle_mass;          /**< Mean mass of the particles that link [units.mass]; 0: not
                                        known. */
    int64_t min_members;           /**< Least number of members of a group. */
    const int32_t *labels;         /**< Group of each particle [particles->n], from 1; 0: none. */
    const io_shares *shares;       /**< Other processes hold a share of the particles too, and
                                        `particles` and `labels` are of one share; NULL: of all
                                        particles. */
    const char *command;           /**< Command line, written to headers. */
} io_catalogue;

/** Write a catalogue. IO_INVALID: the format is to be found by the ending of the path, which is
 *  none of those known. */
io_status io_write_catalogue(const char *path, io_catalogue_format format,
                             const io_catalogue *catalogue, io_error *error);

/** Write the group of each particle, in the order of the particles: .npy (int32), .grp (of tipsy:
 *  the number of particles, then one label in each line), .hdf5 or .h5 (FOFGroupIDs of SWIFT, and
 *  ParticleIDs if they are known). The label of a particle in no group is 0; in HDF5 it is
 *  2147483647, as in SWIFT. */
io_status io_write_labels(const char *path, const io_catalogue *catalogue, io_error *error);

/** Read the labels of n particles: .npy, text as .grp, or HDF5 with FOFGroupIDs; also a snapshot
 *  with PartTypeN/FOFGroupIDs, and a catalogue in Gadget's layout that lists the ids of its members
 *  (IDs/ID). A label below 1, or 2147483647, means no group. The others are renumbered from 1 by
 *  descending number of members, groups of equal size by ascending label.
 *  @param ids          [n] ids of the particles, by which HDF5 files are matched; NULL: by order
 *  @param[out] labels  [n] group of each particle; 0: none
 *  @param[out] groups  number of groups */
io_status io_read_labels(const char *path, int64_t n, const int64_t *ids, int32_t *labels,
                         int64_t *groups, io_error *error);

/** Write the particles sorted by type, then by group, those in no group last, as a snapshot in the
 *  HDF5 layout and units of Gadget (.hdf5 or .h5): positions, and velocities, masses, ids,
 *  potentials and densities if they are known. */
io_status io_write_sorted(const char *path, const io_catalogue *catalogue, io_error *error);

/** Bytes of a row of a column. */
size_t io_row_bytes(const io_particles *particles, io_catalogue_column column);

/** The array of a column, of one share; NULL: the particles lack it. */
const void *io_column_of(const io_particles *particles, const int32_t *labels,
                         io_catalogue_column column);

/** Number of particles of all shares. */
int64_t io_catalogue_particles(const io_catalogue *catalogue);

/** Copy n rows of a column, in the order of the input, from particle `first` on.
 *  @param[out] to  [n] rows   @return false on failure of catalogue->shares */
bool io_catalogue_rows(const io_catalogue *catalogue, io_catalogue_column column, int64_t first,
                       int64_t n, void *to);

/** Number of keys by which particles are sorted (counting sort) in an order. */
int64_t io_sort_keys(int64_t groups);

/** Add the particles of a share that have each key to count[key]. */
void io_sort_count(const io_particles *share, const int32_t *labels, int64_t groups,
                   io_row_order order, int64_t *count);

/** Sort a share.
 *  @param[in,out] at     [keys] first row of each key among the rows of the share; then the end
 *  @param[in,out] place  [keys] first row among those of all shares; then the end, which is the
 *                        first row of the next share; NULL: not wanted
 *  @param[out] index     [share->n] index in the share of each of its rows
 *  @param[out] places    [share->n] row of each among those of all shares; needs `place` */
void io_sort_share(const io_particles *share, const int32_t *labels, int64_t groups,
                   io_row_order order, int64_t *at, int64_t *place, int32_t *index,
                   int64_t *places);

/** First row of each type, from the first row of each key. */
void io_sort_types(const int64_t *at, int64_t groups, int64_t n, int64_t begin[KITH_TYPES + 1]);

/** Find a format by its name: "csv", "rockstar", "gadget4", "swift".
 *  @return false if no format has the name */
bool io_catalogue_format_find(const char *name, io_catalogue_format *out);

#endif
