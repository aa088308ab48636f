/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of nearest neighbours: check the arguments once, allocate the arrays, then
 * call the backend.
 */
#include "nearest.h"

#include "core/owned.h"
#include "core/sized.h"
#include "engine/batch.h"

/* Numbers of the arrays in kith__owned.array. */
enum { COUNTS, J, DISTANCES, VECTORS, SHIFTS };

/* Sizes of the structs in the version that introduced them (core/sized.h) [bytes]. */
enum {
    KITH_NEAREST_OPTIONS_0_2 = KITH_SIZE_UP_TO(kith_nearest_options, extras),
    KITH_NEAREST_0_2 = KITH_SIZE_UP_TO(kith_nearest, owner)
};

static const kith_nearest_options defaults = {.size = sizeof(kith_nearest_options)};

/* kith_nearest_options_init_sized, kith_nearest_options_init */
KITH_INIT_CALLS(kith_nearest_options, KITH_NEAREST_OPTIONS_0_2)

/** The checked arguments of a call, for one system or for a batch. */
struct search {
    bool is_batch; /**< the search is of a batch */
    struct kith__batch
        batch;       /**< the batch; where !is_batch, only its field `whole` is set: the question */
    unsigned extras; /**< which arrays the result has beside counts and j */
    bool has_rules;  /**< pairs are permitted by `rules` */
    struct kith__rules rules; /**< the radii of the particles, where has_rules */
};

kith_status kith__nearest_options(kith_ctx *ctx, int64_t k, const kith_nearest_options *given,
                                  kith_nearest_options *options)
{
    *options = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_nearest_options_init, given, KITH_NEAREST_OPTIONS_0_2,
                      options);
    KITH_CHECK(ctx, k >= 1, KITH_INVALID, "k is %lld, expected 1 or more", (long long)k);
    KITH_CHECK(ctx, k <= INT32_MAX, KITH_LIMIT, "k is %lld, the most is 2^31 - 1", (long long)k);
    return kith__check_extras(ctx, options->extras);
}

/** Read the radii of the particles, and limit the cutoff to the largest distance that they permit.
 *  Radii are the rule of lists (pairs/rules.h) of this name.
 *  @param[in,out] cutoff  the cutoff; 0: any distance
 *  @return as kith__rules_read and kith__rules_cutoff */
static kith_status read_radii(kith_ctx *ctx, const kith_points *points,
                              const kith_nearest_options *options, struct search *search,
                              double *cutoff)
{
    const kith_pairs_options list = {
        .size = sizeof list,
        .against = options->against,
        .radius_rule = options->radius_rule,
        .radii = options->radii,
        .radii_against = options->radii_against,
    };
    KITH_TRY(kith__rules_read(ctx, &list, points, true, false, &search->rules, &search->has_rules));
    return search->has_rules ? kith__rules_cutoff(ctx, &search->rules, points->precision, cutoff)
                             : KITH_OK;
}

/** Check points, box, k and options, and build the search.
 *  @return KITH_OK, or the status of the first check that fails */
static kith_status prepare(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                           const kith_nearest_options *given, struct search *search)
{
    kith_nearest_options options;
    KITH_TRY(kith__nearest_options(ctx, k, given, &options));
    struct kith__question *question = &search->batch.whole;
    search->extras = options.extras;
    search->is_batch = options.batch != NULL;
    double cutoff = options.cutoff;
    KITH_TRY(read_radii(ctx, points, &options, search, &cutoff));
    const bool by_radii = search->has_rules && (options.cutoff == 0 || cutoff < options.cutoff);
    const char *cutoff_name = by_radii ? "the largest distance that options.radii permit"
                                       : "options.cutoff";
    if (search->is_batch) {
        return kith__batch_read(ctx, "options.batch", options.batch, points, options.against, box,
                                cutoff, cutoff == 0 ? NULL : cutoff_name, &search->batch);
    }
    return cutoff == 0 ? kith__question_space(ctx, points, options.against, box, question)
                       : kith__question_init(ctx, points, options.against, box, cutoff, cutoff_name,
                                             question);
}

/* --------------------------------------------------------------------------------------- batch */

/** The result of a batch. */
struct batch_result {
    const struct kith__batch *batch; /**< the systems */
    const struct kith__rules *rules; /**< radii of the particles of all systems; NULL: none */
    kith_nearest *out;               /**< the whole result */
    enum kith__nearest_rest rest;    /**< systems that are still to be searched, each by itself */
};

/** Return a view of consecutive rows, those of one system: pointers into the arrays of the whole
 *  result. Arrays that the result does not have stay NULL.
 *  @param first  first row
 *  @param rows   number of rows */
