/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The loops of the sweep (sweep.h): over the query blocks of a work block, over the query particles
 * of a query block, and over the candidates of its tile. What is done with each query particle, the
 * operation, is a function that is known at compile time and inlined. Compiled for each instruction
 * set.
 *
 * The inner loop computes v = q - 2 i.j = r^2 - |i|^2, with q = |j|^2, for W candidates j with
 * three fused multiply-adds (products and sums without FMA), with all coordinates relative to the
 * centre of the query block, and compares it with two thresholds: a candidate up to the first is a
 * hit, one above the second is none, and one between the two is a borderline case, which the
 * definition decides.
 */
#ifndef KITH_CPU_VISIT_H
#define KITH_CPU_VISIT_H

#include <stdatomic.h>

#include "tile.h"

/** A query particle i, which is tested against all candidates of the tile. */
struct query_particle {
    int64_t slot;  /**< slot in grid->a */
    int32_t id;    /**< index in the caller's order */
    int self;      /**< index among the candidates of the tile; -1: it is no candidate */
    float x, y, z; /**< -2 times the coordinates relative to the centre of the block [cutoff] */
    float q;       /**< squared distance from the centre of the block [cutoff^2] */
    float clear;   /**< lower threshold: candidates with r^2 - q at most this are hits
                        [cutoff^2] */
    float most;    /**< upper threshold: candidates with r^2 - q above this are no hits
                        [cutoff^2] */
};

/** An operation: process the candidates of query particle i. */
typedef void query_fn(struct kith__sweep *sweep, const struct query_particle *i);

/** Process a tile, before or after its query particles are processed: an argument of
 *  process_work_block. */
typedef void tile_fn(struct kith__sweep *sweep);

/** Decide borderline candidates by the definition of a pair (engine/pair.h). Cold path, not
 *  inlined, so that the inner loop keeps its registers: few candidates are within the error bound
 *  of the cutoff.
 *  @param k           index of the candidate in lane 0
 *  @param mask        candidates that are not above the upper threshold
 *  @param borderline  those of them that are undecided
 *  @param radius      a pair is at most this far apart: a number of the precision of the
 *                     coordinates [length]
 *  @return mask without the candidates that form no pair */
static __attribute__((noinline, cold)) unsigned decide(const struct kith__sweep *sweep,
                                                       const struct query_particle *i, int k,
                                                       unsigned mask, unsigned borderline,
                                                       double radius)
{
    const double most = kith__rounded(radius * radius, sweep->question->precision);
    for (; borderline; borderline &= borderline - 1) {
        const int lane = __builtin_ctz(borderline);
        const bool near = true_square(sweep, i->slot, k + lane) <= most;
        mask &= ~((unsigned)!near << lane);
    }
    return mask;
}

/** Operands of the inner loop, kept in registers. One pointer and one stride serve for four arrays:
 *  x86 has too few registers for a pointer to each. */
struct tile_operands {
    const float *x; /**< tile->x */
    int64_t stride; /**< tile->room: distance of x, y, z and q of a candidate [elements] */
    vf ix, iy, iz;  /**< query_particle.x, y, z in all lanes */
    vf clear, most; /**< query_particle.clear, most in all lanes */
};

/** Load the operands of the inner loop for query particle i. */
KITH_INLINE struct tile_operands load_operands(const struct kith__sweep *sweep,
                                               const struct query_particle *i)
{
    const struct kith__tile *tile = &sweep->tile;
    return (struct tile_operands){.x = tile->x,
                                  .stride = tile->room,
                                  .ix = vf_set(i->x),
                                  .iy = vf_set(i->y),
                                  .iz = vf_set(i->z),
                                  .clear = vf_set(i->clear),
                                  .most = vf_set(i->most)};
}

/** Return r^2 - |i|^2 = q - 2 i.j of candidates [k, k + W) [cutoff^2]. */
KITH_INLINE vf squares_at(const struct tile_operands *operands, int k)
{
    const float *x = operands->x + k;
    const int64_t stride = operands->stride;
    vf v = vf_fma(operands->ix, vf_load(x), vf_load(x + 3 * stride));
    v = vf_fma(operands->iy, vf_load(x + stride), v);
    return vf_fma(operands->iz, vf_load(x + 2 * stride), v);
}

