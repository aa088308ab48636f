/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair distributions: histograms of distances, g(r), coordination numbers.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_RDF_H
#define KITH_API_RDF_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What to count. Fill with kith_rdf_options_init, set r_max or edges, then change what you need.
 * Arrays are in host memory, borrowed for the call. An array named _against is that of the
 * particles of `against`: it is given when there are two sets and the array without _against is
 * given.
 */
typedef struct kith_rdf_options {
    size_t size;         /**< sizeof(kith_rdf_options): set by the init call */
    int64_t bins;        /**< number of bins, 1 to 2^20 */
    double r_min, r_max; /**< edge k is r_min + k (r_max - r_min) / bins [length]; ignored with
                              `edges` */
    const double *edges; /**< [bins + 1] ascending edges, the first 0 or more; NULL: linear bins */
    const kith_points *against; /**< B: pairs of i in the points with j in B; NULL: one set, each
                                     unordered pair once, as in a half list */
    const int32_t *species;     /**< [n] of each particle, 0 to n_species - 1; NULL: all are 0 */
    const int32_t *species_against; /**< [n of against] species of each particle of `against` */
    int32_t n_species;              /**< 1 to 1024 */
    const int32_t *molecules; /**< [n] number of each particle's molecule: pairs within a molecule
                                   are excluded; a negative number is no molecule; NULL: no pair is
                                   excluded */
    const int32_t *molecules_against; /**< [n of against] molecule of each particle of `against` */
    const int64_t *bond_offsets;      /**< [n + 1] pairs of i with bonds[bond_offsets[i]] to
                                           bonds[bond_offsets[i + 1] - 1] are excluded; a bond is
                                           given for one of its particles, or for both; NULL: no
                                           bonds */
    const int32_t *bonds;             /**< [bond_offsets[n]] the other particle of each bond */
    const double *weights;         /**< [n] w: sums of w_i * w_j are made too; NULL: counts alone */
    const double *weights_against; /**< [n of against] weight of each particle of `against` */
    int minimum_image; /**< 0: all images of a pair that are within r_max count; 1: only the nearest
                            image counts, which for an r_max beyond half the box needs all axes
                            periodic and perpendicular. r_max is then useful up to half the
                            diagonal of the box */
    const void *forces; /**< [n][3] F, precision of the points: the sums for kith_rdf_force are
                             made too. Not with nearest images beyond half the box. NULL: counts
                             alone */
    const void *forces_against; /**< [n of against][3] force on each particle of `against` */
    const kith_batch *batch; /**< many systems in one call, each of which is a frame: they are added
                                  in their order. Not with bonds. NULL: one system */
} kith_rdf_options;

/** Set every field to its default: 200 linear bins from 0, one species; r_max is 0, to be set. */
KITH_API void kith_rdf_options_init(kith_rdf_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_rdf_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_rdf_options_init_sized(kith_rdf_options *options, size_t size);
#define kith_rdf_options_init(options) \
    kith_rdf_options_init_sized(options, sizeof(kith_rdf_options))

/**
 * Numbers of pairs by distance and species, summed over frames. Zero it before its first use.
 *
 * A pair of squared distance r2 (kith.h) is in bin k when e[k]^2 <= r2 < e[k + 1]^2, the last
 * bin holding r2 = e[bins]^2 too; edges are rounded to the precision of the points first, and so
 * are their squares. Counts are equal on every backend and with any number of threads.
 *
 * Partial (a, b), a <= b, of one set holds the unordered pairs of species a and b; of two sets,
 * partial (a, b) holds pairs of species a in the points with species b in the others.
 * kith_histogram_partial numbers them.
 */
typedef struct kith_histogram {
    int64_t bins;      /**< number of bins */
    int32_t n_species; /**< number of species */
    int32_t partials;  /**< n_species (n_species + 1) / 2; of two sets n_species^2 */
    int against;       /**< 1: of two sets */
    uint32_t size;     /**< sizeof(kith_histogram) of the caller; 0: the fields of version 0.1 */
    int64_t frames;    /**< calls that were added up */
    double *edges;     /**< [bins + 1] not rounded [length] */
    int64_t *counts;   /**< [partials][bins] number of pairs */
    double *sums;      /**< [partials][bins] of w_i * w_j: products are truncated to multiples of
                            2^-62 p, at least 2^-1000, and these are added exactly in each frame; p
                            is the power of 2 next above the product of the largest |w_i| and |w_j|.
                            NULL without weights */
    double *ideal;     /**< [partials][bins] counts expected of as many particles distributed
                            uniformly: in each frame pairs * shell / volume, with its own box. NaN
                            where an axis was open, so that there was no volume */
    int64_t *pairs;    /**< [partials] pairs of particles: N (N - 1) / 2 or N_a N_b in each frame,
                            excluded pairs included */
    int64_t *centres;  /**< [n_species] particles of the points, summed over frames */
    int dim;           /**< dimensions of the first frame's box */
    double *pushes;  /**< [partials][2][bins + 1] with forces, else NULL. With p = (F_j - F_i).d, d
                          the vector from i to j, the first bins + 1 are sums of p, the others of
                          p / r^dim, each over the pairs below the first edge, then over those of
                          each bin. r is taken as at least r_max / 1024, or a 64th of the first
                          edge above 0 if that is less. Terms are rounded to 2^-40 of their bounds
                          and added exactly in each frame: equal bits for any number of threads and
                          instruction set */
    double *density; /**< [partials] with forces, else NULL: pairs / volume, summed over frames */
    void *owner;     /**< private to the library */
} kith_histogram;

/**
 * Count one frame's pairs by distance, and add them to a histogram. Images of a particle itself
 * count as in a half list.
 * Cost: O(n + pairs); with minimum_image beyond half the box O(n^2). The number of bins does not
 * matter while their counters fit the caches.
 * @param ctx         the context
 * @param points      the particles
 * @param box         NULL: open space
 * @param options     r_max is limited as cutoff in kith_pairs_find
 * @param[in,out] out zeroed, or from earlier calls with equal bins, species, sets and weights:
 *                    this frame is then added. Free with kith_histogram_free.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure nothing is added.
 */
KITH_API kith_status kith_rdf_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                    const kith_rdf_options *options, kith_histogram *out);

