/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the format files share: a file being read, its lines, blocks of records, a file being
 * written. Every function that can fail fills the io_error it was given and returns its status.
 */
#ifndef KITH_IO_INTERNAL_H
#define KITH_IO_INTERNAL_H

#include "trajectories/recording.h"

#include <locale.h>

#define IO_TRY(call) \
    do { \
        io_status status_ = (call); \
        if (status_ != IO_OK) { \
            return status_; \
        } \
    } while (0)

/* ------------------------------------------------------------------------------------ errors */

/** Write "path: sentence" into error, control characters replaced. @return status. */
io_status io__fail(io_error *error, const char *path, io_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Where an error goes: emptied, or where nobody wants it a place of the thread's. */
io_error *io__error_begin(io_error *error);

/** Whether a name ends so, whatever the case of its letters. */
bool io__ends_with(const char *path, const char *ending);

/** Copy at most room - 1 bytes of text[0..length), control characters replaced. */
void io__copy_name(char *out, size_t room, const char *text, size_t length);

/* ------------------------------------------------------------------------ a file being read */

enum { IO_BLOCK = 4 << 20 }; /* bytes read at once */

typedef struct io_file {
    const char *path;
    int fd;
    int64_t size;
    const io_read_options *options; /* never NULL */
    io_error *error;                /* never NULL */
    double watched;                 /* when watch was last called [s] */
    int64_t before, total;          /* bytes of a snapshot's files before this one, of all */
} io_file;

io_status io__file_open(io_file *file, const char *path, const io_read_options *options,
                        io_error *error);
void io__file_close(io_file *file);

/** Read size bytes at offset, all of them, and report progress. */
io_status io__file_read(io_file *file, void *buffer, int64_t size, int64_t offset);

/** The same for a header: no progress yet. */
io_status io__file_peek(io_file *file, void *buffer, int64_t size, int64_t offset);

/** Report that `done` bytes were dealt with. @return IO_CANCELLED when asked to stop. */
io_status io__file_watch(io_file *file, int64_t done);

/** io__fail about this file. */
#define io__file_fail(file, status, ...) \
    io__fail((file)->error, (file)->path, (status), __VA_ARGS__)

/* --------------------------------------------------------------------------- lines of a file */

typedef struct io_lines {
    io_file *file;
    char *buffer; /* [room + 1] */
    int64_t room;
    int64_t begin, end; /* what of buffer is still to be handed out */
    int64_t offset;     /* where in the file buffer[end] comes from */
    int64_t number;     /* of the line handed out last, from 1 */
    char *line;         /* that line */
    bool again;         /* hand it out once more */
    locale_t locale;    /* "C", in which numbers are parsed */
} io_lines;

/** Start at the file's first line, past a UTF-8 byte order mark. */
io_status io__lines_open(io_lines *lines, io_file *file);
void io__lines_close(io_lines *lines);

/** Hand out the next line without its end, NUL-terminated, the caller's to change; NULL at the end
 *  of the file. */
io_status io__lines_next(io_lines *lines, char **line);

/** Make the next call of io__lines_next return the last line, unchanged by us, once more. */
void io__lines_back(io_lines *lines);

/** io__fail about the line handed out last. */
io_status io__lines_fail(const io_lines *lines, io_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** A field of a line. */
typedef struct io_token {
    const char *text;
    size_t length;
} io_token;

/** Take the next run of non-blanks at *at and move *at behind it. @return false when none. */
bool io__token_next(const char **at, io_token *token);

bool io__token_is(io_token token, const char *word);

/** A token's length for printf's %.*s. */
int io__token_shown(io_token token);

/** Parse the whole token, correctly rounded. Overflow and trash are errors that name the line and
 *  what the number was to be. */
io_status io__lines_number(const io_lines *lines, io_token token, const char *what, double *out);

/** Parse one number at text as strtod does, but faster and always with a decimal point.
 *  @return its end; text when there is none. errno is ERANGE on overflow, else 0. */
const char *io__number(const char *text, locale_t locale, double *out);

/* ---------------------------------------------------------------------------------- particles */

/** Allocate n particles and set the box to open space. @param native  precision in the file */
io_status io__particles_alloc(io_file *file, io_particles *out, int64_t n, int dim,
                              kith_precision native);

enum { IO_POSITIONS = 1 << 6, IO_FIELDS_END = 1 << 7 }; /* beside IO_MASSES and its sisters */

/** "masses"; numbers of each particle. */
const char *io__field_name(unsigned field);
int io__field_width(unsigned field);

/** The fields that the options ask for. */
unsigned io__fields_wanted(const io_file *file);

/** Allocate the arrays of these fields. */
io_status io__particles_add(io_file *file, io_particles *out, unsigned fields);

/** A row of the field's array. */
void *io__particles_row(io_particles *particles, unsigned field, int64_t row);

/** Fail when a field is needed that has no array. */
io_status io__particles_check(io_file *file, io_particles *particles, const char *format);

/** Store one particle, growing the array as needed; *capacity starts at 0. */
io_status io__particles_push(io_file *file, io_particles *out, int64_t *capacity,
                             const double xyz[3]);

/** Open space; an axis-parallel periodic box. As the library's, which io need not link. */
kith_box io__box_open(void);
kith_box io__box_periodic(const double length[3]);

/** The element type of an array in a file. */
typedef struct io_scalar {
    char kind;    /* 'f', 'i' or 'u' */
    int size;     /* bytes: 1, 2, 4, 8 */
    bool swapped; /* not in this machine's byte order */
} io_scalar;

/** Records of a file, all of one length. */
typedef struct io_records {
    int64_t offset; /* of the first [byte] */
    int64_t stride; /* from one to the next [byte] */
    int64_t n;
} io_records;

/** Numbers that stand side by side in every record, and the array [][width] they are for. */
typedef struct io_field {
    int at; /* where they begin in the record [byte] */
    int columns;
    io_scalar type;
    void *out;                /* what the first record's go to */
    int width;                /* numbers of out for each record */
    kith_precision precision; /* of out; 0: int64_t */
    double scale;             /* reals are multiplied by it */
} io_field;

/** These numbers at byte `at` of each record, for the particles from `row` on. */
io_field io__particles_field(io_particles *particles, unsigned field, int64_t row, int at,
                             io_scalar type);

/** Bring these fields of all records to their arrays. */
io_status io__records_read(io_file *file, const io_records *records, const io_field *fields,
                           int n_fields);

/** Bring n numbers that stand side by side from byte `at` on to every width-th of out, which is of
 *  this precision; 0: int64_t. */
io_status io__numbers_read(io_file *file, int64_t at, io_scalar type, int64_t n, void *out,
                           int width, kith_precision precision);

/** A number of a header; swapped: not in this machine's byte order. */
uint32_t io__get32(const char *at, bool swapped);
double io__get_double(const char *at, bool swapped);

/** Multiply n reals by scale. */
void io__reals_scale(void *reals, int64_t n, kith_precision precision, double scale);

/* ------------------------------------------------------------------------------------ species */

typedef struct io_species {
    int n;
    struct {
        char name[IO_NAME_LENGTH];
        int64_t n;
    } item[IO_MAX_SPECIES];
} io_species;

/** The species that the options ask for; none when all are wanted. */
io_status io__species_parse(io_file *file, io_species *out);

/** Index of the name, compared without case; -1 when it is not there. */
int io__species_find(const io_species *species, io_token name);

/** Whether particles of this type of a snapshot were asked for; counts n of them as found. */
bool io__species_wants(io_species *species, int type, int64_t n);

/** Fail when one of the species asked for was found on no particle. */
io_status io__species_check(io_file *file, const io_species *species);

/* ---------------------------------------------------------------- snapshots, in many files too */

/** The names of the files of a snapshot: head, number, tail, as "snap_005." 3 ".hdf5". */
typedef struct io_set {
    char *path; /* room for any of them */
    int head;   /* length of the part before the number */
    int digits; /* of the number, when it has leading zeros; else 1 */
    char tail[IO_NAME_LENGTH];
} io_set;

/** Split a name; false when it has no number. Free with io__set_free, also then. */
io_status io__set_split(io_file *file, io_set *out, bool *found);
void io__set_free(io_set *set);

/** Path of a file of the set, valid until the next call. */
const char *io__set_member(const io_set *set, int64_t number);

/** The name of the snapshot that a file may be part of, to be freed: "snap_005.hdf5" of
 *  "snap_005.3.hdf5". NULL without memory. */
char *io__set_name(const char *path);

/** What to open for a path that the user gave: itself, or the first file of the snapshot that it is
 *  the folder or the name without number of. *out is to be freed. */
io_status io__set_resolve(const char *path, char **out, io_error *error);

/** The header of one file of a snapshot. */
typedef struct io_header {
    int64_t files;                  /* of the snapshot */
    int64_t n[IO_MOST_TYPES];       /* particles in this file */
    int64_t total[IO_MOST_TYPES];   /* and in all; -1: the file does not say */
    double mass[IO_MOST_TYPES];     /* of each particle of a type; 0: they differ */
    unsigned fields[IO_MOST_TYPES]; /* that the type has in this file */
    double length_h[IO_MOST_TYPES], mass_h[IO_MOST_TYPES]; /* exponents of h of each type's */
    kith_precision precision[IO_MOST_TYPES];               /* of its positions */
    int dim;
    double box[3]; /* lengths; 0: none */
    bool has_time;
    double time, redshift;
    io_cosmology cosmology;
    io_units units;
} io_header;

/** What of a file is wanted, and where it goes. */
typedef struct io_wanted {
    bool type[IO_MOST_TYPES];
    unsigned fields;            /* with IO_POSITIONS */
    int64_t row[IO_MOST_TYPES]; /* for the first particle of the type in this file */
    io_particles *out;
} io_wanted;

/** A format of snapshots. Masses that the header says and types are not its business. */
typedef struct io_snapshot_format {
    /** Read a file's header and see that the file can hold what it says. *private is closed by
     *  close, also on failure. */
    io_status (*open)(io_file *file, io_header *out, void **private);
    io_status (*read)(io_file *file, const io_header *header, void *private,
                      const io_wanted *wanted);
    /** Fill in description and fields. */
    void (*describe)(const io_header *header, void *private, io_summary *out);
    void (*close)(void *private);
    /** Where a field was looked for: "Masses". */
    const char *(*sources)(unsigned field);
} io_snapshot_format;

io_status io__snapshot_read(io_file *file, const io_snapshot_format *format, io_particles *out);
io_status io__snapshot_inspect(io_file *file, const io_snapshot_format *format, io_summary *out);

/** What a header says of the universe, by the names it has there. */
typedef struct io_universe {
    const char *group; /* "Header" */
    int comoving;      /* 1, 0; -1: not said, to be told from the numbers */
    bool has_a;        /* a is not the time */
    double a, h, omega_m, omega_lambda, omega_b;
} io_universe;

/** Fill in header->cosmology, or fail where the numbers make no sense. Without cosmology there is
 *  no h in the units, and usual ones are not taken for granted. */
io_status io__header_cosmology(io_file *file, const io_universe *said, io_header *header);

/** Gadget's usual units: kpc/h, 1e10 Msun/h, km/s. */
io_units io__units_usual(void);

/** The periodic box that the header says. */
kith_box io__header_box(const io_header *header, bool *has_box);

/** Fail where lengths, masses or units make no sense. */
io_status io__header_check(io_file *file, const io_header *header);

/** Fail where the header of another file of the snapshot says something else. */
io_status io__header_same(io_file *file, const io_header *header, const io_header *other,
                          const char *other_path);

/* ------------------------------------------------------------------------------------ formats */

/** Tell the format, or fail with what the file seems to be. */
io_status io__detect(io_file *file, io_format *out);

enum { IO_HEAD = 4096 }; /* bytes of a file that tell its format */

/** Set *out to IO_TIPSY if the file's size is that of the tipsy snapshot its header describes.
 *  @param[out] resembles  true also when only the size is wrong */
io_status io__tipsy_detect(io_file *file, io_format *out, bool *resembles);

/** True when the file begins as a Gadget snapshot of format 1 or 2. */
bool io__gadget_detect(const char *head, int64_t size);

/** Files of the snapshot that a file of this format belongs to. A file that cannot be read counts
 *  as a snapshot of one file; 0: it holds no particles of a snapshot. */
int64_t io__gadget_files(io_file *file);
int64_t io__hdf5_files(io_file *file);

io_status io__gadget_read(io_file *file, io_particles *out);
io_status io__gadget_inspect(io_file *file, io_summary *out);
io_status io__npy_read(io_file *file, io_particles *out);
io_status io__npy_inspect(io_file *file, io_summary *out);

/** Read an array of one dimension that has n numbers: integers as int64_t, else as double. */
io_status io__npy_column(io_file *file, int64_t n, bool integers, void *out);

/** Read the group of each particle, as the file numbers them. @param ids  [n]; NULL: not known */
io_status io__hdf5_labels(io_file *file, int64_t n, const int64_t *ids, int64_t *out);
io_status io__hdf5_read(io_file *file, io_particles *out);
io_status io__hdf5_inspect(io_file *file, io_summary *out);
io_status io__tipsy_read(io_file *file, io_particles *out);
io_status io__tipsy_inspect(io_file *file, io_summary *out);
io_status io__text_read(io_file *file, io_particles *out);
io_status io__text_inspect(io_file *file, io_summary *out);

/** Give vectors room for their numbers: size, n and dim are set, and the file is large enough. */
io_status io__vectors_alloc(io_file *file, io_vectors *out);

/** The size of a number that was asked for; else the smaller one that holds those of the type. */
int io__vectors_size(const io_file *file, io_scalar type);

io_status io__npy_vectors(io_file *file, bool bytes, io_vectors *out);
io_status io__hdf5_vectors(io_file *file, bool bytes, io_vectors *out);
io_status io__text_vectors(io_file *file, io_vectors *out);

/** Turn the status of a step into a failure, where a read has failed since io__get_failed was
 *  zeroed. */
io_status io__get_end(io_file *file, io_status status);

/** Read a file that is of this format; refuse options that mean nothing for it. */
io_status io__read_as(io_file *file, io_format format, io_particles *out);
io_status io__check_options(io_file *file, io_format format);

/* ---------------------------------------------------------------- complete calls of the system */

/** Read at an offset. @return bytes read, fewer than size at the end of the file; -1 with errno. */
int64_t io__get(int fd, void *data, int64_t size, int64_t at);
/** The errno of this thread's last io__get that failed; 0: none has. HDF5 may take a read that
 *  fails for something that the file lacks: io__get_end is the last word. */
extern _Thread_local int io__get_failed;
/** Write all bytes at an offset or, when at < 0, where the file is. @return 0 or an errno. */
int io__put(int fd, const void *data, int64_t size, int64_t at);
/** Flush a file or folder to disk; what has no disk is fine. @return 0 or an errno. */
int io__sync(int fd);
/** Close a file that was written. @return 0 or an errno. */
int io__close_fd(int fd);

/* --------------------------------------------------------------------- a file being written */

/** A file that io_remove_parts removes: a part of an output, or a lock file. */
typedef struct io_temporary {
    char *path;  /* allocated; NULL: no file */
    bool listed; /* the list that io_remove_parts goes through holds the path */
} io_temporary;

/** Let io_remove_parts remove the file, as far as its list has room. */
void io__temporary_list(io_temporary *file);
/** Take the path back. @return false: there is none, or a handler of a crash has taken it, so that
 *  file->path is NULL */
bool io__temporary_unlist(io_temporary *file);
/** Take the path back and free it. The file stays. */
void io__temporary_forget(io_temporary *file);

typedef struct io_output {
    char *path;        /* as the caller gave it */
    char *target;      /* the path, symbolic links followed */
    io_temporary part; /* beside the target, renamed by commit; none: the target is written */
    int fd;
    int64_t base;    /* offset in the file of the first byte; -1: the file cannot be patched */
    char *buffer;    /* [IO_BLOCK] */
    int64_t used;    /* of buffer */
    int64_t written; /* before buffer */
    io_error *error; /* of the call under way */
} io_output;

/** Where a path leads. */
typedef struct io_destination {
    char *target; /* to be freed */
    int number;   /* of an open file that the path names, such as /dev/stdout; -1: none */
    bool exists, regular;
} io_destination;

/** Follow a path, and see that its file can be written. destination->target is to be freed, also on
 *  failure. */
io_status io__destination_find(const char *path, io_destination *destination, io_error *error);

/** Create the file beside output->target and open output->fd. @param replaces  the target exists:
 *  its mode and attributes are taken over. @param fixed  the part is path.part, also one that a
 *  killed process left; else its name is new */
io_status io__part_open(io_output *output, bool replaces, bool fixed);
/** Remove the part from disk, if there is one. */
void io__part_drop(io_output *output);
/** Take a shared advisory lock on a file that is to be replaced. A file that does not exist, that
 *  cannot be opened or that this process has locked (lock.h) is not locked.
 *  @param path  names the output in messages; PATH.lock must not be locked, either
 *  @param target  the path, symbolic links followed
 *  @param[out] fd  to be closed once the file is replaced; -1: nothing is locked
 *  @return IO_SYSTEM where another process writes the file */
io_status io__lock_share(const char *path, const char *target, int *fd, io_error *error);
/** Flush the folder of a path to disk. @return 0 or an errno. */
int io__folder_sync(const char *target);

io_status io__output_open(io_output *output, const char *path, io_error *error);
io_status io__output_stdout(io_output *output, io_error *error);
/** The same for a file that one process writes again and again: its part has a name of its own, and
 *  that which a killed process left is used again. */
io_status io__output_reopen(io_output *output, const char *path, io_error *error);
/** Write into the file itself, behind the mark (recording.h); what follows it is cut off. A file
 *  that does not hold the tail of the mark is refused. */
io_status io__output_append(io_output *output, const char *path, const io_mark *from,
                            io_error *error);
io_status io__output_write(io_output *output, const void *data, int64_t size);
/** Hand all to the system: what was written stays when the process is killed. */
io_status io__output_flush(io_output *output);
/** Flush to disk, and go on. */
io_status io__output_sync(io_output *output);
/** Room for size <= IO_BLOCK bytes, to be filled at once by the caller; NULL on failure. */
char *io__output_reserve(io_output *output, int64_t size);
/** Overwrite bytes of the file from byte `at` on. */
io_status io__output_patch(io_output *output, int64_t at, const void *data, int64_t size);
io_status io__output_printf(io_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Flush to disk, close and rename into place. On failure no part is left. Frees the output. */
io_status io__output_commit(io_output *output);
void io__output_abort(io_output *output);
/** Commit if all went well until here, else abort. */
io_status io__output_end(io_output *output, io_status status);

/** Print numbers with a decimal point, whatever the program's locale, until io__locale_restore. */
locale_t io__locale_set_c(void);
void io__locale_restore(locale_t before);

/** io__fail about this output. */
#define io__output_fail(output, status, ...) \
    io__fail((output)->error, (output)->path, (status), __VA_ARGS__)

/* ------------------------------------------------------------------------------ lists of pairs */

/** One field of a list: `count` elements of `size` bytes for each pair, packed. */
typedef struct io_column {
    const char *name;
    const char *data; /* NULL when only the layout is asked for */
    char kind;        /* 'i' or 'f' */
    int size, count;
} io_column;

enum { IO_PAIR_COLUMNS = 5 };

typedef struct io_pairs_format {
    io_status (*begin)(io_pairs_writer *writer);
    io_status (*write)(io_pairs_writer *writer, const io_column *columns, int64_t n);
    io_status (*end)(io_pairs_writer *writer); /* may be NULL, as drop */
    void (*drop)(io_pairs_writer *writer);     /* free what begin made; after end, too */
} io_pairs_format;

struct io_pairs_writer {
    const io_pairs_format *format;
    io_output output;
    io_pairs_layout layout;
    io_column columns[IO_PAIR_COLUMNS];
    int n_columns;
    int64_t n;     /* pairs so far */
    bool failed;   /* a block could not be written: no commit */
    bool csv;      /* text: commas and a plain header */
    void *private; /* the format's own */
};

extern const io_pairs_format io__pairs_hdf5;

/** A NumPy header of this many bytes: type as in Python, shape as "(3,)". */
enum { IO_NPY_HEADER = 256 };
void io__npy_header(char out[IO_NPY_HEADER], const char *type, const char *shape);
/** Write the header of an array of floats ('f') or integers ('i') of `size` bytes. @param columns
 *  0: it has one dimension */
io_status io__npy_begin(io_output *output, char kind, int size, int64_t rows, int64_t columns);
/** NumPy's letter for this machine's byte order. */
char io__npy_order(void);

/** Write a frame of extended XYZ: box and velocities where there are any; `facts` stands in the
 *  comment, as "step=5 ". */
io_status io__xyz_write(io_output *output, const io_particles *particles, const char *facts);

/** Write a file of particles through HDF5 into output->fd. */
io_status io__hdf5_write(io_output *output, const io_particles *particles);

#endif
