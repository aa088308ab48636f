/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface between verlet_cpu.c, which keeps lists on CPU cores, and the loops over particles
 * and rows that are compiled once for each instruction set.
 */
#ifndef KITH_VERLET_CPU_H
#define KITH_VERLET_CPU_H

#include <pthread.h>

#include "engine/cpu/isa.h"
#include "verlet/verlet.h"

enum { KITH_VERLET_PAD = 64 }; /**< elements of an array that are read or written beyond its end */

/** A list that is kept on CPU cores: kith_verlet.data. Row i of the kept list has candidates
 *  [offsets[i], offsets[i + 1]). */
struct kith__verlet_cpu {
    struct kith__buffer now;        /**< [n][4] wrapped coordinates of the update, and a 0 */
    struct kith__buffer image;      /**< [n][3] boxes that wrapping subtracted from them, int32_t */
    struct kith__buffer reference;  /**< [n][4] wrapped coordinates at the last rebuild, and a 0 */
    struct kith__buffer turn;       /**< [n] v, packed, int32_t */
    struct kith__buffer band;       /**< [candidates + KITH_VERLET_PAD] bands, int8_t */
    struct kith__buffer plain;      /**< [groups] 1: no shift of the rows but 0, uint8_t */
    struct kith__buffer hits;       /**< [threads] struct kith__verlet_hits */
    struct kith__buffer hit_arrays; /**< the arrays of `hits` */
    struct kith__verlet_scale scale; /**< the bands */
    int64_t most;                    /**< most candidates of a group of KITH_VERLET_ROWS rows */
    kith_pairs skin;                 /**< rows of the kept list. Its shifts are packed by
                                        kith__verlet_packed */
};

/** State of the loop over particles. */
struct kith__verlet_load {
    const struct kith__verlet_plan *plan; /**< the update */
    void *now;                            /**< [n][4] receives the wrapped coordinates, and a 0 */
    int32_t *image;                       /**< [n][3] receives the boxes that were subtracted */
    const void *reference;                /**< [n][4] coordinates at the last rebuild */
    int32_t *turn;                        /**< [n] receives v, packed */
    pthread_mutex_t lock;                 /**< guards the members below */
    int64_t bad;                          /**< first particle that is not finite; else INT64_MAX */
    int64_t far;                          /**< first particle too far outside; else INT64_MAX */
    double square;                        /**< longest displacement, squared [length^2] */
    double size;                          /**< largest sum for its rounding error [length] */
    bool lost;                            /**< a particle moved by too many boxes */
    bool turned;                          /**< a v is not 0 */
};

/** State of the loops over rows. */
struct kith__verlet_loop {
    kith_ctx *ctx;                          /**< context of the call */
    const struct kith__question *question;  /**< box and cutoff of the update */
    const struct kith__verlet_scale *scale; /**< the bands */
    const void *now;                        /**< [n][4] wrapped coordinates, and a 0 */
    const int32_t *image;                   /**< [n][3] */
    const int32_t *turn;                    /**< [n]; NULL: all are 0 */
    const int64_t *offsets;                 /**< [n + 1] rows of the kept list */
    const int32_t *j;                       /**< [candidates] */
    int32_t *shifts;                        /**< shifts of the kept list, packed */
    const uint8_t *plain;                   /**< [groups] */
    int8_t *band;                           /**< [candidates + KITH_VERLET_PAD] */
    int inner;                              /**< candidates in bands up to this one are pairs */
    int outer;                              /**< those in bands beyond this one are none */
    unsigned extras;                        /**< of the list */
    const kith_pairs *out;                  /**< the list */
};

/** Pairs of a group of KITH_VERLET_ROWS rows, before they are written to the list. Candidates are
 *  processed in the words of masks, 64 at a time, whatever row they belong to. The arrays i, j and
 *  shift are first those of the candidates that are tested, then, with extras, those of the
 *  pairs. */
struct kith__verlet_hits {
    int32_t *i;       /**< [most + KITH_VERLET_PAD] */
    int32_t *j;       /**< [most + KITH_VERLET_PAD] */
    int32_t *shift;   /**< [most + KITH_VERLET_PAD] packed shifts; not of plain groups */
    uint8_t *row;     /**< [most + KITH_VERLET_PAD] row of each candidate in the group */
    uint64_t *mask;   /**< [words] candidates that are pairs */
    uint64_t *open;   /**< [words] candidates that are tested */
    uint64_t *passed; /**< [words + 1] of the candidates that are tested, in their order, pairs */
    int64_t n;        /**< pairs */
};

/** Return the packed shifts of a group of rows. They are stored without gaps, from the place on
 *  where the first of these rows has its unpacked shifts. */
static inline int32_t *kith__verlet_packed(int32_t *shifts, const int64_t *offsets, int64_t group)
{
    return shifts + 3 * offsets[group * KITH_VERLET_ROWS];
}

/** Read, wrap and test particles [begin, end), and find their displacements: struct
 *  kith__verlet_load. */
kith__range_fn KITH_EACH_ISA(verlet_load);

/** Find the bands of the candidates of a group of rows. @param[out] hits  scratch memory */
typedef void kith__verlet_classify_fn(const struct kith__verlet_loop *loop, int64_t group,
                                      struct kith__verlet_hits *hits);
kith__verlet_classify_fn KITH_EACH_ISA(verlet_classify);

/** Find the pairs of a group of rows, and their number. @return false when the call is to stop */
typedef bool kith__verlet_find_fn(const struct kith__verlet_loop *loop, int64_t group,
                                  struct kith__verlet_hits *hits);
kith__verlet_find_fn KITH_EACH_ISA(verlet_find);

/** Write the pairs of a group of rows, which were found last, to the list, from pair `at` on. */
typedef void kith__verlet_write_fn(const struct kith__verlet_loop *loop, int64_t group,
                                   const struct kith__verlet_hits *hits, int64_t at);
kith__verlet_write_fn KITH_EACH_ISA(verlet_write);

#endif
