/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours: one set and two, with and without a largest distance, more neighbours than
 * particles. Every context gives the same bits, which are those of the oracle.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../nearest/nearest_case.h"
#include "differ.h"

enum { MOST_ENTRIES = 2000000 };

/* Pairs and images that the oracle may look at. */
static const double most_work = 3e6;

/** What is asked of each context. */
typedef struct search {
    stored points, other;
    int64_t k;
    kith_nearest_options options;
} search;

static int64_t make_k(rng *r, const differ_input *in)
{
    const int64_t k = differ_one_in(r, 8)   ? 1 + rng_below(r, 200)
                      : differ_one_in(r, 4) ? 1 + in->n
                                            : 1 + rng_below(r, 20);
    return in->n * k < MOST_ENTRIES ? k : 1;
}

/** The images that the oracle looks at to find pairs within a cutoff. */
static double count_images(const differ_input *in, double cutoff)
{
    double height[3], images = 1;
    oracle_heights(&in->box, in->precision, height);
    for (int k = 0; k < in->box.dim && !in->open; k++) {
        images *= in->box.periodic[k] ? 2 * (ceil(cutoff / height[k]) + 1) + 1 : 1;
    }
    return images;
}

/** The largest finite distance of a result. */
static double farthest(const kith_nearest *got, kith_precision precision)
{
    double most = 0;
    for (int64_t e = 0; e < got->rows * got->k; e++) {
        const double d = precision == KITH_FLOAT ? (double)((const float *)got->distances)[e]
                                                 : ((const double *)got->distances)[e];
        most = isfinite(d) ? fmax(most, d) : most;
    }
    return most;
}

/** Check that every row of a search of any distance is full, or has all particles. */
static void check_counts(const differ_input *in, const kith_nearest *got)
{
    bool images = false;
    for (int k = 0; k < in->box.dim && !in->open; k++) {
        images = images || in->box.periodic[k];
    }
    const int64_t others = in->other ? in->m : in->n - 1;
    const bool full = images && (in->other ? in->m : in->n) > 0;
    for (int64_t i = 0; i < got->rows; i++) {
        const int64_t expected = full || others > got->k ? got->k : others;
        CHECK(got->counts[i] == expected, "%d neighbours of %lld, expected %lld", got->counts[i],
              (long long)i, (long long)expected);
    }
}

/** Check a result against the pairs within the cutoff or, when there is none, within the largest
 *  distance of the result: a neighbour that it lacks is then nearer than one that it has. */
static void check_oracle(differ *d, const differ_input *in, const search *s,
                         const kith_nearest *got)
{
    const double shortest = in->precision == KITH_FLOAT ? 2e-19 : 2e-154;
    double cutoff = s->options.cutoff;
    if (cutoff == 0) {
        check_counts(in, got);
        cutoff = fmax(farthest(got, in->precision) * 1.0001, shortest);
    }
    if ((double)in->n * (double)(in->other ? in->m : in->n) * count_images(in, cutoff) >
        most_work) {
        d->large += !in->large;
        return;
    }
    oracle_list list = oracle_full(&s->points.points, s->options.against, differ_box(in), cutoff);
    nearest_sort(&list);
    nearest_check("nearest", got, in->n, s->k, in->precision, &list);
    oracle_free(&list);
}

static bool same(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || !a || memcmp(a, b, (size_t)n * size) == 0;
}

/** Return true when two results have equal bits. */
static bool are_equal(const kith_nearest *a, const kith_nearest *b, kith_precision precision)
{
    const size_t real = (size_t)precision;
    const int64_t n = a->rows * a->k;
    return a->rows == b->rows && a->k == b->k &&
           same(a->counts, b->counts, a->rows, sizeof *a->counts) &&
           same(a->j, b->j, n, sizeof *a->j) && same(a->distances, b->distances, n, real) &&
           same(a->vectors, b->vectors, n, 3 * real) &&
           same(a->shifts, b->shifts, n, 3 * sizeof *a->shifts);
}

/** Search on every context. KITH_LIMIT is a neighbour that may be too many boxes away, which those
 *  within a cutoff are not. */
static void check_contexts(differ *d, const differ_input *in, const search *s)
{
    kith_nearest first = {.size = sizeof first}, got = {.size = sizeof got};
    kith_status expected = KITH_OK;
    for (int k = 0; k < d->contexts; k++) {
        kith_ctx *ctx = d->ctx[k];
        kith_nearest *out = k == 0 ? &first : &got;
        const kith_status status = kith_nearest_find(ctx, &s->points.points, differ_box(in), s->k,
                                                     &s->options, out);
        expected = k == 0 ? status : expected;
        const bool allowed = status == KITH_OK || (status == KITH_LIMIT && s->options.cutoff == 0);
        if (CHECK(allowed && status == expected, "%s: %s: %s", kith_backend(ctx),
                  kith_status_name(status), kith_message(ctx)) &&
            status == KITH_OK && k > 0) {
            CHECK(are_equal(&first, out, in->precision),
                  "%lld particles, k %lld: neighbours of %s and %s differ", (long long)in->n,
                  (long long)s->k, kith_backend(d->ctx[0]), kith_backend(ctx));
        }
    }
    if (expected == KITH_OK && !in->large && !in->ambiguous && s->options.extras & KITH_DISTANCES) {
        check_oracle(d, in, s, &first);
    }
#ifdef DIFFER_CUDA
    if (expected == KITH_OK && !differ_is_cpu(d->ctx[0])) {
        differ_device_nearest(d->ctx[0], in, s->k, s->options, &first);
    }
#endif
    kith_nearest_free(&first);
    kith_nearest_free(&got);
}

void differ_nearest(differ *d, rng *r)
{
    const differ_wish wish = {
        .most = 150, .larger = 20000, .work = differ_one_in(r, 40) ? 1e6 : 3e5, .reach = 20};
    differ_input in = differ_input_make(r, &wish);
    search s = {.points = stored_make(in.xyz, in.n, in.precision, in.how),
                .other = stored_make(in.other, in.other ? in.m : 0, in.precision, LAYOUT_PACKED),
                .k = make_k(r, &in)};
    kith_nearest_options_init(&s.options);
    s.options.against = in.other ? &s.other.points : NULL;
    s.options.cutoff = differ_one_in(r, 2) ? in.cutoff : 0;
    s.options.extras = differ_one_in(r, 8) ? (unsigned)rng_below(r, 8)
                                           : KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    d->large += in.large;
    d->ambiguous += in.ambiguous;
    check_contexts(d, &in, &s);
    stored_free(&s.points);
    stored_free(&s.other);
    differ_input_free(&in);
}
