/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladder of groups share. Every rung finds the groups of
 * friends of friends, where friends are points within the cutoff. Labels are those of
 * kith_fof_find: groups are numbered by descending size, then by the smallest index of their
 * points.
 */
#ifndef KITH_RUNG_FOF_H
#define KITH_RUNG_FOF_H

#include "rung.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A rung.
 * @param least         least number of points of a group; points of smaller groups get label 0
 * @param[out] labels   [n]; in device memory for a rung on a GPU
 * @param[out] scratch  largest amount of memory held, without the labels [byte]
 * @return false if memory is exhausted or the library fails
 */
typedef bool (*rung_label)(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/** A rung and its name. */
typedef struct rung_way {
    const char *name; /**< name of the rung */
    rung_label find;  /**< the rung */
} rung_way;

bool rung_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/* Union-find: parent[p] is another point of the group of p, up to the root, which is its own parent
   and has the smallest index of its tree. */

/** Make n trees of one point. @return parent [n], to be freed; NULL if memory is exhausted */
int32_t *rung_plant(int64_t n);

/** Find the root of a point, with path halving: points each visited node at its grandparent. */
static inline int32_t rung_root(int32_t *parent, int32_t p)
{
    while (parent[p] != p) {
        parent[p] = parent[parent[p]];
        p = parent[p];
    }
    return p;
}

/** Unite the trees of two points. */
static inline void rung_unite(int32_t *parent, int32_t a, int32_t b)
{
    a = rung_root(parent, a);
    b = rung_root(parent, b);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

/** Number the trees of at least `least` points, and label the points; 0 in smaller trees.
 *  @param[in,out] scratch  grows by the memory that is used [byte]
 *  @return the number of groups; -1: memory is exhausted */
int64_t rung_number(int32_t *parent, int64_t n, int64_t least, int32_t *labels, int64_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
