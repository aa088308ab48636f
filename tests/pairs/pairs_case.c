/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The comparison of every form of a list with the oracle's. Values are compared for equality, not
 * within a tolerance; a zero equals a zero of either sign.
 */
#include "pairs_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_EXTRAS = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS };

/* A case in one precision and layout, with the lists expected. */
typedef struct trial {
    kith_ctx *ctx;
    const pair_case *c;
    stored points, other;
    const kith_points *against; /* NULL or &other.points */
    oracle_list full, half;
} trial;

static const oracle_list *expected_list(const trial *t, const kith_pairs_options *options)
{
    return options->full || t->against ? &t->full : &t->half;
}

/* Text of what is being checked, for messages. */
static const char *described(const trial *t, const kith_pairs_options *o)
{
    static char text[256];
    snprintf(text, sizeof text, "%s, n %lld, cutoff %g, %s, stride %lld, %s, %s, %s%s, extras %u",
             t->c->name, (long long)t->c->n, t->c->cutoff,
             t->points.points.precision == KITH_FLOAT ? "float" : "double",
             (long long)t->points.points.stride, o->full ? "full" : "half",
             o->layout == KITH_CSR ? "CSR" : "IJ", o->sorted ? "sorted" : "unsorted",
             o->unordered ? ", in any order" : "", o->extras);
    return text;
}

static double value_at(const void *array, int64_t index, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)array)[index]
                                   : ((const double *)array)[index];
}

static int by_pair(const void *left, const void *right)
{
    const oracle_pair *l = left, *r = right;
    if (l->i != r->i)
        return l->i < r->i ? -1 : 1;
    if (l->j != r->j)
        return l->j < r->j ? -1 : 1;
    for (int k = 2; k >= 0; k--)
        if (l->shift[k] != r->shift[k])
            return l->shift[k] < r->shift[k] ? -1 : 1;
    return 0;
}

/* The list as records in its own order, or NULL when its offsets make no sense. */
static oracle_pair *records(const trial *t, const kith_pairs_options *o, const kith_pairs *list)
{
    const kith_precision precision = t->points.points.precision;
    if (!CHECK(list->rows == t->c->n, "%s: rows %lld", described(t, o), (long long)list->rows))
        return NULL;
    oracle_pair *pairs = check_malloc((size_t)list->n * sizeof *pairs);
    memset(pairs, 0, (size_t)list->n * sizeof *pairs);
    if (o->layout == KITH_CSR) {
        int64_t end = 0;
        int good = list->offsets[0] == 0 && list->offsets[list->rows] == list->n;
        for (int64_t i = 0; i < list->rows && good; i++) {
            good = list->offsets[i + 1] >= end && list->offsets[i + 1] <= list->n;
            for (; good && end < list->offsets[i + 1]; end++)
                pairs[end].i = (int32_t)i;
        }
        if (!CHECK(good, "%s: bad offsets", described(t, o))) {
            free(pairs);
            return NULL;
        }
    }
    for (int64_t p = 0; p < list->n; p++) {
        oracle_pair *pair = &pairs[p];
        if (o->layout == KITH_IJ)
            pair->i = list->i[p];
        pair->j = list->j[p];
        if (o->extras & KITH_DISTANCES)
            pair->distance = value_at(list->distances, p, precision);
        for (int k = 0; k < 3; k++) {
            if (o->extras & KITH_VECTORS)
                pair->vector[k] = value_at(list->vectors, 3 * p + k, precision);
            if (o->extras & KITH_SHIFTS)
                pair->shift[k] = list->shifts[3 * p + k];
        }
    }
    return pairs;
}

static int same_extras(const oracle_pair *got, const oracle_pair *want, unsigned extras)
{
    for (int k = 0; k < 3; k++) {
        if ((extras & KITH_VECTORS) && got->vector[k] != want->vector[k])
            return 0;
        if ((extras & KITH_SHIFTS) && got->shift[k] != want->shift[k])
            return 0;
    }
    return !(extras & KITH_DISTANCES) || got->distance == want->distance;
}

/* Compare a list with the oracle's. Images of one (i, j) in an unsorted list can be told apart only
 * by their shifts, so other extras are compared there only when shifts are present. */
