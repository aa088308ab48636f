/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of a batch are those of calls for each system alone, with indices shifted, bit for bit, and
 * those of the oracle: systems of 0 to many particles, boxes of all kinds, one set and two.
 */
#include "batches.h"
#include "check.h"
#include "oracle.h"
#include "pairs_case.h"
#include "points.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORACLE_MOST = 130 };

/* A pair of the batch, as bits. */
typedef struct record {
    int32_t i, j, shift[3];
    double values[4]; /* distance, vector */
} record;

static int by_record(const void *left, const void *right)
{
    const record *l = left, *r = right;
    if (l->i != r->i)
        return l->i < r->i ? -1 : 1;
    if (l->j != r->j)
        return l->j < r->j ? -1 : 1;
    for (int k = 2; k >= 0; k--)
        if (l->shift[k] != r->shift[k])
            return l->shift[k] < r->shift[k] ? -1 : 1;
    return 0;
}

static double value_at(const void *array, int64_t index, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)array)[index]
                                   : ((const double *)array)[index];
}

/* The list as records, indices shifted by `i` and `j`. */
static record *records(const kith_pairs *list, const kith_pairs_options *o,
                       kith_precision precision, int64_t i, int64_t j)
{
    record *made = check_malloc((size_t)(list->n + 1) * sizeof *made);
    int64_t row = 0;
    memset(made, 0, (size_t)(list->n + 1) * sizeof *made);
    for (int64_t p = 0; p < list->n; p++) {
        if (o->layout == KITH_CSR)
            while (list->offsets[row + 1] <= p)
                row++;
        made[p].i = (int32_t)((o->layout == KITH_CSR ? row : list->i[p]) + i);
        made[p].j = (int32_t)(list->j[p] + j);
        if (o->extras & KITH_DISTANCES)
            made[p].values[0] = value_at(list->distances, p, precision);
        for (int k = 0; k < 3; k++) {
            if (o->extras & KITH_VECTORS)
                made[p].values[1 + k] = value_at(list->vectors, 3 * p + k, precision);
            if (o->extras & KITH_SHIFTS)
                made[p].shift[k] = list->shifts[3 * p + k];
        }
    }
    return made;
}

static int same_records(const record *a, const record *b, int compare_values)
{
    return by_record(a, b) == 0 &&
           (!compare_values || memcmp(a->values, b->values, sizeof a->values) == 0);
}

/* Compare the pairs of one system with those of a call for it alone and with the oracle's. */
static int check_system(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *o,
                        int64_t s, const record *got, int64_t n)
{
    kith_pairs_options own = *o;
    const kith_points a = batch_slice(&batch->points.points, batch->a[s], batch->a[s + 1]);
    const kith_points b = batch_slice(&batch->other.points, batch->b[s], batch->b[s + 1]);
    const kith_box *box = batch_box_of(batch, s);
    kith_pairs alone = {0};
    own.batch = NULL;
    own.against = o->against ? &b : NULL;
    const int64_t j = o->against ? batch->b[s] : batch->a[s];
    const kith_status status = kith_pairs_find(ctx, &a, box, batch->cutoff, &own, &alone);
    if (!CHECK(status == KITH_OK, "%s: %s", batch->name, kith_message(ctx)))
        return 0;
    record *want = records(&alone, &own, batch->precision, batch->a[s], j);
    const int any = !o->sorted;
    if (any)
        qsort(want, (size_t)alone.n, sizeof *want, by_record);
    int good = CHECK(n == alone.n, "%s, system %lld: %lld pairs, alone %lld", batch->name,
                     (long long)s, (long long)n, (long long)alone.n);
    for (int64_t p = 0; p < n && good; p++)
        good = CHECK(
            same_records(&got[p], &want[p], !any || o->extras & KITH_SHIFTS),
            "%s, system %lld: pair %lld is (%d, %d, S %d %d %d), alone (%d, %d, S %d %d %d), "
            "full %d, sorted %d, layout %d, extras %u",
            batch->name, (long long)s, (long long)p, got[p].i, got[p].j, got[p].shift[0],
            got[p].shift[1], got[p].shift[2], want[p].i, want[p].j, want[p].shift[0],
            want[p].shift[1], want[p].shift[2], o->full, o->sorted, (int)o->layout, o->extras);
    if (good && a.n <= ORACLE_MOST && b.n <= ORACLE_MOST && oracle_margin(&a, box) > 1e-9) {
        oracle_list full = oracle_full(&a, own.against, box, batch->cutoff);
        oracle_list half = own.against || o->full ? full : oracle_half(&full);
        good = CHECK(half.n == n, "%s, system %lld: %lld pairs, the oracle %lld", batch->name,
                     (long long)s, (long long)n, (long long)half.n);
        for (int64_t p = 0; p < n && good; p++) {
            const oracle_pair *w = &half.pairs[p];
            good = got[p].i == w->i + batch->a[s] && got[p].j == w->j + j;
            for (int k = 0; k < 3 && (o->sorted || o->extras & KITH_SHIFTS); k++) {
                good = good && (!(o->extras & KITH_SHIFTS) || got[p].shift[k] == w->shift[k]);
                good = good &&
                       (!(o->extras & KITH_VECTORS) || got[p].values[1 + k] == w->vector[k]);
            }
            CHECK(good, "%s, system %lld: pair %lld differs from the oracle's", batch->name,
                  (long long)s, (long long)p);
        }
        if (half.pairs != full.pairs)
            oracle_free(&half);
        oracle_free(&full);
    }
    free(want);
    kith_pairs_free(&alone);
    return good;
}

