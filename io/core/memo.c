/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In-memory files: an array that doubles in size, and a stream of fopencookie over it.
 */
#include "memo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

bool io_memo_add(io_memo *memo, const void *data, size_t size)
{
    if (memo->n + size >= memo->room) {
        const size_t room = 2 * memo->room + size + 1;
        char *grown = realloc(memo->data, room);
        if (!grown) {
            memo->lost = true;
            return false;
        }
        memo->data = grown;
        memo->room = room;
    }
    memcpy(memo->data + memo->n, data, size);
    memo->n += size;
    memo->data[memo->n] = '\0';
    return true;
}

static ssize_t append(void *memo, const char *data, size_t size)
{
    return io_memo_add(memo, data, size) ? (ssize_t)size : 0;
}

FILE *io_memo_open(io_memo *memo)
{
    return fopencookie(memo, "w", (cookie_io_functions_t){.write = append});
}

bool io_memo_close(io_memo *memo, FILE *stream)
{
    const bool whole = stream && fclose(stream) == 0 && !memo->lost;
    if (!whole) {
        free(memo->data);
        *memo = (io_memo){0};
    }
    return whole;
}
