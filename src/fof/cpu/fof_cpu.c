/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends on CPU cores, O(n): sort the particles by cell and subcell, list the clumps
 * (the particles of one subcell, all friends), find the dense cells (those of KITH_DENSE clumps or
 * more), link (link_kernel.c), number the groups (number.c). friends.h has the data. find_groups,
 * at the end, has the order of the steps.
 */
#include <assert.h>
#include <string.h>

#include "core/atomics.h"
#include "fof/groups.h"
#include "friends.h"
#include "engine/cpu/run.h"

/** Clumps of a block of tabulate_all, so few that the block's range of the table of cells stays in
 *  the cache; also entries of friends->dense in a range of find_dense_cells. */
enum { CLUMP_BLOCK = 1024 };

/** Set friends->ahead: for each subcell a mask of the forward neighbours within its reach. Does
 *  nothing if some subcell reaches beyond the 26 neighbours. */
static kith_status set_ahead(kith_ctx *ctx, struct kith__friends *f)
{
    const struct kith__subcells *subcells = &f->subcells;
    const struct kith__axis *axis = f->grid->axis;
    if (!subcells->around) {
        return KITH_OK;
    }
    const int64_t keys = (int64_t)1 << subcells->bits;
    f->ahead = kith__work_need(&ctx->work, KITH_FOF_AHEAD, (size_t)keys * sizeof *f->ahead);
    KITH_CHECK(ctx, f->ahead != NULL, KITH_NO_MEMORY, "out of memory for the subcells of a cell");
    /* [axis][subcell along it] mask of the forward neighbours within reach along that axis alone */
    uint16_t within[3][KITH_MOST_SUBCELLS] = {0};
    for (int k = 0; k < 3; k++) {
        for (int subcell = 0; subcell < axis[k].subcells; subcell++) {
            for (int s = 0; s < KITH_STEPS; s++) {
                const int away = subcells->step[s].away[k];
                const bool in_reach = away >= subcells->cell_low[k][subcell] &&
                                      away <= subcells->cell_high[k][subcell];
                within[k][subcell] = (uint16_t)(within[k][subcell] | in_reach << s);
            }
        }
    }
    for (int64_t key = 0; key < keys; key++) {
        int subcell[3];
        kith__subcell_of(axis, (uint64_t)key, subcell);
        f->ahead[key] = (uint16_t)(within[0][subcell[0]] & within[1][subcell[1]] &
                                   within[2][subcell[2]]);
    }
    return KITH_OK;
}

/** State of the list of clumps. */
struct clump_list {
    const uint64_t *key; /**< [n] sorted keys of the particles */
    uint32_t *first;     /**< [clumps + 1] first slot of each clump */
};

/** Return the first slot of a range whose key can be compared with that of the slot before: the
 *  first of the range, but at least slot 1. */
static int64_t first_compared(int64_t begin)
{
    return begin > 0 ? begin : 1;
}

/** Count the clumps that begin in slots [begin, end), except clump 0, which begins in slot 0. */
static int64_t count_clumps(void *state, int64_t begin, int64_t end)
{
    const struct clump_list *clumps = state;
    int64_t found = 0;
    for (int64_t s = first_compared(begin); s < end; s++) {
        found += clumps->key[s] != clumps->key[s - 1];
    }
    return found;
}

/** Write the first slots of the clumps that begin from slot `begin` on: entries [at, stop) of the
 *  list are clumps [at + 1, stop + 1), as clump 0 is not counted. */
static void write_clumps(void *state, int64_t begin, int64_t at, int64_t stop)
{
    const struct clump_list *clumps = state;
    int64_t c = at + 1;
    /* Branchless: each slot is written, and overwritten when it begins no clump. */
    for (int64_t s = first_compared(begin); c < stop + 1; s++) {
        clumps->first[c] = (uint32_t)s;
        c += clumps->key[s] != clumps->key[s - 1];
    }
}

