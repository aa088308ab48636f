/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlap_case.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/** @param upper  the number is in the upper half of its replica */
static double make_number(rng *r, overlap_kind kind, int64_t i, int64_t n, bool upper)
{
    switch (kind) {
    case OVERLAP_WHOLE: return (double)rng_below(r, 9) - 3;
    case OVERLAP_HUGE: return rng_normal(r) * pow(10, 24 * (double)i / (double)n - 12);
    case OVERLAP_OPPOSED: return (upper && i % 2 ? -1 : 1) * (1 + 0.3 * rng_normal(r));
    case OVERLAP_SPINS: return rng_below(r, 2) ? 1 : -1;
    default: return rng_normal(r) + 0.3;
    }
}

/** Replica i is one of the first five, or that with the other sign, or nearly. */
static void make_twin(rng *r, double *numbers, int64_t dim, int64_t i)
{
    enum { FIRST = 5 };
    const double sign = rng_below(r, 2) ? 1 : -1, off = rng_below(r, 3) ? 0 : 1e-6;
    const double *from = numbers + rng_below(r, FIRST) * dim;
    for (int64_t k = 0; k < dim && i >= FIRST; k++) {
        numbers[i * dim + k] = sign * from[k] + off * rng_normal(r);
    }
}

/** Store row i, and make its numbers those that are stored. */
static void store_row(overlap_case *c, int64_t i, void *values)
{
    const kith_replicas *r = &c->replicas;
    double *numbers = c->numbers + i * r->dim;
    for (int64_t k = 0; k < r->dim; k++) {
        if (r->type == KITH_FLOAT) {
            float *at = (float *)values + i * r->stride + k;
            *at = (float)numbers[k];
            numbers[k] = (double)*at;
        } else if (r->type == KITH_DOUBLE) {
            ((double *)values)[i * r->stride + k] = numbers[k];
        } else if (numbers[k] > 0) { /* numpy.packbits */
            ((unsigned char *)values)[i * r->stride + k / 8] |= (unsigned char)(128 >> k % 8);
        }
    }
}

overlap_case overlap_case_make(rng *r, overlap_kind kind, int64_t n, int64_t dim, int type,
                               int64_t gap)
{
    const int64_t stride = (type == KITH_BITS ? (dim + 7) / 8 : dim) + gap;
    overlap_case c = {.numbers = check_malloc((size_t)(n * dim) * sizeof *c.numbers)};
    const size_t bytes = (size_t)(n * stride) * (size_t)type;
    void *values = check_malloc(bytes);
    memset(values, type == KITH_BITS ? 0 : 0xff, bytes); /* gaps hold NaN */
    c.replicas = (kith_replicas){
        .n = n, .dim = dim, .values = values, .stride = stride, .type = type};
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < dim; k++) {
            c.numbers[i * dim + k] = make_number(r, kind, i, n, 2 * k >= dim);
        }
        if (kind == OVERLAP_TWINS) {
            make_twin(r, c.numbers, dim, i);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        store_row(&c, i, values);
    }
    return c;
}

void overlap_case_free(overlap_case *c)
{
    free((void *)(uintptr_t)c->replicas.values);
    free(c->numbers);
    *c = (overlap_case){0};
}

/** Term k goes to sum k mod 32; then sums are folded, the upper half on the lower one. */
static double product(const double *x, const double *y, int64_t dim)
{
    double sums[32] = {0};
    for (int64_t k = 0; k < dim; k++) {
        const double term = x[k] * y[k];
        sums[k % 32] = sums[k % 32] + term;
    }
    for (int half = 16; half >= 1; half /= 2) {
        for (int k = 0; k < half; k++) {
            sums[k] = sums[k] + sums[half + k];
        }
    }
    return sums[0];
}

double overlap_case_value(const double *x, const double *y, int64_t dim,
                          kith_overlap_measure measure)
{
    const double xy = product(x, y, dim), xx = product(x, x, dim), yy = product(y, y, dim);
    const double sum = xx + yy, square = sum - 2 * xy;
    switch (measure) {
    case KITH_PRODUCT: return xy;
    case KITH_DISTANCE: return sqrt(fmax(square, 0));
    default: return fmin(fmax(xy / sqrt(xx * yy), -1), 1);
    }
}

void overlap_case_count(const double *numbers, int64_t n, int64_t dim, kith_overlap_measure measure,
                        const double *edges, int64_t bins, int64_t *counts)
{
    memset(counts, 0, (size_t)bins * sizeof *counts);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            const double q = overlap_case_value(numbers + i * dim, numbers + j * dim, dim, measure);
            int64_t low = 0, high = bins; /* edges[low] <= q < edges[high], if anywhere */
            while (high - low > 1) {
                const int64_t middle = (low + high) / 2;
                *(q < edges[middle] ? &high : &low) = middle;
            }
            counts[low] += q >= edges[0] && q <= edges[bins];
        }
    }
}

double *overlap_case_centred(const overlap_case *c)
{
    const kith_replicas *r = &c->replicas;
    double *out = check_malloc((size_t)(r->n * r->dim) * sizeof *out);
    for (int64_t k = 0; k < r->dim; k++) {
        double sum = 0;
        for (int64_t i = 0; i < r->n; i++) {
            sum += c->numbers[i * r->dim + k];
        }
        for (int64_t i = 0; i < r->n; i++) {
            const double off = c->numbers[i * r->dim + k] - sum / (double)r->n;
            out[i * r->dim + k] = r->type == KITH_FLOAT ? (double)(float)off : off;
        }
    }
    return out;
}
