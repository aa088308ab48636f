/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of a kept list made to fail: of the first update, of one that keeps the pairs
 * and grows the list, of a rebuild; of one system, and on CPU cores of a batch.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 3000 };

/** A use of the library. */
typedef struct walk {
    double *now, *later, *far; /* positions */
    int is_batch;
    kith_verlet *verlet;
    kith_pairs list;
} walk;

static kith_status update(walk *w, const double *x, int64_t *seen)
{
    const kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(10, 10, 10);
    const int64_t offsets[] = {0, 1200, 1201, N};
    const kith_batch batch = {.size = sizeof batch, .systems = 3, .offsets = offsets};
    const kith_status status = w->is_batch ? kith_verlet_update_batch(w->verlet, &points, &box,
                                                                      &batch, &w->list)
                                           : kith_verlet_update(w->verlet, &points, &box, &w->list);
    CHECK(w->list.rows == (status == KITH_OK ? N : 0), "%lld rows", (long long)w->list.rows);
    for (int64_t p = 0; p < w->list.n; p++)
        *seen += w->list.j[p] * (p % 7);
    return status;
}

static kith_status work(void *user, kith_ctx *ctx, int64_t *seen)
{
    walk *w = user;
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = 1;
    o.skin = 0.4;
    o.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    /* after a failure the list goes on */
    kith_status status = w->verlet ? KITH_OK : kith_verlet_open(ctx, &o, &w->verlet);
    status = status == KITH_OK ? update(w, w->now, seen) : status;
    status = status == KITH_OK ? update(w, w->later, seen) : status;
    return status == KITH_OK ? update(w, w->far, seen) : status;
}

static void release(void *user)
{
    walk *w = user;
    kith_verlet_close(w->verlet);
    kith_pairs_free(&w->list);
    w->verlet = NULL;
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {12};
    const kith_box box = kith_box_periodic(10, 10, 10);
    walk w = {.now = points_in_box(&r, N, &box), .list = {.size = sizeof w.list}};
    w.later = points_copy(w.now, N);
    w.far = points_copy(w.now, N);
    for (int p = 0; p < 3 * N; p++) { /* together around the centre: more pairs */
        w.later[p] += (5 - w.now[p]) * 0.02;
        w.far[p] += (5 - w.now[p]) * 0.3;
    }
    no_memory_check(&(no_memory_use){backend, work, release, &w});
    if (strncmp(backend, "cpu", 3) == 0) {
        w.is_batch = 1;
        no_memory_check(&(no_memory_use){backend, work, release, &w});
    }
    free(w.now);
    free(w.later);
    free(w.far);
    return check_done();
}
