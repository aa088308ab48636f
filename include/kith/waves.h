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
#ifndef KITH_API_WAVES_H
#define KITH_API_WAVES_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Plane waves that fit a periodic box, and the species that are summed separately. Fill with
 * kith_waves_init, then set n and hkl. Arrays are in host memory, borrowed for the call.
 */
typedef struct kith_waves {
    size_t size;        /**< sizeof(kith_waves): set by the init call */
    int64_t n;          /**< number of waves */
    const int32_t *hkl; /**< [n][3] q = 2 pi (h a* + k b* + l c*), with a*, b*, c* the columns of
                             the inverse of the box's rows [1 / length]; h, k and l from -2^14 to
                             2^14, and 0 along axes that are open */
    const int32_t *species; /**< [points] of each particle, 0 to n_species - 1; NULL: all are 0 */
    int32_t n_species;      /**< number of species, 1 to 1024 */
} kith_waves;

/** Set every field to its default: no waves, one species. */
KITH_API void kith_waves_init(kith_waves *waves);

/** Set the fields of a struct of `size` bytes to their defaults. kith_waves_init is a macro
 *  that passes sizeof, so that a library of a later version knows which fields there are; the
 *  function of that name sets those of version 0.1. */
KITH_API void kith_waves_init_sized(kith_waves *waves, size_t size);
#define kith_waves_init(waves) kith_waves_init_sized(waves, sizeof(kith_waves))

/**
 * Sum exp(i q.(r - origin)) over the particles of each species: the structure factor of species a
 * and b is Re(sum_a conj(sum_b)) / sqrt(N_a N_b).
 *
 * Sums are in double and in a fixed order: equal bits in every run, for any number of threads and
 * any instruction set. A GPU's sums differ from them: the term of each particle inside the box by
 * less than 1e-14 (1 + |h| + |k| + |l|).
 * Cost: O(n waves).
 * @param ctx        the context
 * @param points     the particles
 * @param box        its axes are periodic where hkl are not 0; NULL: open space, where all are 0
 * @param waves      the waves
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
