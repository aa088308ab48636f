/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of a flock made to fail; and steps that allocate nothing once they have gone.
 */
#include <stdlib.h>

#include "alloc.h"
#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 300 };

typedef struct flight {
    kith_points r, v;
    kith_flock_options options;
    kith_flock *flock;
} flight;

static void release(void *user)
{
    flight *f = user;
    kith_flock_close(f->flock);
    f->flock = NULL;
}

static kith_status fly(void *user, kith_ctx *ctx, int64_t *seen)
{
    flight *f = user;
    release(f);
    const kith_box box = kith_box_periodic(12, 12, 12);
    kith_flock_measures m;
    kith_status status = kith_flock_open(ctx, &f->r, &f->v, &box, &f->options, &f->flock);
    CHECK((status == KITH_OK) == (f->flock != NULL), "a flock after a failure");
    for (int s = 0; s < 2 && status == KITH_OK; s++)
        status = kith_flock_step(f->flock, 1);
    kith_flock_options changed = f->options;
    changed.alignment.radius = 6; /* more than any rule had */
    if (status == KITH_OK)
        status = kith_flock_change(f->flock, &changed);
    if (status == KITH_OK)
        status = kith_flock_step(f->flock, 1);
    if (status == KITH_OK)
        status = kith_flock_measure(f->flock, &m);
    if (status == KITH_OK)
        *seen += (int64_t)(m.polarisation * 1e9) + kith_flock_steps(f->flock);
    return status;
}

static void check_repeated(const char *backend, const flight *f)
{
    kith_ctx *ctx = check_open(backend, 2);
    kith_flock *flock = NULL;
    const kith_box box = kith_box_periodic(12, 12, 12);
    CHECK(kith_flock_open(ctx, &f->r, &f->v, &box, &f->options, &flock) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(kith_flock_step(flock, 2) == KITH_OK, "%s", kith_message(ctx));
    const int64_t before = alloc_count();
    CHECK(kith_flock_step(flock, 2) == KITH_OK, "%s", kith_message(ctx));
    CHECK(alloc_count() == before, "%lld allocations in a repeated step",
          (long long)(alloc_count() - before));
    kith_flock_close(flock);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    static const double low[3] = {0, 0, 0}, high[3] = {12, 12, 12}, minus[3] = {-1, -1, -1};
    static const double one[3] = {1, 1, 1};
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {8};
    double *xyz = points_uniform(&r, N, low, high), *vel = points_uniform(&r, N, minus, one);
    static const kith_flock_factors heed[4] = {{1, 1, 1}, {0, 1, 1}, {0, 2, 1}, {1, 1, 0}};
    for (int kind = 0; kind < 3; kind++) {
        flight f = {.r = kith_points_packed(xyz, N, KITH_DOUBLE),
                    .v = kith_points_packed(vel, N, KITH_DOUBLE)};
        kith_flock_options_init(&f.options);
        f.options.nearest = kind == 1 ? 7 : 0;
        f.options.n_species = kind == 2 ? 2 : 0;
        f.options.factors = kind == 2 ? heed : NULL;
        no_memory_check(&(no_memory_use){backend, fly, release, &f});
        check_repeated(backend, &f);
    }
    free(xyz);
    free(vel);
    return check_done();
}
