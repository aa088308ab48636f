/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Particle files in, results out. One format per file; a format is found by content, never by name.
 * Needs only kith.h. Nothing here prints, exits or touches signal handlers.
 */
#ifndef KITH_IO_H
#define KITH_IO_H

#include <kith.h>
#include <stdbool.h>

/** What a call returns; io_error.text has the sentence: file, field, value, what was expected. */
typedef enum io_status {
    IO_OK = 0,
    IO_SYSTEM = -1,      /**< the system said no: not found, permission, disk full, ... */
    IO_FORMAT = -2,      /**< not a file we know, or malformed */
    IO_TRUNCATED = -3,   /**< the file ends before its header says */
    IO_INVALID = -4,     /**< the options make no sense for this file */
    IO_LIMIT = -5,       /**< more particles than 2^31 - 1, or a size beyond reason */
    IO_NO_MEMORY = -6,   /**< memory could not be had */
    IO_CANCELLED = -7,   /**< the watch callback asked to stop */
    IO_UNSUPPORTED = -8, /**< known, but not offered in this build (HDF5 left out) */
    IO_MISSING = -9      /**< a field that was needed is not in the file */
} io_status;

typedef struct io_error {
    io_status status;
    char text[1024];
} io_error;

typedef enum io_format {
    IO_UNKNOWN,
    IO_NPY,
    IO_HDF5,
    IO_TIPSY,
    IO_TEXT,
    IO_XYZ,
    IO_GADGET,   /**< read only, as those below */
    IO_LAMMPS,   /**< dump, text */
    IO_GSD,      /**< of HOOMD */
    IO_CHEMFILES /**< what chemfiles reads */
} io_format;

enum { IO_MAX_SPECIES = 64, IO_NAME_LENGTH = 64, IO_MOST_TYPES = 32 };

/** What particles may have beside positions: bits of io_read_options.fields and .needed. */
enum {
    IO_MASSES = 1 << 0,
    IO_VELOCITIES = 1 << 1,
    IO_IDS = 1 << 2,
    IO_TYPES = 1 << 3,
    IO_POTENTIALS = 1 << 4,
    IO_DENSITIES = 1 << 5
};

/** The universe a snapshot is of. Not known: nothing is comoving, and the numbers are 0. */
typedef struct io_cosmology {
    bool known;
    double a;            /**< scale factor, > 0 */
    double redshift;     /**< 1 / a - 1 */
    double h;            /**< Hubble constant today / (100 km/s/Mpc), > 0 */
    double omega_m;      /**< density of matter today / critical density, > 0 */
    double omega_lambda; /**< of the cosmological constant */
    double omega_b;      /**< of baryons, part of omega_m; 0: the file does not say */
} io_cosmology;

typedef enum io_units_source {
    IO_UNITS_NONE,  /**< nobody says; lengths, masses and velocities below are 0 */
    IO_UNITS_USUAL, /**< the file does not say, but files of its format nearly always have these */
    IO_UNITS_FILE   /**< the file says */
} io_units_source;

/** What the numbers of a file are in. A length of x means x length h^length_h centimetres, comoving
 *  where the cosmology is known; a mass of m means m mass h^mass_h grams. */
typedef struct io_units {
    io_units_source source;
    double length;   /**< [cm] */
    double mass;     /**< [g] */
    double velocity; /**< [cm/s] */
    double length_h; /**< exponent of h: -1 in Gadget, Gadget-4 and AREPO, 0 in SWIFT */
    double mass_h;   /**< likewise */
} io_units;

/** Names of units: "kpc/h", "1e10 Msun/h", "km/s", else "3.1e+21 cm"; "" when nobody says. */
typedef struct io_unit_name {
    char length[IO_NAME_LENGTH], mass[IO_NAME_LENGTH], velocity[IO_NAME_LENGTH];
} io_unit_name;

void io_unit_names(const io_units *units, io_unit_name *out);

