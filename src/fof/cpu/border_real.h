/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking two cells by their borders, for one precision. The border of a cell is its particles that
 * are near the other cell. For cells of many particles, this is much faster than testing clump by
 * clump: where each border is in one tree, the first pair of friends ends the test. Included
 * by link_kernel.c, which defines CAPACITY and LANES, through per_precision.h, which defines the
 * type `real` and KITH_REAL(name), name_d or name_f.
 */

/** The particles of one cell that are near another cell, copied to consecutive entries. */
struct KITH_REAL(border) {
    int64_t n;      /**< particles */
    bool truncated; /**< the selection stopped before the end of the cell, as the arrays could not
                         hold another vector: the remaining particles were not tested */
    bool mixed;     /**< the entries of `root` are not all equal */
    /** [n] coordinates [length]. Arrays are padded for vectors beyond the last particle. */
    real x[CAPACITY + LANES], y[CAPACITY + LANES], z[CAPACITY + LANES];
    int32_t slot[CAPACITY + LANES]; /**< [n] slots, ascending */
    /** [n] root of the tree of each particle, when it was last read: another thread may have united
     *  that tree since. */
    int32_t root[CAPACITY + LANES];
};

/** Return the bounding box of a dense cell; NULL: the cell is not dense. */
KITH_INLINE const struct KITH_REAL(bbox) *KITH_REAL(bbox_of_cell)(
    const struct kith__friends *f, const struct kith__cell_image *target)
{
    const struct KITH_REAL(bbox) *all = f->bboxes;
    return target->end - target->begin < KITH_DENSE
               ? NULL
               : &all[f->dense[target->begin / KITH_DENSE].index];
}

/** Select the particles of a cell whose squared distance from a bounding box is at most t->near2,
 *  up to the capacity of the border: sets all of *out except `mixed` and `root`. */
static void KITH_REAL(select_near)(const struct KITH_REAL(traversal) *t,
                                   const struct kith__cell_image *target,
                                   const struct KITH_REAL(bbox) *bbox,
                                   struct KITH_REAL(border) *out)
{
    const int64_t end = t->f->first[target->end];
    const KITH_REAL(vector) zero = {0};
    const real *const axis[3] = {t->x, t->y, t->z};
    out->n = 0;
    int64_t p = t->f->first[target->begin];
    for (; p < end && out->n <= CAPACITY - W; p += W) {
        unsigned near = 0; /* bit k: particle p + k is selected */
        for (int h = 0; h < W; h += KITH_REAL(SIDE_BY_SIDE)) {
            KITH_REAL(vector) gap2 = zero;
            for (int k = 0; k < 3; k++) {
                const KITH_REAL(vector) x = KITH_REAL(load)(axis[k] + p + h);
                const KITH_REAL(vector) gap = KITH_REAL(larger)(
                    KITH_REAL(larger)(bbox->lo[k] - x, x - bbox->hi[k]), zero);
                gap2 += gap * gap;
            }
            near |= KITH_REAL(lanes_to)(gap2, t->near2) << h;
        }
        near &= lanes_before(end - p);
        if (near) {
            KITH_REAL(pack)(out->x + out->n, t->x + p, near);
            KITH_REAL(pack)(out->y + out->n, t->y + p, near);
            KITH_REAL(pack)(out->z + out->n, t->z + p, near);
            vi_compress(out->slot + out->n, vi_lanes() + (int32_t)p, near);
            out->n += __builtin_popcount(near);
        }
    }
    assert(out->n <= CAPACITY);
    out->truncated = p < end;
}

/** Set out->root, the root of the tree of each selected particle, and out->mixed. First all are set
 *  to the root of one clump of the cell, main_clump; then the roots of clumps with another parent
 *  are looked up, and written to their particles. Early exit when all clumps of the cell are in one
 *  tree.
 *  @param target       the cell of the particles
 *  @param[in,out] out  the selected particles, n > 0 */
static void KITH_REAL(find_roots)(const struct KITH_REAL(traversal) *t,
                                  const struct kith__cell_image *target,
                                  struct KITH_REAL(border) *out)
{
    struct kith__friends *f = t->f;
    const int32_t most = main_clump(f, target);
    const int32_t root = kith__root(f->parent, most);
    for (int64_t i = 0; i < out->n; i += W) {
        vi_store(out->root + i, vi_set(root));
    }
    out->mixed = false;
    if (is_one_tree(f, target)) {
        return;
    }
    const int32_t *first = (const int32_t *)f->first; /* slots fit 31 bits: signed comparisons */
    const vi from = vi_set(out->slot[0]), to = vi_set(out->slot[out->n - 1]);
    for (int64_t at = target->begin; at < target->end; at += W) {
        const int n = target->end - at < W ? (int)(target->end - at) : W;
        /* clumps whose parent is neither main_clump nor its root, and that hold a particle of the
         * border */
        unsigned in_other_trees = mask_other_parents(f->parent + at, n, most) &
                                  mask_other_parents(f->parent + at, n, root);
        /* lanes beyond target->end are 0 in in_other_trees: the values that the vectors have there
         * are not used, as other threads may be writing them */
        in_other_trees &= vi_gt(vi_load(first + at + 1), from) & ~vi_gt(vi_load(first + at), to);
        for (; in_other_trees; in_other_trees &= in_other_trees - 1) {
            const int64_t c = at + __builtin_ctz(in_other_trees);
            const vi low = vi_set(first[c]), high = vi_set(first[c + 1]);
            const vi other = vi_set(kith__root(f->parent, (int32_t)c));
            for (int64_t i = 0; i < out->n; i += W) {
                const vi slot = vi_load(out->slot + i);
                const vi in_clump = (slot >= low) & (slot < high);
                vi_store(out->root + i, (other & in_clump) | (vi_load(out->root + i) & ~in_clump));
            }
        }
    }
    out->mixed = are_mixed(out->root, out->n);
}

