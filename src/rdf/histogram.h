/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a kith_histogram, and the volumes of shells.
 */
#ifndef KITH_HISTOGRAM_H
#define KITH_HISTOGRAM_H

#include "core/sized.h"
#include "rdf.h"

/** Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_HISTOGRAM_0_1 = KITH_SIZE_UP_TO(kith_histogram, owner) };

/** Arrays of one frame, before it is added to the histogram. */
struct kith__frame {
    void *edge2;        /**< [bins + 1] squared edges, in the points' precision [length^2] */
    double *volumes;    /**< [bins] volume of each shell; area in 2-D [length^dim] */
    int64_t *counts;    /**< [partials][bins] pairs */
    double *sums;       /**< [partials][bins] sums of products of weights; NULL without weights */
    double *force_sums; /**< [partials][2][bins + 1] pair-force sums; NULL without forces */
    double *force_over; /**< [bins + 1] kith__force_units.over; NULL without forces */
    int64_t *members;   /**< [2][n_species] number of particles of each species in each set */
};

/** Return edge k of the options' bins [length]. */
static inline double kith__edge(const kith_rdf_options *o, int64_t k)
{
    const double part = (double)k / (double)o->bins;
    const double linear = k == o->bins ? o->r_max : o->r_min + part * (o->r_max - o->r_min);
    return o->edges ? o->edges[k] : linear;
}

/** Allocate the arrays of a zeroed histogram, and zero them; or check that a histogram from earlier
 *  calls has this shape, the options' edges, and sums as the options need them. Then return the
 *  arrays of one frame, with zeroed counts and sums.
 *  @param shape       a histogram of which bins, n_species, partials, against and dim are set
 *  @param[out] frame  the arrays, owned by the histogram
 *  @return KITH_OK, KITH_INVALID or KITH_NO_MEMORY */
kith_status kith__histogram_need(kith_ctx *ctx, const kith_histogram *shape,
                                 const kith_rdf_options *options, kith_histogram *out,
                                 struct kith__frame *frame);

/** Return a copy of the sums of a histogram, which kith__histogram_restore frees; NULL: no
 *  memory. */
void *kith__histogram_save(const kith_histogram *h);

/** Free a copy of the sums of a histogram. @param back  copy it back to the histogram before */
void kith__histogram_restore(kith_histogram *h, void *saved, bool back);

/** Do the work of kith_shell_volumes (kith/rdf.h), within a public call that may be cancelled.
 *  @param ctx  receives the message, and its threads do the work; NULL: the message goes to
 *              kith_message(NULL), and the calling thread does the work */
kith_status kith__shell_volumes(kith_ctx *ctx, const kith_box *box, int minimum_image, int64_t bins,
                                const double *edges, double *volumes);

/** A call of kith_rdf_count between its checks and the end. */
struct kith__rdf_call {
    struct kith__question question; /**< points, box and last edge */
    struct kith__rdf rdf;           /**< options, and the arrays that the backend writes */
    struct kith__frame frame;       /**< arrays of this frame; members are set */
};

/** Read a caller's options. @return KITH_OK, KITH_INVALID */
kith_status kith__rdf_options(kith_ctx *ctx, const kith_rdf_options *given, kith_rdf_options *own);

/** Check all arguments of kith_rdf_count but out. The largest weights and forces are then in
 *  call->rdf.
 *  @param options  of full size
 *  @return as kith_rdf_count */
kith_status kith__rdf_check(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *options, struct kith__rdf_call *call);

/** Choose the units of sums, by the largest weights and forces, and make the histogram's arrays.
 *  After kith__rdf_check.
 *  @param out  of full size
 *  @return as kith_rdf_count */
kith_status kith__rdf_begin(kith_ctx *ctx, const kith_rdf_options *options, kith_histogram *out,
                            struct kith__rdf_call *call);

/** Add the frame, whose counts and members are set, to the histogram. */
void kith__rdf_end(const struct kith__rdf_call *call, kith_histogram *out);

#endif
