/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of particles are read into arrays, and results are written to files. The format of an input
 * is found by its content, never by its name. Includes kith.h alone. No function prints, exits, or
 * installs signal handlers.
 *
 * ERRORS. Every function that can fail returns an io_status and fills the caller's io_error.
 *
 * OUTPUTS are atomic, unless a function says otherwise: a regular file is written beside its name
 * and renamed when it is complete. A failure leaves the old file.
 */
#ifndef KITH_IO_H
#define KITH_IO_H

#include <kith.h>
#include <stdbool.h>

/** Result of a call. io_error.text holds the message: file, field, value, and what was expected. */
typedef enum io_status {
    IO_OK = 0,
    IO_SYSTEM = -1,      /**< A system call failed: no file, no permission, disk full, ... */
    IO_FORMAT = -2,      /**< The format of the file is not known, or the file is malformed. */
    IO_TRUNCATED = -3,   /**< The file is shorter than its header says. */
    IO_INVALID = -4,     /**< An option does not apply to this file, or has no valid value. */
    IO_LIMIT = -5,       /**< There are more than 2^31 - 1 particles, or a size overflows. */
    IO_NO_MEMORY = -6,   /**< Memory could not be allocated. */
    IO_CANCELLED = -7,   /**< The watch callback returned nonzero. */
    IO_UNSUPPORTED = -8, /**< The format is known, but this build or machine lacks its library. */
    IO_MISSING = -9      /**< A field that the options need is not in the file. */
} io_status;

/** Why a call failed. */
typedef struct io_error {
    io_status status; /**< The status that the call returned. */
    char text[1024];  /**< The message "path: sentence", without control characters. */
} io_error;

/** Format of a file. */
typedef enum io_format {
    IO_UNKNOWN,  /**< not known, or not chosen */
    IO_NPY,      /**< NumPy .npy */
    IO_HDF5,     /**< HDF5: snapshots of Gadget, SWIFT, ...; H5MD; any dataset of coordinates */
    IO_TIPSY,    /**< tipsy: snapshots of ChaNGa, Gasoline, PKDGRAV */
    IO_TEXT,     /**< columns of numbers, also CSV */
    IO_XYZ,      /**< XYZ and extended XYZ */
    IO_GADGET,   /**< Gadget-1 and Gadget-2 binary; io_write_particles writes none from here on */
    IO_LAMMPS,   /**< text dump of LAMMPS */
    IO_GSD,      /**< format of HOOMD */
    IO_CHEMFILES /**< any format that the library chemfiles reads */
} io_format;

/** Limits: species or fields of a summary; bytes of a name, with its final 0; types of particles of
 *  a snapshot. */
enum { IO_MAX_SPECIES = 64, IO_NAME_LENGTH = 64, IO_MOST_TYPES = 32 };

/** Fields that particles may have beside positions: bits of io_read_options.fields and .needed. */
enum {
    IO_MASSES = 1 << 0,
    IO_VELOCITIES = 1 << 1,
    IO_IDS = 1 << 2,
    IO_TYPES = 1 << 3,
    IO_POTENTIALS = 1 << 4,
    IO_DENSITIES = 1 << 5
};

/** Cosmology of a snapshot. */
typedef struct io_cosmology {
    bool known;          /**< The run is comoving. If false, the numbers below are 0. */
    double a;            /**< Scale factor, > 0. */
    double redshift;     /**< 1 / a - 1. */
    double h;            /**< Hubble constant today / (100 km/s/Mpc), > 0. */
    double omega_m;      /**< Density of matter today / critical density, > 0. */
    double omega_lambda; /**< Density of the cosmological constant / critical density. */
    double omega_b;      /**< Density of baryons today / critical density; 0: not in the file. */
} io_cosmology;

/** Where the units of a file come from. */
typedef enum io_units_source {
    IO_UNITS_NONE,  /**< The units are not known; length, mass and velocity of io_units are 0. */
    IO_UNITS_USUAL, /**< Not in the file: units of nearly all files of its format. */
    IO_UNITS_FILE   /**< The units are in the file. */
} io_units_source;

