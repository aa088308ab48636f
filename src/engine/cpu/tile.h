/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing the candidates near a query block into a tile (sweep.h). Compiled for each instruction
 * set.
 *
 * The walk visits the cells around the query block row by row; a row of cells is one range of slots
 * for each periodic image that it reaches. Of each range, the candidates within the cutoff of the
 * bounding box of the query particles are appended to the tile.
 */
#ifndef KITH_CPU_TILE_H
#define KITH_CPU_TILE_H

#include <assert.h>
#include <math.h>

#include "simd.h"
#include "sweep.h"

/* Query blocks whose half diagonal is this or more [cutoff] are too wide for float coordinates: all
 * their candidates are borderline cases, decided by the definition. */
static const double widest_query_block = 1000;

/* An error bound with which every candidate is a borderline case. It is finite, so that the padding
 * of a tile, whose q is infinite, is still no hit. */
static const float unlimited_error = 1e30f;

/**
 * Set the error bounds, half_extent and inverse_cutoff of the query block. The error bounds are
 * those of r^2 / cutoff^2 as computed from the tile, for values near 1. Lengths are in cutoffs, u =
 * 2^-24, the query particles are within h of the centre and all candidates within m of it. The
 * bound is at least the sum of these errors, in units of u: 2 (m + h) in r^2 by rounding
 * coordinates; 3 m^2 and 3 h^2 in the squares q; m^2 + 2 h m in each of the first two sums of
 * squares_at (visit.h), and r^2 - h^2 in the third; without FMA, 2 h m in the products; 2 + h^2 in
 * the thresholds; and the rounding error of the definition. That is 2 (m + h) + 5 m^2 + 6 h m + 5
 * h^2 + 3 and the definition; the code has a little more.
 * @param extent  half the size of the bounding box of the query particles [cutoff]
 */
static void set_error_bound(struct kith__sweep *sweep, const double extent[3])
{
    struct kith__query_block *query = &sweep->query;
    const double h = sqrt(extent[0] * extent[0] + extent[1] * extent[1] + extent[2] * extent[2]);
    const bool spread = !(h < widest_query_block); /* also when h is infinite or NaN */
    /* append_near keeps candidates up to about 1.001 from the bounding box, which is within h */
    const double m = h + 1.01 + sweep->definition_error;
    const double units = 2 * (m + h) + 5 * m * m + 6 * h * m + 6 * h * h + 8;
    query->inverse_cutoff = spread ? 0 : 1 / sweep->question->cutoff;
    /* The definition's bound has no limit: it grows with the coordinates of the box's origin. */
    const double bound = fmin(units / 16777216.0 + sweep->definition_error, unlimited_error);
    const double no_image = fmin(units / 16777216.0 + sweep->definition_error_no_image,
                                 unlimited_error);
    query->error_bound = spread ? unlimited_error : (float)bound;
    query->error_bound_no_image = spread ? unlimited_error : (float)no_image;
    for (int k = 0; k < 3; k++) {
        query->half_extent[k] = spread ? 0 : (float)extent[k] * 1.0001f; /* rounded up */
    }
}

/** Compute the numbers to subtract from columns 0 to 2, the coordinates, of a candidate at an
 *  image.
 *  @param image  shift S of the image, packed
 *  @param[out] move  [KITH_COLUMNS] elements 0 to 2 are set */
static void find_move(const struct kith__columns *columns, int32_t image,
                      int32_t move[KITH_COLUMNS])
{
    int32_t s[3];
    kith__unpack_shift(image, s);
    for (int c = 0; c < 3; c++) {
        uint32_t x = 0;
        for (int k = 0; k < 3; k++) {
            x -= (uint32_t)s[k] * (uint32_t)columns->row[k][c];
        }
        move[c] = (int32_t)x;
    }
}

/** Append the columns of the candidates of slots [s, s + W) to the tile, from index `at` on.
 *  @param near  mask of the candidates to append
 *  @param move  numbers to subtract from each column */
KITH_INLINE void append_columns(const struct kith__sweep *sweep, int64_t s, int at, unsigned near,
                                const int32_t move[KITH_COLUMNS])
{
    for (int c = 0; c < KITH_COLUMNS; c++) {
        const vi value = vi_load(sweep->columns->of[c] + s);
        vi_compress(sweep->tile.column[c] + at, vi_wrapped(value, vi_set(move[c])), near);
    }
}