/** Find the first slot of each clump, a run of equal keys, and the number of clumps, f->n.
 *  @param sorted      the sorted particles, at least one
 *  @param[out] first  [sorted->n + 1] first slot of each clump, then the number of particles */
static kith_status find_clumps(kith_ctx *ctx, const struct kith__sorted *sorted, uint32_t *first,
                               struct kith__friends *f)
{
    struct clump_list clumps = {sorted->key, first};
    struct kith__listing list = {.n = sorted->n,
                                 .ranges = kith__threads_for(ctx, sorted->n),
                                 .first = ctx->work.buffer[KITH_GRID_BINS].data, /* sort is done */
                                 .state = &clumps,
                                 .count = count_clumps,
                                 .write = write_clumps};
    KITH_TRY(kith__list_count(ctx, &list));
    f->n = list.first[list.ranges] + 1;
    first[0] = 0;
    kith__list_write(ctx, &list);
    assert(f->n >= 1 && f->n <= sorted->n);
    first[f->n] = (uint32_t)sorted->n;
    return kith__proceed(ctx);
}

/** Find the dense cell whose first clump c has c / KITH_DENSE == entry. As dense cells have
 *  KITH_DENSE clumps or more, there is at most one. Its index is not set.
 *  @param key    [particles] sorted keys
 *  @param first  [clumps + 1] first slot of each clump
 *  @return the dense cell; its n is 0 when there is none */
static struct kith__dense_cell dense_cell_at(const struct kith__friends *f, const uint64_t *key,
                                             const uint32_t *first, int64_t entry)
{
    const int bits = f->subcells.bits;
    /* a dense cell whose first clump is one of the KITH_DENSE clumps of this entry holds the last
     * of them, `inside` */
    const int64_t inside = (entry + 1) * KITH_DENSE - 1;
    struct kith__dense_cell out = {.n = 0};
    const uint64_t cell = key[first[inside]] >> bits;
    int64_t begin = inside;
    while (begin > 0 && begin > inside - KITH_DENSE && key[first[begin - 1]] >> bits == cell) {
        begin--;
    }
    if (begin == inside - KITH_DENSE) {
        return out; /* the cell belongs to an earlier entry */
    }
    int64_t end = inside + 1;
    while (end < f->n && key[first[end]] >> bits == cell) {
        end++;
    }
    if (end - begin >= KITH_DENSE) {
        out.begin = (uint32_t)begin;
        assert(end - begin < KITH_ONE_TREE);
        out.n = (uint16_t)(end - begin);
    }
    return out;
}

/** State of the loops that read the sorted keys: over entries of dense cells, and over clumps. */
struct key_loop {
    struct kith__friends *friends; /**< the search */
    const uint64_t *key;           /**< [particles] sorted keys */
    const uint32_t *first;         /**< [clumps + 1] first slot of each clump */
    _Atomic uint32_t n_dense;      /**< dense cells found so far */
    _Atomic int64_t largest;       /**< most particles of one clump so far */
};

/** Find and number the dense cells of entries [begin, end). The numbers depend on the order in
 *  which threads run; results do not. */
static void number_dense_cells(void *state, int64_t begin, int64_t end)
{
    struct key_loop *loop = state;
    struct kith__friends *f = loop->friends;
    for (int64_t entry = begin; entry < end; entry++) {
        f->dense[entry] = dense_cell_at(f, loop->key, loop->first, entry);
        if (f->dense[entry].n > 0) {
            f->dense[entry].index = atomic_fetch_add(&loop->n_dense, 1);
        }
    }
}

/** Find the dense cells, and allocate their indexes and bounding boxes, which link_dense_cells
 *  fills. Sets f->dense, dense_entries, index, bboxes. */
