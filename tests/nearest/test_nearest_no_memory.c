/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of a search for nearest neighbours made to fail: of one set in a periodic box,
 * and of two sets.
 */
#include <stdlib.h>

#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 6000, K = 5 };

/** A use of the library. */
typedef struct search {
    kith_points points, against;
    kith_box box;
    bool cross;
    kith_nearest found;
} search;

static kith_status find(void *user, kith_ctx *ctx, int64_t *seen)
{
    search *s = user;
    kith_nearest_options options;
    kith_nearest_options_init(&options);
    options.against = s->cross ? &s->against : NULL;
    options.extras = KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS;
    const kith_status status = kith_nearest_find(ctx, &s->points, &s->box, K, &options, &s->found);
    CHECK(s->found.rows == (status == KITH_OK ? N : 0), "%lld rows", (long long)s->found.rows);
    for (int64_t e = 0; e < K * s->found.rows; e++) {
        *seen += s->found.j[e] * (e % 7);
    }
    return status;
}

static void release(void *user)
{
    kith_nearest_free(&((search *)user)->found);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {10};
    search s = {.box = kith_box_triclinic(1, 1, 1, 0.2, 0, 0.1), .found = {.size = sizeof s.found}};
    double *xyz = points_in_box(&r, N, &s.box), *other = points_in_box(&r, 300, &s.box);
    s.points = kith_points_packed(xyz, N, KITH_DOUBLE);
    s.against = kith_points_packed(other, 300, KITH_DOUBLE);
    for (int cross = 0; cross < 2; cross++) {
        s.cross = cross;
        no_memory_check(&(no_memory_use){backend, find, release, &s});
    }
    free(xyz);
    free(other);
    return check_done();
}