static void check_list(const trial *t, const kith_pairs_options *o, const kith_pairs *list)
{
    const oracle_list *want = expected_list(t, o);
    if (!CHECK(list->n == want->n, "%s: %lld pairs, expected %lld", described(t, o),
               (long long)list->n, (long long)want->n))
        return;
    oracle_pair *got = records(t, o, list);
    if (got == NULL)
        return;
    if (!o->sorted)
        qsort(got, (size_t)list->n, sizeof *got, by_pair);
    const int comparable = o->sorted || (o->extras & KITH_SHIFTS);
    for (int64_t p = 0; p < list->n; p++) {
        const oracle_pair *g = &got[p], *w = &want->pairs[p];
        const int same = g->i == w->i && g->j == w->j &&
                         (!comparable || same_extras(g, w, o->extras));
        if (!CHECK(same,
                   "%s: pair %lld is (%d, %d, S %d %d %d, d %.17g %.17g %.17g, r %.17g), expected "
                   "(%d, %d, S %d %d %d, d %.17g %.17g %.17g, r %.17g)",
                   described(t, o), (long long)p, g->i, g->j, g->shift[0], g->shift[1], g->shift[2],
                   g->vector[0], g->vector[1], g->vector[2], g->distance, w->i, w->j, w->shift[0],
                   w->shift[1], w->shift[2], w->vector[0], w->vector[1], w->vector[2], w->distance))
            break;
    }
    free(got);
}

static int check_ok(const trial *t, const kith_pairs_options *o, kith_status status)
{
    return CHECK(status == KITH_OK, "%s: %s: %s", described(t, o), kith_status_name(status),
                 kith_message(t->ctx));
}

static void check_count(const trial *t, const kith_pairs_options *o)
{
    int64_t n = -1;
    int64_t *neighbours = check_malloc((size_t)t->c->n * sizeof *neighbours);
    int64_t *expected = check_malloc((size_t)t->c->n * sizeof *expected);
    memset(expected, 0, (size_t)t->c->n * sizeof *expected);
    for (int64_t p = 0; p < t->full.n; p++)
        expected[t->full.pairs[p].i]++;
    if (check_ok(t, o,
                 kith_pairs_count(t->ctx, &t->points.points, t->c->box, t->c->cutoff, o, &n,
                                  neighbours))) {
        CHECK(n == expected_list(t, o)->n, "%s: count %lld, expected %lld", described(t, o),
              (long long)n, (long long)expected_list(t, o)->n);
        for (int64_t i = 0; i < t->c->n; i++)
            if (!CHECK(neighbours[i] == expected[i], "%s: neighbours[%lld] = %lld, expected %lld",
                       described(t, o), (long long)i, (long long)neighbours[i],
                       (long long)expected[i]))
                break;
    }
    int64_t again = -1;
    if (check_ok(
            t, o,
            kith_pairs_count(t->ctx, &t->points.points, t->c->box, t->c->cutoff, o, &again, NULL)))
        CHECK(again == n, "%s: count without neighbours", described(t, o));
    free(expected);
    free(neighbours);
}

/* The caller's arrays: each with GUARD bytes behind it that must stay as they are. */
enum { GUARD = 64, GUARD_BYTE = 0xa5, ARRAYS = 6 };

typedef struct guarded {
    unsigned char *memory[ARRAYS];
    size_t bytes[ARRAYS];
} guarded;

static kith_pairs guarded_make(guarded *g, int64_t capacity, int64_t rows, kith_precision precision,
                               const kith_pairs_options *o)
{
    const size_t n = (size_t)capacity, real = (size_t)precision;
    const size_t bytes[ARRAYS] = {
        o->layout == KITH_IJ ? n * sizeof(int32_t) : 0,
        n * sizeof(int32_t),
        o->layout == KITH_CSR ? ((size_t)rows + 1) * sizeof(int64_t) : 0,
        o->extras & KITH_DISTANCES ? n * real : 0,
        o->extras & KITH_VECTORS ? 3 * n * real : 0,
        o->extras & KITH_SHIFTS ? 3 * n * sizeof(int32_t) : 0,
    };
    for (int a = 0; a < ARRAYS; a++) {
        g->bytes[a] = bytes[a];
        g->memory[a] = check_malloc(bytes[a] + GUARD);
        memset(g->memory[a], GUARD_BYTE, bytes[a] + GUARD);
    }
    return (kith_pairs){.capacity = capacity,
                        .memory = KITH_HOST,
                        .i = o->layout == KITH_IJ ? (int32_t *)(void *)g->memory[0] : NULL,
                        .j = (int32_t *)(void *)g->memory[1],
                        .offsets = o->layout == KITH_CSR ? (int64_t *)(void *)g->memory[2] : NULL,
                        .distances = o->extras & KITH_DISTANCES ? g->memory[3] : NULL,
                        .vectors = o->extras & KITH_VECTORS ? g->memory[4] : NULL,
                        .shifts = o->extras & KITH_SHIFTS ? (int32_t *)(void *)g->memory[5] : NULL};
}

