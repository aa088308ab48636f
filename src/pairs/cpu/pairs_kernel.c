/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The operations of the sweep for pair lists: count all pairs, count the hits of each particle,
 * collect hits, fill rows. And the writing of collected hits to the arrays of a list. Compiled for
 * each instruction set: KITH_OF_ISA(name) is kith__name_baseline, kith__name_avx2, ...
 * (engine/cpu/isa.h). pairs_cpu.h documents these functions; engine/cpu/sweep.h defines query
 * particle, hit and tile.
 */
#include "pairs_cpu.h"

#include "engine/cpu/lanes.h"
#include "engine/cpu/visit.h"

/** Return true when a hit of a row is written as (j, i), so that the smaller index comes first: in
 *  half lists that a forward sweep makes.
 *  @param hit  index of the hit in the caller's order */
static inline bool is_reversed(const struct kith__sweep *sweep, const struct kith__row *row,
                               int32_t hit)
{
    return sweep->stencil == KITH_FORWARD && row->id > hit;
}

/** Return true when the hits of a query particle are decided by radii alone. `active` may be set,
 *  too: collect_listed has applied it to the query particle. */
static inline bool has_radii_alone(const struct kith__rules *rules)
{
    return rules->radii[0] && !rules->species[0] && !(rules->least2 > 0) &&
           kith__excludes_none(&rules->excluded);
}

enum { KITH_SEPARATIONS = 64 }; /**< hits whose separations are computed at a time */

#define KITH_PER_PRECISION "pairs/cpu/extras_real.h"
#include "core/per_precision.h"

/** Collect those hits of query particle i that the rules of the list permit, as indices in the
 *  tile. Not inlined, as most lists have no rules.
 *  @param upper    only candidates of higher rank (kith__tile.rank) than i are hits
 *  @param[out] to  [tile.n + KITH_LANES] the indices
 *  @return the number of hits */
static __attribute__((noinline)) int collect_listed(const struct kith__sweep *sweep,
                                                    const struct query_particle *i, bool upper,
                                                    int32_t *to)
{
    if (!kith__is_active(kith__list_of(sweep)->rules, i->id)) {
        return 0;
    }
    const int n = upper ? collect_hits(sweep, i, (struct hit_output){.upper = true, .to = to})
                        : collect_hits(sweep, i, (struct hit_output){.to = to});
    return sweep->question->precision == KITH_FLOAT ? keep_listed_f(sweep, i, n, to)
                                                    : keep_listed_d(sweep, i, n, to);
}

/** Return the number of hits of query particle i that are listed. With rules, the arrays of hits
 *  serve as scratch memory; without memory for them it is 0, and sweep->failed is set.
 *  @param upper  count only candidates of higher rank (kith__tile.rank) than i */
KITH_INLINE int64_t count_listed(struct kith__sweep *sweep, const struct query_particle *i,
                                 bool upper)
{
    if (!kith__list_of(sweep)->rules) {
        return count_hits(sweep, i, upper);
    }
    return kith__hits_room(sweep, sweep->tile.n)
               ? collect_listed(sweep, i, upper, sweep->hit_id + sweep->n_hits)
               : 0;
}

/** Operation: count the hits that are listed. */
static void count_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    kith__list_of(sweep)->hits += count_listed(sweep, i, false);
}

void KITH_OF_ISA(count_pairs)(struct kith__sweep *sweep, int64_t block)
{
    process_work_block(sweep, block, NULL, count_operation, NULL);
}

/** Complete n hits that are stored behind the collected ones as indices in the tile: store their
 *  shifts where the tile has images, their slots where distances or vectors need them, and replace
 *  the indices in the tile by the caller's indices. Called for lists with extras.
 *  @param[in,out] hit  [n] index in the tile; afterwards index in the caller's order */
KITH_INLINE void keep_hits(struct kith__sweep *sweep, int n, int32_t *restrict hit)
{
    const struct kith__tile *tile = &sweep->tile;
    const int32_t *restrict from = tile->shift;
    int32_t *restrict to = sweep->hit_shift + sweep->n_hits;
    for (int p = 0; p < n && tile->shifted; p++) {
        to[p] = from[hit[p]];
    }
    from = tile->slot;
    to = sweep->hit_slot + sweep->n_hits;
    for (int p = 0; p < n && kith__list_of(sweep)->extras & (KITH_DISTANCES | KITH_VECTORS); p++) {
        to[p] = from[hit[p]];
    }
    from = tile->id;
    for (int p = 0; p < n; p++) {
        hit[p] = from[hit[p]];
    }
}