/* Check a list of the batch, system by system: the systems follow each other. */
static void check_list(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *o,
                       const kith_pairs *list)
{
    if (!CHECK(list->rows == batch->points.points.n, "%s: rows %lld", batch->name,
               (long long)list->rows))
        return;
    if (o->layout == KITH_CSR &&
        !CHECK(list->offsets[0] == 0 && list->offsets[list->rows] == list->n, "%s: offsets of ends",
               batch->name))
        return;
    record *got = records(list, o, batch->precision, 0, 0);
    int64_t p = 0;
    for (int64_t s = 0; s < batch->systems; s++) {
        const int64_t begin = p;
        while (p < list->n && got[p].i < batch->a[s + 1] && got[p].i >= batch->a[s])
            p++;
        if (!o->sorted)
            qsort(got + begin, (size_t)(p - begin), sizeof *got, by_record);
        if (!check_system(ctx, batch, o, s, got + begin, p - begin))
            break;
    }
    CHECK(p == list->n || check_failures() > 0, "%s: pair %lld is not in the order of the systems",
          batch->name, (long long)p);
    free(got);
}

static void check_count(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *o,
                        const kith_pairs *list)
{
    const int64_t rows = batch->points.points.n;
    int64_t *neighbours = check_malloc((size_t)(rows + 1) * sizeof *neighbours);
    int64_t n = -1;
    const kith_box *box = batch_box(batch);
    CHECK(kith_pairs_count(ctx, &batch->points.points, box, batch->cutoff, o, &n, neighbours) ==
                  KITH_OK &&
              n == list->n,
          "%s: counted %lld, found %lld: %s", batch->name, (long long)n, (long long)list->n,
          kith_message(ctx));
    for (int64_t i = 0; i < rows && o->layout == KITH_CSR && (o->full || o->against); i++)
        CHECK(neighbours[i] == list->offsets[i + 1] - list->offsets[i], "%s: neighbours of %lld",
              batch->name, (long long)i);
    CHECK(kith_pairs_count(ctx, &batch->points.points, box, batch->cutoff, o, &n, NULL) ==
                  KITH_OK &&
              n == list->n,
          "%s: counted %lld without neighbours", batch->name, (long long)n);
    free(neighbours);
}

