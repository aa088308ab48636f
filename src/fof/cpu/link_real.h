/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking for one precision: distance tests, the traversal of the cells near one clump, flood fill
 * of dense cells, borders of two cells, and the list of work items of a block. Included by
 * link_kernel.c through per_precision.h.
 */

/* ------------------------------------------------------------------------------- distance tests */

/** Bounding box of some particles. */
struct KITH_REAL(bbox) {
    real lo[3], hi[3]; /**< lower and upper corner [length] */
};

/** Return a mask of the particles within the linking length of a point, without periodic images:
 *  bit k is set for particle k of the first n, at most LANES.
 *  @param x, y, z   [n, padded to whole vectors] coordinates [length]
 *  @param at        the point [length]
 *  @param cutoff2   squared linking length [length^2] */
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

/** One clump, which is tested with the clumps near it. */
struct KITH_REAL(traversal) {
    struct kith__friends *f;   /**< the search */
    struct kith__sweep *sweep; /**< state of the thread */
    const real *x, *y, *z;     /**< [particles] coordinates by slot [length] */
    int64_t begin, end;        /**< slots of the particles of the clump */
    int32_t root;              /**< root of the clump's tree when it was last read; -1: unused */
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

/** Halve a set at the middle of the longest side of its bounding box; the upper half goes to
 *  *upper. Of coincident particles one is kept. */
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
 *  Recursive: halves the larger set.
 *  @param image  the image of b
 *  @param moved  vector from b to its image [length] */
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

/** Return true when some particle of the clump is a friend of one of slots [begin, end): for more
 *  than MANY_PAIRS pairs. */
static bool KITH_REAL(touches_many)(const struct KITH_REAL(traversal) *t, int64_t begin,
                                    int64_t end, const struct kith__image *image)
{
    struct KITH_REAL(particle_set) a = {.n = t->end - t->begin};
    struct KITH_REAL(particle_set) b = {.n = end - begin};
    /* enough for any two clumps, so that what a call allocates does not depend on the threads */
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

/** Unite the clump with clump b if the two hold a pair of friends.
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
 *  that hold a friend. Skips clumps whose parent is the root of its tree. */
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
 *  @param subcell  coordinates of the clump's subcell, counted from the first subcell of the dense
 *                    cell: below 0, or too large, when the clump is in another cell
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
    /* [dx] masks of the subcells of a row: those more than dx before along x, those within dx */
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
            const struct kith__subcell_row row = index[z * ny + y];
            /* in the clump's own row only the subcells after its own */
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

/** Unite the clump with those clumps of another cell, or of its own, that hold a friend.
 *  @param away    offset from its own cell [cells]
 *  @param target  the cell */
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
 *  reach beyond the 26 neighbours. @param home  the clump's cell */
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

/** Start the traversal of a clump. */
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

/** Where nodes are particles: unite all friends within a dense cell. */
static void KITH_REAL(link_dense_particles)(struct kith__friends *f, struct kith__sweep *sweep,
                                            const struct kith__cell_image *home)
{
    struct KITH_REAL(traversal) t = KITH_REAL(new_traversal)(f, sweep);
    const struct kith__subcell_row *index = make_index(f, home);
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(set_clump)(&t, c);
        KITH_REAL(link_particles)(&t, t.begin, t.end, &home->image);
        KITH_REAL(link_dense)(&t, t.subcell, home, index, true, f->subcells.reach);
    }
}

/* ---------------------------------------------------------------------------------- dense cells */

/* Linking the clumps of one cell by flood fill: from a particle to all within the linking length of
 * it, then to all within the linking length of those, and so on. Particles that are reached are
 * removed from the list of candidates, so a cell whose particles are all in one tree takes few
 * passes. */

/** The particles of a cell: candidates that are not reached yet, and a queue of those reached. */
struct KITH_REAL(flood_state) {
    int64_t left;    /**< particles not reached yet */
    int64_t reached; /**< particles in the queue */
    /** [left] coordinates [length]. */
    real x[CAPACITY + LANES], y[CAPACITY + LANES], z[CAPACITY + LANES];
    int32_t slot[CAPACITY + LANES]; /**< [left] slot of each, less the first slot of the cell */
    /** [reached] slots, less the first slot of the cell; those reached first come first. */
    int32_t queue[CAPACITY + LANES];
};

/** Move the candidates within the linking length of one of SOURCES points to the queue.
 *  @param at       coordinates of the points [length]
 *  @param cutoff2  squared linking length [length^2] */
KITH_INLINE void KITH_REAL(reach)(struct KITH_REAL(flood_state) *state, real at[3][SOURCES],
                                  real cutoff2)
{
    int64_t kept = 0;
    for (int64_t l = 0; l < state->left; l += W) {
        unsigned hits = 0;
        for (int h = 0; h < W; h += KITH_REAL(SIDE_BY_SIDE)) {
            const KITH_REAL(vector) x = KITH_REAL(load)(state->x + l + h);
            const KITH_REAL(vector) y = KITH_REAL(load)(state->y + l + h);
            const KITH_REAL(vector) z = KITH_REAL(load)(state->z + l + h);
            for (int s = 0; s < SOURCES; s++) {
                const KITH_REAL(vector) dx = x - at[0][s], dy = y - at[1][s], dz = z - at[2][s];
                hits |= KITH_REAL(lanes_to)((dx * dx + dy * dy) + dz * dz, cutoff2) << h;
            }
        }
        const unsigned all = lanes_before(state->left - l);
        hits &= all;
        if (hits) {
            vi_compress(state->queue + state->reached, vi_load(state->slot + l), hits);
            state->reached += __builtin_popcount(hits);
        }
        const unsigned rest = all & ~hits;
        if (hits || kept < l) {
            KITH_REAL(pack)(state->x + kept, state->x + l, rest);
            KITH_REAL(pack)(state->y + kept, state->y + l, rest);
            KITH_REAL(pack)(state->z + kept, state->z + l, rest);
            vi_compress(state->slot + kept, vi_load(state->slot + l), rest);
        }
        kept += __builtin_popcount(rest);
    }
    state->left = kept;
}

/** Append to the queue all particles of the tree of the first candidate. The particles at the end
 *  of the queue are expanded first: they are the farthest from the start, so that candidates are
 *  reached in fewest passes.
 *  @param axis  [3] coordinates of the cell's particles [length] */
static void KITH_REAL(reach_tree)(struct KITH_REAL(flood_state) *state, const real *const axis[3],
                                  real cutoff2)
{
    int64_t next = state->reached;
    int64_t end = next + 1;
    state->queue[next] = state->slot[0]; /* the first pass reaches it: its distance from itself is
                                            0 */
    do {
        int32_t *queue = state->queue + next;
        real at[3][SOURCES];
        if (end - next >= 2 * SOURCES) {
            int32_t first[SOURCES];
            memcpy(first, queue, sizeof first);
            memcpy(queue, state->queue + end - SOURCES, sizeof first);
            memcpy(state->queue + end - SOURCES, first, sizeof first);
        }
        for (int s = 0; s < SOURCES; s++) {
            const int32_t slot = queue[next + s < end ? s : end - 1 - next];
            for (int k = 0; k < 3; k++) {
                at[k][s] = axis[k][slot];
            }
        }
        KITH_REAL(reach)(state, at, cutoff2);
        next = next + SOURCES < end ? next + SOURCES : end;
        end = state->reached;
    } while (next < end && state->left > 0);
}

/** Link the clumps of a cell of at most CAPACITY particles by flood fill.
 *  @return the first clump of the cell's largest tree, counted from the cell's first clump;
 *          KITH_ONE_TREE: all its clumps are in one tree */
static uint16_t KITH_REAL(flood)(struct kith__friends *f, const struct kith__cell_image *home,
                                 real cutoff2)
{
    const struct kith__sorted *a = &f->grid->a;
    const int64_t first = f->first[home->begin];
    const int64_t n = f->first[home->end] - first;
    const real *const axis[3] = {(const real *)a->x + first, (const real *)a->y + first,
                                 (const real *)a->z + first};
    struct KITH_REAL(flood_state) state;
    state.left = n;
    state.reached = 0;
    memcpy(state.x, axis[0], (size_t)n * sizeof *state.x);
    memcpy(state.y, axis[1], (size_t)n * sizeof *state.y);
    memcpy(state.z, axis[2], (size_t)n * sizeof *state.z);
    for (int32_t p = 0; p < n; p++) {
        state.slot[p] = p;
    }
    int32_t tree[CAPACITY];  /* first particle of the tree of each particle */
    int32_t clump[CAPACITY]; /* the clump whose first particle this is; undefined for others */
    int32_t largest = 0;
    int64_t most = 0;
    for (int64_t from = 0; state.left > 0;) {
        const int32_t least = state.slot[0];
        KITH_REAL(reach_tree)(&state, axis, cutoff2);
        largest = state.reached - from > most ? least : largest;
        most = state.reached - from > most ? state.reached - from : most;
        for (; from < state.reached; from++) {
            tree[state.queue[from]] = least;
        }
    }
    for (int64_t c = home->begin; c < home->end; c++) {
        const int64_t p = f->first[c] - first;
        /* tree[p] is the first particle of a clump, as all particles of a clump are friends */
        clump[p] = (int32_t)c;
        atomic_store_explicit(&f->parent[c], clump[tree[p]], memory_order_relaxed);
    }
    return most == n ? KITH_ONE_TREE : (uint16_t)(clump[largest] - home->begin);
}

/** Link the clumps of a dense cell with each other: by flood fill, or, when the cell has too many
 *  particles for that, in two passes over its clumps. The first tests adjacent subcells, which
 *  mostly hold friends. Most clumps are then in one tree, and the second pass tests the clumps
 *  outside that tree with all others within reach. */
static void KITH_REAL(link_dense_cell)(struct kith__friends *f, struct kith__sweep *sweep,
                                       const struct kith__cell_image *home)
{
    static const int adjacent[3] = {1, 1, 1};
    struct KITH_REAL(traversal) t = KITH_REAL(new_traversal)(f, sweep);
    const struct kith__subcell_row *index = make_index(f, home);
    struct kith__dense_cell *dense = &f->dense[home->begin / KITH_DENSE];
    const int64_t first = f->first[home->begin], last = f->first[home->end];
    struct KITH_REAL(bbox) *bboxes = f->bboxes;
    bboxes[dense->index] = KITH_REAL(bbox_around)(t.x + first, t.y + first, t.z + first,
                                                  last - first);
    if (last - first <= CAPACITY) {
        dense->tree = KITH_REAL(flood)(f, home, t.cutoff2);
        return;
    }
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(set_clump)(&t, c);
        KITH_REAL(link_dense)(&t, t.subcell, home, index, true, adjacent);
    }
    int64_t outside;
    const int32_t common = majority_root(f, home, &outside);
    const bool few = 2 * outside < home->end - home->begin;
    for (int64_t c = home->begin; c < home->end && outside; c++) {
        KITH_REAL(set_clump)(&t, c);
        if (!few || t.root != common) {
            KITH_REAL(link_dense)(&t, t.subcell, home, index, !few, f->subcells.reach);
        }
    }
    if (outside) {
        (void)majority_root(f, home, &outside);
    }
    dense->tree = outside == 0 ? KITH_ONE_TREE : (uint16_t)(common - home->begin);
}

