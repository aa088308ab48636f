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

/** Arrays of one frame, a configuration of the particles, before it is added to the histogram. A
 *  partial is the histogram of the pairs of two given species (kith__partial, engine/pieces.h). */
struct kith__frame {
    void *edge2;        /**< [bins + 1] squared edges, in the points' precision [length^2] */
    double *volumes;    /**< [bins] volume of each shell; area in 2-D [length^dim] */
    int64_t *counts;    /**< [partials][bins] pairs */
    double *sums;       /**< [partials][bins] sums of products of weights; NULL without weights */
    double *force_sums; /**< [partials][2][bins + 1] pair-force sums (pair_force.h); NULL without
                             forces */
    double *force_over; /**< [bins + 1] memory for kith__force_units.over; NULL without forces */
    int64_t *members;   /**< [2][n_species] number of particles of each species in each set */
};

/** Set the pointers to the arrays of a frame but edge2, one after another in `memory`: `volumes`
 *  first, then those that are zeroed for each frame, from `counts` on.
 *  @param h                has bins, n_species and partials
 *  @param weights, forces  whether the frame has their sums
 *  @param memory           NULL: all pointers become NULL
 *  @param[in,out] at       byte of the memory where the arrays begin; afterwards the byte after
 *                          them */
void kith__frame_lay_out(const kith_histogram *h, bool weights, bool forces, char *memory,
                         size_t *at, struct kith__frame *frame);

/** Return edge k of the options' bins, 0 <= k <= bins [length]. The last linear edge is r_max
 *  without rounding. */
static inline double kith__edge(const kith_rdf_options *o, int64_t k)
{
    const double part = (double)k / (double)o->bins;
    const double linear = k == o->bins ? o->r_max : o->r_min + part * (o->r_max - o->r_min);
    return o->edges ? o->edges[k] : linear;
}

/** Allocate the arrays of a zeroed histogram, and zero them; or check that a histogram from earlier
 *  calls has this shape, the options' edges, and sums as the options need them. Then return the
 *  arrays of one frame, with zeroed counts and sums.
 *  @param shape       a histogram of which bins, n_species, partials, against, dim and size are set
 *  @param[in,out] out  zeroed, or a histogram from earlier calls
 *  @param[out] frame  the arrays of one frame, owned by the histogram
 *  @return KITH_OK, KITH_INVALID, KITH_NO_MEMORY or KITH_CANCELLED */
kith_status kith__histogram_need(kith_ctx *ctx, const kith_histogram *shape,
                                 const kith_rdf_options *options, kith_histogram *out,
                                 struct kith__frame *frame);

/** Return a copy of a histogram's fields and arrays, except those of its frame.
 *  kith__histogram_restore frees the copy.
 *  @return NULL when there is no memory */
void *kith__histogram_save(const kith_histogram *h);

/** Free the copy that kith__histogram_save returned.
 *  @param back  true: first set the histogram to the copy, which undoes additions */
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
    struct kith__frame frame;       /**< arrays of this frame, which kith__rdf_begin sets, and of
                                         which it fills edge2, volumes, force_over, members */
};

/** Read a caller's options, of any version of the struct.
 *  @param given     the caller's struct; NULL is refused
 *  @param[out] own  options of full size; fields that the caller does not have are the defaults
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__rdf_options(kith_ctx *ctx, const kith_rdf_options *given, kith_rdf_options *own);

/** Check all arguments of kith_rdf_count but out.
 *  @param options    of full size
 *  @param[out] call  its question is set, and of rdf the options, nearest, most_weight and
 *                    most_forces. src/team/ replaces most_weight and most_forces by the largest
 *                    ones of all ranks before kith__rdf_begin
 *  @return as kith_rdf_count */
kith_status kith__rdf_check(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            const kith_rdf_options *options, struct kith__rdf_call *call);

/** Choose the units of sums, by the largest weights and forces, and make the histogram's arrays;
 *  after kith__rdf_check. The backend can count then.
 *  @param out           of full size
 *  @param[in,out] call  its frame is set, and the arrays of rdf
 *  @return as kith_rdf_count */
kith_status kith__rdf_begin(kith_ctx *ctx, const kith_rdf_options *options, kith_histogram *out,
                            struct kith__rdf_call *call);

/** Add the frame of a call, whose counts, sums and members are set, to the histogram. */
void kith__rdf_end(const struct kith__rdf_call *call, kith_histogram *out);

#endif
