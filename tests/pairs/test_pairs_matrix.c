/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists against the oracle: rows that are too narrow, exact, wider, of width 0; sorted
 * rows in full, overflowed ones included, and unsorted rows against the rows of a KITH_CSR list;
 * images, two sets, empty sets, fill values, arrays that the library grows; arguments that are
 * refused. Nothing is written behind the arrays.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "oracle.h"
#include "points.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5, ARRAYS = 5 };
enum { ALL_EXTRAS = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS };

/** One input, in one precision, with the oracle's full list. */
typedef struct trial {
    kith_ctx *ctx;
    const char *name;
    stored points, other;
    const kith_points *against; /**< NULL or &other.points */
    const kith_box *box;
    double cutoff;
    oracle_list full;
    int64_t widest; /**< neighbours of the particle with the most */
} trial;

/** Caller's arrays, each followed by GUARD bytes that must stay as they are. */
typedef struct room {
    unsigned char *memory[ARRAYS];
    size_t bytes[ARRAYS];
    kith_pairs list;
} room;

static room room_make(const trial *t, int64_t width, unsigned extras, int counted)
{
    room r;
    const size_t rows = (size_t)t->points.points.n, n = rows * (size_t)width;
    const size_t real = (size_t)t->points.points.precision;
    const size_t bytes[ARRAYS] = {rows * sizeof(int32_t), n * sizeof(int32_t),
                                  extras & KITH_DISTANCES ? n * real : 0,
                                  extras & KITH_VECTORS ? 3 * n * real : 0,
                                  extras & KITH_SHIFTS ? 3 * n * sizeof(int32_t) : 0};
    for (int a = 0; a < ARRAYS; a++) {
        r.bytes[a] = bytes[a];
        r.memory[a] = check_malloc(bytes[a] + GUARD);
        memset(r.memory[a], GUARD_BYTE, bytes[a] + GUARD);
    }
    r.list = (kith_pairs){.size = sizeof(kith_pairs),
                          .capacity = (int64_t)n,
                          .counts = counted ? (int32_t *)(void *)r.memory[0] : NULL,
                          .j = width > 0 ? (int32_t *)(void *)r.memory[1] : NULL,
                          .distances = r.memory[2], /* not wanted ones must not be written */
                          .vectors = r.memory[3],
                          .shifts = (int32_t *)(void *)r.memory[4]};
    return r;
}

static void room_free(const trial *t, room *r)
{
    int intact = 1;
    for (int a = 0; a < ARRAYS; a++) {
        for (size_t k = 0; k < GUARD; k++)
            intact &= r->memory[a][r->bytes[a] + k] == GUARD_BYTE;
        free(r->memory[a]);
    }
    CHECK(intact, "%s: wrote behind an array", t->name);
}

static double value_at(const void *array, int64_t index, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)array)[index]
                                   : ((const double *)array)[index];
}

/** Whether entry e of a list is this pair; NULL: an entry without a neighbour. */
static int is_entry(const trial *t, const kith_pairs_options *o, const kith_pairs *list, int64_t e,
                    const oracle_pair *pair)
{
    const kith_precision precision = t->points.points.precision;
    int same = list->j[e] == (pair ? pair->j : o->fill);
    if (o->extras & KITH_DISTANCES)
        same &= value_at(list->distances, e, precision) ==
                (pair ? pair->distance : (double)INFINITY);
    for (int k = 0; k < 3; k++) {
        if (o->extras & KITH_VECTORS)
            same &= value_at(list->vectors, 3 * e + k, precision) == (pair ? pair->vector[k] : 0);
        if (o->extras & KITH_SHIFTS)
            same &= list->shifts[3 * e + k] == (pair ? pair->shift[k] : 0);
    }
    return same;
}

