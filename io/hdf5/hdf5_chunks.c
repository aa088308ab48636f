/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading compressed datasets by several threads. The HDF5 library decompresses one chunk after the
 * other, in one thread. Here the calling thread reads chunks as they are in the file, the threads
 * of the pool undo the filters deflate and shuffle, and the library converts the type of the
 * numbers. Whatever is unusual is left to the library, which then reads the rows, or says that it
 * cannot: other filters and layouts, chunks that were not written, are not compressed, are damaged
 * or cannot be read. But where a chunk that is read here has fewer numbers than its shape says, the
 * rows are refused: the library would read beyond the end of its memory (seen in 1.10.8).
 */
#include "io_hdf5.h"

#include "pool.h"

#include <stdlib.h>
#include <string.h>

#ifdef KITH_HAVE_ZLIB
#include <zlib.h>
#endif

/* H5Dread_chunk is there from 1.10.3 on; in 2.0 it has another argument. */
#if defined KITH_HAVE_ZLIB && H5_VERSION_GE(1, 10, 3) && !H5_VERSION_GE(2, 0, 0)

enum {
    CHUNKS_EACH = 8,          /* chunks that are read at once, for each thread */
    MOST_BYTES = 32 << 20,    /* most bytes that are decompressed at once */
    SMALLEST_CHUNK = 1 << 12, /* smaller and larger chunks are left to the library [byte] */
    LARGEST_CHUNK = 16 << 20
};

/** Memory that is kept from slab to slab: fresh memory costs as much as half of the decompression,
 *  as the system clears it. */
struct buffer {
    char *data;  /* NULL: none so far */
    size_t room; /* size [byte] */
};

/** A dataset of compressed chunks. */
struct io_chunks {
    hid_t id;                /* the dataset; borrowed */
    struct kith__pool *pool; /* threads; borrowed */
    hid_t type;              /* type of the numbers in the file */
    size_t size;             /* size of a number in the file [byte] */
    int rank;                /* number of dimensions */
    int64_t rows, columns;   /* shape of a chunk; its first dimension is 1 where the rank is 3 */
    bool shuffled;           /* bytes of equal significance are stored side by side */
    struct buffer packed;    /* the chunks of a slab, as in the file */
    struct buffer numbers;   /* the rows of a slab, before their type is converted */
    int threads;             /* number of threads */
    char **scratch;          /* memory of each thread for a chunk, with and without shuffle
                                [threads]; NULL: not used so far */
};

/** A chunk as in the file. */
typedef struct chunk {
    size_t at, bytes; /* range in io_chunks.packed.data */
} chunk;

/** Chunks whose numbers are decompressed together, into the rows [first, first + n) of an array. */
typedef struct slab {
    const struct io_chunks *chunks; /* the dataset */
    const chunk *item;              /* the chunks [down][across] */
    int64_t across;                 /* chunks that the columns of the array are in */
    int64_t top;                    /* first row of the first chunk */
    int64_t first, n;               /* rows of the array */
    int64_t columns;                /* numbers that are taken of each row */
    char *out;                      /* receives the numbers [n][stride] */
    size_t stride;                  /* distance between rows of out [byte] */
    _Atomic bool failed;            /* a chunk could not be decompressed */
    _Atomic bool lacking;           /* a chunk has fewer numbers than its shape says */
} slab;

/** Return true when the filters of a dataset are deflate, or shuffle and deflate. */
static bool check_filters(hid_t plan, size_t size, bool *shuffled)
{
    const int n = H5Pget_nfilters(plan);
    for (int k = 0; k < n && n <= 2; k++) {
        unsigned flags, values[8], settings;
        size_t count = sizeof values / sizeof *values;
        const H5Z_filter_t filter = H5Pget_filter2(plan, (unsigned)k, &flags, &count, values, 0,
                                                   NULL, &settings);
        const bool last = k == n - 1;
        if (last ? filter != H5Z_FILTER_DEFLATE
                 : filter != H5Z_FILTER_SHUFFLE || count != 1 || values[0] != size) {
            return false;
        }
    }
    *shuffled = n == 2;
    return n == 1 || n == 2;
}

/** Set the shape of the chunks and the filters. @return false: the library has to read them */
static bool find_chunks(struct io_chunks *c, const io_array *array, hid_t plan)
{
    hsize_t shape[3] = {1, 1, 1};
    unsigned options = 0;
    if (H5Pget_layout(plan) != H5D_CHUNKED || H5Pget_chunk(plan, 3, shape) != array->rank ||
        H5Pget_chunk_opts(plan, &options) < 0 || options != 0 ||
        !check_filters(plan, c->size, &c->shuffled)) {
        return false;
    }
    const int first = array->rank == 3;
    c->rows = (int64_t)shape[first];
    c->columns = array->rank == 1 ? 1 : (int64_t)shape[first + 1];
    const double bytes = (double)shape[0] * (double)shape[1] * (double)shape[2] * (double)c->size;
    return (!first || shape[0] == 1) && bytes >= SMALLEST_CHUNK && bytes <= LARGEST_CHUNK;
}

