/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running one use of the library again and again, each time with another allocation failing.
 */
#ifndef KITH_TEST_NO_MEMORY_H
#define KITH_TEST_NO_MEMORY_H

#include "kith.h"

/** One use of the interface, of an open context. */
typedef struct no_memory_use {
    const char *backend;
    /** Do the work. @param[out] seen  what came out, added up. @return the first failure. */
    kith_status (*work)(void *user, kith_ctx *ctx, int64_t *seen);
    void (*release)(void *user); /**< free what the work made */
    void *user;
} no_memory_use;

/**
 * Fail every allocation from opening a context to the end of the work, one by one and from one on:
 * KITH_NO_MEMORY, nothing leaked, and the same work succeeds when there is memory again.
 */
void no_memory_check(const no_memory_use *use);

#endif