static kith_status find_dense_cells(kith_ctx *ctx, const uint64_t *key, const uint32_t *first,
                                    struct kith__friends *f)
{
    f->dense_entries = f->n / KITH_DENSE;
    f->dense = kith__work_need(&ctx->work, KITH_FOF_DENSE,
                               (size_t)f->dense_entries * sizeof *f->dense);
    KITH_CHECK(ctx, f->dense, KITH_NO_MEMORY, "out of memory for %lld cells",
               (long long)f->dense_entries);
    struct key_loop loop = {.friends = f, .key = key, .first = first};
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, f->n), f->dense_entries, CLUMP_BLOCK,
                      number_dense_cells, &loop);
    KITH_TRY(kith__proceed(ctx));
    const int64_t n_dense = loop.n_dense;
    assert(n_dense <= f->dense_entries);
    f->index = kith__work_need(&ctx->work, KITH_FOF_INDEX,
                               (size_t)n_dense * (size_t)f->subcells.rows * sizeof *f->index);
    const size_t bbox = 6 *
                        (size_t)f->question->precision; /* size of struct bbox of clump_real.h */
    f->bboxes = kith__work_need(&ctx->work, KITH_FOF_BBOXES, (size_t)n_dense * bbox);
    KITH_CHECK(ctx, f->index && f->bboxes, KITH_NO_MEMORY, "out of memory for %lld dense cells",
               (long long)n_dense);
    return KITH_OK;
}

/** Set the subcells of clumps [begin, end), and the entries of f->start from their first cell to
 *  their last, with those of empty cells before it. No other block has clumps in these cells.
 *  @return the number of particles of the largest clump */
static int64_t tabulate_clumps(const uint64_t *key, const uint32_t *first, struct kith__friends *f,
                               int64_t begin, int64_t end)
{
    const int bits = f->subcells.bits;
    const uint64_t last_subcell = ((uint64_t)1 << bits) - 1;
    int64_t largest = 0;
    for (int64_t c = begin; c < end; c++) {
        const int64_t members = (int64_t)first[c + 1] - first[c];
        largest = members > largest ? members : largest;
        f->subcell[c] = (uint16_t)(key[first[c]] & last_subcell);
    }
    if (!f->start) {
        return largest;
    }
    /* start[cell + 1] is the end of the cell's clumps: of the stores below, that of its last clump
     * comes last. A running maximum then fills the entries of empty cells, and the padding. The
     * block before has set the entries up to that of its last cell + 1: hence + 2. */
    const int64_t from = begin == 0 ? 0 : (int64_t)(key[first[begin - 1]] >> bits) + 2;
    const int64_t to = end == f->n ? f->grid->cells + KITH_START_PADDING
                                   : (int64_t)(key[first[end - 1]] >> bits) + 2;
    uint32_t *start = f->start;
    memset(start + from, 0, (size_t)(to - from) * sizeof *start);
    for (int64_t c = begin; c < end; c++) {
        start[(key[first[c]] >> bits) + 1] = (uint32_t)c + 1;
    }
    uint32_t before = (uint32_t)begin;
    for (int64_t cell = from; cell < to; cell++) {
        before = start[cell] > before ? start[cell] : before;
        start[cell] = before;
    }
    return largest;
}

/** Return the first clump from c on that begins a cell; f->n when there is none. */
static int64_t next_cell(const uint64_t *key, const uint32_t *first, const struct kith__friends *f,
                         int64_t c)
{
    const int bits = f->subcells.bits;
    c = c < f->n ? c : f->n;
    while (c > 0 && c < f->n && key[first[c]] >> bits == key[first[c - 1]] >> bits) {
        c++;
    }
    return c;
}

/** Call tabulate_clumps for one block of CLUMP_BLOCK clumps. Both ends of the block are moved
 *  forward to the next clump that is the first one of a cell. */
static void tabulate_block(void *state, int64_t block, int worker)
{
    (void)worker;
    struct key_loop *loop = state;
    struct kith__friends *f = loop->friends;
    const int64_t begin = next_cell(loop->key, loop->first, f, block * CLUMP_BLOCK);
    const int64_t end = next_cell(loop->key, loop->first, f, (block + 1) * CLUMP_BLOCK);
    if (begin < end) {
        kith__atomic_max64(&loop->largest, tabulate_clumps(loop->key, loop->first, f, begin, end));
    }
}

