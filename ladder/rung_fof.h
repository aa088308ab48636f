/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rungs of the ladder of groups share. Every rung answers the same question: which points
 * are friends of friends, where friends are points within the cutoff. Labels are those of
 * kith_fof_find: groups numbered by falling size, then by their smallest point.
 */
#ifndef KITH_RUNG_FOF_H
#define KITH_RUNG_FOF_H

#include "rung.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A rung.
 * @param least         points from which a group is kept; those of smaller ones get label 0
 * @param[out] labels   [n]; in device memory for a GPU's rung
 * @param[out] scratch  bytes held at the peak, beside the labels
 * @return false when memory could not be had, or the library failed
 */
typedef bool (*rung_label)(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/** A rung and its name. */
typedef struct rung_way {
    const char *name;
    rung_label find;
} rung_way;

bool rung_fof_all_pairs(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_tree(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_cells(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);
bool rung_fof_mainline(const rung_input *in, int64_t least, int32_t *labels, int64_t *scratch);

/* Trees: each point names another of its group, up to the root, which names itself and is the
 * smallest of its tree. */

/** Plant n trees of one point. @return [n] to be freed; NULL without memory */
int32_t *rung_plant(int64_t n);

/** Find the root of a point; on the way every second point is moved to its grandparent. */
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

/** Number the trees of at least that many points, and label the points; 0 in smaller ones.
 *  @param[in,out] scratch  grows by what this takes
 *  @return how many were numbered; -1 without memory */
int64_t rung_number(int32_t *parent, int64_t n, int64_t least, int32_t *labels, int64_t *scratch);

#ifdef __cplusplus
}
#endif

#endif