/** Append candidates of slots [s, s + n) to the tile: those within the cutoff of the bounding box
 *  of the query particles.
 *  @param x, y, z  [n + W] their coordinates, relative to the centre of the query block [cutoff]
 *  @param shift    shift S of their image, packed */
static void append_near(struct kith__sweep *sweep, int64_t s, int n, const float *x, const float *y,
                        const float *z, int32_t shift)
{
    const struct kith__query_block *query = &sweep->query;
    struct kith__tile *tile = &sweep->tile;
    const int32_t *id = sweep->grid->b.id + s;
    const vf zero = vf_set(0);
    const vf hx = vf_set(query->half_extent[0]);
    const vf hy = vf_set(query->half_extent[1]);
    const vf hz = vf_set(query->half_extent[2]);
    /* the cutoff is 1; 0.001 covers the rounding of coordinates up to widest_query_block as
     * floats */
    const vf limit = vf_set((1.001f + (float)sweep->definition_error) *
                            (1.001f + (float)sweep->definition_error));
    const vi shifts = vi_set(shift);
    int32_t move[KITH_COLUMNS] = {0};
    if (sweep->columns && tile->shifted) {
        find_move(sweep->columns, shift, move);
    }
    assert(tile->n + n + W <= tile->room);
    int at = tile->n;
    for (int k = 0; k < n; k += W) {
        const vf cx = vf_load(x + k);
        const vf cy = vf_load(y + k);
        const vf cz = vf_load(z + k);
        const vf dx = vf_max(vf_abs(cx) - hx, zero);
        const vf dy = vf_max(vf_abs(cy) - hy, zero);
        const vf dz = vf_max(vf_abs(cz) - hz, zero);
        unsigned near = vf_le(vf_fma(dx, dx, vf_fma(dy, dy, dz * dz)), limit);
        if (n - k < W) {
            near &= (1u << (n - k)) - 1;
        }
        vf_compress(tile->x + at, cx, near);
        vf_compress(tile->y + at, cy, near);
        vf_compress(tile->z + at, cz, near);
        vf_compress(tile->q + at, vf_fma(cx, cx, vf_fma(cy, cy, cz * cz)), near);
        vi_compress(tile->slot + at, vi_lanes() + (int32_t)(s + k), near);
        if (sweep->columns) {
            append_columns(sweep, s + k, at, near, move);
        } else if (n - k >= W) {
            vi_compress(tile->id + at, vi_load(id + k), near);
        } else { /* compress one by one: `id` must not be read beyond its end */
            for (int lane = 0, to = at; lane < n - k; lane++) {
                tile->id[to] = id[k + lane];
                to += near >> lane & 1;
            }
        }
        if (tile->shifted) {
            vi_compress(tile->shift + at, shifts, near);
        }
        at += __builtin_popcount(near);
    }
    tile->n = at;
}

#define KITH_PER_PRECISION "engine/cpu/tile_real.h"
#include "core/per_precision.h"

/* Shift (0, 0, 0), packed. */
static const int32_t no_shift = 512 | 512 << 10 | 512 << 20;

/** Return the packed shift of candidate k of the tile. */
static inline int32_t tile_shift(const struct kith__sweep *sweep, int k)
{
    return sweep->tile.shifted ? sweep->tile.shift[k] : no_shift;
}

/** Return the squared distance of slot i of set a and candidate k of the tile, by the definition
 *  [length^2]. */
KITH_INLINE double true_square(const struct kith__sweep *sweep, int64_t i, int k)
{
    const int64_t slot = sweep->tile.slot[k];
    int32_t s[3];
    kith__unpack_shift(tile_shift(sweep, k), s);
    return sweep->question->precision == KITH_FLOAT ? (double)apart_f(sweep, i, slot, s)
                                                    : apart_d(sweep, i, slot, s);
}

/** Find the range of slots of set b in cells x0 to x1 of row (cy, cz).
 *  @param nth         number of the row among those around the query block, which selects the
 *                     cursor from which a search of the keys begins: the result for this row of the
 *                     previous query block is usually near
 *  @param[out] begin  first slot
 *  @param[out] end    slot after the last */
