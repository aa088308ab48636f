/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An in-memory file. Unlike the stream of open_memstream, which in glibc 2.36 loses data silently
 * when memory is exhausted, its stream reports that.
 */
#ifndef KITH_IO_MEMORY_FILE_H
#define KITH_IO_MEMORY_FILE_H

#include <stdbool.h>
#include <stdio.h>

/** An in-memory file. Zero it first; free(data) at the end. */
typedef struct io_memory_file {
    char *data;  /**< Bytes [n], and a 0; NULL: nothing was appended. */
    size_t n;    /**< Number of bytes. */
    size_t room; /**< Bytes that data has room for. */
    bool lost;   /**< Bytes were lost, because memory was exhausted. */
} io_memory_file;

/** Append bytes. @return false if memory is exhausted */
bool io_memory_file_add(io_memory_file *file, const void *data, size_t size);

/** Open a stream that appends. @return NULL if memory is exhausted */
FILE *io_memory_file_open(io_memory_file *file);

/** Close the stream.
 *  @param stream  NULL: it could not be opened
 *  @return false if memory was exhausted; the file is freed and empty then */
bool io_memory_file_close(io_memory_file *file, FILE *stream);

#endif
