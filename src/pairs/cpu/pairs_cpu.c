/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists on CPU cores: the operations count, fill and each (kith__cpu_pairs, at the end), by
 * the sweep (engine/cpu/sweep.h). Lists with radii of several classes are made by radii_cpu.c,
 * those of batches by pairs_batch.c, which calls these operations. Two algorithms make other lists:
 *
 * Appended, for (i, j) lists that are not sorted: one sweep. A thread collects the hits of a work
 * block in a buffer, waits until all earlier blocks have added their numbers of pairs to the total,
 * takes the total as its offset, adds its own number, and writes its pairs, while other threads
 * write theirs. So the order of the list does not depend on the threads. When the library owns the
 * arrays, their size is estimated from a sample of blocks; if it is too small, the sweep is
 * repeated.
 *
 * By rows, for CSR and sorted lists: one sweep counts the hits of each particle, the prefix sum of
 * the counts gives the offset of each row, and a second sweep fills the rows. matrix_cpu.c makes
 * rows of a fixed width.
 */
#include <assert.h>
#include <string.h>

#include "pairs_cpu.h"
#include "radii_cpu.h"

#include "engine/cpu/run.h"
#include "pairs/classes.h"
#include "pairs/list.h"
#include "pairs/pairs_batch.h"

/** Return the status of work blocks that this thread processed outside of kith__run. */
static kith_status check_sweep(kith_ctx *ctx, const struct kith__sweep *sweep)
{
    KITH_CHECK(ctx, sweep->failed != KITH_NO_MEMORY, KITH_NO_MEMORY, "out of memory in the sweep");
    return kith__proceed(ctx);
}

static kith__work_fn *const count_kernel[] = {KITH_EACH_ISA(count_pairs)};
static kith__work_fn *const collect_kernel[] = {KITH_EACH_ISA(collect_rows)};
static kith__write_rows_fn *const write_kernel[] = {KITH_EACH_ISA(write_rows)};

/** Prepare every thread's sweep for a list. */
static kith_status prepare(kith_ctx *ctx, const struct kith__question *q,
                           const struct kith__list *list, const struct kith__grid *grid,
                           enum kith__stencil stencil)
{
    KITH_TRY(kith__run_prepare(ctx, q, grid, stencil, sizeof(struct kith__list_state)));
    for (int t = 0; t < ctx->threads; t++) {
        kith__list_of(kith__sweep_of(ctx, t))->rules = list->rules;
    }
    return KITH_OK;
}

/** Set the list that a thread writes to, and its extras.
 *  @return the state of the list in this thread */
static struct kith__list_state *set_output(struct kith__sweep *sweep, unsigned extras,
                                           const kith_pairs *out)
{
    struct kith__list_state *state = kith__list_of(sweep);
    if (extras != 0 && !sweep->keep_slots) {
        sweep->keep_slots = true;
        /* Counting with rules (count_listed) may have allocated the arrays of hits without slots
         * and shifts: a capacity of 0 makes kith__hits_room allocate all of them. */
        sweep->room_hits = 0;
    }
    state->extras = extras;
    state->out = out;
    return state;
}

/* ------------------------------------------------------------------------------------ counting */

/** Count the hits of each particle. The sweeps have been prepared with KITH_ALL.
 *  @param n            number of particles of the points
 *  @param upper        count only candidates of higher rank (kith__tile.rank) than the particle:
 *                      those of a half list
 *  @param passes       passes of the call: this one is 1 / passes of its progress
 *  @param[out] counts  [n] the numbers, by the caller's index */
static kith_status count_rows(kith_ctx *ctx, const struct kith__grid *grid, int64_t n, bool upper,
                              int passes, int64_t *counts)
{
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(count_rows)};
    memset(counts, 0, (size_t)n * sizeof *counts);
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = kith__sweep_of(ctx, t);
        kith__list_of(sweep)->counts = counts;
        sweep->upper = upper;
    }
    struct kith__run run = kith__run_of(ctx, kith__work_blocks(grid));
    run.watch_total *= passes;
    run.block = kernel[kith__isa(ctx)];
    return kith__run(&run);
}

