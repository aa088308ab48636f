/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files that HDF5 has read because another file refers to them: targets of external links,
 * sources of virtual datasets, external raw files. No output may replace one of them.
 */
#ifndef KITH_IO_LINKED_H
#define KITH_IO_LINKED_H

#include "io.h"

#include <stdbool.h>
#include <sys/stat.h>

/** Record a file, by device and inode, until the process ends. @return false without memory */
bool io__linked_add(const struct stat *file);

/** See that an output does not replace a file that was recorded. @param path  names the output */
io_status io__linked_check(const struct stat *file, const char *path, io_error *error);

#endif
