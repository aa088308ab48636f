/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every public call, and what it leaves in its results.
 */
#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "points.h"

static const kith_box cube = {
    .row = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .periodic = {1, 1, 1}, .dim = 3};

static const double cutoff = 0.2;

/** The points of a call; NULL where that is the fault. */
static const kith_points *points_for(world *w, fault f, kith_points *storage)
{
    *storage = kith_points_packed(w->xyz, WORLD_POINTS, KITH_DOUBLE);
    w->xyz[3 * 150 + 1] = f == NOT_FINITE ? (double)NAN : 0.5;
    return f == NO_INPUT ? NULL : storage;
}

static kith_ctx *context_for(const world *w, fault f)
{
    return f == NO_CONTEXT ? NULL : w->ctx;
}

static kith_pairs_options pair_options(fault f)
{
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.size += f == WRONG_SIZE;
    return options;
}

static kith_status find_pairs(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_pairs_options options = pair_options(f);
    const kith_status status = kith_pairs_find(context_for(w, f), points, &cube, cutoff, &options,
                                               f == NO_OUTPUT ? NULL : &w->list);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (w->list.n > 0) && (status == KITH_OK) == (w->list.rows > 0),
              "%lld pairs, %lld rows", (long long)w->list.n, (long long)w->list.rows);
        CHECK(w->list.owner != NULL, "the list lost its arrays");
    }
    return status;
}

static kith_status fill_pairs(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_pairs_options options = pair_options(f);
    w->mine.n = w->mine.rows = 7;
    w->mine.capacity = WORLD_PAIRS;
    w->mine.i = w->i;
    w->mine.j = w->j;
    const kith_status status = kith_pairs_fill(context_for(w, f), points, &cube, cutoff, &options,
                                               f == NO_OUTPUT ? NULL : &w->mine);
    CHECK(status == KITH_OK ? w->mine.n > 7 && w->mine.rows == WORLD_POINTS
                            : f == NO_OUTPUT || (w->mine.n == 0 && w->mine.rows == 0),
          "%lld pairs, %lld rows", (long long)w->mine.n, (long long)w->mine.rows);
    return status;
}

static kith_status count_pairs(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_pairs_options options = pair_options(f);
    int64_t n = 7;
    const kith_status status = kith_pairs_count(context_for(w, f), points, &cube, cutoff, &options,
                                                f == NO_OUTPUT ? NULL : &n, NULL);
    CHECK(status == KITH_OK ? n > 7 : f == NO_OUTPUT || n == 0, "%lld pairs", (long long)n);
    return status;
}

static int ignore_block(void *user, const kith_pairs *block, int64_t first)
{
    (void)user;
    (void)block;
    (void)first;
    return 0;
}

static kith_status stream_pairs(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_pairs_options options = pair_options(f);
    return kith_pairs_each(context_for(w, f), points, &cube, cutoff, &options,
                           f == NO_OUTPUT ? NULL : ignore_block, NULL);
}

static kith_nearest_options nearest_options(fault f)
{
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.size += f == WRONG_SIZE;
    return options;
}

static kith_status find_nearest(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_nearest_options options = nearest_options(f);
    const kith_status status = kith_nearest_find(context_for(w, f), points, &cube, WORLD_K,
                                                 &options, f == NO_OUTPUT ? NULL : &w->nearest);
    if (f != NO_OUTPUT) {
        CHECK(w->nearest.rows == (status == KITH_OK ? WORLD_POINTS : 0), "%lld rows",
              (long long)w->nearest.rows);
        CHECK(status != KITH_OK || (w->nearest.k == WORLD_K && w->nearest.j && w->nearest.counts),
              "%lld neighbours", (long long)w->nearest.k);
    }
    return status;
}