static void cell_range(struct kith__sweep *sweep, int64_t x0, int64_t x1, int64_t cy, int64_t cz,
                       int nth, int64_t *begin, int64_t *end)
{
    const struct kith__grid *grid = sweep->grid;
    const struct kith__sorted *b = &grid->b;
    const int64_t row = (cz * grid->axis[1].n + cy) * grid->axis[0].n;
    if (b->start) {
        *begin = b->start[row + x0];
        *end = b->start[row + x1 + 1];
    } else {
        int64_t *cursor = &sweep->cursor[nth & (KITH_CURSORS - 1)];
        *begin = kith__grid_search(b, (uint64_t)(row + x0), *cursor);
        *end = *begin;
        /* these slots are read next anyway: no search is needed */
        while (*end < b->n && b->key[*end] <= (uint64_t)(row + x1)) {
            ++*end;
        }
        *cursor = *begin;
    }
    assert(0 <= *begin && *begin <= *end && *end <= b->n);
}

/** Append the candidates of slots [begin, end), at the image with shift s, to the tile. Nothing is
 *  appended when the sweep is to stop or there is no memory; sweep->failed is set then. */
static void append_range(struct kith__sweep *sweep, int64_t begin, int64_t end, const int32_t s[3])
{
    if (begin >= end || !kith__sweep_goes_on(sweep, end - begin) ||
        !kith__tile_room(sweep, &sweep->tile, sweep->tile.n + (end - begin))) {
        return;
    }
    struct kith__tile *tile = &sweep->tile;
    if ((s[0] | s[1] | s[2]) && !tile->shifted) { /* the first image: `shift` was not kept so far */
        for (int k = 0; k < tile->n; k++) {
            tile->shift[k] = no_shift;
        }
        tile->shifted = true;
    }
    const struct kith__lattice_d *box = &sweep->question->box_d;
    double move[3];
    for (int m = 0; m < 3; m++) {
        move[m] = s[2] * box->row[2][m] + s[1] * box->row[1][m] + s[0] * box->row[0][m];
    }
    if (sweep->question->precision == KITH_FLOAT) {
        append_f(sweep, begin, end, move, kith__pack_shift(s));
    } else {
        append_d(sweep, begin, end, move, kith__pack_shift(s));
    }
}

/** Append the candidates of slots [begin, end), which contain the query block, and set query->self:
 *  all query particles are within their bounding box, so none of them is skipped. */
static void append_own_range(struct kith__sweep *sweep, int64_t begin, int64_t end)
{
    static const int32_t here[3] = {0, 0, 0};
    struct kith__query_block *query = &sweep->query;
    append_range(sweep, begin, query->begin, here);
    for (int h = 0; h < (int)(query->end - query->begin); h++) {
        query->self[h] = sweep->tile.n + h;
    }
    append_range(sweep, query->begin, query->end, here);
    append_range(sweep, query->end, end, here);
}

/** Position of the walk over the cells around a query block: where the next tile continues after a
 *  full one. */
struct walk {
    int dy, dz;   /**< row of cells, relative to the row of the query block */
    int nth;      /**< number of the row among those visited */
    int64_t cell; /**< x number of the first cell of the row whose particles are not in a tile yet;
                       INT64_MIN: none of them are in a tile yet */
};

/** Return the start of the walk around a query block. */
static struct walk start_walk(const struct kith__sweep *sweep)
{
    const bool forward = sweep->stencil == KITH_FORWARD;
    return (struct walk){.dy = forward ? 0 : -sweep->grid->axis[1].reach,
                         .dz = forward ? 0 : -sweep->grid->axis[2].reach,
                         .cell = INT64_MIN};
}

/** Return true when the tile must be processed before more candidates are appended. */
static bool tile_is_full(const struct kith__sweep *sweep)
{
    const bool needs_all = sweep->by_id || sweep->columns;
    return sweep->tile.n >= KITH_TILE && !needs_all;
}

/** Append the candidates of one row of cells, as far as it is in reach of the query block.
 *  @param cy, cz  y and z number of the row's cells
 *  @param sy, sz  shift of its image along y and z
 *  @param own     true for the row of the query block itself when query particles and candidates
 *                 are one set: the range at image 0 then contains the query particles
 *  @return false when the tile is full or the sweep is to stop; walk->cell is then the first cell
 *          that was not appended */