/** Check a list whose rows are sorted, with all of its entries and numbers. */
static void check_sorted(const trial *t, const kith_pairs_options *o, const kith_pairs *list,
                         int64_t width)
{
    const int64_t n = t->points.points.n;
    int64_t p = 0, overflowed = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = p;
        while (p < t->full.n && t->full.pairs[p].i == i)
            p++;
        overflowed += p - first > width;
        if (list->counts &&
            !CHECK(list->counts[i] == p - first, "%s: counts[%lld] is %d, expected %lld", t->name,
                   (long long)i, list->counts[i], (long long)(p - first)))
            return;
        for (int64_t k = 0; k < width; k++)
            if (!CHECK(is_entry(t, o, list, i * width + k,
                                first + k < p ? &t->full.pairs[first + k] : NULL),
                       "%s: width %lld: entry %lld of row %lld is j %d", t->name, (long long)width,
                       (long long)k, (long long)i, list->j[i * width + k]))
                return;
    }
    CHECK(list->n == t->full.n && list->rows == n && list->width == width &&
              list->widest == t->widest && list->overflowed == overflowed,
          "%s: %lld pairs, %lld rows of %lld, widest %lld, %lld overflowed; expected %lld, %lld, "
          "%lld, %lld, %lld",
          t->name, (long long)list->n, (long long)list->rows, (long long)list->width,
          (long long)list->widest, (long long)list->overflowed, (long long)t->full.n, (long long)n,
          (long long)width, (long long)t->widest, (long long)overflowed);
}

/** Whether two arrays have equal bytes. */
static int equal(const void *a, const void *b, int64_t n, size_t element)
{
    return n == 0 || memcmp(a, b, (size_t)n * element) == 0;
}

/** Check that the rows of a list begin with those of the KITH_CSR list. */
static void check_like_rows(const trial *t, const kith_pairs_options *o, const kith_pairs *list,
                            const kith_pairs *csr)
{
    const size_t real = (size_t)t->points.points.precision;
    for (int64_t i = 0; i < csr->rows; i++) {
        const int64_t at = csr->offsets[i], count = csr->offsets[i + 1] - at;
        const int64_t kept = count < list->width ? count : list->width, e = i * list->width;
        int same = equal(list->j + e, csr->j + at, kept, sizeof *list->j);
        if (o->extras & KITH_DISTANCES)
            same &= equal((const char *)list->distances + (size_t)e * real,
                          (const char *)csr->distances + (size_t)at * real, kept, real);
        if (o->extras & KITH_VECTORS)
            same &= equal((const char *)list->vectors + 3 * (size_t)e * real,
                          (const char *)csr->vectors + 3 * (size_t)at * real, kept, 3 * real);
        if (o->extras & KITH_SHIFTS)
            same &= equal(list->shifts + 3 * e, csr->shifts + 3 * at, kept, 12);
        for (int64_t k = kept; k < list->width; k++)
            same &= is_entry(t, o, list, e + k, NULL);
        if (!CHECK(same && (!list->counts || list->counts[i] == count),
                   "%s: row %lld differs from that of the KITH_CSR list", t->name, (long long)i))
            return;
    }
    CHECK(list->n == csr->n && list->widest == t->widest, "%s: %lld pairs, widest %lld", t->name,
          (long long)list->n, (long long)list->widest);
}

static kith_pairs_options options_of(const trial *t, int sorted, unsigned extras, int64_t width,
                                     int32_t fill)
{
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    CHECK(o.fill == -1 && o.width == 0, "defaults: fill %d, width %lld", o.fill,
          (long long)o.width);
    o.against = t->against;
    o.layout = KITH_MATRIX;
    o.sorted = sorted;
    o.extras = extras;
    o.width = width;
    o.fill = fill;
    return o;
}

