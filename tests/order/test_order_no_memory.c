/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of an order of particles made to fail: by rows of cells, along the curve, and
 * with keys that need two sorts.
 */
#include <stdlib.h>

#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 6000 };

/** A use of the library. */
typedef struct search {
    kith_points points;
    double cell;
    kith_order found;
} search;

static kith_status find(void *user, kith_ctx *ctx, int64_t *seen)
{
    search *s = user;
    const kith_status status = kith_order_find(ctx, &s->points, NULL, s->cell, &s->found);
    CHECK(s->found.n == (status == KITH_OK ? N : 0), "%lld particles", (long long)s->found.n);
    for (int64_t k = 0; k < s->found.n; k++)
        *seen += s->found.order[k] * (k % 7);
    return status;
}

static void release(void *user)
{
    kith_order_free(&((search *)user)->found);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {10};
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = points_in_box(&r, N, &box);
    const double cells[] = {0, 0.1, 1e-6};
    for (int c = 0; c < 3; c++) {
        search s = {.points = kith_points_packed(xyz, N, KITH_DOUBLE),
                    .cell = cells[c],
                    .found = {.size = sizeof s.found}};
        no_memory_check(&(no_memory_use){backend, find, release, &s});
    }
    free(xyz);
    return check_done();
}
