/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours of sets that are large enough for all threads: uniform, clustered, a shell
 * around a distant dense cluster, planes, all points equal. They are those of the pair list, and
 * equal on any number of threads. Then particles at one place, which must cost no more than others,
 * what a call refuses, and what it leaves.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "points.h"

enum { K = 12 };

/** A dense cluster of half of the points, and a shell of the others 10^8 times as wide. */
static double *make_shell(rng *r, int64_t n)
{
    double *xyz = check_malloc(3 * (size_t)n * sizeof *xyz);
    for (int64_t p = 0; p < n; p++) {
        double v[3], length = 0;
        for (int m = 0; m < 3; m++) {
            v[m] = rng_normal(r);
            length += v[m] * v[m];
        }
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = p % 2 ? 1e-7 * v[m] : 10 * v[m] / sqrt(length);
        }
    }
    return xyz;
}

/** Points on few planes, so that coordinates are equal along one axis. */
static double *make_planes(rng *r, int64_t n)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    double *xyz = points_uniform(r, n, lo, hi);
    for (int64_t p = 0; p < n; p++) {
        xyz[3 * p + p % 3] = 0.25 * (double)(p % 4);
    }
    return xyz;
}

static double *make_equal(int64_t n)
{
    double *xyz = check_malloc(3 * (size_t)n * sizeof *xyz);
    for (int64_t p = 0; p < 3 * n; p++) {
        xyz[p] = 0.5;
    }
    return xyz;
}

static double r2_of(const kith_pairs *list, int64_t p)
{
    const double d = ((const double *)list->distances)[p];
    return d;
}

static const kith_pairs *sorted_list; /* qsort has no argument for it */

static int by_distance(const void *a, const void *b)
{
    const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
    const double d = r2_of(sorted_list, p), e = r2_of(sorted_list, q);
    return d != e ? (d < e ? -1 : 1) : p < q ? -1 : p > q; /* the list is sorted by j, then S */
}

/** Check the neighbours within a cutoff against the sorted full list. Distances stand for their
 *  squares: two neighbours whose distances are equal by rounding may be in either order. */
static void check_by_list(kith_ctx *ctx, const char *name, const kith_points *points,
                          const kith_box *box, double cutoff, const kith_nearest *got)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.full = options.sorted = 1;
    options.layout = KITH_CSR;
    options.extras = KITH_DISTANCES;
    kith_pairs list = {.size = sizeof list};
    if (!CHECK(kith_pairs_find(ctx, points, box, cutoff, &options, &list) == KITH_OK, "%s: %s",
               name, kith_message(ctx))) {
        return;
    }
    sorted_list = &list;
    int64_t *order = check_malloc((size_t)(list.n + 1) * sizeof *order);
    for (int64_t i = 0; i < points->n; i++) {
        const int64_t first = list.offsets[i], n = list.offsets[i + 1] - first;
        for (int64_t e = 0; e < n; e++) {
            order[e] = first + e;
        }
        qsort(order, (size_t)n, sizeof *order, by_distance);
        CHECK(got->counts[i] == (n < K ? n : K), "%s: %d neighbours of %lld, the list has %lld",
              name, got->counts[i], (long long)i, (long long)n);
        for (int64_t e = 0; e < got->counts[i]; e++) {
            const double d = ((const double *)got->distances)[K * i + e];
            const bool tie = (e > 0 && r2_of(&list, order[e - 1]) == d) ||
                             (e + 1 < n && r2_of(&list, order[e + 1]) == d);
            CHECK(d == r2_of(&list, order[e]) && (tie || got->j[K * i + e] == list.j[order[e]]),
                  "%s: neighbour %lld of %lld is %d at %.17g, expected %d at %.17g", name,
                  (long long)e, (long long)i, got->j[K * i + e], d, list.j[order[e]],
                  r2_of(&list, order[e]));
        }
    }
    free(order);
    kith_pairs_free(&list);
}

/** Check a set: with a cutoff against the list; without one, that the nearest are those with a
 *  cutoff where these are enough, that rows ascend, and that threads do not matter. */
