/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 6: a kd-tree and chains, as the GPU halo finder that kith grew from has them
 * (github.com/danielkylewood/gpu-halo-finder): rung 2 with its search on the GPU. One core builds
 * the tree by median selection, from points in host memory; a thread for each point then walks
 * through it without a stack, and chains are linked by compare-and-swap.
 *
 * The three faults of the original, which rung_fof_tree.c explains, are mended here too:
 *
 *   coincident points never link: here a point is known by its place, not by a distance of 0;
 *   equal coordinates break the median split: the build is that of rung 2, where they do not;
 *   identity is lost: chains are of indices, which the nodes carry.
 *
 * Slow, because the build takes one core and then has to be brought over, which is nearly all of
 * the time of sparse sets; and because the lanes of a warp walk apart, each node is a cache miss of
 * its own, and a chain that is never shortened is followed for every pair in a halo.
 */
#include "rung_gpu_fof.h"
#include "rung_tree.h"

#include <stdlib.h>

static __device__ void link_chains(int32_t *chain, int32_t a, int32_t b)
{
    do {
        a = rung_gpu_root(chain, a);
        b = rung_gpu_root(chain, b);
    } while (!rung_gpu_hook(chain, a, b));
}

static __global__ void search(const rung_node *nodes, int32_t n, int32_t root, double cutoff,
                              int32_t *chain)
{
    const int64_t place = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= n) {
        return;
    }
    const rung_node me = nodes[place];
    int32_t at = root, from = -1;
    while (at >= 0) {
        const rung_node *const here = &nodes[at];
        if (from == here->up && at > place && rung_is_pair(me.x, here->x, cutoff)) {
            link_chains(chain, me.id, here->id);
        }
        const int32_t to = rung_tree_step(here, from, me.x, cutoff);
        from = at;
        at = to;
    }
}

static bool link_points(const rung_input *in, rung_gpu_memory *memory, int32_t *chain)
{
    const size_t bytes = (size_t)in->n * sizeof(rung_node);
    rung_node *const built = (rung_node *)malloc(bytes + 1);
    rung_node *const nodes = (rung_node *)rung_gpu_alloc(memory, (int64_t)bytes);
    const int32_t root = built && nodes ? rung_tree_build(in, built) : -1;
    const bool ok = built && nodes &&
                    cudaMemcpy(nodes, built, bytes, cudaMemcpyHostToDevice) == cudaSuccess;
    free(built);
    if (!ok) {
        return false;
    }
    search<<<rung_gpu_blocks_for(in->n), RUNG_GPU_THREADS>>>(nodes, (int32_t)in->n, root,
                                                             in->cutoff, chain);
    return cudaGetLastError() == cudaSuccess;
}

bool rung_gpu_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch)
{
    return rung_gpu_label(in, link_points, least, labels, scratch);
}
