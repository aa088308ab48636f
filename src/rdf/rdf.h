/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of distances as the backends count them.
 */
#ifndef KITH_RDF_BACKEND_H
#define KITH_RDF_BACKEND_H

#include "core/backend.h"
#include "engine/pieces.h"
#include "engine/question.h"

/** Units of the pushes of pairs; see push.h. */
struct kith__push_units {
    double plain;  /**< 1 / unit of p, a power of 2 */
    double least2; /**< squared distance below which pairs are taken as that near */
    /** [bins + 1] e^dim / unit of p (e / r)^dim; of pairs below the first edge, then of bins. */
    const double *over;
};

/** What is counted by distance: kith_rdf_options, checked. Index 0 is of the points, 1 of the other
 *  set; where there is none, the same again. */
struct kith__rdf {
    int64_t bins;
    int32_t n_species, partials;
    bool linear;         /**< edges are r_min + k * width, but for rounding */
    bool nearest;        /**< only the nearest image counts, and there may be others in reach */
    double r_min, width; /**< of linear bins */
    const double *edges; /**< [bins + 1] */
    const void *edge2;   /**< [bins + 1] squares, precision of the points */
    const int32_t *species[2];
    const int32_t *molecules[2];
    const int64_t *bond_offsets;
    const int32_t *bonds;
    const double *weights[2];
    double weight_scale; /**< a power of 2 that brings every product of weights below 2^62 */
    int dim;
    const void *forces[2]; /**< [n][3] precision of the points; NULL: no pushes are wanted */
    double most_force;     /**< the sum of the largest components of both */
    struct kith__push_units push;
    int64_t *counts; /**< [partials][bins] zero; written on success alone */
    double *sums;    /**< [partials][bins] likewise; NULL without weights */
    double *pushes;  /**< [partials][2][bins + 1] likewise; NULL without forces */
};

/** What a backend offers. */
struct kith__rdf_backend {
    /** The question's cutoff is the last edge. */
    kith_status (*count)(kith_ctx *ctx, const struct kith__question *question,
                         const struct kith__rdf *rdf);
};

extern const struct kith__rdf_backend kith__cpu_rdf, kith__cuda_rdf;

#endif
