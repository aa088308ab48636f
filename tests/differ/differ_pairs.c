/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of pairs: one form of the list a case, against the oracle on every context; large lists
 * context against context. Lists in a GPU's memory against a CPU's.
 */
#include <stdlib.h>
#include <string.h>

#include "../pairs/pairs_case.h"
#include "differ.h"

static kith_pairs_options make_form(rng *r)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.full = (int)rng_below(r, 2);
    o.sorted = (int)rng_below(r, 2);
    o.unordered = (int)rng_below(r, 2);
    o.layout = differ_one_in(r, 2) ? KITH_CSR : KITH_IJ;
    o.extras = differ_one_in(r, 2) ? 0 : (unsigned)rng_below(r, 8);
    return o;
}

static int same_bytes(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || (!a && !b) || (a && b && memcmp(a, b, (size_t)n * size) == 0);
}

static int same_lists(const kith_pairs *a, const kith_pairs *b, kith_precision precision)
{
    const size_t real = (size_t)precision;
    return a->n == b->n && a->rows == b->rows && same_bytes(a->i, b->i, a->n, sizeof *a->i) &&
           same_bytes(a->j, b->j, a->n, sizeof *a->j) &&
           same_bytes(a->offsets, b->offsets, a->rows + 1, sizeof *a->offsets) &&
           same_bytes(a->distances, b->distances, a->n, real) &&
           same_bytes(a->vectors, b->vectors, a->n, 3 * real) &&
           same_bytes(a->shifts, b->shifts, a->n, 3 * sizeof *a->shifts);
}

enum { MOST_PAIRS = 3000000 };

/** Lists in device memory, if the backend is a GPU. */
static void check_device(differ *d, const differ_input *in, kith_pairs_options form)
{
#ifdef DIFFER_CUDA
    kith_ctx *cpu = d->ctx[d->contexts - 1];
    if (differ_is_cpu(d->ctx[0]) || !CHECK(differ_is_cpu(cpu), "no CPU to compare with")) {
        return;
    }
    stored points = stored_make(in->xyz, in->n, in->precision, in->how);
    stored other = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    kith_pairs_options sorted = form;
    kith_pairs expected = {0};
    int64_t n = 0;
    sorted.against = in->other ? &other.points : NULL;
    sorted.sorted = 1;
    if (CHECK(kith_pairs_count(cpu, &points.points, differ_box(in), in->cutoff, &sorted, &n,
                               NULL) == KITH_OK,
              "%s", kith_message(cpu)) &&
        n < MOST_PAIRS &&
        CHECK(kith_pairs_find(cpu, &points.points, differ_box(in), in->cutoff, &sorted,
                              &expected) == KITH_OK,
              "%s", kith_message(cpu))) {
        differ_device(d->ctx[0], in, form, &expected);
    }
    kith_pairs_free(&expected);
    stored_free(&points);
    stored_free(&other);
#else
    (void)d;
    (void)in;
    (void)form;
#endif
}

/** Lists of any size: unsorted ones are in one order on all CPUs, sorted ones everywhere. */
static void compare_contexts(differ *d, const differ_input *in, kith_pairs_options form)
{
    stored points = stored_make(in->xyz, in->n, in->precision, in->how);
    stored other = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    form.against = in->other ? &other.points : NULL;
    kith_pairs list[DIFFER_MOST_CONTEXTS] = {0};
    int64_t n = 0;
    kith_ctx *last = d->ctx[d->contexts - 1];
    if (CHECK(kith_pairs_count(last, &points.points, differ_box(in), in->cutoff, &form, &n, NULL) ==
                  KITH_OK,
              "%s: %s", kith_backend(last), kith_message(last)) &&
        n < MOST_PAIRS) {
        for (int k = 0; k < d->contexts; k++) {
            form.sorted |= !differ_is_cpu(d->ctx[k]);
        }
        for (int k = 0; k < d->contexts; k++) {
            const kith_status status = kith_pairs_find(d->ctx[k], &points.points, differ_box(in),
                                                       in->cutoff, &form, &list[k]);
            if (CHECK(status == KITH_OK, "%s: %s", kith_backend(d->ctx[k]),
                      kith_message(d->ctx[k]))) {
                CHECK(same_lists(&list[0], &list[k], in->precision),
                      "%lld particles: %s has %lld pairs, %s %lld, or others", (long long)in->n,
                      kith_backend(d->ctx[0]), (long long)list[0].n, kith_backend(d->ctx[k]),
                      (long long)list[k].n);
            }
        }
    }
    for (int k = 0; k < d->contexts; k++) {
        kith_pairs_free(&list[k]);
    }
    stored_free(&points);
    stored_free(&other);
}

void differ_pairs(differ *d, rng *r)
{
    const differ_wish wish = {
        .most = 200, .larger = 20000, .work = differ_one_in(r, 40) ? 1e6 : 3e5, .reach = 40};
    differ_input in = differ_input_make(r, &wish);
    const kith_pairs_options form = make_form(r);
    d->large += in.large;
    d->ambiguous += in.ambiguous;
    if (in.large || in.ambiguous) {
        compare_contexts(d, &in, form);
    } else {
        case_check_form(d->ctx, d->contexts,
                        &(pair_case){.name = "pairs",
                                     .xyz = in.xyz,
                                     .n = in.n,
                                     .against = in.other,
                                     .m = in.m,
                                     .box = differ_box(&in),
                                     .cutoff = in.cutoff},
                        in.precision, in.how, form);
    }
    check_device(d, &in, form);
    differ_input_free(&in);
}
