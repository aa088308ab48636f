/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public functions of overlaps of replicas: check the arguments once, prepare the rows
 * (overlap_rows.c), and call the backend to count; or compute rows of the matrix of overlaps.
 * O(n^2 dim).
 */
#include "overlap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"

enum { MOST_BINS = 1 << 20 };

/* Sizes of the structs in the version that introduced them (core/sized.h) [bytes]. */
enum {
    KITH_OVERLAP_OPTIONS_0_1 = KITH_SIZE_UP_TO(kith_overlap_options, high),
    KITH_OVERLAPS_0_1 = KITH_SIZE_UP_TO(kith_overlaps, owner)
};

static const kith_overlap_options defaults = {.size = sizeof(kith_overlap_options), .bins = 200};

/* kith_overlap_options_init_sized, kith_overlap_options_init */
KITH_INIT_CALLS(kith_overlap_options, KITH_OVERLAP_OPTIONS_0_1)

/** Check the fields of the caller's replicas; their values are checked by kith__overlap_rows. */
static kith_status check_replicas(kith_ctx *ctx, const kith_replicas *r)
{
    static const int64_t most = INT32_MAX - 64; /* the limit of particles, too (question.c) */
    KITH_CHECK(ctx, r != NULL, KITH_INVALID, "replicas is NULL");
    KITH_CHECK(ctx, r->type == KITH_FLOAT || r->type == KITH_DOUBLE || r->type == KITH_BITS,
               KITH_INVALID, "replicas.type is %d, expected KITH_FLOAT, KITH_DOUBLE or KITH_BITS",
               r->type);
    KITH_CHECK(ctx, r->n >= 0 && r->dim >= 0 && r->n <= most && r->dim <= most, KITH_LIMIT,
               "replicas: %lld of %lld numbers, expected at most 2^31 - 65 of each",
               (long long)r->n, (long long)r->dim);
    KITH_CHECK(ctx, r->type != KITH_BITS || r->dim <= KITH_OVERLAP_MOST_SPINS, KITH_LIMIT,
               "replicas.dim is %lld, expected at most 2^24 spins in bits", (long long)r->dim);
    KITH_CHECK(ctx, r->n >= 2, KITH_INVALID,
               "replicas.n is %lld: overlaps are of pairs, which need 2 replicas or more",
               (long long)r->n);
    KITH_CHECK(ctx, r->dim >= 1, KITH_INVALID, "replicas.dim is 0: vectors have 1 number or more");
    const int64_t row = r->type == KITH_BITS ? (r->dim + 7) / 8 : r->dim;
    KITH_CHECK(ctx, r->stride >= row, KITH_INVALID,
               "replicas.stride is %lld, expected %lld or more", (long long)r->stride,
               (long long)row);
    KITH_CHECK(ctx, r->values != NULL, KITH_INVALID, "replicas.values is NULL");
    return KITH_OK;
}

/** Check the options. */
static kith_status check_options(kith_ctx *ctx, const kith_replicas *r,
                                 const kith_overlap_options *o)
{
    KITH_TRY(kith__check_flag(ctx, "options.subtract_mean", o->subtract_mean));
    KITH_CHECK(
        ctx, o->measure == KITH_COSINE || o->measure == KITH_PRODUCT || o->measure == KITH_DISTANCE,
        KITH_INVALID, "options.measure is %d, expected one of kith_overlap_measure",
        (int)o->measure);
    KITH_CHECK(ctx, o->bins >= 1 && o->bins <= MOST_BINS, KITH_INVALID,
               "options.bins is %lld, expected 1 to 2^20", (long long)o->bins);
    KITH_CHECK(ctx, isfinite(o->low) && isfinite(o->high), KITH_INVALID,
               "options.low is %g, options.high %g, expected finite numbers", o->low, o->high);
    KITH_CHECK(ctx, o->low < o->high || (o->low == 0 && o->high == 0), KITH_INVALID,
               "options.low is %g, expected less than options.high, %g", o->low, o->high);
    KITH_CHECK(
        ctx, !o->subtract_mean || r->type != KITH_BITS, KITH_INVALID,
        "options.subtract_mean: bits less their mean are no bits; give the spins as numbers");
    return KITH_OK;
}

/** Set overlap->low and width, and *high, the last edge: from the options; where both are 0 there,
 *  from the range that the measure has for replicas of squares up to overlap->most. */
