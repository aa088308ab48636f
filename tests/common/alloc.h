/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counting allocations and making them fail. For programs that link kith_static and
 * the CMake target kith_test_alloc, whose options lead every allocation through here.
 */
#ifndef KITH_TEST_ALLOC_H
#define KITH_TEST_ALLOC_H

#include <stdint.h>

/** Allocations made so far, failed ones included. */
int64_t alloc_count(void);

/** Blocks allocated and not yet freed. */
int64_t alloc_live(void);

/**
 * Make allocations fail from the k-th from now on, counted from 0.
 * @param times  how many fail; 0 ends the failing
 */
void alloc_fail(int64_t k, int64_t times);

/**
 * Make allocations of the calling thread fail from its k-th from now on, counted from 0.
 * @param times  how many fail; 0 ends the failing
 */
void alloc_fail_thread(int64_t k, int64_t times);

#endif
