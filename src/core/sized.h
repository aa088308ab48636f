/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Public structs that grow from version to version. A caller's struct may be smaller than the
 * library's, where the program was built for an earlier version, or larger, where it was built for
 * a later one. Each public call copies it into a struct of the library's size, and copies results
 * back; everything behind the call reads and writes structs of full size alone.
 */
#ifndef KITH_SIZED_H
#define KITH_SIZED_H

#include "context.h"

/** Size of a struct whose last field is `field`, rounded up to a multiple of 8, as public structs
 *  that grow consist of units of 8 bytes [bytes]. Beside the calls that read a struct stands a
 *  constant, its size in the version that introduced it, which is the least that a caller's struct
 *  can have: KITH_OPTIONS_0_1 in context.c for kith_options of version 0.1. A field that is
 *  appended to the struct must not begin before this size: it would lie in the padding of the
 *  structs of older programs, which do not set it. */
#define KITH_SIZE_UP_TO(type, field) \
    ((offsetof(type, field) + sizeof(((type *)0)->field) + 7) / 8 * 8)

enum { KITH_MOST_SIZE = 4096 /**< largest size that a struct of any version may state [bytes] */ };

/** Fill a caller's struct of options or of input.
 *  @param own         the defaults; the first field of the struct is its size
 *  @param[out] given  receives the fields that both structs have, and `size` as its size; other
 *                     fields become 0. NULL, or a size that is too small for the field `size`: no
 *                     effect */
void kith__options_init(const void *own, void *given, size_t size);

/** Read a caller's struct of options or of input, whose first field is its size.
 *  @param name          of the struct, for the message
 *  @param init          of the function that fills it, for the message
 *  @param given         the caller's struct; NULL: own stays as it is
 *  @param least         its size in the version that introduced it
 *  @param[in,out] own   the defaults; receives the fields that both structs have
 *  @return KITH_OK; KITH_INVALID for a size that no version has, and where a field that this
 *          library does not have is not 0 */
kith_status kith__options_read(kith_ctx *ctx, const char *name, const char *init, const void *given,
                               size_t least, void *own);

/** Read a caller's struct of results.
 *  @param name      of the argument, for messages
 *  @param given     the caller's struct; NULL is refused
 *  @param size      its size as stated; 0: `least`
 *  @param least     its size in the version that introduced it
 *  @param[out] own  a struct of full size, `own_size`; fields that the caller does not have are 0
 *  @return KITH_OK; KITH_INVALID where given is NULL, for a size that no version has, and where a
 *          field that this library does not have is not 0 */
kith_status kith__result_read(kith_ctx *ctx, const char *name, const void *given, size_t size,
                              size_t least, void *own, size_t own_size);

/** Write results to a caller's struct: the fields that both structs have. The field `size` is
 *  written too: own must have the caller's, as it has after kith__result_read.
 *  @param own          a struct of full size, `own_size`
 *  @param size         size of the caller's struct as stated; 0, or a size that no version has:
 *                      `least`
 *  @param least        its size in the version that introduced it
 *  @param[out] given   the caller's struct */
void kith__result_write(const void *own, size_t own_size, size_t size, size_t least, void *given);

/** Define the init calls of a public struct, which fill it from the constant `defaults` that the
 *  file must have declared before. The public header also has a macro name_init, which passes
 *  sizeof to name_init_sized; the parentheses around name_init keep it from being expanded here.
 *  @param name   of the struct: the calls are name_init_sized and name_init
 *  @param least  its size in the version that introduced it: what the function name_init fills */
#define KITH_INIT_CALLS(name, least) \
    void name##_init_sized(name *given, size_t size) \
    { \
        kith__options_init(&defaults, given, size); \
    } \
    void(name##_init)(name * given) \
    { \
        name##_init_sized(given, least); \
    }

/** Call kith__options_read for a struct `own` that its init call, the function `init`, has filled;
 *  return from the current function where that fails. */
#define KITH_OPTIONS_READ(ctx, name, init, given, least, own) \
    KITH_TRY(kith__options_read(ctx, name, #init, given, least, own))

/** Call kith__result_read for `out`, which may be NULL, and `own`, both pointers to one type;
 *  return from the current function where that fails. Messages have the variable's name, which is
 *  that of the public call's argument. */
#define KITH_RESULT_READ(ctx, out, least, own) \
    KITH_TRY(kith__result_read(ctx, #out, out, (out) ? (out)->size : 0, least, own, sizeof *(own)))

/** Call kith__result_write for `out` and `own`, both pointers to one type. */
#define KITH_RESULT_WRITE(own, least, out) \
    kith__result_write(own, sizeof *(own), (out)->size, least, out)

/** Zero all fields of a caller's struct of results but its size. */
#define KITH_RESULT_CLEAR(out, type, least) \
    do { \
        const type clear_own = {.size = (out)->size}; \
        kith__result_write(&clear_own, sizeof clear_own, clear_own.size, least, out); \
    } while (0)

#endif
