/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which box a verb works in: the user's, else the file's, else open space.
 */
#ifndef KITH_CLI_SPACE_H
#define KITH_CLI_SPACE_H

#include "box.h"
#include "options.h"

#include <jansson.h>

typedef struct space {
    kith_box box;
    const char *source; /**< "option", "file" or "none" */
} space;

/** Choose the space of a file's particles. @return STATUS_OK, or another status after reporting. */
int space_choose(const options *o, const char *path, const io_particles *particles, space *out);

/** Print it in a line of a summary. */
void space_print(const space *s);
json_t *space_json(const space *s);

/** Print a box alone in one line, without its source. */
void space_print_box(const kith_box *box);
json_t *space_box_json(const kith_box *box);

#endif
