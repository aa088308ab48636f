/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists of a batch, on backends whose operations take one system at a time. A lane is a
 * context of one thread (engine/batch.h); its scratch memory is its own. A thread makes the lists
 * of a group of consecutive systems, one behind the other, in a buffer of its lane, with indices of
 * the whole batch. It then waits for its turn: until all earlier groups have added their numbers of
 * pairs to the total. It takes the total as its offset, and copies its lists there, while other
 * threads copy theirs. So the list holds the systems in their order. A large system is a group by
 * itself, which all threads process together; its list is written to its place directly. When the
 * library owns the arrays, their size is estimated from a sample of groups; if it is too small, the
 * lists are made again. Rows of KITH_MATRIX lists have their places in advance, and are written
 * there.
 */
#include "pairs_batch.h"

#include "list.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

/** Buffers of a lane's scratch memory: the arrays of the lists of a group. pairs_cpu.h has the
 *  numbers before these. kith__batch_each uses those of the context. */
enum {
    KITH_BATCH_I = KITH_WORK_OF(pairs) + 8, /**< also the counts of the rows of a matrix */
    KITH_BATCH_J,
    KITH_BATCH_OFFSETS,
    KITH_BATCH_DISTANCES,
    KITH_BATCH_VECTORS,
    KITH_BATCH_SHIFTS
};

/* Buffer of the context's scratch memory: number of pairs of each group. */
enum { KITH_BATCH_COUNTS = KITH_BATCH_SHIFTS + 1 };

/** The lists of the systems of a batch, and where they go. */
struct lists {
    struct kith__group_loop loop;  /**< the loop over the systems */
    const struct kith__list *list; /**< the form of the list */
    kith_precision precision;      /**< precision of the points */
    kith_pairs *out;               /**< the whole list */
    int64_t total;                 /**< pairs of all groups that have ended their turn, or that were
                                        counted; more than out->capacity where not all pairs are
                                        written */
    int64_t *neighbours;           /**< [a.n] counts of each particle; NULL: not wanted */
    int64_t *counts; /**< [groups] pairs of each group, by its number; NULL: not wanted */
};

/** Add a number to each of n indices. */
static void shift(int32_t *index, int64_t n, int64_t by)
{
    const int32_t add = (int32_t)by;
    for (int64_t p = 0; p < n && add != 0; p++) {
        index[p] += add;
    }
}

/** Return a view of the arrays of a list from pair `at` and row `row` on; it owns nothing. It has
 *  no pairs yet, and its capacity is 0 where the list has no room behind `at`. */
static kith_pairs view_of(const kith_pairs *all, kith_precision precision, int64_t at, int64_t row)
{
    const int64_t room = all->capacity - at;
    kith_pairs view = room > 0 ? kith__list_piece(all, precision, at, room)
                               : kith__list_piece(all, precision, 0, 0);
    view.n = 0;
    view.offsets = all->offsets ? all->offsets + row : NULL;
    return view;
}

/** Make an array of a lane's buffer hold n elements, keeping the first `used`.
 *  @param number      number of its buffer in the lane's scratch memory
 *  @param present     the list has this array; false: nothing is done
 *  @param element     size of an element [bytes]
 *  @param[in,out] ok  false: nothing is allocated any more; set to false when there is no memory
 *  @return the array; NULL where it is not present */
static void *grow_array(kith_ctx *lane, int number, bool present, int64_t used, int64_t n,
                        size_t element, bool *ok)
{
    struct kith__buffer *buffer = &lane->work.buffer[number];
    const size_t kept = (size_t)used * element;
    void *data = present && *ok
                     ? kith__buffer_grow(buffer, buffer->data ? kept : 0, (size_t)n * element)
                     : NULL;
    *ok = *ok && (data || !present);
    return data;
}

/** Make the arrays of a lane's buffer hold `capacity` pairs, keeping the first `used`, and the
 *  offsets of `rows` rows.
 *  @param[in,out] buffer  its capacity and its pointers to the arrays are set */