/** kith__pairs_backend.count. */
static kith_status count_pairs(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__list *list, int64_t *n, int64_t *neighbours)
{
    struct kith__grid grid;
    bool done = false;
    KITH_TRY(kith__wants_classes(q, list) ? kith__radii_count(ctx, q, list, n, neighbours, &done)
                                          : KITH_OK);
    if (done) {
        return KITH_OK;
    }
    KITH_TRY(kith__grid_build(ctx, q, &grid));
    /* A forward sweep finds each pair once, which is enough unless the rules may list (i, j), but
     * not (j, i). Between two sets KITH_ALL finds each pair once. */
    const bool from_both = q->cross || (list->rules && list->rules->one_sided);
    const int64_t each_twice = list->full && !from_both ? 2 : 1;
    if (neighbours) {
        KITH_TRY(prepare(ctx, q, list, &grid, KITH_ALL));
        KITH_TRY(count_rows(ctx, &grid, q->a.n, false, 1, neighbours));
        int64_t sum = 0;
        for (int64_t p = 0; p < q->a.n; p++) {
            sum += neighbours[p];
        }
        *n = list->full ? sum : sum / 2;
        return KITH_OK;
    }
    KITH_TRY(prepare(ctx, q, list, &grid, from_both ? KITH_ALL : KITH_FORWARD));
    struct kith__run run = kith__run_of(ctx, kith__work_blocks(&grid));
    run.block = count_kernel[kith__isa(ctx)];
    KITH_TRY(kith__run(&run));
    *n = 0;
    for (int t = 0; t < ctx->threads; t++) {
        *n += kith__list_of(kith__sweep_of(ctx, t))->hits * each_twice;
    }
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------ appended */

/** A parallel run whose work blocks append their pairs to one list, in the order of the blocks. */
struct append {
    struct kith__run run; /**< the sweep; its job is this struct */
    int64_t capacity;     /**< pairs that the arrays can hold */
    int64_t total;        /**< pairs of the blocks before `turn`, and those that block `turn` has
                               flushed; only the thread of that block may change it */
    _Atomic int64_t turn; /**< number of the work block whose thread may add to `total` */
};

/** Wait until all earlier work blocks have added their pairs to the total.
 *  @return false when the run has stopped */
static bool wait_turn(const struct append *append, int64_t block)
{
    return kith__wait_turn(append->run.ctx, &append->turn, block, &append->run.status);
}

/** Write the collected hits from pair `at` on if the arrays can hold them, and discard them. */
static void write_or_drop(struct append *append, struct kith__sweep *sweep, int64_t at)
{
    if (at + sweep->n_hits <= append->capacity) {
        write_kernel[kith__isa(sweep->ctx)](sweep, at);
    }
    kith__sweep_discard_hits(sweep);
}

/** kith__list_state.flush: write the collected hits before the work block is complete, as the
 *  buffer is full: wait until `turn` is this block, and do not advance it. Where the run has
 *  stopped, hits are discarded. */
static void flush_append(struct kith__sweep *sweep)
{
    struct append *append = sweep->job;
    if (!wait_turn(append, kith__list_of(sweep)->block)) {
        kith__sweep_discard_hits(sweep);
        return;
    }
    const int64_t at = append->total;
    append->total += sweep->n_hits;
    write_or_drop(append, sweep, at);
}

/** kith__work_fn: append the pairs of a work block. */
static void append_block(struct kith__sweep *sweep, int64_t block)
{
    struct append *append = sweep->job;
    kith__list_of(sweep)->block = block;
    kith__sweep_discard_hits(sweep);
    collect_kernel[kith__isa(sweep->ctx)](sweep, block);
    if (!sweep->failed && wait_turn(append, block)) {
        const int64_t at = append->total;
        append->total += sweep->n_hits;
        /* release: the thread of the next block, which waits for this value, then reads `total` */
        atomic_store_explicit(&append->turn, block + 1, memory_order_release);
        write_or_drop(append, sweep, at);
    }
}

/** Append the pairs of work blocks [run.first, run.last) to out, from its beginning. The sweeps
 *  have been prepared.
 *  @param[out] total  number of pairs of these blocks; above out->capacity when not all of them
 *                     were written */
static kith_status append_blocks(const kith_pairs *out, unsigned extras, struct kith__run run,
                                 int64_t *total)
{
    struct append append = {.run = run, .capacity = out->capacity};
    append.run.block = append_block;
    append.run.job = &append;
    atomic_store(&append.turn, run.first);
    for (int t = 0; t < run.ctx->threads; t++) {
        set_output(kith__sweep_of(run.ctx, t), extras, out)->flush = flush_append;
    }
    KITH_TRY(kith__run(&append.run));
    assert(append.turn == run.last); /* all blocks have added their pairs */
    *total = append.total;
    return KITH_OK;
}

/** Estimate the number of pairs from a sample of work blocks, which the calling thread counts.
 *  Unless all blocks are in the sample, the estimate is raised by 8 %, so that it is seldom too
 *  small. The sweeps have been prepared. */
static kith_status guess_pairs(kith_ctx *ctx, const struct kith__grid *grid, int64_t *guess)
{
    enum { SAMPLE = 24 };
    const int64_t blocks = kith__work_blocks(grid);
    struct kith__sweep *sweep = kith__sweep_of(ctx, 0);
    struct kith__list_state *state = kith__list_of(sweep);
    const int64_t step = blocks > SAMPLE ? blocks / SAMPLE : 1;
    int64_t seen = 0;
    for (int64_t block = step / 2; block < blocks; block += step) {
        count_kernel[kith__isa(ctx)](sweep, block);
        seen++;
    }
    KITH_TRY(check_sweep(ctx, sweep));
    const double mean = seen ? (double)state->hits / (double)seen : 0;
    /* 64: never 0, and room for some pairs where the sample has none */
    *guess = (int64_t)(mean * (double)blocks * (seen == blocks ? 1.0 : 1.08)) + 64;
    state->hits = 0;
    return KITH_OK;
}

/** kith__pairs_backend.fill for (i, j) lists that are not sorted: one sweep, or two where the
 *  capacity, estimated or that of an earlier list, is too small. */
static kith_status fill_appended(kith_ctx *ctx, const struct kith__question *q,
                                 const struct kith__list *list, const struct kith__grid *grid,
                                 bool grow, kith_pairs *out)
{
    KITH_TRY(prepare(ctx, q, list, grid, list->full ? KITH_ALL : KITH_FORWARD));
    const struct kith__run run = kith__run_of(ctx, kith__work_blocks(grid));
    if (grow) {
        int64_t guess = 0;
        int64_t capacity = out->owner ? out->capacity : 0;
        if (capacity == 0) {
            KITH_TRY(guess_pairs(ctx, grid, &guess));
            capacity = guess;
        }
        if (kith__list_need(ctx, list, q->precision, q->a.n, guess, capacity, out) != KITH_OK) {
            KITH_TRY(guess == 0 ? guess_pairs(ctx, grid, &guess) : KITH_OK);
            return kith__list_too_large(ctx, "about ", guess, capacity);
        }
    }
    int64_t total = 0;
    KITH_TRY(append_blocks(out, list->extras, run, &total));
    if (grow && total > out->capacity) {
        KITH_TRY(kith__list_need(ctx, list, q->precision, q->a.n, total, total, out));
        KITH_TRY(append_blocks(out, list->extras, run, &total));
    }
    return kith__list_set(ctx, total, q->a.n, out);
}

/* ------------------------------------------------------------------------------------- by rows */

/** Refuse sorted rows that take too much memory: they need all candidates of a query block, with
 *  their periodic images, in one tile (KITH_SORTED_CANDIDATE_BYTES for each). The number of
 *  candidates is estimated as the number of particles times the volume of the cells in reach, in
 *  boxes: along each axis the query block's cell, `reach` cells on each side, and one to spare; on
 *  an open axis at most all cells.
 *  @return KITH_OK, KITH_LIMIT */
static kith_status check_images(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__grid *grid)
{
    const double most = 4e9; /* limit of kith_pairs_find [bytes in each thread] */
    double bytes = (double)grid->b.n * KITH_SORTED_CANDIDATE_BYTES;
    for (int k = 0; k < 3 && grid->cells != 0; k++) {
        const struct kith__axis *axis = &grid->axis[k];
        const double part = (2 * (double)axis->reach + 2) / (double)axis->n;
        bytes *= axis->periodic || part < 1 ? part : 1;
    }
    KITH_CHECK(
        ctx, bytes <= most, KITH_LIMIT,
        "cutoff is %g: a sorted list takes about %.2g GB of memory a thread for the images in "
        "reach of a particle, more than %.2g GB: leave `sorted` off, or shorten the cutoff",
        q->cutoff, bytes / 1e9, most / 1e9);
    return KITH_OK;
}

/** Count the pairs of each row, and prepare the sweeps that fill the rows.
 *  @param[out] offsets  [a.n + 1] first pair of each row in the list; offsets[a.n] is the number of
 *                       pairs. In scratch memory of the context */
static kith_status find_row_offsets(kith_ctx *ctx, const struct kith__question *q,
                                    const struct kith__list *list, const struct kith__grid *grid,
                                    int64_t **offsets)
{
    const int64_t n = q->a.n;
    KITH_TRY(prepare(ctx, q, list, grid, KITH_ALL));
    int64_t *offset = kith__work_need(&ctx->work, KITH_CPU_OFFSETS,
                                      (size_t)(n + 1) * sizeof *offset);
    KITH_CHECK(ctx, offset != NULL, KITH_NO_MEMORY, "out of memory for %lld rows", (long long)n);
    KITH_TRY(count_rows(ctx, grid, n, !list->full, 2, offset + 1));
    offset[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        assert(offset[p + 1] >= 0);
        offset[p + 1] += offset[p];
    }
    *offsets = offset;
    return KITH_OK;
}

/** Write rows [begin, end) to out, from its beginning. The sweeps have been prepared by
 *  find_row_offsets.
 *  @param offsets  [a.n + 1] first pair of each row in the list
 *  @param out      its arrays have room for all pairs of these rows */
static kith_status fill_row_range(kith_ctx *ctx, const struct kith__list *list,
                                  const struct kith__grid *grid, const int64_t *offsets,
                                  int64_t begin, int64_t end, const kith_pairs *out)
{
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(fill_rows)};
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = kith__sweep_of(ctx, t);
        struct kith__list_state *state = set_output(sweep, list->extras, out);
        state->offsets = offsets;
        state->base = offsets[begin];
        sweep->by_id = list->sorted;
        sweep->id_begin = (int32_t)begin;
        sweep->id_end = end == grid->a.n ? INT32_MAX : (int32_t)end;
    }
    const int64_t blocks = kith__work_blocks(grid);
    const int64_t pairs = offsets[grid->a.n] + 1; /* + 1: the progress has a total that is not 0 */
    struct kith__run run = {.ctx = ctx,
                            .last = blocks,
                            .watch_from = pairs + offsets[begin],
                            .watch_to = pairs + offsets[end],
                            .watch_total = 2 * pairs,
                            .block = kernel[kith__isa(ctx)]};
    return kith__run(&run);
}