static bool append_row(struct kith__sweep *sweep, int64_t cy, int64_t cz, int32_t sy, int32_t sz,
                       bool own, struct walk *walk)
{
    const struct kith__axis *axis = &sweep->grid->axis[0];
    const struct kith__query_block *query = &sweep->query;
    const bool forward = own && sweep->stencil == KITH_FORWARD;
    int64_t from = query->first_cell[0] - (forward ? 0 : axis->reach);
    int64_t to = query->last_cell_x + axis->reach;
    if (!axis->periodic) {
        from = from < 0 ? 0 : from;
        to = to < axis->n ? to : axis->n - 1;
    }
    from = walk->cell > from ? walk->cell : from;
    while (from <= to) {
        enum { COST = 16 }; /* cost of a range, in tests of a candidate */
        if (tile_is_full(sweep) || !kith__sweep_goes_on(sweep, COST)) {
            walk->cell = from;
            return false;
        }
        const int64_t sx = kith__image_of_cell(from, axis->n);
        const int64_t last = (sx + 1) * axis->n - 1 < to ? (sx + 1) * axis->n - 1 : to;
        int64_t begin, end;
        cell_range(sweep, from - sx * axis->n, last - sx * axis->n, cy, cz, walk->nth, &begin,
                   &end);
        if (own && sx == 0) {
            append_own_range(sweep, forward ? query->begin : begin, end);
        } else {
            const int32_t s[3] = {(int32_t)sx, sy, sz};
            append_range(sweep, begin, end, s);
        }
        from = last + 1;
    }
    walk->cell = INT64_MIN;
    return true;
}

/** Append candidates from the position of the walk on, until the tile is full or the sweep is to
 *  stop.
 *  @return true when the query block has no further candidates */
static bool append_stencil(struct kith__sweep *sweep, struct walk *walk)
{
    const struct kith__grid *grid = sweep->grid;
    const struct kith__query_block *query = &sweep->query;
    const int ry = grid->axis[1].reach;
    for (; walk->dz <= grid->axis[2].reach; walk->dz++, walk->dy = -ry) {
        int64_t cz;
        int32_t sz;
        if (!kith__step_axis(&grid->axis[2], query->first_cell[2], walk->dz, &cz, &sz)) {
            continue;
        }
        for (; walk->dy <= ry; walk->dy++, walk->nth++) {
            int64_t cy;
            int32_t sy;
            const bool own = walk->dy == 0 && walk->dz == 0 && !sweep->question->cross;
            if (kith__step_axis(&grid->axis[1], query->first_cell[1], walk->dy, &cy, &sy) &&
                !append_row(sweep, cy, cz, sy, sz, own, walk)) {
                return false;
            }
        }
    }
    return true;
}

/** Sort the candidates of the tile by the caller's index. Stable radix sort by digits of 8 bits, as
 *  many as the largest index has: candidates with equal index, images of one particle, keep their
 *  order, which is by shift. An element of `order` is an index, followed by a candidate's position
 *  in the tile in the low 32 bits. */
