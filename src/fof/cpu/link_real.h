/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traversal of the cells near one clump, for one precision. Included by link_kernel.c through
 * twice.h.
 */

#include "near_real.h"

/** Traversal of the cells near one clump. */
struct KITH_REAL(seeker) {
    struct kith__friends *f;   /**< the search */
    struct kith__sweep *sweep; /**< state of the thread */
    const real *x, *y, *z;     /**< [particles] coordinates by slot [length] */
    int64_t begin, end;        /**< slots of the particles of the clump */
    int32_t root;              /**< root of the clump's tree when it was last read; -1: unused */
    int subcell[3];            /**< coordinates of the clump's subcell in its cell */
    real cutoff2;              /**< squared linking length [length^2] */
    real near2; /**< squared distance from which on no pair is a pair, however it rounds
                     [length^2] */
};

/** Squared distance of the particle in slot i and an image of the one in slot j [length^2]. */
KITH_INLINE real KITH_REAL(apart)(const struct KITH_REAL(seeker) *me, int64_t i, int64_t j,
                                  const struct kith__image *image)
{
    const real ri[3] = {me->x[i], me->y[i], me->z[i]};
    const real rj[3] = {me->x[j], me->y[j], me->z[j]};
    real d[3];
    static const int32_t none[3] = {0, 0, 0};
    return KITH_REAL(kith__separation)(&me->f->question->KITH_REAL(box), ri, rj,
                                       image->moved ? image->shift : none, d);
}

#include "touch_real.h"

/** Whether some particle of the clump is a friend of one of slots [begin, end). */
static bool KITH_REAL(touches)(const struct KITH_REAL(seeker) *me, int64_t begin, int64_t end,
                               const struct kith__image *image)
{
    if ((me->end - me->begin) * (end - begin) > MANY_PAIRS) {
        return KITH_REAL(touches_many)(me, begin, end, image);
    }
    for (int64_t i = me->begin; i < me->end; i++) {
        for (int64_t j = begin; j < end; j++) {
            if (KITH_REAL(apart)(me, i, j, image) <= me->cutoff2) {
                return true;
            }
        }
    }
    return false;
}

/** Unite the clump with clump b if they hold a pair of friends. */
static void KITH_REAL(meet)(struct KITH_REAL(seeker) *me, int64_t b,
                            const struct kith__image *image)
{
    struct kith__friends *f = me->f;
    const int32_t root = kith__root(f->parent, (int32_t)b);
    if (root == me->root) {
        atomic_store_explicit(&f->parent[b], root, memory_order_relaxed);
    } else if (KITH_REAL(touches)(me, f->first[b], f->first[b + 1], image)) {
        me->root = kith__unite(f->parent, me->root, root);
    }
}

/** Test every particle of the clump with every one of slots [begin, end), and unite friends: where
 *  nodes are particles. */
static void KITH_REAL(meet_each)(struct KITH_REAL(seeker) *me, int64_t begin, int64_t end,
                                 const struct kith__image *image)
{
    struct kith__friends *f = me->f;
    const real *v = f->velocities;
    const real length = (real)f->question->cutoff;
    for (int64_t i = me->begin; i < me->end && kith__sweep_goes_on(me->sweep, 8 * (end - begin));
         i++) {
        for (int64_t j = begin; j < end; j++) {
            const real r2 = KITH_REAL(apart)(me, i, j, image);
            if (v ? KITH_REAL(kith__phase)(r2, length, &v[3 * i], &v[3 * j],
                                           (real)f->velocity_length) <= 1
                  : r2 <= me->cutoff2) {
                kith__unite(f->parent, (int32_t)i, (int32_t)j);
            }
        }
    }
}

/** Test the clump with the n clumps from `begin` on, at most KITH_MOST_PARTS. Skips those that were
 *  in the clump's tree when last read. */
