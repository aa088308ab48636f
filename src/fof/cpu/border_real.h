/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking two cells by the particles of each that lie near the other, for one precision. Included
 * by link_real.h. Much faster than testing each clump of two well filled cells.
 */

/** The particles of one cell that are near another cell, compacted. */
struct KITH_REAL(border) {
    int64_t n;  /**< particles */
    bool full;  /**< the buffer was too small: the cell has more particles near the other */
    bool mixed; /**< the particles are not all known to be in one tree */
    real x[POOL + LANES], y[POOL + LANES], z[POOL + LANES]; /**< [n] coordinates [length] */
    int32_t place[POOL + LANES];                            /**< [n] slots, ascending */
    int32_t root[POOL + LANES]; /**< [n] root of the tree of each, when it was last read */
};

/** Bounding box of a dense cell; NULL: the cell is not dense. */
KITH_INLINE const struct KITH_REAL(block) *KITH_REAL(block_of)(const struct kith__friends *f,
                                                               const struct kith__place *place)
{
    const struct KITH_REAL(block) *all = f->blocks;
    return place->end - place->begin < KITH_DENSE ? NULL
                                                  : &all[f->dense[place->begin / KITH_DENSE].index];
}

/** Select the particles of a cell whose distance from a bounding box is at most near2. */
static void KITH_REAL(pick)(const struct KITH_REAL(seeker) *me, const struct kith__place *place,
                            const struct KITH_REAL(block) *block, struct KITH_REAL(border) *out)
{
    const int64_t end = me->f->first[place->end];
    const KITH_REAL(vector) zero = {0};
    const real *const axis[3] = {me->x, me->y, me->z};
    out->n = 0;
    int64_t p = me->f->first[place->begin];
    for (; p < end && out->n <= POOL - W; p += W) {
        unsigned near = 0;
        for (int h = 0; h < W; h += KITH_REAL(SIDE_BY_SIDE)) {
            KITH_REAL(vector) gap2 = zero;
            for (int k = 0; k < 3; k++) {
                const KITH_REAL(vector) x = KITH_REAL(load)(axis[k] + p + h);
                const KITH_REAL(vector) gap = KITH_REAL(larger)(
                    KITH_REAL(larger)(block->lo[k] - x, x - block->hi[k]), zero);
                gap2 += gap * gap;
            }
            near |= KITH_REAL(lanes_to)(gap2, me->near2) << h;
        }
        near &= lanes_before(end - p);
        if (near) {
            KITH_REAL(pack)(out->x + out->n, me->x + p, near);
            KITH_REAL(pack)(out->y + out->n, me->y + p, near);
            KITH_REAL(pack)(out->z + out->n, me->z + p, near);
            vi_compress(out->place + out->n, vi_lanes() + (int32_t)p, near);
            out->n += __builtin_popcount(near);
        }
    }
    out->full = p < end;
}

/** Find the root of each selected particle: of the largest tree of its cell, or of its own
 *  clump. */
static void KITH_REAL(find_roots)(const struct KITH_REAL(seeker) *me,
                                  const struct kith__place *place, struct KITH_REAL(border) *out)
{
    struct kith__friends *f = me->f;
    const int32_t most = main_clump(f, place);
    const int32_t root = kith__root(f->parent, most);
    for (int64_t i = 0; i < out->n; i += W) {
        vi_store(out->root + i, vi_set(root));
    }
    out->mixed = false;
    if (is_one_tree(f, place)) {
        return;
    }
    const int32_t *first = (const int32_t *)f->first;
    const vi from = vi_set(out->place[0]), to = vi_set(out->place[out->n - 1]);
    for (int64_t at = place->begin; at < place->end; at += W) {
        const int n = place->end - at < W ? (int)(place->end - at) : W;
        /* clumps that are not known to be in the largest tree, and hold a particle of the border */
        unsigned strangers = unlike(f->parent + at, n, most) & unlike(f->parent + at, n, root);
        /* lanes beyond place->end are off: other threads may be writing what they read */
        strangers &= vi_gt(vi_load(first + at + 1), from) & ~vi_gt(vi_load(first + at), to);
        for (; strangers; strangers &= strangers - 1) {
            const int64_t c = at + __builtin_ctz(strangers);
            const vi low = vi_set(first[c]), high = vi_set(first[c + 1]);
            const vi other = vi_set(kith__root(f->parent, (int32_t)c));
            for (int64_t i = 0; i < out->n; i += W) {
                const vi here = vi_load(out->place + i);
                const vi mine = (here >= low) & (here < high);
                vi_store(out->root + i, (other & mine) | (vi_load(out->root + i) & ~mine));
            }
        }
    }
    out->mixed = are_mixed(out->root, out->n);
}

