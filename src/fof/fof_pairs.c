/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends from the pair search, for boxes and linking lengths that subcells (subcells.h)
 * do not suit. Every pair of kith_pairs_each is an edge; a union-find forest of particles joins
 * them. O(n + pairs) time; memory for the particles and one block of pairs. The search ends early
 * once all particles are in one tree.
 */
#include <stdlib.h>

#include "groups.h"
#include "pairs/pairs.h"

/* Pairs in each block that the search passes to link_block. */
enum { BLOCK_PAIRS = 1 << 18 };

/** Numbers of buffers of the context's scratch memory. */
enum { PARENT = KITH_FOF_PAIRS_BUFFER, MEMBERS, GROUPS, BUFFERS_END };
_Static_assert((int)BUFFERS_END <= (int)KITH_FOF_FETCHED_BUFFER,
               "every purpose needs its own buffer");

/** A group: a tree of at least fof->min_members particles. */
struct group {
    int64_t least_id; /**< smallest id of its particles; without ids their smallest index */
    int32_t members;  /**< number of its particles */
    int32_t root;     /**< root of the tree: index of a particle */
};

/** A union-find forest of all particles. The root of a tree is its smallest index. */
struct forest {
    const struct kith__question *question; /**< points, box and linking length */
    const struct kith__fof *fof;           /**< options */
    int32_t *parent; /**< [n] parent of each particle in its tree; a root is its own parent */
    int64_t trees;   /**< number of trees; a particle without friends is one */
    bool complete;   /**< early exit: the search was stopped because one tree holds all particles */
    /** [n] at a root the number of particles of its tree, elsewhere 0. At the root of group g,
     *  list_groups replaces it by -1 - g, groups being in the order of their roots; write_groups
     *  does so again, in the order of the labels. */
    int32_t *members;
    int64_t n_groups;    /**< number of groups */
    struct group *group; /**< [n_groups] the groups, in the order of their labels */
};

/** Return the root of the tree of particle p. Path halving: points each visited particle at its
 *  grandparent. */
static int32_t root_of(int32_t *parent, int32_t p)
{
    while (parent[p] != p) {
        parent[p] = parent[parent[p]];
        p = parent[p];
    }
    return p;
}

/** kith_block_fn: unite the trees of each pair of friends of a block.
 *  @return 1, which ends the search, once all particles are in one tree; else 0 */
static int link_block(void *user, const kith_pairs *block, int64_t first)
{
    struct forest *f = user;
    (void)first;
    for (int64_t p = 0; p < block->n && f->trees > 1; p++) {
        const int32_t a = root_of(f->parent, block->i[p]);
        const int32_t b = root_of(f->parent, block->j[p]);
        double r2;
        if (a != b && (!f->fof->velocities || kith__are_friends(f->question, f->fof, block, p,
                                                                block->i[p], block->j[p], &r2))) {
            f->parent[a > b ? a : b] = a < b ? a : b;
            f->trees--;
        }
    }
    f->complete = f->trees == 1;
    return f->complete;
}

/** Unite the trees of all pairs of friends. */
static kith_status link_all(kith_ctx *ctx, struct forest *f)
{
    struct kith__question question = *f->question;
    question.subcell = 0; /* the pair search has cells of the linking length, not subcells */
    for (int64_t p = 0; p < question.a.n; p++) {
        f->parent[p] = (int32_t)p;
    }
    f->trees = question.a.n;
    const struct kith__list list = {.extras = f->fof->velocities ? KITH_VECTORS : 0,
                                    .block_pairs = BLOCK_PAIRS};
    const kith_status status = ctx->backend->pairs->each(ctx, &question, &list, link_block, f);
    return status == KITH_CANCELLED && f->complete ? KITH_OK : status;
}

/** Compare two groups, for qsort: by falling size, then by smallest id, then by root. */
static int by_size_then_id(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    if (a->members != b->members) {
        return a->members < b->members ? 1 : -1;
    }
    if (a->least_id != b->least_id) {
        return a->least_id < b->least_id ? -1 : 1;
    }
    return (a->root > b->root) - (a->root < b->root);
}

/** Point every particle at its root, and count the particles of each tree at the root. */
static void count_members(struct forest *f)
{
    for (int64_t p = 0; p < f->question->a.n; p++) {
        f->members[p] = 0;
        f->parent[p] = root_of(f->parent, (int32_t)p);
        f->members[f->parent[p]]++;
    }
}

/** List the trees of at least min_members particles by falling size, ties by the smallest id. */
static kith_status list_groups(kith_ctx *ctx, struct forest *f)
{
    const int64_t n = f->question->a.n;
    const int64_t *ids = f->fof->ids;
    for (int64_t p = 0; p < n; p++) {
        f->n_groups += f->members[p] >= f->fof->min_members;
    }
    struct group *group = kith__work_need(&ctx->work, GROUPS, (size_t)f->n_groups * sizeof *group);
    KITH_CHECK(ctx, group != NULL, KITH_NO_MEMORY, "out of memory for %lld groups",
               (long long)f->n_groups);
    int32_t found = 0;
    for (int64_t p = 0; p < n; p++) {
        if (f->members[p] >= f->fof->min_members) {
            group[found] = (struct group){ids ? INT64_MAX : p, f->members[p], (int32_t)p};
            f->members[p] = -++found;
        }
    }
    for (int64_t p = 0; p < n && ids; p++) {
        const int32_t g = -1 - f->members[f->parent[p]]; /* number of its group; < 0: in none */
        if (g >= 0 && ids[p] < group[g].least_id) {
            group[g].least_id = ids[p];
        }
    }
    qsort(group, (size_t)f->n_groups, sizeof *group, by_size_then_id);
    f->group = group;
    return KITH_OK;
}

/** Write the number of members of each group, and the label of each particle. */
static kith_status write_groups(kith_ctx *ctx, struct forest *f, kith_groups *out)
{
    KITH_TRY(kith__groups_number(ctx, f->n_groups, out));
    for (int64_t g = 0; g < f->n_groups; g++) {
        out->members[g] = f->group[g].members;
        f->members[f->group[g].root] = (int32_t)(-g - 1);
    }
    for (int64_t p = 0; p < f->question->a.n; p++) {
        const int32_t g = -1 - f->members[f->parent[p]]; /* number of its group; < 0: in none */
        out->labels[p] = g >= 0 ? g + 1 : 0;
    }
    return KITH_OK;
}

kith_status kith__fof_by_pairs(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    const size_t bytes = (size_t)q->a.n * sizeof(int32_t);
    struct forest f = {.question = q,
                       .fof = fof,
                       .parent = kith__work_need(&ctx->work, PARENT, bytes),
                       .members = kith__work_need(&ctx->work, MEMBERS, bytes)};
    KITH_CHECK(ctx, f.parent && f.members, KITH_NO_MEMORY,
               "out of memory for the groups of %lld particles", (long long)q->a.n);
    KITH_TRY(kith__groups_need(ctx, q->a.n, out));
    KITH_TRY(link_all(ctx, &f));
    count_members(&f);
    KITH_TRY(list_groups(ctx, &f));
    return write_groups(ctx, &f, out);
}