static kith_status grow_buffer(kith_ctx *lane, const struct lists *lists, int64_t used,
                               int64_t capacity, int64_t rows, kith_pairs *buffer)
{
    const unsigned extras = lists->list->extras;
    const bool csr = lists->list->layout == KITH_CSR;
    const size_t real = (size_t)lists->precision;
    bool ok = capacity < INT64_MAX / 64; /* no array overflows: an element has at most 24 bytes */
    buffer->capacity = capacity;
    buffer->i = grow_array(lane, KITH_BATCH_I, !csr, used, capacity, sizeof *buffer->i, &ok);
    buffer->j = grow_array(lane, KITH_BATCH_J, true, used, capacity, sizeof *buffer->j, &ok);
    buffer->offsets = grow_array(lane, KITH_BATCH_OFFSETS, csr, used ? rows + 1 : 0, rows + 1,
                                 sizeof *buffer->offsets, &ok);
    buffer->distances = grow_array(lane, KITH_BATCH_DISTANCES, extras & KITH_DISTANCES, used,
                                   capacity, real, &ok);
    buffer->vectors = grow_array(lane, KITH_BATCH_VECTORS, extras & KITH_VECTORS, used, capacity,
                                 3 * real, &ok);
    buffer->shifts = grow_array(lane, KITH_BATCH_SHIFTS, extras & KITH_SHIFTS, used, capacity,
                                3 * sizeof *buffer->shifts, &ok);
    KITH_CHECK(lane, ok, KITH_NO_MEMORY, "out of memory for the pairs of some systems");
    return KITH_OK;
}

/** Return the form of the list of one system. Its rules have the offsets from the particles of the
 *  system to those of the whole batch (kith__rules.first).
 *  @param whole  the form of the list of the whole batch
 *  @param rules  memory for these rules */
static struct kith__list list_of(const struct kith__list *whole, const struct kith__batch *batch,
                                 int64_t system, struct kith__rules *rules)
{
    struct kith__list list = *whole;
    if (list.rules) {
        *rules = *list.rules;
        rules->first[0] = (int32_t)batch->a[system];
        rules->first[1] = (int32_t)batch->b[system];
        list.rules = rules;
    }
    return list;
}

/** Make the list of one system, with indices of the whole batch.
 *  @param at            number of pairs before those of the system, added to its offsets
 *  @param[in,out] view  arrays that begin with the pairs and rows of the system; n becomes the
 *                       number of its pairs
 *  @return KITH_OK; KITH_CAPACITY, with the list incomplete, when n exceeds the capacity; other
 *          failures */
static kith_status make_list(kith_ctx *lane, const struct lists *lists, int64_t system, int64_t at,
                             kith_pairs *view)
{
    const struct kith__batch *batch = lists->loop.batch;
    struct kith__question q;
    struct kith__rules rules;
    const struct kith__list list = list_of(lists->list, batch, system, &rules);
    KITH_TRY(kith__batch_question(lane, batch, system, &q));
    view->n = 0;
    if (q.a.n + q.b.n > 0) {
        KITH_TRY(lane->backend->pairs->fill(lane, &q, &list, false, view));
    } else if (view->offsets) {
        view->offsets[0] = 0;
    }
    assert(view->n <= view->capacity);
    if (lists->list->layout == KITH_IJ) {
        shift(view->i, view->n, batch->a[system]);
    }
    shift(view->j, view->n, batch->b[system]);
    for (int64_t r = 0; r <= q.a.n && view->offsets; r++) {
        view->offsets[r] += at;
    }
    return KITH_OK;
}

/** Make the lists of a group in the buffer of its lane.
 *  @param[out] buffer  the lists, one behind the other */
static kith_status make_group(kith_ctx *lane, const struct lists *lists,
                              const struct kith__group *group, kith_pairs *buffer)
{
    const struct kith__batch *batch = lists->loop.batch;
    const int64_t first_row = batch->a[group->first];
    const int64_t rows = batch->a[group->last] - first_row;
    /* pairs that the buffer holds since earlier groups, and fewest pairs to allocate */
    const int64_t held = (int64_t)(lane->work.buffer[KITH_BATCH_J].bytes / sizeof(int32_t));
    const int64_t least = (int64_t)1 << 14;
    *buffer = (kith_pairs){.memory = KITH_HOST, .size = sizeof *buffer};
    KITH_TRY(grow_buffer(lane, lists, 0, held > least ? held : least, rows, buffer));
    for (int64_t s = group->first; s < group->last; s++) {
        kith_pairs view = view_of(buffer, lists->precision, buffer->n, batch->a[s] - first_row);
        kith_status status = make_list(lane, lists, s, buffer->n, &view);
        if (status == KITH_CAPACITY) {
            const int64_t needed = buffer->n + view.n;
            KITH_TRY(grow_buffer(lane, lists, buffer->n, needed + needed / 2, rows, buffer));
            view = view_of(buffer, lists->precision, buffer->n, batch->a[s] - first_row);
            status = make_list(lane, lists, s, buffer->n, &view);
        }
        KITH_TRY(kith__batch_failed(lane, s, status));
        buffer->n += view.n;
    }
    return KITH_OK;
}

