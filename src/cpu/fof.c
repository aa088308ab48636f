/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends of friends on CPU cores: sort the particles by part, list the clumps, index crowded
 * cells, link, number the groups.
 */
#include <omp.h>
#include <string.h>

#include "../groups.h"
#include "friends.h"
#include "link.h"
#include "number.h"
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

/** List the clumps: particles of one key. The keys become theirs. */
static kith_status list_clumps(kith_ctx *ctx, const struct kith__sorted *sorted,
                               struct kith__friends *f)
{
    const int64_t n = sorted->n;
    uint64_t *key = sorted->key;
    const int threads = kith__threads_for(ctx, n);
    int64_t *begins = ctx->work.slot[KITH_GRID_BINS].data; /* of each thread's clumps */
    f->n = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const int64_t end = n * (t + 1) / threads;
        int64_t found = 0;
        for (int64_t s = n * t / threads; s < end; s++) {
            found += s == 0 || key[s] != key[s - 1];
        }
        begins[t] = found;
    }
    for (int t = 0; t < threads; t++) {
        const int64_t found = begins[t];
        begins[t] = f->n;
        f->n += found;
    }
    f->first = kith__work_need(&ctx->work, KITH_FOF_FIRST, (size_t)(f->n + 1) * sizeof *f->first);
    KITH_CHECK(ctx, f->first != NULL, KITH_NO_MEMORY, "out of memory for %lld clumps",
               (long long)f->n);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const int64_t end = n * (t + 1) / threads;
        int64_t c = begins[t];
        for (int64_t s = n * t / threads; s < end; s++) {
            if (s == 0 || key[s] != key[s - 1]) {
                f->first[c++] = (uint32_t)s;
            }
        }
    }
    f->first[f->n] = (uint32_t)n;
    for (int64_t c = 0; c < f->n; c++) {
        key[c] = key[f->first[c]];
    }
    f->key = key;
    return KITH_OK;
}

/** Fill the table of each cell's first clump. */
static void fill_table(kith_ctx *ctx, int64_t cells, struct kith__friends *f)
{
#pragma omp parallel for num_threads(kith__threads_for(ctx, f->n)) schedule(static)
    for (int64_t c = 0; c <= f->n; c++) {
        const int64_t from = c == 0 ? 0 : (int64_t)(f->key[c - 1] >> f->parts.bits) + 1;
        const int64_t to = c == f->n ? cells : (int64_t)(f->key[c] >> f->parts.bits);
        for (int64_t cell = from; cell <= to; cell++) {
            f->start[cell] = (uint32_t)c;
        }
    }
}

/** Is clump c the first of its cell, and that cell crowded? */
static bool begins_crowd(const struct kith__friends *f, int64_t c)
{
    const uint64_t cell = f->key[c] >> f->parts.bits;
    return c + KITH_CROWD <= f->n && f->key[c + KITH_CROWD - 1] >> f->parts.bits == cell &&
           (c == 0 || f->key[c - 1] >> f->parts.bits != cell);
}

/** Write the rows of the crowded cell that begins with clump c. */
static void index_cell(const struct kith__friends *f, int64_t begin, struct kith__part_row *rows)
{
    const uint64_t cell = f->key[begin] >> f->parts.bits;
    memset(rows, 0, (size_t)f->parts.rows * sizeof *rows);
    for (int64_t c = begin; c < f->n && f->key[c] >> f->parts.bits == cell; c++) {
        int part[3];
        kith__part_of(f->grid->axis, f->key[c], part);
        struct kith__part_row *row = &rows[part[2] * f->grid->axis[1].parts + part[1]];
        row->first = row->mask ? row->first : (uint16_t)(c - begin);
        row->mask = (uint16_t)(row->mask | 1u << part[0]);
    }
}

