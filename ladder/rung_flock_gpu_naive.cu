/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 1 on a GPU: one thread for each boid, which tests all others: O(n^2).
 */
#include "rung_flock_gpu.cuh"

static __global__ void step_naive(rung_flock_gpu g)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= g.n) {
        return;
    }
    const float own[3] = {g.r[3 * i], g.r[3 * i + 1], g.r[3 * i + 2]};
    neighbour_sums s = {0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int64_t j = 0; j < g.n; j++) {
        float d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = g.r[3 * j + k] - own[k];
            d[k] += d[k] > g.side / 2 ? -g.side : d[k] < -g.side / 2 ? g.side : 0;
        }
        if (j != i) {
            add_displacement(g, &s, d, g.v + 3 * j);
        }
    }
    move(g, s, i);
}

bool rung_flock_gpu_naive(rung_flock_gpu *g)
{
    step_naive<<<rung_gpu_blocks_for(g->n), RUNG_GPU_THREADS>>>(*g);
    return rung_flock_gpu_turn(g);
}