static void check_set(const char *backend, const char *name, const double *xyz, int64_t n,
                      const kith_box *box, double cutoff)
{
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_nearest within = {.size = sizeof within}, any = {.size = sizeof any};
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.extras = KITH_DISTANCES;
    int32_t *j = check_malloc(K * (size_t)n * sizeof *j);
    for (int threads = 1; threads <= 5; threads += 2) {
        kith_ctx *ctx = check_open(backend, threads);
        options.cutoff = 0;
        CHECK(kith_nearest_find(ctx, &points, box, K, &options, &any) == KITH_OK, "%s: %s", name,
              kith_message(ctx));
        CHECK(threads == 1 || memcmp(j, any.j, K * (size_t)n * sizeof *j) == 0,
              "%s: %d threads differ", name, threads);
        memcpy(j, any.j, K * (size_t)n * sizeof *j);
        options.cutoff = cutoff;
        CHECK(kith_nearest_find(ctx, &points, box, K, &options, &within) == KITH_OK, "%s: %s", name,
              kith_message(ctx));
        if (threads == 1) {
            check_by_list(ctx, name, &points, box, cutoff, &within);
        }
        kith_close(ctx);
    }
    const double *distance = any.distances;
    for (int64_t i = 0; i < n; i++) {
        CHECK(memcmp(any.j + K * i, within.j + K * i, (size_t)within.counts[i] * sizeof *j) == 0,
              "%s: neighbours of %lld depend on the cutoff", name, (long long)i);
        for (int64_t e = K * i + 1; e < K * (i + 1); e++) {
            CHECK(distance[e] >= distance[e - 1], "%s: row %lld does not ascend", name,
                  (long long)i);
        }
        CHECK(any.counts[i] == (n - 1 < K && !box ? n - 1 : K), "%s: %d neighbours of %lld", name,
              any.counts[i], (long long)i);
    }
    free(j);
    kith_nearest_free(&within);
    kith_nearest_free(&any);
}

static void check_sets(const char *backend)
{
    rng r = {5};
    const int64_t n = check_brief() ? 20000 : 60000;
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_box skewed = kith_box_triclinic(1, 0.9, 1.1, 0.8, -0.7, 0.6);
    struct {
        const char *name;
        double *xyz;
        int64_t n;
        const kith_box *box;
        double cutoff;
    } sets[] = {{"uniform", points_uniform(&r, n, lo, hi), n, &box, 0.05},
                {"uniform, open", points_uniform(&r, n, lo, hi), n, NULL, 0.05},
                {"skewed", points_in_box(&r, n, &skewed), n, &skewed, 0.05},
                {"clustered", points_clustered(&r, n, 20, 1, 1e-4), n, &box, 2e-5},
                {"shell", make_shell(&r, n), n, NULL, 2e-8},
                {"planes", make_planes(&r, n), n, NULL, 0.02},
                {"equal", make_equal(1000), 1000, &box, 0.1}};
    for (int s = 0; s < (int)(sizeof sets / sizeof *sets); s++) {
        check_set(backend, sets[s].name, sets[s].xyz, sets[s].n, sets[s].box, sets[s].cutoff);
        free(sets[s].xyz);
    }
}

/** Points at `places` random places, or each at its own when it is 0; of those with an odd index,
 *  if `half`, else of all. */
static double *make_places(rng *r, int64_t n, int64_t places, bool half)
{
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    double *place = points_uniform(r, places, lo, hi), *xyz = points_uniform(r, n, lo, hi);
    for (int64_t p = 0; p < n && places > 0; p++) {
        if (!half || p % 2) {
            memcpy(xyz + 3 * p, place + 3 * rng_below(r, places), 3 * sizeof *xyz);
        }
    }
    free(place);
    return xyz;
}

/** Check the neighbours of particles that coincide with more than K particles of b: those with the
 *  smallest indices. @param one_set  a is b, and a particle is not its own neighbour */
static void check_ties(const char *name, const double *a, const double *b, int64_t n, bool one_set,
                       const kith_nearest *got)
{
    for (int64_t i = 1; i < n; i += 61) {
        int64_t e = 0;
        for (int64_t j = 0; j < n && e < K; j++) {
            if ((j != i || !one_set) && memcmp(a + 3 * i, b + 3 * j, 3 * sizeof *a) == 0) {
                const int64_t at = K * i + e++;
                CHECK(got->j[at] == j && ((const double *)got->distances)[at] == 0,
                      "%s: neighbour %lld of %lld is %d at %g, expected %lld at 0", name,
                      (long long)(at - K * i), (long long)i, got->j[at],
                      ((const double *)got->distances)[at], (long long)j);
            }
        }
    }
}

/** Check that candidates that coincide at the distance of the cutoff are all found, though a list
 *  that is not full has room for larger indices. */
