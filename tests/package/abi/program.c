/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A program of version 0.1: abi.sh compiles it with the headers of that version, links it with a
 * library that has the names of that version, and runs it with today's. Each struct is followed by
 * bytes that the library must leave alone, and its padding is not 0.
 */
#include <kith.h>
#include <kith_debye.h>
#include <kith_overlap.h>
#include <kith_waves.h>
#include <stdio.h>
#include <string.h>

enum { N = 64, GUARD = 64, BYTE = 0xa5 };

static int faults;

#define CHECK(condition, ...) \
    do { \
        if (!(condition)) { \
            printf("%d: ", __LINE__); \
            printf(__VA_ARGS__); \
            printf("\n"); \
            faults++; \
        } \
    } while (0)

/** A struct of a type, and guarded bytes behind it. */
#define GUARDED(type) \
    struct { \
        type of; \
        unsigned char guard[GUARD]; \
    }

#define PREPARE(guarded) memset(&(guarded), BYTE, sizeof(guarded))

static void check_guard(const unsigned char *guard, const char *name)
{
    for (int k = 0; k < GUARD; k++) {
        CHECK(guard[k] == BYTE, "%s: the library wrote to byte %d behind the struct", name, k);
    }
}

static double xyz[N][3], wave[2];
static kith_ctx *ctx;
static kith_points points;
static kith_box box;