/** Return a mask of the candidates [k, k + W) within the cutoff of i; i itself is not excluded.
 *  @param[out] r2  r^2 - |i|^2 of each candidate [cutoff^2] */
KITH_INLINE unsigned hits_at(const struct kith__sweep *sweep, const struct query_particle *i,
                             const struct tile_operands *operands, int k, vf *r2)
{
    const vf v = squares_at(operands, k);
    *r2 = v;
    unsigned borderline;
    const unsigned mask = vf_classify(v, operands->clear, operands->most, &borderline);
    return __builtin_expect(borderline != 0, 0)
               ? decide(sweep, i, k, mask, borderline, sweep->question->cutoff)
               : mask;
}

/** Return a mask of the candidates [k, k + W), which include i, that i may form a pair with: not i,
 *  and with the forward stencil none before i. */
KITH_INLINE unsigned lanes_to_pair(const struct kith__sweep *sweep, const struct query_particle *i,
                                   int k)
{
    const unsigned self = 1u << (i->self - k);
    return sweep->stencil == KITH_FORWARD ? ~(self | (self - 1)) : ~self;
}

/** What is stored of the hits of a query particle. Constant at compile time except the
 *  pointers. */
struct hit_output {
    const int32_t *of; /**< array of the tile from which a number is stored for each hit; NULL: its
                            index in the tile is stored */
    bool upper;        /**< only candidates of higher rank (kith__tile.rank) than i are hits */
    bool nothing;      /**< hits are counted, and nothing is stored in `to` */
    int32_t *to;       /**< [tile.n + W] the numbers stored */
    float *r2;         /**< [tile.n + W] r^2 / cutoff^2 of each hit; NULL: not stored */
};

/** Store the hits among candidates [k, k + W), in ascending order, after the n stored before.
 *  @param mask  the candidates within the cutoff; with output->upper, those of lower rank are
 *               removed here
 *  @param r2    r^2 - |i|^2 of each candidate [cutoff^2]
 *  @return the number of hits of these W candidates */
KITH_INLINE int store_hits(const struct kith__sweep *sweep, const struct query_particle *i, int k,
                           unsigned mask, vf r2, const struct hit_output *output, int n)
{
    if (output->upper) {
        const int32_t rank = (int32_t)(2u * (uint32_t)i->id ^ 0x80000000u);
        mask &= vi_gt(vi_load(sweep->tile.rank + k), vi_set(rank));
    }
    if (!output->nothing) {
        vi_compress(output->to + n, output->of ? vi_load(output->of + k) : vi_lanes() + k, mask);
    }
    if (output->r2) {
        vf_compress(output->r2 + n, r2 + vf_set(i->q), mask);
    }
    return __builtin_popcount(mask);
}

/** Test candidates [k, end) of the tile against query particle i, which is none of them, and store
 *  the hits behind n others. The inner loop ends at a vector with a borderline candidate, so that
 *  it has no call, and all of its operands stay in registers; they are loaded again after the call.
 *  @return n plus the number of hits */
KITH_INLINE int collect_range(const struct kith__sweep *sweep, const struct query_particle *i,
                              int k, int end, const struct hit_output *output, int n)
{
    while (k < end) {
        const struct tile_operands operands = load_operands(sweep, i);
        unsigned mask = 0;
        unsigned borderline = 0;
        vf r2;
        for (; k < end; k += W) {
            r2 = squares_at(&operands, k);
            mask = vf_classify(r2, operands.clear, operands.most, &borderline);
            if (__builtin_expect(borderline != 0, 0)) {
                break;
            }
            n += store_hits(sweep, i, k, mask, r2, output, n);
        }
        if (k < end) {
            mask = decide(sweep, i, k, mask, borderline, sweep->question->cutoff);
            /* the compiler must load the operands again, not save them across the call */
            atomic_signal_fence(memory_order_seq_cst);
            n += store_hits(sweep, i, k, mask, r2, output, n);
            k += W;
        }
    }
    return n;
}