/** Fill the caller's arrays of one width. */
static void check_fill(const trial *t, int sorted, unsigned extras, int64_t width, int32_t fill,
                       const kith_pairs *csr)
{
    const kith_pairs_options o = options_of(t, sorted, extras, width, fill);
    room r = room_make(t, width, extras, fill != 7);
    const kith_status status = kith_pairs_fill(t->ctx, &t->points.points, t->box, t->cutoff, &o,
                                               &r.list);
    const kith_status expected = t->widest > width ? KITH_CAPACITY : KITH_OK;
    if (CHECK(status == expected, "%s: width %lld of %lld: %s: %s", t->name, (long long)width,
              (long long)t->widest, kith_status_name(status), kith_message(t->ctx))) {
        if (sorted)
            check_sorted(t, &o, &r.list, width);
        else
            check_like_rows(t, &o, &r.list, csr);
    }
    if (status == KITH_CAPACITY)
        CHECK(strstr(kith_message(t->ctx), "rows have more than") != NULL, "%s",
              kith_message(t->ctx));
    room_free(t, &r);
}

/** Let the library make the arrays: of this width at least.
 *  @param list  zeroed, or of an earlier call */
static void check_find(const trial *t, int sorted, unsigned extras, int64_t width,
                       const kith_pairs *csr, kith_pairs *list)
{
    const kith_pairs_options o = options_of(t, sorted, extras, width, -1);
    const kith_status status = kith_pairs_find(t->ctx, &t->points.points, t->box, t->cutoff, &o,
                                               list);
    const int64_t expected = width > t->widest ? width : t->widest;
    if (!CHECK(status == KITH_OK && list->width == expected && list->overflowed == 0,
               "%s: %s: %s: width %lld, expected %lld", t->name, kith_status_name(status),
               kith_message(t->ctx), (long long)list->width, (long long)expected))
        return;
    if (sorted)
        check_sorted(t, &o, list, expected);
    else
        check_like_rows(t, &o, list, csr);
}

static void check_trial(trial *t)
{
    kith_pairs list = {.size = sizeof list};
    const unsigned extras[] = {0, ALL_EXTRAS, KITH_DISTANCES, KITH_VECTORS, KITH_SHIFTS};
    const int64_t widest = t->widest, n = t->points.points.n;
    const int64_t widths[] = {0, 1, widest / 2, widest > 0 ? widest - 1 : 0, widest, widest + 5};
    for (int sorted = 0; sorted < 2; sorted++)
        for (int e = 0; e < 5; e++) {
            kith_pairs csr = {0};
            kith_pairs_options o = options_of(t, sorted, extras[e], 0, -1);
            int64_t counted = -1;
            CHECK(kith_pairs_count(t->ctx, &t->points.points, t->box, t->cutoff, &o, &counted,
                                   NULL) == KITH_OK &&
                      counted == t->full.n,
                  "%s: %lld pairs counted, expected %lld: %s", t->name, (long long)counted,
                  (long long)t->full.n, kith_message(t->ctx));
            o.layout = KITH_CSR;
            o.full = 1;
            CHECK(kith_pairs_find(t->ctx, &t->points.points, t->box, t->cutoff, &o, &csr) ==
                      KITH_OK,
                  "%s: %s", t->name, kith_message(t->ctx));
            for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
                check_fill(t, sorted, extras[e], widths[w], w % 2 ? (int32_t)n : -1, &csr);
            check_fill(t, sorted, extras[e], widest + 1, 7, &csr);
            check_find(t, sorted, extras[e], 0, &csr, &list);
            check_find(t, sorted, extras[e], widest / 2, &csr, &list);
            check_find(t, sorted, extras[e], widest + 3, &csr, &list);
            kith_pairs_free(&csr);
        }
    kith_pairs_free(&list);
}

/** Check an input in both precisions. */
static void check_case_of(kith_ctx *ctx, const char *name, const double *xyz, int64_t n,
                          const double *against, int64_t m, const kith_box *box, double cutoff)
{
    static int turn;
    for (int p = 0; p < 2; p++) {
        const kith_precision precision = p ? KITH_DOUBLE : KITH_FLOAT;
        trial t = {.ctx = ctx, .name = name, .box = box, .cutoff = cutoff};
        t.points = stored_make(xyz, n, precision, (layout)(turn++ % LAYOUTS));
        t.other = stored_make(against, against ? m : 0, precision, (layout)(turn % LAYOUTS));
        t.against = against ? &t.other.points : NULL;
        t.full = oracle_full(&t.points.points, t.against, box, cutoff);
        for (int64_t e = 0, first = 0; e < t.full.n; e++) {
            first = t.full.pairs[e].i != t.full.pairs[first].i ? e : first;
            t.widest = e - first + 1 > t.widest ? e - first + 1 : t.widest;
        }
        check_trial(&t);
        oracle_free(&t.full);
        stored_free(&t.other);
        stored_free(&t.points);
    }
}

