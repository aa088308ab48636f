/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 9 on a GPU: the library. It counts boids into cells as they are moved, without a sort; a
 * warp tests a tile of candidates against the boids of some cells, and a matrix unit sums for eight
 * boids at a time. Sums are of integers, so that their bits do not depend on the order of threads.
 */
#include "rung_flock_gpu.h"

#include <stdio.h>

bool rung_flock_gpu_open(rung_flock_gpu *g, const rung_herd *herd)
{
    const kith_points r = kith_points_packed(herd->r, herd->n, KITH_FLOAT);
    const kith_points v = kith_points_packed(herd->v, herd->n, KITH_FLOAT);
    const kith_box box = kith_box_periodic(herd->side, herd->side, herd->side);
    kith_options options;
    kith_options_init(&options);
    options.backend = "cuda";
    kith_flock_close(g->flock);
    g->flock = NULL;
    const bool ok = (g->ctx || kith_open(&options, &g->ctx) == KITH_OK) &&
                    kith_flock_open(g->ctx, &r, &v, &box, NULL, &g->flock) == KITH_OK;
    if (!ok) {
        fprintf(stderr, "ladder_flock: %s\n", kith_message(g->ctx));
    }
    return ok;
}

bool rung_flock_gpu_mainline(rung_flock_gpu *g, int64_t steps)
{
    if (kith_flock_step(g->flock, steps) != KITH_OK) {
        fprintf(stderr, "ladder_flock: %s\n", kith_message(g->ctx));
        return false;
    }
    return true;
}