static kith_status fill_nearest(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_nearest_options options = nearest_options(f);
    w->own.rows = 7;
    w->own.j = w->near;
    w->near[0] = -7;
    const kith_status status = kith_nearest_fill(context_for(w, f), points, &cube, WORLD_K,
                                                 &options, f == NO_OUTPUT ? NULL : &w->own);
    CHECK(status == KITH_OK ? w->own.rows == WORLD_POINTS && w->near[0] >= 0
                            : f == NO_OUTPUT || w->own.rows == 0,
          "%lld rows, first neighbour %d", (long long)w->own.rows, w->near[0]);
    return status;
}

static kith_status find_matrix(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_pairs_options options = pair_options(f);
    options.layout = KITH_MATRIX;
    options.width = 2;
    w->rows.size = sizeof w->rows;
    const kith_status status = kith_pairs_find(context_for(w, f), points, &cube, cutoff, &options,
                                               f == NO_OUTPUT ? NULL : &w->rows);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (w->rows.n > 0) &&
                  w->rows.rows == (status == KITH_OK ? WORLD_POINTS : 0) &&
                  (status != KITH_OK || (w->rows.width > 2 && w->rows.counts)),
              "%lld pairs, %lld rows of %lld", (long long)w->rows.n, (long long)w->rows.rows,
              (long long)w->rows.width);
    }
    return status;
}

static kith_status find_order(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_status status = kith_order_find(context_for(w, f), points, &cube, 0,
                                               f == NO_OUTPUT ? NULL : &w->order);
    if (f != NO_OUTPUT) {
        CHECK(w->order.n == (status == KITH_OK ? WORLD_POINTS : 0), "%lld particles",
              (long long)w->order.n);
    }
    return status;
}

static kith_status fill_order(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_order order = {.n = 7, .order = w->i};
    const kith_status status = kith_order_fill(context_for(w, f), points, &cube, cutoff,
                                               f == NO_OUTPUT ? NULL : &order);
    CHECK(order.n == (status == KITH_OK ? WORLD_POINTS
                      : f == NO_OUTPUT  ? 7
                                        : 0),
          "%lld particles", (long long)order.n);
    return status;
}

static kith_status find_groups(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.min_members = 1;
    options.size += f == WRONG_SIZE;
    const kith_status status = kith_fof_find(context_for(w, f), points, &cube, 0.05, &options,
                                             f == NO_OUTPUT ? NULL : &w->groups);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (w->groups.n > 0) &&
                  (status == KITH_OK) == (w->groups.points > 0),
              "%lld groups of %lld particles", (long long)w->groups.n, (long long)w->groups.points);
    }
    return status;
}

static kith_status measure_halos(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_groups groups = {.n = 2, .points = WORLD_POINTS, .labels = w->labels};
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.size += f == WRONG_SIZE;
    input.sphere_density[0] = 500;
    const kith_status status = kith_halos_measure(context_for(w, f), points, &cube, &groups, &input,
                                                  f == NO_OUTPUT ? NULL : &w->halos);
    CHECK(status == KITH_OK ? w->halos.n == 2 : f == NO_OUTPUT || w->halos.n == 0, "%lld halos",
          (long long)w->halos.n);
    return status;
}

static kith_status count_by_distance(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.bins = WORLD_BINS;
    options.r_max = cutoff;
    options.size += f == WRONG_SIZE;
    int64_t before = 0;
    int64_t after = 0;
    for (int k = 0; k < WORLD_BINS && w->histogram.counts; k++) {
        before += w->histogram.counts[k];
    }
    const int64_t frames = w->histogram.frames;
    const kith_status status = kith_rdf_count(context_for(w, f), points, &cube, &options,
                                              f == NO_OUTPUT ? NULL : &w->histogram);
    for (int k = 0; k < WORLD_BINS && w->histogram.counts; k++) {
        after += w->histogram.counts[k];
    }
    CHECK((after > before) == (status == KITH_OK) &&
              w->histogram.frames == frames + (status == KITH_OK),
          "%lld pairs, %lld before", (long long)after, (long long)before);
    return status;
}