/** Units of the numbers of a file. A length x is x * length * h^length_h centimetres, comoving
 *  where the cosmology is known; a mass m is m * mass * h^mass_h grams. */
typedef struct io_units {
    io_units_source source; /**< Where the units come from. */
    double length;          /**< Unit of length [cm]. */
    double mass;            /**< Unit of mass [g]. */
    double velocity;        /**< Unit of velocity [cm/s]. */
    double length_h;        /**< Exponent of h in lengths: -1 in Gadget and AREPO, 0 in SWIFT. */
    double mass_h;          /**< Exponent of h in masses: -1 in Gadget and AREPO, 0 in SWIFT. */
} io_units;

/** Names of units; "" where the units are not known. */
typedef struct io_unit_name {
    char length[IO_NAME_LENGTH];   /**< Name of the unit of length: "kpc/h", else "3.1e+21 cm". */
    char mass[IO_NAME_LENGTH];     /**< Name of the unit of mass: "1e10 Msun/h", else "2e+43 g". */
    char velocity[IO_NAME_LENGTH]; /**< Name of the unit of velocity: "km/s", else "9e+04 cm/s". */
} io_unit_name;

/** Name the units. */
void io_unit_names(const io_units *units, io_unit_name *out);

/** Parse a list of types of a snapshot, by number or by name as in io_read_options.species:
 *  "dark,4".
 *  @param[out] out  [IO_MOST_TYPES]: whether the list has the type
 *  @return false if a word of the list names no type */
bool io_types_parse(const char *list, bool out[IO_MOST_TYPES]);

/** The usual meaning of a type of a snapshot: "gas", "dark matter", ..., or "other". */
const char *io_type_name(int type);

/** Particles read from a file. Zero it first; io_particles_free frees the arrays.
 *
 *  Particles of snapshots (tipsy, Gadget, HDF5 with PartType groups) are in order of type, within a
 *  type in order of the files of the snapshot, and within a file in its order. Particles of other
 *  files are in the order of the file. An array is NULL unless the options ask for its field and
 *  every particle that was read has it. Arrays are 64-byte aligned. */
typedef struct io_particles {
    int64_t n;                /**< Number of particles in the arrays. */
    int dim;                  /**< 3; 2 if the file has two coordinates: z is then 0. */
    kith_precision precision; /**< Type of all arrays of reals: that of the positions in the file,
                                   unless the options choose one. */
    void *pos;                /**< Positions [n][3] [units.length]; comoving where the cosmology is
                                   known. */
    void *mass;               /**< Masses [n] [units.mass]. */
    void *velocity;           /**< Velocities [n][3] [units.velocity]; peculiar where the cosmology
                                   is known: those of Gadget, which stores velocity / sqrt(a), are
                                   multiplied by sqrt(a); those of tipsy are as in the file. */
    int64_t *id;              /**< Ids [n]. Ids of 2^63 and more keep their 64 bits: cast to
                                   uint64_t. */
    uint8_t *type;            /**< Types [n]: 0 gas, 1 dark matter, 2 disk or coarse dark matter,
                                   3 bulge or sinks, 4 stars, 5 black holes, 6 neutrinos. */
    void *potential;          /**< Potentials [n], in the unit of the file. */
    void *density;            /**< Densities [n], in the unit of the file. */
    unsigned partial;         /**< Bits of IO_POTENTIALS and IO_DENSITIES: the field was asked for,
                                   but only some types have it, so that its array is NULL. Masses,
                                   velocities and ids that only some types have are the error
                                   IO_MISSING. */
    int64_t in_file[IO_MOST_TYPES]; /**< Number of particles of each type in the file, read or not;
                                       all 0 if the format has no types. */
    bool has_box;                   /**< The file has a box. */
    kith_box box;                   /**< The box of the file; open space if it has none. */
    int64_t bytes;                  /**< Size of all files that were read [byte]. */
    bool has_time;                  /**< The file has a time. */
    double time;                    /**< Time as in the file; cosmology.a is the scale factor. */
    double mass_of_type[IO_MOST_TYPES]; /**< Mass of every particle of a type [units.mass]; 0: the
                                           masses differ. */
    io_cosmology cosmology;             /**< Cosmology of the snapshot. */
    io_units units;                     /**< Units of positions, masses and velocities. */
    int64_t frames; /**< Number of frames in the file, of which io_read has read one; -1: more than
                         one, which were not counted; 0: the format has no frames. */
    int64_t all;    /**< Number of particles that the options choose, in all parts; n where the file
                         was not read in parts. */
    int64_t first;  /**< Index, among these, of the first particle in the arrays. */
    void *radius; /**< Radii [n] [units.length], as io_read_options.radii names them; comoving where
                         the cosmology is known. Not checked: may be negative or not finite. */
    char unit[IO_NAME_LENGTH]; /**< Unit of length of a frame, as io_frame.unit; "": not known, or
                                     that of `units`. */
} io_particles;

