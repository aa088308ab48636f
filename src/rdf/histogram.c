/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of histograms, and what is computed from the counts: g(r) and coordination numbers.
 */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include "core/sized.h"

/** The library's memory of a histogram: kith_histogram.owner. */
struct owned {
    struct kith__frame frame;   /**< arrays of one frame */
    struct kith__buffer memory; /**< all arrays of the histogram and the frame, one after another */
};

/** Return the next n elements of at most 8 bytes, from byte *at on, and advance *at by 8 n.
 *  @param memory  NULL: there is no memory yet, and bytes are counted alone
 *  @return the elements; NULL when memory is NULL */
static void *next(char *memory, size_t *at, size_t n)
{
    void *here = memory ? memory + *at : NULL;
    *at += n * sizeof(double);
    return here;
}

void kith__frame_lay_out(const kith_histogram *h, bool weights, bool forces, char *memory,
                         size_t *at, struct kith__frame *frame)
{
    const size_t bins = (size_t)h->bins;
    const size_t partials = (size_t)h->partials;
    frame->volumes = next(memory, at, bins);
    frame->counts = next(memory, at, bins * partials);
    frame->sums = weights ? next(memory, at, bins * partials) : NULL;
    frame->force_sums = forces ? next(memory, at, 2 * partials * (bins + 1)) : NULL;
    frame->force_over = forces ? next(memory, at, bins + 1) : NULL;
    frame->members = next(memory, at, 2 * (size_t)h->n_species);
}

/** Set the pointers to all arrays of a histogram and a frame, one after another in `memory`; with
 *  memory NULL all are NULL. The arrays of the histogram come first, from edges on, then those of
 *  the frame, from edge2 on: sums_bytes and kith__histogram_need depend on the order.
 *  @param h  has bins, n_species and partials
 *  @return the bytes that the arrays take */
static size_t lay_out(char *memory, const kith_rdf_options *options, kith_histogram *h,
                      struct kith__frame *frame)
{
    const size_t bins = (size_t)h->bins;
    const size_t partials = (size_t)h->partials;
    const size_t all = bins * partials;
    const bool weights = options->weights != NULL;
    const bool forces = options->forces != NULL;
    size_t at = 0;
    h->edges = next(memory, &at, bins + 1);
    h->counts = next(memory, &at, all);
    h->sums = weights ? next(memory, &at, all) : NULL;
    h->ideal = next(memory, &at, all);
    h->pairs = next(memory, &at, partials);
    h->pushes = forces ? next(memory, &at, 2 * partials * (bins + 1)) : NULL;
    h->density = forces ? next(memory, &at, partials) : NULL;
    h->centres = next(memory, &at, (size_t)h->n_species);
    frame->edge2 = next(memory, &at, bins + 1);
    kith__frame_lay_out(h, weights, forces, memory, &at, frame);
    return at;
}

/** Allocate a zeroed histogram, and set its edges. The arrays of the frame that are zeroed for each
 *  frame are not zeroed here.
 *  @param shape     fields that *out receives
 *  @param[out] out  unchanged on failure
 *  @return KITH_OK, KITH_NO_MEMORY or KITH_CANCELLED */
static kith_status create(kith_ctx *ctx, const kith_histogram *shape,
                          const kith_rdf_options *options, kith_histogram *out)
{
    kith_histogram made = *shape;
    struct kith__frame frame;
    const size_t bytes = lay_out(NULL, options, &made, &frame);
    struct owned *owned = calloc(1, sizeof *owned);
    char *memory = owned ? kith__buffer_need(&owned->memory, bytes) : NULL;
    if (!memory) {
        free(owned);
        return kith__fail(ctx, KITH_NO_MEMORY, "out of memory for %d histograms of %lld bins",
                          (int)shape->partials, (long long)shape->bins);
    }
    (void)lay_out(memory, options, &made, &owned->frame);
    const kith_status status = kith__zero(ctx, memory,
                                          (size_t)((char *)owned->frame.counts - memory));
    if (status != KITH_OK) {
        kith__buffer_free(&owned->memory);
        free(owned);
        return status;
    }
    for (int64_t k = 0; k <= shape->bins; k++) {
        made.edges[k] = kith__edge(options, k);
    }
    made.owner = owned;
    *out = made;
    return KITH_OK;
}

