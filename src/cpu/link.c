/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking clump by clump: each looks at the parts around it that come later, in its own cell and in
 * the cells in reach. Where a cell holds few clumps, at all of them; where many, row by row of the
 * cell's index. A clump that is in the same tree already is not looked at.
 */
#include "link.h"

#define KITH_INLINE static inline __attribute__((always_inline))

/** Which image of a cell is looked at. */
struct image {
    bool moved;
    int32_t shift[3];
};

/** A cell, at an image. */
struct place {
    int64_t begin, end; /**< clumps */
    int64_t at[3];      /**< along the axes */
    struct image image;
};

#define real double
#define KITH_REAL(name) name##_d
#include "link_real.h"
#undef real
#undef KITH_REAL
#define real float
#define KITH_REAL(name) name##_f
#include "link_real.h"
#undef real
#undef KITH_REAL

/** Unite clumps a and b, of which b is in the place, if they touch. */
KITH_INLINE void meet(struct kith__friends *f, int64_t a, int64_t b, const struct image *image)
{
    const int32_t up_a = atomic_load_explicit(&f->parent[a], memory_order_relaxed);
    const int32_t up_b = atomic_load_explicit(&f->parent[b], memory_order_relaxed);
    if (up_a == up_b || kith__root(f->parent, up_a) == kith__root(f->parent, up_b)) {
        return;
    }
    if (f->question->precision == KITH_FLOAT ? touch_f(f, a, b, image) : touch_d(f, a, b, image)) {
        kith__unite(f->parent, (int32_t)a, (int32_t)b);
    }
}

/** Every clump of [begin, end). */
KITH_INLINE void meet_all(struct kith__friends *f, int64_t a, int64_t begin, int64_t end,
                          const struct image *image)
{
    for (int64_t b = begin; b < end; b++) {
        meet(f, a, b, image);
    }
}

/** The index of a crowded cell; NULL: it is not crowded. */
KITH_INLINE const struct kith__part_row *index_of(const struct kith__friends *f, int64_t begin,
                                                  int64_t end)
{
    return end - begin < KITH_CROWD
               ? NULL
               : f->index + (int64_t)f->crowd[begin / KITH_CROWD] * f->rows;
}

/** The clumps of a row of a crowded cell whose part along x is from low to high. */
KITH_INLINE void meet_row(struct kith__friends *f, int64_t a, const struct place *place,
                          const struct kith__part_row *row, int low, int high)
{
    low = low > 0 ? low : 0;
    high = high < KITH_MOST_PARTS - 1 ? high : KITH_MOST_PARTS - 1;
    if (low > high || !row->mask) {
        return;
    }
    const unsigned before = row->mask & ((1u << low) - 1);
    const unsigned wanted = (row->mask & ((2u << high) - 1)) ^ before;
    if (wanted) {
        const int64_t begin = place->begin + row->first + __builtin_popcount(before);
        meet_all(f, a, begin, begin + __builtin_popcount(wanted), &place->image);
    }
}

static inline int at_least(int a, int b)
{
    return a > b ? a : b;
}

static inline int at_most(int a, int b)
{
    return a < b ? a : b;
}

/** The clumps of a crowded place in reach of a, which is at `part` as counted in that place. */
static void meet_crowd(struct kith__friends *f, int64_t a, const int part[3],
                       const struct place *place, const struct kith__part_row *index, bool own)
{
    const int ny = f->grid->axis[1].parts;
    const int nz = f->grid->axis[2].parts;
    const int z_end = at_most(part[2] + f->reach[2], nz - 1);
    const int y_end = at_most(part[1] + f->reach[1], ny - 1);
    for (int z = at_least(own ? part[2] : part[2] - f->reach[2], 0); z <= z_end; z++) {
        const int dz = z > part[2] ? z - part[2] : part[2] - z;
        const bool level = own && z == part[2];
        for (int y = at_least(level ? part[1] : part[1] - f->reach[1], 0); y <= y_end; y++) {
            const int dy = y > part[1] ? y - part[1] : part[1] - y;
            const int dx = f->row_reach[dz][dy];
            if (dx >= 0) {
                const bool same = level && y == part[1];
                meet_row(f, a, place, &index[z * ny + y], same ? part[0] + 1 : part[0] - dx,
                         part[0] + dx);
            }
        }
    }
}