/** kith__pairs_backend.fill for CSR and sorted lists: two sweeps. */
static kith_status fill_by_rows(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__list *list, const struct kith__grid *grid,
                                bool grow, kith_pairs *out)
{
    int64_t *offsets = NULL;
    const int64_t n = q->a.n;
    KITH_TRY(find_row_offsets(ctx, q, list, grid, &offsets));
    if (grow) {
        KITH_TRY(kith__list_grow(ctx, list, q->precision, n, offsets[n], out));
    }
    KITH_TRY(kith__list_set(ctx, offsets[n], n, out));
    if (list->layout == KITH_CSR) {
        memcpy(out->offsets, offsets, (size_t)(n + 1) * sizeof *offsets);
    }
    return fill_row_range(ctx, list, grid, offsets, 0, n, out);
}

/** kith__pairs_backend.fill. */
static kith_status fill_pairs(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__list *list, bool grow, kith_pairs *out)
{
    struct kith__grid grid;
    bool done = false;
    KITH_TRY(kith__wants_classes(q, list) ? kith__radii_fill(ctx, q, list, grow, out, &done)
                                          : KITH_OK);
    if (done) {
        return KITH_OK;
    }
    KITH_TRY(kith__grid_build(ctx, q, &grid));
    KITH_TRY(list->sorted ? check_images(ctx, q, &grid) : KITH_OK);
    if (list->layout == KITH_MATRIX) {
        return kith__matrix_fill(ctx, q, list, &grid, grow, out);
    }
    const bool by_rows = list->sorted || list->layout == KITH_CSR;
    return by_rows ? fill_by_rows(ctx, q, list, &grid, grow, out)
                   : fill_appended(ctx, q, list, &grid, grow, out);
}