/** What to read. Zeros are the defaults. */
typedef struct io_read_options {
    const char *dataset;      /**< Name of the dataset of an HDF5 file; NULL: by convention. */
    const char *columns;      /**< Columns of a text with the coordinates, by index "0,1,2" or by
                                   name "x,y,z"; NULL: those named x, y, z if the header has them,
                                   else the first three. */
    const char *species;      /**< Species to read, separated by commas: "dark,gas"; NULL: all. Of
                                   snapshots: numbers of types, "1", or their names, "PartType1",
                                   "gas", "dark", "disk", "bulge", "star", "bh", "neutrino". Of
                                   XYZ: elements. A species without particles gives IO_INVALID. */
    unsigned fields;          /**< Bits IO_MASSES | ...: fields to read where the file has them. */
    unsigned needed;          /**< Bits IO_MASSES | ...: fields to read; IO_MISSING where the file
                                   lacks one. */
    kith_precision precision; /**< Type of the arrays of reals; 0: as in the file. */
    int64_t frame;            /**< Index of the frame of a trajectory, from 0. */
    kith_watch_fn watch; /**< Called with the bytes done and in all, at most every 50 ms; may be
                                   NULL. Nonzero stops the reading. */
    void *user;          /**< First argument of watch. */
    int64_t part;        /**< Index of the part to read, below parts. */
    int64_t parts;       /**< Number of parts: of the particles that would be read, in their order,
                              the parts have equal numbers, the first ones one more where they
                              differ. Only where io_reads_parts says so. 0: all are read. */
    const char *radii; /**< Name of the lengths to read as radii, one for each particle; NULL: none.
                              Snapshots in HDF5: a dataset of the group of each type,
                              "SmoothingLength", or of one type, "PartType0/SmoothingLength". Other
                              HDF5: a dataset beside the coordinates, or any path; H5MD: an element
                              beside the positions. Text: a column, by index or by name. XYZ,
                              LAMMPS, GSD: as io_trajectory_options.weights. Gadget: a block
                              of the gas, "HSML", of format 2. IO_MISSING where a
                              particle has none. Of io_read alone: trajectories ignore it. */
    bool columns_if_text; /**< Formats without columns ignore `columns`; else it is IO_INVALID. */
    int threads;          /**< Threads that decode the file; 0: as many as the process uses. */
} io_read_options;

/** Find out whether io_read can read a part of a file without the rest: of NumPy arrays, HDF5,
 *  Gadget and tipsy it can. Text, XYZ, dumps of LAMMPS, GSD and the formats of chemfiles are read
 *  whole.
 *  @param[out] out  false on failure, too */
io_status io_reads_parts(const char *path, const io_read_options *options, bool *out,
                         io_error *error);

