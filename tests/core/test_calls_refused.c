/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What every public call promises where it refuses an argument: the status, a message that names
 * the argument, results that are empty, and no message once a call succeeds. Accessors of NULL give
 * what kith.h says.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "points.h"
#include "world.h"

static const char *const fault_name[FAULTS] = {
    "no fault", "no context", "no input", "a wrong size", "a coordinate that is no number",
    "no output"};

static void check_call(world *w, const call *c)
{
    for (int f = NO_FAULT + 1; f < FAULTS; f++) {
        CHECK(c->make(w, NO_FAULT) == KITH_OK, "%s: %s", c->name, kith_message(w->ctx));
        CHECK(kith_message(w->ctx)[0] == '\0', "%s: after a success: %s", c->name,
              kith_message(w->ctx));
        if (c->faults >> f & 1) {
            const kith_status status = c->make(w, (fault)f);
            const char *message = kith_message(f == NO_CONTEXT ? NULL : w->ctx);
            CHECK(status == (f == NOT_FINITE ? KITH_NOT_FINITE : KITH_INVALID),
                  "%s with %s: %s, %s", c->name, fault_name[f], kith_status_name(status), message);
            CHECK(message[0] != '\0', "%s with %s: no message", c->name, fault_name[f]);
        }
    }
}

/* ------------------------------------------------------------------------------- flags, enums */

static const double corners[6] = {0.1, 0.1, 0.1, 0.9, 0.1, 0.1};

static kith_status with_pairs(kith_ctx *ctx, const char *flag, int value)
{
    const kith_points points = kith_points_packed(corners, 2, KITH_DOUBLE);
    kith_box box = kith_box_periodic(1, 1, 1);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    int *const at[] = {&options.full,    &options.sorted,  &options.unordered, &options.queued,
                       &box.periodic[0], &box.periodic[1], &box.periodic[2]};
    static const char *const names[] = {"options.full",   "options.sorted", "options.unordered",
                                        "options.queued", "periodic[0]",    "periodic[1]",
                                        "periodic[2]"};
    for (int k = 0; k < 7; k++) {
        *at[k] = strcmp(flag, names[k]) == 0 ? value : *at[k];
    }
    options.layout = strcmp(flag, "options.layout") == 0 ? (kith_layout)value : options.layout;
    int64_t n = 0;
    return kith_pairs_count(ctx, &points, &box, 0.3, &options, &n, NULL);
}

static kith_status with_rdf(kith_ctx *ctx, const char *flag, int value)
{
    (void)flag;
    const kith_points points = kith_points_packed(corners, 2, KITH_DOUBLE);
    kith_histogram out = {0};
    kith_rdf_options options;
    kith_rdf_options_init(&options);
    options.r_max = 0.3;
    options.minimum_image = value;
    const kith_status status = kith_rdf_count(ctx, &points, NULL, &options, &out);
    kith_histogram_free(&out);
    return status;
}

static kith_status with_flock(kith_ctx *ctx, const char *flag, int value)
{
    const kith_points points = kith_points_packed(corners, 2, KITH_DOUBLE);
    kith_box box = {.row = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .dim = 3};
    kith_flock_options options;
    kith_flock_options_init(&options);
    kith_flock_thing thing = {.kind = KITH_POINT};
    options.things = &thing;
    options.n_things = 1;
    int *const at[] = {&options.relative, &options.reflecting[0], &options.reflecting[1],
                       &options.reflecting[2]};
    static const char *const names[] = {"options.relative", "options.reflecting[0]",
                                        "options.reflecting[1]", "options.reflecting[2]"};
    for (int k = 0; k < 4; k++) {
        *at[k] = strcmp(flag, names[k]) == 0 ? value : *at[k];
    }
    options.model = strcmp(flag, "options.model") == 0 ? (kith_flock_model)value : options.model;
    thing.kind = strcmp(flag, "options.things[0].kind") == 0 ? (kith_flock_kind)value : thing.kind;
    kith_flock *flock = NULL;
    const kith_status status = kith_flock_open(ctx, &points, &points, &box, &options, &flock);
    kith_flock_close(flock);
    return status;
}

