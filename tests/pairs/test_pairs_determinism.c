/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same arrays, order included, whatever the threads, the instruction set and the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 100000 };

typedef struct setting {
    const char *name;
    const double *xyz;
    const kith_box *box;
    double cutoff;
    kith_precision precision;
    kith_pairs_options options;
} setting;

static int same_array(const void *a, const void *b, size_t bytes)
{
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && memcmp(a, b, bytes) == 0);
}

static void compare(const setting *s, const char *with, const kith_pairs *a, const kith_pairs *b)
{
    const size_t n = (size_t)a->n, real = (size_t)s->precision;
    const unsigned extras = s->options.extras;
    if (!CHECK(a->n == b->n && a->rows == b->rows, "%s, %s: %lld pairs, then %lld", s->name, with,
               (long long)a->n, (long long)b->n))
        return;
    if (s->options.layout == KITH_IJ)
        CHECK(same_array(a->i, b->i, n * sizeof *a->i), "%s, %s: i differs", s->name, with);
    else
        CHECK(same_array(a->offsets, b->offsets, ((size_t)a->rows + 1) * sizeof *a->offsets),
              "%s, %s: offsets differ", s->name, with);
    CHECK(same_array(a->j, b->j, n * sizeof *a->j), "%s, %s: j differs", s->name, with);
    if (extras & KITH_DISTANCES)
        CHECK(same_array(a->distances, b->distances, n * real), "%s, %s: distances", s->name, with);
    if (extras & KITH_VECTORS)
        CHECK(same_array(a->vectors, b->vectors, 3 * n * real), "%s, %s: vectors", s->name, with);
    if (extras & KITH_SHIFTS)
        CHECK(same_array(a->shifts, b->shifts, 3 * n * sizeof *a->shifts), "%s, %s: shifts",
              s->name, with);
}

static kith_pairs found(const setting *s, kith_ctx *ctx, const kith_points *points)
{
    kith_pairs list = {0};
    const kith_status status = kith_pairs_find(ctx, points, s->box, s->cutoff, &s->options, &list);
    CHECK(status == KITH_OK, "%s: %s: %s", s->name, kith_status_name(status), kith_message(ctx));
    return list;
}

static void check_setting(const setting *s, const char *backend)
{
    stored points = stored_make(s->xyz, N, s->precision, LAYOUT_PACKED);
    /* unsorted lists have the order of the kind of backend */
    const int same_order = s->options.sorted || strncmp(backend, "cpu", 3) == 0;
    kith_ctx *plain = check_open(same_order ? "cpu:baseline" : backend, 1);
    kith_pairs first = found(s, plain, &points.points);
    CHECK(first.n > 0, "%s: no pairs", s->name);
    const int threads[] = {1, 2, 3, 7};
    for (int t = 0; t < 4; t++) {
        kith_ctx *ctx = check_open(backend, threads[t]);
        for (int run = check_brief(); run < 2; run++) {
            char with[64];
            snprintf(with, sizeof with, "%s, %d threads, run %d", backend, threads[t], run);
            kith_pairs list = found(s, ctx, &points.points);
            compare(s, with, &first, &list);
            kith_pairs_free(&list);
        }
        kith_close(ctx);
    }
    kith_pairs_free(&first);
    kith_close(plain);
    stored_free(&points);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 1));
    rng r = {6};
    const kith_box unit = kith_box_periodic(1.0, 1.0, 1.0);
    const kith_box cell = kith_box_triclinic(1.0, 0.9, 1.1, 0.4, -0.3, 0.2);
    double *uniform = points_in_box(&r, N, &unit);
    double *clustered = points_clustered(&r, N, 3000, 1.0, 0.01);
    const unsigned all = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    const kith_pairs_options half = {.size = sizeof half};
    const kith_pairs_options sorted = {.size = sizeof half, .sorted = 1, .extras = all};
    const kith_pairs_options csr = {
        .size = sizeof half, .full = 1, .layout = KITH_CSR, .extras = all};
    const setting settings[] = {
        {"open half", uniform, NULL, 0.03, KITH_DOUBLE, half},
        {"open half", uniform, NULL, 0.03, KITH_FLOAT, half},
        {"clusters, sorted", clustered, NULL, 0.01, KITH_DOUBLE, sorted},
        {"clusters, half", clustered, &unit, 0.01, KITH_FLOAT, half},
        {"cell, sorted", uniform, &cell, 0.025, KITH_FLOAT, sorted},
        {"cell, CSR", uniform, &cell, 0.025, KITH_DOUBLE, csr},
        {"box, CSR", uniform, &unit, 0.025, KITH_FLOAT, csr},
    };
    for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++)
        check_setting(&settings[s], backend);
    free(clustered);
    free(uniform);
    return check_done();
}