static int same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Lists with the same entries in the same order. */
static void check_same(const random_batch *batch, const kith_pairs_options *o, const kith_pairs *a,
                       const kith_pairs *b)
{
    const size_t n = (size_t)b->n, real = (size_t)batch->precision;
    CHECK(a->n == b->n && same_bytes(a->j, b->j, n * 4) &&
              (o->layout != KITH_IJ || same_bytes(a->i, b->i, n * 4)) &&
              (o->layout != KITH_CSR ||
               same_bytes(a->offsets, b->offsets, (size_t)(b->rows + 1) * 8)) &&
              (!(o->extras & KITH_DISTANCES) || same_bytes(a->distances, b->distances, n * real)) &&
              (!(o->extras & KITH_VECTORS) || same_bytes(a->vectors, b->vectors, 3 * n * real)) &&
              (!(o->extras & KITH_SHIFTS) || same_bytes(a->shifts, b->shifts, 12 * n)),
          "%s: a list differs from that found, full %d, sorted %d, layout %d, extras %u",
          batch->name, o->full, o->sorted, (int)o->layout, o->extras);
}

static void check_fill(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *o,
                       const kith_pairs *list)
{
    const size_t n = (size_t)list->n, real = (size_t)batch->precision;
    const kith_box *box = batch_box(batch);
    kith_pairs mine = {.capacity = list->n,
                       .i = o->layout == KITH_IJ ? check_malloc(n * 4 + 4) : NULL,
                       .j = check_malloc(n * 4 + 4),
                       .offsets = o->layout == KITH_CSR ? check_malloc((size_t)(list->rows + 1) * 8)
                                                        : NULL,
                       .distances = check_malloc(n * real + 8),
                       .vectors = check_malloc(3 * n * real + 8),
                       .shifts = check_malloc(12 * n + 4)};
    const kith_status status = kith_pairs_fill(ctx, &batch->points.points, batch_box(batch),
                                               batch->cutoff, o, &mine);
    if (CHECK(status == KITH_OK && mine.n == list->n, "%s: fill: %s", batch->name,
              kith_message(ctx)))
        check_same(batch, o, &mine, list);
    if (list->n > 0) {
        mine.capacity = list->n - 1;
        const kith_status less = kith_pairs_fill(ctx, &batch->points.points, box, batch->cutoff, o,
                                                 &mine);
        CHECK(less == KITH_CAPACITY && mine.n == list->n, "%s: %s, needs %lld, found %lld",
              batch->name, kith_status_name(less), (long long)mine.n, (long long)list->n);
    }
    free(mine.i);
    free(mine.j);
    free(mine.offsets);
    free(mine.distances);
    free(mine.vectors);
    free(mine.shifts);
}

/* Blocks, joined. */
typedef struct joined {
    kith_pairs list;
    int64_t most;
    int blocks_fit;
} joined;

static int join_block(void *user, const kith_pairs *block, int64_t first)
{
    joined *all = user;
    all->blocks_fit = all->blocks_fit && first == all->list.n && block->n <= all->most &&
                      block->n > 0 && first + block->n <= all->list.capacity;
    if (!all->blocks_fit)
        return 1;
    memcpy(all->list.i + first, block->i, (size_t)block->n * 4);
    memcpy(all->list.j + first, block->j, (size_t)block->n * 4);
    memcpy(all->list.shifts + 3 * first, block->shifts, (size_t)block->n * 12);
    all->list.n += block->n;
    return 0;
}

static void check_each(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *form,
                       int64_t n, int64_t most)
{
    kith_pairs_options o = *form;
    const kith_box *box = batch_box(batch);
    o.block_pairs = most;
    o.extras = KITH_SHIFTS;
    o.layout = KITH_IJ;
    joined all = {.list = {.capacity = n,
                           .rows = batch->points.points.n,
                           .i = check_malloc((size_t)n * 4 + 4),
                           .j = check_malloc((size_t)n * 4 + 4),
                           .shifts = check_malloc((size_t)n * 12 + 4)},
                  .most = most,
                  .blocks_fit = 1};
    const kith_status status = kith_pairs_each(ctx, &batch->points.points, box, batch->cutoff, &o,
                                               join_block, &all);
    kith_pairs whole = {0};
    if (CHECK(status == KITH_OK && all.blocks_fit && all.list.n == n, "%s: blocks of %lld: %s",
              batch->name, (long long)most, kith_message(ctx)) &&
        CHECK(kith_pairs_find(ctx, &batch->points.points, batch_box(batch), batch->cutoff, &o,
                              &whole) == KITH_OK,
              "%s: %s", batch->name, kith_message(ctx)))
        check_same(batch, &o, &all.list, &whole);
    kith_pairs_free(&whole);
    free(all.list.i);
    free(all.list.j);
    free(all.list.shifts);
}