static void sort_tile(struct kith__sweep *sweep)
{
    struct kith__tile *from = &sweep->tile;
    struct kith__tile *to = &sweep->spare;
    const int n = from->n;
    /* two arrays of n elements (one more each is allocated) */
    uint64_t *order = kith__buffer_need(&sweep->memory[KITH_SWEEP_ORDER],
                                        2 * (size_t)(n + 1) * sizeof *order);
    if (!order || !kith__tile_room(sweep, to, n)) {
        sweep->failed = KITH_NO_MEMORY;
        return;
    }
    uint64_t *other = order + n;
    for (int k = 0; k < n; k++) {
        order[k] = (uint64_t)from->id[k] << 32 | (uint64_t)k;
    }
    for (int low = 32; low < 64 && (uint64_t)(sweep->grid->b.n - 1) >> (low - 32); low += 8) {
        int place[257] = {0};
        for (int k = 0; k < n; k++) {
            place[(order[k] >> low & 255) + 1]++;
        }
        for (int bin = 0; bin < 256; bin++) {
            place[bin + 1] += place[bin];
        }
        for (int k = 0; k < n; k++) {
            other[place[order[k] >> low & 255]++] = order[k];
        }
        uint64_t *swap = order;
        order = other;
        other = swap;
    }
    const struct kith__query_block *query = &sweep->query;
    for (int k = 0; k < n; k++) {
        const int p = (int)(order[k] & UINT32_MAX);
        to->x[k] = from->x[p];
        to->y[k] = from->y[p];
        to->z[k] = from->z[p];
        to->q[k] = from->q[p];
        to->id[k] = from->id[p];
        to->slot[k] = from->slot[p];
        to->shift[k] = tile_shift(sweep, p);
        const int64_t h = from->slot[p] - query->begin;
        if (h >= 0 && h < query->end - query->begin && query->self[h] == p) {
            /* Stored as -2 - k until the loop ends: the new index k may equal the old index p of
             * another image of the particle. */
            sweep->query.self[h] = -2 - k;
        }
    }
    for (int h = 0; h < (int)(query->end - query->begin); h++) {
        sweep->query.self[h] = query->self[h] < -1 ? -2 - query->self[h] : query->self[h];
    }
    to->n = n;
    to->shifted = from->shifted;
    const struct kith__tile swap = *from;
    *from = *to;
    *to = swap;
}

/** Set the rank of all candidates (kith__tile.rank), and that of the padding to the lowest: it has
 *  no hits. A half list that is written by rows (sorted, or CSR) keeps a candidate with a larger
 *  index than the query particle, or with its index and a shift whose last non-zero component is
 *  positive. */
static void rank_tile(struct kith__sweep *sweep)
{
    struct kith__tile *tile = &sweep->tile;
    for (int k = 0; k < tile->n; k++) {
        /* a packed shift is above no_shift when its last non-zero component is positive */
        const uint32_t rank = 2u * (uint32_t)tile->id[k] + (tile_shift(sweep, k) > no_shift);
        tile->rank[k] = (int32_t)(rank ^ 0x80000000u);
    }
    for (int k = tile->n; k < tile->n + KITH_LANES; k++) {
        tile->rank[k] = INT32_MIN;
    }
}

#ifndef NDEBUG
/** Return true when the tile is within its capacity, its slots are valid, no candidate of its
 *  padding can be a hit, and the query particles are at the indices of query.self. */
static bool is_filled(const struct kith__sweep *sweep)
{
    const struct kith__tile *tile = &sweep->tile;
    const struct kith__query_block *query = &sweep->query;
    bool fine = tile->n + KITH_LANES <= tile->room;
    for (int k = 0; k < tile->n; k++) {
        fine = fine && tile->slot[k] >= 0 && tile->slot[k] < sweep->grid->b.n;
    }
    for (int k = tile->n; k < tile->n + KITH_LANES; k++) {
        fine = fine && isinf(tile->q[k]) && (!sweep->upper || tile->rank[k] == INT32_MIN);
    }
    for (int64_t s = query->begin; s < query->end; s++) {
        const int self = query->self[s - query->begin];
        fine = fine && (self == -1 || (self >= 0 && self < tile->n && tile->slot[self] == s));
    }
    return fine;
}
#endif

/** Fill the tile with candidates of the query block from the position of the walk on, and add the
 *  padding, unless the tile stays empty or the sweep has failed.
 *  @return true when the query block has no further candidates */
static bool fill_tile(struct kith__sweep *sweep, struct walk *walk)
{
    struct kith__tile *tile = &sweep->tile;
    struct kith__query_block *query = &sweep->query;
    tile->n = 0;
    tile->shifted = false;
    for (int h = 0; h < (int)(query->end - query->begin); h++) {
        query->self[h] = -1;
    }
    const bool whole = append_stencil(sweep, walk);
    if (sweep->failed || tile->n == 0) {
        return whole;
    }
    if (sweep->by_id) {
        sort_tile(sweep);
    }
    for (int k = tile->n; k < tile->n + KITH_LANES; k++) {
        tile->x[k] = 0;
        tile->y[k] = 0;
        tile->z[k] = 0;
        tile->q[k] = INFINITY;
    }
    if (sweep->upper) {
        rank_tile(sweep);
    }
    assert(sweep->failed || is_filled(sweep));
    return whole;
}

#endif