/* ------------------------------------------------------------------------------------ streamed */

/** A list that is passed to a callback in blocks of pairs. */
struct stream {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< points, box and cutoff */
    const struct kith__list *list;         /**< form of the list, and size of a block of pairs */
    const struct kith__grid *grid;         /**< the sorted particles */
    kith_block_fn fn;                      /**< the callback */
    void *user;                            /**< argument of the callback */
    kith_pairs *staging;                   /**< list that pairs are written to, before they are
                                                passed to the callback */
    int64_t *counts;   /**< [work blocks] pairs of each work block, for appended lists */
    int64_t delivered; /**< pairs passed to the callback so far */
    bool stopped;      /**< the callback has returned a number that is not 0 */
};

/** Make the staging arrays hold this number of pairs. */
static kith_status stage(struct stream *stream, int64_t pairs)
{
    return kith__list_need(stream->ctx, stream->list, stream->question->precision,
                           stream->question->a.n, pairs, pairs, stream->staging);
}

/** Pass the first n pairs of `staging` to the callback, in blocks of at most block_pairs. */
static kith_status deliver(struct stream *stream, int64_t n)
{
    const kith_pairs *all = stream->staging;
    for (int64_t at = 0; at < n && !stream->stopped; at += stream->list->block_pairs) {
        const int64_t left = n - at;
        const int64_t most = stream->list->block_pairs;
        const kith_pairs piece = kith__list_piece(all, stream->question->precision, at,
                                                  left < most ? left : most);
        stream->stopped = stream->fn(stream->user, &piece, stream->delivered) != 0;
        stream->delivered += piece.n;
    }
    KITH_CHECK(stream->ctx, !stream->stopped, KITH_CANCELLED, "stopped by the block callback");
    return KITH_OK;
}