static kith_status with_overlaps(kith_ctx *ctx, const char *flag, int value)
{
    const kith_replicas replicas = {
        .n = 2, .dim = 3, .values = corners, .stride = 3, .type = KITH_DOUBLE};
    kith_overlap_options options;
    kith_overlap_options_init(&options);
    const bool measure = strcmp(flag, "options.measure") == 0;
    options.measure = measure ? (kith_overlap_measure)value : options.measure;
    options.subtract_mean = measure ? 0 : value;
    kith_overlaps out = {0};
    const kith_status status = kith_overlap_count(ctx, &replicas, &options, &out);
    kith_overlaps_free(&out);
    return status;
}

static kith_status with_roles(kith_ctx *ctx, const char *flag, int value)
{
    (void)flag;
    const kith_points points = kith_points_packed(corners, 2, KITH_DOUBLE);
    const uint8_t roles[2] = {KITH_LINK, (uint8_t)value};
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.roles = roles;
    kith_groups out = {0};
    const kith_status status = kith_fof_find(ctx, &points, NULL, 0.1, &options, &out);
    kith_groups_free(&out);
    return status;
}

static void check_flags(kith_ctx *ctx)
{
    static const struct flag {
        const char *name;
        kith_status (*call)(kith_ctx *ctx, const char *flag, int value);
        int most;
    } flags[] = {
        {"options.full", with_pairs, 1},
        {"options.sorted", with_pairs, 1},
        {"options.unordered", with_pairs, 1},
        {"options.queued", with_pairs, 1},
        {"options.layout", with_pairs, KITH_MATRIX},
        {"periodic[0]", with_pairs, 1},
        {"periodic[1]", with_pairs, 1},
        {"periodic[2]", with_pairs, 1},
        {"options.minimum_image", with_rdf, 1},
        {"options.model", with_flock, KITH_VICSEK_VECTORIAL},
        {"options.relative", with_flock, 1},
        {"options.reflecting[0]", with_flock, 1},
        {"options.reflecting[1]", with_flock, 1},
        {"options.reflecting[2]", with_flock, 1},
        {"options.things[0].kind", with_flock, KITH_POINT},
        {"options.measure", with_overlaps, KITH_DISTANCE},
        {"options.subtract_mean", with_overlaps, 1},
        {"options.roles: the role of particle 1 (counted from 0)", with_roles, KITH_IGNORE},
    };
    for (size_t k = 0; k < sizeof flags / sizeof flags[0]; k++) {
        const struct flag *f = &flags[k];
        const bool kinds = f->most == KITH_POINT; /* the others need more than a kind */
        const int wrong[3] = {kinds ? KITH_PREDATOR + 1 : f->most + 1, -1, 100};
        CHECK(f->call(ctx, f->name, f->most) == KITH_OK, "%s is %d: %s", f->name, f->most,
              kith_message(ctx));
        for (int v = 0; v < 3; v++) {
            CHECK(f->call(ctx, f->name, wrong[v]) == KITH_INVALID &&
                      strstr(kith_message(ctx), f->name),
                  "%s is %d: %s", f->name, wrong[v], kith_message(ctx));
        }
    }
    double edges[2] = {0, 0.1}, volume = 0;
    const kith_box box = kith_box_periodic(1, 1, 1);
    CHECK(kith_shell_volumes(&box, 2, 1, edges, &volume) == KITH_INVALID &&
              strstr(kith_message(NULL), "minimum_image"),
          "%s", kith_message(NULL));
    CHECK(kith_shell_volumes(&box, 1, 1, edges, &volume) == KITH_OK && !kith_message(NULL)[0], "%s",
          kith_message(NULL));
}

/* ----------------------------------------------------------------------------------- messages */

/** A search that stops early, as all particles are in one group, leaves no message. */
static void check_no_stale_message(world *w, const char *backend)
{
    const kith_box thin = kith_box_triclinic(1, 1, 0.01, 0.2, 0.1, 0.3);
    const kith_points points = kith_points_packed(w->xyz, WORLD_POINTS, KITH_DOUBLE);
    kith_groups groups = {0};
    CHECK(kith_fof_find(w->ctx, &points, &thin, 0.8, NULL, &groups) == KITH_OK && groups.n == 1,
          "%s", kith_message(w->ctx));
    CHECK(kith_message(w->ctx)[0] == '\0', "%s", kith_message(w->ctx));
    kith_groups_free(&groups);

    kith_options options;
    kith_options_init(&options);
    options.threads = -1;
    kith_ctx *ctx = NULL;
    CHECK(kith_open(&options, &ctx) == KITH_INVALID && kith_message(NULL)[0], "threads -1");
    options.threads = 1;
    options.backend = backend;
    CHECK(kith_open(&options, &ctx) == KITH_OK && !kith_message(NULL)[0], "%s", kith_message(NULL));
    CHECK(kith_message(ctx)[0] == '\0', "%s", kith_message(ctx));
    kith_close(ctx);
    options.backend = "auto"; /* tries others, which may be missing */
    CHECK(kith_open(&options, &ctx) == KITH_OK && !kith_message(NULL)[0], "%s", kith_message(NULL));
    CHECK(kith_message(ctx)[0] == '\0', "%s", kith_message(ctx));
    kith_close(ctx);
}

