/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking the particles of one cell, and cells with their forward neighbours, for one precision: by
 * flood fill (flood_real.h), by borders (border_real.h), or clump by clump (clump_real.h).
 * Included by link_kernel.c, after these files, through per_precision.h, which defines the type
 * `real` and KITH_REAL(name), name_d or name_f. Cells are passed as struct kith__cell_image, which
 * has the range of their clumps.
 */

/* ------------------------------------------------------------------------------------- one cell */

/** Where nodes are particles: unite all friends within a dense cell. Each clump is tested with
 *  itself and with the later clumps within reach. */
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

/** Link the clumps of a dense cell with each other: by flood fill, or, when the cell has too many
 *  particles for that, in two passes over its clumps. The first tests adjacent subcells, which
 *  mostly hold friends. Most clumps are then in one tree, and the second pass tests the clumps
 *  outside that tree with all others within reach. If most clumps are outside, it tests every clump
 *  with the later ones instead. Sets the cell's index, bounding box and `tree`. */
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
    const bool few = 2 * outside < home->end - home->begin; /* few clumps are outside the tree */
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

/** Link the clumps of a cell that is not dense with each other; where nodes are particles, also the
 *  particles of each clump. @param home  the cell */
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

/* ----------------------------------------------------------------------------------- work items */

/** Link a cell with its forward neighbours: by borders where it is dense, then clump by clump with
 *  the neighbours that borders could not link. Needs f->ahead.
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
 *  @param cells  number of the forward neighbour less that of the clump's cell; 0 with OWN_CELL */
KITH_INLINE void KITH_REAL(run_work_item)(struct KITH_REAL(traversal) *t,
                                          const struct work_item *work_item, int step,
                                          int64_t cells)
{
    const struct kith__friends *f = t->f;
    const uint32_t *start = f->start + work_item->cell + cells;
    const int64_t next = (int64_t)work_item->clump + 1;
    /* the clumps of a forward neighbour all come later: start[0] >= next */
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

/** Run n work items, each of which has a step. work_item[n] is readable; its steps are 0. All steps
 *  of all items are taken in one loop, so that no inner loop of few iterations ends with a
 *  mispredicted branch: most items have one step, and no hits. Not inlined: its caller would leave
 *  it too few registers. */
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
 *  @param filled     mask of the forward neighbours that the clumps are tested with
 *  @param work_item  end of the list; has room for home->end - home->begin more items
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
        work_item += steps != 0; /* branchless: an item without steps is overwritten by the next */
    }
    return work_item;
}

/** Link the cells whose first clump is in one block, each with itself, unless it is dense, and with
 *  the forward cells. In the usual case, a cell that is not dense and has all its neighbours in
 *  the box, work items are listed for its clumps, and run at the end; other cells are linked at
 *  once. */
static void KITH_REAL(link_block)(struct kith__friends *f, struct kith__sweep *sweep, int64_t block)
{
    struct KITH_REAL(traversal) t = KITH_REAL(new_traversal)(f, sweep);
    /* The block's clumps, those of its last cell after its end, fewer than KITH_DENSE - 1, and the
     * item without steps that run_work_items needs. */
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
