/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers of the kernels that keep a list on a GPU. All arrays are in device memory. Launchers
 * queue their work on a stream and return the run-time library's error code.
 */
#ifndef KITH_VERLET_GPU_H
#define KITH_VERLET_GPU_H

#include "engine/gpu/gpu.h"
#include "pairs/gpu/pairs_gpu.h"
#include "verlet/verlet.h"

/** What the kernels of an update find out, in device memory. Cleared before each update. */
struct kith__verlet_found {
    unsigned long long square; /**< bits of the longest displacement, squared, a double */
    unsigned long long size;   /**< bits of the largest sum for its rounding error, a double */
    unsigned long long bad;    /**< INT64_MAX - first particle that is not finite; 0: none */
    unsigned long long far;    /**< INT64_MAX - first particle too far outside the box; 0: none */
    double displacement;       /**< the longest, rounding errors included [length] */
    int32_t lost;              /**< 1: a particle moved by too many boxes */
    int32_t wrapped;           /**< 1: a particle is outside the box as given */
    int32_t most;              /**< after a rebuild: largest component of a shift of a kept pair */
    int32_t keep;              /**< 1: the list can be made from the kept pairs */
    int32_t inner;             /**< candidates in bands up to this one are pairs */
    int32_t outer;             /**< those in bands beyond this one are none */
};

/** The particles of an update. */
struct kith__verlet_particles {
    struct kith__question question; /**< points and box of the update; points in device memory */
    bool keep;                      /**< displacements are wanted */
    struct kith__verlet_map map;    /**< from the reference to the present; set where keep is */
    const void *reference;          /**< [n] records of the last rebuild; read where keep is */
    void *now; /**< [n] receives records: wrapped coordinates, and v, packed, where keep is */
};

/** The kept pairs: row i has candidates [offsets[i], offsets[i + 1]). A warp takes a word of them,
 *  whatever rows they belong to: word w is candidates [w * lanes, (w + 1) * lanes). */
struct kith__verlet_rows {
    struct kith__question question; /**< points, box and cutoff of the update; points in device
                                         memory */
    int64_t n;                      /**< candidates */
    const int64_t *offsets;         /**< [question.a.n + 1] */
    int32_t *i;                     /**< [candidates] rows */
    const int32_t *j;               /**< [candidates] */
    int32_t *shift;                 /**< [candidates] shifts at the last rebuild, packed */
    int8_t *band;                   /**< [candidates] */
    const void *now;                /**< [n] records of the update */
    bool turned;                    /**< the records' numbers are v, packed; else v is 0 */
};

/** How an update decides whether it keeps the pairs, and which of them it tests. */
struct kith__verlet_choice {
    bool fresh;                        /**< the pairs were searched just now: no displacement */
    bool with_skin;                    /**< all kept pairs are wanted */
    double allowed;                    /**< longest displacement with which pairs are kept */
    struct kith__verlet_map map;       /**< read where not fresh */
    struct kith__verlet_limits limits; /**< of the update, or those just after a rebuild */
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

/** Decide whether the kept pairs serve, and set the bands that need a test. */
gpuError_t kith__verlet_decide(const struct kith__verlet_choice *choice,
                               struct kith__verlet_found *found, gpuStream_t stream);

/** Set the rows of pairs that were searched, pack their shifts, and find their bands.
 *  @param shifts    [candidates][3] as the search wrote them
 *  @param as_given  they are between the caller's positions; else between wrapped ones */
gpuError_t kith__verlet_adopt(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_scale *scale, const int32_t *shifts,
                              bool as_given, struct kith__verlet_found *found, gpuStream_t stream);

/** Return the number of words of n candidates; the last one is not full. */
int64_t kith__verlet_words(int64_t n);

/** Find the pairs among the candidates, and count those of each word. Nothing is counted where the
 *  kept pairs do not serve.
 *  @param[out] mask    [words] 8 bytes each, which candidates are pairs
 *  @param[out] counts  [words + 1] numbers of pairs, then 0 */
gpuError_t kith__verlet_count(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found, void *mask, int64_t *counts,
                              gpuStream_t stream);

/** Write the offsets of the rows in the list.
 *  @param first         [words + 1] first pair of each word in the list
 *  @param[out] offsets  [question.a.n + 1] */
gpuError_t kith__verlet_offsets(const struct kith__verlet_rows *rows,
                                const struct kith__verlet_found *found, const void *mask,
                                const int64_t *first, int64_t *offsets, gpuStream_t stream);

/** Write the pairs, as far as the arrays have room. Nothing is written where the kept pairs do not
 *  serve. @param first  [words + 1] first pair of each word in the list */
gpuError_t kith__verlet_write(const struct kith__verlet_rows *rows,
                              const struct kith__verlet_found *found,
                              const struct kith__gpu_list *list, const void *mask,
                              const int64_t *first, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