/** Copy n elements of an array, where there is one. */
static void copy(void *to, const void *from, int64_t n, size_t element)
{
    if (to && from && n > 0) {
        memcpy(to, from, (size_t)n * element);
    }
}

/** Copy the lists of a group to the whole list, from pair `at` on. Nothing is copied where the
 *  whole list has no room for all of them.
 *  @param buffer  the lists, with offsets that count from the first pair of the group */
static void copy_group(const struct lists *lists, const struct kith__group *group,
                       const kith_pairs *buffer, int64_t at)
{
    const struct kith__batch *batch = lists->loop.batch;
    const kith_pairs *out = lists->out;
    if (at + buffer->n > out->capacity) {
        return;
    }
    const kith_pairs to = view_of(out, lists->precision, at, batch->a[group->first]);
    const int64_t rows = batch->a[group->last] - batch->a[group->first];
    for (int64_t r = 0; r < rows && buffer->offsets; r++) {
        to.offsets[r] = buffer->offsets[r] + at;
    }
    copy(to.i, buffer->i, buffer->n, sizeof *to.i);
    copy(to.j, buffer->j, buffer->n, sizeof *to.j);
    copy(to.distances, buffer->distances, buffer->n, (size_t)lists->precision);
    copy(to.vectors, buffer->vectors, buffer->n, 3 * (size_t)lists->precision);
    copy(to.shifts, buffer->shifts, buffer->n, 3 * sizeof *to.shifts);
}

/** Make the list of a large system at its offset in the whole list. No other group runs beside a
 *  large one, so it need not wait for its turn. KITH_CAPACITY is no failure here: kith__batch_fill
 *  compares the total with the capacity at the end. */
static kith_status fill_large(kith_ctx *ctx, struct lists *lists, const struct kith__group *group)
{
    const int64_t at = lists->total;
    kith_pairs view = view_of(lists->out, lists->precision, at, lists->loop.batch->a[group->first]);
    const kith_status status = make_list(ctx, lists, group->first, at, &view);
    if (status == KITH_OK || status == KITH_CAPACITY) {
        lists->total += view.n;
        kith__batch_next(&lists->loop, group);
        return KITH_OK;
    }
    return kith__batch_failed(ctx, group->first, status);
}

/** kith__group_fn: make the lists of a group, and copy them to the whole list.
 *  @param lane  a lane; the context of the call for a large group */
static kith_status fill_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    struct lists *lists = state;
    if (group->large) {
        return fill_large(lane, lists, group);
    }
    kith_pairs buffer;
    KITH_TRY(make_group(lane, lists, group, &buffer));
    if (!kith__batch_turn(&lists->loop, lane, group)) {
        return KITH_CANCELLED;
    }
    const int64_t at = lists->total;
    lists->total += buffer.n;
    kith__batch_next(&lists->loop, group);
    copy_group(lists, group, &buffer, at);
    return KITH_OK;
}

/** Make the lists of all systems, as far as the arrays of *lists->out have room: sets
 *  lists->total. */
static kith_status fill_all(struct lists *lists)
{
    lists->loop.fn = fill_group;
    lists->loop.state = lists;
    lists->total = 0;
    KITH_TRY(kith__batch_loop(&lists->loop));
    if (lists->list->layout == KITH_CSR && lists->total <= lists->out->capacity) {
        lists->out->offsets[lists->loop.batch->whole.a.n] = lists->total;
    }
    return KITH_OK;
}

