/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An order of the particles in which those that are near each other in space are near each other in
 * memory.
 *
 * See kith.h for boxes, memory, threads and errors.
 */
#ifndef KITH_API_ORDER_H
#define KITH_API_ORDER_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An order of the particles. Zero the struct before its first use. */
typedef struct kith_order {
    int64_t n;          /**< particles */
    int32_t *order;     /**< [n]: the particle that comes k-th is order[k]; each particle once */
    kith_memory memory; /**< where the array is: KITH_HOST unless set, before the first call */
    uint32_t size;      /**< sizeof(kith_order) of the caller; 0: the fields of version 0.2 */
    void *owner;        /**< private to the library; NULL when the array is the caller's */
} kith_order;

/**
 * Find an order of the particles by their place in space, into an array that the library allocates.
 * A simulation that moves its particles to this order now and then (positions[k] becomes
 * positions[order[k]], and so for all arrays of particles) makes lists faster, and its own loops
 * over neighbours: these then read memory that is in the caches. docs/speed.md says how much.
 *
 * The order is that of the numbers of cells, which are cubes; particles of one cell keep their
 * order. Cells are counted from the smallest coordinates of all particles, wrapped into the box. It
 * depends on the particles and the box alone, not on backend or threads.
 * @param ctx     the context
 * @param points  the particles
 * @param box     NULL: open space
 * @param cell    width of a cell [length]: cells are numbered by rows, first along x, then y, then
 *                z. Best for lists with this cutoff, of particles that fill their space evenly. 0:
 *                cells so small that few hold several particles, numbered along a Hilbert curve:
 *                for any cutoff and distribution. There are at most 2^21 cells along an axis
 * @param[in,out] out  the result. Zeroed, or one from an earlier call on ctx, whose array is then
 *                     reused and grown as needed. Free with kith_order_free, before kith_close.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure n is 0, and out is still to be freed.
 */
KITH_API kith_status kith_order_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cell, kith_order *out);

/**
 * Find an order of the particles, into the caller's array.
 * @param[in,out] out  memory and order, with room for as many particles as the points have, set by
 *                     the caller; n is returned
 * @return as kith_order_find. On failure n is 0, and the array is undefined.
 */
KITH_API kith_status kith_order_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                                     double cell, kith_order *out);

/** Free the array of a result and zero it but for its size. @param order  NULL or a zeroed result
 *  is fine. */
KITH_API void kith_order_free(kith_order *order);

#ifdef __cplusplus
}
#endif

#endif