static void check_cases(kith_ctx *ctx)
{
    rng r = {31};
    const kith_box brick = kith_box_periodic(1.0, 1.25, 0.75);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    kith_box plane = kith_box_triclinic(1.0, 0.9, 0.0, 0.4, 0.0, 0.0);
    plane.dim = 2;
    double *a = points_in_box(&r, 700, &brick), *b = points_in_box(&r, 90, &brick);
    check_case_of(ctx, "open", a, 700, NULL, 0, NULL, 0.11);
    check_case_of(ctx, "periodic", a, 700, NULL, 0, &brick, 0.11);
    check_case_of(ctx, "no neighbours", a, 700, NULL, 0, &brick, 1e-6);
    check_case_of(ctx, "many neighbours", a, 150, NULL, 0, &brick, 0.6);
    check_case_of(ctx, "two sets", a, 700, b, 90, &brick, 0.2);
    check_case_of(ctx, "two sets, the other larger", b, 90, a, 700, NULL, 0.2);
    check_case_of(ctx, "two sets, one empty", a, 40, b, 0, &brick, 0.2);
    check_case_of(ctx, "no particles", a, 0, NULL, 0, &brick, 0.2);
    check_case_of(ctx, "no particles, two sets", a, 0, b, 90, &brick, 0.2);
    check_case_of(ctx, "one particle", a, 1, NULL, 0, NULL, 0.2);
    check_case_of(ctx, "images of few particles", a, 3, NULL, 0, &brick, 3.1);
    points_drift(&r, a, 700, &brick, 2);
    check_case_of(ctx, "outside the box", a, 700, NULL, 0, &brick, 0.12);
    free(a);
    free(b);
    a = points_in_box(&r, 300, &cell);
    points_drift(&r, a, 300, &cell, 2);
    check_case_of(ctx, "triclinic", a, 300, NULL, 0, &cell, 0.21);
    check_case_of(ctx, "triclinic, images", a, 20, NULL, 0, &cell, 1.3);
    free(a);
    a = points_in_box(&r, 300, &plane);
    check_case_of(ctx, "plane", a, 300, NULL, 0, &plane, 0.1);
    free(a);
    a = points_clustered(&r, 900, 4, 1.0, 0.01);
    check_case_of(ctx, "clustered", a, 900, NULL, 0, NULL, 0.01);
    for (int k = 0; k < 3 * 900; k++)
        a[k] = 0.25 * (k % 3);
    check_case_of(ctx, "coincident", a, 600, NULL, 0, NULL, 0.01); /* rows of more than 512 */
    free(a);
}

/** The bits of a list do not depend on threads. */
static void check_threads(const char *backend)
{
    rng r = {32};
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, 6000, &box);
    const kith_points points = kith_points_packed(xyz, 6000, KITH_DOUBLE);
    kith_ctx *ctx[2] = {check_open(backend, 1), check_open(backend, 3)};
    kith_pairs list[2] = {{.size = sizeof *list}, {.size = sizeof *list}};
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.layout = KITH_MATRIX;
    o.width = 40;
    o.extras = ALL_EXTRAS;
    for (int k = 0; k < 2; k++)
        CHECK(kith_pairs_find(ctx[k], &points, &box, 0.09, &o, &list[k]) == KITH_OK, "%s",
              kith_message(ctx[k]));
    const int64_t n = list[0].rows * list[0].width;
    CHECK(n > 0 && list[0].width == list[1].width && equal(list[0].j, list[1].j, n, 4) &&
              equal(list[0].counts, list[1].counts, list[0].rows, 4) &&
              equal(list[0].distances, list[1].distances, n, 8) &&
              equal(list[0].vectors, list[1].vectors, n, 24) &&
              equal(list[0].shifts, list[1].shifts, n, 12),
          "1 and 3 threads differ");
    for (int k = 0; k < 2; k++) {
        kith_pairs_free(&list[k]);
        kith_close(ctx[k]);
    }
    free(xyz);
}