KITH_INLINE void KITH_REAL(meet_row)(struct KITH_REAL(seeker) *me, int64_t begin, int n,
                                     const struct kith__image *image)
{
    if (!me->f->by_clump) {
        for (int64_t b = begin; b < begin + n; b++) {
            KITH_REAL(meet_each)(me, me->f->first[b], me->f->first[b + 1], image);
        }
        return;
    }
    unsigned strangers = unlike(me->f->parent + begin, n, me->root);
    for (; strangers; strangers &= strangers - 1) {
        KITH_REAL(meet)(me, begin + __builtin_ctz(strangers), image);
    }
}

/** Test the clump with the clumps of a dense cell within `reach` subcells.
 *  @param subcell  coordinates of the clump's subcell, counted from the first of the dense cell
 *  @param own   it is the clump's own cell: only later clumps are tested */
static void KITH_REAL(link_dense)(struct KITH_REAL(seeker) *me, const int subcell[3],
                                  const struct kith__place *place,
                                  const struct kith__subcell_row *index, bool own,
                                  const int reach[3])
{
    const struct kith__friends *f = me->f;
    const int ny = f->grid->axis[1].parts;
    const int nz = f->grid->axis[2].parts;
    const int z_end = at_most(subcell[2] + reach[2], nz - 1);
    const int y_end = at_most(subcell[1] + reach[1], ny - 1);
    unsigned below[KITH_MOST_REACH + 1];
    unsigned span[KITH_MOST_REACH + 1]; /* [dx] mask of the subcells within dx along x; `below` has
                                           those before them */
    for (int dx = 0; dx <= reach[0]; dx++) {
        const int high = at_most(subcell[0] + dx, KITH_MOST_PARTS - 1);
        below[dx] = (1u << at_most(at_least(subcell[0] - dx, 0), KITH_MOST_PARTS)) - 1;
        span[dx] = high < 0 ? 0 : ((2u << high) - 1) & ~below[dx];
    }
    for (int z = own ? subcell[2] : at_least(subcell[2] - reach[2], 0); z <= z_end; z++) {
        const int8_t *along =
            f->subcells.row_reach[z > subcell[2] ? z - subcell[2] : subcell[2] - z];
        const bool level = own && z == subcell[2];
        for (int y = level ? subcell[1] : at_least(subcell[1] - reach[1], 0); y <= y_end; y++) {
            const int dx = at_most(along[y > subcell[1] ? y - subcell[1] : subcell[1] - y],
                                   reach[0]);
            if (dx < 0) {
                continue;
            }
            const struct kith__subcell_row row = index[z * ny + y];
            /* in the clump's own row only what follows it */
            const unsigned before = level && y == subcell[1] ? (2u << subcell[0]) - 1 : below[dx];
            KITH_REAL(meet_row)(me,
                                place->begin + row.first + __builtin_popcount(row.mask & before),
                                __builtin_popcount(row.mask & span[dx] & ~before), &place->image);
        }
    }
}

/** Unite the clump with those of clumps [begin, end), at no image, that hold a friend. Their
 *  particles are in slots [first, last). */
KITH_INLINE void KITH_REAL(meet_lanes)(struct KITH_REAL(seeker) *me, int64_t begin, int64_t end,
                                       int64_t first, int64_t last)
{
    for (int64_t j = first; j < last; j += LANES) {
        unsigned hits = 0;
        for (int64_t i = me->begin; i < me->end; i++) {
            const real at[3] = {me->x[i], me->y[i], me->z[i]};
            hits |= KITH_REAL(near_lanes)(me->x + j, me->y + j, me->z + j, at, me->cutoff2,
                                          last - j);
        }
        if (hits) {
            me->root = unite_hits(me->f, me->root, begin, end, j, hits);
        }
    }
}

/** Unite the clump with those of clumps [begin, end) of one cell that hold a friend. */
KITH_INLINE void KITH_REAL(meet_few)(struct KITH_REAL(seeker) *me, int64_t begin, int64_t end,
                                     const struct kith__image *image)
{
    const struct kith__friends *f = me->f;
    const int64_t first = f->first[begin];
    const int64_t last = f->first[end];
    if (image->moved || !f->by_clump || (me->end - me->begin) * (last - first) > MANY_PAIRS) {
        for (int64_t b = begin; b < end; b++) {
            KITH_REAL(meet_row)(me, b, 1, image);
        }
        return;
    }
    KITH_REAL(meet_lanes)(me, begin, end, first, last);
}

