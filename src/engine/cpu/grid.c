/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building the grid: find the bounds of the coordinates, choose the cells, sort the particles by
 * cell, copy the coordinates in that order. The sort is a stable radix sort of 64-bit elements,
 * each of which has the key (the numbers of cell and subcell) in its high bits, and the index of
 * the particle in its low bits. O(n), parallel.
 */
#include "grid.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/bounds.h"
#include "sort.h"
#include "cpu_state.h"
#include "keys.h"

/* Axes with more cells than this are compressed (kith__axis in cells.h), one after the other, as
 * long as the table of first slots is too large. */
static const int64_t long_axis = 64;

/** Return the number after compression of an occupied cell, from its number before compression.
 *  Branch-free binary search: its branches would be mispredicted half of the time. */
static inline int64_t axis_rank(const struct kith__axis *axis, int64_t cell)
{
    const int64_t *occupied = axis->occupied;
    for (int64_t n = axis->n_occupied; n > 1;) {
        const int64_t half = n / 2;
        occupied += (occupied[half - 1] < cell) * half;
        n -= half;
    }
    return axis->ranks[occupied - axis->occupied];
}

/** Return the number of the scratch buffer for the second array of the sort, for set a. With
 *  subcells it is the memory of the coordinates, which are copied after the sort. */
static int spare_slot(const struct kith__question *q)
{
    return q->subcell > 0 ? KITH_GRID_XYZ : KITH_GRID_SPARE;
}

/** Return the bytes to allocate for the coordinates of n slots along one axis: a whole number of
 *  cache lines, of which at least 2 KITH_ALIGN bytes are beyond slot n: two vectors of doubles, 16
 *  numbers, can be read from any slot on. */
static size_t axis_room(const struct kith__question *q, int64_t n)
{
    const size_t align = KITH_ALIGN;
    return ((size_t)n * (size_t)q->precision + 3 * align - 1) / align * align;
}

#define KITH_PER_PRECISION "engine/cpu/grid_real.h"
#include "core/per_precision.h"

/** Compute the fractional coordinates of particle p of the caller's points, wrapped. It can be
 *  wrapped: kith__bounds_find has refused particles that are too far outside. */
static void locate(const struct kith__question *q, const kith_points *points, int64_t p,
                   double f[3])
{
    double r[3];
    int32_t image[3];
    (void)kith__load(q, points, p, r, image);
    kith__fractions_d(&q->box_d, r, f);
}

/** Return the element that is number `nth` (from 0) of a[0, n) in ascending order, by quickselect;
 *  reorders a. The partition is Lomuto's without branches that could be mispredicted: every element
 *  is swapped, smaller than the pivot or not. O(n) expected, O(n^2) where many elements are
 *  equal; find_anchor has at most 255. */
static double select_nth(double *a, int n, int nth)
{
    int begin = 0;
    int end = n;
    while (end - begin > 1) {
        double *middle = &a[begin + (end - begin) / 2];
        const double pivot = *middle;
        *middle = a[end - 1];
        int below = begin;
        for (int k = begin; k < end - 1; k++) {
            const double v = a[k];
            a[k] = a[below];
            a[below] = v;
            below += v < pivot;
        }
        a[end - 1] = a[below];
        a[below] = pivot;
        end = nth < below ? below : nth > below ? end : nth + 1;
        begin = nth < below ? begin : nth > below ? below + 1 : nth;
    }
    return a[nth];
}

/** Compute the median, along each axis, of the fractional coordinates of a sample of set a: a point
 *  where most particles are, regardless of outliers. Cells of open axes are counted from it, so
 *  that only far outliers are beyond KITH_FAR_CELLS. */