static void choose_range(const kith_overlap_options *o, struct kith__overlap *overlap, double *high)
{
    const double more = 1 + 0x1p-30; /* so that rounding leaves no overlap outside */
    overlap->low = o->low;
    *high = o->high;
    if (o->low == 0 && o->high == 0) {
        const double most = overlap->most > 0 ? more * overlap->most : 1;
        *high = o->measure == KITH_COSINE ? 1 : o->measure == KITH_PRODUCT ? most : 2 * sqrt(most);
        overlap->low = o->measure == KITH_DISTANCE ? 0 : -*high;
    }
    overlap->width = (*high - overlap->low) / (double)o->bins;
}

/** Allocate the result, or reuse the memory of an earlier one, set its edges and zero its counts.
 *  overlap->low, width, edges and counts are set. */
static kith_status make_histogram(kith_ctx *ctx, const kith_overlap_options *o,
                                  struct kith__overlap *overlap, kith_overlaps *out)
{
    const size_t bins = (size_t)o->bins;
    double high;
    choose_range(o, overlap, &high);
    KITH_CHECK(ctx, overlap->width > 0 && isfinite(overlap->width), KITH_INVALID,
               "options: %lld bins from %g to %g have no width that a double can hold",
               (long long)o->bins, overlap->low, high);
    struct kith__buffer *memory = out->owner ? out->owner : calloc(1, sizeof *memory);
    out->owner = memory;
    double *edges = memory ? kith__buffer_need(memory, (2 * bins + 1) * sizeof *edges) : NULL;
    KITH_CHECK(ctx, edges != NULL, KITH_NO_MEMORY, "out of memory for %lld bins",
               (long long)o->bins);
    for (size_t k = 0; k <= bins; k++) {
        const double part = (double)k / (double)bins;
        edges[k] = k == bins ? high : overlap->low + part * (high - overlap->low);
    }
    *out = (kith_overlaps){.bins = o->bins,
                           .edges = edges,
                           .counts = (int64_t *)(void *)(edges + bins + 1),
                           .pairs = overlap->n * (overlap->n - 1) / 2,
                           .spins = overlap->type == KITH_BITS,
                           .size = out->size,
                           .owner = memory};
    memset(out->counts, 0, bins * sizeof *out->counts);
    overlap->edges = edges;
    overlap->counts = out->counts;
    return KITH_OK;
}

/** For bits, fill overlap->table. All rows of bits have the square dim, so that the overlap follows
 *  from the number of unequal spins. */
static kith_status make_table(kith_ctx *ctx, struct kith__overlap *o)
{
    if (o->type != KITH_BITS) {
        return KITH_OK;
    }
    int32_t *table = kith__work_need(&ctx->work, KITH_OVERLAP_TABLE,
                                     (size_t)(o->dim + 1) * sizeof *table);
    KITH_CHECK(ctx, table != NULL, KITH_NO_MEMORY, "out of memory for a table of %lld overlaps",
               (long long)o->dim + 1);
    const double square = (double)o->dim;
    for (int64_t differ = 0; differ <= o->dim; differ++) {
        const double value = kith__overlap_value(o->measure, (double)(o->dim - 2 * differ), square,
                                                 square);
        table[differ] = kith__overlap_counter(o->edges, (int32_t)o->bins, o->low, o->width, value);
    }
    o->table = table;
    return KITH_OK;
}

/** Check replicas and options, and prepare the rows.
 *  @param[out] overlap  all fields are set but low, width, edges, table and counts */
static kith_status begin(kith_ctx *ctx, const kith_replicas *replicas,
                         const kith_overlap_options *options, struct kith__overlap *overlap)
{
    KITH_TRY(check_replicas(ctx, replicas));
    KITH_TRY(check_options(ctx, replicas, options));
    *overlap = (struct kith__overlap){
        .n = replicas->n, .dim = replicas->dim, .measure = options->measure, .bins = options->bins};
    return kith__overlap_rows(ctx, replicas, options->subtract_mean, overlap);
}

#ifndef NDEBUG
/** Return the sum of n counts. */
static int64_t sum_of(const int64_t *counts, int64_t n)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < n; k++) {
        sum += counts[k];
    }
    return sum;
}
#endif