/** Read the particles of a file. A snapshot in many files is read completely, whichever of its
 *  files the path names ("snap_005.3.hdf5"). The path may also be the name without number
 *  ("snap_005.hdf5", "snap_005") or the folder that holds this snapshot and no other.
 *  @param[out] out  valid only on IO_OK; io_particles_free it */
io_status io_read(const char *path, const io_read_options *options, io_particles *out,
                  io_error *error);

/** Free the arrays and zero the struct. NULL is allowed. */
void io_particles_free(io_particles *particles);

/** Load element k of an array of reals as a double. */
static inline double io_real(const void *reals, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)reals)[k] : ((const double *)reals)[k];
}

/** Store element k of an array of reals, rounded to the precision. */
static inline void io_put_real(void *reals, int64_t k, kith_precision precision, double value)
{
    if (precision == KITH_FLOAT) {
        ((float *)reals)[k] = (float)value;
    } else {
        ((double *)reals)[k] = value;
    }
}

/** Vectors of one length, read from a file. Zero it first; io_vectors_free frees the array. */
typedef struct io_vectors {
    int64_t n;   /**< Number of vectors. */
    int64_t dim; /**< Number of components of each vector. */
    int size;    /**< Size of a component [byte]: KITH_FLOAT, KITH_DOUBLE, or 1 (unsigned bytes). */
    void *values;          /**< Components [n][dim]. */
    int64_t bytes;         /**< Size of the file [byte]. */
    char description[256]; /**< Format and type: "NumPy array, <f4, row order". */
} io_vectors;

/** Read vectors: the rows of a NumPy array or of an HDF5 dataset of two dimensions, of any type of
 *  real numbers, or the lines of a text. In HDF5, options->dataset is read, else the only dataset
 *  of two dimensions in the root group.
 *  @param options  dataset, precision and watch are used. Precision 0 means float where a float
 *  holds every number of the file's type, else double
 *  @param bytes    read arrays of unsigned bytes alone, without conversion
 *  @param[out] out valid only on IO_OK; io_vectors_free it */
io_status io_read_vectors(const char *path, const io_read_options *options, bool bytes,
                          io_vectors *out, io_error *error);

/** Free the array and zero the struct. */
void io_vectors_free(io_vectors *vectors);

/** Read one number for each of n particles from a NumPy array of one dimension, or from a text with
 *  one number in each line.
 *  @param all       numbers that the file must have
 *  @param first     index of the first number to read
 *  @param n         numbers to read. A text is read whole
 *  @param[out] out  [n]
 *  @return IO_INVALID if there are more or fewer than `all` numbers, IO_FORMAT if one of those that
 *  are read is not finite */
io_status io_read_numbers(const char *path, int64_t all, int64_t first, int64_t n, double *out,
                          io_error *error);

/** Contents of a file. */
typedef struct io_summary {
    io_format format;      /**< Format of the file. */
    char description[256]; /**< Format in words: "tipsy, standard (big-endian), 32-byte header". */
    int64_t bytes;         /**< Size of the file, or of all files of a snapshot [byte]. */
    int files;             /**< Number of files of the snapshot; 1 for other files. */
    int64_t n;             /**< Number of particles, or rows, of the first frame. */
    int64_t frames;        /**< Number of frames; 1 for snapshots. */
    kith_precision precision;  /**< Type of the coordinates in the file; 0 for text. */
    bool has_box;              /**< The file has a box. */
    bool has_time;             /**< The file has a time. */
    kith_box box;              /**< Box of the first frame; open space if there is none. */
    double time;               /**< Time of the first frame, as in the file. */
    io_cosmology cosmology;    /**< Cosmology of a snapshot. */
    io_units units;            /**< Units of a snapshot. */
    char unit[IO_NAME_LENGTH]; /**< Unit of length of a trajectory (io_frame.unit of
                                     trajectories/trajectory.h); "": not known. */
    int n_species;             /**< Number of entries of species. */
    struct {
        char name[IO_NAME_LENGTH]; /**< Name of the species, or "PartType1". */
        int64_t n;                 /**< Number of its particles. */
        double mass;               /**< Mass of each particle [units.mass]; 0: the masses differ, or
                                        are not in the header. */
    } species[IO_MAX_SPECIES];     /**< Species, or types of a snapshot. */
    int n_fields;                  /**< Number of entries of fields. */
    struct {
        char name[IO_NAME_LENGTH];  /**< Name of the field. */
        char type[IO_NAME_LENGTH];  /**< Type of its numbers. */
        char shape[IO_NAME_LENGTH]; /**< Shape of its array: "(1000, 3)". */
    } fields[IO_MAX_SPECIES]; /**< Datasets of HDF5, columns of text, properties of XYZ, ... */
} io_summary;

