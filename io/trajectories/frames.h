/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the readers of trajectories share. A format opens a file, goes to a frame, and reads it.
 * Formats whose frames lie one behind the other are asked for rising frames only.
 */
#ifndef KITH_IO_FRAMES_H
#define KITH_IO_FRAMES_H

#include "core/io_internal.h"
#include "trajectory.h"

/* ------------------------------------------------------------------------------------ labels */

enum { IO_MOST_LABELS = 4096, IO_LABEL_SLOTS = 4 * IO_MOST_LABELS };

/** Names of species, each with a number that it keeps. Only ever grows, in place, so that another
 *  thread may read the names it was told of. */
typedef struct io_labels {
    int n;
    char (*name)[IO_NAME_LENGTH]; /* [IO_MOST_LABELS] */
    int16_t *slot;                /* [IO_LABEL_SLOTS]: by hash, a name's number + 1; 0: free */
} io_labels;

io_status io__labels_open(io_file *file, io_labels *labels);
void io__labels_close(io_labels *labels);

/** Find a name, or give it the next number. */
io_status io__labels_number(io_file *file, io_labels *labels, io_token name, int32_t *number);

/* ------------------------------------------------------------------------------------ frames */

typedef struct io_frames_format io_frames_format;

/** A trajectory as its format sees it. */
typedef struct io_frames {
    const io_frames_format *format;
    io_format file_format;
    io_file *file;
    const io_trajectory_options *options; /* never NULL; options->read are the file's */
    io_labels labels;
    int64_t count;             /* frames in the file; -1: only reading tells */
    int64_t next;              /* the frame to be read next */
    unsigned present;          /* fields that the frame read last has in the file */
    kith_precision native;     /* of its positions in the file */
    bool started;              /* a frame was read */
    char description[128];     /* set by open */
    char unit[IO_NAME_LENGTH]; /* of lengths as they are given out, see io_frame.unit; set when the
                                  file says it, at the latest with the first frame */
    char system[16];           /* see io_frame.system */
    char guessed[IO_GUESSED];  /* see io_frame.guessed */
    void *state;               /* the format's own */
} io_frames;

struct io_frames_format {
    size_t state; /* bytes of io_frames.state, zeros when it is opened; freed after close */
    /** Set description and, if known, count. */
    io_status (*open)(io_frames *frames);
    /** See whether there is a frame `next`. NULL where count is known: any frame can be read. */
    io_status (*peek)(io_frames *frames, bool *found);
    /** Be behind frame `next`, which was peeked at; NULL as peek. */
    io_status (*skip)(io_frames *frames);
    /** Read frame `next`, and be behind it. */
    io_status (*read)(io_frames *frames, io_frame *out);
    /** List the fields of the frame read last. NULL: those that are `present`. */
    void (*describe)(const io_frames *frames, io_summary *out);
    /** Of atoms in lines, see io_rows: read what stands before the atoms. */
    io_status (*head)(io_frames *frames, char *line);
    void (*close)(io_frames *frames); /* also when open failed; may be NULL */
    bool calling_thread;              /* to be used by no other */
    bool text;                        /* numbers have no precision of their own */
    bool selects;                     /* reads the species alone that the options name */
};

extern const io_frames_format io__frames_xyz, io__frames_lammps, io__frames_gsd, io__frames_hdf5,
    io__frames_single, io__frames_chemfiles;

/** Open a file of this format. Close with io__frames_close, also on failure. */
io_status io__frames_open(io_frames *frames, io_file *file, io_format format,
                          const io_trajectory_options *options);
void io__frames_close(io_frames *frames);

/** Read frame `index`, which is not before `next`. *found is false when the file has fewer. */
io_status io__frames_read(io_frames *frames, int64_t index, io_frame *out, bool *found);

/** Count the frames, reading the file if need be. */
io_status io__frames_count(const io_frames *frames, int64_t *n);

/** Make room for n particles and the fields of theirs that were asked for and are `present`. The
 *  frame has no box, time, step or bonds then. */
io_status io__frame_alloc(io_frames *frames, io_frame *out, int64_t n, kith_precision native,
                          unsigned present);
