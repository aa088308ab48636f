/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking the clumps of one cell by flood fill, for one precision: from a particle to all within
 * the linking length of it, then to all within the linking length of those, and so on. Particles
 * that are reached leave the list of candidates, so a cell whose particles are all in one tree
 * takes few passes. Included by link_real.h.
 */

/** The particles of a cell: candidates that are not reached yet, and a queue of those reached. */
struct KITH_REAL(pool) {
    int64_t left;                                           /**< particles not reached yet */
    int64_t reached;                                        /**< particles in the queue */
    real x[POOL + LANES], y[POOL + LANES], z[POOL + LANES]; /**< [left] coordinates [length] */
    int32_t place[POOL + LANES]; /**< [left] slot of each, less the first slot of the cell */
    int32_t queue[POOL + LANES]; /**< [reached] slots, less the first, in the order of reaching */
};

/** Move the candidates within the cutoff of one of SOURCES points to the queue. */
KITH_INLINE void KITH_REAL(reach)(struct KITH_REAL(pool) *pool, real at[3][SOURCES], real cutoff2)
{
    int64_t kept = 0;
    for (int64_t l = 0; l < pool->left; l += W) {
        unsigned hits = 0;
        for (int h = 0; h < W; h += KITH_REAL(SIDE_BY_SIDE)) {
            const KITH_REAL(vector) x = KITH_REAL(load)(pool->x + l + h);
            const KITH_REAL(vector) y = KITH_REAL(load)(pool->y + l + h);
            const KITH_REAL(vector) z = KITH_REAL(load)(pool->z + l + h);
            for (int s = 0; s < SOURCES; s++) {
                const KITH_REAL(vector) dx = x - at[0][s], dy = y - at[1][s], dz = z - at[2][s];
                hits |= KITH_REAL(lanes_to)((dx * dx + dy * dy) + dz * dz, cutoff2) << h;
            }
        }
        const unsigned all = lanes_before(pool->left - l);
        hits &= all;
        if (hits) {
            vi_compress(pool->queue + pool->reached, vi_load(pool->place + l), hits);
            pool->reached += __builtin_popcount(hits);
        }
        const unsigned rest = all & ~hits;
        if (hits || kept < l) {
            KITH_REAL(pack)(pool->x + kept, pool->x + l, rest);
            KITH_REAL(pack)(pool->y + kept, pool->y + l, rest);
            KITH_REAL(pack)(pool->z + kept, pool->z + l, rest);
            vi_compress(pool->place + kept, vi_load(pool->place + l), rest);
        }
        kept += __builtin_popcount(rest);
    }
    pool->left = kept;
}

/** Append to the queue all particles of the tree of the first candidate. Of the queue the last
 *  particles are taken first: they are the farthest from the start, so that candidates are reached
 *  in fewest passes. */
static void KITH_REAL(reach_tree)(struct KITH_REAL(pool) *pool, const real *const axis[3],
                                  real cutoff2)
{
    int64_t next = pool->reached;
    int64_t end = next + 1;
    pool->queue[next] = pool->place[0]; /* which is within the cutoff of itself */
    do {
        int32_t *queue = pool->queue + next;
        real at[3][SOURCES];
        if (end - next >= 2 * SOURCES) {
            int32_t first[SOURCES];
            memcpy(first, queue, sizeof first);
            memcpy(queue, pool->queue + end - SOURCES, sizeof first);
            memcpy(pool->queue + end - SOURCES, first, sizeof first);
        }
        for (int s = 0; s < SOURCES; s++) {
            const int32_t place = queue[next + s < end ? s : end - 1 - next];
            for (int k = 0; k < 3; k++) {
                at[k][s] = axis[k][place];
            }
        }
        KITH_REAL(reach)(pool, at, cutoff2);
        next = next + SOURCES < end ? next + SOURCES : end;
        end = pool->reached;
    } while (next < end && pool->left > 0);
}

/** Link the clumps of a cell that holds at most POOL particles. @return the first clump of its
 *  largest tree, counted from its first clump; KITH_ONE_TREE: all its clumps are in one tree. */
static uint16_t KITH_REAL(flood)(struct kith__friends *f, const struct kith__place *home,
                                 real cutoff2)
{
    const struct kith__sorted *a = &f->grid->a;
    const int64_t first = f->first[home->begin];
    const int64_t n = f->first[home->end] - first;
    const real *const axis[3] = {(const real *)a->x + first, (const real *)a->y + first,
                                 (const real *)a->z + first};
    struct KITH_REAL(pool) pool;
    pool.left = n;
    pool.reached = 0;
    memcpy(pool.x, axis[0], (size_t)n * sizeof *pool.x);
    memcpy(pool.y, axis[1], (size_t)n * sizeof *pool.y);
    memcpy(pool.z, axis[2], (size_t)n * sizeof *pool.z);
    for (int32_t p = 0; p < n; p++) {
        pool.place[p] = p;
    }
    int32_t tree[POOL];  /* of each particle the first particle of its tree, which begins a clump */
    int32_t clump[POOL]; /* clump that begins with a particle; undefined for other particles */
    int32_t largest = 0;
    int64_t most = 0;
    for (int64_t from = 0; pool.left > 0;) {
        const int32_t least = pool.place[0];
        KITH_REAL(reach_tree)(&pool, axis, cutoff2);
        largest = pool.reached - from > most ? least : largest;
        most = pool.reached - from > most ? pool.reached - from : most;
        for (; from < pool.reached; from++) {
            tree[pool.queue[from]] = least;
        }
    }
    for (int64_t c = home->begin; c < home->end; c++) {
        const int64_t p = f->first[c] - first;
        clump[p] = (int32_t)c; /* tree[p] begins a clump, as all particles of a clump are friends */
        atomic_store_explicit(&f->parent[c], clump[tree[p]], memory_order_relaxed);
    }
    return most == n ? KITH_ONE_TREE : (uint16_t)(clump[largest] - home->begin);
}