/** Describe a file, without reading all of it where the format allows that.
 *  @param[out] out  valid only on IO_OK */
io_status io_inspect(const char *path, io_summary *out, io_error *error);

/** Return true when io_read(path) reads the existing file `other`. The path may be the name of a
 *  file, a snapshot or a folder; a snapshot in many files reads all of its files. */
bool io_snapshot_holds(const char *path, const char *other);

/** Name of a format: "NumPy". */
const char *io_format_name(io_format format);

/** A list of pairs, or of nearest neighbours, that is written block by block. */
typedef struct io_pairs_writer io_pairs_writer;

/** What is written for each pair. */
typedef struct io_pairs_layout {
    io_format format;         /**< IO_NPY, IO_HDF5, IO_TEXT; IO_UNKNOWN: by the path's ending. */
    unsigned extras;          /**< Bits KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS. */
    kith_precision precision; /**< Type of distances and vectors. */
    const char *command;      /**< Command line, written to HDF5 attributes and text headers. */
    double cutoff;       /**< Cutoff of the search, written beside the command line [length]. */
    const char *cutoffs; /**< Cutoffs by pairs of species as they were given, written in place of
                              `cutoff`; NULL: there is one for all pairs. */
    const char *radii;   /**< Names, rule and range of the radii, in words, written beside the
                              cutoff; NULL: there are none. */
    int64_t n_particles; /**< Number of particles, written beside the command line. */
    int64_t k;           /**< Neighbours of each particle, for io_nearest_write; 0: pairs. */
    bool (*stop)(void); /**< Called by io_nearest_write before each 256 lines of text, at least once
                              for each particle with neighbours; true ends it with IO_CANCELLED.
                              NULL: it is never ended. */
    int threads;        /**< Threads that format text; 0: as many as the process uses. */
} io_pairs_layout;

/** Open a list. Of pairs: .npy is a structured array of i, j[, distance][, vector][, shift]; HDF5
 *  has one dataset for each of these. Of nearest neighbours: .npy has one element for each
 *  particle, count, j[, distance][, vector][, shift], where count is a number and the others are
 *  arrays of k; HDF5 has datasets of shapes [n], [n][k] and [n][k][3]. Text: one line for each
 *  pair, with a header; the path "-" is standard output.
 *  @param[out] out  io_pairs_commit or io_pairs_abort it */
io_status io_pairs_open(const char *path, const io_pairs_layout *layout, io_pairs_writer **out,
                        io_error *error);

/** Append pairs->n pairs of layout KITH_IJ. */
io_status io_pairs_write(io_pairs_writer *writer, const kith_pairs *pairs, io_error *error);

/** Append the neighbours of the n particles from `first` on. Text gets no lines for the entries
 *  that a row lacks. @param nearest  in host memory, with the k of the layout */
io_status io_nearest_write(io_pairs_writer *writer, const kith_nearest *nearest, int64_t first,
                           int64_t n, io_error *error);

/** Flush the list to disk and rename it into place. Frees the writer, also on failure. */
io_status io_pairs_commit(io_pairs_writer *writer, io_error *error);

/** Discard the list. Frees the writer. NULL is allowed. */
void io_pairs_abort(io_pairs_writer *writer);

