/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building a k-d tree. The upper levels are split one after the other, the nodes of a level in
 * parallel, until there are several nodes for each thread; the subtrees below them are then built
 * in parallel.
 */
#include "tree.h"

#include "engine/cells.h"

enum {
    OPEN_EACH = 8,         /* least subtrees for each thread, for load balance; small trees have
                              fewer */
    INSERTION_SORTED = 24, /* largest number of records that are sorted by insertion */
    BLOCK = 128            /* records of a block of partition_blocks; an offset fits 8 bits */
};

/** A node that is not built yet. */
struct open_node {
    int64_t node;       /**< number of the node, in preorder */
    int64_t begin, end; /**< leaves [begin, end) of the node */
};

/** Shared state of the parallel loops that build a tree. */
struct build_loop {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< box and precision */
    const kith_points *points;             /**< the set */
    struct kith__tree *tree;               /**< the tree */
    void *records;                         /**< [n] struct record_f or record_d, by the precision: a
                                                permutation of the particles */
    struct open_node *open;                /**< [nodes of the level] nodes of the current level */
    struct open_node *next;                /**< [twice as many] nodes of the next level: their
                                                halves */
};

/** Set the smallest index of a node with leaves [begin, end) from those of its halves. */
static void join_least(const struct kith__tree *tree, int64_t node, int64_t begin, int64_t end)
{
    const int32_t left = tree->least[node + 1];
    const int32_t right = tree->least[node + 2 * (kith__tree_split(begin, end) - begin)];
    tree->least[node] = left < right ? left : right;
}

/** Set the smallest indices of a node with leaves [begin, end) and of the nodes of the next
 *  `levels - 1` levels below it. The subtrees below these levels are complete. */
static void join_levels(const struct kith__tree *tree, int64_t node, int64_t begin, int64_t end,
                        int levels)
{
    if (levels > 0) {
        const int64_t m = kith__tree_split(begin, end);
        join_levels(tree, node + 1, begin, m, levels - 1);
        join_levels(tree, node + 2 * (m - begin), m, end, levels - 1);
        join_least(tree, node, begin, end);
    }
}

/** Shared state of the parallel loop that copies radii. */
struct radii_loop {
    kith_precision precision; /**< precision of the radii */
    const void *radii;        /**< [n] radius of each particle, in the caller's order [length] */
    struct kith__tree *tree;  /**< the tree */
};

#define KITH_PER_PRECISION "nearest/cpu/tree_real.h"
#include "core/per_precision.h"

/** kith__range_fn: write the records of particles [begin, end). */
static void make_records(void *state, int64_t begin, int64_t end)
{
    const struct build_loop *loop = state;
    (loop->question->precision == KITH_FLOAT ? make_records_f : make_records_d)(loop, begin, end);
}

/** kith__piece_fn: split node `piece` of the current level, and write its halves to the next
 *  level. */
static void split_open(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct build_loop *loop = state;
    const struct open_node *node = &loop->open[piece];
    const int64_t m = kith__tree_split(node->begin, node->end);
    (loop->question->precision == KITH_FLOAT ? split_node_f : split_node_d)(loop, node->node,
                                                                            node->begin, node->end);
    loop->next[2 * piece] = (struct open_node){node->node + 1, node->begin, m};
    loop->next[2 * piece + 1] = (struct open_node){node->node + 2 * (m - node->begin), m,
                                                   node->end};
}

/** kith__piece_fn: build the subtree of node `piece` of the current level. */
static void build_open(void *state, int64_t piece, int worker)
{
    (void)worker;
    const struct build_loop *loop = state;
    const struct open_node *node = &loop->open[piece];
    (loop->question->precision == KITH_FLOAT ? build_subtree_f : build_subtree_d)(
        loop, node->node, node->begin, node->end);
}

/** Allocate the arrays of a tree, and the records, in scratch memory of the context: xyz and id in
 *  buffer number `buffer`, box in the next one, the records in buffer + 2, least in buffer + 4.
 *  Buffer + 3 is for the lists of open nodes, which kith__tree_build allocates, and buffer + 5 for
 *  the radii (kith__tree_radii).
 *  @param[out] records  [leaves * KITH_LEAF] memory for struct record_f or record_d
 *  @return KITH_OK, KITH_NO_MEMORY */