/** buffer_hits for a list with rules. Not inlined, as most lists have no rules.
 *  @param upper    only candidates of higher rank (kith__tile.rank) than i are hits
 *  @param[out] to  [tile.n + KITH_LANES] the caller's indices
 *  @return the number of hits */
static __attribute__((noinline)) int buffer_listed(struct kith__sweep *sweep,
                                                   const struct query_particle *i, bool upper,
                                                   int32_t *to)
{
    const int n = collect_listed(sweep, i, upper, to);
    if (kith__list_of(sweep)->extras) {
        keep_hits(sweep, n, to);
        return n;
    }
    for (int p = 0; p < n; p++) {
        to[p] = sweep->tile.id[to[p]];
    }
    return n;
}

/** Store the hits of query particle i that are listed after those collected. The arrays of hits
 *  have room for them (kith__hits_room).
 *  @param upper  only candidates of higher rank (kith__tile.rank) than i are hits
 *  @return the number of hits */
KITH_INLINE int buffer_hits(struct kith__sweep *sweep, const struct query_particle *i, bool upper)
{
    int32_t *to = sweep->hit_id + sweep->n_hits;
    if (kith__list_of(sweep)->rules) {
        return buffer_listed(sweep, i, upper, to);
    }
    if (!kith__list_of(sweep)->extras) {
        return collect_hits(sweep, i,
                            (struct hit_output){.of = sweep->tile.id, .upper = upper, .to = to});
    }
    const int n = collect_hits(sweep, i, (struct hit_output){.upper = upper, .to = to});
    keep_hits(sweep, n, to);
    return n;
}

/** Operation: add the number of listed hits to the count of the query particle. The argument
 *  `upper` is a constant in each call, so that both calls are specialised. */
static void count_rows_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    kith__list_of(sweep)->counts[i->id] += sweep->upper ? count_listed(sweep, i, true)
                                                        : count_listed(sweep, i, false);
}

void KITH_OF_ISA(count_rows)(struct kith__sweep *sweep, int64_t block)
{
    process_work_block(sweep, block, NULL, count_rows_operation, NULL);
}

/* Lists of at least this capacity in pairs are written with non-temporal stores, as they are larger
 * than the caches. */
static const int64_t large_list = (int64_t)1 << 22;

/* Most hits that a thread collects, unless one tile has more candidates: it writes them before its
 * work block is complete where more might come. */
static const int64_t most_hits = (int64_t)1 << 20;

/** Operation: collect the listed hits, after writing those collected before when the buffers are
 *  full or might not hold all hits of this tile. */
static void collect_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    const bool full = sweep->n_hits + sweep->tile.n + KITH_LANES > most_hits;
    if (sweep->n_rows == sweep->room_rows || (full && sweep->n_hits > 0)) {
        kith__list_of(sweep)->flush(sweep);
    }
    if (kith__hits_room(sweep, sweep->tile.n)) {
        assert(sweep->n_rows < sweep->room_rows);
        const int n = buffer_hits(sweep, i, false);
        sweep->rows[sweep->n_rows++] = row_of(sweep, i, n);
        sweep->n_hits += n;
    }
}

void KITH_OF_ISA(collect_rows)(struct kith__sweep *sweep, int64_t block)
{
    if (!kith__rows_room(sweep)) {
        return;
    }
    process_work_block(sweep, block, NULL, collect_operation, NULL);
}

/** Compute how many boxes wrapping subtracted from the coordinates of a particle: again from the
 *  caller's coordinates, as the grid does not keep it. The result of kith__load is ignored, as the
 *  grid was built, which refuses particles that are too far outside the box.
 *  @param id          index of the particle in the caller's order
 *  @param[out] image  number of boxes along each axis */
static __attribute__((noinline)) void image_of(const struct kith__question *q,
                                               const kith_points *points, int32_t id,
                                               int32_t image[3])
{
    double r[3];
    (void)kith__load(q, points, id, r, image);
}

/** Unpack n shifts that kith__pack_shift packed: kith__unpack_shift written out, for arrays that do
 *  not overlap.
 *  @param[out] out  [n][3] */
static void unpack_shifts(const int32_t *restrict packed, int64_t n, int32_t *restrict out)
{
    for (int64_t h = 0; h < n; h++) {
        out[3 * h] = (packed[h] & 1023) - 512;
        out[3 * h + 1] = (packed[h] >> 10 & 1023) - 512;
        out[3 * h + 2] = (packed[h] >> 20 & 1023) - 512;
    }
}

/** Write the shifts of collected hits [first, first + row->n), those of one row, to the arrays of
 *  the list, from index p on. The sweep finds shifts between the wrapped positions; the list holds
 *  shifts between the caller's positions: the boxes that wrapping subtracted from j are subtracted,
 *  and those of i are added. Reversed pairs (is_reversed) get the opposite sign. */
