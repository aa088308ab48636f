/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of a reader of trajectories, and the functions that readers share. A reader opens a
 * file, moves to a frame, and reads it. A reader that cannot jump to any frame is asked for frames
 * of increasing index only.
 */
#ifndef KITH_IO_FRAMES_H
#define KITH_IO_FRAMES_H

#include "core/io_internal.h"
#include "trajectory.h"

/* ------------------------------------------------------------------------------------ labels */

/** Most names of species, and slots of the hash table: at most a quarter of them are used, so that
 *  probing is short. */
enum { IO_MOST_LABELS = 4096, IO_LABEL_SLOTS = 4 * IO_MOST_LABELS };

/** Names of species, and their numbers: a hash table. Names are only appended and never moved, so
 *  that another thread may read those that it has been given. */
typedef struct io_labels {
    int n;                        /* number of names */
    char (*name)[IO_NAME_LENGTH]; /* names by number [IO_MOST_LABELS] */
    int16_t *slot; /* hash table [IO_LABEL_SLOTS] of numbers + 1; 0: the slot is free */
} io_labels;

/** Allocate an empty table. Close with io__labels_close, also on failure. */
io_status io__labels_open(io_file *file, io_labels *labels);
void io__labels_close(io_labels *labels);

/** Find the number of a name. @return false: it is new */
bool io__labels_find(const io_labels *labels, io_token name, int32_t *number);

/** Find the number of a name; a new name gets the next number. IO_LIMIT: too many names. */
io_status io__labels_number(io_file *file, io_labels *labels, io_token name, int32_t *number);

/* ------------------------------------------------------------------------------------ frames */

typedef struct io_frames_format io_frames_format;

/** A trajectory that is open to be read. */
typedef struct io_frames {
    const io_frames_format *format;       /* reader of the format */
    io_format file_format;                /* format of the file */
    io_file *file;                        /* the file; borrowed */
    const io_trajectory_options *options; /* never NULL; options->read equals file->options */
    io_labels labels;                     /* names of the species so far */
    bool single;               /* frames are read by single_frame.c, in parts where io_read reads
                                  the format so */
    int64_t count;             /* number of frames in the file; -1: not known before the end */
    int64_t next;              /* index of the frame to be read next */
    unsigned present;          /* fields that the last frame has in the file: IO_VELOCITIES | ... */
    kith_precision native;     /* precision of the positions of the last frame in the file */
    bool started;              /* a frame was read */
    char description[128];     /* the format in words, set by open */
    char unit[IO_NAME_LENGTH]; /* unit of length, as in io_frame.unit; set by open or with the first
                                  frame */
    char system[16];           /* system of units, as in io_frame.system */
    char guessed[IO_GUESSED];  /* elements found from names, as in io_frame.guessed */
    void *state;               /* state of the reader */
} io_frames;

/** A reader of trajectories. */
struct io_frames_format {
    size_t
        state; /* size of io_frames.state, which is zeroed before open, freed after close [byte] */
    /** Open the file: set io_frames.description and, if it is known, io_frames.count. */
    io_status (*open)(io_frames *frames);
    /** Find out whether there is a frame `next`. NULL if open sets count: any frame can be read. */
    io_status (*peek)(io_frames *frames, bool *found);
    /** Move behind frame `next`, after peek has found it. NULL if peek is. */
    io_status (*skip)(io_frames *frames);
    /** Read frame `next` into arrays of io__frame_alloc or io__frame_adopt, and move behind it.
     *  io_frames.next is not changed. */
    io_status (*read)(io_frames *frames, io_frame *out);
    /** List the fields of the last frame. NULL: the fields in `present` are listed. */
    void (*describe)(const io_frames *frames, io_summary *out);
    /** Append what the file has beside the fields of a frame to a summary. NULL: nothing, or
     *  `describe` is set. @param n  number of particles of frame 0 */
    void (*list_others)(const io_frames *frames, int64_t n, io_summary *out);
    /** For formats with an atom in each line (io_rows): read what precedes the atoms of a frame.
     *  @param line  the first line of the frame */
    io_status (*head)(io_frames *frames, char *line);
    void (*close)(io_frames *frames); /* free what open made, also after it failed; may be NULL */
    bool calling_thread; /* must run in the calling thread, not in one that reads ahead */
    bool text;           /* numbers are text, which has no precision */
    bool selects;        /* read applies options->read.species itself */
};

extern const io_frames_format io__frames_xyz, io__frames_lammps, io__frames_gsd, io__frames_hdf5,
    io__frames_single, io__frames_chemfiles;

/** Open a file of this format. Close with io__frames_close, also on failure. */
io_status io__frames_open(io_frames *frames, io_file *file, io_format format,
                          const io_trajectory_options *options);
void io__frames_close(io_frames *frames);

/** Read frame `index`, which is not before `next`.
 *  @param[out] found  false: the file has fewer frames */
io_status io__frames_read(io_frames *frames, int64_t index, io_frame *out, bool *found);

/** Count the frames, reading the file if need be. */
io_status io__frames_count(const io_frames *frames, int64_t *n);

/** Allocate n particles with the fields that are wanted and are `present`. Memory of the last frame
 *  is used again if it fits. Box, time, step and bonds are cleared. */
io_status io__frame_alloc(io_frames *frames, io_frame *out, int64_t n, kith_precision native,
                          unsigned present);

