/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists on CPU cores: rows of a fixed width. One sweep writes the hits of each particle
 * to its row, as many as fit, and counts all of them. A second sweep follows only where the rows of
 * the library's arrays have to grow. O(n (width + neighbours)) time. Lists with radii of several
 * classes are made by radii_cpu.c, which uses kith__matrix_pad.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "pairs_cpu.h"

#include "engine/cpu/run.h"
#include "pairs/list.h"

void kith__matrix_pad(kith_precision precision, unsigned extras, int32_t fill, int64_t from,
                      int64_t to, const kith_pairs *out)
{
    for (int64_t e = from; e < to; e++) {
        out->j[e] = fill;
    }
    if (extras & KITH_DISTANCES) {
        for (int64_t e = from; e < to; e++) {
            kith__set_real(out->distances, e, precision, (double)INFINITY);
        }
    }
    if (to > from && (extras & KITH_VECTORS)) { /* by memset, as 0.0 has no bits set */
        const size_t element = 3 * (size_t)precision;
        memset((char *)out->vectors + (size_t)from * element, 0, (size_t)(to - from) * element);
    }
    if (to > from && (extras & KITH_SHIFTS)) {
        memset(out->shifts + 3 * from, 0, 3 * (size_t)(to - from) * sizeof *out->shifts);
    }
}

/** Shared state of the parallel loop over rows after the sweep. */
struct finish_loop {
    const struct kith__list *list; /**< form of the list */
    kith_precision precision;      /**< precision of distances and vectors */
    const int64_t *counts;         /**< [rows] neighbours of each particle */
    kith_pairs *out;               /**< receives counts; n, widest and overflowed are added up */
    pthread_mutex_t lock;          /**< guards n, widest and overflowed of `out` */
};

/** Write the counts of rows [begin, end), and add to the totals. Pad the rows without neighbours,
 *  which the sweep may have left as they were: its operation, fill_matrix_operation, is not called
 *  for a particle without candidates. */
static void finish_rows(void *state, int64_t begin, int64_t end)
{
    struct finish_loop *loop = state;
    kith_pairs *out = loop->out;
    const int64_t width = out->width;
    int64_t n = 0, widest = 0, overflowed = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t count = loop->counts[i];
        n += count;
        widest = count > widest ? count : widest;
        overflowed += count > width;
        if (out->counts) {
            out->counts[i] = count < INT32_MAX ? (int32_t)count : INT32_MAX;
        }
        if (count == 0) {
            kith__matrix_pad(loop->precision, loop->list->extras, loop->list->fill, i * width,
                             (i + 1) * width, out);
        }
    }
    pthread_mutex_lock(&loop->lock);
    out->n += n;
    out->widest = widest > out->widest ? widest : out->widest;
    out->overflowed += overflowed;
    pthread_mutex_unlock(&loop->lock);
}

/** Fill rows of out->width entries, and set counts, rows, n, widest and overflowed of out.
 *  @param counts  [a.n] scratch memory: receives the neighbours of each particle */
static kith_status fill_width(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__list *list, const struct kith__grid *grid,
                              int64_t *counts, kith_pairs *out)
{
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(fill_matrix)};
    memset(counts, 0, (size_t)q->a.n * sizeof *counts);
    KITH_TRY(kith__run_prepare(ctx, q, grid, KITH_ALL, sizeof(struct kith__list_state)));
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = kith__sweep_of(ctx, t);
        struct kith__list_state *state = kith__list_of(sweep);
        sweep->keep_slots = list->extras != 0;
        sweep->by_id = list->sorted;
        state->extras = list->extras;
        state->rules = list->rules;
        state->out = out;
        state->width = out->width;
        state->fill = list->fill;
        state->counts = counts;
    }
    struct kith__run run = kith__run_of(ctx, kith__work_blocks(grid));
    run.block = kernel[kith__isa(ctx)];
    KITH_TRY(kith__run(&run));
    out->rows = q->a.n;
    out->n = out->widest = out->overflowed = 0;
    struct finish_loop loop = {list, q->precision, counts, out, PTHREAD_MUTEX_INITIALIZER};
    kith__loop(ctx, q->a.n, finish_rows, &loop);
    return kith__proceed(ctx);
}

kith_status kith__matrix_fill(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__list *list, const struct kith__grid *grid,
                              bool grow, kith_pairs *out)
{
    const int64_t n = q->a.n;
    int64_t *counts = kith__work_need(&ctx->work, KITH_CPU_MATRIX_COUNTS,
                                      (size_t)n * sizeof *counts);
    KITH_CHECK(ctx, counts != NULL, KITH_NO_MEMORY, "out of memory for %lld rows", (long long)n);
    KITH_TRY(grow ? kith__matrix_need(ctx, list, q->precision, n, list->width, out) : KITH_OK);
    KITH_TRY(fill_width(ctx, q, list, grid, counts, out));
    if (grow && out->overflowed > 0) {
        KITH_TRY(kith__matrix_need(ctx, list, q->precision, n, out->widest, out));
        KITH_TRY(fill_width(ctx, q, list, grid, counts, out));
    }
    return kith__matrix_fits(ctx, out);
}