/** Read a list of types of a snapshot, by number or name as io_read_options.species has them:
 *  "dark,4". @return false when a word names none. */
bool io_types_parse(const char *list, bool out[IO_MOST_TYPES]);

/** What a type of a snapshot usually is: "gas", "dark matter", ...; "other". */
const char *io_type_name(int type);

/** Particles read from a file. Zero it first; io_particles_free frees it.
 *
 *  Snapshots (tipsy, Gadget, HDF5 with PartType groups) are in order of type, and within a type in
 *  order of the files of the snapshot and of the particles in each file; so are their arrays. Other
 *  files are in their own order. An array is NULL unless it was asked for and every particle read
 *  has the field. Arrays are 64-byte aligned. */
typedef struct io_particles {
    int64_t n;
    int dim;                  /**< 3; 2 when the file has two coordinates (z is then 0) */
    kith_precision precision; /**< of all arrays of reals: that of the positions in the file */
    void *pos;                /**< [n][3] [units.length]; comoving where the cosmology is known */
    void *mass;               /**< [n] [units.mass] */
    void *velocity;           /**< [n][3] [units.velocity]; peculiar where the cosmology is known:
                                   Gadget's, stored over sqrt(a), are multiplied by it; tipsy's
                                   are as in the file */
    int64_t *id;              /**< [n]; ids of 2^63 and more keep their 64 bits: cast to uint64_t */
    uint8_t *type;            /**< [n]; 0 gas, 1 dark matter, 2 disk or coarse dark matter, 3 bulge
                                   or sinks, 4 stars, 5 black holes, 6 neutrinos */
    void *potential;          /**< [n] as in the file */
    void *density;            /**< [n] as in the file */
    unsigned partial;         /**< bits of IO_POTENTIALS and IO_DENSITIES: asked for, and only some
                                   types have it, so that its array is NULL. Masses, velocities and
                                   ids that only some types have are the error IO_MISSING */
    int64_t in_file[IO_MOST_TYPES];     /**< particles of each type in the file, read or not; all 0:
                                         the format has no types */
    bool has_box;                       /**< the file says its box */
    kith_box box;                       /**< that box; open space otherwise */
    int64_t bytes;                      /**< of all files read */
    bool has_time;                      /**< the file says its time */
    double time;                        /**< as in the file; see cosmology.a for the scale factor */
    double mass_of_type[IO_MOST_TYPES]; /**< > 0: of every particle of the type; 0: they differ */
    io_cosmology cosmology;
    io_units units;
} io_particles;

/** What to read. Zero it: everything by default. */
typedef struct io_read_options {
    const char *dataset;      /**< HDF5: name of the dataset, NULL: found by convention */
    const char *columns;      /**< text: "0,1,2" or header names "x,y,z"; NULL: those named x, y, z
                                   if the header has them, else the first three */
    const char *species;      /**< NULL: all. Snapshots: numbers of types, "1", or their names,
                                   "PartType1", "gas", "dark", "disk", "bulge", "star", "bh",
                                   "neutrino"; XYZ: elements. With commas: "dark,gas". One that no
                                   particle is of gives IO_INVALID */
    unsigned fields;          /**< IO_MASSES | ...: read these where the file has them */
    unsigned needed;          /**< read these, and fail with IO_MISSING where it has not */
    kith_precision precision; /**< convert to this; 0: as in the file */
    int64_t frame;            /**< of a trajectory: which frame, from 0 */
    kith_watch_fn watch;      /**< progress in bytes, at most every 50 ms; may be NULL */
    void *user;
} io_read_options;

/** Read a file's particles. A snapshot in many files is read whole, whichever of its files is named
 *  ("snap_005.3.hdf5"); also by the name without number ("snap_005.hdf5", "snap_005") and by the
 *  folder that holds it and no other.
 *  @param[out] out  valid only on IO_OK. */
io_status io_read(const char *path, const io_read_options *options, io_particles *out,
                  io_error *error);
void io_particles_free(io_particles *particles);