/** Update the roots of a border after trees a and b were united in the tree `root`. */
static void KITH_REAL(update_roots)(struct KITH_REAL(border) *border, int32_t a, int32_t b,
                                    int32_t root)
{
    for (int64_t i = 0; i < border->n; i += W) {
        const vi old = vi_load(border->root + i);
        const vi changed = (old == vi_set(a)) | (old == vi_set(b));
        vi_store(border->root + i, (vi_set(root) & changed) | (old & ~changed));
    }
    border->mixed = border->mixed && are_mixed(border->root, border->n);
}

/** Unite the trees of all pairs of friends of two borders. Early exit once all are in one tree.
 *  Fastest when b is the border in one tree: particles of a in that tree are then skipped. */
static void KITH_REAL(link_pairs)(const struct KITH_REAL(traversal) *t, struct KITH_REAL(border) *a,
                                  struct KITH_REAL(border) *b)
{
    for (int64_t i = 0; i < a->n && (a->mixed || b->mixed || a->root[0] != b->root[0]); i++) {
        if (!b->mixed && a->root[i] == b->root[0]) {
            continue;
        }
        const real at[3] = {a->x[i], a->y[i], a->z[i]};
        for (int64_t l = 0; l < b->n; l += W) {
            const int64_t n = b->n - l < W ? b->n - l : W;
            unsigned hits = vi_ne(vi_load(b->root + l), vi_set(a->root[i])) & lanes_before(n);
            if (hits) {
                hits &= KITH_REAL(near_lanes)(b->x + l, b->y + l, b->z + l, at, t->cutoff2, n);
            }
            while (hits) {
                const int32_t here = a->root[i];
                const int32_t there = b->root[l + __builtin_ctz(hits)];
                const int32_t root = kith__unite(t->f->parent, here, there);
                KITH_REAL(update_roots)(a, here, there, root);
                KITH_REAL(update_roots)(b, here, there, root);
                hits &= vi_ne(vi_load(b->root + l), vi_set(root));
            }
        }
    }
}

/** Link two cells by their borders, without periodic images: first the particles of `target` near
 *  the bounding box of `home` are selected, then the particles of `home` near the bounding box of
 *  these.
 *  @param home, target  the cells
 *  @param bbox          bounding box of the particles of `home`
 *  @return true when all friends are united; false when a border was truncated, so that the cells
 *          have yet to be linked clump by clump */
static bool KITH_REAL(link_border)(const struct KITH_REAL(traversal) *t,
                                   const struct kith__cell_image *home,
                                   const struct KITH_REAL(bbox) *bbox,
                                   const struct kith__cell_image *target)
{
    struct kith__friends *f = t->f;
    struct KITH_REAL(border) here, there;
    const bool both_one_tree = is_one_tree(f, home) && is_one_tree(f, target);
    if (both_one_tree && kith__root(f->parent, (int32_t)home->begin) ==
                             kith__root(f->parent, (int32_t)target->begin)) {
        return true;
    }
    const struct KITH_REAL(bbox) *other = KITH_REAL(bbox_of_cell)(f, target);
    if (other && KITH_REAL(gap2)(bbox, other) > t->near2) {
        return true;
    }
    KITH_REAL(select_near)(t, target, bbox, &there);
    if (there.n == 0) {
        return true;
    }
    const struct KITH_REAL(bbox) rest = KITH_REAL(bbox_around)(there.x, there.y, there.z, there.n);
    KITH_REAL(select_near)(t, home, &rest, &here);
    if (here.n == 0) { /* no friends of the particles selected; those not tested may have some */
        return !there.truncated;
    }
    KITH_REAL(find_roots)(t, home, &here);
    KITH_REAL(find_roots)(t, target, &there);
    const bool swap = there.mixed && !here.mixed;
    /* if one border is in one tree, it is the second argument */
    KITH_REAL(link_pairs)(t, swap ? &there : &here, swap ? &here : &there);
    return (both_one_tree && here.root[0] == there.root[0]) ||
           (!here.truncated && !there.truncated);
}

/** Link a cell with its forward neighbours by borders, except with neighbours at a periodic image:
 *  the tests here do not add shifts to coordinates.
 *  @param home    the cell
 *  @param filled  mask of the forward neighbours that may hold clumps
 *  @return mask of the neighbours with which it has yet to be linked clump by clump */
static unsigned KITH_REAL(link_borders)(const struct KITH_REAL(traversal) *t,
                                        const struct kith__cell_image *home, unsigned filled)
{
    const struct kith__friends *f = t->f;
    const struct KITH_REAL(bbox) *bbox = KITH_REAL(bbox_of_cell)(f, home);
    const int64_t first = f->first[home->begin];
    struct KITH_REAL(bbox) computed;
    if (!bbox) {
        computed = KITH_REAL(bbox_around)(t->x + first, t->y + first, t->z + first,
                                          f->first[home->end] - first);
        bbox = &computed;
    }
    unsigned remaining = 0;
    for (; filled; filled &= filled - 1) {
        const int step = __builtin_ctz(filled);
        struct kith__cell_image target;
        if (find_forward(f, home, step, &target) &&
            (target.image.moved || !KITH_REAL(link_border)(t, home, bbox, &target))) {
            remaining |= 1u << step;
        }
    }
    return remaining;
}