static kith_status index_crowds(kith_ctx *ctx, struct kith__friends *f)
{
    const int threads = kith__threads_for(ctx, f->n);
    const size_t crowds = (size_t)(f->n / KITH_CROWD + 1);
    f->crowd = kith__work_need(&ctx->work, KITH_FOF_CROWD, crowds * sizeof *f->crowd);
    int64_t crowded = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : crowded)
    for (int64_t c = 0; c < f->n; c++) {
        crowded += begins_crowd(f, c);
    }
    f->index = kith__work_need(&ctx->work, KITH_FOF_INDEX,
                               (size_t)crowded * (size_t)f->parts.rows * sizeof *f->index);
    KITH_CHECK(ctx, f->crowd && f->index, KITH_NO_MEMORY, "out of memory for %lld crowded cells",
               (long long)crowded);
    _Atomic uint32_t next = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < f->n; c++) {
        if (begins_crowd(f, c)) {
            const uint32_t mine = atomic_fetch_add(&next, 1);
            f->crowd[c / KITH_CROWD] = (struct kith__crowd){.index = mine};
            index_cell(f, c, f->index + (int64_t)mine * f->parts.rows);
        }
    }
    return KITH_OK;
}

static kith_status plant(kith_ctx *ctx, struct kith__friends *f)
{
    const int64_t n = f->by_clump ? f->n : f->grid->a.n;
    f->parent = kith__work_need(&ctx->work, KITH_FOF_PARENT,
                                ((size_t)n + KITH_MOST_PARTS) * sizeof *f->parent);
    KITH_CHECK(ctx, f->parent != NULL, KITH_NO_MEMORY, "out of memory for %lld trees",
               (long long)n);
#pragma omp parallel for num_threads(kith__threads_for(ctx, n)) schedule(static)
    for (int64_t node = 0; node < n; node++) {
        atomic_init(&f->parent[node], (int32_t)node);
    }
    return KITH_OK;
}

static void link_inside(struct kith__run *run, struct kith__sweep *sweep, int64_t block)
{
    const struct kith__cpu *cpu = run->ctx->state;
    (void)sweep;
    cpu->linker->inside(run->job, block);
}

static void link_across(struct kith__run *run, struct kith__sweep *sweep, int64_t block)
{
    const struct kith__cpu *cpu = run->ctx->state;
    (void)sweep;
    cpu->linker->across(run->job, block);
}

/** Unite all that are friends. */
static kith_status link_all(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__grid *grid, struct kith__friends *f)
{
    kith__run_prepare(ctx, q, grid, KITH_FORWARD);
    const int64_t blocks = (f->n + KITH_LINK_BLOCK - 1) / KITH_LINK_BLOCK;
    struct kith__run run = {.ctx = ctx,
                            .last = blocks,
                            .watch_to = blocks,
                            .watch_total = 2 * blocks,
                            .block = link_inside,
                            .job = f};
    KITH_TRY(kith__run(&run));
    run.block = link_across;
    run.watch_from = blocks;
    run.watch_to = 2 * blocks;
    KITH_TRY(kith__run(&run));
    KITH_CHECK(ctx, !atomic_load(&f->no_memory), KITH_NO_MEMORY,
               "out of memory to compare large clumps");
    return KITH_OK;
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
    KITH_TRY(kith__grid_build(ctx, q, &grid));
    if (q->a.n == 0) {
        return kith__groups_number(ctx, 0, out);
    }
    struct kith__friends f = {.question = q,
                              .grid = &grid,
                              .start = grid.a.start,
                              .by_clump = !grid.far && !fof->velocities};
    if (fof->velocities) {
        KITH_TRY(gather_velocities(ctx, fof, &f));
    }
    KITH_TRY(kith__parts_init(ctx, q, grid.axis, grid.near, &f.parts));
    KITH_TRY(list_steps(ctx, &f));
    KITH_TRY(list_clumps(ctx, &grid.a, &f));
    if (f.start) {
        fill_table(ctx, grid.cells, &f);
    }
    KITH_TRY(index_crowds(ctx, &f));
    KITH_TRY(plant(ctx, &f));
    KITH_TRY(link_all(ctx, q, &grid, &f));
    return kith__number(ctx, &f, fof, out);
}
