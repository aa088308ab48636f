/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps on CPU cores: copies the replicas to panels (compare.h), and counts every pair of
 * blocks. Each thread has its own counters, which are added at the end. O(n^2 dim).
 */
#include <float.h>
#include <string.h>

#include "compare.h"
#include "engine/cpu/run.h"

/* Cost of copying or zeroing one number, for kith__skip [about 1 ns]. */
enum { NUMBER_COST = 10 };

/** Write replica i, times its scale, to its panel.
 *  @param panels  all panels: [panels][dim][width] */
static void pack_row(const struct kith__compare *c, int64_t i, void *panels)
{
    enum { PART = 4096 }; /* most numbers between two tests of whether the call is to stop */
    const struct kith__overlap *o = c->overlap;
    const double scale = kith__overlap_scale(o, &c->band, i);
    const int64_t width = kith__panel_width(c->precision);
    const int64_t at = i / width * width * o->dim + i % width; /* index of number 0 in `panels` */
    const int64_t part = o->dim < PART ? o->dim : PART;
    const int64_t parts = (o->dim + part - 1) / part;
    for (int64_t p = 0; p < parts && !kith__skip(c->ctx, i * parts + p, part * NUMBER_COST); p++) {
        const int64_t end = p + 1 < parts ? (p + 1) * part : o->dim;
        for (int64_t k = p * part; k < end; k++) {
            const double value = kith__real_at(o->rows, i * o->stride + k, (kith_precision)o->type);
            kith__set_real(panels, at + k * width, c->precision, value * scale);
        }
    }
}

/** Pack the replicas of panels [begin, end), and set their weights: a kith__range_fn. */
static void pack_panels(void *state, int64_t begin, int64_t end)
{
    const struct kith__compare *c = state;
    const struct kith__overlap *o = c->overlap;
    const int64_t width = kith__panel_width(c->precision);
    for (int64_t i = begin * width; i < end * width && i < o->n; i++) {
        pack_row(c, i, c->panels);
        kith__set_real(c->weights, i, c->precision, kith__overlap_weight(o, &c->band, i));
    }
}

/** Allocate and fill panels and weights. The last panel is padded with zeros. */
static kith_status make_panels(kith_ctx *ctx, struct kith__compare *c)
{
    const struct kith__overlap *o = c->overlap;
    const int64_t width = kith__panel_width(c->precision);
    const int64_t panels = (o->n + width - 1) / width;
    const size_t bytes = (size_t)panels * (size_t)o->dim * KITH_PANEL_BYTES;
    void *weights = kith__work_need(&ctx->work, KITH_OVERLAP_WEIGHTS,
                                    (size_t)o->n * (size_t)c->precision);
    char *data = kith__work_need(&ctx->work, KITH_OVERLAP_PANELS, bytes);
    KITH_CHECK(ctx, weights && data, KITH_NO_MEMORY, "out of memory for a copy of %lld replicas",
               (long long)o->n);
    for (int64_t k = (panels - 1) * o->dim; k < panels * o->dim && !kith__skip(ctx, k, NUMBER_COST);
         k++) {
        memset(data + k * KITH_PANEL_BYTES, 0, KITH_PANEL_BYTES);
    }
    c->panels = data;
    c->weights = weights;
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, o->n * o->dim), panels, 1, pack_panels, c);
    return kith__proceed(ctx);
}

/** Choose the precision of products and their error band, and pack the replicas. Products of floats
 *  are in float, unless kith__band.needs_double. */