/* Rows of a fixed width, in the caller's arrays, are those of the KITH_CSR list. */
static void check_matrix_fill(kith_ctx *ctx, const random_batch *batch, kith_pairs_options o,
                              int64_t width, int counted, const kith_pairs *csr)
{
    const size_t entries = (size_t)(csr->rows * width), real = (size_t)batch->precision;
    kith_pairs mine = {.size = sizeof mine,
                       .capacity = csr->rows * width,
                       .j = check_malloc(entries * 4 + 4),
                       .distances = check_malloc(entries * real + 8),
                       .vectors = check_malloc(3 * entries * real + 8),
                       .shifts = check_malloc(12 * entries + 4),
                       .counts = counted ? check_malloc((size_t)csr->rows * 4 + 4) : NULL};
    o.width = width;
    o.fill = counted ? -7 : 3;
    const kith_status status = kith_pairs_fill(ctx, &batch->points.points, batch_box(batch),
                                               batch->cutoff, &o, &mine);
    kith_pairs wanted = mine;
    wanted.distances = o.extras & KITH_DISTANCES ? mine.distances : NULL;
    wanted.vectors = o.extras & KITH_VECTORS ? mine.vectors : NULL;
    wanted.shifts = o.extras & KITH_SHIFTS ? mine.shifts : NULL;
    CHECK(status == (mine.overflowed > 0 ? KITH_CAPACITY : KITH_OK) &&
              case_is_matrix(&wanted, width, o.fill, csr, batch->precision),
          "%s: %s: rows of %lld, sorted %d, extras %u: %lld pairs of %lld, %lld rows overflowed",
          batch->name, kith_status_name(status), (long long)width, o.sorted, o.extras,
          (long long)mine.n, (long long)csr->n, (long long)mine.overflowed);
    free(mine.j);
    free(mine.distances);
    free(mine.vectors);
    free(mine.shifts);
    free(mine.counts);
}

/* Rows of a fixed width: too narrow, exact and wider, filled and found. */
static void check_matrix(kith_ctx *ctx, const random_batch *batch, const kith_pairs_options *form)
{
    kith_pairs_options o = *form;
    kith_pairs csr = {0}, list = {.size = sizeof list};
    int64_t widest = 0, counted = -1;
    o.full = 1;
    o.layout = KITH_CSR;
    if (!CHECK(kith_pairs_find(ctx, &batch->points.points, batch_box(batch), batch->cutoff, &o,
                               &csr) == KITH_OK,
               "%s: %s", batch->name, kith_message(ctx)))
        return;
    for (int64_t i = 0; i < csr.rows; i++)
        widest = csr.offsets[i + 1] - csr.offsets[i] > widest ? csr.offsets[i + 1] - csr.offsets[i]
                                                              : widest;
    o.full = 0;
    o.layout = KITH_MATRIX;
    const int64_t widths[] = {0, widest / 3, widest, widest + 2};
    for (int w = 0; w < 4; w++)
        check_matrix_fill(ctx, batch, o, widths[w], w != 1, &csr);
    o.width = widest / 2;
    const kith_status status = kith_pairs_find(ctx, &batch->points.points, batch_box(batch),
                                               batch->cutoff, &o, &list);
    CHECK(status == KITH_OK && case_is_matrix(&list, widest, -1, &csr, batch->precision),
          "%s: %s: rows found, width %lld, the widest %lld", batch->name, kith_message(ctx),
          (long long)list.width, (long long)widest);
    CHECK(kith_pairs_count(ctx, &batch->points.points, batch_box(batch), batch->cutoff, &o,
                           &counted, NULL) == KITH_OK &&
              counted == csr.n,
          "%s: counted %lld, found %lld", batch->name, (long long)counted, (long long)csr.n);
    kith_pairs_free(&csr);
    kith_pairs_free(&list);
}

