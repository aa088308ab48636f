/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rows of a fixed width: on every context against the rows of a KITH_CSR list, which differ_pairs.c
 * compares with the oracle. And orders of particles: one on every context.
 */
#include <stdlib.h>
#include <string.h>

#include "../pairs/pairs_case.h"
#include "differ.h"

enum { MOST_PAIRS = 3000000, MOST_ENTRIES = 3000000 };

/** A list of rows, in the caller's arrays. */
typedef struct rows {
    kith_pairs list;
    int64_t n, width;
} rows;

static rows make_rows(int64_t n, int64_t width, unsigned extras, kith_precision precision)
{
    const size_t entries = (size_t)(n * width), real = (size_t)precision;
    rows made = {.n = n, .width = width};
    made.list = (kith_pairs){
        .size = sizeof made.list,
        .capacity = n * width,
        .counts = check_malloc((size_t)n * sizeof *made.list.counts),
        .j = check_malloc(entries * sizeof *made.list.j),
        .distances = extras & KITH_DISTANCES ? check_malloc(entries * real) : NULL,
        .vectors = extras & KITH_VECTORS ? check_malloc(3 * entries * real) : NULL,
        .shifts = extras & KITH_SHIFTS ? check_malloc(12 * entries) : NULL};
    return made;
}

static void free_rows(rows *made)
{
    free(made->list.counts);
    free(made->list.j);
    free(made->list.distances);
    free(made->list.vectors);
    free(made->list.shifts);
}

static int same(const void *a, int64_t at, const void *b, int64_t from, int64_t n, size_t size)
{
    return n == 0 || !a ||
           memcmp((const char *)a + (size_t)at * size, (const char *)b + (size_t)from * size,
                  (size_t)n * size) == 0;
}

/** Compare the rows of one context. @param right  the KITH_CSR list; sorted, or of ctx itself */
static void check_rows(kith_ctx *ctx, const differ_input *in, const kith_points *points,
                       const kith_pairs_options *form, const kith_pairs *right)
{
    rows made = make_rows(in->n, form->width, form->extras, in->precision);
    const kith_status status = kith_pairs_fill(ctx, points, differ_box(in), in->cutoff, form,
                                               &made.list);
    CHECK(status == KITH_OK || status == KITH_CAPACITY, "%s: %s", kith_backend(ctx),
          kith_message(ctx));
    CHECK((status == KITH_CAPACITY) == (made.list.overflowed > 0) &&
              case_is_matrix(&made.list, form->width, form->fill, right, in->precision),
          "%s: %lld particles, width %lld: other rows, %lld pairs of %lld, widest %lld",
          kith_backend(ctx), (long long)in->n, (long long)form->width, (long long)made.list.n,
          (long long)right->n, (long long)made.list.widest);
    free_rows(&made);
}

void differ_rows_of(differ *d, rng *r, const differ_input *in, const kith_batch *batch)
{
    stored points = stored_make(in->xyz, in->n, in->precision, in->how);
    stored other = stored_make(in->other, in->other ? in->m : 0, in->precision, LAYOUT_PACKED);
    kith_pairs_options form;
    kith_pairs_options_init(&form);
    form.against = in->other ? &other.points : NULL;
    form.batch = batch;
    form.full = 1;
    form.sorted = (int)rng_below(r, 2);
    form.extras = differ_one_in(r, 2) ? 0 : (unsigned)rng_below(r, 8);
    form.fill = (int32_t)(differ_one_in(r, 2) ? -1 : in->n);
    const double share = rng_uniform(r, 0, 2);
    int64_t n = 0;
    kith_ctx *last = d->ctx[d->contexts - 1];
    if (CHECK(kith_pairs_count(last, &points.points, differ_box(in), in->cutoff, &form, &n, NULL) ==
                  KITH_OK,
              "%s: %s", kith_backend(last), kith_message(last)) &&
        n < MOST_PAIRS) {
        const double mean = (double)n / (double)(in->n + 1);
        form.width = (int64_t)(share * mean) + rng_below(r, 3);
        form.width = form.width * in->n < MOST_ENTRIES ? form.width : 1;
        kith_pairs right = {0};
        for (int k = 0; k < d->contexts; k++) {
            form.layout = KITH_CSR;
            if ((k == 0 || !form.sorted) &&
                !CHECK(kith_pairs_find(form.sorted ? last : d->ctx[k], &points.points,
                                       differ_box(in), in->cutoff, &form, &right) == KITH_OK,
                       "%s: %s", kith_backend(d->ctx[k]), kith_message(d->ctx[k]))) {
                break;
            }
            form.layout = KITH_MATRIX;
            check_rows(d->ctx[k], in, &points.points, &form, &right);
        }
        kith_pairs_free(&right);
    }
    stored_free(&points);
    stored_free(&other);
}

void differ_rows(differ *d, rng *r)
{
    const differ_wish wish = {
        .most = 200, .larger = 20000, .work = differ_one_in(r, 40) ? 1e6 : 3e5, .reach = 40};
    differ_input in = differ_input_make(r, &wish);
    d->large += in.large;
    differ_rows_of(d, r, &in, NULL);
    differ_input_free(&in);
}

void differ_order(differ *d, rng *r)
{
    const differ_wish wish = {.most = 200, .larger = 20000, .work = 3e5, .reach = 40};
    differ_input in = differ_input_make(r, &wish);
    stored points = stored_make(in.xyz, in.n, in.precision, in.how);
    const double cell = differ_one_in(r, 2) ? 0 : in.cutoff * rng_uniform(r, 0.01, 2);
    kith_order first = {.size = sizeof first};
    d->large += in.large;
    for (int k = 0; k < d->contexts; k++) {
        kith_order order = {.size = sizeof order};
        const kith_status status = kith_order_find(d->ctx[k], &points.points, differ_box(&in), cell,
                                                   &order);
        if (CHECK(status == KITH_OK && order.n == in.n, "%s: %s", kith_backend(d->ctx[k]),
                  kith_message(d->ctx[k])) &&
            k > 0) {
            CHECK(same(order.order, 0, first.order, 0, in.n, sizeof *order.order),
                  "%lld particles, cell %g: orders of %s and %s differ", (long long)in.n, cell,
                  kith_backend(d->ctx[0]), kith_backend(d->ctx[k]));
        }
        if (k == 0) {
            first = order;
        } else {
            kith_order_free(&order);
        }
    }
    char *seen = check_malloc((size_t)in.n);
    memset(seen, 0, (size_t)in.n);
    for (int64_t k = 0; k < first.n; k++) {
        CHECK(!seen[first.order[k]]++, "particle %d comes twice", first.order[k]);
    }
    free(seen);
    kith_order_free(&first);
    stored_free(&points);
    differ_input_free(&in);
}
