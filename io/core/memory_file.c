/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In-memory files: an array that doubles in size, and a stream of glibc's fopencookie, with a write
 * function of our own, that appends to it.
 */
#include "memory_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

bool io_memory_file_add(io_memory_file *file, const void *data, size_t size)
{
    if (file->n + size >= file->room) {
        const size_t room = 2 * file->room + size + 1;
        char *grown = realloc(file->data, room);
        if (!grown) {
            file->lost = true;
            return false;
        }
        file->data = grown;
        file->room = room;
    }
    memcpy(file->data + file->n, data, size);
    file->n += size;
    file->data[file->n] = '\0';
    return true;
}

/** The write function of the stream. @return bytes appended; 0: memory is exhausted */
static ssize_t append(void *file, const char *data, size_t size)
{
    return io_memory_file_add(file, data, size) ? (ssize_t)size : 0;
}

FILE *io_memory_file_open(io_memory_file *file)
{
    return fopencookie(file, "w", (cookie_io_functions_t){.write = append});
}

bool io_memory_file_close(io_memory_file *file, FILE *stream)
{
    const bool whole = stream && fclose(stream) == 0 && !file->lost;
    if (!whole) {
        free(file->data);
        *file = (io_memory_file){0};
    }
    return whole;
}
