/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An independent judge: a plain sweep over half of the cells around each cell, which stores no
 * pair but adds it to a hash. Float arithmetic is done in double and rounded after each operation:
 * double has more than twice the digits of float, so that the second rounding never shows.
 */
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cells {
    int32_t side;   /* cells along each axis */
    int64_t *start; /* [side^3 + 1] */
    int32_t *id;    /* [n] in cell order */
} cells;

static inline double rounded(double value, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)(float)value : value;
}

/* The definition. shift counts the boxes that b is moved by, along each axis. */
static inline bool is_pair(const verify_question *q, int64_t a, int64_t b, const int shift[3])
{
    double square[3];
    for (int k = 0; k < 3; k++) {
        const double plain = rounded(q->xyz[3 * b + k] - q->xyz[3 * a + k], q->precision);
        const double d = rounded(plain + shift[k], q->precision);
        square[k] = rounded(d * d, q->precision);
    }
    const double xy = rounded(square[0] + square[1], q->precision);
    const double r2 = rounded(xy + square[2], q->precision);
    const double cutoff = rounded(q->cutoff, q->precision);
    return r2 <= rounded(cutoff * cutoff, q->precision);
}

static inline void add_pair(verify_answer *answer, int32_t a, int32_t b)
{
    answer->pairs++;
    rung_hash_add(&answer->half, a < b ? a : b, a < b ? b : a);
    rung_hash_add(&answer->full, a, b);
    rung_hash_add(&answer->full, b, a);
}

static void add_answer(verify_answer *sum, const verify_answer *part)
{
    sum->pairs += part->pairs;
    for (int s = 0; s < 2; s++) {
        sum->half.sum[s] += part->half.sum[s];
        sum->full.sum[s] += part->full.sum[s];
    }
}

void verify_all_pairs(const verify_question *q, verify_answer *answer)
{
    const int images = q->periodic ? 27 : 1;
    memset(answer, 0, sizeof *answer);
    for (int32_t i = 0; i < q->n; i++) {
        for (int32_t j = i + 1; j < q->n; j++) {
            for (int s = 0; s < images; s++) {
                const int shift[3] = {(s + 1) % 3 - 1, (s / 3 + 1) % 3 - 1, (s / 9 + 1) % 3 - 1};
                if (is_pair(q, i, j, shift)) {
                    add_pair(answer, i, j);
                }
            }
        }
    }
}

static int64_t cell_of(const cells *all, const double x[3])
{
    int64_t c = 0;
    for (int k = 2; k >= 0; k--) {
        c = c * all->side + (int64_t)(x[k] * all->side);
    }
    return c;
}

/* Count, scan, deal out; dealing moves each start to the next. */
static void fill_cells(cells *all, const verify_question *q)
{
    const int64_t count = (int64_t)all->side * all->side * all->side;
    memset(all->start, 0, (size_t)(count + 1) * sizeof *all->start);
    for (int64_t p = 0; p < q->n; p++) {
        all->start[cell_of(all, q->xyz + 3 * p) + 1]++;
    }
    for (int64_t c = 0; c < count; c++) {
        all->start[c + 1] += all->start[c];
    }
    for (int64_t p = 0; p < q->n; p++) {
        all->id[all->start[cell_of(all, q->xyz + 3 * p)]++] = (int32_t)p;
    }
    memmove(all->start + 1, all->start, (size_t)count * sizeof *all->start);
    all->start[0] = 0;
}

/* The pairs of a cell with itself (step 13) and the 13 cells ahead. */
static void sweep_cell(const cells *all, const verify_question *q, int64_t c, verify_answer *answer)
{
    const int32_t side = all->side;
    const int32_t at[3] = {(int32_t)(c % side), (int32_t)(c / side % side),
                           (int32_t)(c / side / side)};
    for (int step = 13; step < 27; step++) {
        int32_t to[3] = {at[0] + step % 3 - 1, at[1] + step / 3 % 3 - 1, at[2] + step / 9 - 1};
        int shift[3];
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            shift[k] = (to[k] >= side) - (to[k] < 0);
            to[k] -= shift[k] * side;
            inside = inside && (q->periodic || shift[k] == 0);
        }
        const int64_t other = ((int64_t)to[2] * side + to[1]) * side + to[0];
        for (int64_t a = all->start[c]; inside && a < all->start[c + 1]; a++) {
            for (int64_t b = step == 13 ? a + 1 : all->start[other]; b < all->start[other + 1];
                 b++) {
                if (is_pair(q, all->id[a], all->id[b], shift)) {
                    add_pair(answer, all->id[a], all->id[b]);
                }
            }
        }
    }
}

bool verify_cells(const verify_question *q, verify_answer *answer)
{
    const double side = fmin(1 / (q->cutoff * (1 + 1e-6)), 2 * cbrt((double)q->n) + 1);
    if (side < 3) {
        verify_all_pairs(q, answer);
        return true;
    }
    cells all = {.side = (int32_t)side};
    const int64_t count = (int64_t)all.side * all.side * all.side;
    all.start = malloc((size_t)(count + 1) * sizeof *all.start);
    all.id = calloc((size_t)q->n + 1, sizeof *all.id);
    const bool ok = all.start && all.id;
    memset(answer, 0, sizeof *answer);
    if (ok) {
        fill_cells(&all, q);
#pragma omp parallel for schedule(dynamic, 64)
        for (int64_t c = 0; c < count; c++) {
            verify_answer part = {0};
            sweep_cell(&all, q, c, &part);
#pragma omp critical
            add_answer(answer, &part);
        }
    }
    free(all.start);
    free(all.id);
    return ok;
}