kith_status kith__histogram_need(kith_ctx *ctx, const kith_histogram *shape,
                                 const kith_rdf_options *options, kith_histogram *out,
                                 struct kith__frame *frame)
{
    const bool weights = options->weights != NULL;
    const bool forces = options->forces != NULL;
    if (!out->owner) {
        KITH_CHECK(ctx, !out->counts && !out->edges, KITH_INVALID,
                   "out's arrays are not the library's: set *out to zeros");
        KITH_TRY(create(ctx, shape, options, out));
    }
    const struct owned *owned = out->owner;
    bool same = owned && out->edges && out->bins == shape->bins &&
                out->n_species == shape->n_species && out->against == shape->against &&
                (out->sums != NULL) == weights && (out->pushes != NULL) == forces &&
                (!forces || out->dim == shape->dim);
    for (int64_t k = 0; k <= shape->bins && same; k++) {
        same = out->edges[k] == kith__edge(options, k);
    }
    KITH_CHECK(ctx, same, KITH_INVALID,
               "out was made for other bins, species, sets, weights or forces: use another, or "
               "free it");
    *frame = owned->frame;
    const char *end = (const char *)owned->memory.data + owned->memory.bytes;
    return kith__zero(ctx, frame->counts, (size_t)(end - (const char *)frame->counts));
}

/** Return the size of a histogram's own arrays, which are before those of the frame [bytes]. */
static size_t sums_bytes(const kith_histogram *h)
{
    const struct owned *owned = h->owner;
    return (size_t)((const char *)owned->frame.edge2 - (const char *)owned->memory.data);
}

/** A copy of a histogram (kith__histogram_save). */
struct saved {
    kith_histogram h; /**< its fields */
    double sums[];    /**< its arrays: sums_bytes bytes */
};

void *kith__histogram_save(const kith_histogram *h)
{
    const size_t bytes = sums_bytes(h);
    struct saved *saved = malloc(sizeof *saved + bytes);
    if (saved) {
        saved->h = *h;
        memcpy(saved->sums, ((const struct owned *)h->owner)->memory.data, bytes);
    }
    return saved;
}

void kith__histogram_restore(kith_histogram *h, void *from, bool back)
{
    struct saved *saved = from;
    if (back) {
        *h = saved->h;
        memcpy(((struct owned *)h->owner)->memory.data, saved->sums, sums_bytes(h));
    }
    free(saved);
}

int32_t kith_histogram_partial(const kith_histogram *h, int32_t a, int32_t b)
{
    if (!h || a < 0 || b < 0 || a >= h->n_species || b >= h->n_species) {
        return -1;
    }
    return kith__partial(h->n_species, h->against, a, b);
}

void kith_rdf_g(const kith_histogram *h, int32_t a, int32_t b, double *g)
{
    const int32_t partial = kith_histogram_partial(h, a, b);
    const int64_t bins = partial >= 0 && g ? h->bins : 0;
    const int64_t first = partial * bins;
    for (int64_t k = 0; k < bins; k++) {
        const double ideal = h->ideal[first + k];
        g[k] = ideal > 0 ? (double)h->counts[first + k] / ideal : (double)NAN;
    }
}

void kith_rdf_coordination(const kith_histogram *h, int32_t a, int32_t b, double *n)
{
    const int32_t partial = kith_histogram_partial(h, a, b);
    const int64_t bins = partial >= 0 && n ? h->bins : 0;
    const int64_t first = partial * bins;
    /* both particles of a pair of one species in one set are centres: the pair counts twice */
    const bool both_ends = bins > 0 && a == b && !h->against;
    int64_t sum = 0;
    for (int64_t k = 0; k < bins; k++) {
        sum += h->counts[first + k] * (both_ends ? 2 : 1);
        n[k] = h->centres[a] > 0 ? (double)sum / (double)h->centres[a] : (double)NAN;
    }
}

void kith_histogram_free(kith_histogram *histogram)
{
    if (histogram && histogram->owner) {
        struct owned *owned = histogram->owner;
        kith__buffer_free(&owned->memory);
        free(owned);
    }
    if (histogram) {
        KITH_RESULT_CLEAR(histogram, kith_histogram, KITH_HISTOGRAM_0_1);
    }
}
