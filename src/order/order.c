/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of orders of particles: check the arguments once, allocate the array, then
 * call the backend, which sorts the particles by cell. And the choice of the cells, from the
 * extents that the backend has found. O(n).
 */
#include "order.h"

#include "core/owned.h"
#include "core/sized.h"
#include "engine/cells.h"

/* Bits of the number of a cell along an axis of the Hilbert curve, beyond those with which there is
 * a cell for each particle (curve_bits). Regions that are 2^21 times denser (2^14 in 2-D) are then
 * ordered, too. More bits take longer to sort. */
enum { DENSER = 7 };

/* Size of the struct in the version that introduced it (core/sized.h) [bytes]. */
enum { KITH_ORDER_0_2 = KITH_SIZE_UP_TO(kith_order, owner) };

/** Return the bits of the number of a cell along an axis of the Hilbert curve. */
static int curve_bits(const struct kith__question *q)
{
    /* the least number of bits with 2^(each * dim) > n */
    const int each = (kith__bit_length((uint64_t)q->a.n) + q->dim - 1) / q->dim;
    return each + DENSER < KITH_CURVE_BITS ? each + DENSER : KITH_CURVE_BITS;
}

struct kith__order_cells kith__order_cells_of(const struct kith__question *q,
                                              const struct kith__extents *extents, double cell)
{
    struct kith__order_cells cells = {.dim = q->dim, .curve_bits = cell > 0 ? 0 : curve_bits(q)};
    const int bits = cell > 0 ? KITH_CURVE_BITS : cells.curve_bits;
    const double most = (double)(1 << bits);
    double longest = 0;
    for (int k = 0; k < q->dim; k++) {
        cells.lo[k] = extents->lo[k];
        longest = fmax(longest, extents->hi[k] - extents->lo[k]);
    }
    const bool spans = longest > 0 && isfinite(longest); /* not without particles: lo > hi */
    const double finest = spans ? most / longest : 0;    /* 1 / width of the smallest cell */
    cells.per_length = cell > 0 && spans ? fmin(1 / cell, finest) : finest;
    cells.per_length = isfinite(cells.per_length) ? cells.per_length : 0;
    double n[3] = {1, 1, 1};
    for (int k = 0; k < q->dim; k++) {
        /* NaN without particles, of which fmax makes 0 */
        const double extent = (extents->hi[k] - extents->lo[k]) * cells.per_length;
        cells.last[k] = cells.curve_bits > 0 ? most - 1 : fmin(fmax(floor(extent), 0), most - 1);
        n[k] = cells.last[k] + 1;
    }
    cells.n_x = (uint64_t)n[0];
    cells.n_y = (uint64_t)n[1];
    cells.bits = cells.curve_bits > 0
                     ? q->dim * cells.curve_bits
                     : kith__bit_length((uint64_t)n[0] * (uint64_t)n[1] * (uint64_t)n[2] - 1);
    return cells;
}

/** Check points, box and cell, and build the question. */
static kith_status prepare(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double cell, struct kith__question *question)
{
    KITH_CHECK(ctx, isfinite(cell) && cell >= 0, KITH_INVALID,
               "cell is %g, expected a finite width of 0 or more", cell);
    return kith__question_space(ctx, points, NULL, box, question);
}

/** Run the backend's operation, into out->order, and set out->n. */
static kith_status order(kith_ctx *ctx, const struct kith__question *question, double cell,
                         kith_order *out)
{
    KITH_TRY(kith__end_call(
        ctx, ctx->backend->order->find(ctx, question, cell, out->order, out->memory)));
    out->n = question->a.n;
    return KITH_OK;
}

/** Do the work of kith_order_find on a struct of full size: into an array of the library. */
static kith_status find(kith_ctx *ctx, const kith_points *points, const kith_box *box, double cell,
                        kith_order *out)
{
    struct kith__question question;
    KITH_TRY(prepare(ctx, points, box, cell, &question));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, out->owner || !out->order, KITH_INVALID,
               "out->order is not the library's: set *out to zeros, or use kith_order_fill");
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    const size_t bytes = (size_t)question.a.n * sizeof *out->order;
    out->order = owned ? kith__owned_need(owned, 0, bytes) : NULL;
    KITH_CHECK(ctx, out->order != NULL, KITH_NO_MEMORY,
               "out of memory for an order of %lld "
               "particles",
               (long long)question.a.n);
    return order(ctx, &question, cell, out);
}

/** Do the work of kith_order_fill on a struct of full size: into the caller's array. */
static kith_status fill(kith_ctx *ctx, const kith_points *points, const kith_box *box, double cell,
                        kith_order *out)
{
    struct kith__question question;
    KITH_TRY(prepare(ctx, points, box, cell, &question));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, !out->owner, KITH_INVALID,
               "out->order belongs to the library: use kith_order_find");
    KITH_CHECK(ctx, question.a.n == 0 || out->order, KITH_INVALID, "out->order is NULL");
    return order(ctx, &question, cell, out);
}

/** The functions find and fill. */
typedef kith_status operation(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              double cell, kith_order *out);

/** Run an operation on a copy of the caller's struct that has all fields of this version
 *  (core/sized.h), and copy the results back. */
static kith_status run(operation *work, kith_ctx *ctx, const kith_points *points,
                       const kith_box *box, double cell, kith_order *out)
{
    kith_order own;
    KITH_RESULT_READ(ctx, out, KITH_ORDER_0_2, &own);
    const kith_status status = work(ctx, points, box, cell, &own);
    KITH_RESULT_WRITE(&own, KITH_ORDER_0_2, out);
    return status;
}

/** Run an operation as a public call, one at a time on a context. On failure out->n is 0. */
static kith_status call(operation *work, kith_ctx *ctx, const kith_points *points,
                        const kith_box *box, double cell, kith_order *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, run(work, ctx, points, box, cell, out));
    if (status != KITH_OK && out) {
        out->n = 0;
    }
    return status;
}

kith_status kith_order_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double cell, kith_order *out)
{
    return call(find, ctx, points, box, cell, out);
}

kith_status kith_order_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double cell, kith_order *out)
{
    return call(fill, ctx, points, box, cell, out);
}

void kith_order_free(kith_order *order)
{
    if (order) {
        kith__owned_free(order->owner);
        KITH_RESULT_CLEAR(order, kith_order, KITH_ORDER_0_2);
    }
}