static void check_at_cutoff(kith_ctx *ctx)
{
    enum { M = 200, MANY = 150 };
    double zero[3] = {0, 0, 0}, far[3 * M] = {0};
    for (int p = 0; p < M; p++) {
        far[3 * p] = 0.5;
    }
    const kith_points a = kith_points_packed(zero, 1, KITH_DOUBLE);
    const kith_points b = kith_points_packed(far, M, KITH_DOUBLE);
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.against = &b;
    options.cutoff = 0.5;
    kith_nearest out = {.size = sizeof out};
    CHECK(kith_nearest_find(ctx, &a, NULL, MANY, &options, &out) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(out.counts[0] == MANY, "%d neighbours at the cutoff", out.counts[0]);
    for (int e = 0; e < MANY; e++) {
        CHECK(out.j[e] == e, "neighbour %d at the cutoff is %d", e, out.j[e]);
    }
    kith_nearest_free(&out);
}

/** Return the processor's time of a search [s]. */
static double time_search(kith_ctx *ctx, const char *name, const kith_points *points,
                          const kith_points *against, const kith_box *box, kith_nearest *out)
{
    struct timespec start, end;
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.against = against;
    options.extras = KITH_DISTANCES;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    CHECK(kith_nearest_find(ctx, points, box, K, &options, out) == KITH_OK, "%s: %s", name,
          kith_message(ctx));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

/** Check that particles at one place, or at few, take at most MOST times as long as uniform ones,
 *  or more where a tool slows the test down. If each were compared with all others, they would take
 *  a hundred times as long and more. */
static void check_coincident(const char *backend)
{
    enum { MOST = 12 };
    const int64_t n = check_brief() ? 40001 : 80001;
    const int most = MOST * check_patience();
    const kith_box box = kith_box_periodic(1, 1, 1);
    const struct {
        const char *name;
        int64_t places,
            against; /* places of the sets; 0: each its own; -1: there is no other set */
        bool half;
        const kith_box *box;
    } cases[] = {{"uniform", 0, -1, false, &box},
                 {"one place", 1, -1, false, NULL},
                 {"one place, periodic", 1, -1, false, &box},
                 {"half at one place", 1, -1, true, &box},
                 {"two places", 2, -1, false, NULL},
                 {"uniform beside one place", 0, 1, false, NULL},
                 {"uniform beside one place, periodic", 0, 1, false, &box},
                 {"one place beside uniform", 1, 0, false, &box},
                 {"half at three places beside one", 3, 1, true, NULL}};
    kith_ctx *ctx = check_open(backend, 1);
    kith_nearest out = {.size = sizeof out};
    double uniform = 0;
    const bool on_cpu = strncmp(backend, "cpu", 3) == 0;
    for (int c = 0; c < (int)(sizeof cases / sizeof *cases); c++) {
        if (!on_cpu && cases[c].against > 0) {
            continue; /* a GPU compares all that coincide with particles elsewhere */
        }
        rng r = {11};
        double *xyz = make_places(&r, n, cases[c].places, cases[c].half);
        r = (rng){11};
        double *other = make_places(&r, n, cases[c].against < 0 ? 0 : cases[c].against, false);
        const bool one_set = cases[c].against < 0;
        const kith_points a = kith_points_packed(xyz, n, KITH_DOUBLE);
        const kith_points b = kith_points_packed(other, n, KITH_DOUBLE);
        const double seconds = time_search(ctx, cases[c].name, &a, one_set ? NULL : &b,
                                           cases[c].box, &out);
        uniform = c == 0 ? seconds : uniform;
        CHECK(seconds < most * uniform, "%s: %.3f s, expected %d times the %.3f s of uniform ones",
              cases[c].name, seconds, most, uniform);
        if (cases[c].places > 0 && cases[c].against != 0) {
            check_ties(cases[c].name, xyz, one_set ? xyz : other, n, one_set, &out);
        }
        free(xyz);
        free(other);
    }
    kith_nearest_free(&out);
    kith_close(ctx);
}

/** Check that filled arrays have what was found, and that only those asked for are written. */
static void check_fill(kith_ctx *ctx)
{
    rng r = {9};
    const double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    double *xyz = points_uniform(&r, 500, lo, hi);
    const kith_points points = kith_points_packed(xyz, 500, KITH_DOUBLE);
    kith_nearest found = {.size = sizeof found};
    int32_t j[500 * K], counts[500];
    double distances[500 * K];
    memset(distances, 0xff, sizeof distances);
    kith_nearest out = {.size = sizeof out, .j = j, .counts = counts, .distances = distances};
    CHECK(kith_nearest_find(ctx, &points, NULL, K, NULL, &found) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(!found.distances && !found.vectors && !found.shifts, "arrays that nobody asked for");
    CHECK(kith_nearest_fill(ctx, &points, NULL, K, NULL, &out) == KITH_OK, "%s", kith_message(ctx));
    CHECK(out.rows == 500 && out.k == K && memcmp(j, found.j, sizeof j) == 0 &&
              memcmp(counts, found.counts, sizeof counts) == 0,
          "filled and found differ");
    CHECK(isnan(distances[0]) && isnan(distances[500 * K - 1]), "distances were written");
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.extras = KITH_DISTANCES;
    out.counts = NULL;
    CHECK(kith_nearest_fill(ctx, &points, NULL, K, &options, &out) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(distances[0] > 0 && distances[500 * K - 1] < 1, "distances were not written");
    kith_nearest_free(&found);
    free(xyz);
}

/** Check one refusal: its status, a word of its message, and an empty result. */
static void check_refused(kith_ctx *ctx, const kith_points *points, const kith_box *box, int64_t k,
                          const kith_nearest_options *options, kith_nearest *out,
                          kith_status expected, const char *word)
{
    const kith_status status = kith_nearest_find(ctx, points, box, k, options, out);
    CHECK(status == expected && strstr(kith_message(ctx), word), "%s: %s, expected %s with \"%s\"",
          kith_status_name(status), kith_message(ctx), kith_status_name(expected), word);
    CHECK(!out || out->rows == 0, "%s: rows is %lld", word, (long long)out->rows);
}

static void check_refusals(kith_ctx *ctx)
{
    double xyz[6] = {0.1, 0.2, 0.3, 0.7, 0.8, 0.9};
    const kith_points points = kith_points_packed(xyz, 2, KITH_DOUBLE);
    const kith_points one = kith_points_packed(xyz, 1, KITH_DOUBLE);
    kith_points single = kith_points_packed(xyz, 1, KITH_FLOAT);
    kith_box line = kith_box_periodic(1, 1, 1);
    line.periodic[1] = line.periodic[2] = 0;
    kith_nearest out = {.size = sizeof out};
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    check_refused(ctx, &points, NULL, 0, NULL, &out, KITH_INVALID, "k is 0");
    check_refused(ctx, &points, NULL, -3, NULL, &out, KITH_INVALID, "k is -3");
    check_refused(ctx, &points, NULL, (int64_t)1 << 31, NULL, &out, KITH_LIMIT, "2^31");
    check_refused(ctx, NULL, NULL, 1, NULL, &out, KITH_INVALID, "points is NULL");
    check_refused(ctx, &points, NULL, 1, NULL, NULL, KITH_INVALID, "out");
    check_refused(ctx, &one, &line, 1001, NULL, &out, KITH_LIMIT, "500 boxes");
    options.extras = 8;
    check_refused(ctx, &points, NULL, 1, &options, &out, KITH_INVALID, "options.extras");
    options.extras = 0;
    options.cutoff = -1;
    check_refused(ctx, &points, NULL, 1, &options, &out, KITH_INVALID, "cutoff");
    options.cutoff = (double)NAN;
    check_refused(ctx, &points, NULL, 1, &options, &out, KITH_INVALID, "cutoff");
    options.cutoff = 0;
    options.against = &single;
    check_refused(ctx, &points, NULL, 1, &options, &out, KITH_INVALID, "precision");
    xyz[4] = (double)NAN;
    check_refused(ctx, &points, NULL, 1, NULL, &out, KITH_NOT_FINITE, "particle 1");
    int32_t j[1000];
    kith_nearest own = {.size = sizeof own, .j = j};
    check_refused(ctx, &one, NULL, 1, NULL, &own, KITH_INVALID, "not the library's");
    CHECK(kith_nearest_fill(ctx, &one, &line, 1000, NULL, &own) == KITH_OK && j[0] == 0 &&
              j[999] == 0,
          "%s", kith_message(ctx));
    own.j = NULL;
    CHECK(kith_nearest_fill(ctx, &one, NULL, 1, NULL, &own) == KITH_INVALID && own.rows == 0,
          "j is NULL");
    kith_nearest_free(&out);
    kith_nearest_free(NULL);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    check_sets(backend);
    check_coincident(backend);
    kith_ctx *ctx = check_open(backend, 2);
    check_at_cutoff(ctx);
    check_fill(ctx);
    check_refusals(ctx);
    kith_close(ctx);
    return check_done();
}
