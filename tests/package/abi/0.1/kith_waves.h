/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves that fit a periodic box: structure factors by direct sum.
 *
 *     const int32_t hkl[] = {1, 0, 0, 0, 1, 0};              // two waves
 *     double sums[2][2];
 *     kith_waves waves;
 *     kith_waves_init(&waves);
 *     waves.n = 2;
 *     waves.hkl = hkl;
 *     if (kith_waves_sum(ctx, &points, &box, &waves, &sums[0][0]) != KITH_OK)
 *         puts(kith_message(ctx));                           // else S(q) is |sum|^2 / points.n
 *
 * See kith.h for contexts, points, boxes, threads and errors.
 */
#ifndef KITH_WAVES_H
#define KITH_WAVES_H

#include <kith.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plane waves that fit a periodic box, and which particles are summed apart. Fill with
 * kith_waves_init, then set n and hkl. Arrays are in host memory, borrowed for the call.
 */
typedef struct kith_waves {
    size_t size;        /**< sizeof(kith_waves): set by the init call */
    int64_t n;          /**< number of waves */
    const int32_t *hkl; /**< [n][3] q = 2 pi (h a* + k b* + l c*), with a*, b*, c* the columns of
                                 the inverse of the box's rows; up to 2^14 and down to -2^14, and 0
                                 along axes that are open */
    const int32_t *species; /**< [points] of each particle, 0 to n_species - 1; NULL: all are 0 */
    int32_t n_species;      /**< 1 to 1024 */
} kith_waves;

/** Set every field to its default: no waves, one species. */
KITH_API void kith_waves_init(kith_waves *waves);

/**
 * Sum exp(i q.(r - origin)) over the particles of each species: the structure factor of species a
 * and b is Re(sum_a conj(sum_b)) / sqrt(N_a N_b).
 *
 * Sums are in double and in a fixed order: the same bits in every run, for any number of threads
 * and any instruction set. A GPU's differ from them: the term of each particle inside the box by
 * less than 1e-14 (1 + |h| + |k| + |l|).
 * Cost: O(n waves).
 * @param ctx        the context
 * @param points     the particles
 * @param box        periodic along some axis
 * @param waves      which
 * @param[out] sums  [waves][n_species][2] real and imaginary part; undefined on failure
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST
 */
KITH_API kith_status kith_waves_sum(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                    const kith_waves *waves, double *sums);

#ifdef __cplusplus
}
#endif

#endif
