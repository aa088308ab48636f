/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Testing one clump with others, for one precision: the distance of particles and of bounding
 * boxes, large clumps by divide and conquer, the clumps of a cell, and of the cells within reach.
 * Included by link_kernel.c through per_precision.h, which defines the type `real` and
 * KITH_REAL(name), name_d or name_f. Vectors of KITH_REAL(SIDE_BY_SIDE) lanes, and their
 * operations, are those of engine/cpu/lanes.h.
 */

/* ------------------------------------------------------------------------------- distance tests */

/** Bounding box of some particles. */
struct KITH_REAL(bbox) {
    real lo[3], hi[3]; /**< lower and upper corner [length] */
};

/** Return a mask of the particles within the linking length of a point, without periodic images:
 *  bit k is set for particle k of the first n, at most LANES.
 *  @param x, y, z  [n, padded to whole vectors] coordinates [length]
 *  @param at       the point [length]
 *  @param cutoff2  squared linking length [length^2] */
KITH_INLINE unsigned KITH_REAL(near_lanes)(const real *x, const real *y, const real *z,
                                           const real at[3], real cutoff2, int64_t n)
{
    unsigned hits = 0;
    for (int l = 0; l < LANES && l < n; l += KITH_REAL(SIDE_BY_SIDE)) {
        const KITH_REAL(vector) dx = KITH_REAL(load)(x + l) - at[0];
        const KITH_REAL(vector) dy = KITH_REAL(load)(y + l) - at[1];
        const KITH_REAL(vector) dz = KITH_REAL(load)(z + l) - at[2];
        hits |= KITH_REAL(lanes_to)((dx * dx + dy * dy) + dz * dz, cutoff2) << l;
    }
    return n < LANES ? hits & ((1u << n) - 1) : hits;
}

/** Return the bounding box of n > 0 particles. @param x, y, z  [n] coordinates [length] */
static struct KITH_REAL(bbox)
    KITH_REAL(bbox_around)(const real *x, const real *y, const real *z, int64_t n)
{
    const real *const axis[3] = {x, y, z};
    struct KITH_REAL(bbox) e;
    for (int k = 0; k < 3; k++) {
        e.lo[k] = e.hi[k] = axis[k][0];
        int64_t p = 0;
        if (n >= KITH_REAL(SIDE_BY_SIDE)) {
            /* the last whole vector comes first; it may overlap the last one of the loop */
            KITH_REAL(vector) lo = KITH_REAL(load)(axis[k] + n - KITH_REAL(SIDE_BY_SIDE));
            KITH_REAL(vector) hi = lo;
            for (; p < n - KITH_REAL(SIDE_BY_SIDE); p += KITH_REAL(SIDE_BY_SIDE)) {
                lo = KITH_REAL(smaller)(lo, KITH_REAL(load)(axis[k] + p));
                hi = KITH_REAL(larger)(hi, KITH_REAL(load)(axis[k] + p));
            }
            for (int l = 0; l < KITH_REAL(SIDE_BY_SIDE); l++) {
                e.lo[k] = lo[l] < e.lo[k] ? lo[l] : e.lo[k];
                e.hi[k] = hi[l] > e.hi[k] ? hi[l] : e.hi[k];
            }
            p = n;
        }
        for (; p < n; p++) {
            e.lo[k] = axis[k][p] < e.lo[k] ? axis[k][p] : e.lo[k];
            e.hi[k] = axis[k][p] > e.hi[k] ? axis[k][p] : e.hi[k];
        }
    }
    return e;
}