static int guarded_free(guarded *g)
{
    int intact = 1;
    for (int a = 0; a < ARRAYS; a++) {
        for (size_t k = 0; k < GUARD; k++)
            intact &= g->memory[a][g->bytes[a] + k] == GUARD_BYTE;
        free(g->memory[a]);
    }
    return intact;
}

static int same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Two lists with the same entries in the same order. */
static int same_lists(const kith_pairs *a, const kith_pairs *b, kith_precision precision,
                      const kith_pairs_options *o)
{
    const size_t n = (size_t)a->n, real = (size_t)precision;
    return a->n == b->n && a->rows == b->rows && same_bytes(a->j, b->j, n * sizeof *a->j) &&
           (o->layout != KITH_IJ || same_bytes(a->i, b->i, n * sizeof *a->i)) &&
           (o->layout != KITH_CSR ||
            same_bytes(a->offsets, b->offsets, ((size_t)a->rows + 1) * sizeof *a->offsets)) &&
           (!(o->extras & KITH_DISTANCES) || same_bytes(a->distances, b->distances, n * real)) &&
           (!(o->extras & KITH_VECTORS) || same_bytes(a->vectors, b->vectors, 3 * n * real)) &&
           (!(o->extras & KITH_SHIFTS) ||
            same_bytes(a->shifts, b->shifts, 3 * n * sizeof *a->shifts));
}

/* Fill arrays of the exact size, one less and none, and compare with the list found. */
static void check_fill(const trial *t, const kith_pairs_options *o, const kith_pairs *found)
{
    const kith_precision precision = t->points.points.precision;
    const int any_order = o->unordered && !o->sorted &&
                          strncmp(kith_backend(t->ctx), "cpu", 3) != 0;
    const int64_t capacities[3] = {found->n, found->n - 1, 0};
    for (int a = 0; a < (found->n > 0 ? 3 : 1); a++) {
        guarded g;
        kith_pairs list = guarded_make(&g, capacities[a], t->c->n, precision, o);
        const kith_status status = kith_pairs_fill(t->ctx, &t->points.points, t->c->box,
                                                   t->c->cutoff, o, &list);
        if (a == 0 && check_ok(t, o, status) && any_order)
            check_list(t, o, &list);
        else if (a == 0 && status == KITH_OK)
            CHECK(same_lists(&list, found, precision, o), "%s: filled differs from found",
                  described(t, o));
        if (a > 0) {
            CHECK(status == KITH_CAPACITY, "%s: fill returned %s", described(t, o),
                  kith_status_name(status));
            CHECK(list.n == found->n, "%s: fill needs %lld, said %lld", described(t, o),
                  (long long)found->n, (long long)list.n);
            CHECK(kith_message(t->ctx)[0] != '\0', "%s: no message", described(t, o));
        }
        CHECK(guarded_free(&g), "%s: fill wrote past the end of an array", described(t, o));
    }
}

/* Blocks, joined. */
typedef struct joined {
    const trial *t;
    const kith_pairs_options *o;
    const kith_pairs *found;
    int64_t n;
} joined;

static int join_block(void *user, const kith_pairs *block, int64_t first)
{
    joined *all = user;
    const kith_precision precision = all->t->points.points.precision;
    const size_t real = (size_t)precision;
    const int good = first == all->n && block->n >= 0 && block->n <= all->o->block_pairs &&
                     first + block->n <= all->found->n;
    if (!CHECK(good, "%s: block of %lld pairs, first %lld, after %lld", described(all->t, all->o),
               (long long)block->n, (long long)first, (long long)all->n))
        return 1;
    kith_pairs part = *all->found;
    part.n = block->n;
    part.rows = block->rows;
    part.i += first;
    part.j += first;
    if (all->o->extras) {
        part.distances = (char *)part.distances + (size_t)first * real;
        part.vectors = (char *)part.vectors + 3 * (size_t)first * real;
        part.shifts += 3 * first;
    }
    all->n += block->n;
    return !CHECK(same_lists(block, &part, precision, all->o), "%s: block %lld + %lld differs",
                  described(all->t, all->o), (long long)first, (long long)block->n);
}