/** Test the candidates of the tile against query particle i, and store the hits in ascending order.
 *  With the forward stencil, only candidates after i are tested where i is in the tile. The vector
 *  that holds i is tested apart from those before and after it: there i itself is masked out.
 *  @return the number of hits */
KITH_INLINE int collect_hits(const struct kith__sweep *sweep, const struct query_particle *i,
                             struct hit_output output)
{
    const int end = sweep->tile.n;
    const int own = i->self < 0 ? -W : i->self / W * W;
    int n = 0;
    int k = 0;
    if (own >= 0) {
        n = sweep->stencil == KITH_ALL ? collect_range(sweep, i, 0, own, &output, n) : 0;
        const struct tile_operands operands = load_operands(sweep, i);
        vf r2;
        const unsigned mask = hits_at(sweep, i, &operands, own, &r2) & lanes_to_pair(sweep, i, own);
        n += store_hits(sweep, i, own, mask, r2, &output, n);
        k = own + W;
    }
    n = collect_range(sweep, i, k, end, &output, n);
    assert(n <= end); /* no candidate of the padding is a hit */
    return n;
}

/** Return the record of query particle i and its n hits in this tile. */
KITH_INLINE struct kith__row row_of(const struct kith__sweep *sweep, const struct query_particle *i,
                                    int n)
{
    return (struct kith__row){i->id, n, i->slot, sweep->tile.shifted};
}

/** Return the number of hits of i.
 *  @param upper  count only candidates of higher rank (kith__tile.rank) than i */
KITH_INLINE int count_hits(const struct kith__sweep *sweep, const struct query_particle *i,
                           bool upper)
{
    return collect_hits(sweep, i, (struct hit_output){.upper = upper, .nothing = true});
}

/** Run the operation for each particle of the query block with an index in [id_begin, id_end),
 *  until the sweep is to stop. */
KITH_INLINE void process_query_block(struct kith__sweep *sweep, query_fn *operation)
{
    const struct kith__query_block *query = &sweep->query;
    const int n = (int)(query->end - query->begin);
    for (int h = 0; h < n; h++) {
        const float x = query->x[h];
        const float y = query->y[h];
        const float z = query->z[h];
        const float q = x * x + y * y + z * z;
        const struct query_particle i = {.slot = query->begin + h,
                                         .id = sweep->grid->a.id[query->begin + h],
                                         .self = query->self[h],
                                         .x = -2 * x,
                                         .y = -2 * y,
                                         .z = -2 * z,
                                         .q = q,
                                         .clear = 1 - query->error_bound - q,
                                         .most = 1 + query->error_bound - q};
        assert(0 <= i.id && i.id < sweep->question->a.n);
        if (i.id >= sweep->id_begin && i.id < sweep->id_end &&
            kith__sweep_goes_on(sweep, sweep->tile.n)) {
            operation(sweep, &i);
        }
    }
}

/** Choose the query block that begins at slot s: the particles of one cell, at most
 *  KITH_QUERY_BLOCK; then the following cells of the row as long as the block has fewer than
 *  sweep->query_fill particles. A cell with which it would have more than twice as many is not
 *  added: cells are added whole.
 *  @param limit  cells that begin at this slot or later are not added */
static void choose_query_block(struct kith__sweep *sweep, int64_t s, int64_t limit)
{
    const struct kith__grid *grid = sweep->grid;
    const struct kith__sorted *a = &grid->a;
    struct kith__query_block *query = &sweep->query;
    const uint64_t nx = (uint64_t)grid->axis[0].n;
    const uint64_t ny = (uint64_t)grid->axis[1].n;
    const uint64_t key = a->key[s];
    const uint64_t row = key / nx;
    query->begin = s;
    query->first_cell[0] = (int64_t)(key % nx);
    query->first_cell[1] = (int64_t)(row % ny);
    query->first_cell[2] = (int64_t)(row / ny);
    int64_t e = s;
    while (e < a->n && a->key[e] == key && e - s < KITH_QUERY_BLOCK) {
        e++;
    }
    uint64_t last = key;
    const uint64_t row_end = (row + 1) * nx;
    /* on a compressed axis, only cells of consecutive numbers are sure to be neighbours: each is
     * compared with the cell before it, else with the first cell */
    const uint64_t farthest = grid->axis[0].n_occupied ? 1 : KITH_QUERY_CELLS - 1;
    const int64_t enough = sweep->query_fill;
    while (e < limit && e - s < enough && a->key[e] < row_end &&
           a->key[e] - (farthest == 1 ? last : key) <= farthest) {
        int64_t next = e;
        while (next < a->n && a->key[next] == a->key[e] && next - s <= 2 * enough) {
            next++;
        }
        if (next - s > 2 * enough) {
            break;
        }
        last = a->key[e];
        e = next;
    }
    assert(s < e && e - s <= KITH_QUERY_BLOCK);
    query->end = e;
    query->last_cell_x = query->first_cell[0] + (int64_t)(last - key);
}