/** Return the number of partial (a, b), which in one set is also the number of (b, a). -1 when
 *  there is none: kith_rdf_g, kith_rdf_force and kith_rdf_coordination then write nothing. */
KITH_API int32_t kith_histogram_partial(const kith_histogram *histogram, int32_t a, int32_t b);

/**
 * Compute the pair distribution g_ab(r) = counts / ideal: frames are weighted by what an ideal gas
 * would count, so that with changing boxes an ideal gas gives 1.
 * @param[out] g  [bins]; NaN where no count is expected
 */
KITH_API void kith_rdf_g(const kith_histogram *histogram, int32_t a, int32_t b, double *g);

/**
 * Compute the pair distribution from the forces that were summed beside the counts: with few frames
 * far less noisy than counts, most of all in narrow bins. Exact averages over each bin of
 *     g(r) =     1 / (C kT density) <sum over pairs nearer than r of p / r^dim>      from zero,
 *     g(r) = 1 - 1 / (C kT density) <sum over the others up to r_max of p / r^dim>   from infinity,
 * C = 8 pi, in 2-D 4 pi. The second takes g as 1 at the last edge. For particles in equilibrium at
 * temperature T with the whole forces on them, and no constraints (Borgis, Assaraf, Rotenberg &
 * Vuilleumier 2013, Mol. Phys. 111, 3486; Rotenberg 2020, J. Chem. Phys. 153, 150902).
 * @param kT         k_B T in units of force times length, > 0
 * @param[out] zero, infinity  [bins] each; NaN without forces or volume
 */
KITH_API void kith_rdf_force(const kith_histogram *histogram, int32_t a, int32_t b, double kT,
                             double *zero, double *infinity);

/**
 * Compute the running coordination number n_ab: particles of species b around one of a, from
 * edges[0] to the end of each bin. From the counts alone, in any box.
 * @param[out] n  [bins]; NaN where there is no particle of species a
 */
KITH_API void kith_rdf_coordination(const kith_histogram *histogram, int32_t a, int32_t b,
                                    double *n);

/**
 * Compute the volumes of the shells between edges; areas of rings in 2-D. About 0.1 microseconds
 * for each shell: without a context there is no watch callback that could cancel the call.
 * @param box            NULL: 3-D
 * @param minimum_image  1: of each shell the part that is inside the box with the shell's centre at
 *                       its centre, in closed form; the box is then orthorhombic and periodic
 * @param bins           shells
 * @param edges          [bins + 1] ascending, the first 0 or more
 * @param[out] volumes   [bins]
 * @return KITH_OK; KITH_INVALID: kith_message(NULL) says why, and volumes are undefined.
 */
KITH_API kith_status kith_shell_volumes(const kith_box *box, int minimum_image, int64_t bins,
                                        const double *edges, double *volumes);

/** Free the arrays and zero the struct but for its size. @param histogram  NULL or zeroed is
 *  fine. */
KITH_API void kith_histogram_free(kith_histogram *histogram);

#ifdef __cplusplus
}
#endif

#endif