static void check_batch(kith_ctx *ctx, uint64_t seed, int large)
{
    random_batch batch = batch_make(seed, large);
    rng r = {seed + 1000};
    const int cross = seed % 3 == 2;
    const kith_batch given = batch_public(&batch, cross);
    const kith_box *box = batch_box(&batch);
    kith_pairs list = {0};
    for (int turn = 0; turn < 4; turn++) {
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.batch = &given;
        o.against = cross ? &batch.other.points : NULL;
        o.full = (int)rng_below(&r, 2);
        o.sorted = (int)rng_below(&r, 2);
        o.unordered = (int)rng_below(&r, 2);
        o.layout = rng_below(&r, 2) ? KITH_CSR : KITH_IJ;
        o.extras = (unsigned)rng_below(&r, 8);
        const kith_status status = kith_pairs_find(ctx, &batch.points.points, box, batch.cutoff, &o,
                                                   &list);
        if (!CHECK(status == KITH_OK, "%s: %s", batch.name, kith_message(ctx)))
            break;
        check_list(ctx, &batch, &o, &list);
        check_count(ctx, &batch, &o, &list);
        if (!o.unordered)
            check_fill(ctx, &batch, &o, &list);
        check_matrix(ctx, &batch, &o);
        check_each(ctx, &batch, &o, list.n, turn == 0 ? 7 : turn == 1 ? 500 : (int64_t)1 << 24);
    }
    kith_pairs_free(&list);
    batch_free(&batch);
}

/* A system that all threads share beside small ones: compared with the call for it alone. */
static void check_large(kith_ctx *ctx)
{
    enum { SYSTEMS = 5 };
    static const int64_t sizes[SYSTEMS] = {30, 40000, 0, 35000, 70};
    random_batch batch = {
        .systems = SYSTEMS, .cutoff = 1.0, .precision = KITH_FLOAT, .has_boxes = 1};
    rng r = {5};
    double *xyz = NULL;
    for (int s = 0; s < SYSTEMS; s++) {
        const double side = fmax(cbrt((double)sizes[s]), 1);
        batch.boxes[s] = kith_box_periodic(side, side, side);
        xyz = batch_append(&r, xyz, batch.a[s], sizes[s], &batch.boxes[s], side, 0);
        batch.a[s + 1] = batch.a[s] + sizes[s];
    }
    batch.points = stored_make(xyz, batch.a[SYSTEMS], KITH_FLOAT, LAYOUT_PACKED);
    batch.other = stored_make(xyz, 0, KITH_FLOAT, LAYOUT_PACKED);
    free(xyz);
    snprintf(batch.name, sizeof batch.name, "large systems");
    const kith_batch given = batch_public(&batch, 0);
    for (int form = 0; form < 3; form++) {
        kith_pairs_options o;
        kith_pairs list = {0};
        kith_pairs_options_init(&o);
        o.batch = &given;
        o.full = form == 1;
        o.sorted = form == 2;
        o.layout = form == 1 ? KITH_CSR : KITH_IJ;
        o.extras = KITH_SHIFTS | KITH_VECTORS;
        if (CHECK(kith_pairs_find(ctx, &batch.points.points, NULL, 1.0, &o, &list) == KITH_OK,
                  "large systems: %s", kith_message(ctx))) {
            check_list(ctx, &batch, &o, &list);
            check_count(ctx, &batch, &o, &list);
            check_fill(ctx, &batch, &o, &list);
            check_each(ctx, &batch, &o, list.n, 1000);
        }
        kith_pairs_free(&list);
    }
    batch_free(&batch);
}

