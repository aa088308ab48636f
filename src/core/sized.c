/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies between public structs of the caller's size and of the library's.
 */
#include "sized.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void kith__options_init(const void *own, void *given, size_t size)
{
    size_t own_size;
    memcpy(&own_size, own, sizeof own_size); /* the first field of the struct is its size */
    if (!given || size < sizeof size) {
        return;
    }
    memset(given, 0, size);
    memcpy(given, own, smaller(size, own_size));
    memcpy(given, &size, sizeof size);
}

/** Refuse a struct that is larger than the library's if a byte of the excess is not 0.
 *  @param name  of the struct, for the message */
static kith_status check_excess(kith_ctx *ctx, const char *name, const void *given, size_t size,
                                size_t own_size)
{
    const unsigned char *byte = given;
    for (size_t at = own_size; at < size; at++) {
        KITH_CHECK(ctx, byte[at] == 0, KITH_INVALID,
                   "%s.size is %zu, this library (version %s) knows the first %zu bytes, and a "
                   "field after them is not 0: the program was built for a later version of kith",
                   name, size, KITH_VERSION, own_size);
    }
    return KITH_OK;
}

/** Return true when this can be the size of a struct in a version of the library: structs consist
 *  of units of 8 bytes (KITH_SIZE_UP_TO).
 *  @param least  size of the struct in the version that introduced it [bytes] */
static bool is_size(size_t size, size_t least)
{
    return size >= least && size <= KITH_MOST_SIZE && size % 8 == 0;
}

kith_status kith__options_read(kith_ctx *ctx, const char *name, const char *init, const void *given,
                               size_t least, void *own)
{
    size_t own_size, size;
    memcpy(&own_size, own, sizeof own_size);
    if (!given) {
        return KITH_OK;
    }
    memcpy(&size, given, sizeof size);
    KITH_CHECK(ctx, is_size(size, least), KITH_INVALID,
               "%s.size is %zu, expected %zu: fill the struct with %s", name, size, own_size, init);
    KITH_TRY(check_excess(ctx, name, given, size, own_size));
    memcpy(own, given, smaller(size, own_size));
    memcpy(own, &own_size, sizeof own_size);
    return KITH_OK;
}

kith_status kith__result_read(kith_ctx *ctx, const char *name, const void *given, size_t size,
                              size_t least, void *own, size_t own_size)
{
    KITH_CHECK(ctx, given != NULL, KITH_INVALID, "%s is NULL", name);
    KITH_CHECK(ctx, size == 0 || is_size(size, least), KITH_INVALID,
               "%s.size is %zu, expected %zu, or 0 for the fields of version 0.1: zero the struct "
               "before its first use",
               name, size, own_size);
    KITH_TRY(check_excess(ctx, name, given, size, own_size));
    memset(own, 0, own_size);
    memcpy(own, given, smaller(size ? size : least, own_size));
    return KITH_OK;
}

void kith__result_write(const void *own, size_t own_size, size_t size, size_t least, void *given)
{
    memcpy(given, own, smaller(is_size(size, least) ? size : least, own_size));
}
