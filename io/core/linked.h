/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that the HDF5 library has read because another file refers to them: targets of external
 * links, sources of virtual datasets, external raw files. No output may replace one of them.
 */
#ifndef KITH_IO_LINKED_H
#define KITH_IO_LINKED_H

#include "io.h"

#include <stdbool.h>
#include <sys/stat.h>

/** Record a file, by device and inode, until the process ends. Thread-safe.
 *  @return false if memory is exhausted */
bool io__linked_add(const struct stat *file);

/** Check that a file was not recorded, before an output replaces it. Thread-safe.
 *  @param path  path of the output, for messages
 *  @return IO_OK; IO_INVALID if it was recorded */
io_status io__linked_check(const struct stat *file, const char *path, io_error *error);

#endif