static kith_nearest rows_of(const struct batch_result *result, int64_t first, int64_t rows)
{
    const kith_nearest *all = result->out;
    const int64_t at = first * all->k;
    const size_t real = (size_t)result->batch->whole.precision;
    kith_nearest part = *all;
    part.rows = rows;
    part.owner = NULL;
    part.counts = all->counts ? all->counts + first : NULL;
    part.j = all->j + at;
    part.distances = all->distances ? (char *)all->distances + (size_t)at * real : NULL;
    part.vectors = all->vectors ? (char *)all->vectors + 3 * (size_t)at * real : NULL;
    part.shifts = all->shifts ? all->shifts + 3 * at : NULL;
    return part;
}

/** Return true when system s is small: kith__nearest_backend.find_together, where a backend offers
 *  it, may have searched it already. The offsets must be in host memory. */
static bool is_small(const struct kith__batch *batch, int64_t s)
{
    return kith__nearest_is_small(batch->a[s + 1] - batch->a[s], batch->b[s + 1] - batch->b[s]);
}

/** Return the rules of one system: radii of its particles. */
static struct kith__rules rules_of(const struct kith__rules *all, const struct kith__batch *batch,
                                   int64_t system)
{
    const size_t real = (size_t)batch->whole.precision;
    struct kith__rules rules = *all;
    rules.radii[0] = (const char *)all->radii[0] + (size_t)batch->a[system] * real;
    rules.radii[1] = (const char *)all->radii[1] + (size_t)batch->b[system] * real;
    return rules;
}

/** Find the neighbours in one system, unless a search of all small systems has found them. The
 *  backend gives indices in the system; the index of the system's first particle is added to them,
 *  so that they are indices in the whole batch.
 *  @param lane  the context to use (kith__group_fn in engine/batch.h) */
static kith_status find_system(kith_ctx *lane, const struct batch_result *result, int64_t system)
{
    const struct kith__batch *batch = result->batch;
    struct kith__question q;
    struct kith__rules rules;
    if (result->rest == KITH_REST_LARGE && is_small(batch, system)) {
        return KITH_OK;
    }
    KITH_TRY(kith__batch_question(lane, batch, system, &q));
    if (q.a.n + q.b.n == 0) {
        return KITH_OK;
    }
    kith_nearest part = rows_of(result, batch->a[system], q.a.n);
    if (result->rules) {
        rules = rules_of(result->rules, batch, system);
    }
    KITH_TRY(lane->backend->nearest->find(lane, &q, result->rules ? &rules : NULL, &part));
    const int64_t n = q.a.n * part.k;
    const int32_t by = (int32_t)batch->b[system];
    if (part.memory == KITH_DEVICE) {
        return lane->backend->add(lane, part.j, n, by);
    }
    for (int64_t e = 0; e < n; e++) {
        part.j[e] += part.j[e] >= 0 ? by : 0;
    }
    return KITH_OK;
}

/** kith__group_fn: find the neighbours in the systems of a group. */
static kith_status find_group(kith_ctx *lane, const struct kith__group *group, void *state)
{
    for (int64_t s = group->first; s < group->last; s++) {
        KITH_TRY(kith__batch_failed(lane, s, find_system(lane, state, s)));
    }
    return KITH_OK;
}

/** Search all systems of a batch: together those for which the backend offers that, then the rest,
 *  each by itself (kith__batch_loop may search several at a time). */
static kith_status search_batch(kith_ctx *ctx, struct kith__batch *batch,
                                const struct kith__rules *rules, kith_nearest *out)
{
    struct batch_result result = {batch, rules, out, KITH_REST_ALL};
    struct kith__group_loop loop;
    if (ctx->backend->nearest->find_together && !rules) {
        KITH_TRY(ctx->backend->nearest->find_together(ctx, batch, out, &result.rest));
    }
    if (result.rest == KITH_REST_NONE) {
        return KITH_OK;
    }
    KITH_TRY(kith__batch_fetch(ctx, batch));
    KITH_TRY(kith__batch_groups(ctx, batch, &loop));
    loop.fn = find_group;
    loop.state = &result;
    return kith__batch_loop(&loop);
}

/** Do the search, into the arrays of *out that are not NULL. */
static kith_status run_search(kith_ctx *ctx, struct search *search, kith_nearest *out)
{
    const struct kith__rules *rules = search->has_rules ? &search->rules : NULL;
    return kith__end_call(
        ctx, search->is_batch ? search_batch(ctx, &search->batch, rules, out)
                              : ctx->backend->nearest->find(ctx, &search->batch.whole, rules, out));
}

kith_status kith__nearest_too_far(kith_ctx *ctx, int64_t k)
{
    return kith__fail(ctx, KITH_LIMIT, "k is %lld: neighbours would be more than %d boxes away",
                      (long long)k, KITH_MAX_IMAGES);
}

/** Allocate an array of a result, or reuse it from an earlier call.
 *  @param array       number of the array
 *  @param present     false: the result does not have this array
 *  @param n           number of elements
 *  @param element     size of an element [bytes]
 *  @param[in,out] ok  false: an earlier array failed, so nothing is allocated; set to false when
 *                     there is no memory
 *  @return the array; NULL when it is not present, or when there is no memory */
