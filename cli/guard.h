/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is said where the HDF5 library crashes on a damaged file: 1.10 reads beyond its buffers, or
 * frees what it has not allocated, when a file lies.
 */
#ifndef KITH_CLI_GUARD_H
#define KITH_CLI_GUARD_H

/** From now on a crash within the HDF5 library ends the command with a message that names the file,
 *  and exit status 4. All other crashes are as they were. */
void guard_start(void);

/** The file that is being read. */
void guard_name(const char *path);

#endif
