/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends of friends on CPU cores: sort the particles by part, list the clumps, index crowded
 * cells, link, number the groups.
 */
#include <omp.h>
#include <string.h>

#include "../groups.h"
#include "friends.h"
#include "run.h"

/** List which steps ahead each part needs. */
static kith_status list_steps(kith_ctx *ctx, struct kith__friends *f)
{
    const struct kith__parts *parts = &f->parts;
    const struct kith__axis *axis = f->grid->axis;
    if (!parts->around) {
        return KITH_OK;
    }
    const int64_t keys = (int64_t)1 << parts->bits;
    f->ahead = kith__work_need(&ctx->work, KITH_FOF_AHEAD, (size_t)keys * sizeof *f->ahead);
    KITH_CHECK(ctx, f->ahead != NULL, KITH_NO_MEMORY, "out of memory for the parts of a cell");
    for (int64_t key = 0; key < keys; key++) {
        int part[3];
        kith__part_of(axis, (uint64_t)key, part);
        f->ahead[key] = 0;
        for (int s = 0; s < KITH_STEPS; s++) {
            bool in_reach = true;
            for (int k = 0; k < 3; k++) {
                const int away = parts->step[s].away[k];
                in_reach = in_reach && part[k] < axis[k].parts &&
                           away >= parts->cell_low[k][part[k]] &&
                           away <= parts->cell_high[k][part[k]];
            }
            f->ahead[key] = (uint16_t)(f->ahead[key] | in_reach << s);
        }
    }
    return KITH_OK;
}

/** Find where each clump, the particles of one key, begins, and their number. */
static void find_clumps(kith_ctx *ctx, const struct kith__sorted *sorted, uint32_t *first,
                        struct kith__friends *f)
{
    const int64_t n = sorted->n;
    const uint64_t *key = sorted->key;
    int64_t *ends = ctx->work.slot[KITH_GRID_BINS].data;
    first[0] = 0;
#pragma omp parallel num_threads(kith__threads_for(ctx, n))
    {
        const struct kith__share own = kith__my_share(n);
        const int64_t next = own.begin > 0 ? own.begin : 1;
        int64_t found = 0;
        for (int64_t s = next; s < own.end; s++) {
            found += key[s] != key[s - 1];
        }
        int64_t c = kith__my_place(found, ends) + 1;
        const int64_t last = c + found;
        /* without a branch: written where it is not the first, too, and then again */
        for (int64_t s = next; c < last; s++) {
            first[c] = (uint32_t)s;
            c += key[s] != key[s - 1];
        }
        if (own.me == own.team - 1) {
            f->n = last;
        }
    }
    first[f->n] = (uint32_t)n;
}

/** The crowded cell whose first clump c is at this place: c / KITH_CROWD is. */
static struct kith__crowd crowd_at(const struct kith__friends *f, const uint64_t *key,
                                   const uint32_t *first, int64_t place)
{
    const int bits = f->parts.bits;
    /* its first clump may be at place * KITH_CROWD or behind; the next such place is inside it */
    const int64_t inside = (place + 1) * KITH_CROWD - 1;
    struct kith__crowd crowd = {.n = 0};
    const uint64_t cell = key[first[inside]] >> bits;
    int64_t begin = inside;
    while (begin > 0 && begin > inside - KITH_CROWD && key[first[begin - 1]] >> bits == cell) {
        begin--;
    }
    if (begin == inside - KITH_CROWD) {
        return crowd; /* it belongs to an earlier place */
    }
    int64_t end = inside + 1;
    while (end < f->n && key[first[end]] >> bits == cell) {
        end++;
    }
    if (end - begin >= KITH_CROWD) {
        crowd.begin = (uint32_t)begin;
        crowd.n = (uint16_t)(end - begin);
    }
    return crowd;
}

/** Number the crowded cells. @return how many there are. */
static int64_t number_crowds(kith_ctx *ctx, const uint64_t *key, const uint32_t *first,
                             struct kith__friends *f)
{
    _Atomic uint32_t crowded = 0;
#pragma omp parallel for num_threads(kith__threads_for(ctx, f->n)) schedule(static)
    for (int64_t place = 0; place < f->crowds; place++) {
        f->crowd[place] = crowd_at(f, key, first, place);
        if (f->crowd[place].n > 0) {
            f->crowd[place].index = atomic_fetch_add(&crowded, 1);
        }
    }
    return crowded;
}