/** The cell `away` from home, at its image. @return false where none is, or it is empty. */
static bool go(const struct kith__friends *f, const struct place *home, const int away[3],
               struct place *out)
{
    const struct kith__grid *grid = f->grid;
    out->image.moved = false;
    for (int k = 0; k < 3; k++) {
        const int64_t n = grid->axis[k].n;
        int64_t at = home->at[k] + away[k];
        out->image.shift[k] = 0;
        while (grid->axis[k].periodic && (at < 0 || at >= n)) {
            const int step = at < 0 ? -1 : 1;
            at -= step * n;
            out->image.shift[k] += step;
            out->image.moved = true;
        }
        if (at < 0 || at >= n) {
            return false;
        }
        out->at[k] = at;
    }
    const int64_t cell = (out->at[2] * grid->axis[1].n + out->at[1]) * grid->axis[0].n + out->at[0];
    if (f->start) {
        out->begin = f->start[cell];
        out->end = f->start[cell + 1];
    } else {
        const struct kith__sorted clumps = {.n = f->n, .key = f->key};
        const uint64_t key = (uint64_t)cell << f->bits;
        out->begin = kith__grid_search(&clumps, key, home->begin);
        out->end = kith__grid_search(&clumps, key + ((uint64_t)1 << f->bits), out->begin);
    }
    return out->begin < out->end;
}

/** Is the cell `away` visited from this end of the pair? */
static inline bool is_ahead(const int away[3])
{
    return away[2] > 0 ||
           (away[2] == 0 && (away[1] > 0 || (away[1] == 0 && away[0] > 0)));
}

static void link_clump(struct kith__friends *f, const struct place *home,
                       const struct kith__part_row *index, int64_t a)
{
    int part[3];
    kith__part_of(f, f->key[a], part);
    if (index) {
        meet_crowd(f, a, part, home, index, true);
    } else {
        meet_all(f, a, a + 1, home->end, &home->image);
    }
    int away[3];
    const int8_t *low[3], *high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = &f->cell_low[k][part[k]];
        high[k] = &f->cell_high[k][part[k]];
    }
    for (away[2] = 0; away[2] <= *high[2]; away[2]++) {
        for (away[1] = away[2] ? *low[1] : 0; away[1] <= *high[1]; away[1]++) {
            for (away[0] = *low[0]; away[0] <= *high[0]; away[0]++) {
                struct place place;
                if (!is_ahead(away) || !go(f, home, away, &place)) {
                    continue;
                }
                const struct kith__part_row *there = index_of(f, place.begin, place.end);
                if (there) {
                    const struct kith__axis *axis = f->grid->axis;
                    const int seen[3] = {part[0] - away[0] * axis[0].parts,
                                         part[1] - away[1] * axis[1].parts,
                                         part[2] - away[2] * axis[2].parts};
                    meet_crowd(f, a, seen, &place, there, false);
                } else {
                    meet_all(f, a, place.begin, place.end, &place.image);
                }
            }
        }
    }
}

static void link_cell(struct kith__friends *f, int64_t begin, int64_t end)
{
    const uint64_t nx = (uint64_t)f->grid->axis[0].n;
    const uint64_t ny = (uint64_t)f->grid->axis[1].n;
    const uint64_t cell = f->key[begin] >> f->bits;
    const struct place home = {.begin = begin,
                               .end = end,
                               .at = {(int64_t)(cell % nx), (int64_t)(cell / nx % ny),
                                      (int64_t)(cell / nx / ny)}};
    const struct kith__part_row *index = index_of(f, begin, end);
    for (int64_t a = begin; a < end; a++) {
        link_clump(f, &home, index, a);
    }
}

static bool link_block(struct kith__friends *f, int64_t block)
{
    int64_t begin = block * KITH_LINK_BLOCK;
    const int64_t limit = begin + KITH_LINK_BLOCK < f->n ? begin + KITH_LINK_BLOCK : f->n;
    while (begin < limit && begin > 0 &&
           f->key[begin] >> f->bits == f->key[begin - 1] >> f->bits) {
        begin++;
    }
    while (begin < limit) {
        const uint64_t cell = f->key[begin] >> f->bits;
        int64_t end = begin + 1;
        while (end < f->n && f->key[end] >> f->bits == cell) {
            end++;
        }
        link_cell(f, begin, end);
        begin = end;
    }
    return true;
}

#define KITH_PASTE(a, b) a##b
#define KITH_LINKER(isa) KITH_PASTE(kith__linker_, isa)
#define KITH_STRING(a) #a
#define KITH_NAME(isa) KITH_STRING(isa)

const struct kith__linker KITH_LINKER(KITH_ISA) = {
    .name = KITH_NAME(KITH_ISA),
    .link = link_block,
};