/** Return the number of blocks of `size` elements that n elements take. */
static int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/** Set what later steps need of the keys: the subcell of each clump, the number of particles of the
 *  largest clump, and the table of each cell's first clump or, without a table, the key of each
 *  clump. */
static void tabulate_all(kith_ctx *ctx, const uint64_t *key, const uint32_t *first,
                         struct kith__friends *f)
{
    struct key_loop loop = {.friends = f, .key = key, .first = first};
    kith__pool_run(ctx->pool, kith__threads_for(ctx, f->n), blocks_of(f->n, CLUMP_BLOCK),
                   tabulate_block, &loop);
    f->largest = loop.largest;
    for (int64_t c = 0; c < f->n && f->key; c++) { /* may be in place: first[c] >= c */
        f->key[c] = key[first[c]];
    }
}

/** Set the pointers of f->subcell, start, key, first and parent. Two buffers are reused:
 *  KITH_GRID_ELEMENTS, where the grid's keys may be, and KITH_GRID_SPARE, which a sort with
 *  subcells does not use:
 *
 *      with a table      elements: first, parent    spare: start, subcell
 *      without a table   elements: key              spare: first, parent, subcell
 *
 *  `first` and `parent` in KITH_GRID_ELEMENTS may only be written once the grid's keys are not
 *  needed any more; `key` may be made of the grid's keys in place, in ascending order. There is
 *  room for as many clumps as particles. */
static kith_status need_clumps(kith_ctx *ctx, struct kith__friends *f)
{
    void *elements = ctx->work.buffer[KITH_GRID_ELEMENTS].data;
    const size_t all = (size_t)f->grid->a.n;
    const size_t table = ((size_t)f->grid->cells + KITH_START_PADDING) * sizeof *f->start;
    const size_t trees = (2 * all + 1) * sizeof *f->first + KITH_ALIGN;
    const size_t before = f->grid->table ? table : trees; /* bytes before the subcells */
    char *spare = kith__work_need(&ctx->work, KITH_GRID_SPARE,
                                  before + (size_t)f->n * sizeof *f->subcell);
    KITH_CHECK(ctx, spare, KITH_NO_MEMORY, "out of memory for %lld clumps", (long long)f->n);
    f->subcell = (void *)(spare + before);
    f->start = f->grid->table ? (void *)spare : NULL;
    f->key = f->grid->table ? NULL : elements;
    f->first = f->grid->table ? elements : (void *)spare;
    f->parent = (_Atomic int32_t *)(f->first + all + 1);
    return KITH_OK;
}

/** Make each node of [begin, end) the root of a tree without other nodes. */
static void make_trees(void *state, int64_t begin, int64_t end)
{
    const struct kith__friends *f = state;
    for (int64_t node = begin; node < end; node++) {
        atomic_init(&f->parent[node], (int32_t)node);
    }
}

/** Copy the first slots of clumps [begin, end). */
static void copy_first(void *state, int64_t begin, int64_t end)
{
    const struct key_loop *loop = state;
    memcpy(loop->friends->first + begin, loop->first + begin,
           (size_t)(end - begin) * sizeof *loop->first);
}

/** List the clumps, find the dense cells, and make every node a tree. The grid is sorted, but its
 *  coordinates are not gathered yet. Overwrites the grid's keys. */
static kith_status list_clumps(kith_ctx *ctx, struct kith__friends *f)
{
    const struct kith__sorted *sorted = &f->grid->a;
    uint32_t *first = sorted->z; /* temporary: copied below, before coordinates are gathered */
    KITH_TRY(find_clumps(ctx, sorted, first, f));
    KITH_TRY(find_dense_cells(ctx, sorted->key, first, f));
    KITH_TRY(need_clumps(ctx, f));
    tabulate_all(ctx, sorted->key, first, f);
    KITH_TRY(kith__proceed(ctx));
    kith__loop(ctx, f->n + 1, copy_first, &(struct key_loop){.friends = f, .first = first});
    kith__loop(ctx, f->by_clump ? f->n : sorted->n, make_trees, f);
    return kith__proceed(ctx);
}

