/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers of the kernels that keep a list on a GPU. All arrays are in device memory. Launchers
 * queue their work on a stream and return the run-time library's error code. verlet.h has the
 * terms: candidates are the kept pairs, those within cutoff + skin at the last rebuild, the
 * reference. A record is struct record (engine/gpu/record.cuh): a wrapped position and a number.
 */
#ifndef KITH_VERLET_GPU_H
#define KITH_VERLET_GPU_H

#include "engine/gpu/gpu.h"
#include "pairs/gpu/pairs_gpu.h"
#include "verlet/verlet.h"

/** What the kernels of an update find out, in device memory. Cleared before each update. The first
 *  members are maxima, by atomicMax of integers: doubles that are not negative compare as their
 *  bits do, and INT64_MAX - p is largest for the first particle p. */
struct kith__verlet_found {
    unsigned long long square; /**< bits of a double: longest displacement, squared [length^2] */
    unsigned long long size;   /**< bits of a double: kith__verlet_displacement's `size` [length] */
    unsigned long long bad;    /**< INT64_MAX - p of the first particle p that is not finite; 0:
                                    there is none */
    unsigned long long far;    /**< INT64_MAX - p of the first particle p that is too far outside
                                    the box to wrap; 0: there is none */
    double displacement;       /**< upper bound on the longest displacement, set by
                                    kith__verlet_decide [length] */
    int32_t lost;              /**< 1: a particle has a |v_k| > KITH_VERLET_MOST_TURN */
    int32_t wrapped;           /**< 1: wrapping changed the coordinates of a particle */
    int32_t most;              /**< after a rebuild: largest |S0_k| of a kept pair */
    int32_t keep;              /**< 1: the list can be made from the kept pairs */
    int32_t inner;             /**< candidates in bands up to this one are pairs */
    int32_t outer;             /**< candidates in bands beyond this one are no pairs */
};

/** The particles of an update. */
struct kith__verlet_particles {
    struct kith__question question; /**< points and box of the update; points in device memory */
    bool keep;                      /**< displacements are wanted (kith__verlet_plan.keep) */
    struct kith__verlet_map map;    /**< from the reference to the present; read with keep */
    const void *reference;          /**< [n] records of the last rebuild; read with keep */
    void *now; /**< [n] receives records: wrapped coordinates, and with keep the number v[0] + 1024
                    v[1] + 1024^2 v[2], which can be added to packed shifts; else 0 */
};

/** The kept pairs: row i has candidates [offsets[i], offsets[i + 1]). A warp processes a word of
 *  them, whatever rows they belong to: word w is candidates [w * LANES, (w + 1) * LANES), one for
 *  each lane of a warp. LANES is 32, or 64 on some HIP devices (engine/gpu/device.cuh). */
struct kith__verlet_rows {
    struct kith__question question; /**< points, box and cutoff of the update; points in device
                                         memory */
    int64_t n;                      /**< number of candidates */
    const int64_t *offsets;         /**< [question.a.n + 1] first candidate of each row */
    int32_t *i;                     /**< [n] row of each candidate */
    const int32_t *j;               /**< [n] the other particle */
    int32_t *shift;                 /**< [n] shifts S0 at the last rebuild, packed */
    int8_t *band;                   /**< [n] band of each candidate (kith__verlet_scale) */
    const void *now;                /**< [question.a.n] records of the update; after a rebuild those
                                         of the reference, which is the present state */
    bool turned;                    /**< the numbers of the records are v, packed
                                         (kith__verlet_particles.now); false: v is 0 */
};

/** How an update decides whether it keeps the pairs, and which of them it tests. */
struct kith__verlet_choice {
    bool fresh;                        /**< the pairs were searched just now: no displacement */
    bool with_skin;                    /**< all kept pairs are wanted */
    double allowed;                    /**< kith__verlet_plan.allowed [length] */
    struct kith__verlet_map map;       /**< kith__verlet_plan.map; read unless `fresh` */
    struct kith__verlet_limits limits; /**< kith__verlet_plan.limits, or .fresh with `fresh` */
    struct kith__verlet_scale scale;   /**< the bands */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Return the size of a record of wrapped coordinates and a number [bytes]: 4 reals. */
static inline size_t kith__verlet_record_bytes(kith_precision precision)
{
    return 4 * (size_t)precision;
}

/** Read, wrap and test the particles, and find their displacements.
 *  @param[in,out] found  cleared before */
gpuError_t kith__verlet_load_particles(const struct kith__verlet_particles *particles,
                                       struct kith__verlet_found *found, gpuStream_t stream);

/** Decide whether the list can be made from the kept pairs, found->keep, and set
 *  found->displacement, inner and outer: the bands that need a test. Unless choice->fresh, from
 *  what kith__verlet_load_particles has found. */
gpuError_t kith__verlet_decide(const struct kith__verlet_choice *choice,
                               struct kith__verlet_found *found, gpuStream_t stream);

/** Set the rows of pairs that were searched, pack their shifts, and find their bands.
 *  @param rows           its i, shift and band are written
 *  @param scale          the bands
 *  @param shifts         [candidates][3] as the search wrote them
 *  @param as_given       the shifts are between the caller's positions; else between wrapped ones
 *  @param[in,out] found  `wrapped` is read, `most` is raised */
gpuError_t kith__verlet_adopt(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_scale *scale, const int32_t *shifts,
                              bool as_given, struct kith__verlet_found *found, gpuStream_t stream);

/** Return the number of words of n candidates, n / LANES + 1: the last one is not full, and may be
 *  empty, so that each offset from 0 to n is in a word (kith__verlet_offsets). */
int64_t kith__verlet_words(int64_t n);

/** Find the pairs among the candidates, and count those of each word. Nothing is written where the
 *  list cannot be made from the kept pairs: unless found->keep.
 *  @param[out] mask    [words] a lanes_t each (engine/gpu/device.cuh), at most 8 bytes: which
 *                      candidates are pairs
 *  @param[out] counts  [words + 1] number of pairs of each word, then 0 */
gpuError_t kith__verlet_count(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found, void *mask, int64_t *counts,
                              gpuStream_t stream);

/** Write the offsets of the rows in the list: the number of pairs before each row. Nothing is
 *  written unless found->keep.
 *  @param mask          as kith__verlet_count has set it
 *  @param first         [words + 1] first pair of each word in the list: exclusive prefix sum of
 *                       the counts
 *  @param[out] offsets  [question.a.n + 1] */
gpuError_t kith__verlet_offsets(const struct kith__verlet_rows *rows,
                                const struct kith__verlet_found *found, const void *mask,
                                const int64_t *first, int64_t *offsets, gpuStream_t stream);

/** Write the pairs, as far as the arrays have room. Nothing is written unless found->keep.
 *  @param list   the part of the list that is written
 *  @param mask   as kith__verlet_count has set it
 *  @param first  [words + 1] first pair of each word in the list */
gpuError_t kith__verlet_write(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found,
                              const struct kith__gpu_list *list, const void *mask,
                              const int64_t *first, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