/** Count by options of any version into a struct of full size. */
static kith_status count(kith_ctx *ctx, const kith_replicas *replicas,
                         const kith_overlap_options *options, kith_overlaps *out)
{
    kith_overlap_options own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_overlap_options_init, options, KITH_OVERLAP_OPTIONS_0_1,
                      &own);
    struct kith__overlap overlap;
    KITH_TRY(begin(ctx, replicas, &own, &overlap));
    KITH_CHECK(ctx, ctx->backend->overlap->count != NULL, KITH_UNSUPPORTED,
               "backend \"%s\" does not count overlaps", ctx->name);
    KITH_TRY(make_histogram(ctx, &own, &overlap, out));
    KITH_TRY(make_table(ctx, &overlap));
    KITH_TRY(kith__end_call(ctx, ctx->backend->overlap->count(ctx, &overlap)));
    assert(sum_of(out->counts, out->bins) <= out->pairs);
    return KITH_OK;
}

/** Count into a struct of full size, and copy it to the caller's, which may be of another version
 *  (core/sized.h). */
static kith_status count_into(kith_ctx *ctx, const kith_replicas *replicas,
                              const kith_overlap_options *options, kith_overlaps *out)
{
    kith_overlaps own;
    KITH_RESULT_READ(ctx, out, KITH_OVERLAPS_0_1, &own);
    own = (kith_overlaps){.size = own.size, .owner = own.owner};
    const kith_status status = count(ctx, replicas, options, &own);
    KITH_RESULT_WRITE(&own, KITH_OVERLAPS_0_1, out);
    return status;
}

kith_status kith_overlap_count(kith_ctx *ctx, const kith_replicas *replicas,
                               const kith_overlap_options *options, kith_overlaps *out)
{
    kith_status status;
    KITH_CALL(ctx, &status, count_into(ctx, replicas, options, out));
    if (status != KITH_OK && out) {
        void *owner = out->owner;
        KITH_RESULT_CLEAR(out, kith_overlaps, KITH_OVERLAPS_0_1);
        out->owner = owner;
    }
    return status;
}

/** State of the loop over the columns of one row of the matrix. */
struct row_loop {
    const struct kith__overlap *overlap; /**< the replicas */
    int64_t i;                           /**< the row */
    double *row;                         /**< [n] overlaps of replica i */
};

/** Compute columns [begin, end) of the row. */
static void find_columns(void *state, int64_t begin, int64_t end)
{
    const struct row_loop *loop = state;
    const struct kith__overlap *o = loop->overlap;
    for (int64_t j = begin; j < end; j++) {
        const double s = kith__overlap_product(o, loop->i, j);
        loop->row[j] = kith__overlap_value(o->measure, s, o->square[loop->i], o->square[j]);
    }
}

/** Do the work of kith_overlap_rows, on CPU cores whatever the backend. */
static kith_status compute_rows(kith_ctx *ctx, const kith_replicas *replicas,
                                const kith_overlap_options *options, int64_t first, int64_t rows,
                                double *matrix)
{
    kith_overlap_options own = defaults;
    KITH_OPTIONS_READ(ctx, "options", kith_overlap_options_init, options, KITH_OVERLAP_OPTIONS_0_1,
                      &own);
    struct kith__overlap o;
    KITH_TRY(begin(ctx, replicas, &own, &o));
    KITH_CHECK(ctx, first >= 0 && rows >= 0 && first <= o.n - rows, KITH_INVALID,
               "rows %lld to %lld, expected some of 0 to %lld", (long long)first,
               (long long)(first + rows - 1), (long long)o.n - 1);
    KITH_CHECK(ctx, matrix != NULL || rows == 0, KITH_INVALID, "matrix is NULL");
    (void)kith__watch(ctx, 0, rows);
    KITH_TRY(kith__proceed(ctx));
    for (int64_t k = 0; k < rows; k++) {
        (void)kith__report(ctx, k, rows);
        struct row_loop loop = {&o, first + k, matrix + k * o.n};
        kith__pool_chunks(ctx->pool, kith__threads_for(ctx, o.n * o.dim), o.n,
                          1 + KITH_RANGE / o.dim, find_columns, &loop);
        KITH_TRY(kith__proceed(ctx));
    }
    return KITH_OK;
}

kith_status kith_overlap_rows(kith_ctx *ctx, const kith_replicas *replicas,
                              const kith_overlap_options *options, int64_t first, int64_t rows,
                              double *matrix)
{
    kith_status status;
    KITH_CALL(ctx, &status, compute_rows(ctx, replicas, options, first, rows, matrix));
    return status;
}

void kith_overlaps_free(kith_overlaps *overlaps)
{
    if (overlaps && overlaps->owner) {
        kith__buffer_free(overlaps->owner);
        free(overlaps->owner);
    }
    if (overlaps) {
        KITH_RESULT_CLEAR(overlaps, kith_overlaps, KITH_OVERLAPS_0_1);
    }
}
