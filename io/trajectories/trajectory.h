/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories, frame by frame, of any length: extended XYZ, LAMMPS dump, GSD, HDF5 (H5MD, arrays
 * of shape (frames, n, 3)), .npy; XTC, TRR, DCD, AMBER NetCDF, GRO, PDB and what else chemfiles
 * reads, when its library is there at run time; and each format of one frame that io_read knows.
 *
 *     io_trajectory *t;
 *     const io_frame *frame;
 *     io_status status = io_trajectory_open(path, &options, &t, &error);
 *     while (status == IO_OK && (status = io_trajectory_next(t, &frame, &error)) == IO_OK && frame)
 *         use(frame);
 *     io_trajectory_close(t);
 *
 * THREADS. A trajectory serves one call at a time; different trajectories are independent. While
 * the caller works on a frame, a thread of the trajectory's own reads the next one: two frames are
 * in memory. HDF5 files are read by the calling thread: the HDF5 library serves one at a time.
 */
#ifndef KITH_IO_TRAJECTORY_H
#define KITH_IO_TRAJECTORY_H

#include "io.h"

typedef struct io_trajectory io_trajectory;

/** What frames may have beside IO_VELOCITIES and IO_IDS: bits of io_read_options.fields. */
enum { IO_FORCES = 1 << 16, IO_MOLECULES = 1 << 17, IO_BONDS = 1 << 18, IO_WEIGHTS = 1 << 19 };

/** Which word about an atom is its species. */
typedef enum io_label {
    IO_LABEL_ANY,     /**< the element where the file has it, else the type, else the name */
    IO_LABEL_ELEMENT, /**< of a symbol that is known, else the file is refused; "virtual" for sites
                           of a force field that are no atoms */
    IO_LABEL_TYPE,    /**< of the force field: "1", "CT" */
    IO_LABEL_NAME     /**< in its molecule: "OW", "HW1", "CA" */
} io_label;

/** What to read. Zero it: everything by default. */
typedef struct io_trajectory_options {
    io_read_options read; /**< as io_read has them, but for frame. needed: fields that every frame
                               must have. watch is called from io_trajectory_next alone */
    const char *frames;   /**< "5", "a:b" or "a:b:step", as Python slices; NULL: all. Negative ones
                               count from the end, for which some formats are read twice */
    io_label label;
    const char *weights;  /**< the name of a number that each particle has, for IO_WEIGHTS: a column
                               (LAMMPS, extended XYZ), "mass" (snapshots), "mass" or "charge"
                               (GSD, which has "diameter" too, and chemfiles); NULL: none */
    const char *topology; /**< a file that names the atoms of one without names (XTC, DCD, ...), as
                               PDB or GRO; NULL: none. By chemfiles */
    bool boxes_only;      /**< read each frame's box, dimensions, time and step, and no particles:
                               n is 0. Quick where a format can skip its particles */
} io_trajectory_options;

enum { IO_GUESSED = 200 };

/** What is called so where elements are asked for: a site of a force field that is no atom. */
#define IO_VIRTUAL_SITE "virtual"

/** One frame. All arrays are the trajectory's, and stay until the next call on it. */
typedef struct io_frame {
    io_particles particles; /**< n may change from frame to frame; box, velocity, id, time. A box
                                 axis of length 0 is open; when all are, there is no box */
    int64_t index;          /**< in the file, from 0 */
    bool has_step;
    int64_t step; /**< of the simulation */
    char
        unit[IO_NAME_LENGTH]; /**< of positions and box: "A", "nm", "sigma", "kpc/h", as the file or
                                    the definition of its format says; "": not known */
    char guessed[IO_GUESSED]; /**< elements that follow from names of atoms, by IO_LABEL_ELEMENT:
                                   "OW=O, CA=C", as many as fit; "": none */
    char system[16];  /**< the system of units that a LAMMPS dump says: "lj", "real", ...; or "" */
    int32_t *species; /**< [n]: indices into names */
    int n_names;      /**< grows over the trajectory; an index keeps its meaning */
    char (*names)[IO_NAME_LENGTH]; /**< "" for atoms whose species the file does not say */
    void *force; /**< [n][3], precision of the particles; NULL when not asked for or not there */
    int32_t *molecule; /**< [n]: equal in one molecule (LAMMPS) or residue, -1 in none; or NULL */
    double *weight;    /**< [n]: finite; or NULL */
    int64_t n_bonds;
    int32_t *bond;   /**< [n_bonds][2]: particles; or NULL */
    int64_t room;    /**< the trajectory's: particles that the arrays hold */
    unsigned fields; /**< the trajectory's: those that have arrays */
} io_frame;

/** Open a trajectory and read what says how it goes on. @param[out] out  io_trajectory_close it. */
io_status io_trajectory_open(const char *path, const io_trajectory_options *options,
                             io_trajectory **out, io_error *error);

/** Get the next frame of those chosen. Returns IO_CANCELLED soon after watch asked for it, also
 *  within a frame. After a failure only io_trajectory_close is left.
 *  @param[out] frame  NULL after the last frame */
io_status io_trajectory_next(io_trajectory *trajectory, const io_frame **frame, io_error *error);

/** Frames that io_trajectory_next will give in all; -1 when that is not known before the end. */
int64_t io_trajectory_frames(const io_trajectory *trajectory);

/** What it is: "LAMMPS dump", "XTC, by chemfiles 0.10.4". */
const char *io_trajectory_description(const io_trajectory *trajectory);

/** Stop reading and free all. NULL is fine. */
void io_trajectory_close(io_trajectory *trajectory);

#endif