/** kith__list_state.flush: pass the collected hits to the callback. They are part of a work block
 *  with more than block_pairs pairs. */
static void flush_stream(struct kith__sweep *sweep)
{
    struct stream *stream = sweep->job;
    const int64_t n = sweep->n_hits;
    if (!sweep->failed) {
        sweep->failed = stage(stream, n);
    }
    if (!sweep->failed && !stream->stopped) {
        write_kernel[kith__isa(sweep->ctx)](sweep, 0);
        (void)deliver(stream, n); /* sets stream->stopped, which is tested after the work block */
    }
    kith__sweep_discard_hits(sweep);
}

/** Make a work block with more than block_pairs pairs on the calling thread, and pass its pairs to
 *  the callback, whenever the buffer of hits is full and at the end. */
static kith_status stream_large_block(struct stream *stream, int64_t block)
{
    struct kith__sweep *sweep = kith__sweep_of(stream->ctx, 0);
    set_output(sweep, stream->list->extras, stream->staging)->flush = flush_stream;
    sweep->job = stream;
    kith__sweep_discard_hits(sweep);
    collect_kernel[kith__isa(sweep->ctx)](sweep, block);
    flush_stream(sweep);
    KITH_TRY(check_sweep(stream->ctx, sweep));
    KITH_CHECK(stream->ctx, !stream->stopped, KITH_CANCELLED, "stopped by the block callback");
    return KITH_OK;
}

/** kith__work_fn: count the pairs of a work block. */
static void count_block(struct kith__sweep *sweep, int64_t block)
{
    const struct stream *stream = sweep->job;
    const struct kith__list_state *state = kith__list_of(sweep);
    const int64_t before = state->hits;
    count_kernel[kith__isa(sweep->ctx)](sweep, block);
    stream->counts[block] = state->hits - before;
}