/** There is no memory for this list; the message tells its size, not that of reused arrays. */
static void check_too_large(kith_ctx *ctx)
{
    enum { N = 3000 };
    static const double zero[3] = {0, 0, 0};
    static const double one[3] = {1, 1, 1};
    const double length = 0.3;
    const double pairs = 0.5 * N * N * 4 / 3 * 3.14159265 * length * length * length;
    rng r = {6};
    double *xyz = points_uniform(&r, N, zero, one);
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_pairs list = {0};
    CHECK(kith_pairs_find(ctx, &points, &box, 0.01, NULL, &list) == KITH_OK, "%s",
          kith_message(ctx));
    list.capacity = INT64_C(1) << 58; /* as if the arrays were larger than any memory */
    const kith_status status = kith_pairs_find(ctx, &points, &box, length, NULL, &list);
    long long told = 0;
    const char *number = strpbrk(kith_message(ctx), "0123456789");
    CHECK(status == KITH_NO_MEMORY, "%s", kith_status_name(status));
    CHECK(number && sscanf(number, "%lld", &told) == 1 && (double)told > 0.8 * pairs &&
              (double)told < 1.4 * pairs,
          "%s; expected some %.0f", kith_message(ctx), pairs);
    CHECK(strstr(kith_message(ctx), "288230376151711744"), "the capacity: %s", kith_message(ctx));
    kith_pairs_free(&list);
    free(xyz);
}

/* -------------------------------------------------------------------------------------- NULL */

static void check_null(void)
{
    double g[1] = {5}, other[1] = {5};
    kith_flock_thing thing = {.reach = 5};
    CHECK(kith_threads(NULL) == 0, "threads");
    CHECK(kith_backend(NULL)[0] == '\0', "backend");
    CHECK(kith_scratch_bytes(NULL) == 0, "scratch");
    CHECK(kith_message(NULL) != NULL, "message");
    CHECK(kith_flock_steps(NULL) == 0, "steps");
    CHECK(kith_histogram_partial(NULL, 0, 0) == -1, "partial");
    kith_flock_read_things(NULL, &thing);
    kith_rdf_g(NULL, 0, 0, g);
    kith_rdf_coordination(NULL, 0, 0, g);
    kith_rdf_force(NULL, 0, 0, 1, g, other);
    CHECK(g[0] == 5 && other[0] == 5 && thing.reach == 5, "something was written");
    kith_options_init(NULL);
    kith_pairs_options_init(NULL);
    kith_fof_options_init(NULL);
    kith_halo_input_init(NULL);
    kith_rdf_options_init(NULL);
    kith_flock_options_init(NULL);
    kith_waves_init(NULL);
    kith_debye_options_init(NULL);
    kith_overlap_options_init(NULL);
    kith_close(NULL);
    kith_pairs_free(NULL);
    kith_groups_free(NULL);
    kith_halos_free(NULL);
    kith_histogram_free(NULL);
    kith_overlaps_free(NULL);
    kith_flock_close(NULL);
}

/** Arrays that are NULL are not written. */
static void check_null_arrays(const world *w)
{
    kith_rdf_g(&w->histogram, 0, 0, NULL);
    kith_rdf_coordination(&w->histogram, 0, 0, NULL);
    kith_rdf_force(&w->histogram, 0, 0, 1, NULL, NULL);
    kith_flock_read_things(w->flock, NULL);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    world *w = world_open(backend, NULL, NULL);
    for (int c = 0; c < n_calls; c++) {
        check_call(w, &calls[c]);
    }
    check_flags(w->ctx);
    check_no_stale_message(w, backend);
    check_null();
    check_null_arrays(w);
    if (strncmp(backend, "cpu", 3) == 0) { /* a GPU counts all pairs before it needs memory */
        check_too_large(w->ctx);
    }
    world_close(w);
    return check_done();
}
