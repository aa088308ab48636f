/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structs of another size than this library's: those of a program that was built for an earlier
 * version are read and written up to their end alone, those of a later version are accepted while
 * what this library does not know is 0.
 */
#include <stddef.h>
#include <string.h>

#include <kith.h>

#include "check.h"

enum { N = 64, MORE = 16, BYTE = 0x5a };

/** A struct as of a later version: with more fields at its end. */
#define LATER(type) \
    struct { \
        type of; \
        unsigned char more[MORE]; \
    }

static double xyz[N][3];
static kith_ctx *ctx;
static kith_points points;
static kith_box box;
static kith_groups groups;
static double sums[64];

/** An init call fills what it is told, and no more. @param first  size in the version that brought
 *  the struct */
#define CHECK_INIT_FROM(type, init, later, first) \
    do { \
        LATER(type) made; \
        memset(&made, BYTE, sizeof made); \
        init##_sized(&made.of, (later) ? sizeof made : sizeof made.of); \
        CHECK(made.of.size == ((later) ? sizeof made : sizeof made.of), #init " sets size %zu", \
              made.of.size); \
        for (int byte = 0; byte < MORE; byte++) { \
            CHECK(made.more[byte] == ((later) ? 0 : BYTE), #init "_sized: wrong end"); \
        } \
        init##_sized(NULL, sizeof made); \
        (init)(NULL); \
        (init)(&made.of); \
        CHECK(made.of.size == (first), #init " of version 0.1 sets %zu", made.of.size); \
    } while (0)
#define CHECK_INIT(type, init, later) CHECK_INIT_FROM(type, init, later, sizeof(type))

static void check_init(int later)
{
    CHECK_INIT(kith_options, kith_options_init, later);
    CHECK_INIT_FROM(kith_pairs_options, kith_pairs_options_init, later,
                    offsetof(kith_pairs_options, batch));
    CHECK_INIT(kith_batch, kith_batch_init, later);
    CHECK_INIT_FROM(kith_nearest_options, kith_nearest_options_init, later,
                    offsetof(kith_nearest_options, batch));
    CHECK_INIT_FROM(kith_fof_options, kith_fof_options_init, later,
                    offsetof(kith_fof_options, batch));
    CHECK_INIT(kith_halo_input, kith_halo_input_init, later);
    CHECK_INIT_FROM(kith_rdf_options, kith_rdf_options_init, later,
                    offsetof(kith_rdf_options, batch));
    CHECK_INIT(kith_waves, kith_waves_init, later);
    CHECK_INIT(kith_debye_options, kith_debye_options_init, later);
    CHECK_INIT(kith_overlap_options, kith_overlap_options_init, later);
    CHECK_INIT_FROM(kith_flock_options, kith_flock_options_init, later,
                    offsetof(kith_flock_options, gaussian));
    CHECK_INIT(kith_verlet_options, kith_verlet_options_init, later);
}

/** A call accepts a larger struct while its excess is 0, and no size that no version has. */
#define CHECK_SIZES(made, call) \
    do { \
        const size_t full = sizeof(made).of; \
        (made).of.size = sizeof(made); \
        memset((made).more, 0, MORE); \
        CHECK((call) == KITH_OK, #call " of a later size: %s", kith_message(ctx)); \
        (made).more[MORE - 1] = 1; \
        CHECK((call) == KITH_INVALID, #call " accepts a field that it does not know"); \
        CHECK(strstr(kith_message(ctx), "later version"), "%s", kith_message(ctx)); \
        (made).more[MORE - 1] = 0; \
        (made).of.size = 8; \
        CHECK((call) == KITH_INVALID, #call " accepts size 8"); \
        (made).of.size = full + 1; \
        CHECK((call) == KITH_INVALID, #call " accepts an odd size"); \
        (made).of.size = full + 4; \
        CHECK((call) == KITH_INVALID, #call " accepts a size that is no multiple of 8"); \
        (made).of.size = (1 << 20); \
        CHECK((call) == KITH_INVALID, #call " accepts a size of 1 MiB"); \
        (made).of.size = full; \
        CHECK((call) == KITH_OK, #call ": %s", kith_message(ctx)); \
    } while (0)

/** The largest size that a struct may state is 4096 bytes. */
static void check_largest(const char *backend)
{
    static union {
        kith_options of;
        unsigned char bytes[2 * 4096];
    } options;
    kith_options_init_sized(&options.of, 4096);
    options.of.backend = backend;
    kith_ctx *other = NULL;
    CHECK(kith_open(&options.of, &other) == KITH_OK, "%s", kith_message(NULL));
    kith_close(other);
    options.of.size = 4096 + 8;
    CHECK(kith_open(&options.of, &other) == KITH_INVALID, "a size of 4104 is accepted");
    kith_close(other);
}

static void check_options(void)
{
    LATER(kith_pairs_options) list;
    LATER(kith_nearest_options) nearest;
    LATER(kith_fof_options) fof;
    LATER(kith_halo_input) input;
    LATER(kith_rdf_options) rdf;
    LATER(kith_debye_options) debye;
    int64_t n;
    kith_nearest neighbours = {0};
    kith_halos halos = {0};
    kith_histogram histogram = {0};
    kith_pairs_options_init(&list.of);
    CHECK_SIZES(list, kith_pairs_count(ctx, &points, &box, 1, &list.of, &n, NULL));
    kith_nearest_options_init(&nearest.of);
    CHECK_SIZES(nearest, kith_nearest_find(ctx, &points, &box, 6, &nearest.of, &neighbours));
    kith_fof_options_init(&fof.of);
    CHECK_SIZES(fof, kith_fof_find(ctx, &points, &box, 1, &fof.of, &groups));
    kith_halo_input_init(&input.of);
    CHECK_SIZES(input, kith_halos_measure(ctx, &points, &box, &groups, &input.of, &halos));
    kith_rdf_options_init(&rdf.of);
    rdf.of.r_max = 1.5;
    CHECK_SIZES(rdf, kith_rdf_count(ctx, &points, &box, &rdf.of, &histogram));
    kith_debye_options_init(&debye.of);
    debye.of.n_q = 4;
    debye.of.q_width = 1;
    CHECK_SIZES(debye, kith_debye_sum(ctx, &points, &debye.of, sums));
    kith_nearest_free(&neighbours);
    kith_halos_free(&halos);
    kith_histogram_free(&histogram);
}

static void check_more_options(void)
{
    const int32_t hkl[] = {1, 0, 0};
    LATER(kith_waves) waves;
    LATER(kith_overlap_options) measure;
    LATER(kith_flock_options) rules;
    kith_overlaps overlaps = {0};
    kith_flock *flock = NULL;
    const kith_replicas replicas = {
        .n = N - 1, .dim = 3, .values = xyz[1], .stride = 3, .type = (int)KITH_DOUBLE};
    kith_waves_init(&waves.of);
    waves.of.n = 1;
    waves.of.hkl = hkl;
    CHECK_SIZES(waves, kith_waves_sum(ctx, &points, &box, &waves.of, sums));
    kith_overlap_options_init(&measure.of);
    CHECK_SIZES(measure, kith_overlap_count(ctx, &replicas, &measure.of, &overlaps));
    kith_overlaps_free(&overlaps);
    kith_flock_options_init(&rules.of);
    rules.of.separation.radius = rules.of.alignment.radius = rules.of.cohesion.radius = 1.5;
    CHECK(kith_flock_open(ctx, &points, &points, &box, &rules.of, &flock) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK_SIZES(rules, kith_flock_change(flock, &rules.of));
    kith_flock_measures known, part;
    memset(&part, BYTE, sizeof part);
    CHECK(kith_flock_measure(flock, &known) == KITH_OK &&
              kith_flock_measure_sized(flock, &part, sizeof(double)) == KITH_OK,
          "%s", kith_message(ctx));
    CHECK(part.polarisation == known.polarisation, "the first field is not written");
    CHECK(((unsigned char *)&part)[sizeof(double)] == BYTE, "written beyond the size");
    kith_flock_close(flock);
}

/** Open a kept list, update it and close it. */
static kith_status keep_list(const kith_verlet_options *options)
{
    kith_verlet *verlet = NULL;
    kith_pairs list = {0};
    kith_status status = kith_verlet_open(ctx, options, &verlet);
    if (status == KITH_OK) {
        status = kith_verlet_update(verlet, &points, &box, &list);
        CHECK(status == KITH_OK && list.n > 0, "%lld pairs", (long long)list.n);
    }
    kith_verlet_state known, part;
    memset(&part, BYTE, sizeof part);
    if (status == KITH_OK) {
        CHECK(kith_verlet_read(verlet, &known) == KITH_OK && known.updates == 1 &&
                  kith_verlet_read_sized(verlet, &part, sizeof(int64_t)) == KITH_OK &&
                  part.updates == 1,
              "%s", kith_message(ctx));
        CHECK(((unsigned char *)&part)[sizeof(int64_t)] == BYTE, "written beyond the size");
    }
    kith_verlet_close(verlet);
    kith_pairs_free(&list);
    return status;
}

static void check_kept(void)
{
    LATER(kith_verlet_options) options;
    kith_verlet_options_init(&options.of);
    options.of.cutoff = 1;
    options.of.skin = 0.2;
    CHECK_SIZES(options, keep_list(&options.of));
}

static void check_results(void)
{
    LATER(kith_pairs) list = {0};
    LATER(kith_nearest) nearest = {0};
    LATER(kith_order) order = {0};
    LATER(kith_groups) found = {0};
    LATER(kith_histogram) histogram = {0};
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.r_max = 1.5;
    CHECK_SIZES(list, kith_pairs_find(ctx, &points, &box, 1, NULL, &list.of));
    CHECK_SIZES(nearest, kith_nearest_find(ctx, &points, &box, 6, NULL, &nearest.of));
    CHECK_SIZES(order, kith_order_find(ctx, &points, &box, 0, &order.of));
    CHECK_SIZES(found, kith_fof_find(ctx, &points, &box, 1, NULL, &found.of));
    CHECK_SIZES(histogram, kith_rdf_count(ctx, &points, &box, &options, &histogram.of));
    CHECK(list.of.n == 3 * N && nearest.of.counts[N - 1] == 6 && found.of.n == 1, "other answers");
    kith_pairs_free(&list.of);
    kith_nearest_free(&nearest.of);
    CHECK(order.of.n == N, "%lld particles", (long long)order.of.n);
    kith_order_free(&order.of);
    CHECK(order.of.size == sizeof order.of && !order.of.order, "not zero but for size");
    kith_groups_free(&found.of);
    kith_histogram_free(&histogram.of);
    CHECK(list.of.size == sizeof list.of && !list.of.j && !list.of.owner, "not zero but for size");
    CHECK(nearest.of.size == sizeof nearest.of && !nearest.of.j && !nearest.of.owner,
          "neighbours are not zero but for size");
}

/** The halos of a program of version 0.1, of this one and of a later one. */
static void check_halos(void)
{
    LATER(kith_halos) halos = {0};
    CHECK_SIZES(halos, kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos.of));
    CHECK(halos.of.sphere_seconds >= 0 && halos.of.halo[0].members == N, "other halos");
    kith_halos_free(&halos.of);

    halos.of.size = 0;
    memset(&halos.of.sphere_seconds, BYTE, sizeof halos.of.sphere_seconds);
    double before = halos.of.sphere_seconds;
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos.of) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(memcmp(&before, &halos.of.sphere_seconds, sizeof before) == 0,
          "size 0: a field is written that version 0.1 does not have");
    kith_halos_free(&halos.of);
    CHECK(memcmp(&before, &halos.of.sphere_seconds, sizeof before) == 0,
          "size 0: a field is zeroed that version 0.1 does not have");

    halos.of = (kith_halos){.size = sizeof halos.of, .stride = sizeof(kith_halo) + MORE};
    groups.n = 2;
    groups.labels[N - 1] = 2;
    CHECK(kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos.of) == KITH_OK, "%s",
          kith_message(ctx));
    const LATER(kith_halo) *later = (const void *)halos.of.halo;
    CHECK(later[0].of.members == N - 1 && later[1].of.members == 1 && later[1].more[0] == 0,
          "halos of a larger stride: %lld and %lld members", (long long)later[0].of.members,
          (long long)later[1].of.members);
    const int64_t wrong[] = {8, sizeof(kith_halo) + 4, -8, 1 << 20};
    for (int k = 0; k < 4; k++) {
        halos.of.stride = wrong[k];
        CHECK(kith_halos_measure(ctx, &points, &box, &groups, NULL, &halos.of) == KITH_INVALID,
              "stride %lld is accepted", (long long)wrong[k]);
    }
    kith_halos_free(&halos.of);
}

int main(int argc, char **argv)
{
    for (int p = 0; p < N; p++) { /* a lattice of spacing 1 in a periodic box of 4 */
        xyz[p][0] = p % 4;
        xyz[p][1] = p / 4 % 4;
        xyz[p][2] = p / 16;
    }
    LATER(kith_options) options;
    memset(&options, 0, sizeof options);
    kith_options_init_sized(&options.of, sizeof options);
    options.of.backend = argc > 1 ? argv[1] : "cpu";
    options.more[0] = 1;
    CHECK(kith_open(&options.of, &ctx) == KITH_INVALID && !ctx, "an unknown option is accepted");
    options.more[0] = 0;
    CHECK(kith_open(&options.of, &ctx) == KITH_OK, "%s", kith_message(NULL));
    points = kith_points_packed(xyz, N, KITH_DOUBLE);
    box = kith_box_periodic(4, 4, 4);
    check_init(0);
    check_init(1);
    check_largest(options.of.backend);
    check_options();
    check_more_options();
    check_kept();
    check_results();
    check_halos();
    kith_groups_free(&groups);
    kith_close(ctx);
    return check_done();
}
