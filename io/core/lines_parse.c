/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a text, parsed by several threads. The lines in the buffer are cut into pieces of some
 * 16 KiB. A piece with a line that cannot be parsed is left to the caller, who parses it line by
 * line and so finds the error of the first bad line, or does what lines need only once.
 */
#include "io_internal.h"

#include "pool.h"

#include <stdatomic.h>
#include <string.h>

enum {
    PIECE_BYTES = 1 << 14, /* bytes of a piece, and the rest of its last line */
    MOST_PIECES = IO_BLOCK / PIECE_BYTES,
    ALONE = 4096 /* lines that are left to io__lines_next behind one that cannot be parsed */
};

/** Lines that follow each other in the buffer. */
typedef struct piece {
    char *begin, *end;       /* first character; behind the last line's end */
    int64_t first, end_line; /* range of lines */
} piece;

/** A parallel loop over pieces. */
typedef struct loop {
    const io_lines *lines;   /* the lines, which are not changed */
    io__parse_fn *parse;     /* parses a line */
    void *user;              /* its first argument */
    piece item[MOST_PIECES]; /* the pieces */
    _Atomic int64_t failed;  /* lowest index of a piece with a line that cannot be parsed */
} loop;

/** Cut the complete lines of the buffer into pieces. @return number of pieces */
static int64_t cut(const io_lines *lines, int64_t most, piece *item)
{
    char *at = lines->buffer + lines->begin, *const end = lines->buffer + lines->end;
    int64_t n = 0, line = 0;
    while (n < MOST_PIECES && line < most) {
        piece *p = &item[n];
        *p = (piece){.begin = at, .end = at, .first = line};
        while (line < most && at - p->begin < PIECE_BYTES) {
            char *stop = memchr(at, '\n', (size_t)(end - at));
            if (!stop) {
                break;
            }
            at = p->end = stop + 1;
            p->end_line = ++line;
        }
        if (p->end == p->begin) {
            break;
        }
        n++;
    }
    return n;
}

/** Parse the lines of a piece, until one cannot be parsed. For kith__pool_run; state: loop */
static void parse_piece(void *state, int64_t index, int worker)
{
    loop *l = state;
    const piece *p = &l->item[index];
    io_error dropped;
    io_file file = *l->lines->file;
    io_lines lines = *l->lines;
    (void)worker;
    lines.file = &file;
    file.error = &dropped;
    char *line = p->begin;
    bool done = true;
    for (int64_t k = p->first; k < p->end_line && done; k++) {
        char *stop = memchr(line, '\n', (size_t)(p->end - line));
        const bool carriage = stop > line && stop[-1] == '\r';
        *stop = 0;
        stop[-carriage] = 0;
        lines.number = l->lines->number + 1 + k;
        done = l->parse(l->user, &lines, line, k);
        stop[-carriage] = '\r';
        *stop = '\n';
        line = stop + 1;
    }
    int64_t lowest = atomic_load(&l->failed);
    while (!done && index < lowest && !atomic_compare_exchange_weak(&l->failed, &lowest, index)) {}
}

io_status io__lines_parse(io_lines *lines, int64_t most, io__parse_fn *parse, void *user,
                          int64_t *parsed)
{
    *parsed = 0;
    if (lines->again || lines->number < lines->alone) {
        return IO_OK;
    }
    if (lines->end - lines->begin < lines->room / 2 && lines->offset < lines->file->size) {
        IO_TRY(io__lines_refill(lines));
    }
    loop l = {.lines = lines, .parse = parse, .user = user};
    const int64_t n = cut(lines, most < IO_PARSED ? most : IO_PARSED, l.item);
    struct kith__pool *pool = n > 1 ? io__file_pool(lines->file) : NULL;
    if (!pool) {
        lines->alone = lines->number + (n > 0 ? l.item[n - 1].end_line : 1);
        return IO_OK;
    }
    atomic_init(&l.failed, n);
    kith__pool_run(pool, kith__pool_threads(pool), n, parse_piece, &l);
    const int64_t done = l.failed;
    if (done < n) {
        lines->alone = lines->number + (done > 0 ? l.item[done - 1].end_line : 0) + ALONE;
    }
    if (done > 0) {
        *parsed = l.item[done - 1].end_line;
        lines->number += *parsed;
        lines->begin = l.item[done - 1].end - lines->buffer;
    }
    return IO_OK;
}