static kith_status prepare(kith_ctx *ctx, struct kith__compare *c)
{
    const struct kith__overlap *o = c->overlap;
    const int64_t depth = o->dim < KITH_COMPARE_DEPTH ? o->dim : KITH_COMPARE_DEPTH;
    /* Rounded operations that a term passes: its product, where that is not part of an FMA (1); the
     * additions in its slice (depth, of KITH_COMPARE_DEPTH numbers at most, see compare.h); and the
     * additions of slices, of which the last may be shorter (dim / KITH_COMPARE_DEPTH + 1). */
    const int64_t chain = depth + o->dim / KITH_COMPARE_DEPTH + 2;
    if (o->type == KITH_BITS) {
        c->precision =
            KITH_FLOAT; /* either: there are no products, only make_own's room for them */
        return KITH_OK;
    }
    c->precision = (kith_precision)o->type;
    c->band = kith__overlap_band(o, chain, (double)FLT_EPSILON / 2);
    if (c->precision == KITH_DOUBLE || c->band.needs_double) {
        c->precision = KITH_DOUBLE;
        c->band = kith__overlap_band(o, chain, DBL_EPSILON / 2);
    }
    return make_panels(ctx, c);
}

/** Allocate products and zeroed counters of each thread: set c->own. */
static kith_status make_own(kith_ctx *ctx, struct kith__compare *c)
{
    const size_t threads = (size_t)ctx->threads;
    const size_t products = (size_t)KITH_COMPARE_BLOCK * KITH_COMPARE_BLOCK * (size_t)c->precision;
    const size_t counts = (size_t)c->copies * (size_t)(c->overlap->bins + 2) * sizeof(int64_t);
    const size_t each = (products + counts + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    const size_t heads = (threads * sizeof *c->own + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    char *memory = kith__work_need(&ctx->work, KITH_OVERLAP_THREADS, heads + threads * each);
    KITH_CHECK(ctx, memory != NULL, KITH_NO_MEMORY, "out of memory for %d threads", ctx->threads);
    struct kith__compare_own *own = (struct kith__compare_own *)(void *)memory;
    for (size_t t = 0; t < threads; t++) {
        char *at = memory + heads + t * each;
        memset(at + products, 0, counts);
        own[t] = (struct kith__compare_own){.products = at,
                                            .counts = (int64_t *)(void *)(at + products)};
    }
    c->own = own;
    return KITH_OK;
}

/** kith__overlap_backend.count */
static kith_status count_overlaps(kith_ctx *ctx, const struct kith__overlap *o)
{
    static kith__work_fn *const compare[] = {KITH_EACH_ISA(compare)};
    /* With fewer bins than SMALL, KITH_COMPARE_COPIES copies of a thread's counters take at most
     * 128 KiB, which a second-level cache holds. */
    enum { SMALL = 4096 };
    struct kith__cpu *cpu = ctx->state;
    struct kith__compare c = {.ctx = ctx,
                              .overlap = o,
                              .copies = o->bins < SMALL ? KITH_COMPARE_COPIES : 1,
                              .sweeps = cpu->sweeps};
    KITH_TRY(prepare(ctx, &c));
    KITH_TRY(make_own(ctx, &c));
    /* kith__run_prepare, which resets `failed` elsewhere, is not called: there is no grid */
    for (int t = 0; t < ctx->threads; t++) {
        cpu->sweeps[t].failed = KITH_OK;
    }
    const int64_t blocks = (o->n + KITH_COMPARE_BLOCK - 1) / KITH_COMPARE_BLOCK;
    const int64_t tasks = blocks * (blocks + 1) / 2;
    struct kith__run run = kith__run_of(ctx, tasks);
    run.heavy = true;
    run.block = compare[kith__isa(ctx)];
    run.job = &c;
    KITH_TRY(kith__run(&run));
    for (int64_t at = 0; at < (int64_t)ctx->threads * c.copies * (o->bins + 2); at++) {
        const int64_t copy = at / (o->bins + 2), counter = at % (o->bins + 2);
        if (counter >= 1 && counter <= o->bins) {
            const struct kith__compare_own *own = &c.own[copy / c.copies];
            o->counts[counter - 1] += own->counts[copy % c.copies * (o->bins + 2) + counter];
        }
    }
    return KITH_OK;
}

const struct kith__overlap_backend kith__cpu_overlap = {
    .count = count_overlaps,
};
