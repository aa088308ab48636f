/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances: the checked options, and the operation that each backend offers.
 */
#ifndef KITH_RDF_BACKEND_H
#define KITH_RDF_BACKEND_H

#include "core/backend.h"
#include "engine/batch.h"
#include "engine/excluded.h"
#include "engine/pieces.h"
#include "engine/question.h"

/** An integer of 128 bits, for sums of 64-bit integers. */
__extension__ typedef __int128 kith__wide;

/** Fixed-point units of the two pair-force sums of p and of p (e / r)^dim; pair_force.h defines p
 *  and e. */
struct kith__force_units {
    double plain;  /**< 1 / unit of p; a power of 2 [1 / (force length)] */
    double least2; /**< the least r^2 in the second sum: a smaller one is replaced by it
                        [length^2] */
    /** [bins + 1] e^dim / unit of p (e / r)^dim, with e the upper edge: at index 0 for the pairs
     *  below the first edge, then for each bin. */
    const double *over;
};

/** Checked copy of kith_rdf_options. Index 0 of pairs of pointers is the points, 1 the other set;
 *  where there is no other set, both are equal. Arrays of particles are in the caller's order (in
 *  kith__gpu_scale.rdf, a copy for kernels, forces are sorted by slot before the sweep). */
struct kith__rdf {
    int64_t bins;              /**< number of bins */
    int32_t n_species;         /**< number of species */
    int32_t partials;          /**< number of partial histograms, one for each pair of species
                                    (kith__partial) */
    bool linear;               /**< edges are r_min + k * width, except for rounding */
    bool nearest;              /**< images beside the nearest may be within the last edge, and only
                                    the nearest is counted */
    double r_min;              /**< first edge of linear bins [length] */
    double width;              /**< width of linear bins [length] */
    const double *edges;       /**< [bins + 1] edges [length] */
    const void *edge2;         /**< [bins + 1] squared edges in the points' precision [length^2] */
    const int32_t *species[2]; /**< [n] species of each particle; NULL: all are 0 */
    struct kith__excluded excluded; /**< pairs that are not counted */
    const double *weights[2];       /**< [n] weight of each particle; NULL: no weights */
    double most_weight[2];          /**< largest |weight| of each set */
    double weight_scale;   /**< power of 2 that brings every product of weights below 2^62 */
    int dim;               /**< 2 or 3 dimensions */
    const void *forces[2]; /**< [n][3] in the points' precision [force]; NULL: none */
    double most_forces[2]; /**< largest |component| of a force, of each set [force] */
    double most_force;     /**< largest |component| of a force of the first set, plus that of
                                the second [force] */
    struct kith__force_units force_units; /**< fixed-point units of pair-force sums */
    int64_t *counts; /**< [partials][bins] pairs; zero before the backend counts, undefined after a
                          failure */
    double *sums;    /**< [partials][bins] sums of products of weights; zero before, undefined after
                          a failure; NULL without weights */
    /** [partials][2][bins + 1] pair-force sums of each counter (kith__force_sum_at); zero before,
     *  undefined after a failure; NULL without forces. */
    double *force_sums;
    /** Exact sums as integers, which src/team/ adds over all ranks: wide_sums [partials][bins] in
     *  units of 1 / weight_scale, and wide_force_sums [partials][2][bins + 1] in fixed point. Where
     *  one of them is not NULL, it is written instead of sums or force_sums. */
    kith__wide *wide_sums, *wide_force_sums;
};

/** Operations that a backend offers; NULL: not offered. */
struct kith__rdf_backend {
    /** Count the pairs of one frame. The question's cutoff is the last edge.
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, a status of the checks of points, or a
     *          failure of the device. */
    kith_status (*count)(kith_ctx *ctx, const struct kith__question *question,
                         const struct kith__rdf *rdf);

    /** Count the pairs of all systems of a batch (engine/batch.h) together, at all images, and
     *  write the sum over the systems to rdf->counts. Without excluded pairs, weights and forces.
     *  @return as count, or a status of the checks of offsets and boxes */
    kith_status (*count_batch)(kith_ctx *ctx, const struct kith__batch *batch,
                               const struct kith__rdf *rdf);
};

extern const struct kith__rdf_backend kith__cpu_rdf, kith__cuda_rdf;

#endif
