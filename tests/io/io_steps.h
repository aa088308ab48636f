/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps of readers and writers made to fail: blocks and lines of a file, numbers of a line, arrays
 * of particles, what is written to an output. For programs whose link options lead the functions
 * that io_steps.c lists through it (tests/io/CMakeLists.txt).
 */
#ifndef KITH_TEST_IO_STEPS_H
#define KITH_TEST_IO_STEPS_H

#include <stdint.h>

/** What a step that is made to fail says; with IO_SYSTEM. */
#define STEPS_MESSAGE "a step was made to fail"

/** errno of a read that is made to fail; its message is in place of STEPS_MESSAGE. */
#define STEPS_ERROR EIO

/** Steps since the last call of steps_fail. */
int64_t steps_count(void);

/** Make the k-th step from now on fail, counted from 0; -1: none. */
void steps_fail(int64_t k);

/** The function that failed last. */
const char *steps_failed(void);

#endif
