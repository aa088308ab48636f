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

/** Size of a struct whose last field is `field`. Public structs that grow consist of units of 8
 *  bytes. */
#define KITH_SIZE_UP_TO(type, field) \
    ((offsetof(type, field) + sizeof(((type *)0)->field) + 7) / 8 * 8)

/** Sizes of the structs in the version that brought them, the least that a caller's struct can
 *  have: 0.1 below stands for that version. A field that is appended to a struct must not begin
 *  before this size. */
enum {
    KITH_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_options, stream),
    KITH_PAIRS_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_pairs_options, block_pairs),
    KITH_PAIRS_0_1 = KITH_SIZE_UP_TO(kith_pairs, owner),
    KITH_FOF_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_fof_options, velocity_length),
    KITH_GROUPS_0_1 = KITH_SIZE_UP_TO(kith_groups, owner),
    KITH_HALO_INPUT_0_1 = KITH_SIZE_UP_TO(kith_halo_input, sphere_density),
    KITH_HALO_0_1 = KITH_SIZE_UP_TO(kith_halo, sphere_mass),
    KITH_HALOS_0_1 = KITH_SIZE_UP_TO(kith_halos, owner),
    KITH_RDF_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_rdf_options, forces_against),
    KITH_HISTOGRAM_0_1 = KITH_SIZE_UP_TO(kith_histogram, owner),
    KITH_WAVES_0_1 = KITH_SIZE_UP_TO(kith_waves, n_species),
    KITH_DEBYE_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_debye_options, n_species),
    KITH_OVERLAP_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_overlap_options, high),
    KITH_OVERLAPS_0_1 = KITH_SIZE_UP_TO(kith_overlaps, owner),
    KITH_FLOCK_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_flock_options, first_step),
    KITH_FLOCK_MEASURES_0_1 = KITH_SIZE_UP_TO(kith_flock_measures, neighbours),
    KITH_NEAREST_OPTIONS_0_2 = KITH_SIZE_UP_TO(kith_nearest_options, extras),
    KITH_NEAREST_0_2 = KITH_SIZE_UP_TO(kith_nearest, owner),
    KITH_MOST_SIZE = 4096 /**< largest size that a struct of any version may state [bytes] */
};

/** Fill a caller's struct of options or of input.
 *  @param own         the defaults; the first field of the struct is its size
 *  @param[out] given  receives the fields that both know, and `size` as its size; what this library
 *                     does not know becomes 0. NULL: no effect, as where size is too small to hold
 *                     itself */
void kith__options_init(const void *own, void *given, size_t size);

/** Read a caller's struct of options or of input, whose first field is its size.
 *  @param name          of the struct, for the message
 *  @param init          of the function that fills it, for the message
 *  @param given         the caller's struct; NULL: own stays as it is
 *  @param least         its size in version 0.1
 *  @param[in,out] own   the defaults; receives the fields that both know
 *  @return KITH_OK; KITH_INVALID for a size that no version has, and where a field that this
 *          library does not know is not 0 */
kith_status kith__options_read(kith_ctx *ctx, const char *name, const char *init, const void *given,
                               size_t least, void *own);

/** Read a caller's struct of results.
 *  @param given     the caller's struct; NULL is refused
 *  @param size      its size as stated; 0: that of version 0.1
 *  @param least     its size in version 0.1
 *  @param[out] own  a struct of full size, `own_size`; fields that the caller does not know are 0
 *  @return as kith__options_read */
kith_status kith__result_read(kith_ctx *ctx, const void *given, size_t size, size_t least,
                              void *own, size_t own_size);

/** Write results to a caller's struct that kith__result_read has read: the fields that both
 *  know. */
void kith__result_write(const void *own, size_t own_size, size_t size, size_t least, void *given);

/** kith__options_read for a struct `own` that its init call has filled. */
#define KITH_OPTIONS_READ(ctx, name, init, given, least, own) \
    KITH_TRY(kith__options_read(ctx, name, #init, given, least, own))

/** kith__result_read for `out` and a struct `own` of one type. */
#define KITH_RESULT_READ(ctx, out, least, own) \
    KITH_TRY(kith__result_read(ctx, out, (out) ? (out)->size : 0, least, own, sizeof *(own)))

/** kith__result_write for `out` and a struct `own` of one type. */
#define KITH_RESULT_WRITE(own, least, out) \
    kith__result_write(own, sizeof *(own), (out)->size, least, out)

/** Zero all fields of a caller's struct of results but its size. */
#define KITH_RESULT_CLEAR(out, type, least) \
    do { \
        const type clear_own = {.size = (out)->size}; \
        kith__result_write(&clear_own, sizeof clear_own, clear_own.size, least, out); \
    } while (0)

#endif
