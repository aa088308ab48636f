/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that the readers and writers of all formats share: an input file, its lines, records of
 * numbers, particles, snapshots in many files, an output file, lists of pairs. Every function that
 * can fail fills the io_error that it is given and returns its status: IO_OK, those that its
 * comment names, and IO_SYSTEM, IO_NO_MEMORY and IO_CANCELLED where it reads, allocates and calls
 * watch. Names io__... are internal; public ones, io_..., are in io.h.
 */
#ifndef KITH_IO_INTERNAL_H
#define KITH_IO_INTERNAL_H

#include "trajectories/recording.h"

#include <locale.h>

/** Return from the current function with the status of a call that fails. For functions that own
 *  nothing that would have to be freed. */
#define IO_TRY(call) \
    do { \
        io_status status_ = (call); \
        if (status_ != IO_OK) { \
            return status_; \
        } \
    } while (0)

/* ------------------------------------------------------------------------------------ errors */

/** Write the message "path: sentence" and a status into error, with control characters escaped. Of
 *  a long path the end is shown. The sentence continues after the path: "is empty; expected ...".
 *  @param format  the sentence, as for printf
 *  @return status */
io_status io__fail(io_error *error, const char *path, io_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Clear an error, at the beginning of a public call.
 *  @param error  the caller's error; NULL: the caller does not read it
 *  @return the error; if it is NULL, a dummy error of this thread */
io_error *io__error_begin(io_error *error);

/** Return true when a path has an ending. The comparison ignores case. */
bool io__ends_with(const char *path, const char *ending);

/** Copy at most room - 1 bytes of text[0..length), up to the first 0, and append a 0. Control
 *  characters become '?'.
 *  @param[out] out  [room] */
void io__copy_name(char *out, size_t room, const char *text, size_t length);

/* ------------------------------------------------------------------------ a file being read */

enum { IO_BLOCK = 4 << 20 }; /* bytes read at once */

/** A regular file that is open to be read. */
typedef struct io_file {
    const char *path;               /* path of the file, for messages; borrowed */
    int fd;                         /* file descriptor; -1: not open */
    int64_t size;                   /* size of the file when it was opened [byte] */
    const io_read_options *options; /* options of the reader; never NULL; borrowed */
    io_error *error;                /* where messages go; never NULL; borrowed */
    double watched;                 /* time of the last call of options->watch, on a monotonic clock
                                       [s] */
    int64_t before;                 /* size of the files of the snapshot before this one [byte] */
    int64_t total;                  /* size of all files of the snapshot [byte]; 0: of this file */
    struct kith__pool *pool;        /* threads of io__file_pool; NULL: none so far */
} io_file;

/** Open a regular file. Folders, pipes and devices are refused. Close with io__file_close, also on
 *  failure.
 *  @param options  NULL: the defaults */
io_status io__file_open(io_file *file, const char *path, const io_read_options *options,
                        io_error *error);

/** Return threads that decode what is read: as many as options->threads says.
 *  @return NULL: there is no memory; loops of a pool that is NULL run in the calling thread */
struct kith__pool *io__file_pool(io_file *file);

/** Close the file, if it is open. */
void io__file_close(io_file *file);

/** Read `size` bytes at an offset, and call watch with the end of these as progress.
 *  @return IO_TRUNCATED if the file has fewer; IO_CANCELLED if watch returns nonzero */
io_status io__file_read(io_file *file, void *buffer, int64_t size, int64_t offset);

/** Read `size` bytes at an offset without a call of watch. @return IO_TRUNCATED if the file has
 *  fewer */
io_status io__file_peek(io_file *file, void *buffer, int64_t size, int64_t offset);

/** Call the caller's watch function, options->watch, if there is one and its last call was 50 ms
 *  ago or more, or all is done. Its progress counts the files of the snapshot before this one, too.
 *  @param done  bytes of this file that have been read
 *  @return IO_CANCELLED if watch returns nonzero */
io_status io__file_watch(io_file *file, int64_t done);

/** io__fail about this file. */
#define io__file_fail(file, status, ...) \
    io__fail((file)->error, (file)->path, (status), __VA_ARGS__)

/** IO_INVALID: the file has no frame `asked`.
 *  @param where  what holds the frames, " in positions"; "": the file
 *  @param n      number of frames */
io_status io__file_fail_frame(io_file *file, const char *where, int64_t n, int64_t asked);

/** Words for a file of 0 frames: what it is, and what to do. */
#define IO_NO_FRAMES \
    "holds no frames: its program ended before it wrote one, or wrote another file; give that, " \
    "or " \
    "run it again"

/* --------------------------------------------------------------------------- lines of a file */

/** The lines of a text file, read block by block. */
typedef struct io_lines {
    io_file *file;      /* the file; borrowed */
    char *buffer;       /* bytes of the file [room + 1]; the last one is for a NUL */
    int64_t room;       /* bytes that are read at once: IO_BLOCK, or the size of a smaller file */
    int64_t begin, end; /* range of buffer that holds lines not yet returned */
    int64_t offset;     /* offset in the file of the byte behind buffer[end - 1] */
    int64_t number;     /* number of the line returned last, from 1 */
    char *line;         /* the line returned last, in buffer */
    bool again;         /* io__lines_next returns that line once more */
    int64_t alone;      /* number of the last line that io__lines_parse leaves to io__lines_next */
    locale_t locale;    /* the locale "C", in which numbers are parsed */
} io_lines;

/** Begin at the first line of a file, behind a UTF-8 byte order mark. Close with io__lines_close,
 *  also on failure. */
io_status io__lines_open(io_lines *lines, io_file *file);

/** Free the buffer and the locale. The file stays open. */
void io__lines_close(io_lines *lines);

/** Find the next line.
 *  @param[out] line  the line without its end ("\n" or "\r\n"), NUL-terminated, which the caller
 *                    may change; valid until the next call; NULL at the end of the file
 *  @return IO_FORMAT if it is longer than IO_BLOCK */
io_status io__lines_next(io_lines *lines, char **line);

/** Make the next call of io__lines_next return the last line once more, with the caller's
 *  changes. */
void io__lines_back(io_lines *lines);

/** Move the bytes that are not yet returned to the front of the buffer, and read more behind
 *  them. */
io_status io__lines_refill(io_lines *lines);

enum { IO_PARSED = 1 << 16 }; /* most lines that io__lines_parse parses */

/** Parse a line. Called in any thread.
 *  @param user   as given to io__lines_parse
 *  @param lines  for messages; those of a failure are dropped
 *  @param line   the line, as of io__lines_next; must be unchanged when the call returns
 *  @param k      index of the line, from 0
 *  @return false: the line has to be returned by io__lines_next */
typedef bool io__parse_fn(void *user, const io_lines *lines, char *line, int64_t k);

/** Parse the next lines by the threads of the file, in any order, as if io__lines_next had returned
 *  them. Lines behind those that count as parsed may have been parsed too, and may be again.
 *  @param most         most lines to parse, at most IO_PARSED
 *  @param[out] parsed  number of lines; 0: they are few, or one cannot be parsed: call
 *                      io__lines_next */
io_status io__lines_parse(io_lines *lines, int64_t most, io__parse_fn *parse, void *user,
                          int64_t *parsed);

/** io__fail about the line returned last. */
io_status io__lines_fail(const io_lines *lines, io_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** A field of a line. */
typedef struct io_token {
    const char *text; /* first character; borrowed; not NUL-terminated */
    size_t length;    /* number of bytes */
} io_token;

/** Take the next token: the next run of characters from *at on that are neither blanks nor tabs.
 *  Moves *at behind it.
 *  @return false if there is none */
bool io__token_next(const char **at, io_token *token);

/** Return true when a token equals a word. */
bool io__token_is(io_token token, const char *word);

/** Return the number of bytes of a token that a message shows, at most 40: the precision for %.*s
 *  of printf. */
int io__token_shown(io_token token);

/** Parse a token as a number, correctly rounded.
 *  @param what  name of the number, for the message
 *  @return IO_FORMAT if the token is no number, or overflows */
io_status io__lines_number(const io_lines *lines, io_token token, const char *what, double *out);

/** Parse one number at text as strtod does, but faster and always with a decimal point. Sets errno
 *  to ERANGE on overflow, else to 0; an underflow is rounded.
 *  @param locale  the locale "C"
 *  @return the end of the number; text if there is none */
const char *io__number(const char *text, locale_t locale, double *out);

enum { IO_NUMBER = 25 }; /* most bytes of a printed number of 17 digits, with its NUL */

/** Print a number as sprintf does by "%.*g" in the locale of the thread, which is to be "C"
 *  (io__locale_set_c), but faster.
 *  @param[out] out  room for IO_NUMBER bytes; a NUL may be missing
 *  @param digits    digits that matter, 1 to 17
 *  @return where the next character goes */
char *io__number_put(char *out, double value, int digits);

/* ---------------------------------------------------------------------------------- particles */

/** Allocate the positions of the part of n particles that the options choose
 *  (io_read_options.part), set out->all, first and n, and set the box to open space.
 *  @param n       number of particles in all parts
 *  @param dim     coordinates of a position in the file, 2 or 3
 *  @param native  precision of the file, which is used unless the options choose one */
io_status io__particles_alloc(io_file *file, io_particles *out, int64_t n, int dim,
                              kith_precision native);

/* The bits that follow IO_DENSITIES: of positions, and of radii, which are read where the options
 * name them; and the first bit that stands for no field. */
enum { IO_POSITIONS = 1 << 6, IO_RADII = 1 << 7, IO_FIELDS_END = 1 << 8 };

/** Return the name of a field in messages: "masses". */
const char *io__field_name(unsigned field);

/** Return how many numbers each particle has in a field: 1 or 3. */
int io__field_width(unsigned field);

/** Return the fields without which reading fails: the bits that options->needed has, and IO_RADII
 *  where options->radii is set. */
unsigned io__fields_needed(const io_file *file);

/** Return the fields that are to be read: those needed, and the bits that options->fields has. */
unsigned io__fields_wanted(const io_file *file);

/** Allocate the arrays of these fields for out->n particles.
 *  @param fields  bits IO_MASSES | ... */
io_status io__particles_add(io_file *file, io_particles *out, unsigned fields);

/** Intersect a range of rows with the part of the particles that is read.
 *  @param row        index of the first row, among the particles of all parts
 *  @param[in,out] n  number of rows; then of those in the part
 *  @param[out] skip  rows of the range before those in the part
 *  @return row of the arrays for the first row in the part; 0 where the part has none of them */
int64_t io__particles_cut(const io_particles *particles, int64_t row, int64_t *n, int64_t *skip);

/** Return the address of a row in the array of a field. */
void *io__particles_row(io_particles *particles, unsigned field, int64_t row);

/** Return IO_MISSING if options->needed has a field without an array.
 *  @param format  name of the format, for the message */
io_status io__particles_check(io_file *file, io_particles *particles, const char *format);

/** Append one particle, for files whose number of particles is not known beforehand. The arrays
 *  that are allocated grow as needed; the caller stores other fields than the position.
 *  @param[in,out] capacity  particles that the array has room for; 0 at first */
io_status io__particles_push(io_file *file, io_particles *out, int64_t *capacity,
                             const double xyz[3]);

/** Return open space in three dimensions, as kith_box_open does, so that io need not link the
 *  library. */
kith_box io__box_open(void);

/** Return a periodic box with edges parallel to the axes, as kith_box_periodic does. */
kith_box io__box_periodic(const double length[3]);

/** The element type of an array in a file. */
typedef struct io_scalar {
    char kind;    /* 'f' floating point, 'i' signed integer, 'u' unsigned integer */
    int size;     /* size: 1, 2, 4 or 8 [byte] */
    bool swapped; /* the byte order is not that of this machine */
} io_scalar;

/** Records of a file, all of one length. */
typedef struct io_records {
    int64_t offset; /* offset of the first record in the file [byte] */
    int64_t stride; /* distance from one record to the next, 1 to 2^20 [byte] */
    int64_t n;      /* number of records */
} io_records;

/** Numbers that are adjacent in every record, and the array [][width] that they are stored in. */
typedef struct io_field {
    int at;                   /* offset of the first number in the record [byte] */
    int columns;              /* number of adjacent numbers */
    io_scalar type;           /* type of the numbers in the file */
    void *out;                /* row of the array for the first record */
    int width;                /* elements of a row of the array, >= columns */
    kith_precision precision; /* type of the array; 0: int64_t */
    double scale;             /* factor that reals are multiplied by; 1: none */
} io_field;

/** Make the io_field that stores numbers of each record in the array of a field, with scale 1.
 *  @param field  the field: IO_POSITIONS, IO_MASSES, ...
 *  @param row    row of the array for the first record
 *  @param at     offset of the first number in the record [byte]
 *  @param type   type of the numbers in the file */
io_field io__particles_field(io_particles *particles, unsigned field, int64_t row, int at,
                             io_scalar type);

/** Read fields of all records into their arrays, block by block.
 *  @param fields  [n_fields]
 *  @return IO_FORMAT for a type of numbers that cannot be converted; IO_TRUNCATED */
io_status io__records_read(io_file *file, const io_records *records, const io_field *fields,
                           int n_fields);

/** Read n adjacent numbers from byte `at` of the file on.
 *  @param[out] out   [n][width]; the numbers go to the first column
 *  @param precision  type of out; 0: int64_t */
io_status io__numbers_read(io_file *file, int64_t at, io_scalar type, int64_t n, void *out,
                           int width, kith_precision precision);

/** Load an unsigned 32-bit integer. @param swapped  its byte order is not that of this machine */
uint32_t io__get32(const char *at, bool swapped);

/** Load a double. @param swapped  its byte order is not that of this machine */
double io__get_double(const char *at, bool swapped);

/** Multiply n reals by scale. */
void io__reals_scale(void *reals, int64_t n, kith_precision precision, double scale);

/* ------------------------------------------------------------------------------------ species */

/** The species that options->species names. */
typedef struct io_species {
    int n; /* number of items; 0: all species are wanted */
    struct {
        char name[IO_NAME_LENGTH]; /* name of the species, as in the options */
        int64_t n;                 /* particles of this species that were found */
    } item[IO_MAX_SPECIES];        /* the species, each once */
} io_species;

/** Parse options->species. @return IO_INVALID for names that are missing, too long or too
 *  many */
io_status io__species_parse(io_file *file, io_species *out);

/** Find a name; the case of letters does not count. @return its index; -1: it is not in the list */
int io__species_find(const io_species *species, io_token name);

/** Return true when the options select a type of a snapshot.
 *  @param n  particles of the type, which are added to those found of its species */
bool io__species_wants(io_species *species, int type, int64_t n);

/** Return IO_INVALID if no particle of one of the species was found. */
io_status io__species_check(io_file *file, const io_species *species);

/* ---------------------------------------------------------------- snapshots, in many files too */

/** The paths of the files of a snapshot: head, number, tail: "snap_005.", 3, ".hdf5". */
typedef struct io_set {
    char *path;                /* buffer for the path of any file; begins with the head; NULL: the
                                  path has no number */
    int head;                  /* length of the head [byte] */
    int digits;                /* digits of a number with leading zeros; 1: without them */
    char tail[IO_NAME_LENGTH]; /* the tail */
} io_set;

/** Split the path of a file into head, number and tail. io__set_free the result in every case.
 *  @param[out] found  the path has a number */
io_status io__set_split(io_file *file, io_set *out, bool *found);
void io__set_free(io_set *set);

/** Return the path of the file with this number, 0 or more; valid until the next call. */
const char *io__set_member(const io_set *set, int64_t number);

/** Find the file that a path stands for: the path itself, or the first file of a snapshot whose
 *  folder, or whose name without number, the path is.
 *  @param[out] out  path of the file, to be freed, also on failure */
io_status io__set_resolve(const char *path, char **out, io_error *error);

/** The header of one file of a snapshot. */
typedef struct io_header {
    int64_t files;                           /* number of files of the snapshot */
    int64_t n[IO_MOST_TYPES];                /* particles of each type in this file */
    int64_t total[IO_MOST_TYPES];            /* particles of each type in all files; -1: unknown */
    double mass[IO_MOST_TYPES];              /* mass of every particle of a type; 0: they differ */
    unsigned fields[IO_MOST_TYPES];          /* fields of each type in this file: IO_MASSES | ... */
    double length_h[IO_MOST_TYPES];          /* exponent of h in the lengths of each type, see
                                                io_units */
    double mass_h[IO_MOST_TYPES];            /* exponent of h in the masses of each type */
    kith_precision precision[IO_MOST_TYPES]; /* precision of the positions of each type */
    int dim;                /* coordinates of a position: 2 or 3; 0: no particles */
    double box[3];          /* lengths of the periodic box [units.length]; 0: no box */
    bool has_time;          /* the file has a time */
    double time;            /* time; the scale factor of a comoving run */
    double redshift;        /* redshift; 0 if it is not in the file */
    io_cosmology cosmology; /* cosmology, set by io__header_cosmology */
    io_units units;         /* units of lengths, masses and velocities */
} io_header;

/** The part of a file that is to be read, and the arrays for it. */
typedef struct io_wanted {
    bool type[IO_MOST_TYPES];    /* the type is wanted */
    unsigned fields;             /* fields that are wanted: IO_POSITIONS | IO_MASSES | ... */
    int64_t row[IO_MOST_TYPES];  /* row of the arrays for the first particle of each type */
    int64_t skip[IO_MOST_TYPES]; /* particles of each type before those that are read */
    int64_t n[IO_MOST_TYPES];    /* particles of each type that are read; 0: none of the type */
    io_particles *out;           /* the arrays */
} io_wanted;

/** A format of snapshots. The caller fills the array of types, and that of masses for the types
 *  whose mass is in the header. */
typedef struct io_snapshot_format {
    /** Read the header of a file, and check that the file can hold the particles that the header
     *  counts. @param[out] private  state of the reader, to be closed by close, also on failure */
    io_status (*open)(io_file *file, io_header *out, void **private);
    /** Read the wanted particles of a file into their arrays. */
    io_status (*read)(io_file *file, const io_header *header, void *private,
                      const io_wanted *wanted);
    /** Set description and fields of a summary. */
    void (*describe)(const io_header *header, void *private, io_summary *out);
    /** Free the state. */
    void (*close)(void *private);
    /** The names by which the format stores a field, for messages: "a dataset ParticleIDs". */
    const char *(*sources)(unsigned field);
} io_snapshot_format;

/** Read a snapshot of a format: this file, or all files of the snapshot that it belongs to. */
io_status io__snapshot_read(io_file *file, const io_snapshot_format *format, io_particles *out);

/** Describe a snapshot of a format. */
io_status io__snapshot_inspect(io_file *file, const io_snapshot_format *format, io_summary *out);

/** The numbers of a header that concern cosmology, before they are checked. */
typedef struct io_universe {
    const char *group;   /* where the numbers are, for messages: "Header" */
    int comoving;        /* 1: the run is comoving; 0: it is not; -1: not in the file */
    bool has_a;          /* the file has a scale factor, `a`; if false, the time of the header is
                            used as one */
    double a;            /* scale factor; 0: not in the file */
    double h;            /* Hubble constant today / (100 km/s/Mpc) */
    double omega_m;      /* density of matter / critical density */
    double omega_lambda; /* density of the cosmological constant / critical density */
    double omega_b;      /* density of baryons / critical density */
} io_universe;

/** Set header->cosmology, and the units of a run that is not comoving: these have no factors of h,
 *  and are not known where they are the usual ones of the format (IO_UNITS_USUAL). Where
 *  given->comoving is -1, a run is comoving if its scale factor fits its redshift and its numbers
 *  are not those of a run without cosmology.
 *  @return IO_FORMAT if a number is out of bounds, or redshift and scale factor differ */
io_status io__header_cosmology(io_file *file, const io_universe *given, io_header *header);

/** Return Gadget's usual units: kpc/h, 1e10 Msun/h, km/s. */
io_units io__units_usual(void);

/** Return the periodic box of a header; open space if it has none.
 *  @param[out] has_box  the header has a box: all three lengths are above 0 */
kith_box io__header_box(const io_header *header, bool *has_box);

/** Return IO_FORMAT if lengths, masses, counts or units of a header are out of bounds. */
io_status io__header_check(io_file *file, const io_header *header);

/** Return IO_FORMAT if the headers of two files of a snapshot differ.
 *  @param other_path  path of the file with the header `other` */
io_status io__header_same(io_file *file, const io_header *header, const io_header *other,
                          const char *other_path);

/* ------------------------------------------------------------------------------------ formats */

enum { IO_HEAD = 4096 }; /* bytes at the beginning of a file from which its format is found */

/** Find the format of a file by its content. @return IO_FORMAT, with what the file is, if no reader
 *  reads the format */
io_status io__detect(io_file *file, io_format *out);

/** Set *out to IO_TIPSY if the file has the size of the tipsy snapshot that its header describes;
 *  else *out stays as it is.
 *  @param[out] resembles  the header is valid, whatever the size of the file */
io_status io__tipsy_detect(io_file *file, io_format *out, bool *resembles);

/** Return true when a file begins as a Gadget snapshot of format 1 or 2.
 *  @param head  [size] the first bytes of the file */
bool io__gadget_detect(const char *head, int64_t size);

/** Return the number of files of the snapshot that a Gadget file belongs to; 1 if it cannot be
 *  read. */
int64_t io__gadget_files(io_file *file);

/** Return the number of files of the snapshot that an HDF5 file belongs to; 1 if it cannot be read;
 *  0 if it is no file of a snapshot. */
int64_t io__hdf5_files(io_file *file);

/* The readers of the formats: `read` reads particles, `inspect` fills the summary. */
io_status io__gadget_read(io_file *file, io_particles *out);
io_status io__gadget_inspect(io_file *file, io_summary *out);
io_status io__npy_read(io_file *file, io_particles *out);
io_status io__npy_inspect(io_file *file, io_summary *out);

/** Read numbers of a NumPy array of one dimension.
 *  @param all       numbers that it must have
 *  @param first     index of the first number to read
 *  @param n         numbers to read
 *  @param integers  refuse an array of floats
 *  @param[out] out  [n]: int64_t if integers, else double */
io_status io__npy_column(io_file *file, int64_t all, int64_t first, int64_t n, bool integers,
                         void *out);

/** Read the number of the group of each particle from an HDF5 file.
 *  @param ids       [n] ids of the particles; NULL: not known
 *  @param[out] out  [n] */
io_status io__hdf5_labels(io_file *file, int64_t n, const int64_t *ids, int64_t *out);

/* Further readers of formats. */
io_status io__hdf5_read(io_file *file, io_particles *out);
io_status io__hdf5_inspect(io_file *file, io_summary *out);
io_status io__tipsy_read(io_file *file, io_particles *out);
io_status io__tipsy_inspect(io_file *file, io_summary *out);
io_status io__text_read(io_file *file, io_particles *out);
io_status io__text_inspect(io_file *file, io_summary *out);

/** Allocate out->values. The caller has set size, n and dim of *out, and has checked that the file
 *  holds as many numbers. */
io_status io__vectors_alloc(io_file *file, io_vectors *out);

/** Return the precision that the options set, else float if it holds every number of the type, else
 *  double [byte]. */
int io__vectors_size(const io_file *file, io_scalar type);

/* Read vectors of a format. @param bytes  read unsigned bytes alone, without conversion */
io_status io__npy_vectors(io_file *file, bool bytes, io_vectors *out);
io_status io__hdf5_vectors(io_file *file, bool bytes, io_vectors *out);
io_status io__text_vectors(io_file *file, io_vectors *out);

/** Clear io__get_failed, after the last call of a reader.
 *  @param status  result of the reader
 *  @return IO_SYSTEM if io__get_failed was set; else `status` */
io_status io__get_end(io_file *file, io_status status);

/** Read the particles of a file of this format. */
io_status io__read_as(io_file *file, io_format format, io_particles *out);

/** Return IO_INVALID if an option does not apply to this format, or has no valid value. */
io_status io__check_options(io_file *file, io_format format);

/* ---------------------------------------------------------------- complete calls of the system */

/** Read `size` bytes at an offset. @return the number of bytes read, fewer than `size` at the end
 *  of the file; -1 with errno set */
int64_t io__get(int fd, void *data, int64_t size, int64_t at);

/** errno of the last io__get of this thread that failed; 0: none has. The HDF5 library may report a
 *  failed read as an object that the file lacks, so that readers clear this before the first call
 *  and call io__get_end after the last. */
extern _Thread_local int io__get_failed;

/** Write `size` bytes at an offset or, if at < 0, at the current position. @return 0 or an errno:
 *  ECANCELED where the function of io_stop_writes returned true */
int io__put(int fd, const void *data, int64_t size, int64_t at);

/** Flush most of a file to disk in parts, if the function of io_stop_writes is set, so that it can
 *  be stopped between them. The call of fsync that must follow cannot be stopped, but is then
 *  short.
 *  @return 0 or an errno: ECANCELED when it is to stop */
int io__sync_parts(int fd);

/** Return true when the stop function that io_stop_writes has set for this thread says that writing
 *  is to end. */
bool io__writes_stopped(void);

/** Let the system begin to write bytes of a file to disk, so that a later flush is short. Does not
 *  wait for them. */
void io__write_behind(int fd, int64_t at, int64_t size);

/** Flush a file or folder to disk. Pipes and devices need no flush. @return 0 or an errno */
int io__sync(int fd);

/** Close a file that was written. @return 0 or an errno */
int io__close_fd(int fd);

/* --------------------------------------------------------------------- a file being written */

/** A temporary file that io_remove_parts removes after a crash: the part of an output (part.c), or
 *  a lock file (lock.h). */
typedef struct io_temporary {
    char *path;  /* path of the file, allocated; NULL: no file */
    bool listed; /* the list of io_remove_parts holds the path */
} io_temporary;

/** Add the path to the list of io_remove_parts, if the list has room; sets file->listed. */
void io__temporary_list(io_temporary *file);

/** Remove the path from the list of io_remove_parts. The file on disk is not changed.
 *  @return true when the caller owns the path; false if there is none, or a handler of a crash has
 *  taken it in io_remove_parts: file->path is NULL then */
bool io__temporary_unlist(io_temporary *file);

/** Remove the path from the list and free it. The file on disk is not changed. */
void io__temporary_forget(io_temporary *file);

/** A file being written, through a buffer. */
typedef struct io_output {
    char *path;        /* path as the caller gave it, for messages */
    char *target;      /* path with symbolic links followed; NULL: standard output */
    io_temporary part; /* file beside the target; no path: the target itself is written */
    int fd;            /* descriptor of the file that is written */
    int64_t base;    /* offset in the file of the first byte of the output; -1: its bytes cannot be
                        overwritten (io__output_patch) */
    char *buffer;    /* bytes that are not yet written [IO_BLOCK] */
    int64_t used;    /* number of bytes in buffer */
    int64_t written; /* number of bytes written before those in buffer; of io__output_append, with
                        those of the earlier run */
    int threads;     /* threads that format lines (io__output_lines); 0: the calling one */
    struct io_formatter *formatter; /* threads and memory of io__output_lines; NULL: none so far */
    io_error *error;                /* where messages of the current call go; borrowed */
} io_output;

/** The file that an output's path leads to. */
typedef struct io_destination {
    char *target; /* path with symbolic links followed, to be freed */
    int number;   /* descriptor of an open file that the path names, as /dev/stdout; -1: none */
    bool exists;  /* the file exists */
    bool regular; /* the file is a regular file, or does not exist */
} io_destination;

/** Follow a path, and check that its file can be written.
 *  @param[out] destination  its target is to be freed, also on failure */
io_status io__destination_find(const char *path, io_destination *destination, io_error *error);

/** Create the part, the temporary file beside output->target that will replace it, and open
 *  output->fd.
 *  @param replaces  the target exists: copy its mode, owner and attributes to the part
 *  @param fixed     the part is TARGET.part, which may exist; else TARGET.XXXXXX.part, which is
 *                   new */
io_status io__part_open(io_output *output, bool replaces, bool fixed);

/** Remove the part from disk, if there is one, and forget its path. */
void io__part_drop(io_output *output);

/** Take a shared advisory lock on a file that is to be replaced. A file that does not exist, that
 *  cannot be opened or that this process has locked (lock.h) is not locked.
 *  @param path     path of the output, for messages; PATH.lock is tested, too
 *  @param target   path with symbolic links followed
 *  @param[out] fd  descriptor to be closed once the file is replaced, which releases the lock; -1:
 *                  none
 *  @return IO_SYSTEM if another process holds a lock on the target or on PATH.lock */
io_status io__lock_share(const char *path, const char *target, int *fd, io_error *error);

/** Flush the folder of a path to disk. @return 0 or an errno. */
int io__folder_sync(const char *target);

/** Open an output. A regular file is replaced when the output is committed; devices, pipes and
 *  files that are open already are written directly. End it with io__output_commit,
 *  io__output_abort or io__output_end; after a failure to open it there is nothing to end. */
io_status io__output_open(io_output *output, const char *path, io_error *error);

/** Open standard output, as io__output_open does a file. */
io_status io__output_stdout(io_output *output, io_error *error);

/** Open an output that one process writes again and again. Its part is path.part; the path.part of
 *  a killed process is overwritten. */
io_status io__output_reopen(io_output *output, const char *path, io_error *error);

/** Open a file itself, to append behind a mark (recording.h). Truncates the file at the mark. A
 *  path to a file that is open already (/dev/fd/3) is written at its offset, whatever the mark.
 *  @return IO_FORMAT or IO_TRUNCATED if the file does not hold the tail of the mark; the file is
 *  not changed then */
io_status io__output_append(io_output *output, const char *path, const io_mark *from,
                            io_error *error);

/** Return IO_CANCELLED when writing is to end (io__writes_stopped). */
io_status io__output_check_stop(io_output *output);

/** Append bytes. */
io_status io__output_write(io_output *output, const void *data, int64_t size);

enum { IO_LINE = 9 * 32 }; /* most bytes of a line of io__output_lines */

/** Format a line of a text. Called in any thread, with the locale "C".
 *  @param user      as given to io__output_lines
 *  @param row       which line
 *  @param[out] out  [IO_LINE]; a NUL is not needed
 *  @return where the next line goes */
typedef char *io__line_fn(const void *user, int64_t row, char *out);

/** Append n lines, formatted by output->threads threads while earlier lines are written. */
io_status io__output_lines(io_output *output, int64_t n, io__line_fn *line, const void *user);

/** End the threads of io__output_lines, and free their memory. */
void io__output_lines_end(io_output *output);

/** Write the buffer to the file, so that its bytes survive if the process is killed, though not if
 *  the machine stops. */
io_status io__output_flush(io_output *output);

/** Write the buffer to the file, and flush the file to disk. */
io_status io__output_sync(io_output *output);

/** Append `size` <= IO_BLOCK bytes that the caller stores. @return where to store them, before the
 *  next call; NULL on failure, with output->error set */
char *io__output_reserve(io_output *output, int64_t size);

/** Overwrite bytes of the file from byte `at` of the output on. @return IO_INVALID for a pipe, a
 *  terminal or an open file with O_APPEND (/dev/stdout after >> of a shell) */
io_status io__output_patch(io_output *output, int64_t at, const void *data, int64_t size);

/** Append formatted text. */
io_status io__output_printf(io_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Flush to disk, close and rename into place. On failure no part is left. Frees the output. */
io_status io__output_commit(io_output *output);

/** Close the file and remove the part. Frees the output. Keeps the message in output->error. */
void io__output_abort(io_output *output);

/** Commit the output if status is IO_OK, else abort it. @return the first error */
io_status io__output_end(io_output *output, io_status status);

/** Set the locale of this thread to a new locale "C", so that numbers are printed with a decimal
 *  point.
 *  @return the locale before, for io__locale_restore */
locale_t io__locale_set_c(void);

/** Set the locale of this thread back, and free the one that io__locale_set_c has made. */
void io__locale_restore(locale_t before);

/** io__fail about this output. */
#define io__output_fail(output, status, ...) \
    io__fail((output)->error, (output)->path, (status), __VA_ARGS__)

/** Rows of particles that are copied to a file at a time, where the file is written in blocks. */
enum { IO_BLOCK_ROWS = 1 << 16 };

/* ------------------------------------------------------------------------------ lists of pairs */

/** One column of a list of pairs, or of rows of k nearest neighbours. */
typedef struct io_column {
    const char *name; /* name of the column: "distance" */
    const char *data; /* elements [n][count] or [n][k][count]; NULL: the layout alone */
    char kind;        /* 'i' int32_t, 'f' float or double */
    int size;         /* size of an element: 4 or 8 [byte] */
    int count;        /* elements of each pair: 1 or 3 */
    int64_t k; /* elements are [n][k][count]: entries of a row of neighbours; 0: [n][count] */
} io_column;

/** Return the size of a row of a column [byte]. */
static inline int64_t io__column_bytes(const io_column *column)
{
    return (column->k > 0 ? column->k : 1) * column->count * column->size;
}

enum { IO_PAIR_COLUMNS = 5 /* most columns: i or count, j, distance, vector, shift */ };

/** A format of lists of pairs. */
typedef struct io_pairs_format {
    io_status (*begin)(io_pairs_writer *writer); /* write what precedes the pairs */
    /** Write a block of n pairs, or of n rows of neighbours. */
    io_status (*write)(io_pairs_writer *writer, const io_column *columns, int64_t n);
    io_status (*end)(io_pairs_writer *writer); /* complete the file; may be NULL */
    void (*drop)(io_pairs_writer *writer);     /* free writer->private; may be NULL */
} io_pairs_format;

/** A list that is being written (io_pairs_open). */
struct io_pairs_writer {
    const io_pairs_format *format;      /* format of the list */
    io_output output;                   /* the file */
    io_pairs_layout layout;             /* what is written for each pair */
    io_column columns[IO_PAIR_COLUMNS]; /* the columns of the layout */
    int n_columns;                      /* number of columns */
    int64_t n;                          /* pairs, or rows of neighbours, written so far */
    bool in_rows;                       /* columns are of rows of neighbours, not of pairs */
    bool failed;                        /* a block could not be written: no commit */
    bool csv;                           /* text: commas, and no comments in the header */
    void *private;                      /* state of the format */
};

extern const io_pairs_format io__pairs_hdf5; /* lists in HDF5 files */

enum { IO_NPY_HEADER = 256 }; /* size of a NumPy header that this library writes [byte] */

/** Make a NumPy header. @param type  as in Python: "'<f4'" @param shape  "(3,)" */
void io__npy_header(char out[IO_NPY_HEADER], const char *type, const char *shape);

/** Write the header of a NumPy array of shape [rows][columns], or [rows] if columns is 0, in the
 *  byte order of this machine.
 *  @param kind  'f' floats, 'i' integers
 *  @param size  size of an element [byte] */
io_status io__npy_begin(io_output *output, char kind, int size, int64_t rows, int64_t columns);

/** Return the letter of NumPy for the byte order of this machine: '<' or '>'. */
char io__npy_order(void);

/** Write a frame of extended XYZ, with box and velocities where the particles have them.
 *  @param facts  key=value pairs for the comment, each followed by a blank: "step=5 " */
io_status io__xyz_write(io_output *output, const io_particles *particles, const uint8_t *species,
                        const char *facts);

/** Return the letter that names a species in files that are written: 'A', 'B', ..., '?' of those
 *  without a letter. */
char io__species_letter(uint8_t species);

/** Write particles as an HDF5 file into output->fd. */
io_status io__hdf5_write(io_output *output, const io_particles *particles);

#endif
