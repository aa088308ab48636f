/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building a k-d tree, for one precision. Included by tree.c through core/per_precision.h, once for
 * double and once for float: `real` is the type, and KITH_REAL(name) is name_d or name_f. tree.c
 * uses struct record, make_records, split_node, build_subtree, copy_radii and join_radii of each;
 * it defines struct build_loop, struct radii_loop, join_least, INSERTION_SORTED and BLOCK before.
 */

/** A particle while the tree is built. */
struct KITH_REAL(record) {
    real r[3];  /**< wrapped position [length] */
    int32_t id; /**< index in the caller's order */
};

/** Write the records of particles [begin, end): wrapped positions and indices. */
static void KITH_REAL(make_records)(const struct build_loop *loop, int64_t begin, int64_t end)
{
    const struct kith__question *q = loop->question;
    struct KITH_REAL(record) *records = loop->records;
    for (int64_t p = begin; p < end; p++) {
        int32_t image[3];
        (void)KITH_REAL(kith__load)(&q->KITH_REAL(box), loop->points, q->dim, p, records[p].r,
                                    image);
        records[p].id = (int32_t)p;
    }
}

/** Exchange two records; a may be b. */
static void KITH_REAL(exchange)(struct KITH_REAL(record) *a, struct KITH_REAL(record) *b)
{
    const struct KITH_REAL(record) keep = *a;
    *a = *b;
    *b = keep;
}

/** Sort records [begin, end) along an axis, by insertion. */
static void KITH_REAL(sort_few)(struct KITH_REAL(record) *p, int64_t begin, int64_t end, int axis)
{
    for (int64_t k = begin + 1; k < end; k++) {
        const struct KITH_REAL(record) one = p[k];
        int64_t at = k;
        for (; at > begin && p[at - 1].r[axis] > one.r[axis]; at--) {
            p[at] = p[at - 1];
        }
        p[at] = one;
    }
}

/** Return the median of three numbers. */
static real KITH_REAL(median)(real x, real y, real z)
{
    const real low = x < y ? x : y, high = x < y ? y : x;
    return z < low ? low : z > high ? high : z;
}

/** Return a coordinate near the median of records [begin, end), nine or more: Tukey's ninther, the
 *  median of the medians of three triples of records. */
static real KITH_REAL(guess_median)(const struct KITH_REAL(record) *p, int64_t begin, int64_t end,
                                    int axis)
{
    const int64_t step = (end - begin) / 9;
    real middle[3];
    for (int k = 0; k < 3; k++) {
        const struct KITH_REAL(record) *at = p + begin + (3 * k) * step;
        middle[k] = KITH_REAL(median)(at[0].r[axis], at[step].r[axis], at[2 * step].r[axis]);
    }
    return KITH_REAL(median)(middle[0], middle[1], middle[2]);
}

/** Exchange records of the blocks at both ends of [*begin, *end) that are on the wrong side of the
 *  pivot, or equal to it, without a branch for each record, and drop blocks from the range until it
 *  is shorter than two blocks. Records before *begin are then <= pivot, and those from *end on >=
 *  pivot (Edelkamp and Weiss 2016, BlockQuicksort). When the call is cancelled, it returns early,
 *  with a range of two blocks or more. */
static void KITH_REAL(partition_blocks)(kith_ctx *ctx, struct KITH_REAL(record) *p, int64_t *begin,
                                        int64_t *end, int axis, real pivot)
{
    /* offsets of the records to exchange: from *begin upwards, from *end - 1 downwards */
    uint8_t low[BLOCK], high[BLOCK];
    int n_low = 0, n_high = 0, at_low = 0, at_high = 0;
    for (int64_t step = 0; *end - *begin >= 2 * BLOCK && !kith__skip(ctx, step, BLOCK); step++) {
        if (n_low == 0) {
            at_low = 0;
            for (int k = 0; k < BLOCK; k++) {
                low[n_low] = (uint8_t)k;
                n_low += p[*begin + k].r[axis] >= pivot;
            }
        }
        if (n_high == 0) {
            at_high = 0;
            for (int k = 0; k < BLOCK; k++) {
                high[n_high] = (uint8_t)k;
                n_high += p[*end - 1 - k].r[axis] <= pivot;
            }
        }
        const int n = n_low < n_high ? n_low : n_high;
        for (int k = 0; k < n; k++) {
            KITH_REAL(exchange)(&p[*begin + low[at_low + k]], &p[*end - 1 - high[at_high + k]]);
        }
        n_low -= n;
        n_high -= n;
        at_low += n;
        at_high += n;
        *begin += n_low == 0 ? BLOCK : 0;
        *end -= n_high == 0 ? BLOCK : 0;
    }
}

/** Reorder records [begin, end) so that those before `nth` are <= record nth along the axis, and
 *  those after it >= (quickselect). O(end - begin) on average. Returns early when the call is
 *  cancelled. */
static void KITH_REAL(select_nth)(kith_ctx *ctx, struct KITH_REAL(record) *p, int64_t begin,
                                  int64_t end, int64_t nth, int axis)
{
    while (end - begin > INSERTION_SORTED) {
        const real pivot = KITH_REAL(guess_median)(p, begin, end, axis);
        int64_t low = begin, high = end;
        KITH_REAL(partition_blocks)(ctx, p, &low, &high, axis, pivot);
        if (high - low >= 2 * BLOCK) {
            return; /* cancelled */
        }
        high--;
        /* Hoare's partition. Its inner loops need no bounds: the pivot is one of the records at
         * first, and each exchange leaves a record >= pivot behind `low` and one <= pivot before
         * `high`. */
        while (low <= high) {
            while (p[low].r[axis] < pivot) {
                low++;
            }
            while (p[high].r[axis] > pivot) {
                high--;
            }
            if (low <= high) {
                KITH_REAL(exchange)(&p[low++], &p[high--]);
            }
        }
        /* records up to `high` are <= pivot, those from `low` on >=, and those between equal it */
        if (nth > high && nth < low) {
            return;
        }
        begin = nth >= low ? low : begin;
        end = nth <= high ? high + 1 : end;
    }
    KITH_REAL(sort_few)(p, begin, end, axis);
}

