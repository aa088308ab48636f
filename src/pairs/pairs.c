/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of the pair search. Each checks its arguments, builds a question
 * (engine/question.h) or a batch of questions (engine/batch.h), and calls an operation of the
 * backend (pairs.h).
 */
#include "pairs.h"
#include "list.h"
#include "core/owned.h"
#include "core/sized.h"

/* Pairs of a block when options.block_pairs is 0. */
static const int64_t default_block_pairs = (int64_t)1 << 24;

/* Sizes of the structs in the version that introduced them (core/sized.h) [bytes]. */
enum {
    KITH_PAIRS_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_pairs_options, block_pairs),
    KITH_PAIRS_0_1 = KITH_SIZE_UP_TO(kith_pairs, owner)
};

static const kith_pairs_options defaults = {.size = sizeof(kith_pairs_options), .fill = -1};

/* kith_pairs_options_init_sized, kith_pairs_options_init */
KITH_INIT_CALLS(kith_pairs_options, KITH_PAIRS_OPTIONS_0_1)

/** Check the options that depend neither on the particles nor on rules. */
static kith_status check_options(kith_ctx *ctx, const kith_pairs_options *options)
{
    KITH_TRY(kith__check_flag(ctx, "options.full", options->full));
    KITH_TRY(kith__check_flag(ctx, "options.sorted", options->sorted));
    KITH_TRY(kith__check_flag(ctx, "options.unordered", options->unordered));
    KITH_TRY(kith__check_flag(ctx, "options.queued", options->queued));
    KITH_CHECK(ctx, (unsigned)options->layout <= KITH_MATRIX, KITH_INVALID,
               "options.layout is %d, expected KITH_IJ, KITH_CSR or KITH_MATRIX",
               (int)options->layout);
    KITH_CHECK(ctx, 0 <= options->width && options->width <= INT32_MAX, KITH_INVALID,
               "options.width is %lld, expected 0 to 2^31 - 1", (long long)options->width);
    KITH_TRY(kith__check_extras(ctx, options->extras));
    KITH_CHECK(ctx, options->block_pairs >= 0, KITH_INVALID,
               "options.block_pairs is %lld, expected 0 (the default) or more",
               (long long)options->block_pairs);
    return KITH_OK;
}

/** A public call, checked: the particles, of one system or of a batch, and the form of the list. */
struct search {
    bool is_batch;            /**< the search is of a batch */
    struct kith__batch batch; /**< the batch. In a search of one system only batch.whole, the
                                   question, is set */
    struct kith__list list;   /**< the form of the list */
    struct kith__rules rules; /**< the rules of the list, where list.rules is not NULL */
};

kith_status kith__pairs_options(kith_ctx *ctx, const kith_pairs_options *given,
                                kith_pairs_options *own)
{
    *own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_pairs_options_init, given, KITH_PAIRS_OPTIONS_0_1, own);
    return check_options(ctx, own);
}

/** Check points, box, cutoff and options, and build the search.
 *  @param given        the caller's options; NULL: the defaults
 *  @param enqueued     the call may not wait for a device: kith__rules_read
 *  @param[out] search  not to be copied: search->list.rules may point to search->rules */
static kith_status prepare(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double cutoff, const kith_pairs_options *given, bool enqueued,
                           struct search *search)
{
    kith_pairs_options own;
    bool has_rules;
    KITH_TRY(kith__pairs_options(ctx, given, &own));
    const kith_pairs_options *options = &own;
    search->is_batch = options->batch != NULL;
    search->list = (struct kith__list){
        .full = options->full || options->against || options->layout == KITH_MATRIX,
        .sorted = options->sorted,
        .unordered = options->unordered,
        .queued = options->queued,
        .layout = options->layout,
        .extras = options->extras,
        .block_pairs = options->block_pairs ? options->block_pairs : default_block_pairs,
        .width = options->width,
        .fill = options->fill,
    };
    KITH_TRY(kith__rules_read(ctx, options, points, search->list.full, enqueued, &search->rules,
                              &has_rules));
    search->list.rules = NULL;
    const double asked = cutoff;
    if (has_rules) {
        search->list.rules = &search->rules;
        KITH_TRY(kith__rules_cutoff(ctx, &search->rules, points->precision, &cutoff));
    }
    const char *name = kith__rules_cutoff_name(options, asked, cutoff);
    if (!search->is_batch) {
        return kith__question_init(ctx, points, options->against, box, cutoff, name,
                                   &search->batch.whole);
    }
    return kith__batch_read(ctx, "options.batch", options->batch, points, options->against, box,
                            cutoff, name, &search->batch);
}

