/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A folder for the files of one test program, and bytes to put into them.
 */
#ifndef KITH_TEST_IO_FILES_H
#define KITH_TEST_IO_FILES_H

#include <io.h>

/** Make an empty folder, removed with all it holds when the program ends. */
void files_begin(void);

/** Path of a name in the folder; valid until the fourth next call. */
const char *files_path(const char *name);

/** Files in the folder whose name contains part. */
int files_count(const char *part);

/** A buffer that grows. Zero it; free data. */
typedef struct bytes {
    char *data;
    size_t n, room;
} bytes;

void bytes_add(bytes *b, const void *data, size_t n);
void bytes_print(bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append the lowest `size` bytes of bits, most significant first when big. */
void bytes_put(bytes *b, uint64_t bits, int size, bool big);
void bytes_put_float(bytes *b, float value, bool big);
void bytes_put_double(bytes *b, double value, bool big);

/** Write the first n bytes to a file of the folder. @return its path. */
const char *bytes_save(const bytes *b, const char *name, size_t n);

/** Read a whole file. */
bytes bytes_load(const char *path);

/** Coordinate of a particle, whatever the precision. */
double files_at(const io_particles *particles, int64_t p, int axis);

/** A NumPy file of the given version, type as in Python, order and shape, without numbers. */
bytes npy_begin(int version, const char *type, bool fortran, const char *shape);

/** A tipsy header of 32 or 28 bytes; counts of gas, dark, star. */
bytes tipsy_begin(bool big, int size, const int64_t n[3], uint32_t pad);

#endif
