/* SPDX-License-Identifier: BSD-3-Clause
 *
 * X-ray and neutron scattering of a finite cluster: Debye's sums over its pairs.
 *
 *     kith_debye_options options;
 *     kith_debye_options_init(&options);
 *     options.q_width = 0.05;                  // q = 0, 0.05, ...: 600 of them
 *     options.n_q = 600;
 *     if (kith_debye_sum(ctx, &points, &options, sums) != KITH_OK)
 *         puts(kith_message(ctx));
 *     for (int k = 0; k < 600; k++)            // of one species that scatters by f[k]
 *         intensity[k] = f[k] * f[k] * (n + 2 * sums[k]);
 *
 * An intensity is I(q) = sum_a N_a f_a^2 + 2 sum_{a <= b} f_a f_b S_ab(q), with the form factors
 * f_a(q) of the species (P. Debye, Ann. Phys. 351, 809, 1915).
 *
 * See kith.h for contexts, memory, threads and errors.
 */
#ifndef KITH_API_DEBYE_H
#define KITH_API_DEBYE_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values of q. Fill with kith_debye_options_init, set q_width and n_q, then change what you
 *  need. */
typedef struct kith_debye_options {
    size_t size;            /**< sizeof(kith_debye_options): set by the init call */
    double q_min, q_width;  /**< value number k is q_min + k * q_width; q_min >= 0, q_width > 0
                                 [1 / length] */
    int64_t n_q;            /**< number of values, 1 to 2^20 */
    const int32_t *species; /**< [n] of each particle, 0 to n_species - 1; NULL: all are 0 */
    int32_t n_species;      /**< number of species, 1 to 1024 */
} kith_debye_options;

/** Set every field to its default: one species, from q = 0; q_width and n_q are 0, to be set. */
KITH_API void kith_debye_options_init(kith_debye_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_debye_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_debye_options_init_sized(kith_debye_options *options, size_t size);
#define kith_debye_options_init(options) \
    kith_debye_options_init_sized(options, sizeof(kith_debye_options))

/**
 * Sums of sin(q r) / (q r) over all pairs of a finite cluster, without binning. In double, in an
 * order that does not depend on threads or instruction sets; on a GPU in another.
 * Cost: O(n^2 n_q), and some n n_species n_q / 16 bytes of scratch memory. By histogram, with
 * kith_rdf_count in fine bins, it is O(n^2 + bins n_q).
 * @param ctx        the context
 * @param points     the particles, in host memory; z NULL: 0
 * @param options    values of q, and species
 * @param[out] sums  [partials][n_q] S_ab: the unordered pairs of species a and b; partials are
 *                   numbered as those of a kith_histogram of one set
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT, where a distance squared or times q
 *         overflows double, too; KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED;
 *         KITH_DEVICE_LOST. On failure nothing is written.
 */
KITH_API kith_status kith_debye_sum(kith_ctx *ctx, const kith_points *points,
                                    const kith_debye_options *options, double *sums);

#ifdef __cplusplus
}
#endif

#endif