static int no_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)user, (void)block, (void)first;
    return 0;
}

/** Arguments that make no sense. */
static void check_arguments(kith_ctx *ctx)
{
    double xyz[4][3] = {{0, 0, 0}, {0.1, 0, 0}, {0.2, 0, 0}, {(double)NAN, 0, 0}};
    kith_points points = kith_points_packed(xyz, 3, KITH_DOUBLE);
    int32_t j[12], counts[4];
    kith_pairs_options o;
    kith_pairs_options_init(&o);
    o.layout = KITH_MATRIX;
    o.width = 2;
    const kith_pairs good = {.size = sizeof good, .j = j, .counts = counts, .capacity = 6};
    kith_pairs list = good;
#define FILL() kith_pairs_fill(ctx, &points, NULL, 1, &o, &list)
#define REFUSED(text) \
    CHECK(FILL() == KITH_INVALID && strstr(kith_message(ctx), text) != NULL && list.n == 0, "%s", \
          kith_message(ctx)); \
    list = good
    CHECK(FILL() == KITH_OK && list.n == 6 && list.widest == 2, "%s", kith_message(ctx));
    list = good;
    list.size = 0;
    REFUSED("set it to sizeof(kith_pairs)");
    list.capacity = 5;
    REFUSED("out->capacity is 5");
    list.j = NULL;
    REFUSED("out->j is NULL");
    o.extras = KITH_VECTORS;
    REFUSED("out->vectors is NULL");
    o.extras = 0;
    o.width = -1;
    REFUSED("options.width is -1");
    o.width = (int64_t)1 << 31;
    REFUSED("options.width is 2147483648");
    o.width = 2;
    o.layout = (kith_layout)3;
    REFUSED("options.layout is 3");
    o.layout = KITH_MATRIX;
    CHECK(kith_pairs_each(ctx, &points, NULL, 1, &o, no_block, NULL) == KITH_INVALID &&
              strstr(kith_message(ctx), "KITH_MATRIX") != NULL,
          "%s", kith_message(ctx));
    kith_pairs old = {0};
    CHECK(kith_pairs_find(ctx, &points, NULL, 1, &o, &old) == KITH_INVALID, "%s",
          kith_message(ctx));
    kith_pairs_free(&old);
    points.n = 4;
    list.capacity = 8;
    CHECK(FILL() == KITH_NOT_FINITE && list.n == 0 && list.rows == 0, "%s", kith_message(ctx));
    points.n = 3;
#if !defined(__SANITIZE_ADDRESS__) && !defined(KITH_THREAD_SANITIZER) /* they end the program */
    kith_pairs made = {.size = sizeof made};
    o.width = INT32_MAX; /* 24 GB a row of everything: more than any address space with 10^6 */
    o.extras = ALL_EXTRAS;
    double *many = check_malloc(sizeof(double) * 3000000);
    memset(many, 0, sizeof(double) * 3000000);
    const kith_points crowd = kith_points_packed(many, 1000000, KITH_DOUBLE);
    CHECK(kith_pairs_find(ctx, &crowd, NULL, 1, &o, &made) == KITH_NO_MEMORY &&
              strstr(kith_message(ctx), "rows of 2147483647 neighbours") != NULL,
          "%s", kith_message(ctx));
    free(many);
    kith_pairs_free(&made);
#endif
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    check_cases(ctx);
    check_arguments(ctx);
    check_threads(backend);
    kith_close(ctx);
    return check_done();
}