static void write_shifts(const struct kith__sweep *sweep, const struct kith__row *row,
                         int64_t first, int64_t p)
{
    const struct kith__question *q = sweep->question;
    int32_t *out = kith__list_of(sweep)->out->shifts + 3 * p;
    if (!row->moved && !sweep->grid->wrapped) {
        memset(out, 0, 3 * (size_t)row->n * sizeof *out);
        return;
    }
    if (!sweep->grid->wrapped && sweep->stencil == KITH_ALL) { /* no pair is reversed */
        unpack_shifts(sweep->hit_shift + first, row->n, out);
        return;
    }
    int32_t wi[3] = {0, 0, 0};
    int32_t wj[3] = {0, 0, 0};
    if (sweep->grid->wrapped) {
        image_of(q, &q->a, row->id, wi);
    }
    for (int64_t h = first; h < first + row->n; h++, out += 3) {
        int32_t s[3];
        kith__unpack_shift(row->moved ? sweep->hit_shift[h] : no_shift, s);
        if (sweep->grid->wrapped) {
            image_of(q, &q->b, sweep->hit_id[h], wj);
        }
        const int32_t sign = is_reversed(sweep, row, sweep->hit_id[h]) ? -1 : 1;
        for (int k = 0; k < 3; k++) {
            out[k] = sign * (s[k] - wj[k] + wi[k]);
        }
    }
}

/** Write the extras (distances, vectors and shifts) of collected hits [first, first + row->n),
 *  those of one row, to the arrays of the list, from index p on. */
static void write_extras(const struct kith__sweep *sweep, const struct kith__row *row,
                         int64_t first, int64_t p)
{
    if (kith__list_of(sweep)->extras & (KITH_DISTANCES | KITH_VECTORS)) {
        if (sweep->question->precision == KITH_FLOAT) {
            write_vectors_f(sweep, row, first, p);
        } else {
            write_vectors_d(sweep, row, first, p);
        }
    }
    if (kith__list_of(sweep)->out->shifts) {
        write_shifts(sweep, row, first, p);
    }
}

/** Set i and j of n pairs of particle `id` and its hits. With the forward stencil the smaller index
 *  becomes i (is_reversed).
 *  @param id         index of the particle in the caller's order
 *  @param hit        [n] indices of the hits in the caller's order
 *  @param[out] i, j  [n] indices of the pairs */
static void expand(const struct kith__sweep *sweep, int32_t id, const int32_t *restrict hit,
                   int64_t n, int32_t *restrict i, int32_t *restrict j)
{
    if (sweep->stencil == KITH_FORWARD) {
        for (int64_t p = 0; p < n; p++) {
            i[p] = hit[p] < id ? hit[p] : id;
            j[p] = hit[p] < id ? id : hit[p];
        }
    } else {
        for (int64_t p = 0; p < n; p++) {
            i[p] = id;
            j[p] = hit[p];
        }
    }
}

/** Copy n integers with non-temporal stores, which do not read the destination's cache lines, and
 *  have to be aligned. The integers before the first cache line boundary behind `to`, at most a
 *  line, and the last W are written with ordinary stores, whose vectors may overlap the others. Few
 *  integers are copied by memcpy; else a line and these vectors fit in n. */
static void stream(int32_t *to, const int32_t *from, int64_t n)
{
    if (n < (int64_t)4 * KITH_LANES) {
        memcpy(to, from, (size_t)n * sizeof *to);
        return;
    }
    const int64_t line = KITH_ALIGN / (int64_t)sizeof *to;
    const int64_t head = line - (int64_t)((uintptr_t)to / sizeof *to % (uintptr_t)line);
    int64_t p = 0;
    for (; p < head; p += W) {
        vi_store(to + p, vi_load(from + p));
    }
    p = head;
    for (; p + W <= n; p += W) {
        vi_stream(to + p, vi_load(from + p));
    }
    vi_store(to + n - W, vi_load(from + n - W));
}

/** Write i and j of the collected hits with non-temporal stores, from index `at` of the arrays on.
 *  Rows are short, so their pairs are gathered to STAGE pairs first, which are written together. */