/** Number k of an array of reals. */
static inline double io_real(const void *reals, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)reals)[k] : ((const double *)reals)[k];
}

/** Set it, rounded to the precision. */
static inline void io_put_real(void *reals, int64_t k, kith_precision precision, double value)
{
    if (precision == KITH_FLOAT) {
        ((float *)reals)[k] = (float)value;
    } else {
        ((double *)reals)[k] = value;
    }
}

/** Vectors of one length, read from a file. Zero it first; io_vectors_free frees it. */
typedef struct io_vectors {
    int64_t n, dim;
    int size;     /**< bytes of a number: KITH_FLOAT, KITH_DOUBLE, or 1: whole bytes, as they are */
    void *values; /**< [n][dim] */
    int64_t bytes;         /**< of the file */
    char description[256]; /**< "NumPy array, <f4, row order" */
} io_vectors;

/** Read vectors: the rows of a NumPy array or HDF5 dataset of two dimensions, of any type of real
 *  numbers, or the lines of a text. HDF5: options->dataset, or the only such dataset at the top.
 *  @param options  dataset, precision and watch count. Precision 0: float where that holds every
 *                  number of the file's type
 *  @param bytes    only arrays of unsigned bytes are read, and kept as they are
 *  @param[out] out valid only on IO_OK */
io_status io_read_vectors(const char *path, const io_read_options *options, bool bytes,
                          io_vectors *out, io_error *error);
void io_vectors_free(io_vectors *vectors);

/** Read a number for each of n particles: a NumPy array of one dimension, or a text of a number a
 *  line. IO_INVALID when there are more or fewer, IO_FORMAT when one is not finite.
 *  @param[out] out  [n] */
io_status io_read_numbers(const char *path, int64_t n, double *out, io_error *error);

/** What is in a file, without reading all of it where the format allows. */
typedef struct io_summary {
    io_format format;
    char description[256];    /**< "tipsy, standard (big-endian), 32-byte header" */
    int64_t bytes;            /**< file size; of all files of a snapshot */
    int files;                /**< 1; more for a snapshot in many */
    int64_t n;                /**< particles (or rows) of the first frame */
    int64_t frames;           /**< 1 for snapshots */
    kith_precision precision; /**< of the coordinates in the file; 0 for text */
    bool has_box, has_time;
    kith_box box;
    double time;
    io_cosmology cosmology;
    io_units units;
    char unit[IO_NAME_LENGTH]; /**< of a trajectory's lengths (io_frame.unit); "": not known */
    int n_species;
    struct {
        char name[IO_NAME_LENGTH];
        int64_t n;
        double mass; /**< > 0: of each particle; 0: they differ, or the file does not say */
    } species[IO_MAX_SPECIES];
    int n_fields; /**< datasets of an HDF5 file, columns of text, properties of XYZ */
    struct {
        char name[IO_NAME_LENGTH], type[IO_NAME_LENGTH], shape[IO_NAME_LENGTH];
    } fields[IO_MAX_SPECIES];
} io_summary;

io_status io_inspect(const char *path, io_summary *out, io_error *error);

/** Whether reading `path` reads the existing file `other`: as the file that the name of a snapshot
 *  or of a folder means, or as one of the files of a snapshot in many. */
bool io_snapshot_holds(const char *path, const char *other);
const char *io_format_name(io_format format);

/** A list being written, block by block, beside its final name; nothing of that name exists or
 *  changes until io_pairs_commit. */
typedef struct io_pairs_writer io_pairs_writer;

/** What is written for each pair. */
typedef struct io_pairs_layout {
    io_format format;         /**< IO_NPY, IO_HDF5 or IO_TEXT; IO_UNKNOWN: by the path's ending */
    unsigned extras;          /**< KITH_DISTANCES | ... */
    kith_precision precision; /**< of distances and vectors */
    const char *command;      /**< the command line, kept in HDF5 attributes and text headers */
    double cutoff;
    int64_t n_particles;
} io_pairs_layout;