/** Free the arrays of a frame, give it these particles, and allocate species and, if they are
 *  wanted and `present`, forces, molecules and weights.
 *  @param particles  owned by the frame afterwards, also on failure */
io_status io__frame_adopt(const io_frames *frames, io_frame *out, io_particles particles,
                          unsigned present);

/** Allocate n bonds. */
io_status io__frame_alloc_bonds(const io_frames *frames, io_frame *out, int64_t n);

/** Free the arrays of a frame and zero it. */
void io__frame_free(io_frame *frame);

/** Turn the name of a unit of length in a file into that of io_frame.unit: "Angstrom" becomes
 *  "A". */
void io__frames_unit(const char *name, char out[IO_NAME_LENGTH]);

/** Set the unit of length from the name of a system of units of LAMMPS, "lj" or "real":
 *  https://docs.lammps.org/units.html. A system that is not known has no unit. */
void io__frames_system(io_frames *frames, const char *name);

/** Give all atoms of a frame one species, whose name is empty. */
io_status io__frame_unnamed(io_frames *frames, io_frame *out);

/** Read one frame, for io_read of formats that are read as trajectories alone. */
io_status io__frames_read_one(io_file *file, io_format format, io_particles *out);

/** Describe a trajectory, for io_inspect of formats that are read as trajectories alone. */
io_status io__frames_inspect(io_file *file, io_format format, io_summary *out);

/* ------------------------------------------------------------------------------- chemfiles */

/** A format that the library chemfiles reads. */
typedef struct io_chemfiles_kind {
    const char *name;   /* name of the format in messages */
    const char *format; /* name of the format in chemfiles; "": chemfiles finds it by the path */
    bool nameless;      /* atoms have no names in this format */
    bool packed;        /* the file is compressed */
} io_chemfiles_kind;

/** Find the format of a file that chemfiles reads.
 *  @param head  [size] the first bytes of the file, and a 0
 *  @return NULL if chemfiles does not read it */
const io_chemfiles_kind *io__chemfiles_kind(const char *head, int64_t size);

/* -------------------------------------------------------------------------- atoms in lines */

enum { IO_MOST_COLUMNS = 256 }; /* columns of a line that can be read */

/** The meaning of a column of the line of an atom. A vector has three roles: x, y and z. */
typedef enum io_role {
    IO_ROLE_NONE,                            /* the column is not read */
    IO_ROLE_LABEL,                           /* name of the species */
    IO_ROLE_ID,                              /* id of the atom */
    IO_ROLE_MOLECULE,                        /* number of the molecule */
    IO_ROLE_WEIGHT,                          /* weight of the atom */
    IO_ROLE_POSITION,                        /* x of the position; y and z follow */
    IO_ROLE_VELOCITY = IO_ROLE_POSITION + 3, /* x of the velocity; y and z follow */
    IO_ROLE_FORCE = IO_ROLE_VELOCITY + 3,    /* x of the force; y and z follow */
    IO_ROLE_END = IO_ROLE_FORCE + 3          /* number of roles */
} io_role;

/** The roles of the columns of a frame. */
typedef struct io_roles {
    int n;                               /* number of columns up to the last that is read */
    unsigned char role[IO_MOST_COLUMNS]; /* io_role of each column */
    int beyond; /* a column, >= IO_MOST_COLUMNS, that was given a role but has no element of
                   `role`; 0: none */
} io_roles;

/** The head of a frame: all that precedes its atoms. */
typedef struct io_rows_head {
    int64_t n;        /* number of atoms */
    int64_t step;     /* step of the simulation */
    double time;      /* time of the simulation */
    bool has_box;     /* the head has a box */
    bool has_time;    /* the head has a time */
    bool has_step;    /* the head has a step */
    kith_box box;     /* the box; open space if there is none */
    io_roles roles;   /* meaning of the columns */
    io_things things; /* obstacles and attractors of a flock */
} io_rows_head;

/** The first member of the state of a reader whose format has one line for each atom. The `head` of
 *  the reader fills io_rows.head, which is zeroed before and has open space. */
typedef struct io_rows {
    io_lines lines;    /* lines of the file */
    io_rows_head head; /* head of frame `next`, if peeked and found */
    bool peeked;       /* the head of frame `next` was read */
    bool found;        /* there is a frame `next`, if peeked */
} io_rows;

/* The functions peek, skip, read and close of io_frames_format for a reader with io_rows. */
io_status io__rows_peek(io_frames *frames, bool *found);
io_status io__rows_skip(io_frames *frames);
io_status io__rows_read(io_frames *frames, io_frame *out);
void io__rows_close(io_frames *frames);

/** Give a column a role. io__roles_check refuses columns from IO_MOST_COLUMNS on. */
void io__roles_add(io_roles *roles, int column, int role);

/** Give a column the role of the weights. IO_INVALID: the column has another role. */
io_status io__roles_add_weight(const io_lines *lines, io_roles *roles, int column);

/** Return IO_LIMIT if a column from IO_MOST_COLUMNS on was given a role. */
io_status io__roles_check(const io_lines *lines, const io_roles *roles);

/** The fields all of whose columns are there, for io__frame_alloc. */
unsigned io__roles_fields(const io_roles *roles);

/** Return IO_TRUNCATED if the rest of the file is too short for n atoms. */
io_status io__lines_check_atoms(const io_lines *lines, int64_t n);

/** Parse a number of atoms, of digits alone. @param what  what was expected, for the message */
io_status io__lines_count(const io_lines *lines, const char *text, const char *what, int64_t *out);

#endif