/** Test the clump with the clumps of the cell that is `away` from its own. */
KITH_INLINE void KITH_REAL(meet_place)(struct KITH_REAL(seeker) *me, const int away[3],
                                       const struct kith__place *place)
{
    const struct kith__friends *f = me->f;
    const struct kith__axis *axis = f->grid->axis;
    const struct kith__subcell_row *index = index_of(f, place->begin, place->end);
    if (index) {
        const int seen[3] = {me->subcell[0] - away[0] * axis[0].parts,
                             me->subcell[1] - away[1] * axis[1].parts,
                             me->subcell[2] - away[2] * axis[2].parts};
        KITH_REAL(link_dense)(me, seen, place, index, false, f->subcells.reach);
    } else {
        KITH_REAL(meet_few)(me, place->begin, place->end, &place->image);
    }
}

/** Test the clump with all forward cells within reach, where there are more than the 26 around. */
static void KITH_REAL(meet_around)(struct KITH_REAL(seeker) *me, const struct kith__place *home)
{
    const struct kith__friends *f = me->f;
    const int low[2] = {f->subcells.cell_low[0][me->subcell[0]],
                        f->subcells.cell_low[1][me->subcell[1]]};
    const int high[2] = {f->subcells.cell_high[0][me->subcell[0]],
                         f->subcells.cell_high[1][me->subcell[1]]};
    int away[3];
    for (away[2] = 0; away[2] <= f->subcells.cell_high[2][me->subcell[2]]; away[2]++) {
        for (away[1] = away[2] ? low[1] : 0;
             away[1] <= high[1] && kith__sweep_goes_on(me->sweep, 16 * (high[0] - low[0] + 1));
             away[1]++) {
            for (away[0] = away[2] || away[1] ? low[0] : 1; away[0] <= high[0]; away[0]++) {
                struct kith__place place;
                if (go(f, home, away, &place)) {
                    KITH_REAL(meet_place)(me, away, &place);
                }
            }
        }
    }
}

/** Start the traversal of a clump. */
static void KITH_REAL(seek)(struct KITH_REAL(seeker) *me, int64_t clump)
{
    const struct kith__friends *f = me->f;
    me->begin = f->first[clump];
    me->end = f->first[clump + 1];
    me->root = f->by_clump ? kith__root(f->parent, (int32_t)clump) : -1;
    kith__part_of(f->grid->axis, f->subcell[clump], me->subcell);
}

/** Initialise a traversal, of no clump yet. */
static struct KITH_REAL(seeker) KITH_REAL(start)(struct kith__friends *f, struct kith__sweep *sweep)
{
    const struct kith__sorted *a = &f->grid->a;
    const real cutoff = (real)f->question->cutoff;
    const real near = (real)f->grid->near;
    return (struct KITH_REAL(seeker)){.f = f,
                                      .sweep = sweep,
                                      .x = a->x,
                                      .y = a->y,
                                      .z = a->z,
                                      .cutoff2 = cutoff * cutoff,
                                      .near2 = near * near};
}

/** Link the particles of a dense cell with each other, where nodes are particles. */
static void KITH_REAL(link_dense_particles)(struct kith__friends *f, struct kith__sweep *sweep,
                                            const struct kith__place *home)
{
    struct KITH_REAL(seeker) me = KITH_REAL(start)(f, sweep);
    const struct kith__subcell_row *index = make_index(f, home);
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(seek)(&me, c);
        KITH_REAL(meet_each)(&me, me.begin, me.end, &home->image);
        KITH_REAL(link_dense)(&me, me.subcell, home, index, true, f->subcells.reach);
    }
}

#include "flood_real.h"

