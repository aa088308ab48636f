/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the fuzzers of readers share: the input as a file, and what must hold.
 */
#ifndef KITH_FUZZ_FILE_H
#define KITH_FUZZ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Called once; keeps chemfiles, which is not ours to judge, from being loaded. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** End the program with a message unless holds. */
void require(bool holds, const char *what);

/** Write the input to a file of the process's own, and give it a second name, as of the second
 *  file of a snapshot. @return its path, one that HDF5 can resolve: no memfd. */
const char *write_file(const uint8_t *data, size_t size);

/** Remove both before the next: libFuzzer ends without exit handlers. */
void remove_file(void);

#endif