/** kith__group_fn: count the pairs of a group. */
static kith_status count_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    struct lists *lists = state;
    const struct kith__batch *batch = lists->loop.batch;
    int64_t sum = 0;
    for (int64_t s = group->first; s < group->last; s++) {
        struct kith__question q;
        struct kith__rules rules;
        const struct kith__list list = list_of(lists->list, batch, s, &rules);
        int64_t n = 0;
        int64_t *neighbours = lists->neighbours ? lists->neighbours + batch->a[s] : NULL;
        kith_status status = kith__batch_question(lane, batch, s, &q);
        if (status == KITH_OK && q.a.n + q.b.n > 0) {
            status = lane->backend->pairs->count(lane, &q, &list, &n, neighbours);
        }
        KITH_TRY(kith__batch_failed(lane, s, status));
        sum += n;
    }
    if (lists->counts) {
        lists->counts[group->number] = sum;
    }
    (void)__atomic_fetch_add(&lists->total, sum, __ATOMIC_RELAXED);
    return KITH_OK;
}

/** Count the pairs of the groups of the loop: sets lists->total. */
static kith_status count_all(struct lists *lists)
{
    lists->loop.fn = count_group;
    lists->loop.state = lists;
    lists->total = 0;
    return kith__batch_loop(&lists->loop);
}

/** Prepare the loop over the systems: all of *lists but out, neighbours and counts. */
static kith_status begin(kith_ctx *ctx, const struct kith__batch *batch,
                         const struct kith__list *list, struct lists *lists)
{
    *lists = (struct lists){.list = list, .precision = batch->whole.precision};
    return kith__batch_groups(ctx, batch, &lists->loop);
}

/** Estimate the number of pairs from a sample of groups, the loop being that of all groups. Unless
 *  all groups are in the sample, the estimate is raised by 8 %, so that it is seldom too small. */
static kith_status guess_pairs(struct lists *lists, int64_t *guess)
{
    enum { SAMPLE = 24 };
    const struct kith__group_loop all = lists->loop;
    const struct kith__batch *batch = all.batch;
    struct kith__group sample[SAMPLE];
    const int64_t n = all.n_groups < SAMPLE ? all.n_groups : SAMPLE;
    int64_t particles = 0;
    for (int64_t k = 0; k < n; k++) {
        sample[k] = all.groups[all.n_groups / n * k + all.n_groups / n / 2];
        particles += batch->a[sample[k].last] - batch->a[sample[k].first];
    }
    lists->loop.groups = sample;
    lists->loop.n_groups = n;
    const kith_status status = count_all(lists);
    lists->loop = all;
    const double part = particles > 0 ? (double)batch->whole.a.n / (double)particles : 0;
    *guess = (int64_t)((double)lists->total * part * (n == all.n_groups ? 1.0 : 1.08)) + 64;
    return status;
}

/* -------------------------------------------------------------------------------------- matrix */

/** The making of a KITH_MATRIX list: the rows of each system are written to their final place. */
struct matrix {
    struct kith__group_loop loop;  /**< the loop over the systems */
    const struct kith__list *list; /**< the form of the list */
    kith_pairs *out;               /**< the whole list; n, widest and overflowed are added up */
    kith_pairs before;             /**< the list before the loop: read without the lock */
    pthread_mutex_t lock;          /**< guards n, widest and overflowed of `out` */
};

/** Return a view of the rows of a system.
 *  @param first  the first of them in the whole list
 *  @param rows   their number */
static kith_pairs rows_of(const struct matrix *matrix, int64_t first, int64_t rows)
{
    const kith_pairs *all = &matrix->before;
    kith_pairs view = kith__list_piece(all, matrix->loop.batch->whole.precision, first * all->width,
                                       rows * all->width);
    view.n = 0;
    view.counts = all->counts ? all->counts + first : NULL;
    return view;
}

