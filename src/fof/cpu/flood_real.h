/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking the clumps of one cell by flood fill, for one precision: from a particle to all within
 * the linking length of it, then to all within the linking length of those, and so on. Particles
 * that are reached are removed from the list of candidates, so a cell whose particles are all in
 * one tree takes few passes. Included by link_kernel.c, which defines CAPACITY, SOURCES and LANES,
 * through per_precision.h, which defines the type `real` and KITH_REAL(name), name_d or name_f.
 */

/* Arrays have LANES more entries than CAPACITY: vectors are loaded, and stored by vi_compress and
 * KITH_REAL(pack) (engine/cpu/lanes.h), beyond the last particle.
 */

/** The particles of a cell: candidates that are not reached yet, and a queue of those reached. */
struct KITH_REAL(flood_state) {
    int64_t left;    /**< candidates: particles not reached yet */
    int64_t reached; /**< particles in the queue; none is removed */
    /** [left] coordinates of the candidates [length]. */
    real x[CAPACITY + LANES], y[CAPACITY + LANES], z[CAPACITY + LANES];
    int32_t slot[CAPACITY + LANES]; /**< [left] slot of each candidate, less the first slot of the
                                         cell; ascending */
    /** [reached] slots, less the first slot of the cell. The particles of each tree are
     *  consecutive; within a tree, those expanded are at the front. */
    int32_t queue[CAPACITY + LANES];
};

/** One pass: move the candidates within the linking length of any of SOURCES points to the queue,
 *  and close the gaps that they leave among the candidates (stream compaction in place).
 *  @param at       coordinates of the points [length]
 *  @param cutoff2  squared linking length [length^2] */
KITH_INLINE void KITH_REAL(reach)(struct KITH_REAL(flood_state) *state, real at[3][SOURCES],
                                  real cutoff2)
{
    int64_t kept = 0; /* candidates kept so far; at most l, so no unread candidate is overwritten */
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
        if (hits || kept < l) { /* else the candidates are in their places already */
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
 *  @param axis     [3] arrays of the coordinates of all particles of the cell [length]
 *  @param cutoff2  squared linking length [length^2] */
static void KITH_REAL(reach_tree)(struct KITH_REAL(flood_state) *state, const real *const axis[3],
                                  real cutoff2)
{
    int64_t next = state->reached; /* first particle of the queue that is not expanded */
    int64_t end = next + 1;
    state->queue[next] = state->slot[0]; /* the first pass reaches it: its distance from itself is
                                            0 */
    do {
        int32_t *queue = state->queue + next;
        real at[3][SOURCES];
        /* swap the last SOURCES entries with those at `next`, where the two do not overlap */
        if (end - next >= 2 * SOURCES) {
            int32_t first[SOURCES];
            memcpy(first, queue, sizeof first);
            memcpy(queue, state->queue + end - SOURCES, sizeof first);
            memcpy(state->queue + end - SOURCES, first, sizeof first);
        }
        for (int s = 0; s < SOURCES; s++) {
            /* if there are fewer sources, the last one is repeated */
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

/** Link the clumps of a cell of at most CAPACITY particles by flood fill. Stores the parent of each
 *  clump directly: no other thread changes the trees of this cell at that time.
 *  @param home     the cell
 *  @param cutoff2  squared linking length [length^2]
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
    int32_t tree[CAPACITY];  /* by particle: the first particle of its tree */
    int32_t clump[CAPACITY]; /* by particle: the clump whose first particle it is; else undefined */
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