/** Write particles as IO_NPY [n][3], IO_TIPSY (standard, dark), IO_HDF5 (/PartType1/Coordinates),
 *  IO_TEXT or IO_XYZ. XYZ holds any box; HDF5 holds a box that is periodic, orthorhombic and begins
 *  at 0. Other boxes, and those of other formats, are not written. Of the other arrays, velocities
 *  are written in HDF5, tipsy and XYZ. */
io_status io_write_particles(const char *path, io_format format, const io_particles *particles,
                             io_error *error);

/** A column of a table. */
typedef struct io_table_column {
    char name[3 * IO_NAME_LENGTH]; /**< Name of the column. */
    const double *value;           /**< Numbers [rows]. */
    bool whole;                    /**< The numbers are whole, and are written as integers. */
} io_table_column;

/** Write columns as a NumPy structured array of doubles and 64-bit integers. Characters of the
 *  names other than letters and digits become "_".
 *  @param columns  [n] */
io_status io_write_table(const char *path, const io_table_column *columns, int n, int64_t rows,
                         io_error *error);

/** A matrix that is written row by row as a NumPy array. */
typedef struct io_matrix io_matrix;

/** Open a matrix of shape [rows][columns].
 *  @param precision  type of the numbers in the file
 *  @param[out] out   io_matrix_commit or io_matrix_abort it */
io_status io_matrix_open(const char *path, int64_t rows, int64_t columns, kith_precision precision,
                         io_matrix **out, io_error *error);

/** Append rows. @param values  [rows][columns] */
io_status io_matrix_write(io_matrix *matrix, const double *values, int64_t rows, io_error *error);

/** Flush the matrix to disk and rename it into place. Frees the matrix, also on failure. */
io_status io_matrix_commit(io_matrix *matrix, io_error *error);

/** Discard the matrix. Frees it. NULL is allowed. */
void io_matrix_abort(io_matrix *matrix);

/** Make the writes of the calling thread end early. Once `stop` returns true, a call that writes a
 *  file fails with IO_CANCELLED before the file is renamed: its name keeps what it held. It is
 *  called about every 4 MB, and while a file is flushed to disk. NULL: writes are completed. */
void io_stop_writes(bool (*stop)(void));

/** Write a file of `size` bytes. */
io_status io_write_bytes(const char *path, const void *data, int64_t size, io_error *error);

/** Write a file that one process writes again and again. It is written as path.part and renamed. A
 *  process that finds the path.part of a killed process overwrites it. */
io_status io_rewrite_bytes(const char *path, const void *data, int64_t size, io_error *error);

/** A file being written; in this header, one that another program writes. */
typedef struct io_output io_output;

/** Create an empty file beside path, which another program (ffmpeg, gnuplot) then writes. It has
 *  the mode of the file that it will replace.
 *  @param[out] out  io_lent_commit or io_lent_abort it */
io_status io_lend(const char *path, io_output **out, io_error *error);

/** The temporary path under which the other program writes the file. */
const char *io_lent_name(const io_output *output);

/** Flush the file to disk and rename it into place, after the other program has ended. Frees
 *  output, also on failure. */
io_status io_lent_commit(io_output *output, io_error *error);

/** Discard the output. With keep, the partial file stays under its temporary name. Frees output.
 *  NULL is allowed. */
void io_lent_abort(io_output *output, bool keep);

/** Fail if path cannot be written: if the file, or the folder where it would be created, denies
 *  permission. Nothing is created. */
io_status io_check_output(const char *path, io_error *error);

/** The open file descriptor of this process that a path refers to: 1 for /dev/stdout. -1: none. */
int io_open_descriptor(const char *path);

/** Remove the temporary files of all outputs, and the lock files (core/lock.h). Async-signal-safe.
 *  The program must end afterwards. */
void io_remove_parts(void);

/** Write name and version of the HDF5 library in use: "HDF5 1.10.8".
 *  @param[out] out  [room]
 *  @return false if this build has no HDF5 */
bool io_hdf5_version(char *out, int room);

#endif