/** Make these the frame's particles, with room for their species and for those fields of a frame's
 *  own that were asked for and are `present`; frees what the frame held. */
io_status io__frame_adopt(const io_frames *frames, io_frame *out, io_particles particles,
                          unsigned present);
io_status io__frame_alloc_bonds(const io_frames *frames, io_frame *out, int64_t n);
void io__frame_free(io_frame *frame);

/** Name a unit of lengths by its name in a file: "Angstrom" and "angstrom" become "A". */
void io__frames_unit(const char *name, char out[IO_NAME_LENGTH]);

/** Set the unit of lengths by the name of a system of units of LAMMPS, such as "lj" or "real":
 *  https://docs.lammps.org/units.html. Those that are not known have none. */
void io__frames_system(io_frames *frames, const char *name);

/** Make all atoms of one species, without a name. */
io_status io__frame_unnamed(io_frames *frames, io_frame *out);

/** Keep the particles of the species that the options name. `check`: one of each must be there. */
io_status io__frame_select(io_frames *frames, io_frame *frame, bool check);

/** io_read and io_inspect for the formats that are read as frames alone. */
io_status io__frames_read_one(io_file *file, io_format format, io_particles *out);
io_status io__frames_inspect(io_file *file, io_format format, io_summary *out);

/* ------------------------------------------------------------------------------- chemfiles */

/** A format that is left to the library chemfiles. */
typedef struct io_chemfiles_kind {
    const char *name;
    const char *format; /* what chemfiles calls it; "": the file's name has to tell */
    bool nameless;      /* its atoms have no names */
    bool packed;
} io_chemfiles_kind;

/** What a file is that begins so, NUL-terminated; NULL when it is not for chemfiles. */
const io_chemfiles_kind *io__chemfiles_kind(const char *head, int64_t size);

/* -------------------------------------------------------------------------- atoms in lines */

enum { IO_MOST_COLUMNS = 256 };

/** What a column of an atom's line holds. */
typedef enum io_role {
    IO_ROLE_NONE,
    IO_ROLE_LABEL,
    IO_ROLE_ID,
    IO_ROLE_MOLECULE,
    IO_ROLE_WEIGHT,
    IO_ROLE_POSITION, /* and y, z */
    IO_ROLE_VELOCITY = IO_ROLE_POSITION + 3,
    IO_ROLE_FORCE = IO_ROLE_VELOCITY + 3,
    IO_ROLE_END = IO_ROLE_FORCE + 3
} io_role;

typedef struct io_roles {
    int n; /* up to the last that is wanted */
    unsigned char role[IO_MOST_COLUMNS];
} io_roles;

/** What stands before the atoms of a frame. */
typedef struct io_rows_head {
    int64_t n, step;
    double time;
    bool has_box, has_time, has_step;
    kith_box box;
    io_roles roles;
} io_rows_head;

/** The state of a format of atoms in lines, or its beginning. The format's own `head` reads that of
 *  a frame, open space and zeros before, from its first line on. */
typedef struct io_rows {
    io_lines lines;
    io_rows_head head; /* of the frame to be read next, once peeked at */
    bool peeked, found;
} io_rows;

io_status io__rows_peek(io_frames *frames, bool *found);
io_status io__rows_skip(io_frames *frames);
io_status io__rows_read(io_frames *frames, io_frame *out);
void io__rows_close(io_frames *frames);

/** Note that the column has a role. Columns beyond IO_MOST_COLUMNS are not wanted. */
void io__roles_add(io_roles *roles, int column, int role);

/** Note that the column has the weights, unless it has another role. */
io_status io__roles_add_weight(const io_lines *lines, io_roles *roles, int column);

/** Fields whose every column is there, as of io__frame_alloc. */
unsigned io__roles_fields(const io_roles *roles);

/** See that n atoms can follow in what is left of the file. */
io_status io__lines_check_atoms(const io_lines *lines, int64_t n);

/** Parse a count, such as of atoms: digits alone. */
io_status io__lines_count(const io_lines *lines, const char *text, const char *what, int64_t *out);

#endif
