/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library's own arrays behind a kith_histogram.
 */
#ifndef KITH_HISTOGRAM_H
#define KITH_HISTOGRAM_H

#include "rdf.h"

/** Arrays of one frame, before it is added. */
struct kith__frame {
    void *edge2;       /**< [bins + 1] room for the larger precision */
    double *volumes;   /**< [bins] */
    int64_t *counts;   /**< [partials][bins] */
    double *sums;      /**< [partials][bins]; NULL without weights */
    double *pushes;    /**< [partials][2][bins + 1]; NULL without forces */
    double *push_over; /**< [bins + 1] likewise */
    int64_t *members;  /**< [2][n_species] */
};

/** Edge k as the options say. */
static inline double kith__edge(const kith_rdf_options *o, int64_t k)
{
    const double part = (double)k / (double)o->bins;
    const double linear = k == o->bins ? o->r_max : o->r_min + part * (o->r_max - o->r_min);
    return o->edges ? o->edges[k] : linear;
}

/** Give a zeroed histogram its arrays, of zeros, or check that an old one has this shape and the
 *  options' edges; zero the frame's counts. @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY. */
kith_status kith__histogram_need(kith_ctx *ctx, const kith_histogram *shape,
                                 const kith_rdf_options *options, kith_histogram *out,
                                 struct kith__frame *frame);

/** kith_shell_volumes within a public call, which may be cancelled.
 *  @param ctx  gets the message, and its threads do the work; NULL: kith_message(NULL) gives the
 *              message, and the calling thread does the work */
kith_status kith__shell_volumes(kith_ctx *ctx, const kith_box *box, int minimum_image, int64_t bins,
                                const double *edges, double *volumes);

#endif