/** Start. .npy: a structured array of i, j[, distance][, vector][, shift]; HDF5: one dataset each;
 *  text: one line each with a header, and then "-" is standard output. */
io_status io_pairs_open(const char *path, const io_pairs_layout *layout, io_pairs_writer **out,
                        io_error *error);
/** Append pairs->n pairs of layout KITH_IJ. */
io_status io_pairs_write(io_pairs_writer *writer, const kith_pairs *pairs, io_error *error);
/** Finish: flush to disk and rename into place. Frees the writer, also on failure. */
io_status io_pairs_commit(io_pairs_writer *writer, io_error *error);
/** Throw away what was written. Frees the writer. NULL is fine. */
void io_pairs_abort(io_pairs_writer *writer);

/** Write particles: IO_NPY [n][3], IO_TIPSY (standard, dark), IO_HDF5 (/PartType1/Coordinates),
 *  IO_TEXT or IO_XYZ; atomically. The box is kept where the format has a place for it: any in XYZ,
 *  in HDF5 one that is periodic, upright and begins at 0. Of the other arrays, velocities are kept,
 *  in HDF5 and tipsy. */
io_status io_write_particles(const char *path, io_format format, const io_particles *particles,
                             io_error *error);

/** A column of a table: whole numbers are written as such. */
typedef struct io_table_column {
    char name[3 * IO_NAME_LENGTH];
    const double *value; /**< [rows] */
    bool whole;
} io_table_column;

/** Write columns as a NumPy structured array; atomically. Letters and digits of the names are kept,
 *  all else becomes "_". */
io_status io_write_table(const char *path, const io_table_column *columns, int n, int64_t rows,
                         io_error *error);

/** A matrix being written row by row as a NumPy array, beside its final name until it is committed.
 */
typedef struct io_matrix io_matrix;

/** Start. @param precision  of the numbers in the file */
io_status io_matrix_open(const char *path, int64_t rows, int64_t columns, kith_precision precision,
                         io_matrix **out, io_error *error);
/** Append rows. @param values  [rows][columns] */
io_status io_matrix_write(io_matrix *matrix, const double *values, int64_t rows, io_error *error);
/** Finish: flush to disk and rename into place. Frees the matrix, also on failure. */
io_status io_matrix_commit(io_matrix *matrix, io_error *error);
/** Throw away what was written. Frees the matrix. NULL is fine. */
void io_matrix_abort(io_matrix *matrix);

/** Write a file of these bytes; atomically. */
io_status io_write_bytes(const char *path, const void *data, int64_t size, io_error *error);

/** The same for a file that one process writes again and again. It is written as path.part first,
 *  where the next process finds what a killed one left, and uses it. */
io_status io_rewrite_bytes(const char *path, const void *data, int64_t size, io_error *error);

/** A file that another program writes. */
typedef struct io_output io_output;
/** Create an empty file beside path, with the mode of the one it will replace. */
io_status io_lend(const char *path, io_output **out, io_error *error);
/** The temporary name under which the other program writes the file. */
const char *io_lent_name(const io_output *output);
/** The other program has ended: flush the file to disk and rename it into place. Frees output. */
io_status io_lent_commit(io_output *output, io_error *error);
/** Discard the output. With keep, leave the partial file under its temporary name. Frees output.
 *  NULL is allowed. */
void io_lent_abort(io_output *output, bool keep);

/** Fail if path cannot be written: if the file, or the folder where it would be created, denies
 *  permission. Nothing is created. */
io_status io_check_output(const char *path, io_error *error);

/** The open file descriptor of this process that path refers to, such as 1 for /dev/stdout; -1 if
 *  path refers to none. */
int io_open_descriptor(const char *path);

/** Remove the files that are being written, which have no name yet, and the files of locks. Safe in
 *  a handler of signals; the program must end then. */
void io_remove_parts(void);

/** Name and version of the HDF5 library that is used now. @return false: there is none. */
bool io_hdf5_version(char *out, int room);

#endif