static kith_status sum_waves(world *w, fault f)
{
    static const int32_t hkl[3] = {1, 0, 0};
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_waves waves;
    kith_waves_init(&waves);
    waves.n = 1;
    waves.hkl = hkl;
    waves.size += f == WRONG_SIZE;
    return kith_waves_sum(context_for(w, f), points, &cube, &waves,
                          f == NO_OUTPUT ? NULL : w->sums);
}

static kith_status sum_debye(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    kith_debye_options options;
    kith_debye_options_init(&options);
    options.n_q = 4;
    options.q_width = 1;
    options.size += f == WRONG_SIZE;
    w->sums[1] = 12345;
    const kith_status status = kith_debye_sum(context_for(w, f), points, &options,
                                              f == NO_OUTPUT ? NULL : w->sums);
    CHECK((w->sums[1] == 12345) == (status != KITH_OK), "sum %g", w->sums[1]);
    return status;
}

static kith_replicas replicas_of(world *w, fault f)
{
    kith_points storage;
    (void)points_for(w, f, &storage);
    return (kith_replicas){
        .n = WORLD_POINTS, .dim = 3, .values = w->xyz, .stride = 3, .type = KITH_DOUBLE};
}

static kith_overlap_options overlap_options(fault f)
{
    kith_overlap_options options;
    kith_overlap_options_init(&options);
    options.bins = WORLD_BINS;
    options.size += f == WRONG_SIZE;
    return options;
}

static kith_status count_overlaps(world *w, fault f)
{
    const kith_replicas replicas = replicas_of(w, f);
    const kith_overlap_options options = overlap_options(f);
    const kith_status status = kith_overlap_count(context_for(w, f),
                                                  f == NO_INPUT ? NULL : &replicas, &options,
                                                  f == NO_OUTPUT ? NULL : &w->overlaps);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (w->overlaps.counts != NULL && w->overlaps.bins > 0 &&
                                      w->overlaps.edges != NULL && w->overlaps.pairs > 0),
              "%lld bins", (long long)w->overlaps.bins);
    }
    return status;
}

static kith_status compute_overlap_rows(world *w, fault f)
{
    const kith_replicas replicas = replicas_of(w, f);
    const kith_overlap_options options = overlap_options(f);
    return kith_overlap_rows(context_for(w, f), f == NO_INPUT ? NULL : &replicas, &options, 3, 1,
                             f == NO_OUTPUT ? NULL : w->matrix);
}

static kith_status open_flock(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_points velocities = kith_points_packed(w->xyz, WORLD_POINTS, KITH_DOUBLE);
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.separation.radius = options.alignment.radius = options.cohesion.radius = cutoff;
    options.size += f == WRONG_SIZE;
    kith_flock *flock = (kith_flock *)(void *)w;
    const kith_status status = kith_flock_open(context_for(w, f), points, &velocities, &cube,
                                               &options, f == NO_OUTPUT ? NULL : &flock);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (flock != NULL), "a flock after a failure");
        kith_flock_close(flock);
    }
    return status;
}

static kith_flock *flock_for(const world *w, fault f)
{
    return f == NO_CONTEXT ? NULL : w->flock;
}

static kith_status change_flock(world *w, fault f)
{
    kith_flock_options options;
    kith_flock_options_init(&options);
    options.separation.radius = options.alignment.radius = options.cohesion.radius = cutoff;
    options.size += f == WRONG_SIZE;
    return kith_flock_change(flock_for(w, f), &options);
}

static kith_status step_flock(world *w, fault f)
{
    const int64_t before = kith_flock_steps(w->flock);
    const kith_status status = kith_flock_step(flock_for(w, f), 2);
    CHECK(kith_flock_steps(w->flock) == before + (status == KITH_OK ? 2 : 0), "%lld steps",
          (long long)kith_flock_steps(w->flock));
    return status;
}

static kith_status read_flock(world *w, fault f)
{
    static double r[3 * WORLD_POINTS];
    r[5] = 12345;
    const kith_status status = kith_flock_read(flock_for(w, f), r, NULL);
    CHECK((r[5] == 12345) == (status != KITH_OK), "position %g", r[5]);
    return status;
}