static void stream_ends(const struct kith__sweep *sweep, int64_t at)
{
    enum { STAGE = 4096 };
    int32_t i[STAGE];
    int32_t j[STAGE];
    int64_t staged = 0;
    const int32_t *hit = sweep->hit_id;
    for (int64_t r = 0; r < sweep->n_rows; r++) {
        for (int64_t left = sweep->rows[r].n; left > 0;) {
            const int64_t n = left < STAGE - staged ? left : STAGE - staged;
            expand(sweep, sweep->rows[r].id, hit, n, i + staged, j + staged);
            hit += n;
            left -= n;
            staged += n;
            if (staged == STAGE) {
                stream(kith__list_of(sweep)->out->i + at, i, STAGE);
                stream(kith__list_of(sweep)->out->j + at, j, STAGE);
                at += STAGE;
                staged = 0;
            }
        }
    }
    stream(kith__list_of(sweep)->out->i + at, i, staged);
    stream(kith__list_of(sweep)->out->j + at, j, staged);
    vi_stream_end();
}

void KITH_OF_ISA(write_rows)(const struct kith__sweep *sweep, int64_t at)
{
    const kith_pairs *out = kith__list_of(sweep)->out;
    const bool past_caches = out->capacity >= large_list;
    if (past_caches) {
        stream_ends(sweep, at);
    }
    int64_t first = 0;
    for (int64_t r = 0; r < sweep->n_rows; r++) {
        const struct kith__row *row = &sweep->rows[r];
        if (!past_caches) {
            expand(sweep, row->id, sweep->hit_id + first, row->n, out->i + at + first,
                   out->j + at + first);
        }
        if (kith__list_of(sweep)->extras) {
            write_extras(sweep, row, first, at + first);
        }
        first += row->n;
    }
}

/** Operation: write the listed hits to the row of the query particle, behind those of earlier tiles
 *  and, with kith__list_state.filled, of earlier searches. */
static void fill_row_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const kith_pairs *out = kith__list_of(sweep)->out;
    int64_t *const filled = kith__list_of(sweep)->filled
                                ? &kith__list_of(sweep)->filled[i->id]
                                : &sweep->query.filled[i->slot - sweep->query.begin];
    const int64_t at = kith__list_of(sweep)->offsets[i->id] - kith__list_of(sweep)->base + *filled;
    const int n = sweep->upper ? buffer_hits(sweep, i, true) : buffer_hits(sweep, i, false);
    const struct kith__row row = row_of(sweep, i, n);
    *filled += n;
    assert(kith__list_of(sweep)->offsets[i->id] + *filled <=
           kith__list_of(sweep)->offsets[i->id + 1]); /* hits fit the row that was counted */
    assert(at + n <= out->capacity);
    memcpy(out->j + at, sweep->hit_id, (size_t)n * sizeof *out->j);
    if (out->i) {
        for (int32_t p = 0; p < row.n; p++) {
            out->i[at + p] = row.id;
        }
    }
    if (kith__list_of(sweep)->extras) {
        write_extras(sweep, &row, 0, at);
    }
}

void KITH_OF_ISA(fill_rows)(struct kith__sweep *sweep, int64_t block)
{
    process_work_block(sweep, block, NULL, fill_row_operation, NULL);
}

/** Operation: write the listed hits to the row of the query particle in a KITH_MATRIX list, behind
 *  those of earlier tiles. */
static void fill_matrix_operation(struct kith__sweep *sweep, const struct query_particle *i)
{
    const struct kith__list_state *state = kith__list_of(sweep);
    int64_t *const filled = &sweep->query.filled[i->slot - sweep->query.begin];
    if (state->width == 0) { /* rows have no entries: count only */
        *filled += count_listed(sweep, i, false);
        state->counts[i->id] = *filled;
        return;
    }
    sweep->n_hits = 0;
    if (!kith__hits_room(sweep, sweep->tile.n)) {
        return;
    }
    const int n = buffer_hits(sweep, i, false);
    const int64_t begin = i->id * state->width;
    const int64_t end = begin + state->width;
    const int64_t at = *filled < state->width ? begin + *filled : end;
    const int32_t kept = n < end - at ? n : (int32_t)(end - at);
    assert(end <= state->out->capacity);
    memcpy(state->out->j + at, sweep->hit_id, (size_t)kept * sizeof *state->out->j);
    if (state->extras) {
        const struct kith__row row = row_of(sweep, i, kept);
        write_extras(sweep, &row, 0, at);
    }
    if (*filled == 0) { /* no hits before: pad the rest of the row, which later tiles overwrite */
        kith__matrix_pad(sweep->question->precision, state->extras, state->fill, at + kept, end,
                         state->out);
    }
    *filled += n;
    state->counts[i->id] = *filled;
}

void KITH_OF_ISA(fill_matrix)(struct kith__sweep *sweep, int64_t block)
{
    process_work_block(sweep, block, NULL, fill_matrix_operation, NULL);
}