/** Find the crowded cells, and make room for their indices. */
static kith_status find_crowds(kith_ctx *ctx, const uint64_t *key, const uint32_t *first,
                               struct kith__friends *f)
{
    f->crowds = f->n / KITH_CROWD;
    f->crowd = kith__work_need(&ctx->work, KITH_FOF_CROWD, (size_t)f->crowds * sizeof *f->crowd);
    KITH_CHECK(ctx, f->crowd, KITH_NO_MEMORY, "out of memory for %lld cells", (long long)f->crowds);
    const int64_t crowded = number_crowds(ctx, key, first, f);
    f->index = kith__work_need(&ctx->work, KITH_FOF_INDEX,
                               (size_t)crowded * (size_t)f->parts.rows * sizeof *f->index);
    const size_t block = 6 * (size_t)f->question->precision;
    f->blocks = kith__work_need(&ctx->work, KITH_FOF_BLOCKS, (size_t)crowded * block);
    KITH_CHECK(ctx, f->index && f->blocks, KITH_NO_MEMORY, "out of memory for %lld crowded cells",
               (long long)crowded);
    return KITH_OK;
}

/** Clumps that are looked at in one go, while what is written of the table is in the cache. */
enum { CLUMP_BLOCK = 1024 };

/** Take what is wanted of the keys of clumps [begin, end), which share no cell with others: the
 *  part of each, and the entries of the table that follow from them. @return the most particles of
 *  one. */
