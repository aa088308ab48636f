/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The union-find forest, an array of the parent of each node, which all threads change
 * concurrently. A root is its own parent; the parent of another node is a smaller node of its tree.
 * Only `unite` changes the parent of a root, by compare-and-swap. No fences are needed: nodes carry
 * no other data, and an outdated parent is still an ancestor.
 */
#ifndef KITH_GPU_FOREST_CUH
#define KITH_GPU_FOREST_CUH

#include "engine/gpu/device.cuh"

/** Return the parent of a node, read from memory, not from a register: other threads write it. */
static __device__ __forceinline__ int32_t parent_of(int32_t *parent, int32_t node)
{
    return *(volatile int32_t *)&parent[node];
}

/** Return the root of a node: the smallest node of its tree. Path halving: points each visited node
 *  at its grandparent. */
static __device__ __forceinline__ int32_t root_of(int32_t *parent, int32_t node)
{
    int32_t above = parent_of(parent, node);
    while (above != node) {
        const int32_t next = parent_of(parent, above);
        if (next == above) {
            return above;
        }
        *(volatile int32_t *)&parent[node] = next;
        node = next;
        above = parent_of(parent, node);
    }
    return node;
}

/** Unite two trees by pointing the larger root at the smaller one. Lock-free. @return the root. */
static __device__ __forceinline__ int32_t unite(int32_t *parent, int32_t a, int32_t b)
{
    while (true) {
        a = root_of(parent, a);
        b = root_of(parent, b);
        if (a == b) {
            return a;
        }
        const int32_t larger = a > b ? a : b;
        const int32_t smaller = a > b ? b : a;
        if (atomicCAS(&parent[larger], larger, smaller) == larger) {
            return smaller;
        }
    }
}

#endif
