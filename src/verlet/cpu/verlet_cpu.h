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

enum {
    KITH_VERLET_PAD = 64 /**< elements of an array that may be read or written behind its end: PART
                              of verlet_kernel.c, which treats so many candidates together */
};

/** A list that is kept on CPU cores: kith_verlet.data. Its candidates are the kept pairs, those
 *  within cutoff + skin at the last rebuild. Row i has candidates [offsets[i], offsets[i + 1]); a
 *  group is KITH_VERLET_ROWS consecutive rows, the last one fewer. Coordinates have four numbers
 *  for each particle, so that a vector load reads a position as a whole (engine/cpu/lanes.h). */
struct kith__verlet_cpu {
    struct kith__buffer now;       /**< [n][4] wrapped coordinates of the update, and a 0, in the
                                        precision of the points */
    struct kith__buffer image;     /**< [n][3] number of boxes along each axis that wrapping
                                        subtracted from the coordinates of the update, int32_t */
    struct kith__buffer reference; /**< [n][4] wrapped coordinates at the last rebuild, and a 0, in
                                        the precision of the points */
    struct kith__buffer turn;      /**< [n] v of verlet.h, packed as v[0] + 1024 v[1] + 1024^2 v[2],
                                        int32_t: can be added to packed shifts, as kith__pack_shift
                                        has 10 bits for a component */
    struct kith__buffer band;      /**< [candidates + KITH_VERLET_PAD] band of each candidate
                                        (kith__verlet_scale), int8_t */
    struct kith__buffer plain;     /**< [groups] 1: all shifts of the group are 0, uint8_t */
    struct kith__buffer hits;      /**< [threads] struct kith__verlet_hits */
    struct kith__buffer hit_arrays;  /**< the arrays of `hits` */
    struct kith__verlet_scale scale; /**< the bands */
    int64_t most;                    /**< candidates of the group with the most */
    kith_pairs skin; /**< the kept list, with offsets (CSR); kith__verlet_packed finds its
                          shifts, which are packed in place */
};

/** State of the loop over particles. Without plan->keep only now, image, bad and far are used. */
struct kith__verlet_load {
    const struct kith__verlet_plan *plan; /**< the update */
    void *now;                            /**< [n][4] receives the wrapped coordinates, and a 0 */
    int32_t *image;                       /**< [n][3] receives the boxes that were subtracted */
    const void *reference;                /**< [n][4] coordinates at the last rebuild */
    int32_t *turn;                        /**< [n] receives v, packed (kith__verlet_cpu.turn) */
    pthread_mutex_t lock;                 /**< guards the members below */
    int64_t bad;                          /**< first particle that is not finite; else INT64_MAX */
    int64_t far;                          /**< first particle too far outside the box to wrap; else
                                               INT64_MAX */
    double square;                        /**< longest displacement, squared [length^2] */
    double size;                          /**< kith__verlet_displacement's `size` [length] */
    bool lost;                            /**< a particle has a |v_k| > KITH_VERLET_MOST_TURN */
    bool turned;                          /**< a particle has a v that is not 0 */
};

/** State of the loops over rows. */
struct kith__verlet_loop {
    kith_ctx *ctx;                          /**< context of the call */
    const struct kith__question *question;  /**< box and cutoff of the update */
    const struct kith__verlet_scale *scale; /**< the bands */
    const void *now;                        /**< [n][4] wrapped coordinates, and a 0 */
    const int32_t *image;                   /**< [n][3] boxes that wrapping subtracted */
    const int32_t *turn;                    /**< [n] kith__verlet_cpu.turn; NULL: all are 0 */
    const int64_t *offsets;                 /**< [n + 1] first candidate of each row */
    const int32_t *j;                       /**< [candidates] the other particle */
    int32_t *shifts;                        /**< S0, the shifts at the last rebuild, packed; those
                                                 of a group are found by kith__verlet_packed */
    const uint8_t *plain;                   /**< [groups] kith__verlet_cpu.plain */
    int8_t *band;                           /**< [candidates + KITH_VERLET_PAD] their bands */
    int inner;                              /**< candidates in bands up to this one are pairs */
    int outer;                              /**< candidates in bands beyond this one are no pairs */
    unsigned extras;                        /**< KITH_DISTANCES, ...: extras of the list */
    const kith_pairs *out;                  /**< the list that is written */
};

/** Working memory of one thread: the pairs of a group of rows, before they are written to the list.
 *  Candidates are processed in the words of masks, 64 at a time, whatever row they belong to. The
 *  arrays i, j and shift are first those of the candidates that are tested, then, with extras,
 *  those of the pairs. `most` is kith__verlet_cpu.most, and `words` is most / 64, rounded up. */
struct kith__verlet_hits {
    int32_t *i;       /**< [most + KITH_VERLET_PAD] particle of the row */
    int32_t *j;       /**< [most + KITH_VERLET_PAD] the other particle */
    int32_t *shift;   /**< [most + KITH_VERLET_PAD] packed shifts now, S of verlet.h; not read in
                           groups whose shifts are all 0 */
    uint8_t *row;     /**< [most + KITH_VERLET_PAD] row of each candidate, from 0 in the group */
    uint64_t *mask;   /**< [words] bit c: candidate c of the group is a pair */
    uint64_t *open;   /**< [words] bit c: candidate c of the group is tested */
    uint64_t *passed; /**< [words + 2] bit k: candidate k of those that are tested is a pair. 2
                           more: 64 bits are read from any bit on, up to the one behind the last,
                           and may be of two words (bits_from in verlet_kernel.c) */
    int64_t n;        /**< number of pairs of the group */
};

/** Return the packed shifts of the candidates of a group. They are stored without gaps, one integer
 *  for each candidate, from the place on where the search wrote the shifts of the first of these
 *  candidates, three integers each.
 *  @param shifts   kith_pairs.shifts of the kept list
 *  @param offsets  [n + 1] first candidate of each row */
static inline int32_t *kith__verlet_packed(int32_t *shifts, const int64_t *offsets, int64_t group)
{
    return shifts + 3 * offsets[group * KITH_VERLET_ROWS];
}

/** Read, wrap and test particles [begin, end), and find their displacements.
 *  @param state  a struct kith__verlet_load */
kith__range_fn KITH_EACH_ISA(verlet_load);

/** Find the bands of the candidates of a group of rows: write loop->band. The pairs were searched
 *  just now, so all v are 0.
 *  @param group      number of the group
 *  @param[out] hits  scratch memory */
typedef void kith__verlet_classify_fn(const struct kith__verlet_loop *loop, int64_t group,
                                      struct kith__verlet_hits *hits);
kith__verlet_classify_fn KITH_EACH_ISA(verlet_classify);

/** Find the pairs of a group of rows, and their number: hits->mask, row and n.
 *  @return false when the call is to stop */
typedef bool kith__verlet_find_fn(const struct kith__verlet_loop *loop, int64_t group,
                                  struct kith__verlet_hits *hits);
kith__verlet_find_fn KITH_EACH_ISA(verlet_find);

/** Write the pairs of a group of rows to the list, from pair `at` on, and the offsets of these rows
 *  in a list that has offsets. The caller writes the last offset.
 *  @param hits  as kith__verlet_find_fn has set them for this group; i, j and shift are overwritten
 *               with extras */
typedef void kith__verlet_write_fn(const struct kith__verlet_loop *loop, int64_t group,
                                   const struct kith__verlet_hits *hits, int64_t at);
kith__verlet_write_fn KITH_EACH_ISA(verlet_write);

#endif
