/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every allocation of kith_halos_measure made to fail, one by one: KITH_NO_MEMORY, nothing leaked,
 * and the same call succeeds when there is memory again.
 */
#include "alloc.h"
#include "check.h"
#include "points.h"

#include <stdbool.h>
#include <stdlib.h>

enum { N = 2000, GROUPS = 7 };

int main(int argc, char **argv)
{
    rng r = {1};
    kith_ctx *ctx = check_open(check_backend(argc, argv), 2);
    double *xyz = points_clustered(&r, N, GROUPS, 1, 0.05);
    int32_t *labels = check_malloc(N * sizeof *labels);
    for (int p = 0; p < N; p++) {
        labels[p] = p % (GROUPS + 1);
    }
    const kith_points points = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_box box = kith_box_periodic(1, 1, 1);
    const kith_groups groups = {.n = GROUPS, .points = N, .labels = labels};
    kith_halo_input input;
    kith_halo_input_init(&input);
    input.sphere_density[0] = 10 * N;
    const int64_t live = alloc_live();
    int failed = 0;
    bool reached = true;
    for (int64_t k = 0; reached && k < 1000; k++) {
        kith_halos halos = {0};
        const int64_t before = alloc_count();
        alloc_fail(k, 1);
        const kith_status status = kith_halos_measure(ctx, &points, &box, &groups, &input, &halos);
        alloc_fail(0, 0);
        reached = alloc_count() - before > k;
        /* the search gets by without some of its memory */
        CHECK(status == KITH_OK || (reached && status == KITH_NO_MEMORY), "allocation %d: %s: %s",
              (int)k, kith_status_name(status), kith_message(ctx));
        CHECK(halos.n == (status == KITH_OK ? GROUPS : 0), "%d halos", (int)halos.n);
        failed += status == KITH_NO_MEMORY;
        CHECK(kith_halos_measure(ctx, &points, &box, &groups, &input, &halos) == KITH_OK,
              "after allocation %d: %s", (int)k, kith_message(ctx));
        kith_halos_free(&halos);
        kith_close(ctx); /* its scratch, too, is to be missed once */
        ctx = check_open(check_backend(argc, argv), 2);
    }
    CHECK(failed > 5, "%d allocations failed", failed);
    kith_close(ctx);
    CHECK(alloc_live() < live, "memory is left");
    free(xyz);
    free(labels);
    return check_done();
}
