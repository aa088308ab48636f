/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a text, formatted by several threads. Rows are cut into pieces, and pieces are grouped
 * into bands. While the calling thread writes a band to the file, the others format the next one.
 * No other thread writes: signals are blocked there, and would not end a write that blocks. The
 * bytes do not depend on the number of threads.
 */
#include "io_internal.h"

#include "pool.h"

#include <stdlib.h>

enum {
    PIECE_ROWS = 1024,                      /* rows of a piece */
    PIECES_EACH = 4,                        /* pieces of a band for each thread */
    MOST_PIECES = 128,                      /* most pieces of a band */
    PIECE_BYTES = PIECE_ROWS * (int)IO_LINE /* room for the lines of a piece */
};

/** A band of lines. */
typedef struct band {
    io_output *output;           /* where the lines go */
    io__line_fn *line;           /* formats a row */
    const void *user;            /* first argument of `line` */
    int64_t first, end;          /* range of rows */
    int64_t pieces;              /* number of pieces; 0: there are no rows */
    char *text;                  /* the lines of all pieces [pieces][PIECE_BYTES] */
    int64_t length[MOST_PIECES]; /* bytes of each piece */
    struct band *before;         /* the band that is written meanwhile */
    bool written;                /* the band before has been written, or has failed */
    io_status status;            /* result of writing the band before */
} band;

/** Threads, and two bands: one is formatted while the other is written. */
struct io_formatter {
    struct kith__pool *pool; /* the threads */
    int64_t pieces;          /* pieces of a band */
    char *text;              /* memory of both bands [2][pieces][PIECE_BYTES] */
    band band[2];            /* the bands, in turn */
};

/** Append the lines of a band to the output. */
static io_status write_band(const band *b)
{
    for (int64_t k = 0; k < b->pieces; k++) {
        IO_TRY(io__output_write(b->output, b->text + k * PIECE_BYTES, b->length[k]));
    }
    return IO_OK;
}

/** Write the band before this one, once. */
static void write_before(band *b)
{
    if (!b->written) {
        b->written = true;
        b->status = write_band(b->before);
    }
}

/** Format a piece of a band. Worker 0, the calling thread, writes the band before first. */
static void do_piece(void *state, int64_t k, int worker)
{
    band *b = state;
    if (worker == 0) {
        write_before(b);
    }
    const int64_t begin = b->first + k * PIECE_ROWS;
    const int64_t end = begin + PIECE_ROWS < b->end ? begin + PIECE_ROWS : b->end;
    char *const text = b->text + k * PIECE_BYTES, *at = text;
    const locale_t before = io__locale_set_c();
    for (int64_t row = begin; row < end; row++) {
        at = b->line(b->user, row, at);
    }
    io__locale_restore(before);
    b->length[k] = at - text;
}

/** Start threads. @return NULL: one thread is to be used, or there is no memory */
static struct io_formatter *open_formatter(int threads)
{
    struct io_formatter *f = threads > 1 ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        return NULL;
    }
    f->pieces = (int64_t)PIECES_EACH * threads < MOST_PIECES ? PIECES_EACH * threads : MOST_PIECES;
    f->pool = kith__pool_open(threads);
    f->text = malloc(2 * (size_t)f->pieces * PIECE_BYTES);
    if (!f->pool || !f->text) {
        kith__pool_close(f->pool);
        free(f->text);
        free(f);
        return NULL;
    }
    f->band[0] = (band){.text = f->text, .before = &f->band[1]};
    f->band[1] = (band){.text = f->text + f->pieces * PIECE_BYTES, .before = &f->band[0]};
    return f;
}

/** Format and write lines in this thread. */
static io_status write_lines(io_output *output, int64_t n, io__line_fn *line, const void *user)
{
    for (int64_t row = 0; row < n; row++) {
        char text[IO_LINE];
        IO_TRY(io__output_write(output, text, line(user, row, text) - text));
    }
    return IO_OK;
}

io_status io__output_lines(io_output *output, int64_t n, io__line_fn *line, const void *user)
{
    if (n > 2 * PIECE_ROWS && !output->formatter) {
        output->formatter = open_formatter(output->threads);
    }
    if (n <= 2 * PIECE_ROWS || !output->formatter) {
        const locale_t before = io__locale_set_c();
        const io_status status = write_lines(output, n, line, user);
        io__locale_restore(before);
        return status;
    }
    const struct io_formatter *f = output->formatter;
    const int64_t rows = f->pieces * PIECE_ROWS;
    band *now = &output->formatter->band[0];
    now->before->pieces = 0;
    for (int64_t first = 0; first < n; first += rows, now = now->before) {
        now->output = output;
        now->line = line;
        now->user = user;
        now->first = first;
        now->end = first + rows < n ? first + rows : n;
        now->pieces = (now->end - first + PIECE_ROWS - 1) / PIECE_ROWS;
        now->written = false;
        IO_TRY(io__output_check_stop(output));
        kith__pool_run(f->pool, kith__pool_threads(f->pool), now->pieces, do_piece, now);
        write_before(now); /* where the others had claimed all pieces first */
        IO_TRY(now->status);
    }
    return write_band(now->before);
}

void io__output_lines_end(io_output *output)
{
    struct io_formatter *f = output->formatter;
    if (f) {
        kith__pool_close(f->pool);
        free(f->text);
        free(f);
    }
    output->formatter = NULL;
}