/** Make the list of a search. @param grow  as for kith__pairs_backend.fill */
static kith_status make(kith_ctx *ctx, const struct search *search, bool grow, kith_pairs *out)
{
    const kith_status status = search->is_batch
                                   ? ctx->backend->pairs->batch_fill(ctx, &search->batch,
                                                                     &search->list, grow, out)
                                   : ctx->backend->pairs->fill(ctx, &search->batch.whole,
                                                               &search->list, grow, out);
    return kith__end_call(ctx, status);
}

/** Check that the caller's list has the fields that KITH_MATRIX returns. */
static kith_status check_size(kith_ctx *ctx, const struct kith__list *list, const kith_pairs *out)
{
    KITH_CHECK(ctx,
               list->layout != KITH_MATRIX || out->size >= KITH_SIZE_UP_TO(kith_pairs, overflowed),
               KITH_INVALID,
               "out->size is %u, but the layout is KITH_MATRIX: set it to sizeof(kith_pairs)",
               (unsigned)out->size);
    return KITH_OK;
}

/** Check the arrays that a caller gives to be filled.
 *  @param rows  number of particles of the points */
static kith_status check_arrays(kith_ctx *ctx, const struct kith__list *list, int64_t rows,
                                const kith_pairs *out)
{
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_TRY(check_size(ctx, list, out));
    KITH_CHECK(ctx, !out->owner, KITH_INVALID,
               "out's arrays belong to the library: use kith_pairs_find");
    KITH_CHECK(ctx, out->capacity >= 0, KITH_INVALID, "out->capacity is %lld, expected 0 or more",
               (long long)out->capacity);
    const bool matrix = list->layout == KITH_MATRIX;
    KITH_CHECK(ctx, !matrix || out->capacity >= rows * list->width, KITH_INVALID,
               "out->capacity is %lld, expected %lld rows times options.width %lld, or more",
               (long long)out->capacity, (long long)rows, (long long)list->width);
    const bool some = matrix ? rows * list->width > 0 : out->capacity > 0;
    KITH_CHECK(ctx, !some || out->j, KITH_INVALID, "out->j is NULL");
    KITH_CHECK(ctx, !some || list->layout != KITH_IJ || out->i, KITH_INVALID,
               "out->i is NULL, but the layout is KITH_IJ");
    KITH_CHECK(ctx, list->layout != KITH_CSR || out->offsets, KITH_INVALID,
               "out->offsets is NULL, but the layout is KITH_CSR");
    return kith__check_extra_arrays(ctx, some ? list->extras : 0, out->distances, out->vectors,
                                    out->shifts);
}

/** Return a view of the caller's list without the arrays that the options do not name: backends
 *  write to every array that there is. */
static kith_pairs named_arrays(const struct kith__list *list, const kith_pairs *out)
{
    kith_pairs named = *out;
    named.i = list->layout == KITH_IJ ? out->i : NULL;
    named.offsets = list->layout == KITH_CSR ? out->offsets : NULL;
    named.counts = list->layout == KITH_MATRIX ? out->counts : NULL;
    named.distances = list->extras & KITH_DISTANCES ? out->distances : NULL;
    named.vectors = list->extras & KITH_VECTORS ? out->vectors : NULL;
    named.shifts = list->extras & KITH_SHIFTS ? out->shifts : NULL;
    return named;
}

/** kith_pairs_find for a list with all fields of this version. */
static kith_status find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                        double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, cutoff, options, false, &search));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_TRY(check_size(ctx, &search.list, out));
    KITH_CHECK(ctx, out->owner || (!out->i && !out->j && !out->offsets), KITH_INVALID,
               "out's arrays are not the library's: set *out to zeros, or use kith_pairs_fill");
    return make(ctx, &search, true, out);
}

/** kith_pairs_fill within a public call, for a list with all fields of this version. */
static kith_status fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                        double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, cutoff, options, false, &search));
    KITH_TRY(check_arrays(ctx, &search.list, search.batch.whole.a.n, out));
    out->width = search.list.layout == KITH_MATRIX ? search.list.width : 0;
    kith_pairs named = named_arrays(&search.list, out);
    const kith_status status = make(ctx, &search, false, &named);
    out->n = named.n;
    out->rows = named.rows;
    out->widest = named.widest;
    out->overflowed = named.overflowed;
    return status;
}

/** The body of a public call that makes a list: find or fill. */
typedef kith_status operation(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              double cutoff, const kith_pairs_options *options, kith_pairs *out);

/** Run an operation on a copy of the caller's struct that has all fields of this version
 *  (core/sized.h), and copy the results back. */
static kith_status run(operation *work, kith_ctx *ctx, const kith_points *points,
                       const kith_box *box, double cutoff, const kith_pairs_options *options,
                       kith_pairs *out)
{
    kith_pairs own;
    KITH_RESULT_READ(ctx, out, KITH_PAIRS_0_1, &own);
    own.width = own.widest = own.overflowed = 0;
    const kith_status status = work(ctx, points, box, cutoff, options, &own);
    KITH_RESULT_WRITE(&own, KITH_PAIRS_0_1, out);
    return status;
}