static void check_each(const trial *t, const kith_pairs_options *options, const kith_pairs *found)
{
    const int64_t sizes[3] = {1, 7, 1000};
    for (int s = found->n < 500 ? 0 : found->n < 5000 ? 1 : 2; s < 3; s++) {
        kith_pairs_options o = *options;
        o.block_pairs = sizes[s];
        joined all = {.t = t, .o = &o, .found = found};
        if (check_ok(t, &o,
                     kith_pairs_each(t->ctx, &t->points.points, t->c->box, t->c->cutoff, &o,
                                     join_block, &all)))
            CHECK(all.n == found->n, "%s: blocks hold %lld pairs of %lld", described(t, &o),
                  (long long)all.n, (long long)found->n);
    }
}

/* One combination of options. list is reused from call to call, as callers would. */
static void check_options(const trial *t, const kith_pairs_options *o, kith_pairs *list)
{
    if (!check_ok(t, o,
                  kith_pairs_find(t->ctx, &t->points.points, t->c->box, t->c->cutoff, o, list)))
        return;
    check_list(t, o, list);
    if (o->extras == 0 || o->extras == ALL_EXTRAS)
        check_fill(t, o, list);
    if (o->layout == KITH_IJ && (o->extras == 0 || o->extras == ALL_EXTRAS))
        check_each(t, o, list);
    if (o->extras == 0 && !o->sorted)
        check_count(t, o);
}

static trial trial_make(const pair_case *c, kith_precision precision, layout how)
{
    trial t = {.c = c, .points = stored_make(c->xyz, c->n, precision, how)};
    t.other = stored_make(c->against, c->against ? c->m : 0, precision, (how + 1) % LAYOUTS);
    t.full = oracle_full(&t.points.points, c->against ? &t.other.points : NULL, c->box,
                         c->rules ? c->reach : c->cutoff);
    int64_t kept = 0;
    for (int64_t p = 0; p < t.full.n && c->rules; p++)
        if (c->listed(c->user, precision, &t.full.pairs[p]))
            t.full.pairs[kept++] = t.full.pairs[p];
    t.full.n = c->rules ? kept : t.full.n;
    t.half = oracle_half(&t.full);
    return t;
}

/* The rows of a KITH_MATRIX list, made to fit, as a list of records; then rows that are too narrow:
 * the first entries of the sorted ones, and all counts. */