struct io_chunks *io__chunks_open(io_file *file, const io_array *array)
{
    struct io_chunks *c = calloc(1, sizeof *c);
    const hid_t plan = c ? H5Dget_create_plist(array->id) : -1;
    bool usable = false;
    if (plan >= 0) {
        *c = (struct io_chunks){.id = array->id, .rank = array->rank};
        c->type = H5Dget_type(array->id);
        c->size = c->type >= 0 ? H5Tget_size(c->type) : 0;
        usable = c->size > 0 && find_chunks(c, array, plan);
        c->pool = usable ? io__file_pool(file) : NULL;
        c->threads = c->pool ? kith__pool_threads(c->pool) : 1;
        c->scratch = usable ? calloc((size_t)c->threads, sizeof *c->scratch) : NULL;
        usable = c->scratch != NULL;
        H5Pclose(plan);
    }
    if (usable) {
        return c;
    }
    io__chunks_close(c);
    return NULL;
}

void io__chunks_close(struct io_chunks *c)
{
    if (c && c->type > 0) {
        io__close(c->type);
    }
    for (int k = 0; c && c->scratch && k < c->threads; k++) {
        free(c->scratch[k]);
    }
    if (c) {
        free(c->scratch);
        free(c->numbers.data);
        free(c->packed.data);
    }
    free(c);
}

/** Make a buffer hold `size` bytes; those that it has are kept.
 *  @param room  its size where it has to grow, `size` or more   @return false without memory */
static bool reserve(struct buffer *b, size_t size, size_t room)
{
    if (size <= b->room) {
        return true;
    }
    char *grown = realloc(b->data, room);
    if (grown) {
        *b = (struct buffer){grown, room};
    }
    return grown != NULL;
}

int64_t io__chunks_rows(const struct io_chunks *c, int64_t rows, int64_t columns)
{
    const int64_t across = (columns + c->columns - 1) / c->columns;
    const int64_t bytes = c->rows * c->columns * (int64_t)c->size * (across > 1 ? across : 1);
    int64_t n = rows / c->rows + 1;
    n = n < CHUNKS_EACH * (int64_t)c->threads ? CHUNKS_EACH * (int64_t)c->threads : n;
    n = n < MOST_BYTES / bytes ? n : MOST_BYTES / bytes;
    return (n > 1 ? n : 1) * c->rows;
}

/** Read a chunk behind the first `used` bytes of c->packed.
 *  @param at            coordinates of its first number
 *  @param[out] out      where it is; it has no bytes where the chunk is not as most chunks are
 *  @param[out] lacking  becomes true where it is not compressed, and has fewer numbers than its
 *                       shape says */
static void read_packed(struct io_chunks *c, const hsize_t at[3], size_t used, chunk *out,
                        _Atomic bool *lacking)
{
    const size_t bytes = (size_t)(c->rows * c->columns) * c->size;
    hsize_t stored = 0;
    uint32_t skipped = 0; /* bit k: filter k was not applied; deflate is the last one */
    *out = (chunk){used, 0};
    if (H5Dget_chunk_storage_size(c->id, at, &stored) < 0 || stored == 0 ||
        stored > 2 * bytes + 1024 ||
        !reserve(&c->packed, used + (size_t)stored, 2 * (used + (size_t)stored)) ||
        H5Dread_chunk(c->id, H5P_DEFAULT, at, &skipped, c->packed.data + used) < 0) {
        return;
    }
    if (skipped >> c->shuffled & 1) {
        *lacking = *lacking || stored < bytes;
    } else if (skipped == 0) {
        out->bytes = (size_t)stored;
    }
}

/** Undo the filter shuffle: byte b of number k is at in[b * n + k]. */
static inline void unshuffle_of(const char *in, size_t n, size_t size, char *out)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t b = 0; b < size; b++) {
            out[k * size + b] = in[b * n + k];
        }
    }
}

/** Undo the filter shuffle of n numbers. The sizes of most numbers have loops of their own. */
static void unshuffle(const char *in, size_t n, size_t size, char *out)
{
    switch (size) {
    case 4: unshuffle_of(in, n, 4, out); break;
    case 8: unshuffle_of(in, n, 8, out); break;
    default: unshuffle_of(in, n, size, out);
    }
}

/** Copy what the slab takes of a chunk. @param numbers  those of chunk k [rows][columns] */
static void copy_rows(const slab *s, int64_t k, const char *numbers)
{
    const struct io_chunks *c = s->chunks;
    const int64_t left = k % s->across * c->columns, top = s->top + k / s->across * c->rows;
    const int64_t from = top > s->first ? top : s->first;
    const int64_t bottom = top + c->rows, end = s->first + s->n;
    const int64_t to = bottom < end ? bottom : end;
    const int64_t rest = s->columns - left;
    const size_t bytes = (size_t)(rest < c->columns ? rest : c->columns) * c->size;
    const size_t row = (size_t)c->columns * c->size;
    char *out = s->out + (size_t)(from - s->first) * s->stride + (size_t)left * c->size;
    numbers += (size_t)(from - top) * row;
    if (row == bytes && row == s->stride) {
        memcpy(out, numbers, (size_t)(to - from) * row);
        return;
    }
    for (int64_t p = from; p < to; p++, out += s->stride, numbers += row) {
        memcpy(out, numbers, bytes);
    }
}

