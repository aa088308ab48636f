/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A file made in memory before it is written. Unlike that of open_memstream, of which glibc 2.36
 * loses parts without a word, its stream says when memory did not suffice.
 */
#ifndef KITH_IO_MEMO_H
#define KITH_IO_MEMO_H

#include <stdbool.h>
#include <stdio.h>

/** Zero it first; free(data) at the end. */
typedef struct io_memo {
    char *data; /**< [n], and a 0 behind; NULL when nothing was ever added */
    size_t n, room;
    bool lost; /**< memory did not suffice for all of it */
} io_memo;

/** Append bytes. @return false: no memory */
bool io_memo_add(io_memo *memo, const void *data, size_t size);

/** A stream that appends. @return NULL: no memory */
FILE *io_memo_open(io_memo *memo);

/** Close the stream. @return false: no memory for all of it; nothing is left then.
 *  @param stream  NULL: it could not be opened */
bool io_memo_close(io_memo *memo, FILE *stream);

#endif