static int64_t use_block(const uint64_t *key, const uint32_t *first, struct kith__friends *f,
                         int64_t begin, int64_t end)
{
    const int bits = f->parts.bits;
    const uint64_t last_part = ((uint64_t)1 << bits) - 1;
    int64_t largest = 0;
    for (int64_t c = begin; c < end; c++) {
        const int64_t members = (int64_t)first[c + 1] - first[c];
        largest = members > largest ? members : largest;
        f->part[c] = (uint16_t)(key[first[c]] & last_part);
    }
    if (!f->start) {
        return largest;
    }
    /* each clump marks the entry behind its cell's; what lies between is that of before */
    const int64_t from = begin == 0 ? 0 : (int64_t)(key[first[begin - 1]] >> bits) + 2;
    const int64_t to = end == f->n ? f->grid->cells + KITH_START_MORE
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

/** The first clump from c on that is the first of its cell. */
static int64_t next_cell(const uint64_t *key, const uint32_t *first, const struct kith__friends *f,
                         int64_t c)
{
    const int bits = f->parts.bits;
    c = c < f->n ? c : f->n;
    while (c > 0 && c < f->n && key[first[c]] >> bits == key[first[c - 1]] >> bits) {
        c++;
    }
    return c;
}

/** Take what is wanted of the keys: the part of each clump, and the table of each cell's first
 *  clump or, without one, the clumps' own keys. */
static void use_keys(kith_ctx *ctx, const uint64_t *key, const uint32_t *first,
                     struct kith__friends *f)
{
    int64_t largest = 0;
#pragma omp parallel for num_threads(kith__threads_for(ctx, f->n)) schedule(static) \
    reduction(max \
              : largest)
    for (int64_t c = 0; c < f->n; c += CLUMP_BLOCK) {
        const int64_t begin = next_cell(key, first, f, c);
        const int64_t end = next_cell(key, first, f, c + CLUMP_BLOCK);
        const int64_t most = begin < end ? use_block(key, first, f, begin, end) : 0;
        largest = most > largest ? most : largest;
    }
    f->largest = largest;
    for (int64_t c = 0; c < f->n && f->key; c++) {
        f->key[c] = key[first[c]];
    }
}

/** Make room for what follows from the keys. That of the elements is used again: with a table, for
 *  first particles and trees, once no keys are needed any more; else for the clumps' own keys. The
 *  table, or first particles and trees, go where the parts are. */
static kith_status need_clumps(kith_ctx *ctx, struct kith__friends *f)
{
    void *elements = ctx->work.slot[KITH_GRID_ELEMENTS].data;
    const size_t all = (size_t)f->grid->a.n;
    const size_t table = ((size_t)f->grid->cells + KITH_START_MORE) * sizeof *f->start;
    const size_t trees = (2 * all + 1) * sizeof *f->first + KITH_ALIGN;
    const size_t below = f->grid->table ? table : trees;
    char *spare = kith__work_need(&ctx->work, KITH_GRID_SPARE,
                                  below + (size_t)f->n * sizeof *f->part);
    KITH_CHECK(ctx, spare, KITH_NO_MEMORY, "out of memory for %lld clumps", (long long)f->n);
    f->part = (void *)(spare + below);
    f->start = f->grid->table ? (void *)spare : NULL;
    f->key = f->grid->table ? NULL : elements;
    f->first = f->grid->table ? elements : (void *)spare;
    f->parent = (_Atomic int32_t *)(f->first + all + 1);
    return KITH_OK;
}

/** List the clumps, and make every node a tree. */
static kith_status list_clumps(kith_ctx *ctx, struct kith__friends *f)
{
    const struct kith__sorted *sorted = &f->grid->a;
    uint32_t *first = sorted->z; /* until no keys are needed any more */
    find_clumps(ctx, sorted, first, f);
    KITH_TRY(find_crowds(ctx, sorted->key, first, f));
    KITH_TRY(need_clumps(ctx, f));
    use_keys(ctx, sorted->key, first, f);
    memcpy(f->first, first, ((size_t)f->n + 1) * sizeof *first);
    const int64_t nodes = f->by_clump ? f->n : sorted->n;
#pragma omp parallel for num_threads(kith__threads_for(ctx, nodes)) schedule(static)
    for (int64_t node = 0; node < nodes; node++) {
        atomic_init(&f->parent[node], (int32_t)node);
    }
    return KITH_OK;
}

static int64_t blocks_of(int64_t n, int64_t size)
{
    return (n + size - 1) / size;
}

/** Unite all that are friends: first inside crowded cells, then everywhere else. */
static kith_status link_all(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__grid *grid, struct kith__friends *f)
{
    kith__run_prepare(ctx, q, grid, KITH_FORWARD);
    const int64_t crowds = blocks_of(f->crowds, KITH_CROWD_BLOCK);
    struct kith__run run = kith__run_of(ctx, crowds);
    const int64_t cells = blocks_of(f->n, KITH_LINK_BLOCK);
    run.watch_total = crowds + cells;
    run.block = kith__kernel_of(ctx)->link_crowds;
    run.job = f;
    KITH_TRY(kith__run(&run));
    run.last = cells;
    run.block = kith__kernel_of(ctx)->link_cells;
    run.watch_from = crowds;
    run.watch_to = run.watch_total;
    return kith__run(&run);
}

/** Bring velocities into cell order. */
static kith_status gather_velocities(kith_ctx *ctx, const struct kith__fof *fof,
                                     struct kith__friends *f)
{
    const struct kith__sorted *a = &f->grid->a;
    const size_t size = 3 * (size_t)f->question->precision;
    char *to = kith__work_need(&ctx->work, KITH_FOF_VELOCITIES, (size_t)a->n * size);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %lld velocities",
               (long long)a->n);
    const char *from = fof->velocities;
#pragma omp parallel for num_threads(kith__threads_for(ctx, a->n)) schedule(static)
    for (int64_t s = 0; s < a->n; s++) {
        memcpy(to + (size_t)s * size, from + (size_t)a->id[s] * size, size);
    }
    f->velocities = to;
    f->velocity_length = fof->velocity_length;
    return KITH_OK;
}

kith_status kith__cpu_fof_find(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct kith__grid grid;
    KITH_TRY(kith__groups_need(ctx, q->a.n, out));
    KITH_TRY(kith__grid_sort(ctx, q, out->labels, &grid)); /* labels come last */
    if (q->a.n == 0) {
        return kith__groups_number(ctx, 0, out);
    }
    struct kith__friends f = {
        .question = q, .grid = &grid, .by_clump = !grid.far && !fof->velocities};
    if (fof->velocities) {
        KITH_TRY(gather_velocities(ctx, fof, &f));
    }
    KITH_TRY(kith__parts_init(ctx, q, grid.axis, grid.near, &f.parts));
    KITH_TRY(list_steps(ctx, &f));
    KITH_TRY(list_clumps(ctx, &f));
    kith__grid_gather(ctx, q, &grid);
    KITH_TRY(link_all(ctx, q, &grid, &f));
    return kith__number(ctx, &f, fof, out);
}