/** Unite the trees of all friends by two passes on all threads (engine/cpu/run.h): first inside
 *  dense cells, then everywhere else. */
static kith_status link_all(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__grid *grid, struct kith__friends *f)
{
    static kith__work_fn *const link_dense_cells[] = {KITH_EACH_ISA(link_dense_cells)};
    static kith__work_fn *const link_cells[] = {KITH_EACH_ISA(link_cells)};
    KITH_TRY(kith__run_prepare(ctx, q, grid, KITH_FORWARD, 0));
    const int64_t dense_blocks = blocks_of(f->dense_entries, KITH_DENSE_BLOCK);
    struct kith__run run = kith__run_of(ctx, dense_blocks);
    const int64_t cells = blocks_of(f->n, KITH_LINK_BLOCK);
    run.watch_total = dense_blocks + cells; /* progress counts the blocks of both passes */
    run.block = link_dense_cells[kith__isa(ctx)];
    run.job = f;
    KITH_TRY(kith__run(&run));
    run.last = cells;
    run.block = link_cells[kith__isa(ctx)];
    run.watch_from = dense_blocks;
    run.watch_to = run.watch_total;
    return kith__run(&run);
}

/** State of the loop that copies velocities to the order of slots. */
struct velocity_loop {
    const int32_t *id; /**< [particles] caller's index of the particle in each slot */
    const char *from;  /**< [particles] velocities by the caller's index */
    char *to;          /**< [particles] velocities by slot */
    size_t size;       /**< size of one velocity [bytes] */
};

/** Copy the velocities of slots [begin, end). */
static void gather_velocity_range(void *state, int64_t begin, int64_t end)
{
    const struct velocity_loop *loop = state;
    for (int64_t s = begin; s < end; s++) {
        memcpy(loop->to + (size_t)s * loop->size, loop->from + (size_t)loop->id[s] * loop->size,
               loop->size);
    }
}

/** Copy velocities to the order of slots. */
static kith_status gather_velocities(kith_ctx *ctx, const struct kith__fof *fof,
                                     struct kith__friends *f)
{
    const struct kith__sorted *a = &f->grid->a;
    const size_t size = 3 * (size_t)f->question->precision;
    char *to = kith__work_need(&ctx->work, KITH_FOF_VELOCITIES, (size_t)a->n * size);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %lld velocities",
               (long long)a->n);
    struct velocity_loop loop = {a->id, fof->velocities, to, size};
    kith__loop(ctx, a->n, gather_velocity_range, &loop);
    KITH_TRY(kith__proceed(ctx));
    f->velocities = to;
    f->velocity_length = fof->velocity_length;
    return KITH_OK;
}

/** kith__fof_backend.find */
static kith_status find_groups(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct kith__grid grid;
    KITH_TRY(kith__groups_need(ctx, q->a.n, out));
    /* the memory of the labels, which are written last, first holds the grid's particle indices */
    KITH_TRY(kith__grid_sort(ctx, q, out->labels, &grid));
    if (q->a.n == 0) {
        return kith__groups_number(ctx, 0, out);
    }
    struct kith__friends f = {
        .question = q, .grid = &grid, .by_clump = !grid.far && !fof->velocities};
    if (!kith__subcells_init(q, grid.axis, grid.near, false, &f.subcells)) {
        /* the box is too skewed, or too thin for the linking length, for subcells */
        return kith__fof_by_pairs(ctx, q, fof, out);
    }
    if (fof->velocities) {
        KITH_TRY(gather_velocities(ctx, fof, &f));
    }
    KITH_TRY(set_ahead(ctx, &f));
    KITH_TRY(list_clumps(ctx, &f));
    kith__grid_gather(ctx, q, &grid);
    KITH_TRY(kith__proceed(ctx));
    KITH_TRY(link_all(ctx, q, &grid, &f));
    return kith__number(ctx, &f, fof, out);
}

const struct kith__fof_backend kith__cpu_fof = {
    .find = find_groups,
};