/** Return the squared distance of two bounding boxes; 0 when they overlap [length^2]. */
KITH_INLINE real KITH_REAL(gap2)(const struct KITH_REAL(bbox) *a, const struct KITH_REAL(bbox) *b)
{
    real sum = 0;
    for (int k = 0; k < 3; k++) {
        const real above = b->lo[k] - a->hi[k];
        const real below = a->lo[k] - b->hi[k];
        const real gap = above > below ? above : below;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

/* ----------------------------------------------------------------------------------- traversals */

/** One clump, which is tested with the clumps near it. In this file "the clump" is this one. */
struct KITH_REAL(traversal) {
    struct kith__friends *f;   /**< the search */
    struct kith__sweep *sweep; /**< state of the thread */
    const real *x, *y, *z;     /**< [particles] coordinates by slot [length] */
    int64_t begin, end;        /**< slots of the particles of the clump */
    int32_t root;              /**< root of the clump's tree when it was last read; -1: nodes of the
                                    forest are particles */
    int subcell[3];            /**< coordinates of the clump's subcell in its cell */
    real cutoff2;              /**< squared linking length [length^2] */
    real near2; /**< squared largest distance of a pair, rounding errors included: bounding boxes
                     further apart hold no friends [length^2] */
};

/** Return the squared distance of the particle in slot i and an image of the one in slot j, by the
 *  definition of a pair (engine/pair.h) [length^2]. */
KITH_INLINE real KITH_REAL(apart)(const struct KITH_REAL(traversal) *t, int64_t i, int64_t j,
                                  const struct kith__image *image)
{
    const real ri[3] = {t->x[i], t->y[i], t->z[i]};
    const real rj[3] = {t->x[j], t->y[j], t->z[j]};
    real d[3];
    static const int32_t none[3] = {0, 0, 0};
    return KITH_REAL(kith__separation)(&t->f->question->KITH_REAL(box), ri, rj,
                                       image->moved ? image->shift : none, d);
}

/* --------------------------------------------------------------------------------- large clumps */

/* Testing two large clumps for a pair of friends, by divide and conquer. The larger set of
 * particles is halved in space until the bounding boxes are further apart than the linking length,
 * or until the two sets have at most MANY_PAIRS pairs, which are all tested. */

/** A set of particles and its bounding box. */
struct KITH_REAL(particle_set) {
    int32_t *slot;     /**< [n] slots */
    int64_t n;         /**< particles */
    real lo[3], hi[3]; /**< corners of the bounding box [length] */
};

/** Set the bounding box of a set. */
static void KITH_REAL(set_bounds)(const struct KITH_REAL(traversal) *t,
                                  struct KITH_REAL(particle_set) *a)
{
    const real *const axis[3] = {t->x, t->y, t->z};
    for (int k = 0; k < 3; k++) {
        a->lo[k] = a->hi[k] = axis[k][a->slot[0]];
        for (int64_t p = 1; p < a->n; p++) {
            const real x = axis[k][a->slot[p]];
            a->lo[k] = x < a->lo[k] ? x : a->lo[k];
            a->hi[k] = x > a->hi[k] ? x : a->hi[k];
        }
    }
}

/** Halve a set at the middle of the longest side of its bounding box, by a partition of a->slot in
 *  place; the upper half goes to *upper. If all particles coincide, one is kept, and upper->n is
 *  0. */
static void KITH_REAL(halve)(const struct KITH_REAL(traversal) *t,
                             struct KITH_REAL(particle_set) *a,
                             struct KITH_REAL(particle_set) *upper)
{
    int k = a->hi[1] - a->lo[1] > a->hi[0] - a->lo[0] ? 1 : 0;
    k = a->hi[2] - a->lo[2] > a->hi[k] - a->lo[k] ? 2 : k;
    const real *const axis[3] = {t->x, t->y, t->z};
    const real middle = a->lo[k] + (a->hi[k] - a->lo[k]) / 2;
    upper->n = 0;
    if (!(a->lo[k] < a->hi[k])) {
        a->n = 1;
        return;
    }
    int64_t low = 0;
    int64_t high = a->n;
    while (low < high) {
        const int32_t p = a->slot[low];
        /* the second test keeps the upper half from being empty where `middle` rounds up to hi */
        if (axis[k][p] <= middle && axis[k][p] < a->hi[k]) {
            low++;
        } else {
            a->slot[low] = a->slot[--high];
            a->slot[high] = p;
        }
    }
    upper->slot = a->slot + low;
    upper->n = a->n - low;
    a->n = low;
    KITH_REAL(set_bounds)(t, a);
    KITH_REAL(set_bounds)(t, upper);
}

/** Return true when some particle of a is within the linking length of an image of one of b.
 *  Recursive: halves the larger set. Returns false too when the call is to stop (sweep->failed).
 *  @param a, b   the sets; their slots are reordered
 *  @param image  the image of b
 *  @param moved  vector from b to its image, for the bounding boxes [length] */
static bool KITH_REAL(sets_touch)(const struct KITH_REAL(traversal) *t,
                                  struct KITH_REAL(particle_set) a,
                                  struct KITH_REAL(particle_set) b, const struct kith__image *image,
                                  const double moved[3])
{
    double gap2 = 0;
    for (int k = 0; k < 3; k++) {
        const double above = (double)b.lo[k] + moved[k] - (double)a.hi[k];
        const double below = (double)a.lo[k] - ((double)b.hi[k] + moved[k]);
        const double gap = above > below ? above : below;
        gap2 += gap > 0 ? gap * gap : 0;
    }
    if (gap2 > t->f->grid->near * t->f->grid->near || !kith__sweep_goes_on(t->sweep, a.n + b.n)) {
        return false;
    }
    if (a.n * b.n <= MANY_PAIRS) {
        for (int64_t i = 0; i < a.n; i++) {
            for (int64_t j = 0; j < b.n; j++) {
                if (KITH_REAL(apart)(t, a.slot[i], b.slot[j], image) <= t->cutoff2) {
                    return true;
                }
            }
        }
        return false;
    }
    const bool halve_a = a.n > b.n;
    struct KITH_REAL(particle_set) upper;
    KITH_REAL(halve)(t, halve_a ? &a : &b, &upper);
    return KITH_REAL(sets_touch)(t, a, b, image, moved) ||
           (upper.n > 0 &&
            KITH_REAL(sets_touch)(t, halve_a ? upper : a, halve_a ? b : upper, image, moved));
}

/** Return true when some particle of the clump is a friend of an image of one of slots [begin,
 *  end). For more than MANY_PAIRS pairs: by divide and conquer, in scratch memory of the thread. */
static bool KITH_REAL(touches_many)(const struct KITH_REAL(traversal) *t, int64_t begin,
                                    int64_t end, const struct kith__image *image)
{
    struct KITH_REAL(particle_set) a = {.n = t->end - t->begin};
    struct KITH_REAL(particle_set) b = {.n = end - begin};
    /* room for any two clumps: what a call allocates does not depend on which thread tests which */
    const int64_t all = t->f->grid->a.n;
    const int64_t most = 2 * t->f->largest < all ? 2 * t->f->largest : all;
    int32_t *slot = kith__buffer_need(&t->sweep->memory[KITH_SWEEP_ORDER],
                                      (size_t)most * sizeof *slot);
    if (!slot) {
        t->sweep->failed = KITH_NO_MEMORY;
        return false;
    }
    for (int64_t p = 0; p < a.n; p++) {
        slot[p] = (int32_t)(t->begin + p);
    }
    for (int64_t p = 0; p < b.n; p++) {
        slot[a.n + p] = (int32_t)(begin + p);
    }
    a.slot = slot;
    b.slot = slot + a.n;
    KITH_REAL(set_bounds)(t, &a);
    KITH_REAL(set_bounds)(t, &b);
    double moved[3] = {0, 0, 0};
    for (int k = 0; k < 3 && image->moved; k++) {
        for (int m = 0; m < 3; m++) {
            moved[m] += image->shift[k] * t->f->question->box_d.row[k][m];
        }
    }
    return KITH_REAL(sets_touch)(t, a, b, image, moved);
}

/* -------------------------------------------------------------------------- clumps near a clump */

/** Return true when some particle of the clump is a friend of an image of one of slots [begin,
 *  end). */
static bool KITH_REAL(touches)(const struct KITH_REAL(traversal) *t, int64_t begin, int64_t end,
                               const struct kith__image *image)
{
    if ((t->end - t->begin) * (end - begin) > MANY_PAIRS) {
        return KITH_REAL(touches_many)(t, begin, end, image);
    }
    for (int64_t i = t->begin; i < t->end; i++) {
        for (int64_t j = begin; j < end; j++) {
            if (KITH_REAL(apart)(t, i, j, image) <= t->cutoff2) {
                return true;
            }
        }
    }
    return false;
}

/** Unite the clump with clump b if the two hold a pair of friends. If they are in one tree already,
 *  point b at its root, so that link_row skips it the next time.
 *  @param image  the image of clump b */
static void KITH_REAL(link_clump)(struct KITH_REAL(traversal) *t, int64_t b,
                                  const struct kith__image *image)
{
    struct kith__friends *f = t->f;
    const int32_t root = kith__root(f->parent, (int32_t)b);
    if (root == t->root) {
        atomic_store_explicit(&f->parent[b], root, memory_order_relaxed);
    } else if (KITH_REAL(touches)(t, f->first[b], f->first[b + 1], image)) {
        t->root = kith__unite(f->parent, t->root, root);
    }
}

/** Where nodes are particles: test every particle of the clump with the image of every one of slots
 *  [begin, end), and unite friends. */
static void KITH_REAL(link_particles)(struct KITH_REAL(traversal) *t, int64_t begin, int64_t end,
                                      const struct kith__image *image)
{
    struct kith__friends *f = t->f;
    const real *v = f->velocities;
    const real length = (real)f->question->cutoff;
    /* each pair counts as 8 candidates towards the next test for cancellation */
    for (int64_t i = t->begin; i < t->end && kith__sweep_goes_on(t->sweep, 8 * (end - begin));
         i++) {
        for (int64_t j = begin; j < end; j++) {
            const real r2 = KITH_REAL(apart)(t, i, j, image);
            if (v ? KITH_REAL(kith__phase)(r2, length, &v[3 * i], &v[3 * j],
                                           (real)f->velocity_length) <= 1
                  : r2 <= t->cutoff2) {
                kith__unite(f->parent, (int32_t)i, (int32_t)j);
            }
        }
    }
}

/** Test the clump with the n clumps from `begin` on, at most KITH_MOST_SUBCELLS, and unite those
 *  that hold a friend. Skips clumps whose parent is the root of the clump's tree.
 *  @param image  the image of these clumps */
KITH_INLINE void KITH_REAL(link_row)(struct KITH_REAL(traversal) *t, int64_t begin, int n,
                                     const struct kith__image *image)
{
    if (!t->f->by_clump) {
        for (int64_t b = begin; b < begin + n; b++) {
            KITH_REAL(link_particles)(t, t->f->first[b], t->f->first[b + 1], image);
        }
        return;
    }
    unsigned in_other_trees = mask_other_parents(t->f->parent + begin, n, t->root);
    for (; in_other_trees; in_other_trees &= in_other_trees - 1) {
        KITH_REAL(link_clump)(t, begin + __builtin_ctz(in_other_trees), image);
    }
}

/** Test the clump with the clumps of a dense cell within `reach` subcells, row by row of the cell's
 *  index, and unite those that hold a friend.
 *  @param subcell    coordinates of the clump's subcell, counted from the first subcell of the
 *                    dense cell: below 0, or too large, when the clump is in another cell
 *  @param target     the dense cell, at an image
 *  @param index      index of the dense cell
 *  @param same_cell  the dense cell is the clump's own: only later clumps are tested
 *  @param reach      subcells on each side, along each axis */
static void KITH_REAL(link_dense)(struct KITH_REAL(traversal) *t, const int subcell[3],
                                  const struct kith__cell_image *target,
                                  const struct kith__subcell_row *index, bool same_cell,
                                  const int reach[3])
{
    const struct kith__friends *f = t->f;
    const int ny = f->grid->axis[1].subcells;
    const int nz = f->grid->axis[2].subcells;
    const int z_end = at_most(subcell[2] + reach[2], nz - 1);
    const int y_end = at_most(subcell[1] + reach[1], ny - 1);
    /* [dx] masks of the subcells of a row, bit x for subcell x: those more than dx before the
     * clump's subcell along x, and those within dx of it */
    unsigned below[KITH_MOST_REACH + 1];
    unsigned span[KITH_MOST_REACH + 1];
    for (int dx = 0; dx <= reach[0]; dx++) {
        const int high = at_most(subcell[0] + dx, KITH_MOST_SUBCELLS - 1);
        below[dx] = (1u << at_most(at_least(subcell[0] - dx, 0), KITH_MOST_SUBCELLS)) - 1;
        span[dx] = high < 0 ? 0 : ((2u << high) - 1) & ~below[dx];
    }
    for (int z = same_cell ? subcell[2] : at_least(subcell[2] - reach[2], 0); z <= z_end; z++) {
        const int8_t *row_reach =
            f->subcells.row_reach[z > subcell[2] ? z - subcell[2] : subcell[2] - z];
        const bool same_layer = same_cell && z == subcell[2];
        for (int y = same_layer ? subcell[1] : at_least(subcell[1] - reach[1], 0); y <= y_end;
             y++) {
            const int dx = at_most(row_reach[y > subcell[1] ? y - subcell[1] : subcell[1] - y],
                                   reach[0]);
            if (dx < 0) {
                continue;
            }
            /* Clumps of a row are consecutive: those before a subcell are counted by the bits below
             * it. In the clump's own row only the subcells after its own are tested. */
            const struct kith__subcell_row row = index[z * ny + y];
            const unsigned before = same_layer && y == subcell[1] ? (2u << subcell[0]) - 1
                                                                  : below[dx];
            KITH_REAL(link_row)(t,
                                target->begin + row.first + __builtin_popcount(row.mask & before),
                                __builtin_popcount(row.mask & span[dx] & ~before), &target->image);
        }
    }
}

/** Unite the clump with those of clumps [begin, end), not at an image, that hold a friend. Tests
 *  LANES particles at a time.
 *  @param first, last  slots of the particles of these clumps */
KITH_INLINE void KITH_REAL(link_by_lanes)(struct KITH_REAL(traversal) *t, int64_t begin,
                                          int64_t end, int64_t first, int64_t last)
{
    for (int64_t j = first; j < last; j += LANES) {
        unsigned hits = 0;
        for (int64_t i = t->begin; i < t->end; i++) {
            const real at[3] = {t->x[i], t->y[i], t->z[i]};
            hits |= KITH_REAL(near_lanes)(t->x + j, t->y + j, t->z + j, at, t->cutoff2, last - j);
        }
        if (hits) {
            t->root = unite_hits(t->f, t->root, begin, end, j, hits);
        }
    }
}

/** Unite the clump with those of clumps [begin, end) of one cell that hold a friend.
 *  @param image  image of the cell */
KITH_INLINE void KITH_REAL(link_range)(struct KITH_REAL(traversal) *t, int64_t begin, int64_t end,
                                       const struct kith__image *image)
{
    const struct kith__friends *f = t->f;
    const int64_t first = f->first[begin];
    const int64_t last = f->first[end];
    if (image->moved || !f->by_clump || (t->end - t->begin) * (last - first) > MANY_PAIRS) {
        for (int64_t b = begin; b < end; b++) {
            KITH_REAL(link_row)(t, b, 1, image);
        }
        return;
    }
    KITH_REAL(link_by_lanes)(t, begin, end, first, last);
}

/** Unite the clump with those clumps of another cell, or of its own, that hold a friend: row by row
 *  of the index where the cell is dense.
 *  @param away    offset of the cell from the clump's own [cells]
 *  @param target  the clumps to test, all those of the cell unless it is the clump's own */
KITH_INLINE void KITH_REAL(link_cell)(struct KITH_REAL(traversal) *t, const int away[3],
                                      const struct kith__cell_image *target)
{
    const struct kith__friends *f = t->f;
    const struct kith__axis *axis = f->grid->axis;
    const struct kith__subcell_row *index = index_of(f, target->begin, target->end);
    if (index) {
        const int relative[3] = {t->subcell[0] - away[0] * axis[0].subcells,
                                 t->subcell[1] - away[1] * axis[1].subcells,
                                 t->subcell[2] - away[2] * axis[2].subcells};
        KITH_REAL(link_dense)(t, relative, target, index, false, f->subcells.reach);
    } else {
        KITH_REAL(link_range)(t, target->begin, target->end, &target->image);
    }
}

/** Unite the clump with those clumps of all forward cells within reach that hold a friend: for a
 *  reach beyond the 26 neighbours. Forward cells are those whose offset (z, y, x) is
 *  lexicographically positive. @param home  the clump's cell */
static void KITH_REAL(link_forward)(struct KITH_REAL(traversal) *t,
                                    const struct kith__cell_image *home)
{
    const struct kith__friends *f = t->f;
    const int low[2] = {f->subcells.cell_low[0][t->subcell[0]],
                        f->subcells.cell_low[1][t->subcell[1]]};
    const int high[2] = {f->subcells.cell_high[0][t->subcell[0]],
                         f->subcells.cell_high[1][t->subcell[1]]};
    int away[3];
    for (away[2] = 0; away[2] <= f->subcells.cell_high[2][t->subcell[2]]; away[2]++) {
        for (away[1] = away[2] ? low[1] : 0;
             away[1] <= high[1] && kith__sweep_goes_on(t->sweep, 16 * (high[0] - low[0] + 1));
             away[1]++) {
            for (away[0] = away[2] || away[1] ? low[0] : 1; away[0] <= high[0]; away[0]++) {
                struct kith__cell_image target;
                if (find_cell_away(f, home, away, &target)) {
                    KITH_REAL(link_cell)(t, away, &target);
                }
            }
        }
    }
}

/** Make this clump the one that a traversal tests with others. */
static void KITH_REAL(set_clump)(struct KITH_REAL(traversal) *t, int64_t clump)
{
    const struct kith__friends *f = t->f;
    t->begin = f->first[clump];
    t->end = f->first[clump + 1];
    t->root = f->by_clump ? kith__root(f->parent, (int32_t)clump) : -1;
    kith__subcell_of(f->grid->axis, f->subcell[clump], t->subcell);
}

/** Return a traversal whose clump is not set yet. */
static struct KITH_REAL(traversal)
    KITH_REAL(new_traversal)(struct kith__friends *f, struct kith__sweep *sweep)
{
    const struct kith__sorted *a = &f->grid->a;
    const real cutoff = (real)f->question->cutoff;
    const real near = (real)f->grid->near;
    return (struct KITH_REAL(traversal)){.f = f,
                                         .sweep = sweep,
                                         .x = a->x,
                                         .y = a->y,
                                         .z = a->z,
                                         .cutoff2 = cutoff * cutoff,
                                         .near2 = near * near};
}