static kith_status measure_flock(world *w, fault f)
{
    kith_flock_measures measures = {.mean_speed = -5};
    const kith_status status = kith_flock_measure(flock_for(w, f),
                                                  f == NO_OUTPUT ? NULL : &measures);
    CHECK((measures.mean_speed == -5) == (status != KITH_OK), "speed %g", measures.mean_speed);
    return status;
}

static kith_verlet *verlet_for(const world *w, fault f)
{
    return f == NO_CONTEXT ? NULL : w->verlet;
}

static kith_status open_verlet(world *w, fault f)
{
    kith_verlet_options options;
    kith_verlet_options_init(&options);
    options.size += f == WRONG_SIZE;
    options.cutoff = cutoff;
    kith_verlet *verlet = w->verlet;
    const kith_status status = kith_verlet_open(context_for(w, f), f == NO_INPUT ? NULL : &options,
                                                f == NO_OUTPUT ? NULL : &verlet);
    CHECK(f == NO_OUTPUT || (status == KITH_OK) == (verlet != NULL), "a list after a failure");
    kith_verlet_close(status == KITH_OK ? verlet : NULL);
    return status;
}

static kith_status update_verlet(world *w, fault f)
{
    kith_points storage;
    const kith_points *points = points_for(w, f, &storage);
    const kith_status status = kith_verlet_update(verlet_for(w, f), points, &cube,
                                                  f == NO_OUTPUT ? NULL : &w->kept);
    if (f != NO_OUTPUT) {
        CHECK((status == KITH_OK) == (w->kept.n > 0) && (status == KITH_OK) == (w->kept.rows > 0),
              "%lld pairs, %lld rows", (long long)w->kept.n, (long long)w->kept.rows);
    }
    return status;
}

static kith_status read_verlet(world *w, fault f)
{
    kith_verlet_state state = {.updates = -5};
    const kith_status status = kith_verlet_read(verlet_for(w, f), f == NO_OUTPUT ? NULL : &state);
    CHECK(f == NO_OUTPUT || state.updates >= 0, "%lld updates", (long long)state.updates);
    CHECK(status == KITH_OK || state.updates <= 0, "%lld updates", (long long)state.updates);
    return status;
}

static kith_status rebuild_verlet(world *w, fault f)
{
    return kith_verlet_rebuild(verlet_for(w, f));
}

static kith_status choose_glance(world *w, fault f)
{
    static const int32_t index[2] = {3, 9};
    return kith_glance_choose(flock_for(w, f), f == NO_INPUT ? NULL : index, 2);
}

static kith_status take_glance(world *w, fault f)
{
    return kith_glance_take(flock_for(w, f));
}

static kith_status see_glance(world *w, fault f)
{
    const void *r = w;
    const void *v = w;
    const kith_status status = kith_glance_see(flock_for(w, f), &r, &v);
    CHECK((status == KITH_OK) == (r != NULL) && (status == KITH_OK) == (v != NULL),
          "a glance after a failure");
    return status;
}

enum {
    OF_CONTEXT = 1 << NO_CONTEXT,
    OF_INPUT = OF_CONTEXT | 1 << NO_INPUT | 1 << NOT_FINITE,
    OF_ALL = OF_INPUT | 1 << WRONG_SIZE | 1 << NO_OUTPUT
};