/** The init call of a type sets its size to that of version 0.1, and writes no further. */
#define CHECK_INIT(type, init) \
    do { \
        GUARDED(type) made; \
        PREPARE(made); \
        init(&made.of); \
        CHECK(made.of.size == sizeof made.of, #init " sets size %zu", made.of.size); \
        check_guard(made.guard, #type); \
    } while (0)

static void check_options(void)
{
    CHECK_INIT(kith_options, kith_options_init);
    CHECK_INIT(kith_pairs_options, kith_pairs_options_init);
    CHECK_INIT(kith_fof_options, kith_fof_options_init);
    CHECK_INIT(kith_halo_input, kith_halo_input_init);
    CHECK_INIT(kith_rdf_options, kith_rdf_options_init);
    CHECK_INIT(kith_waves, kith_waves_init);
    CHECK_INIT(kith_debye_options, kith_debye_options_init);
    CHECK_INIT(kith_overlap_options, kith_overlap_options_init);
    CHECK_INIT(kith_flock_options, kith_flock_options_init);
}

static void check_pairs(void)
{
    GUARDED(kith_pairs) list;
    static int32_t i[N * N], j[N * N];
    PREPARE(list);
    list.of.n = list.of.rows = 0;
    list.of.i = i;
    list.of.j = j;
    list.of.offsets = NULL;
    list.of.distances = list.of.vectors = list.of.shifts = NULL;
    list.of.capacity = N * N;
    list.of.memory = KITH_HOST;
    list.of.owner = NULL;
    CHECK(kith_pairs_fill(ctx, &points, &box, 1, NULL, &list.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(list.of.n == 3 * N, "%lld pairs, expected %d", (long long)list.of.n, 3 * N);
    check_guard(list.guard, "kith_pairs");

    list.of.i = list.of.j = NULL;
    list.of.capacity = 0;
    CHECK(kith_pairs_find(ctx, &points, &box, 1, NULL, &list.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(list.of.n == 3 * N, "%lld pairs, expected %d", (long long)list.of.n, 3 * N);
    kith_pairs_free(&list.of);
    CHECK(!list.of.owner && !list.of.j, "kith_pairs_free leaves arrays");
    check_guard(list.guard, "kith_pairs");
}

static void check_groups(void)
{
    GUARDED(kith_groups) groups;
    GUARDED(kith_halos) halos;
    PREPARE(groups);
    PREPARE(halos);
    groups.of.n = groups.of.points = halos.of.n = 0;
    groups.of.labels = NULL;
    groups.of.members = NULL;
    groups.of.owner = halos.of.owner = NULL;
    groups.of.memory = halos.of.memory = KITH_HOST;
    halos.of.halo = NULL;
    CHECK(kith_fof_find(ctx, &points, &box, 1, NULL, &groups.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(groups.of.n == 1 && groups.of.members[0] == N, "%lld groups", (long long)groups.of.n);
    CHECK(kith_halos_measure(ctx, &points, &box, &groups.of, NULL, &halos.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(halos.of.n == 1 && halos.of.halo[0].members == N, "%lld halos", (long long)halos.of.n);
    check_guard(groups.guard, "kith_groups");
    check_guard(halos.guard, "kith_halos");
    kith_halos_free(&halos.of);
    kith_groups_free(&groups.of);
    CHECK(!halos.of.halo && !halos.of.owner && !groups.of.owner, "arrays are left");
    check_guard(groups.guard, "kith_groups");
    check_guard(halos.guard, "kith_halos");
}

static void check_sums(void)
{
    GUARDED(kith_histogram) histogram;
    PREPARE(histogram);
    histogram.of.edges = NULL;
    histogram.of.counts = NULL;
    histogram.of.owner = NULL;
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.bins = 1;
    options.r_max = 1.5;
    CHECK(kith_rdf_count(ctx, &points, &box, &options, &histogram.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(histogram.of.counts && histogram.of.counts[0] == 9 * N, "other counts");
    kith_histogram_free(&histogram.of);
    check_guard(histogram.guard, "kith_histogram");

    GUARDED(kith_overlaps) overlaps;
    PREPARE(overlaps);
    overlaps.of.owner = NULL;
    kith_replicas replicas = {
        .n = N, .dim = 3, .values = xyz, .stride = 3, .type = (int)KITH_DOUBLE};
    kith_overlap_options measure;
    kith_overlap_options_init(&measure);
    measure.measure = KITH_PRODUCT;
    CHECK(kith_overlap_count(ctx, &replicas, &measure, &overlaps.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(overlaps.of.pairs == N * (N - 1) / 2, "%lld pairs", (long long)overlaps.of.pairs);
    kith_overlaps_free(&overlaps.of);
    check_guard(overlaps.guard, "kith_overlaps");

    const int32_t hkl[] = {4, 0, 0};
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = 1;
    waves.hkl = hkl;
    CHECK(kith_waves_sum(ctx, &points, &box, &waves, wave) == KITH_OK, "%s", kith_message(ctx));
    CHECK(wave[0] > N - 1e-9, "the sum over a wave is %g, expected %d", wave[0], N);
}

static void check_flock(void)
{
    GUARDED(kith_flock_measures) measures;
    PREPARE(measures);
    kith_flock *flock = NULL;
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.separation.radius = options.alignment.radius = options.cohesion.radius = 1.5;
    CHECK(kith_flock_open(ctx, &points, &points, &box, &options, &flock) == KITH_OK &&
              kith_flock_step(flock, 1) == KITH_OK &&
              kith_flock_measure(flock, &measures.of) == KITH_OK,
          "%s", kith_message(ctx));
    CHECK(measures.of.neighbours > 0, "%g neighbours", measures.of.neighbours);
    check_guard(measures.guard, "kith_flock_measures");
    kith_flock_close(flock);
}

int main(void)
{
    for (int p = 0; p < N; p++) { /* a lattice of spacing 1 in a periodic box of 4 */
        xyz[p][0] = p % 4;
        xyz[p][1] = p / 4 % 4;
        xyz[p][2] = p / 16;
    }
    kith_options options;
    kith_options_init(&options);
    options.backend = "cpu";
    options.threads = 2;
    if (kith_open(&options, &ctx) != KITH_OK) {
        printf("%s\n", kith_message(NULL));
        return 1;
    }
    points = kith_points_packed(xyz, N, KITH_DOUBLE);
    box = kith_box_periodic(4, 4, 4);
    check_options();
    check_pairs();
    check_groups();
    check_sums();
    check_flock();
    kith_close(ctx);
    return faults > 0;
}
