/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operations for pair lists: count, count by particle, collect, fill. Compiled once
 * for each instruction set, named by KITH_ISA.
 */
#include "kernel.h"

#include "visit.h"

static void count_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    sweep->hits += count_hits(sweep, i);
}

static void count(struct kith__sweep *sweep, int64_t block)
{
    visit_block(sweep, block, count_operation);
}

/** Append the hits of i to the buffer. @return how many. */
KITH_INLINE int buffer_hits(struct kith__sweep *sweep, const struct visitor *i, bool upper)
{
    int32_t *to = sweep->hit_id + sweep->n_hits;
    if (!sweep->extras) {
        return collect_hits(sweep, i, sweep->tile.id, upper, to);
    }
    const int n = collect_hits(sweep, i, NULL, upper, to);
    for (int p = 0; p < n; p++) {
        const int k = to[p];
        sweep->hit_slot[sweep->n_hits + p] = sweep->tile.slot[k];
        sweep->hit_shift[sweep->n_hits + p] = tile_shift(sweep, k);
        to[p] = sweep->tile.id[k];
    }
    return n;
}

static void count_rows_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    if (sweep->upper) {
        sweep->n_hits = 0;
        if (kith__hits_room(sweep, sweep->tile.n)) {
            sweep->counts[i->id] = collect_hits(sweep, i, NULL, true, sweep->hit_id);
        }
    } else {
        sweep->counts[i->id] = count_hits(sweep, i);
    }
}

static void count_rows(struct kith__sweep *sweep, int64_t block)
{
    visit_block(sweep, block, count_rows_operation);
}

static void collect_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    if (sweep->n_rows == sweep->room_rows ||
        sweep->n_hits + sweep->tile.n + KITH_LANES > sweep->room_hits) {
        if (sweep->n_hits > 0 || sweep->n_rows > 0) {
            sweep->flush(sweep);
        }
        if (!kith__hits_room(sweep, sweep->tile.n)) {
            return;
        }
    }
    const int n = buffer_hits(sweep, i, false);
    sweep->rows[sweep->n_rows++] = (struct kith__row){i->id, n, i->slot};
    sweep->n_hits += n;
}

static void collect(struct kith__sweep *sweep, int64_t block)
{
    if (!kith__rows_room(sweep)) {
        return;
    }
    visit_block(sweep, block, collect_operation);
}

/** Pair p of the list: its ends, where they are in the grid, and the image. */
struct ends {
    int32_t i, j;
    int64_t slot_i, slot_j;
    int32_t s[3];
};

#define real double
#define KITH_REAL(name) name##_d
#include "extras_real.h"
#undef real
#undef KITH_REAL
#define real float
#define KITH_REAL(name) name##_f
#include "extras_real.h"
#undef real
#undef KITH_REAL

/** Shift for the coordinates as the caller gave them: the wrapping of both ends is taken out. */
static void write_shift(const struct kith__sweep *sweep, int64_t p, const struct ends *e)
{
    int32_t wi[3] = {0, 0, 0};
    int32_t wj[3] = {0, 0, 0};
    if (sweep->grid->wrapped) {
        kith__grid_image(sweep->question, &sweep->question->a, e->i, wi);
        kith__grid_image(sweep->question, &sweep->question->b, e->j, wj);
    }
    for (int k = 0; k < 3; k++) {
        sweep->out->shifts[3 * p + k] = e->s[k] - wj[k] + wi[k];
    }
}

/** Write distance, vector and shift of buffered hits [first, first + row->n) from pair p on. */
static void write_extras(const struct kith__sweep *sweep, const struct kith__row *row,
                         int64_t first, int64_t p)
{
    for (int64_t h = first; h < first + row->n; h++, p++) {
        struct ends e = {.i = row->id,
                         .j = sweep->hit_id[h],
                         .slot_i = row->slot,
                         .slot_j = sweep->hit_slot[h]};
        kith__unpack_shift(sweep->hit_shift[h], e.s);
        if (sweep->stencil == KITH_FORWARD && e.i > e.j) {
            e = (struct ends){e.j, e.i, e.slot_j, e.slot_i, {-e.s[0], -e.s[1], -e.s[2]}};
        }
        if (sweep->question->precision == KITH_FLOAT) {
            write_vector_f(sweep, p, &e);
        } else {
            write_vector_d(sweep, p, &e);
        }
        if (sweep->out->shifts) {
            write_shift(sweep, p, &e);
        }
    }
}

/** The ends of a row's pairs. */
static void expand(const struct kith__sweep *sweep, const struct kith__row *row,
                   const int32_t *restrict hit, int32_t *restrict i, int32_t *restrict j)
{
    const int32_t id = row->id;
    if (sweep->stencil == KITH_FORWARD) {
        for (int32_t p = 0; p < row->n; p++) {
            i[p] = hit[p] < id ? hit[p] : id;
            j[p] = hit[p] < id ? id : hit[p];
        }
    } else {
        for (int32_t p = 0; p < row->n; p++) {
            i[p] = id;
            j[p] = hit[p];
        }
    }
}

static void write(struct kith__sweep *sweep, int64_t at)
{
    const kith_pairs *out = sweep->out;
    int64_t first = 0;
    for (int64_t r = 0; r < sweep->n_rows; r++) {
        const struct kith__row *row = &sweep->rows[r];
        expand(sweep, row, sweep->hit_id + first, out->i + at + first, out->j + at + first);
        if (sweep->extras) {
            write_extras(sweep, row, first, at + first);
        }
        first += row->n;
    }
    sweep->n_rows = 0;
    sweep->n_hits = 0;
}

static void fill_row_operation(struct kith__sweep *sweep, const struct visitor *i)
{
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const kith_pairs *out = sweep->out;
    const int64_t at = sweep->offsets[i->id] - sweep->base;
    const int n = sweep->upper ? buffer_hits(sweep, i, true) : buffer_hits(sweep, i, false);
    const struct kith__row row = {i->id, n, i->slot};
    memcpy(out->j + at, sweep->hit_id, (size_t)row.n * sizeof *out->j);
    if (out->i) {
        for (int32_t p = 0; p < row.n; p++) {
            out->i[at + p] = row.id;
        }
    }
    if (sweep->extras) {
        write_extras(sweep, &row, 0, at);
    }
}

static void fill_rows(struct kith__sweep *sweep, int64_t block)
{
    visit_block(sweep, block, fill_row_operation);
}

#define KITH_PASTE(a, b) a##b
#define KITH_KERNEL(isa) KITH_PASTE(kith__kernel_, isa)
#define KITH_STRING(a) #a
#define KITH_NAME(isa) KITH_STRING(isa)

const struct kith__kernel KITH_KERNEL(KITH_ISA) = {
    .name = KITH_NAME(KITH_ISA),
    .count = count,
    .count_rows = count_rows,
    .collect = collect,
    .write = write,
    .fill_rows = fill_rows,
};
