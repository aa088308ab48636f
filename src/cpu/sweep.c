/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of a sweep.
 */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

/** Lay the tile out anew for `room` candidates, keeping what is there. */
static bool resize(struct kith__tile *tile, int64_t room)
{
    enum { ARRAYS = 8 };
    const size_t bytes = (size_t)room * sizeof(float);
    char *data = room < INT32_MAX ? kith__alloc(ARRAYS * bytes) : NULL;
    if (!data) {
        return false;
    }
    float **const floats[] = {&tile->x, &tile->y, &tile->z, &tile->q};
    int32_t **const ints[] = {&tile->id, &tile->slot, &tile->shift, &tile->rank};
    const size_t used = (size_t)tile->n * sizeof(float);
    for (int k = 0; k < ARRAYS / 2; k++) {
        float *f = (float *)(void *)(data + (size_t)k * bytes);
        int32_t *i = (int32_t *)(void *)(data + (size_t)(k + ARRAYS / 2) * bytes);
        if (used) {
            memcpy(f, *floats[k], used);
            memcpy(i, *ints[k], used);
        }
        *floats[k] = f;
        *ints[k] = i;
    }
    free(tile->memory.data);
    tile->memory = (struct kith__buffer){data, ARRAYS * bytes};
    tile->room = (int)room;
    return true;
}

bool kith__tile_room(struct kith__sweep *sweep, struct kith__tile *tile, int64_t n)
{
    if (n + 2 * KITH_LANES <= tile->room) {
        return true;
    }
    const int64_t room = (n + n / 4 + 1024 + 2 * KITH_LANES) / KITH_LANES * KITH_LANES;
    const bool fits = resize(tile, room);
    sweep->no_memory = sweep->no_memory || !fits;
    return fits;
}

bool kith__hits_room(struct kith__sweep *sweep, int64_t n)
{
    const int64_t needed = sweep->n_hits + n + KITH_LANES;
    if (needed <= sweep->room_hits) {
        return true;
    }
    enum { LEAST = 1 << 13 };
    const int64_t room = (needed > LEAST ? needed + needed / 2 : LEAST) / KITH_LANES * KITH_LANES;
    const size_t arrays = sweep->extras ? 3 : 1;
    int32_t *data = kith__buffer_need(&sweep->buffer, arrays * (size_t)room * sizeof *data);
    sweep->room_hits = data ? room : 0;
    if (!data) {
        sweep->no_memory = true;
        return false;
    }
    sweep->hit_id = data;
    sweep->hit_slot = sweep->extras ? data + room : NULL;
    sweep->hit_shift = sweep->extras ? data + 2 * room : NULL;
    return true;
}

bool kith__rows_room(struct kith__sweep *sweep)
{
    enum { ROWS = 2048 };
    sweep->rows = kith__buffer_need(&sweep->row_memory, ROWS * sizeof *sweep->rows);
    sweep->room_rows = sweep->rows ? ROWS : 0;
    sweep->no_memory = sweep->no_memory || !sweep->rows;
    return sweep->rows != NULL;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void kith__sweep_level(struct kith__sweep *sweeps, int n)
{
    int tile = 0;
    int spare = 0;
    size_t order = 0;
    size_t hits = 0;
    size_t rows = 0;
    for (int t = 0; t < n; t++) {
        tile = sweeps[t].tile.room > tile ? sweeps[t].tile.room : tile;
        spare = sweeps[t].spare.room > spare ? sweeps[t].spare.room : spare;
        order = larger(order, sweeps[t].order.bytes);
        hits = larger(hits, sweeps[t].buffer.bytes);
        rows = larger(rows, sweeps[t].row_memory.bytes);
    }
    if (spare > 0) { /* a sorted tile changes places with the spare one */
        tile = spare = tile > spare ? tile : spare;
    }
    for (int t = 0; t < n; t++) {
        struct kith__sweep *sweep = &sweeps[t];
        sweep->tile.n = 0;
        sweep->spare.n = 0;
        sweep->room_hits = 0; /* its arrays are laid out again when they are next needed */
        (void)(sweep->tile.room < tile && resize(&sweep->tile, tile));
        (void)(sweep->spare.room < spare && resize(&sweep->spare, spare));
        (void)(sweep->order.bytes < order && kith__buffer_need(&sweep->order, order));
        (void)(sweep->buffer.bytes < hits && kith__buffer_need(&sweep->buffer, hits));
        (void)(sweep->row_memory.bytes < rows && kith__buffer_need(&sweep->row_memory, rows));
    }
}

void kith__sweep_free(struct kith__sweep *sweep)
{
    kith__buffer_free(&sweep->tile.memory);
    kith__buffer_free(&sweep->spare.memory);
    kith__buffer_free(&sweep->order);
    kith__buffer_free(&sweep->buffer);
    kith__buffer_free(&sweep->row_memory);
}