/** Set the bounding box of a node to that of records [begin, end), one or more.
 *  @return the axis of its longest side */
static int KITH_REAL(find_box)(kith_ctx *ctx, const struct KITH_REAL(record) *p, int64_t begin,
                               int64_t end, real box[6])
{
    enum { BOXED = 1 << 14 }; /* records between two tests for cancellation */
    real lo[3] = {p[begin].r[0], p[begin].r[1], p[begin].r[2]};
    real hi[3] = {lo[0], lo[1], lo[2]};
    int64_t s = begin;
    for (int64_t block = 1; s < end && !kith__skip(ctx, block, BOXED); block++) {
        for (const int64_t stop = end - s < BOXED ? end : s + BOXED; s < stop; s++) {
            for (int k = 0; k < 3; k++) {
                lo[k] = p[s].r[k] < lo[k] ? p[s].r[k] : lo[k];
                hi[k] = p[s].r[k] > hi[k] ? p[s].r[k] : hi[k];
            }
        }
    }
    int longest = 0;
    for (int k = 0; k < 3; k++) {
        box[k] = lo[k];
        box[3 + k] = hi[k];
        longest = hi[k] - lo[k] > hi[longest] - lo[longest] ? k : longest;
    }
    return longest;
}

/** Set the bounding box of a node with leaves [begin, end), two or more, and halve its records
 *  along the longest side: reorder them so that those of the left half come first. */
static void KITH_REAL(split_node)(const struct build_loop *loop, int64_t node, int64_t begin,
                                  int64_t end)
{
    const int64_t first = begin * KITH_LEAF;
    const int64_t n = loop->tree->n;
    const int64_t last = end * KITH_LEAF < n ? end * KITH_LEAF : n;
    real *box = (real *)loop->tree->box + 6 * node;
    const int axis = KITH_REAL(find_box)(loop->ctx, loop->records, first, last, box);
    KITH_REAL(select_nth)(loop->ctx, loop->records, first, last,
                          kith__tree_split(begin, end) * KITH_LEAF, axis);
}

/** Set the bounding box and the smallest index of a leaf, and copy its records to the arrays of the
 *  tree.
 *  @param node  number of the leaf among the nodes
 *  @param leaf  its number among the leaves */
static void KITH_REAL(write_leaf)(const struct build_loop *loop, int64_t node, int64_t leaf)
{
    const struct kith__tree *tree = loop->tree;
    const struct KITH_REAL(record) *records = loop->records;
    const int64_t first = leaf * KITH_LEAF;
    const int64_t last = first + KITH_LEAF < tree->n ? first + KITH_LEAF : tree->n;
    (void)KITH_REAL(find_box)(loop->ctx, records, first, last, (real *)tree->box + 6 * node);
    int32_t least = records[first].id;
    for (int64_t s = first + 1; s < last; s++) {
        least = records[s].id < least ? records[s].id : least;
    }
    tree->least[node] = least;
    for (int64_t s = first; s < first + KITH_LEAF; s++) {
        for (int k = 0; k < 3; k++) {
            ((real *)tree->xyz[k])[s] = s < last ? records[s].r[k] : (real)NAN;
        }
        tree->id[s] = s < last ? records[s].id : -1;
    }
}

/** Build the subtree of a node with leaves [begin, end), by recursion. Incomplete when the call is
 *  cancelled. */
static void KITH_REAL(build_subtree)(const struct build_loop *loop, int64_t node, int64_t begin,
                                     int64_t end)
{
    if (end - begin == 1) {
        KITH_REAL(write_leaf)(loop, node, begin);
    } else if (!kith__cancelled(loop->ctx)) {
        const int64_t m = kith__tree_split(begin, end);
        KITH_REAL(split_node)(loop, node, begin, end);
        KITH_REAL(build_subtree)(loop, node + 1, begin, m);
        KITH_REAL(build_subtree)(loop, node + 2 * (m - begin), m, end);
        join_least(loop->tree, node, begin, end);
    }
}

/** Write the radii of the particles of leaves [begin, end), in the order of the tree. */
static void KITH_REAL(copy_radii)(const struct radii_loop *loop, int64_t begin, int64_t end)
{
    const int32_t *id = loop->tree->id;
    for (int64_t s = begin * KITH_LEAF; s < end * KITH_LEAF; s++) {
        ((real *)loop->tree->radius)[s] = id[s] >= 0 ? ((const real *)loop->radii)[id[s]] : 0;
    }
}

/** Set the largest radius of a node with leaves [begin, end), and of all nodes below it.
 *  @return that radius */
static real KITH_REAL(join_radii)(const struct kith__tree *tree, int64_t node, int64_t begin,
                                  int64_t end)
{
    real most = 0;
    if (end - begin == 1) {
        const real *radius = (const real *)tree->radius + begin * KITH_LEAF;
        for (int s = 0; s < KITH_LEAF; s++) {
            most = radius[s] > most ? radius[s] : most;
        }
    } else {
        const int64_t m = kith__tree_split(begin, end);
        const real left = KITH_REAL(join_radii)(tree, node + 1, begin, m);
        const real right = KITH_REAL(join_radii)(tree, node + 2 * (m - begin), m, end);
        most = left > right ? left : right;
    }
    ((real *)tree->most_radius)[node] = most;
    return most;
}