kith_status kith_pairs_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, run(find, ctx, points, box, cutoff, options, out));
    if (status != KITH_OK && out) {
        out->n = out->rows = 0;
    }
    return status;
}

kith_status kith_pairs_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double cutoff, const kith_pairs_options *options, kith_pairs *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, run(fill, ctx, points, box, cutoff, options, out));
    if (status != KITH_OK && status != KITH_CAPACITY && out) {
        out->n = out->rows = 0;
    }
    return status;
}

kith_status kith__pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              double cutoff, const kith_pairs_options *options, int64_t *n,
                              int64_t *neighbours)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, cutoff, options, false, &search));
    KITH_CHECK(ctx, n != NULL, KITH_INVALID, "n is NULL");
    const kith_status status = search.is_batch
                                   ? ctx->backend->pairs->batch_count(ctx, &search.batch,
                                                                      &search.list, n, neighbours)
                                   : ctx->backend->pairs->count(ctx, &search.batch.whole,
                                                                &search.list, n, neighbours);
    return kith__end_call(ctx, status);
}

kith_status kith_pairs_count(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                             double cutoff, const kith_pairs_options *options, int64_t *n,
                             int64_t *neighbours)
{
    kith_status status;
    KITH_CALL(ctx, &status, kith__pairs_count(ctx, points, box, cutoff, options, n, neighbours));
    if (status != KITH_OK && n) {
        *n = 0;
    }
    return status;
}

kith_status kith__pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                             double cutoff, const kith_pairs_options *options, kith_block_fn fn,
                             void *user)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, cutoff, options, false, &search));
    KITH_CHECK(ctx, fn != NULL, KITH_INVALID, "fn is NULL");
    KITH_CHECK(ctx, search.list.layout != KITH_MATRIX, KITH_INVALID,
               "options.layout is KITH_MATRIX, but kith_pairs_each makes KITH_IJ lists");
    search.list.layout = KITH_IJ;
    const kith_status status = search.is_batch ? ctx->backend->pairs->batch_each(
                                                     ctx, &search.batch, &search.list, fn, user)
                                               : ctx->backend->pairs->each(ctx, &search.batch.whole,
                                                                           &search.list, fn, user);
    return kith__end_call(ctx, status);
}

kith_status kith_pairs_each(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                            double cutoff, const kith_pairs_options *options, kith_block_fn fn,
                            void *user)
{
    kith_status status;
    KITH_CALL(ctx, &status, kith__pairs_each(ctx, points, box, cutoff, options, fn, user));
    return status;
}

/** kith_pairs_enqueue within a public call. */
static kith_status enqueue(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                           double cutoff, const kith_pairs_options *options, const kith_pairs *out,
                           int64_t *result)
{
    struct search search;
    kith_pairs own;
    KITH_RESULT_READ(ctx, out, KITH_PAIRS_0_1, &own);
    KITH_TRY(prepare(ctx, points, box, cutoff, options, true, &search));
    KITH_CHECK(ctx, ctx->backend->pairs->enqueue != NULL, KITH_UNSUPPORTED,
               "kith_pairs_enqueue needs a GPU; the backend is \"%s\"", ctx->name);
    KITH_TRY(check_arrays(ctx, &search.list, search.batch.whole.a.n, &own));
    KITH_CHECK(ctx, points->memory == KITH_DEVICE && own.memory == KITH_DEVICE, KITH_INVALID,
               "kith_pairs_enqueue needs points and out in device memory");
    KITH_CHECK(ctx, result != NULL, KITH_INVALID, "result is NULL");
    KITH_CHECK(ctx, !search.is_batch || search.batch.memory == KITH_DEVICE, KITH_INVALID,
               "kith_pairs_enqueue needs options.batch in device memory");
    const kith_pairs named = named_arrays(&search.list, &own);
    const kith_status status = search.is_batch
                                   ? ctx->backend->pairs->batch_enqueue(
                                         ctx, &search.batch, &search.list, &named, result)
                                   : ctx->backend->pairs->enqueue(ctx, &search.batch.whole,
                                                                  &search.list, &named, result);
    return kith__end_call(ctx, status);
}

kith_status kith_pairs_enqueue(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                               double cutoff, const kith_pairs_options *options,
                               const kith_pairs *out, int64_t *result)
{
    kith_status status;
    KITH_CALL(ctx, &status, enqueue(ctx, points, box, cutoff, options, out, result));
    return status;
}

void kith_pairs_free(kith_pairs *pairs)
{
    if (pairs) {
        kith__owned_free(pairs->owner);
        KITH_RESULT_CLEAR(pairs, kith_pairs, KITH_PAIRS_0_1);
    }
}
