/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbering the groups of union-find trees, by a counting sort of their sizes.
 */
#include "rung_fof.h"

#include <stdlib.h>

int32_t *rung_plant(int64_t n)
{
    int32_t *const parent = malloc(((size_t)n + 1) * sizeof *parent);
    for (int32_t p = 0; parent && p < n; p++) {
        parent[p] = p;
    }
    return parent;
}

int64_t rung_number(int32_t *parent, int64_t n, int64_t least, int32_t *labels, int64_t *scratch)
{
    int32_t *const size = calloc((size_t)n + 1, sizeof *size); /* size of each tree, at its root */
    int32_t *const next = calloc((size_t)n + 2, sizeof *next); /* next number of a group, by size */
    int64_t groups = size && next ? 0 : -1;
    *scratch += n * (int64_t)(sizeof *size + sizeof *next);
    for (int32_t p = 0; groups == 0 && p < n; p++) {
        size[rung_root(parent, p)]++;
    }
    for (int64_t p = 0; groups == 0 && p < n; p++) {
        next[size[p]]++;
    }
    for (int64_t s = n; groups >= 0 && s >= least; s--) {
        const int32_t count = next[s];
        next[s] = (int32_t)groups + 1;
        groups += count;
    }
    for (int32_t p = 0; groups >= 0 && p < n; p++) { /* a root is before the others of its tree */
        const int32_t root = rung_root(parent, p);
        if (root < p) {
            labels[p] = labels[root];
        } else {
            labels[p] = size[p] < least ? 0 : next[size[p]]++;
        }
    }
    free(size);
    free(next);
    return groups;
}
