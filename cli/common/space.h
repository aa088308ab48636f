/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The simulation box of a verb: that of --box, else that of the file, else open space.
 */
#ifndef KITH_CLI_SPACE_H
#define KITH_CLI_SPACE_H

#include "box.h"
#include "options.h"

#include <jansson.h>
#include <stdio.h>

/** A box, and where it comes from. */
typedef struct space {
    kith_box box;       /**< the box; open space has rows of 0 */
    const char *source; /**< where the box comes from: "option", "file" or "none" */
} space;

/** Choose the box: that of the options, else that of the file, else open space.
 *  @return exit status, reported */
int space_choose(const options *o, const char *path, const io_particles *particles, space *out);

/** Refuse a box whose volume overflows or underflows a double. An axis of length 0 is open, and
 *  allowed. @return exit status, reported */
int space_check_volume(const space *s, const char *path);

/** Return true when the rows of a box are along the axes. */
bool space_is_upright(const kith_box *box);

/** Print the box and its source as lines of a summary of up to 80 columns.
 *  @param source  text after the box: " (from the file)" */
void space_print(const space *s);
void space_print_box(const kith_box *box, const char *source);

/** Return the box and its source as JSON. */
json_t *space_json(const space *s);

/** Write the box on one line, without its source. */
void space_put_box(FILE *out, const kith_box *box);

/** Return the box as JSON, without its source. */
json_t *space_box_json(const kith_box *box);

#endif
