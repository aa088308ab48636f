/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of nearest neighbours: check the arguments once, allocate the arrays, then
 * call the backend.
 */
#include "nearest.h"

#include "core/owned.h"
#include "core/sized.h"

/* Numbers of the arrays in kith__owned.array. */
enum { COUNTS, J, DISTANCES, VECTORS, SHIFTS };

/* Sizes of the structs in the version that brought them (core/sized.h) [bytes]. */
enum {
    KITH_NEAREST_OPTIONS_0_2 = KITH_SIZE_UP_TO(kith_nearest_options, extras),
    KITH_NEAREST_0_2 = KITH_SIZE_UP_TO(kith_nearest, owner)
};

static const kith_nearest_options defaults = {.size = sizeof(kith_nearest_options)};

/* kith_nearest_options_init_sized, kith_nearest_options_init */
KITH_INIT_CALLS(kith_nearest_options, KITH_NEAREST_OPTIONS_0_2)

/** Check points, box, k and options, and build the question.
 *  @param[out] extras  which arrays the result has beside counts and j */
static kith_status prepare(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                           const kith_nearest_options *given, struct kith__question *question,
                           unsigned *extras)
{
    kith_nearest_options options = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_nearest_options_init, given, KITH_NEAREST_OPTIONS_0_2,
                      &options);
    KITH_CHECK(ctx, k >= 1, KITH_INVALID, "k is %lld, expected 1 or more", (long long)k);
    KITH_CHECK(ctx, k <= INT32_MAX, KITH_LIMIT, "k is %lld, the most is 2^31 - 1", (long long)k);
    KITH_TRY(kith__check_extras(ctx, options.extras));
    *extras = options.extras;
    return options.cutoff == 0
               ? kith__question_space(ctx, points, options.against, box, question)
               : kith__question_init(ctx, points, options.against, box, options.cutoff, question);
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

static kith_status find(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                        const kith_nearest_options *options, kith_nearest *out)
{
    struct kith__question question;
    unsigned extras;
    KITH_TRY(prepare(ctx, points, box, k, options, &question, &extras));
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, out->owner || (!out->j && !out->counts), KITH_INVALID,
               "out holds arrays that are not the library's: zero it, or use kith_nearest_fill");
    struct kith__owned *owned = kith__owned_in(ctx, out->memory, &out->owner);
    const int64_t rows = question.a.n;
    const int64_t n = rows * k;
    const size_t real = (size_t)question.precision;
    bool ok = owned && n < INT64_MAX / 64; /* sizes in bytes do not overflow */
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
    KITH_CHECK(ctx, ok, KITH_NO_MEMORY, "out of memory for %lld nearest neighbours of %lld each",
               (long long)rows, (long long)k);
    return kith__end_call(ctx, ctx->backend->nearest->find(ctx, &question, out));
}

/** Check the arrays that a caller gives to be filled. */
static kith_status check_arrays(kith_ctx *ctx, int64_t n, unsigned extras, kith_nearest *out)
{
    KITH_TRY(kith__check_memory(ctx, "out", out->memory));
    KITH_CHECK(ctx, !out->owner, KITH_INVALID, "out is the library's: use kith_nearest_find");
    KITH_CHECK(ctx, n == 0 || out->j, KITH_INVALID, "out->j is NULL");
    return kith__check_extra_arrays(ctx, n > 0 ? extras : 0, out->distances, out->vectors,
                                    out->shifts);
}

static kith_status fill(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                        const kith_nearest_options *options, kith_nearest *out)
{
    struct kith__question question;
    unsigned extras;
    KITH_TRY(prepare(ctx, points, box, k, options, &question, &extras));
    KITH_TRY(check_arrays(ctx, question.a.n, extras, out));
    out->rows = question.a.n;
    out->k = k;
    kith_nearest wanted = *out;
    wanted.distances = extras & KITH_DISTANCES ? out->distances : NULL;
    wanted.vectors = extras & KITH_VECTORS ? out->vectors : NULL;
    wanted.shifts = extras & KITH_SHIFTS ? out->shifts : NULL;
    return kith__end_call(ctx, ctx->backend->nearest->find(ctx, &question, &wanted));
}

typedef kith_status operation(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                              int64_t k, const kith_nearest_options *options, kith_nearest *out);

/** Run an operation on a struct of full size. */
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

/** Run an operation as a public call: one at a time on a context. */
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