/** Make the rows of one system, with indices of the whole batch, and add to the totals. */
static kith_status fill_rows(kith_ctx *lane, struct matrix *matrix, int64_t system)
{
    const struct kith__batch *batch = matrix->loop.batch;
    struct kith__question q;
    struct kith__rules rules;
    const struct kith__list list = list_of(matrix->list, batch, system, &rules);
    KITH_TRY(kith__batch_question(lane, batch, system, &q));
    if (q.a.n == 0) {
        return KITH_OK;
    }
    kith_pairs view = rows_of(matrix, batch->a[system], q.a.n);
    if (!view.counts) { /* needed below: how many entries of a row are indices, not `fill` */
        view.counts = kith__work_need(&lane->work, KITH_BATCH_I,
                                      (size_t)q.a.n * sizeof *view.counts);
        KITH_CHECK(lane, view.counts != NULL, KITH_NO_MEMORY, "out of memory for %lld rows",
                   (long long)q.a.n);
    }
    const kith_status status = lane->backend->pairs->fill(lane, &q, &list, false, &view);
    if (status != KITH_OK && status != KITH_CAPACITY) {
        return status;
    }
    for (int64_t i = 0; i < q.a.n && view.width > 0; i++) {
        const int64_t n = view.counts[i] < view.width ? view.counts[i] : view.width;
        shift(view.j + i * view.width, n, batch->b[system]);
    }
    pthread_mutex_lock(&matrix->lock);
    matrix->out->n += view.n;
    matrix->out->widest = view.widest > matrix->out->widest ? view.widest : matrix->out->widest;
    matrix->out->overflowed += view.overflowed;
    pthread_mutex_unlock(&matrix->lock);
    return KITH_OK;
}

/** kith__group_fn: make the rows of the systems of a group. */
static kith_status fill_row_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    for (int64_t s = group->first; s < group->last; s++) {
        KITH_TRY(kith__batch_failed(lane, s, fill_rows(lane, state, s)));
    }
    return KITH_OK;
}

/** Make the rows of all systems, of out->width entries each, and set rows, n, widest and overflowed
 *  of out. */
static kith_status fill_width(kith_ctx *ctx, const struct kith__batch *batch,
                              const struct kith__list *list, kith_pairs *out)
{
    struct matrix matrix = {.list = list, .out = out, .lock = PTHREAD_MUTEX_INITIALIZER};
    KITH_TRY(kith__batch_groups(ctx, batch, &matrix.loop));
    matrix.loop.fn = fill_row_group;
    matrix.loop.state = &matrix;
    out->rows = batch->whole.a.n;
    out->n = out->widest = out->overflowed = 0;
    matrix.before = *out;
    return kith__batch_loop(&matrix.loop);
}

/** kith__batch_fill with KITH_MATRIX. */
static kith_status fill_matrix(kith_ctx *ctx, const struct kith__batch *batch,
                               const struct kith__list *list, bool grow, kith_pairs *out)
{
    const kith_precision precision = batch->whole.precision;
    const int64_t rows = batch->whole.a.n;
    KITH_TRY(grow ? kith__matrix_need(ctx, list, precision, rows, list->width, out) : KITH_OK);
    KITH_TRY(fill_width(ctx, batch, list, out));
    if (grow && out->overflowed > 0) {
        KITH_TRY(kith__matrix_need(ctx, list, precision, rows, out->widest, out));
        KITH_TRY(fill_width(ctx, batch, list, out));
    }
    return kith__matrix_fits(ctx, out);
}

/* --------------------------------------------------------------------------------------- lists */

kith_status kith__batch_fill(kith_ctx *ctx, const struct kith__batch *batch,
                             const struct kith__list *list, bool grow, kith_pairs *out)
{
    if (list->layout == KITH_MATRIX) {
        return fill_matrix(ctx, batch, list, grow, out);
    }
    const kith_precision precision = batch->whole.precision;
    const int64_t rows = batch->whole.a.n;
    struct lists lists;
    KITH_TRY(begin(ctx, batch, list, &lists));
    if (grow) {
        int64_t capacity = out->owner ? out->capacity : 0;
        if (capacity == 0) {
            KITH_TRY(guess_pairs(&lists, &capacity));
        }
        KITH_TRY(kith__list_need(ctx, list, precision, rows, capacity, capacity, out));
    }
    lists.out = out;
    KITH_TRY(fill_all(&lists));
    if (grow && lists.total > out->capacity) {
        KITH_TRY(kith__list_need(ctx, list, precision, rows, lists.total, lists.total, out));
        KITH_TRY(fill_all(&lists));
    }
    return kith__list_set(ctx, lists.total, rows, out);
}