static kith_status need_tree(kith_ctx *ctx, kith_precision precision, int buffer,
                             struct kith__tree *tree, void **records)
{
    const size_t real = (size_t)precision;
    const size_t slots = (size_t)(tree->leaves * KITH_LEAF);
    const size_t record = precision == KITH_FLOAT ? sizeof(struct record_f)
                                                  : sizeof(struct record_d);
    char *at = kith__work_need(&ctx->work, buffer, slots * (3 * real + sizeof *tree->id));
    const size_t nodes = 2 * (size_t)tree->leaves;
    tree->box = kith__work_need(&ctx->work, buffer + 1, nodes * 6 * real);
    *records = kith__work_need(&ctx->work, buffer + 2, slots * record);
    tree->least = kith__work_need(&ctx->work, buffer + 4, nodes * sizeof *tree->least);
    KITH_CHECK(ctx, at && tree->box && *records && tree->least, KITH_NO_MEMORY,
               "out of memory for a tree of %lld particles", (long long)tree->n);
    for (int k = 0; k < 3; k++, at += slots * real) {
        tree->xyz[k] = at;
    }
    tree->id = (int32_t *)(void *)at;
    return KITH_OK;
}

/** kith__range_fn: write the radii of the particles of leaves [begin, end). */
static void copy_radii(void *state, int64_t begin, int64_t end)
{
    const struct radii_loop *loop = state;
    (loop->precision == KITH_FLOAT ? copy_radii_f : copy_radii_d)(loop, begin, end);
}

kith_status kith__tree_radii(kith_ctx *ctx, kith_precision precision, const void *radii, int buffer,
                             struct kith__tree *tree)
{
    if (tree->n == 0) {
        return KITH_OK;
    }
    const size_t real = (size_t)precision;
    const size_t slots = (size_t)(tree->leaves * KITH_LEAF);
    char *at = kith__work_need(&ctx->work, buffer + 5, (slots + 2 * (size_t)tree->leaves) * real);
    KITH_CHECK(ctx, at != NULL, KITH_NO_MEMORY, "out of memory for the radii of %lld particles",
               (long long)tree->n);
    tree->radius = at;
    tree->most_radius = at + slots * real;
    struct radii_loop loop = {precision, radii, tree};
    kith__loop(ctx, tree->leaves, copy_radii, &loop);
    KITH_TRY(kith__proceed(ctx));
    if (precision == KITH_FLOAT) {
        (void)join_radii_f(tree, 0, 0, tree->leaves);
    } else {
        (void)join_radii_d(tree, 0, 0, tree->leaves);
    }
    return KITH_OK;
}

kith_status kith__tree_build(kith_ctx *ctx, const struct kith__question *question,
                             const kith_points *points, int buffer, struct kith__tree *tree)
{
    *tree = (struct kith__tree){.n = points->n, .leaves = (points->n + KITH_LEAF - 1) / KITH_LEAF};
    if (points->n == 0) {
        return KITH_OK;
    }
    struct build_loop loop = {.ctx = ctx, .question = question, .points = points, .tree = tree};
    KITH_TRY(need_tree(ctx, question->precision, buffer, tree, &loop.records));
    kith__loop(ctx, points->n, make_records, &loop);
    const int threads = kith__threads_for(ctx, points->n);
    /* bound on the nodes of a level: one that is split has fewer than OPEN_EACH * threads */
    const size_t most = 2 * OPEN_EACH * (size_t)threads;
    loop.open = kith__work_need(&ctx->work, buffer + 3, 2 * most * sizeof *loop.open);
    KITH_CHECK(ctx, loop.open != NULL, KITH_NO_MEMORY, "out of memory for %d threads", threads);
    loop.next = loop.open + most;
    loop.open[0] = (struct open_node){0, 0, tree->leaves};
    int64_t n = 1;
    int levels = 0;
    /* The nodes of a level differ by one leaf at most. So a node that is split has four leaves or
     * more, where split_node needs two, and no subtree that one thread builds is a single leaf. */
    while (n < (int64_t)OPEN_EACH * threads && 4 * n <= tree->leaves && !kith__cancelled(ctx)) {
        kith__pool_run(ctx->pool, threads, n, split_open, &loop);
        struct open_node *swap = loop.open;
        loop.open = loop.next;
        loop.next = swap;
        n *= 2;
        levels++;
    }
    if (!kith__cancelled(ctx)) { /* all nodes of the level are listed */
        kith__pool_run(ctx->pool, threads, n, build_open, &loop);
    }
    KITH_TRY(kith__proceed(ctx));
    join_levels(tree, 0, 0, tree->leaves, levels);
    return KITH_OK;
}