static void check_matrix(const trial *t, kith_pairs_options *o)
{
    const kith_precision precision = t->points.points.precision;
    kith_pairs list = {.size = sizeof list}, csr = {0};
    int64_t *at = check_malloc(((size_t)t->c->n + 1) * sizeof *at);
    if (!check_ok(t, o,
                  kith_pairs_find(t->ctx, &t->points.points, t->c->box, t->c->cutoff, o, &list)))
        return;
    csr = list;
    csr.offsets = at;
    for (int64_t i = 0, n = 0; i < t->c->n; i++) { /* move the rows together */
        at[i] = n;
        at[i + 1] = n + list.counts[i];
        for (int64_t e = i * list.width; e < (i + 1) * list.width; e++) {
            if (e - i * list.width >= list.counts[i]) {
                CHECK(list.j[e] == -1, "%s: j %d behind row %lld", described(t, o), list.j[e],
                      (long long)i);
                continue;
            }
            csr.j[n] = list.j[e];
            for (int k = 0; k < 3 && o->extras; k++) {
                memcpy((char *)csr.vectors + (3 * n + k) * precision,
                       (char *)list.vectors + (3 * e + k) * precision, precision);
                csr.shifts[3 * n + k] = list.shifts[3 * e + k];
            }
            if (o->extras)
                memcpy((char *)csr.distances + n * precision,
                       (char *)list.distances + e * precision, precision);
            n++;
        }
    }
    kith_pairs_options rows = *o;
    rows.layout = KITH_CSR;
    rows.full = 1;
    csr.n = t->c->n ? at[t->c->n] : 0;
    at[t->c->n] = csr.n;
    CHECK(list.n == csr.n && list.overflowed == 0, "%s: matrix of %lld pairs", described(t, o),
          (long long)list.n);
    check_list(t, &rows, &csr);
    const int64_t width = list.widest / 2;
    int32_t *j = check_malloc((size_t)(t->c->n * width + 1) * sizeof *j);
    int32_t *counts = check_malloc((size_t)(t->c->n + 1) * sizeof *counts);
    kith_pairs narrow = {
        .size = sizeof narrow, .j = j, .counts = counts, .capacity = t->c->n * width};
    kith_pairs_options small = *o;
    small.extras = 0;
    small.width = width;
    const kith_status status = kith_pairs_fill(t->ctx, &t->points.points, t->c->box, t->c->cutoff,
                                               &small, &narrow);
    CHECK(status == (list.widest > width ? KITH_CAPACITY : KITH_OK) && narrow.n == csr.n &&
              narrow.widest == list.widest,
          "%s: narrow matrix: %s: %lld pairs, widest %lld", described(t, o),
          kith_status_name(status), (long long)narrow.n, (long long)narrow.widest);
    for (int64_t i = 0; i < t->c->n; i++) {
        const int64_t count = at[i + 1] - at[i];
        int same = counts[i] == count;
        for (int64_t k = 0; k < width && same; k++)
            same = k >= count ? j[i * width + k] == -1
                              : !o->sorted || j[i * width + k] == csr.j[at[i] + k];
        if (!CHECK(same, "%s: narrow row %lld", described(t, o), (long long)i))
            break;
    }
    free(counts);
    free(j);
    free(at);
    kith_pairs_free(&list);
}

static void trial_free(trial *t)
{
    oracle_free(&t->half);
    oracle_free(&t->full);
    stored_free(&t->other);
    stored_free(&t->points);
}

static void check_trial(const pair_case *c, kith_ctx *ctx, kith_precision precision, layout how)
{
    trial t = trial_make(c, precision, how);
    t.ctx = ctx;
    t.against = c->against ? &t.other.points : NULL;
    if (c->box && !c->exact_inverse) {
        CHECK(oracle_margin(&t.points.points, c->box) > 1e-12, "%s: ambiguous input", c->name);
        CHECK(oracle_margin(&t.other.points, c->box) > 1e-12, "%s: ambiguous input", c->name);
    }
    kith_pairs list = {0};
    const unsigned extras[5] = {0, ALL_EXTRAS, KITH_DISTANCES, KITH_VECTORS, KITH_SHIFTS};
    for (int full = c->full_only ? 1 : 0; full < 2; full++)
        for (int csr = 0; csr < 2; csr++)
            for (int sorted = 0; sorted < 2; sorted++)
                for (int e = 0; e < (c->n <= 20 ? 5 : 2); e++) {
                    kith_pairs_options o;
                    kith_pairs_options_init(&o);
                    o.against = t.against;
                    o.full = full;
                    o.sorted = sorted;
                    o.layout = csr ? KITH_CSR : KITH_IJ;
                    o.extras = extras[e];
                    if (c->rules)
                        c->rules(c->user, precision, &o);
                    check_options(&t, &o, &list);
                }
    for (int sorted = 0; sorted < 2 && c->rules; sorted++)
        for (int e = 0; e < 2; e++) {
            kith_pairs_options o;
            kith_pairs_options_init(&o);
            o.against = t.against;
            o.sorted = sorted;
            o.layout = KITH_MATRIX;
            o.extras = extras[e];
            c->rules(c->user, precision, &o);
            check_matrix(&t, &o);
        }
    kith_pairs_free(&list);
    trial_free(&t);
}

void case_check_form(kith_ctx *const *ctx, int contexts, const pair_case *c,
                     kith_precision precision, layout how, kith_pairs_options form)
{
    trial t = trial_make(c, precision, how);
    form.against = t.against = c->against ? &t.other.points : NULL;
    for (int k = 0; k < contexts; k++) {
        kith_pairs list = {0};
        t.ctx = ctx[k];
        check_options(&t, &form, &list);
        kith_pairs_free(&list);
    }
    trial_free(&t);
}