kith_status kith__batch_count(kith_ctx *ctx, const struct kith__batch *batch,
                              const struct kith__list *list, int64_t *n, int64_t *neighbours)
{
    struct lists lists;
    KITH_TRY(begin(ctx, batch, list, &lists));
    lists.neighbours = neighbours;
    KITH_TRY(count_all(&lists));
    *n = lists.total;
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------ streamed */

/** A list that is passed to a callback in blocks. */
struct stream {
    struct lists lists;              /**< the lists of the systems */
    const struct kith__batch *batch; /**< the batch */
    int64_t system;                  /**< system whose blocks are passed on */
    int64_t first;                   /**< number of pairs that were passed on so far */
    kith_block_fn fn;                /**< the caller's callback */
    void *user;                      /**< argument of the callback */
};

/** kith_block_fn: pass on a block of one system, with indices of the whole batch, which replace
 *  those of the system in place: the arrays are the library's. `first` counts the pairs of the
 *  system. */
static int pass_on(void *user, const kith_pairs *block, int64_t first)
{
    struct stream *stream = user;
    (void)first;
    shift(block->i, block->n, stream->batch->a[stream->system]);
    shift(block->j, block->n, stream->batch->b[stream->system]);
    const int stop = stream->fn(stream->user, block, stream->first);
    stream->first += block->n;
    return stop;
}

/** Pass on the pairs of a group with more pairs than a block may have: system by system, each in
 *  blocks of its own. */
static kith_status stream_group(kith_ctx *ctx, struct stream *stream,
                                const struct kith__group *group)
{
    for (int64_t s = group->first; s < group->last; s++) {
        struct kith__question q;
        struct kith__rules rules;
        const struct kith__list list = list_of(stream->lists.list, stream->batch, s, &rules);
        stream->system = s;
        KITH_TRY(kith__batch_question(ctx, stream->batch, s, &q));
        if (q.a.n > 0 && q.b.n > 0) {
            KITH_TRY(ctx->backend->pairs->each(ctx, &q, &list, pass_on, stream));
        }
    }
    return KITH_OK;
}

/** Make the lists of the groups of the loop in buffers of the context, and pass them on as one
 *  block.
 *  @param pairs  number of their pairs, which count_all has found */
static kith_status stream_block(kith_ctx *ctx, struct stream *stream, int64_t pairs)
{
    if (pairs == 0) {
        return KITH_OK;
    }
    kith_pairs block = {.memory = KITH_HOST, .size = sizeof block};
    KITH_TRY(grow_buffer(ctx, &stream->lists, 0, pairs, 0, &block));
    stream->lists.out = &block;
    KITH_TRY(fill_all(&stream->lists));
    assert(stream->lists.total == pairs);
    block.n = pairs;
    KITH_CHECK(ctx, stream->fn(stream->user, &block, stream->first) == 0, KITH_CANCELLED,
               "stopped by the block callback");
    stream->first += pairs;
    return KITH_OK;
}

kith_status kith__batch_each(kith_ctx *ctx, const struct kith__batch *batch,
                             const struct kith__list *list, kith_block_fn fn, void *user)
{
    struct stream stream = {.batch = batch, .fn = fn, .user = user};
    KITH_TRY(begin(ctx, batch, list, &stream.lists));
    const struct kith__group_loop all = stream.lists.loop;
    const size_t bytes = (size_t)(all.n_groups + 1) * sizeof(int64_t);
    int64_t *counts = kith__work_need(&ctx->work, KITH_BATCH_COUNTS, bytes);
    KITH_CHECK(ctx, counts != NULL, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)all.n_groups);
    stream.lists.counts = counts;
    KITH_TRY(count_all(&stream.lists));
    /* a block is as many consecutive groups as together have at most block_pairs pairs */
    for (int64_t g = 0, next; g < all.n_groups; g = next) {
        int64_t pairs = counts[g];
        for (next = g + 1; next < all.n_groups && pairs + counts[next] <= list->block_pairs;
             next++) {
            pairs += counts[next];
        }
        if (pairs > list->block_pairs) {
            KITH_TRY(stream_group(ctx, &stream, &all.groups[g]));
            continue;
        }
        stream.lists.loop = all;
        stream.lists.loop.groups = all.groups + g;
        stream.lists.loop.n_groups = next - g;
        KITH_TRY(stream_block(ctx, &stream, pairs));
    }
    return KITH_OK;
}