/** Return the first slot from s on where a query block may begin: the start of a cell, or of the
 *  next KITH_QUERY_BLOCK particles of a cell with more. */
static int64_t first_query_block(const struct kith__sorted *a, int64_t s)
{
    if (s == 0 || a->key[s] != a->key[s - 1]) {
        return s;
    }
    const int64_t begin = kith__grid_search(a, a->key[s], s);
    const int64_t end = kith__grid_search(a, a->key[s] + 1, s);
    const int64_t piece = begin +
                          (s - begin + KITH_QUERY_BLOCK - 1) / KITH_QUERY_BLOCK * KITH_QUERY_BLOCK;
    return piece < end ? piece : end;
}

/** Return true when the query block contains a particle with an index of [id_begin, id_end). */
static bool query_block_wanted(const struct kith__sweep *sweep)
{
    if (sweep->id_begin == 0 && sweep->id_end == INT32_MAX) {
        return true;
    }
    bool wanted = false;
    for (int64_t s = sweep->query.begin; s < sweep->query.end; s++) {
        const int32_t id = sweep->grid->a.id[s];
        wanted = wanted || (id >= sweep->id_begin && id < sweep->id_end);
    }
    return wanted;
}

/** Prepare the query block that was chosen: its coordinates, error bounds, and no hits yet.
 *  @return the start of the walk over the cells around it */
static struct walk start_query_block(struct kith__sweep *sweep)
{
    struct kith__query_block *query = &sweep->query;
    memset(query->filled, 0, (size_t)(query->end - query->begin) * sizeof *query->filled);
    if (sweep->question->precision == KITH_FLOAT) {
        load_query_block_f(sweep);
    } else {
        load_query_block_d(sweep);
    }
    return start_walk(sweep);
}

/** Process a work block: run the operation for each query particle with each tile of its
 *  candidates; there are several tiles where one cannot hold all. Tiles without candidates are
 *  skipped, so a query particle without candidates is not passed to the operation.
 *  @param begin_tile  called for each tile before its query particles are processed; NULL: nothing
 *  @param end_tile    called for each tile after its query particles were processed, also when the
 *                     sweep failed among them; NULL: nothing */
KITH_INLINE void process_work_block(struct kith__sweep *sweep, int64_t block, tile_fn *begin_tile,
                                    query_fn *operation, tile_fn *end_tile)
{
    const struct kith__sorted *a = &sweep->grid->a;
    const int64_t end = (block + 1) * KITH_WORK_BLOCK;
    const int64_t limit = end < a->n ? end : a->n;
    int64_t s = first_query_block(a, block * KITH_WORK_BLOCK);
    while (s < limit && !sweep->failed) {
        choose_query_block(sweep, s, limit);
        s = sweep->query.end;
        if (!query_block_wanted(sweep)) {
            continue;
        }
        struct walk walk = start_query_block(sweep);
        for (bool whole = false; !whole && !sweep->failed;) {
            whole = fill_tile(sweep, &walk);
            if (begin_tile && sweep->tile.n > 0 && !sweep->failed) {
                begin_tile(sweep);
            }
            if (sweep->tile.n > 0 && !sweep->failed) {
                process_query_block(sweep, operation);
                if (end_tile) {
                    end_tile(sweep);
                }
            }
        }
    }
}

#endif