static void find_anchor(const struct kith__question *q, double anchor[3])
{
    enum { SAMPLE = 255 };
    double f[3][SAMPLE];
    const int64_t n = q->a.n < SAMPLE ? q->a.n : SAMPLE;
    for (int64_t s = 0; s < n; s++) {
        double at[3];
        locate(q, &q->a, q->a.n * s / n, at);
        for (int k = 0; k < 3; k++) {
            f[k][s] = at[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        anchor[k] = n ? select_nth(f[k], (int)n, (int)n / 2) : 0;
    }
}

/** List the cells that particles [begin, end) occupy along axis k, numbered before compression. The
 *  particles of set b are numbered after those of set a. Most repetitions are skipped, by a small
 *  hash table of the cells listed last; hash value: the high bits of a product with 2^64 divided by
 *  the golden ratio (Fibonacci hashing).
 *  @param[out] cell  [end - begin] the list
 *  @return its length */
static int64_t list_cells(const struct kith__question *q, int k, const struct kith__axis *axis,
                          int64_t begin, int64_t end, uint64_t *cell)
{
    enum { SEEN_BITS = 10 };
    uint64_t seen[1 << SEEN_BITS];   /* cell that was listed last for each hash value */
    memset(seen, 0xff, sizeof seen); /* no cell has the number 2^64 - 1 */
    int64_t listed = 0;
    for (int64_t p = begin; p < end; p++) {
        const bool in_a = p < q->a.n;
        double f[3];
        locate(q, in_a ? &q->a : &q->b, in_a ? p : p - q->a.n, f);
        const uint64_t c = (uint64_t)kith__uncompressed_cell(axis, f[k]);
        uint64_t *last = &seen[c * 0x9e3779b97f4a7c15u >> (64 - SEEN_BITS)];
        if (*last != c) {
            *last = c;
            cell[listed++] = c;
        }
    }
    return listed;
}

/** Shared state of the parallel loop that lists the cells that particles occupy along one axis. */
struct cell_loop {
    const struct kith__question *question; /**< points and box */
    int k;                                 /**< number of the axis */
    const struct kith__axis *axis;         /**< the axis, not compressed */
    uint64_t *cell;         /**< [particles] the list, in any order, with repetitions */
    uint64_t *spare;        /**< [particles] list of each range of particles, at its first index */
    _Atomic int64_t listed; /**< length of the list */
};

/** List the cells of particles [begin, end) in loop->spare, then append them to the common list:
 *  their number is known only then. */
static void list_range(void *state, int64_t begin, int64_t end)
{
    struct cell_loop *loop = state;
    const int64_t found = list_cells(loop->question, loop->k, loop->axis, begin, end,
                                     loop->spare + begin);
    memcpy(loop->cell + atomic_fetch_add(&loop->listed, found), loop->spare + begin,
           (size_t)found * sizeof *loop->cell);
}

/** Find the cells that particles occupy along axis k, numbered before compression.
 *  @param[out] occupied  the cells, ascending, without repetitions; in one of the two arrays of the
 *                        sort, until that is next used. Undefined when the call is cancelled
 *  @return their number */
static int64_t occupied_cells(kith_ctx *ctx, const struct kith__question *q, int k,
                              const struct kith__axis *axis, uint64_t **occupied)
{
    const int64_t n = q->a.n + (q->cross ? q->b.n : 0);
    uint64_t *cell = ctx->work.buffer[KITH_GRID_ELEMENTS].data;
    uint64_t *spare = ctx->work.buffer[spare_slot(q)].data;
    int64_t *bins = ctx->work.buffer[KITH_GRID_BINS].data;
    struct cell_loop loop = {.question = q, .k = k, .axis = axis, .cell = cell, .spare = spare};
    kith__loop(ctx, n, list_range, &loop);
    const int64_t listed = loop.listed;
    const int bits = kith__bit_length((uint64_t)axis->n_uncompressed);
    uint64_t *sorted = kith__sort(ctx, cell, spare, listed, 0, bits, bins);
    int64_t found = 0;
    for (int64_t p = 0; p < listed; p++) {
        if (found == 0 || sorted[p] != sorted[found - 1]) {
            sorted[found++] = sorted[p];
        }
    }
    *occupied = sorted;
    return found;
}

#ifndef NDEBUG
/** Return true when the cells of a compressed axis ascend, before and after compression, and are
 *  within the axis. */
static bool is_compressed(const struct kith__axis *axis)
{
    const int64_t last = axis->n_occupied - 1;
    bool fine = axis->ranks[0] == 0 && axis->ranks[last] < axis->n && axis->occupied[0] >= 0 &&
                axis->occupied[last] < axis->n_uncompressed;
    for (int64_t c = 0; c < last; c++) {
        fine = fine && axis->occupied[c] < axis->occupied[c + 1] &&
               axis->ranks[c] < axis->ranks[c + 1];
    }
    return fine;
}
#endif

/**
 * Compress axis k: the distance from one occupied cell to the next is kept where it is at most the
 * reach, and is shortened to reach + 1 cells where it is more. The axis then has O(n) cells, and
 * cells within the reach of each other are exactly those that were so before.
 */
static kith_status compress_axis(kith_ctx *ctx, const struct kith__question *q, int k,
                                 struct kith__axis *axis)
{
    uint64_t *sorted;
    const int64_t n = occupied_cells(ctx, q, k, axis, &sorted);
    KITH_TRY(kith__proceed(ctx));
    int64_t *occupied = kith__work_need(&ctx->work, KITH_GRID_OCCUPIED + k,
                                        (size_t)n * 2 * sizeof *occupied);
    KITH_CHECK(ctx, occupied != NULL, KITH_NO_MEMORY, "out of memory for %lld cells", (long long)n);
    int64_t *ranks = occupied + n;
    const int64_t widest = axis->reach + 1;
    for (int64_t c = 0; c < n; c++) {
        occupied[c] = (int64_t)sorted[c];
        const int64_t gap = c ? occupied[c] - occupied[c - 1] : 0;
        ranks[c] = c ? ranks[c - 1] + (gap < widest ? gap : widest) : 0;
    }
    /* gap from the last occupied cell to the first one's image in the next box */
    const int64_t around = occupied[0] + axis->n_uncompressed - occupied[n - 1];
    axis->n = ranks[n - 1] + (!axis->periodic ? 1 : around < widest ? around : widest);
    axis->occupied = occupied;
    axis->ranks = ranks;
    axis->n_occupied = n;
    assert(is_compressed(axis));
    return KITH_OK;
}

/** Choose the cells, and decide whether there is a table of their first slots. A cell is as wide as
 *  the cutoff and a margin, or as a whole number of subcells; the width is doubled until keys fit
 *  (kith__keys_fit). Long axes are compressed when the table would be too large. Sets near, axis,
 *  cells, table and far of *grid.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
static kith_status choose_cells(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__bounds *bounds, struct kith__grid *grid)
{
    const int64_t most = kith__table_limit(q);
    /* a quarter less with subcells: friends-of-friends keeps other tables beside that of the
     * cells */
    const int64_t limit = q->subcell > 0 ? most - most / 4 : most;
    const double near = grid->near = kith__cell_side(q, bounds);
    double anchor[3];
    find_anchor(q, anchor);
    const int subcells = q->subcell > 0 ? kith__choose_subcells(q, bounds, anchor, limit) : 1;
    double side = q->subcell > 0 ? subcells * q->subcell : near;
    while (true) {
        grid->cells = kith__choose_axes(q, bounds, anchor, side, grid->axis);
        if (q->subcell > 0) {
            grid->far = kith__divide_cells(q, bounds, subcells, near, grid->axis) || grid->far;
        }
        for (int k = 0; k < 3 && (grid->cells < 0 || grid->cells > limit); k++) {
            if (grid->axis[k].n > long_axis) {
                KITH_TRY(compress_axis(ctx, q, k, &grid->axis[k]));
                grid->cells = kith__count_cells(grid->axis);
            }
        }
        if (kith__keys_fit(grid->cells, grid->axis)) {
            assert(grid->cells >= 1);
            grid->table = grid->cells <= limit;
            return KITH_OK;
        }
        side *= 2;
        grid->far = true; /* subcells are wider than the question asked for */
    }
}

/** Return how many bits a key has. */
static int key_length(const struct kith__grid *grid)
{
    return kith__bit_length((uint64_t)grid->cells - 1) + kith__subcell_bits(grid->axis);
}

/** Return how many bits an index of n particles has. */
static int index_length(int64_t n)
{
    return kith__bit_length((uint64_t)n - 1);
}

/** Set the constants from which write_elements computes keys (keys.h).
 *  @return false when keys cannot be computed from them: the box is triclinic, a particle may need
 *          wrapping, an axis is compressed or has 2^31 - 1 cells or more, or keys are too long */
static bool set_key_axes(const struct kith__question *q, const struct kith__grid *grid,
                         struct kith__key_axis key_axis[3])
{
    bool plain = grid->plain && q->box_d.orthorhombic && key_length(grid) <= KITH_PLAIN_BITS;
    for (int k = 0; k < 3; k++) {
        const struct kith__axis *axis = &grid->axis[k];
        key_axis[k] = (struct kith__key_axis){
            .origin = q->box_d.origin[k],
            .inverse = q->box_d.inverse[k][k],
            .anchor = axis->anchor,
            .scale = axis->scale,
            .first = (double)axis->first,
            .last_cell = (double)(axis->n - 1),
            .subcells = axis->subcells,
            .last_subcell = axis->subcells - 1,
            .subcell_scale = (double)((int64_t)1 << axis->subcell_bits)};
        plain = plain && !axis->n_occupied && axis->n < INT32_MAX;
    }
    return plain;
}

/** Arrays of the sort. */
struct elements {
    uint64_t *now;   /**< [n] elements to sort */
    uint64_t *spare; /**< [n] second array of the radix sort */
    uint64_t *keys;  /**< [n] key of each particle; NULL: key and index together fit 64 bits */
};

/** Shared state of the parallel loop that makes the elements to sort. */
struct element_loop {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< box and precision */
    const kith_points *points;             /**< the set */
    const struct kith__grid *grid;         /**< the cells */
    bool plain; /**< keys are computed by the vectorised write_elements (keys.h), from `key_axis` */
    const struct kith__key_axis *key_axis; /**< [3] constants of each axis */
    int low;                               /**< bits of an index */
    uint64_t *elements;                    /**< [n] the elements to make */
    uint64_t *keys;                        /**< [n] the whole keys to write; NULL: none */
};

/** Make the elements of particles [begin, end). */
static void make_element_range(void *state, int64_t begin, int64_t end)
{
    const struct element_loop *loop = state;
    const struct kith__question *q = loop->question;
    static kith__elements_fn *const write_elements[] = {KITH_EACH_ISA(write_elements)};
    if (loop->plain) {
        write_elements[kith__isa(loop->ctx)](q, loop->points, loop->key_axis, begin, end, loop->low,
                                             loop->elements);
    } else if (q->precision == KITH_FLOAT) {
        make_elements_f(q, loop->points, loop->grid, begin, end, loop->low, loop->elements,
                        loop->keys);
    } else {
        make_elements_d(q, loop->points, loop->grid, begin, end, loop->low, loop->elements,
                        loop->keys);
    }
}

/** Shared state of the parallel loop between the two sorts of long keys. The elements are sorted by
 *  the low bits of their keys; the loop replaces these by the high bits. */
struct upper_loop {
    uint64_t *element;    /**< [n] elements sorted by the low bits of their keys */
    const uint64_t *keys; /**< [n] whole key of each particle */
    int low;              /**< bits of an index */
    int sorted;           /**< number of low bits of a key that elements are sorted by */
};

/** Replace the low bits of the keys in elements [begin, end) by the high bits. */
static void set_upper_keys(void *state, int64_t begin, int64_t end)
{
    const struct upper_loop *loop = state;
    const uint64_t index = ((uint64_t)1 << loop->low) - 1;
    for (int64_t s = begin; s < end; s++) {
        const uint64_t p = loop->element[s] & index;
        loop->element[s] = (loop->keys[p] >> loop->sorted) << loop->low | p;
    }
}

/** Sort the particles of a set by key, with a stable sort. An element has the key in its high bits,
 * and the index of the particle in its low bits. Keys that do not fit beside the index are sorted
 * by their low bits first, then by their high bits.
 * @param room  the arrays of the sort
 * @return room->now or room->spare: the sorted elements, with the index in the low bits
 */
static uint64_t *sort_keys(kith_ctx *ctx, const struct kith__question *q, const kith_points *points,
                           const struct kith__grid *grid, const struct elements *room)
{
    uint64_t *elements = room->now, *spare = room->spare, *keys = room->keys;
    const int64_t n = points->n;
    const int low = index_length(n);
    const int bits = key_length(grid);
    int64_t *bins = ctx->work.buffer[KITH_GRID_BINS].data;
    struct kith__key_axis key_axis[3];
    const bool plain = !keys && set_key_axes(q, grid, key_axis);
    struct element_loop make = {ctx, q, points, grid, plain, key_axis, low, elements, keys};
    kith__loop(ctx, n, make_element_range, &make);
    uint64_t *half = kith__sort(ctx, elements, spare, n, low, keys ? 64 : low + bits, bins);
    if (!keys) {
        return half;
    }
    const int sorted = 64 - low;
    struct upper_loop upper = {half, keys, low, sorted};
    kith__loop(ctx, n, set_upper_keys, &upper);
    return kith__sort(ctx, half, half == elements ? spare : elements, n, low, low + bits - sorted,
                      bins);
}

/** Shared state of the parallel loops that split sorted elements and fill the table of first
 *  slots. */
struct split_loop {
    struct kith__sorted *sorted; /**< the set; key holds the sorted elements at first */
    int low;                     /**< bits of an index */
    const uint64_t *keys;        /**< [n] whole key of each particle; NULL: elements hold it */
    int64_t cells;               /**< number of cells */
};

/** Split elements [begin, end) into index and key. */
static void split_elements(void *state, int64_t begin, int64_t end)
{
    const struct split_loop *loop = state;
    uint64_t *key = loop->sorted->key;
    int32_t *id = loop->sorted->id;
    const int low = loop->low;
    const uint64_t index = ((uint64_t)1 << low) - 1;
    for (int64_t s = begin; s < end; s++) {
        id[s] = (int32_t)(key[s] & index);
        key[s] >>= low;
    }
    for (int64_t s = begin; s < end && loop->keys; s++) {
        key[s] = loop->keys[id[s]];
    }
}

/** Fill the table of first slots: slot s, of [begin, end), is the first slot of the cells after the
 *  cell of slot s - 1, up to and including the cell of slot s; empty cells thus get the slot that
 *  follows. Slot n is the end of all cells after the last particle's. Keys are cell numbers here: a
 *  grid with subcells has no table. */
static void fill_table(void *state, int64_t begin, int64_t end)
{
    const struct split_loop *loop = state;
    const struct kith__sorted *sorted = loop->sorted;
    const int64_t n = sorted->n, cells = loop->cells;
    for (int64_t s = begin; s < end; s++) {
        const int64_t from = s == 0 ? 0 : (int64_t)sorted->key[s - 1] + 1;
        const int64_t to = s == n ? cells : (int64_t)sorted->key[s];
        for (int64_t cell = from; cell <= to; cell++) {
            sorted->start[cell] = (uint32_t)s;
        }
    }
}

/** Allocate the arrays of a set of sorted->n particles and of its sort. With subcells, sorted->id
 *  is the caller's, and the second array of the sort is in the memory of the coordinates.
 *  @param set      0: set a, 1: set b
 *  @param table    the second array must also hold the table of first slots
 *  @param is_long  key and index together exceed 64 bits */
static kith_status need_set(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__grid *grid, int set, bool table, bool is_long,
                            struct kith__sorted *sorted, struct elements *elements)
{
    struct kith__work *work = &ctx->work;
    const int slot = set * KITH_GRID_SLOTS;
    const size_t n = (size_t)sorted->n;
    const size_t axis = axis_room(q, sorted->n);
    size_t room = n * sizeof(uint64_t);
    if (table && room < ((size_t)grid->cells + 1) * sizeof(uint32_t)) {
        room = ((size_t)grid->cells + 1) * sizeof(uint32_t);
    }
    /* friends-of-friends later divides this memory into two arrays (fof_cpu.c, need_clumps), each
     * readable for a full vector beyond its end */
    room += (size_t)2 * KITH_ALIGN;
    char *xyz = kith__work_need(work, slot + KITH_GRID_XYZ, 3 * axis);
    elements->now = kith__work_need(work, slot + KITH_GRID_ELEMENTS, room);
    elements->spare = (uint64_t *)(void *)xyz;
    elements->keys = is_long ? kith__work_need(work, slot + KITH_GRID_KEYS, room) : NULL;
    if (!(q->subcell > 0)) {
        elements->spare = kith__work_need(work, slot + KITH_GRID_SPARE, room);
        sorted->id = kith__work_need(work, slot + KITH_GRID_ID, n * sizeof(int32_t));
    }
    KITH_CHECK(
        ctx, xyz && elements->now && elements->spare && (elements->keys || !is_long) && sorted->id,
        KITH_NO_MEMORY, "out of memory for a grid of %lld particles", (long long)n);
    sorted->x = xyz;
    sorted->y = xyz + axis;
    sorted->z = xyz + 2 * axis;
    return KITH_OK;
}

#ifndef NDEBUG
/** Return true when the particles of a set are complete and sorted: each index occurs once, keys
 *  ascend, and indices ascend where keys are equal. Indices are compared with 0 to n - 1 by their
 *  sum and their sum of squares. */
static bool is_complete(const struct kith__grid *grid, const struct kith__sorted *sorted)
{
    const int64_t n = sorted->n;
    const int bits = kith__subcell_bits(grid->axis);
    uint64_t sums[2] = {0, 0};
    bool fine = true;
    for (int64_t s = 0; s < n; s++) {
        const uint64_t id = (uint64_t)sorted->id[s];
        fine = fine && id < (uint64_t)n && sorted->key[s] >> bits < (uint64_t)grid->cells &&
               (s == 0 || sorted->key[s - 1] < sorted->key[s] ||
                (sorted->key[s - 1] == sorted->key[s] && sorted->id[s - 1] < sorted->id[s]));
        sums[0] += id - (uint64_t)s;
        sums[1] += id * id - (uint64_t)s * (uint64_t)s;
    }
    return fine && sums[0] == 0 && sums[1] == 0;
}

/** Return true when the table of first slots ascends from 0 to n, and holds the first slot of each
 *  cell. */
static bool is_table(const struct kith__grid *grid, const struct kith__sorted *sorted)
{
    bool fine = sorted->start[0] == 0 && sorted->start[grid->cells] == (uint32_t)sorted->n;
    for (int64_t cell = 0; cell < grid->cells && fine; cell++) {
        const uint32_t begin = sorted->start[cell];
        const uint32_t end = sorted->start[cell + 1];
        fine = begin <= end && (begin == end || (sorted->key[begin] == (uint64_t)cell &&
                                                 sorted->key[end - 1] == (uint64_t)cell));
    }
    return fine;
}
#endif

/** Sort a set by cell: set all members of *sorted, but not yet the elements of x, y and z. With
 *  subcells, sorted->id is already set, to the caller's memory.
 *  @param set    0: set a, 1: set b
 *  @param table  also fill the table of first slots, in that of the two arrays of the sort which
 *                does not hold the result
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED */
static kith_status sort_set(kith_ctx *ctx, const struct kith__question *q,
                            const kith_points *points, const struct kith__grid *grid, int set,
                            bool table, struct kith__sorted *sorted)
{
    const int low = index_length(points->n);
    const bool is_long = key_length(grid) + low > 64;
    struct elements elements;
    sorted->n = points->n;
    KITH_TRY(need_set(ctx, q, grid, set, table, is_long, sorted, &elements));
    const uint64_t *keys = elements.keys;
    sorted->key = sort_keys(ctx, q, points, grid, &elements);
    struct split_loop loop = {sorted, low, is_long ? keys : NULL, grid->cells};
    kith__loop(ctx, sorted->n, split_elements, &loop);
    if (table) {
        sorted->start = (uint32_t *)(sorted->key == elements.now ? elements.spare : elements.now);
        kith__loop(ctx, sorted->n + 1, fill_table, &loop);
    }
    KITH_TRY(kith__proceed(ctx));
    assert(is_complete(grid, sorted));
    assert(!table || is_table(grid, sorted));
    return KITH_OK;
}

/** Shared state of the parallel loop that copies coordinates in cell order. */
struct gather_loop {
    const struct kith__question *question; /**< box and precision */
    const kith_points *points;             /**< the caller's coordinates */
    bool plain;                            /**< all particles are inside the box as given */
    struct kith__sorted *sorted;           /**< the set; its coordinates are written */
};

/** kith__range_fn: copy the coordinates of slots [begin, end). */
static void gather_range(void *state, int64_t begin, int64_t end)
{
    const struct gather_loop *loop = state;
    (loop->question->precision == KITH_FLOAT ? gather_f : gather_d)(
        loop->question, loop->points, begin, end, loop->plain, loop->sorted);
}

/** Copy the coordinates of a set in cell order, wrapped. */
static void gather_set(kith_ctx *ctx, const struct kith__question *q, const kith_points *points,
                       const struct kith__grid *grid, struct kith__sorted *sorted)
{
    struct gather_loop loop = {q, points, grid->plain, sorted};
    kith__loop(ctx, sorted->n, gather_range, &loop);
}

/** Find the bounds of the particles, allocate the arrays of the sort, which compress_axis needs,
 *  and choose the cells: 0 cells when a set has no particles.
 *  @return KITH_OK, KITH_NOT_FINITE, KITH_LIMIT, KITH_NO_MEMORY, KITH_CANCELLED */
static kith_status prepare(kith_ctx *ctx, const struct kith__question *q, struct kith__grid *grid)
{
    struct kith__bounds bounds;
    *grid = (struct kith__grid){.cells = 0};
    KITH_TRY(kith__bounds_find(ctx, q, &bounds, &grid->plain));
    grid->wrapped = bounds.wrapped != 0;
    if (q->a.n == 0 || q->b.n == 0) {
        return KITH_OK;
    }
    /* compress_axis lists cells of both sets; padding of 2 KITH_ALIGN as in need_set, so that the
     * buffers are not allocated again there */
    const size_t all = (size_t)(q->a.n + (q->cross ? q->b.n : 0)) * sizeof(uint64_t) +
                       (size_t)2 * KITH_ALIGN;
    const size_t spare = q->subcell > 0 ? 3 * axis_room(q, q->a.n) : all;
    const size_t bins = (size_t)ctx->threads * KITH_SORT_BINS * sizeof(int64_t);
    KITH_CHECK(ctx,
               kith__work_need(&ctx->work, KITH_GRID_BINS, bins) &&
                   kith__work_need(&ctx->work, KITH_GRID_ELEMENTS, all) &&
                   kith__work_need(&ctx->work, spare_slot(q), spare),
               KITH_NO_MEMORY, "out of memory for a grid of %lld particles", (long long)q->a.n);
    return choose_cells(ctx, q, &bounds, grid);
}

kith_status kith__grid_build(kith_ctx *ctx, const struct kith__question *q, struct kith__grid *grid)
{
    KITH_TRY(prepare(ctx, q, grid));
    if (grid->cells == 0) {
        return KITH_OK; /* a set is empty: there are no pairs */
    }
    KITH_TRY(sort_set(ctx, q, &q->a, grid, 0, grid->table && !q->cross, &grid->a));
    gather_set(ctx, q, &q->a, grid, &grid->a);
    grid->b = grid->a;
    if (q->cross) {
        KITH_TRY(sort_set(ctx, q, &q->b, grid, 1, grid->table, &grid->b));
        gather_set(ctx, q, &q->b, grid, &grid->b);
    }
    return kith__proceed(ctx);
}

kith_status kith__grid_sort(kith_ctx *ctx, const struct kith__question *q, int32_t *id,
                            struct kith__grid *grid)
{
    KITH_TRY(prepare(ctx, q, grid));
    grid->a.id = id;
    return grid->cells > 0 ? sort_set(ctx, q, &q->a, grid, 0, false, &grid->a) : KITH_OK;
}

void kith__grid_gather(kith_ctx *ctx, const struct kith__question *q, struct kith__grid *grid)
{
    gather_set(ctx, q, &q->a, grid, &grid->a);
    grid->b = grid->a;
}

int64_t kith__grid_search(const struct kith__sorted *sorted, uint64_t key, int64_t near)
{
    /* Galloping (exponential) search: double the step away from `near` until [low, high] holds the
     * answer, then bisect. */
    const uint64_t *keys = sorted->key;
    assert(0 <= near && near <= sorted->n);
    int64_t low = near;
    int64_t high = near;
    for (int64_t step = 1; low > 0 && keys[low - 1] >= key; step *= 2) {
        high = low - 1;
        low = low > step ? low - step : 0;
    }
    for (int64_t step = 1; high < sorted->n && keys[high] < key; step *= 2) {
        low = high + 1;
        high = high + step < sorted->n ? high + step : sorted->n;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    assert((low == 0 || keys[low - 1] < key) && (low == sorted->n || keys[low] >= key));
    return low;
}
