/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a pair list goes, block by block: into a file through io, or to standard output as text.
 */
#ifndef KITH_CLI_SINK_H
#define KITH_CLI_SINK_H

#include "io.h"

typedef struct sink {
    io_pairs_writer *writer; /**< NULL: standard output */
    unsigned extras;
    kith_precision precision;
} sink;

/** Start. @param path  "-": standard output. Then sink_commit or sink_abort must follow. */
io_status sink_open(sink *s, const char *path, const io_pairs_layout *layout, io_error *error);
io_status sink_write(sink *s, const kith_pairs *block, io_error *error);
io_status sink_commit(sink *s, io_error *error);
void sink_abort(sink *s);

#endif