/** Pass a list that is not sorted to the callback: count the pairs of all work blocks, then make as
 *  many consecutive work blocks at a time as together have at most block_pairs pairs. */
static kith_status stream_appended(struct stream *stream)
{
    kith_ctx *ctx = stream->ctx;
    const int64_t blocks = kith__work_blocks(stream->grid);
    const int64_t most = stream->list->block_pairs;
    KITH_TRY(prepare(ctx, stream->question, stream->list, stream->grid,
                     stream->list->full ? KITH_ALL : KITH_FORWARD));
    /* blocks + 1: never 0 bytes */
    int64_t *counts = kith__work_need(&ctx->work, KITH_CPU_BLOCK_COUNTS,
                                      (size_t)(blocks + 1) * sizeof *counts);
    KITH_CHECK(ctx, counts != NULL, KITH_NO_MEMORY, "out of memory for %lld blocks",
               (long long)blocks);
    stream->counts = counts;
    struct kith__run count = kith__run_of(ctx, blocks);
    count.watch_total *= 2;
    count.block = count_block;
    count.job = stream;
    KITH_TRY(kith__run(&count));
    for (int64_t first = 0, last; first < blocks; first = last) {
        int64_t pairs = counts[first];
        for (last = first + 1; last < blocks && pairs + counts[last] <= most; last++) {
            pairs += counts[last];
        }
        if (pairs > most) {
            KITH_TRY(stream_large_block(stream, first));
            continue;
        }
        const struct kith__run run = {.ctx = ctx,
                                      .first = first,
                                      .last = last,
                                      .watch_from = blocks + first,
                                      .watch_to = blocks + last,
                                      .watch_total = 2 * blocks};
        KITH_TRY(stage(stream, pairs));
        KITH_TRY(append_blocks(stream->staging, stream->list->extras, run, &pairs));
        KITH_TRY(deliver(stream, pairs));
    }
    return KITH_OK;
}

/** Pass a sorted list to the callback: make as many rows at a time as together have at most
 *  block_pairs pairs, or one row with more. Each time a sweep passes over all particles. */
static kith_status stream_by_rows(struct stream *stream)
{
    int64_t *offsets = NULL;
    const int64_t n = stream->question->a.n;
    KITH_TRY(find_row_offsets(stream->ctx, stream->question, stream->list, stream->grid, &offsets));
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && offsets[end + 1] - offsets[begin] <= stream->list->block_pairs) {
            end++;
        }
        const int64_t pairs = offsets[end] - offsets[begin];
        if (pairs > 0) {
            KITH_TRY(stage(stream, pairs));
            KITH_TRY(fill_row_range(stream->ctx, stream->list, stream->grid, offsets, begin, end,
                                    stream->staging));
            KITH_TRY(deliver(stream, pairs));
        }
    }
    return KITH_OK;
}

/** kith__pairs_backend.each. */
static kith_status each_block(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__list *list, kith_block_fn fn, void *user)
{
    struct kith__grid grid;
    bool done = false;
    KITH_TRY(kith__wants_classes(q, list) ? kith__radii_each(ctx, q, list, fn, user, &done)
                                          : KITH_OK);
    if (done) {
        return KITH_OK;
    }
    KITH_TRY(kith__grid_build(ctx, q, &grid));
    KITH_TRY(list->sorted ? check_images(ctx, q, &grid) : KITH_OK);
    struct kith__cpu *cpu = ctx->state;
    struct stream stream = {.ctx = ctx,
                            .question = q,
                            .list = list,
                            .grid = &grid,
                            .fn = fn,
                            .user = user,
                            .staging = &cpu->staging};
    return list->sorted ? stream_by_rows(&stream) : stream_appended(&stream);
}

const struct kith__pairs_backend kith__cpu_pairs = {
    .count = count_pairs,
    .fill = fill_pairs,
    .each = each_block,
    .batch_count = kith__batch_count,
    .batch_fill = kith__batch_fill,
    .batch_each = kith__batch_each,
};
