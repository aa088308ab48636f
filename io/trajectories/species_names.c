/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of species and their numbers: a hash table with linear probing (struct io_labels).
 */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

io_status io__labels_open(io_file *file, io_labels *labels)
{
    *labels = (io_labels){.name = calloc(IO_MOST_LABELS, sizeof *labels->name),
                          .slot = calloc(IO_LABEL_SLOTS, sizeof *labels->slot)};
    if (!labels->name || !labels->slot) {
        return io__file_fail(file, IO_NO_MEMORY, "no memory for names of species");
    }
    return IO_OK;
}

void io__labels_close(io_labels *labels)
{
    free(labels->name);
    free(labels->slot);
    *labels = (io_labels){0};
}

/** Hash a name by FNV-1a. */
static uint32_t hash(const char *name)
{
    uint32_t bits = 2166136261u;
    for (; *name; name++) {
        bits = (bits ^ (unsigned char)*name) * 16777619u;
    }
    return bits;
}

/** Find the slot of a name, or the free slot for it. @param[out] clean  the name as it is stored */
static uint32_t find_slot(const io_labels *labels, io_token name, char clean[IO_NAME_LENGTH])
{
    io__copy_name(clean, IO_NAME_LENGTH, name.text, name.length);
    uint32_t at = hash(clean) % IO_LABEL_SLOTS;
    while (labels->slot[at] && strcmp(labels->name[labels->slot[at] - 1], clean) != 0) {
        at = (at + 1) % IO_LABEL_SLOTS;
    }
    return at;
}

bool io__labels_find(const io_labels *labels, io_token name, int32_t *number)
{
    char clean[IO_NAME_LENGTH];
    *number = labels->slot[find_slot(labels, name, clean)] - 1;
    return *number >= 0;
}

io_status io__labels_number(io_file *file, io_labels *labels, io_token name, int32_t *number)
{
    char clean[IO_NAME_LENGTH];
    const uint32_t at = find_slot(labels, name, clean);
    if (labels->slot[at]) {
        *number = labels->slot[at] - 1;
        return IO_OK;
    }
    if (labels->n == IO_MOST_LABELS) {
        return io__file_fail(file, IO_LIMIT, "has more than %d names of species: '%s'",
                             IO_MOST_LABELS, clean);
    }
    *number = labels->n++;
    memcpy(labels->name[*number], clean, sizeof clean);
    labels->slot[at] = (int16_t)labels->n;
    return IO_OK;
}