/** Decompress a chunk. For kith__pool_run; state: slab */
static void unpack(void *state, int64_t piece, int worker)
{
    slab *s = state;
    const struct io_chunks *c = s->chunks;
    const size_t n = (size_t)(c->rows * c->columns), bytes = n * c->size;
    const chunk *packed = &s->item[piece];
    if (packed->bytes == 0) {
        s->failed = true;
        return;
    }
    if (!c->scratch[worker]) {
        c->scratch[worker] = malloc((c->shuffled ? 2 : 1) * bytes);
    }
    char *memory = c->scratch[worker];
    uLongf found = (uLongf)bytes;
    if (!memory || uncompress((Bytef *)memory, &found, (const Bytef *)c->packed.data + packed->at,
                              (uLong)packed->bytes) != Z_OK) {
        s->failed = true;
    } else if (found != bytes) {
        s->lacking = true;
    } else if (c->shuffled) {
        unshuffle(memory, n, c->size, memory + bytes);
        copy_rows(s, piece, memory + bytes);
    } else {
        copy_rows(s, piece, memory);
    }
}

/** Read and decompress the chunks of a slab, also where one of them is left to the library: another
 *  may lack numbers. */
static bool fill(struct io_chunks *c, int64_t frame, slab *s, chunk *item, int64_t down)
{
    s->item = item;
    size_t used = 0;
    for (int64_t k = 0; k < down * s->across; k++) {
        const hsize_t at[3] = {(hsize_t)frame, (hsize_t)(s->top + k / s->across * c->rows),
                               (hsize_t)(k % s->across * c->columns)};
        read_packed(c, at + (c->rank < 3), used, &item[k], &s->lacking);
        used += item[k].bytes;
    }
    kith__pool_run(c->pool, c->threads, down * s->across, unpack, s);
    return !s->failed && !s->lacking;
}

/** Read rows as in the file, and convert them. */
static bool read_converted(struct io_chunks *c, int64_t frame, slab *s, chunk *item, int64_t down,
                           hid_t type, size_t stride, char *out)
{
    const size_t size = H5Tget_size(type), widest = size > c->size ? size : c->size;
    const size_t row = (size_t)s->columns * size;
    const size_t numbers = (size_t)(s->n * s->columns) * widest;
    const bool room = reserve(&c->numbers, numbers, numbers);
    char *memory = c->numbers.data;
    s->out = memory;
    s->stride = (size_t)s->columns * c->size;
    const bool done = room && fill(c, frame, s, item, down) &&
                      H5Tconvert(c->type, type, (size_t)(s->n * s->columns), memory, NULL,
                                 H5P_DEFAULT) >= 0;
    for (int64_t p = 0; p < s->n && done; p++) {
        memcpy(out + (size_t)p * stride, memory + (size_t)p * row, row);
    }
    return done;
}

io_chunks_result io__chunks_read(struct io_chunks *c, int64_t frame, int64_t first, int64_t n,
                                 int64_t columns, hid_t type, size_t stride, void *out)
{
    const int64_t down = (first + n - 1) / c->rows - first / c->rows + 1;
    slab s = {.chunks = c,
              .across = (columns + c->columns - 1) / c->columns,
              .top = first / c->rows * c->rows,
              .first = first,
              .n = n,
              .columns = columns,
              .out = out,
              .stride = stride};
    chunk *item = malloc((size_t)(down * s.across) * sizeof *item);
    const bool done = item && (H5Tequal(c->type, type) > 0
                                   ? fill(c, frame, &s, item, down)
                                   : read_converted(c, frame, &s, item, down, type, stride, out));
    free(item);
    return done ? IO_CHUNKS_READ : s.lacking ? IO_CHUNKS_DAMAGED : IO_CHUNKS_LEFT;
}

#else

struct io_chunks *io__chunks_open(io_file *file, const io_array *array)
{
    (void)file, (void)array;
    return NULL;
}

void io__chunks_close(struct io_chunks *c)
{
    (void)c;
}

int64_t io__chunks_rows(const struct io_chunks *c, int64_t rows, int64_t columns)
{
    (void)c, (void)columns;
    return rows;
}

io_chunks_result io__chunks_read(struct io_chunks *c, int64_t frame, int64_t first, int64_t n,
                                 int64_t columns, hid_t type, size_t stride, void *out)
{
    (void)c, (void)frame, (void)first, (void)n, (void)columns, (void)type, (void)stride, (void)out;
    return IO_CHUNKS_LEFT;
}

#endif
