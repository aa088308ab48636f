/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An in-memory file. Unlike the stream of open_memstream, which in glibc 2.36 loses data silently
 * when memory is exhausted, its stream reports that.
 */
#ifndef KITH_IO_MEMO_H
#define KITH_IO_MEMO_H

#include <stdbool.h>
#include <stdio.h>

/** An in-memory file. Zero it first; free(data) at the end. */
typedef struct io_memo {
    char *data;  /**< Bytes [n], and a 0; NULL: nothing was appended. */
    size_t n;    /**< Number of bytes. */
    size_t room; /**< Bytes that data has room for. */
    bool lost;   /**< Bytes were lost, because memory was exhausted. */
} io_memo;

/** Append bytes. @return false if memory is exhausted */
bool io_memo_add(io_memo *memo, const void *data, size_t size);

/** Open a stream that appends. @return NULL if memory is exhausted */
FILE *io_memo_open(io_memo *memo);

/** Close the stream.
 *  @param stream  NULL: it could not be opened
 *  @return false if memory was exhausted; the file is freed and empty then */
bool io_memo_close(io_memo *memo, FILE *stream);

#endif