/** Update the roots of a border after trees a and b were united in the tree `root`. */
static void KITH_REAL(note_union)(struct KITH_REAL(border) *border, int32_t a, int32_t b,
                                  int32_t root)
{
    for (int64_t i = 0; i < border->n; i += W) {
        const vi now = vi_load(border->root + i);
        const vi mine = (now == vi_set(a)) | (now == vi_set(b));
        vi_store(border->root + i, (vi_set(root) & mine) | (now & ~mine));
    }
    border->mixed = border->mixed && are_mixed(border->root, border->n);
}

/** Unite the trees of all pairs of friends of two borders. Early exit once all are in one tree. */
static void KITH_REAL(match)(const struct KITH_REAL(seeker) *me, struct KITH_REAL(border) *a,
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
                hits &= KITH_REAL(near_lanes)(b->x + l, b->y + l, b->z + l, at, me->cutoff2, n);
            }
            while (hits) {
                const int32_t here = a->root[i];
                const int32_t there = b->root[l + __builtin_ctz(hits)];
                const int32_t root = kith__unite(me->f->parent, here, there);
                KITH_REAL(note_union)(a, here, there, root);
                KITH_REAL(note_union)(b, here, there, root);
                hits &= vi_ne(vi_load(b->root + l), vi_set(root));
            }
        }
    }
}

/** Link two cells, of which the first has a bounding box. @return false when a border was too
 *  small, so that clumps have yet to be tested one by one. */
static bool KITH_REAL(link_border)(const struct KITH_REAL(seeker) *me,
                                   const struct kith__place *home,
                                   const struct KITH_REAL(block) *block,
                                   const struct kith__place *place)
{
    struct kith__friends *f = me->f;
    struct KITH_REAL(border) here, there;
    const bool wholes = is_one_tree(f, home) && is_one_tree(f, place);
    if (wholes && kith__root(f->parent, (int32_t)home->begin) ==
                      kith__root(f->parent, (int32_t)place->begin)) {
        return true;
    }
    const struct KITH_REAL(block) *other = KITH_REAL(block_of)(f, place);
    if (other && KITH_REAL(gap2)(block, other) > me->near2) {
        return true;
    }
    KITH_REAL(pick)(me, place, block, &there);
    if (there.n == 0) {
        return true;
    }
    const struct KITH_REAL(block) rest = KITH_REAL(block_around)(there.x, there.y, there.z,
                                                                 there.n);
    KITH_REAL(pick)(me, home, &rest, &here);
    if (here.n == 0) {
        return !there.full;
    }
    KITH_REAL(find_roots)(me, home, &here);
    KITH_REAL(find_roots)(me, place, &there);
    const bool swap = there.mixed && !here.mixed;
    KITH_REAL(match)(me, swap ? &there : &here, swap ? &here : &there);
    return (wholes && here.root[0] == there.root[0]) || (!here.full && !there.full);
}

/** Link a cell with its forward neighbours in the mask `filled` that are no periodic images.
 *  @return mask of the neighbours that have yet to be tested clump by clump. */
static unsigned KITH_REAL(link_borders)(const struct KITH_REAL(seeker) *me,
                                        const struct kith__place *home, unsigned filled)
{
    const struct kith__friends *f = me->f;
    const struct KITH_REAL(block) *block = KITH_REAL(block_of)(f, home);
    const int64_t first = f->first[home->begin];
    struct KITH_REAL(block) own;
    if (!block) {
        own = KITH_REAL(block_around)(me->x + first, me->y + first, me->z + first,
                                      f->first[home->end] - first);
        block = &own;
    }
    unsigned left = 0;
    for (; filled; filled &= filled - 1) {
        const int step = __builtin_ctz(filled);
        struct kith__place place;
        if (take_step(f, home, step, &place) &&
            (place.image.moved || !KITH_REAL(link_border)(me, home, block, &place))) {
            left |= 1u << step;
        }
    }
    return left;
}