/** Link the clumps of a dense cell with each other. */
static void KITH_REAL(link_dense_cell)(struct kith__friends *f, struct kith__sweep *sweep,
                                       const struct kith__place *home)
{
    /* First the adjacent subcells, which are mostly linked. Most clumps are then in one tree, and
       of each pair of clumps in two trees at least one is outside that tree. */
    static const int beside[3] = {1, 1, 1};
    struct KITH_REAL(seeker) me = KITH_REAL(start)(f, sweep);
    const struct kith__subcell_row *index = make_index(f, home);
    struct kith__dense_cell *dense = &f->dense[home->begin / KITH_DENSE];
    const int64_t first = f->first[home->begin], last = f->first[home->end];
    struct KITH_REAL(block) *blocks = f->blocks;
    blocks[dense->index] = KITH_REAL(block_around)(me.x + first, me.y + first, me.z + first,
                                                   last - first);
    if (last - first <= POOL) {
        dense->tree = KITH_REAL(flood)(f, home, me.cutoff2);
        return;
    }
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(seek)(&me, c);
        KITH_REAL(link_dense)(&me, me.subcell, home, index, true, beside);
    }
    int64_t strays;
    const int32_t common = common_root(f, home, &strays);
    const bool few = 2 * strays < home->end - home->begin;
    for (int64_t c = home->begin; c < home->end && strays; c++) {
        KITH_REAL(seek)(&me, c);
        if (!few || me.root != common) {
            KITH_REAL(link_dense)(&me, me.subcell, home, index, !few, f->subcells.reach);
        }
    }
    if (strays) {
        (void)common_root(f, home, &strays);
    }
    dense->tree = strays == 0 ? KITH_ONE_TREE : (uint16_t)(common - home->begin);
}

/** Link the clumps of a cell that is not dense with each other. */
static void KITH_REAL(link_few)(struct KITH_REAL(seeker) *me, const struct kith__place *home)
{
    for (int64_t c = home->begin; c < home->end; c++) {
        KITH_REAL(seek)(me, c);
        if (!me->f->by_clump) {
            KITH_REAL(meet_each)(me, me->begin, me->end, &home->image);
        }
        if (c + 1 < home->end) {
            KITH_REAL(meet_few)(me, c + 1, home->end, &home->image);
        }
    }
}

#include "border_real.h"

/** Link the clumps of a cell with those of its forward neighbours. */
static void KITH_REAL(link_ahead)(struct KITH_REAL(seeker) *me, const struct kith__place *home)
{
    const struct kith__friends *f = me->f;
    const unsigned filled = home->inside ? filled_ahead(f, home->cell) : ALL_STEPS;
    const bool is_dense = f->by_clump && home->end - home->begin >= KITH_DENSE;
    const unsigned steps = is_dense ? KITH_REAL(link_borders)(me, home, filled) : filled;
    for (int64_t c = home->begin; c < home->end && steps; c++) {
        unsigned ahead = f->ahead[f->subcell[c]] & steps;
        if (ahead) {
            KITH_REAL(seek)(me, c);
        }
        for (; ahead; ahead &= ahead - 1) {
            const int step = __builtin_ctz(ahead);
            struct kith__place place;
            if (take_step(f, home, step, &place)) {
                KITH_REAL(meet_place)(me, f->subcells.step[step].away, &place);
            }
        }
    }
}

/** Link a clump with clumps [begin, end) of a forward neighbour, when they are many. A function of
 *  its own, to keep run_errand short. */
static void KITH_REAL(run_long_errand)(struct KITH_REAL(seeker) *me, int64_t clump, int step,
                                       int64_t begin, int64_t end)
{
    const struct kith__place place = {.begin = begin, .end = end};
    static const int nowhere[3] = {0, 0, 0};
    KITH_REAL(seek)(me, clump);
    KITH_REAL(meet_place)(me, step == AT_HOME ? nowhere : me->f->subcells.step[step].away, &place);
}

/** Link a clump with those of a forward neighbour whose number is `cells` larger; with AT_HOME,
 *  with the clumps behind it in its own cell. */
