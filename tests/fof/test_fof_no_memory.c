/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of a search for groups made to fail.
 */
#include <stdlib.h>

#include "check.h"
#include "no_memory.h"
#include "points.h"

enum { N = 240 };

typedef struct search {
    kith_points points, more; /* the second search needs more memory */
    const kith_box *box;
    kith_fof_options options;
    kith_groups groups;
} search;

static kith_status find(void *user, kith_ctx *ctx, int64_t *seen)
{
    search *s = user;
    const kith_points *const points[2] = {&s->points, &s->more};
    kith_status status = KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        status = kith_fof_find(ctx, points[k], s->box, 0.01, &s->options, &s->groups);
        CHECK(status == KITH_OK || s->groups.n == 0, "%lld groups after a failure",
              (long long)s->groups.n);
        *seen += s->groups.n;
        for (int64_t p = 0; p < points[k]->n && status == KITH_OK; p++) {
            *seen += s->groups.labels[p];
        }
    }
    return status;
}

static void release(void *user)
{
    kith_groups_free(&((search *)user)->groups);
}

/* Points in a periodic box; a half of them far away; two dense clumps a little too far apart to be
 * linked, which are compared in parts. */
static double *make_points(int kind, rng *r)
{
    static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, tiny[3] = {1e-4, 1e-4, 1e-4};
    double *xyz = points_uniform(r, N, zero, kind == 2 ? tiny : one);
    for (int64_t p = 0; p < N; p += 2) {
        xyz[3 * p] += kind == 1 ? 1e6 : kind == 2 ? 0.0102 : 0;
    }
    return xyz;
}

int main(int argc, char **argv)
{
    static uint8_t roles[N];
    static int64_t ids[N];
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {12};
    for (int p = 0; p < N; p++) {
        roles[p] = (uint8_t)(p % 7 == 0 ? KITH_ATTACH : p % 11 == 0 ? KITH_IGNORE : KITH_LINK);
        ids[p] = N - p;
    }
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_box thin = kith_box_triclinic(1, 1, 0.002, 0.3, 0.2, 0.1);
    for (int turn = 0; turn < 7; turn++) {
        const int kind = turn %
                         3; /* all kinds with all particles alike, one with each other form */
        const int form = turn < 3 ? 0 : turn > 4 ? turn - 4 : turn - 2;
        double *xyz = make_points(kind, &r);
        search s = {.points = kith_points_packed(xyz, N / 3, KITH_DOUBLE),
                    .more = kith_points_packed(xyz, N, KITH_DOUBLE),
                    .box = turn > 4    ? &thin
                           : kind == 1 ? NULL
                                       : &box};
        kith_fof_options_init(&s.options);
        s.options.min_members = 1;
        s.options.ids = form > 0 ? ids : NULL;
        s.options.roles = form == 1 ? roles : NULL;
        s.options.min_links = form == 1 ? 1 : 0;
        s.options.velocities = form == 2 ? xyz : NULL;
        s.options.velocity_length = 1;
        no_memory_check(&(no_memory_use){backend, find, release, &s});
        free(xyz);
    }
    return check_done();
}