/* Arguments that are refused, and particles that cannot be used: the message names the system. */
static void check_refused(kith_ctx *ctx)
{
    float xyz[12] = {0.1f, 0.1f, 0.1f, 0.2f, 0.2f, 0.2f, 0.3f, 0.3f, 0.3f, 0.4f, 0.4f, 0.4f};
    kith_points points = kith_points_packed(xyz, 4, KITH_FLOAT);
    const int64_t good[] = {0, 1, 1, 4}, late[] = {1, 1, 1, 4}, down[] = {0, 2, 1, 4},
                  few[] = {0, 1, 1, 3};
    kith_box boxes[3] = {kith_box_periodic(1, 1, 1), kith_box_periodic(2, 2, 2),
                         kith_box_periodic(1, 1, 1)};
    const kith_box box = kith_box_open();
    kith_batch batch;
    kith_pairs_options o;
    kith_pairs list = {0};
    kith_batch_init(&batch);
    kith_pairs_options_init(&o);
    o.batch = &batch;
#define REFUSED(with_box, says) \
    do { \
        const kith_status refused = kith_pairs_find(ctx, &points, with_box, 0.3, &o, &list); \
        CHECK(refused == KITH_INVALID && strstr(kith_message(ctx), says), "%s: %s", \
              kith_status_name(refused), kith_message(ctx)); \
        CHECK(list.n == 0 && list.rows == 0, "a refused call has %lld pairs", (long long)list.n); \
    } while (0)
    batch.systems = 3;
    REFUSED(NULL, "offsets is NULL");
    batch.offsets = late;
    REFUSED(NULL, "offsets[0] is 1");
    batch.offsets = down;
    REFUSED(NULL, "offsets[2] is 1");
    batch.offsets = few;
    REFUSED(NULL, "offsets[3] is 3, expected 4");
    batch.offsets = good;
    batch.systems = -1;
    REFUSED(NULL, "systems is -1");
    batch.systems = 3;
    batch.against_offsets = good;
    REFUSED(NULL, "no second set");
    batch.against_offsets = NULL;
    o.against = &points;
    REFUSED(NULL, "against_offsets is NULL");
    o.against = NULL;
    batch.boxes = boxes;
    REFUSED(&box, "one of them must be NULL");
    boxes[2].dim = 2;
    REFUSED(NULL, "dim of box 2 is 2, expected 3");
    boxes[2].dim = 3;
    memset(boxes[1].row[1], 0, sizeof boxes[1].row[1]);
    REFUSED(NULL, "system 1 of the batch: box: row b is zero");
    boxes[1] = boxes[0];
    batch.dim = 5;
    REFUSED(NULL, "dim is 5");
    batch.dim = 0;
    batch.size = 8;
    REFUSED(NULL, "options.batch.size is 8");
    batch.size = sizeof batch;
#undef REFUSED
    xyz[7] = NAN;
    kith_status status = kith_pairs_find(ctx, &points, NULL, 0.3, &o, &list);
    CHECK(status == KITH_NOT_FINITE && strstr(kith_message(ctx), "system 2 of the batch") &&
              strstr(kith_message(ctx), "particle 1 "),
          "%s: %s", kith_status_name(status), kith_message(ctx));
    xyz[7] = 0.3f;
    batch.systems = 0;
    status = kith_pairs_find(ctx, &points, NULL, 0.3, &o, &list);
    CHECK(status == KITH_INVALID, "4 particles in no system: %s", kith_status_name(status));
    points.n = 0;
    status = kith_pairs_find(ctx, &points, NULL, 0.3, &o, &list);
    CHECK(status == KITH_OK && list.n == 0, "no systems: %s", kith_message(ctx));
    kith_pairs_free(&list);
}

int main(int argc, char **argv)
{
    const int cases = check_deep() ? 3000 : 12 / (1 + check_brief());
    for (int threads = 1; threads <= 3; threads += 2) {
        kith_ctx *ctx = check_open(check_backend(argc, argv), threads);
        check_refused(ctx);
        for (int seed = 0; seed < cases; seed++)
            check_batch(ctx, (uint64_t)(seed + 10000 * threads), seed % 10 == 9);
        if (threads > 1)
            check_large(ctx);
        kith_close(ctx);
    }
    return check_done();
}
