/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trajectories of any length, read frame by frame: XYZ and extended XYZ, LAMMPS dump, GSD, HDF5
 * (H5MD, and arrays of shape (frames, n, 3)), .npy; through the library chemfiles, which is loaded
 * at run time, XTC, TRR, DCD, AMBER NetCDF, GRO, PDB, CIF; and each format of one frame that
 * io_read reads.
 *
 *     io_trajectory *t;
 *     const io_frame *frame;
 *     io_status status = io_trajectory_open(path, &options, &t, &error);
 *     while (status == IO_OK && (status = io_trajectory_next(t, &frame, &error)) == IO_OK && frame)
 *         use(frame);
 *     io_trajectory_close(t);
 *
 * THREADS. Calls on one trajectory must not overlap; different trajectories are independent. While
 * the caller uses a frame, a thread of the trajectory reads ahead: two frames are in memory, eight
 * where the first has at most 20,000 particles, 32 where it has at most 5,000.
 * HDF5 files are read by the calling thread, because the HDF5 library is not thread-safe.
 */
#ifndef KITH_IO_TRAJECTORY_H
#define KITH_IO_TRAJECTORY_H

#include "io.h"
#include "things.h"

typedef struct io_trajectory io_trajectory;

/** Fields that frames may have beside IO_VELOCITIES and IO_IDS: bits of io_read_options.fields. */
enum { IO_FORCES = 1 << 16, IO_MOLECULES = 1 << 17, IO_BONDS = 1 << 18, IO_WEIGHTS = 1 << 19 };

/** Which word about an atom is its species. */
typedef enum io_label {
    IO_LABEL_ANY,     /**< The element where the file has it, else the type, else the name. */
    IO_LABEL_ELEMENT, /**< The element: a known symbol, or "virtual" for sites of a force field that
                           are no atoms. Files with other species are refused. */
    IO_LABEL_TYPE,    /**< The type of the atom in the force field: "1", "CT". */
    IO_LABEL_NAME     /**< The name of the atom in its molecule: "OW", "HW1", "CA". */
} io_label;

/** What to read. Zeros are the defaults. */
typedef struct io_trajectory_options {
    io_read_options read; /**< Options of io_read, except frame. needed: fields that every frame
                               must have. watch is called from io_trajectory_next alone. */
    const char *frames;   /**< Frames to read: "5", "a:b" or "a:b:step", as Python slices; NULL:
                              all. Negative numbers count from the end; to count the frames, some
                              formats read the file an additional time. The text must stay until
                              the trajectory is closed. */
    io_label label;       /**< Which word about an atom is its species. */
    const char *weights; /**< Name of the number that is the weight of a particle, for IO_WEIGHTS: a
                               column (LAMMPS, extended XYZ), a dataset (H5MD), "mass" (snapshots),
                               "mass" or "charge" (chemfiles), "mass", "charge" or "diameter" (GSD);
                               NULL: none. */
    const char
        *topology;   /**< Path of a PDB or GRO file that names the atoms of a file without names
                               (XTC, DCD, ...), read by chemfiles; NULL: none. */
    bool boxes_only; /**< Read the box, dimensions, time and step of each frame, and no
                               particles: n is 0. Fast where a format can skip its particles. */
} io_trajectory_options;

enum { IO_GUESSED = 200 }; /* size of io_frame.guessed [byte] */

/** Species of a site of a force field that is no atom (a charge site of a water model, a lone
 *  pair), where species are elements. */
#define IO_VIRTUAL_SITE "virtual"

/** One frame. The trajectory owns all arrays; they are valid until its next call. */
typedef struct io_frame {
    io_particles
        particles; /**< Positions, velocities, ids, box and time. n may change from frame to
                                 frame. An axis of the box of length 0 is open; if all are, there is
                                 no box. */
    int64_t index; /**< Index of the frame in the file, from 0. */
    bool has_step; /**< The file has the step. */
    int64_t step;  /**< Step of the simulation. */
    /** Unit of positions and box: "A", "nm", "sigma", "kpc/h", from the file or from the definition
     *  of its format; "": not known. */
    char unit[IO_NAME_LENGTH];
    char guessed[IO_GUESSED]; /**< Elements that follow from names of atoms, for IO_LABEL_ELEMENT:
                                   "OW=O, CA=C", as many as fit; "": none. */
    char system[16];  /**< System of units of a LAMMPS dump: "lj", "real", ...; "": not known. */
    int32_t *species; /**< Species [n]: indices into names. */
    int n_names;      /**< Number of names. It grows from frame to frame; indices stay valid. */
    char (*names)[IO_NAME_LENGTH]; /**< Names of species [n_names]; "": the file has no species. */
    void *force;       /**< Forces [n][3], precision of the particles; NULL: not read. */
    int32_t *molecule; /**< Number of the molecule (LAMMPS) or residue [n], -1: in none; NULL: not
                            read. */
    double *weight;    /**< Weights [n], finite; NULL: not read. */
    int64_t n_bonds;   /**< Number of bonds. */
    int32_t *bond;     /**< Bonds [n_bonds][2]: indices of two particles; NULL: not read. */
    int64_t room;      /**< Particles that the arrays have room for; for the trajectory alone. */
    unsigned fields;   /**< Fields that have arrays: bits; for the trajectory alone. */
    io_things things;  /**< Obstacles and attractors of a flock, from its recording. */
} io_frame;

/** Open a trajectory, and begin to read its first frame.
 *  @param[out] out  io_trajectory_close it */
io_status io_trajectory_open(const char *path, const io_trajectory_options *options,
                             io_trajectory **out, io_error *error);

/** Get the next of the chosen frames. Returns IO_CANCELLED soon after watch returns
 *  nonzero, also within a frame. After a failure, io_trajectory_close is the only call allowed.
 *  @param[out] frame  valid until the next call; NULL after the last frame */
io_status io_trajectory_next(io_trajectory *trajectory, const io_frame **frame, io_error *error);

/** Number of frames that io_trajectory_next returns in all; -1: not known before the end. */
int64_t io_trajectory_frames(const io_trajectory *trajectory);

/** The format in words: "LAMMPS dump", "XTC, by chemfiles 0.10.4". */
const char *io_trajectory_description(const io_trajectory *trajectory);

/** Return true when the only frame is read in the parts that options.read asks for: it then has the
 *  particles of one part. */
bool io_trajectory_in_parts(const io_trajectory *trajectory);

/** Name of the species of a type in a frame of a snapshot: "gas".
 *  @param[out] name  the name */
void io_type_species(uint8_t type, char name[IO_NAME_LENGTH]);

/** Stop the thread that reads, and free the trajectory. NULL is allowed. */
void io_trajectory_close(io_trajectory *trajectory);

#endif