KITH_INLINE void KITH_REAL(run_errand)(struct KITH_REAL(seeker) *me, const struct errand *errand,
                                       int step, int64_t cells)
{
    const struct kith__friends *f = me->f;
    const uint32_t *start = f->start + errand->cell + cells;
    const int64_t behind = (int64_t)errand->clump + 1;
    const int64_t begin = start[0] > behind ? start[0] : behind;
    const int64_t end = start[1];
    const int64_t first = f->first[begin];
    const int64_t last = f->first[end];
    me->begin = f->first[errand->clump];
    me->end = f->first[behind];
    if (end - begin < KITH_DENSE && (me->end - me->begin) * (last - first) <= MANY_PAIRS) {
        me->root = errand->clump; /* any node of the tree serves: hits look up the root */
        KITH_REAL(meet_lanes)(me, begin, end, first, last);
    } else {
        KITH_REAL(run_long_errand)(me, errand->clump, step, begin, end);
    }
}

/** Run n work items; errand[n] has no steps. All steps of all items are taken in one loop, whose
 *  only branch that may be mispredicted is its end: most items have one step, and no hits. Not
 *  inlined: its caller would leave it too few registers. */
static __attribute__((noinline)) void KITH_REAL(run_errands)(struct KITH_REAL(seeker) *me,
                                                             const struct errand *errand, int64_t n)
{
    const struct errand *const last = errand + n;
    int64_t cells[KITH_STEPS + 1];
    for (int step = 0; step < KITH_STEPS; step++) {
        cells[step] = me->f->subcells.step[step].cells;
    }
    cells[AT_HOME] = 0;
    unsigned steps = errand->steps;
    while (errand < last) {
        const int step = __builtin_ctz(steps);
        KITH_REAL(run_errand)(me, errand, step, cells[step]);
        steps &= steps - 1;
        errand += steps == 0;
        steps |= steps == 0 ? errand->steps : 0;
    }
}

/** Append work items for the clumps of a cell inside the box: to link them with each other, and
 *  with the forward neighbours in the mask `filled`. @return the end of the list. */
KITH_INLINE struct errand *KITH_REAL(note_errands)(const struct kith__friends *f,
                                                   const struct kith__place *home, unsigned filled,
                                                   struct errand *errand)
{
    for (int64_t c = home->begin; c < home->end; c++) {
        const unsigned others = c + 1 < home->end;
        const unsigned steps = (f->ahead[f->subcell[c]] & filled) | others << AT_HOME;
        *errand = (struct errand){(int32_t)c, steps, home->cell};
        errand += steps != 0;
    }
    return errand;
}

/** Link the cells whose first clump lies in one block, but for the insides of dense cells. */
static void KITH_REAL(link_block)(struct kith__friends *f, struct kith__sweep *sweep, int64_t block)
{
    struct KITH_REAL(seeker) me = KITH_REAL(start)(f, sweep);
    struct errand errands[KITH_LINK_BLOCK + KITH_DENSE];
    struct errand *end = errands;
    struct kith__walk walk = kith__walk_start(f, block);
    struct kith__place home;
    const bool simple = f->ahead && f->start && f->by_clump;
    while (kith__walk_next(f, &walk, &home)) {
        const bool is_dense = home.end - home.begin >= KITH_DENSE;
        kith__walk_locate(f, &walk, &home);
        if (simple && home.inside && !is_dense) {
            unsigned filled = filled_ahead(f, home.cell);
            if (f->first[home.end] - f->first[home.begin] >= TOGETHER) {
                filled = KITH_REAL(link_borders)(&me, &home, filled);
            }
            end = KITH_REAL(note_errands)(f, &home, filled, end);
            continue;
        }
        if (!is_dense) {
            KITH_REAL(link_few)(&me, &home);
        }
        if (f->ahead) {
            KITH_REAL(link_ahead)(&me, &home);
            continue;
        }
        for (int64_t c = home.begin; c < home.end; c++) {
            KITH_REAL(seek)(&me, c);
            KITH_REAL(meet_around)(&me, &home);
        }
    }
    end->steps = 0;
    KITH_REAL(run_errands)(&me, errands, end - errands);
}