void case_check(kith_ctx *ctx, const pair_case *c)
{
    static int turn, cases;
    const int one = check_brief() && c->precisions == CASE_BOTH; /* by turns */
    cases++;
    if (one && cases / 2 % (check_brief() + 1)) {
        return; /* and only some cases of each precision */
    }
    if (c->precisions != CASE_DOUBLE && !(one && cases % 2))
        check_trial(c, ctx, KITH_FLOAT, (layout)(turn++ % LAYOUTS));
    if (c->precisions != CASE_FLOAT && !(one && cases % 2 == 0))
        check_trial(c, ctx, KITH_DOUBLE, (layout)(turn++ % LAYOUTS));
}

/* -------------------------------------------------------------------------------------- matrix */

/** Return true when n elements of an array, from `at` on, are those of another, from `from` on. */
static bool same_range(const void *a, int64_t at, const void *b, int64_t from, int64_t n,
                       size_t size)
{
    return n == 0 || !a ||
           memcmp((const char *)a + (size_t)at * size, (const char *)b + (size_t)from * size,
                  (size_t)n * size) == 0;
}

static double element(const void *array, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

/** Return true when entry e of a KITH_MATRIX list has no neighbour. */
static bool is_empty_entry(const kith_pairs *list, int64_t e, int32_t fill,
                           kith_precision precision)
{
    bool empty = list->j[e] == fill;
    empty = empty && (!list->distances || (isinf(element(list->distances, e, precision)) &&
                                           element(list->distances, e, precision) > 0));
    for (int k = 0; k < 3; k++) {
        empty = empty && (!list->vectors || element(list->vectors, 3 * e + k, precision) == 0);
        empty = empty && (!list->shifts || list->shifts[3 * e + k] == 0);
    }
    return empty;
}

bool case_is_matrix(const kith_pairs *list, int64_t width, int32_t fill, const kith_pairs *csr,
                    kith_precision precision)
{
    const size_t real = (size_t)precision;
    int64_t widest = 0, overflowed = 0;
    bool good = list->n == csr->n && list->rows == csr->rows && list->width == width;
    for (int64_t i = 0; i < csr->rows && good; i++) {
        const int64_t from = csr->offsets[i], count = csr->offsets[i + 1] - from;
        const int64_t kept = count < width ? count : width, at = i * width;
        widest = count > widest ? count : widest;
        overflowed += count > width;
        good = (!list->counts || list->counts[i] == count) &&
               same_range(list->j, at, csr->j, from, kept, sizeof *list->j) &&
               same_range(list->distances, at, csr->distances, from, kept, real) &&
               same_range(list->vectors, at, csr->vectors, from, kept, 3 * real) &&
               same_range(list->shifts, at, csr->shifts, from, kept, 3 * sizeof *list->shifts);
        for (int64_t k = kept; k < width && good; k++) {
            good = is_empty_entry(list, at + k, fill, precision);
        }
    }
    return good && list->widest == widest && list->overflowed == overflowed;
}

int64_t case_check_matrix(kith_ctx *ctx, const kith_points *points, const kith_box *box,
                          double cutoff, kith_pairs_options o)
{
    kith_pairs csr = {0}, matrix = {.size = sizeof matrix};
    o.layout = KITH_CSR;
    CHECK(kith_pairs_find(ctx, points, box, cutoff, &o, &csr) == KITH_OK, "%s", kith_message(ctx));
    o.layout = KITH_MATRIX;
    CHECK(kith_pairs_find(ctx, points, box, cutoff, &o, &matrix) == KITH_OK &&
              case_is_matrix(&matrix, matrix.widest, -1, &csr, KITH_DOUBLE),
          "rows of a fixed width: %s: %lld pairs of %lld", kith_message(ctx), (long long)matrix.n,
          (long long)csr.n);
    const int64_t n = csr.n;
    kith_pairs_free(&csr);
    kith_pairs_free(&matrix);
    return n;
}

void case_refused(kith_ctx *ctx, const kith_points *points, double cutoff, kith_pairs_options *o,
                  const kith_pairs_options *good, const char *text)
{
    int64_t n;
    CHECK(kith_pairs_count(ctx, points, NULL, cutoff, o, &n, NULL) == KITH_INVALID &&
              strstr(kith_message(ctx), text) != NULL && n == 0,
          "message \"%s\", expected \"%s\"", kith_message(ctx), text);
    *o = *good;
}