const call calls[] = {
    {"kith_pairs_find", find_pairs, OF_ALL},
    {"kith_pairs_fill", fill_pairs, OF_ALL},
    {"kith_pairs_count", count_pairs, OF_ALL},
    {"kith_pairs_each", stream_pairs, OF_ALL},
    {"kith_nearest_find", find_nearest, OF_ALL},
    {"kith_nearest_fill", fill_nearest, OF_ALL},
    {"kith_pairs_find, KITH_MATRIX", find_matrix, OF_ALL},
    {"kith_order_find", find_order, OF_INPUT | 1 << NO_OUTPUT},
    {"kith_order_fill", fill_order, OF_INPUT | 1 << NO_OUTPUT},
    {"kith_fof_find", find_groups, OF_ALL},
    {"kith_halos_measure", measure_halos, OF_ALL},
    {"kith_rdf_count", count_by_distance, OF_ALL},
    {"kith_waves_sum", sum_waves, OF_ALL},
    {"kith_debye_sum", sum_debye, OF_ALL},
    {"kith_overlap_count", count_overlaps, OF_ALL},
    {"kith_overlap_rows", compute_overlap_rows, OF_ALL},
    {"kith_flock_open", open_flock, OF_ALL},
    {"kith_flock_change", change_flock, OF_CONTEXT | 1 << WRONG_SIZE},
    {"kith_flock_step", step_flock, OF_CONTEXT},
    {"kith_flock_read", read_flock, OF_CONTEXT},
    {"kith_flock_measure", measure_flock, OF_CONTEXT | 1 << NO_OUTPUT},
    {"kith_verlet_open", open_verlet,
     OF_CONTEXT | 1 << NO_INPUT | 1 << WRONG_SIZE | 1 << NO_OUTPUT},
    {"kith_verlet_update", update_verlet, OF_INPUT | 1 << NO_OUTPUT},
    {"kith_verlet_read", read_verlet, OF_CONTEXT | 1 << NO_OUTPUT},
    {"kith_verlet_rebuild", rebuild_verlet, OF_CONTEXT},
    {"kith_glance_choose", choose_glance, OF_CONTEXT | 1 << NO_INPUT},
    {"kith_glance_take", take_glance, OF_CONTEXT},
    {"kith_glance_see", see_glance, OF_CONTEXT},
};
const int n_calls = sizeof calls / sizeof calls[0];

world *world_open(const char *backend, kith_watch_fn watch, void *user)
{
    static const double zero[3] = {0, 0, 0};
    static const double one[3] = {1, 1, 1};
    rng r = {5};
    kith_close(check_open(backend, 2));
    world *w = check_malloc(sizeof *w);
    memset(w, 0, sizeof *w);
    double *xyz = points_uniform(&r, WORLD_POINTS, zero, one);
    memcpy(w->xyz, xyz, sizeof w->xyz);
    free(xyz);
    for (int p = 0; p < WORLD_POINTS; p++) {
        w->labels[p] = p % 3;
    }
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.threads = 2;
    options.watch = watch;
    options.user = user;
    CHECK(kith_open(&options, &w->ctx) == KITH_OK, "%s", kith_message(NULL));
    const kith_points points = kith_points_packed(w->xyz, WORLD_POINTS, KITH_DOUBLE);
    kith_flock_options flight;
    kith_flock_options_init(&flight);
    flight.separation.radius = flight.alignment.radius = flight.cohesion.radius = cutoff;
    CHECK(kith_flock_open(w->ctx, &points, &points, &cube, &flight, &w->flock) == KITH_OK, "%s",
          kith_message(w->ctx));
    kith_verlet_options kept;
    kith_verlet_options_init(&kept);
    kept.cutoff = cutoff;
    kept.skin = cutoff / 4;
    CHECK(kith_verlet_open(w->ctx, &kept, &w->verlet) == KITH_OK, "%s", kith_message(w->ctx));
    return w;
}

void world_close(world *w)
{
    kith_pairs_free(&w->list);
    kith_nearest_free(&w->nearest);
    kith_pairs_free(&w->rows);
    kith_order_free(&w->order);
    kith_groups_free(&w->groups);
    kith_halos_free(&w->halos);
    kith_histogram_free(&w->histogram);
    kith_overlaps_free(&w->overlaps);
    kith_flock_close(w->flock);
    kith_verlet_close(w->verlet);
    kith_pairs_free(&w->kept);
    kith_close(w->ctx);
    free(w);
}