/** Link the clumps of a cell that is not dense with each other. @param home  the cell */
static void KITH_REAL(link_sparse_cell)(struct KITH_REAL(traversal) *t,
                                        const struct kith__cell_image *home)
{
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(set_clump)(t, c);
        if (!t->f->by_clump) {
            KITH_REAL(link_particles)(t, t->begin, t->end, &home->image);
        }
        if (c + 1 < home->end) {
            KITH_REAL(link_range)(t, c + 1, home->end, &home->image);
        }
    }
}

/* ----------------------------------------------------------------------------- borders of cells */

/* Linking two cells by their borders, the particles of each that are near the other: for cells of
 * many particles much faster than testing clump by clump. */

/** The particles of one cell that are near another cell, copied to consecutive entries. */
struct KITH_REAL(border) {
    int64_t n;      /**< particles */
    bool truncated; /**< the selection stopped before the end of the cell, as the arrays could not
                         hold another vector: the remaining particles were not tested */
    bool mixed;     /**< the particles are not all known to be in one tree */
    /** [n] coordinates [length]. */
    real x[CAPACITY + LANES], y[CAPACITY + LANES], z[CAPACITY + LANES];
    int32_t slot[CAPACITY + LANES]; /**< [n] slots, ascending */
    int32_t root[CAPACITY + LANES]; /**< [n] root of the tree of each, when it was last read */
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
 *  up to the capacity of the border. */
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
        unsigned near = 0;
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
 *  to the root of one clump of the cell, main_clump; then those of clumps with another parent are
 *  looked up. Early exit when all clumps of the cell are in one tree.
 *  @param target  the cell of the particles */
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
    const int32_t *first = (const int32_t *)f->first;
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

/** Unite the trees of all pairs of friends of two borders. Early exit once all are in one tree. */
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

/** Link two cells by their borders, without periodic images.
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
    if (here.n == 0) {
        return !there.truncated;
    }
    KITH_REAL(find_roots)(t, home, &here);
    KITH_REAL(find_roots)(t, target, &there);
    const bool swap = there.mixed && !here.mixed;
    KITH_REAL(link_pairs)(t, swap ? &there : &here, swap ? &here : &there);
    return (both_one_tree && here.root[0] == there.root[0]) ||
           (!here.truncated && !there.truncated);
}

/** Link a cell with its forward neighbours by borders, except with periodic images.
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

/* ----------------------------------------------------------------------------------- work items */

/** Link a cell with its forward neighbours: by borders where it is dense, then clump by clump.
 *  @param home  the cell */
static void KITH_REAL(link_forward_cells)(struct KITH_REAL(traversal) *t,
                                          const struct kith__cell_image *home)
{
    const struct kith__friends *f = t->f;
    const unsigned filled = home->inside ? forward_with_clumps(f, home->cell) : ALL_STEPS;
    const bool is_dense = f->by_clump && home->end - home->begin >= KITH_DENSE;
    const unsigned steps = is_dense ? KITH_REAL(link_borders)(t, home, filled) : filled;
    for (int64_t c = home->begin; c < home->end && steps; c++) {
        unsigned ahead = f->ahead[f->subcell[c]] & steps;
        if (ahead) {
            KITH_REAL(set_clump)(t, c);
        }
        for (; ahead; ahead &= ahead - 1) {
            const int step = __builtin_ctz(ahead);
            struct kith__cell_image target;
            if (find_forward(f, home, step, &target)) {
                KITH_REAL(link_cell)(t, f->subcells.step[step].away, &target);
            }
        }
    }
}

/** Link a clump with clumps [begin, end) of a forward neighbour, or of its own cell (OWN_CELL),
 *  when the cell is dense or there are more than MANY_PAIRS pairs of particles. A function of its
 *  own, to keep run_work_item short. */
static void KITH_REAL(run_long_work_item)(struct KITH_REAL(traversal) *t, int64_t clump, int step,
                                          int64_t begin, int64_t end)
{
    const struct kith__cell_image target = {.begin = begin, .end = end};
    static const int no_offset[3] = {0, 0, 0};
    KITH_REAL(set_clump)(t, clump);
    KITH_REAL(link_cell)(t, step == OWN_CELL ? no_offset : t->f->subcells.step[step].away, &target);
}

/** Link a clump with the clumps of one forward neighbour; with OWN_CELL, with the clumps after it
 *  in its own cell.
 *  @param step   number of the forward neighbour, or OWN_CELL
 *  @param cells  difference of the numbers of the two cells */
KITH_INLINE void KITH_REAL(run_work_item)(struct KITH_REAL(traversal) *t,
                                          const struct work_item *work_item, int step,
                                          int64_t cells)
{
    const struct kith__friends *f = t->f;
    const uint32_t *start = f->start + work_item->cell + cells;
    const int64_t next = (int64_t)work_item->clump + 1;
    const int64_t begin = start[0] > next ? start[0] : next;
    const int64_t end = start[1];
    const int64_t first = f->first[begin];
    const int64_t last = f->first[end];
    t->begin = f->first[work_item->clump];
    t->end = f->first[next];
    if (end - begin < KITH_DENSE && (t->end - t->begin) * (last - first) <= MANY_PAIRS) {
        t->root = work_item->clump; /* any node of the tree serves: hits look up the root */
        KITH_REAL(link_by_lanes)(t, begin, end, first, last);
    } else {
        KITH_REAL(run_long_work_item)(t, work_item->clump, step, begin, end);
    }
}

/** Run n work items, each of which has a step; work_item[n].steps is 0. All steps of all items are
 *  taken in one loop, so that no inner loop of few iterations ends with a mispredicted branch: most
 *  items have one step, and no hits. Not inlined: its caller would leave it too few registers. */
static __attribute__((noinline)) void KITH_REAL(run_work_items)(struct KITH_REAL(traversal) *t,
                                                                const struct work_item *work_item,
                                                                int64_t n)
{
    const struct work_item *const last = work_item + n;
    int64_t cells[KITH_STEPS + 1];
    for (int step = 0; step < KITH_STEPS; step++) {
        cells[step] = t->f->subcells.step[step].cells;
    }
    cells[OWN_CELL] = 0;
    unsigned steps = work_item->steps;
    while (work_item < last) {
        const int step = __builtin_ctz(steps);
        KITH_REAL(run_work_item)(t, work_item, step, cells[step]);
        steps &= steps - 1;
        work_item += steps == 0;
        steps |= steps == 0 ? work_item->steps : 0;
    }
}

/** Append work items for the clumps of a cell: to link them with each other, and with forward
 *  neighbours.
 *  @param home       a cell whose 26 neighbours are all in the box
 *  @param filled     mask of the forward neighbours
 *  @param work_item  end of the list
 *  @return the new end of the list */
KITH_INLINE struct work_item *KITH_REAL(append_work_items)(const struct kith__friends *f,
                                                           const struct kith__cell_image *home,
                                                           unsigned filled,
                                                           struct work_item *work_item)
{
    for (int64_t c = home->begin; c < home->end; c++) {
        const unsigned others = c + 1 < home->end;
        const unsigned steps = (f->ahead[f->subcell[c]] & filled) | others << OWN_CELL;
        *work_item = (struct work_item){(int32_t)c, steps, home->cell};
        work_item += steps != 0;
    }
    return work_item;
}

/** Link the cells whose first clump is in one block, each with itself, unless it is dense, and with
 *  the forward cells. In the usual case, a cell that is not dense and inside the box, work items
 *  are listed for its clumps, which are run at the end; other cells are linked at once. */
static void KITH_REAL(link_block)(struct kith__friends *f, struct kith__sweep *sweep, int64_t block)
{
    struct KITH_REAL(traversal) t = KITH_REAL(new_traversal)(f, sweep);
    struct work_item items[KITH_LINK_BLOCK + KITH_DENSE];
    struct work_item *end = items;
    struct cell_iterator iterator = cells_begin(f, block);
    struct kith__cell_image home;
    const bool by_work_items = f->ahead && f->start && f->by_clump;
    while (cells_next(f, &iterator, &home)) {
        const bool is_dense = home.end - home.begin >= KITH_DENSE;
        cells_locate(f, &iterator, &home);
        if (by_work_items && home.inside && !is_dense) {
            unsigned filled = forward_with_clumps(f, home.cell);
            if (f->first[home.end] - f->first[home.begin] >= BORDER_PARTICLES) {
                filled = KITH_REAL(link_borders)(&t, &home, filled);
            }
            end = KITH_REAL(append_work_items)(f, &home, filled, end);
            continue;
        }
        if (!is_dense) {
            KITH_REAL(link_sparse_cell)(&t, &home);
        }
        if (f->ahead) {
            KITH_REAL(link_forward_cells)(&t, &home);
            continue;
        }
        for (int64_t c = home.begin; c < home.end; c++) {
            KITH_REAL(set_clump)(&t, c);
            KITH_REAL(link_forward)(&t, &home);
        }
    }
    assert(end - items < KITH_LINK_BLOCK + KITH_DENSE);
    end->steps = 0;
    KITH_REAL(run_work_items)(&t, items, end - items);
}