static void *need(struct kith__owned *owned, int array, bool present, int64_t n, size_t element,
                  bool *ok)
{
    void *data = present && *ok ? kith__owned_need(owned, array, (size_t)n * element) : NULL;
    *ok = *ok && (data || !present);
    return data;
}

/** kith_nearest_find for a result of full size. */
static kith_status find(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                        const kith_nearest_options *options, kith_nearest *out)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, k, options, &search));
    const unsigned extras = search.extras;
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, out->owner || (!out->j && !out->counts), KITH_INVALID,
               "out's arrays are not the library's: set *out to zeros, or use kith_nearest_fill");
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    const int64_t rows = search.batch.whole.a.n;
    const int64_t n = rows * k;
    const size_t real = (size_t)search.batch.whole.precision;
    /* rows and k are below 2^31, so n is exact; an element has at most 24 bytes, so sizes in bytes
     * do not overflow */
    bool ok = owned && n < INT64_MAX / 64;
    *out = (kith_nearest){
        .rows = rows,
        .k = k,
        .counts = need(owned, COUNTS, true, rows, sizeof *out->counts, &ok),
        .j = need(owned, J, true, n, sizeof *out->j, &ok),
        .distances = need(owned, DISTANCES, extras & KITH_DISTANCES, n, real, &ok),
        .vectors = need(owned, VECTORS, extras & KITH_VECTORS, n, 3 * real, &ok),
        .shifts = need(owned, SHIFTS, extras & KITH_SHIFTS, n, 3 * sizeof *out->shifts, &ok),
        .memory = out->memory,
        .size = out->size,
        .owner = owned,
    };
    KITH_CHECK(ctx, ok, KITH_NO_MEMORY, "out of memory for %lld lists of %lld nearest neighbours",
               (long long)rows, (long long)k);
    return run_search(ctx, &search, out);
}

/** Check the arrays that a caller gives to be filled.
 *  @param n       number of rows
 *  @param extras  arrays that options.extras names
 *  @return KITH_OK, KITH_INVALID, or the status of kith__check_memory */
static kith_status check_arrays(kith_ctx *ctx, int64_t n, unsigned extras, kith_nearest *out)
{
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, !out->owner, KITH_INVALID,
               "out's arrays belong to the library: use kith_nearest_find");
    KITH_CHECK(ctx, n == 0 || out->j, KITH_INVALID, "out->j is NULL");
    return kith__check_extra_arrays(ctx, n > 0 ? extras : 0, out->distances, out->vectors,
                                    out->shifts);
}

/** kith_nearest_fill for a result of full size. */
static kith_status fill(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                        const kith_nearest_options *options, kith_nearest *out)
{
    struct search search;
    KITH_TRY(prepare(ctx, points, box, k, options, &search));
    const unsigned extras = search.extras;
    KITH_TRY(check_arrays(ctx, search.batch.whole.a.n, extras, out));
    out->rows = search.batch.whole.a.n;
    out->k = k;
    /* arrays that the options do not name are not written, even when the caller gives them */
    kith_nearest wanted = *out;
    wanted.distances = extras & KITH_DISTANCES ? out->distances : NULL;
    wanted.vectors = extras & KITH_VECTORS ? out->vectors : NULL;
    wanted.shifts = extras & KITH_SHIFTS ? out->shifts : NULL;
    return run_search(ctx, &search, &wanted);
}

/** A public call on a result of full size: find or fill. */
typedef kith_status operation(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              int64_t k, const kith_nearest_options *options, kith_nearest *out);

/** Run an operation on a struct of full size (core/sized.h): copy the caller's result into it, and
 *  back. */
static kith_status run(operation *work, kith_ctx *ctx, const kith_points *points,
                       const kith_box *box, int64_t k, const kith_nearest_options *options,
                       kith_nearest *out)
{
    kith_nearest own;
    KITH_RESULT_READ(ctx, out, KITH_NEAREST_0_2, &own);
    const kith_status status = work(ctx, points, box, k, options, &own);
    KITH_RESULT_WRITE(&own, KITH_NEAREST_0_2, out);
    return status;
}

/** Run an operation as a public call: one at a time on a context. After a failure out->rows is
 *  0. */
static kith_status call(operation *work, kith_ctx *ctx, const kith_points *points,
                        const kith_box *box, int64_t k, const kith_nearest_options *options,
                        kith_nearest *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, run(work, ctx, points, box, k, options, out));
    if (status != KITH_OK && out) {
        out->rows = 0;
    }
    return status;
}

kith_status kith_nearest_find(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              int64_t k, const kith_nearest_options *options, kith_nearest *out)
{
    return call(find, ctx, points, box, k, options, out);
}

kith_status kith_nearest_fill(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              int64_t k, const kith_nearest_options *options, kith_nearest *out)
{
    return call(fill, ctx, points, box, k, options, out);
}

void kith_nearest_free(kith_nearest *nearest)
{
    if (nearest) {
        kith__owned_free(nearest->owner);
        KITH_RESULT_CLEAR(nearest, kith_nearest, KITH_NEAREST_0_2);
    }
}
