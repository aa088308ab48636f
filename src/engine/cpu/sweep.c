/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The buffers of a thread's working memory: they only grow, and all threads' to the size of the
 * largest after each run.
 */
#include "sweep.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/** Allocate the arrays of a tile for `room` candidates, padding included, and copy its contents.
 *  @return false when there is no memory, or tile->room cannot hold the number; the tile is
 *          unchanged then */
static bool resize(struct kith__tile *tile, int64_t room)
{
    enum { FLOATS = 4, INTS = 4 + KITH_COLUMNS, ARRAYS = FLOATS + INTS };
    const size_t bytes = (size_t)room * sizeof(float);
    assert(tile->n <= room);
    char *data = room < INT32_MAX ? kith__alloc(ARRAYS * bytes) : NULL;
    if (!data) {
        return false;
    }
    float **const floats[FLOATS] = {&tile->x, &tile->y, &tile->z, &tile->q};
    int32_t **ints[INTS] = {&tile->id, &tile->slot, &tile->shift, &tile->rank};
    for (int c = 0; c < KITH_COLUMNS; c++) {
        ints[4 + c] = &tile->column[c];
    }
    const size_t used = (size_t)tile->n * sizeof(float);
    char *at = data;
    for (int k = 0; k < FLOATS; k++, at += bytes) {
        *floats[k] = used ? memcpy(at, *floats[k], used) : (void *)at;
    }
    for (int k = 0; k < INTS; k++, at += bytes) {
        *ints[k] = used ? memcpy(at, *ints[k], used) : (void *)at;
    }
    free(tile->memory.data);
    tile->memory = (struct kith__buffer){data, ARRAYS * bytes};
    tile->room = (int)room;
    return true;
}

bool kith__tile_room(struct kith__sweep *sweep, struct kith__tile *tile, int64_t n)
{
    /* KITH_LANES for the padding, KITH_LANES for the vectors that vf_compress stores at the end */
    if (n + (int64_t)2 * KITH_LANES <= tile->room) {
        return true;
    }
    /* a quarter and 1024 more than needed, so that a tile that grows by small steps is seldom
     * copied; rounded down to whole vectors */
    const int64_t room = (n + n / 4 + 1024 + (int64_t)2 * KITH_LANES) / KITH_LANES * KITH_LANES;
    const bool fits = resize(tile, room);
    if (!fits) {
        sweep->failed = KITH_NO_MEMORY;
    }
    return fits;
}

bool kith__hits_room(struct kith__sweep *sweep, int64_t n)
{
    const int64_t needed = sweep->n_hits + n + KITH_LANES;
    if (needed <= sweep->room_hits) {
        return true;
    }
    enum { LEAST = 1 << 15 }; /* smallest capacity [hits] */
    const int64_t room = needed > LEAST ? needed + needed / 2 : LEAST;
    const size_t bytes = (size_t)room * sizeof(int32_t);
    const size_t used = (size_t)sweep->n_hits * sizeof(int32_t);
    sweep->hit_id = kith__buffer_grow(&sweep->memory[KITH_SWEEP_IDS], used, bytes);
    bool fits = sweep->hit_id != NULL;
    if (fits && sweep->keep_slots) {
        sweep->hit_slot = kith__buffer_grow(&sweep->memory[KITH_SWEEP_SLOTS], used, bytes);
        sweep->hit_shift = kith__buffer_grow(&sweep->memory[KITH_SWEEP_SHIFTS], used, bytes);
        fits = sweep->hit_slot && sweep->hit_shift;
    }
    if (fits && sweep->keep_squares) {
        sweep->hit_r2 = kith__buffer_grow(&sweep->memory[KITH_SWEEP_SQUARES], used, bytes);
        fits = sweep->hit_r2 != NULL;
    }
    sweep->room_hits = fits ? room : 0;
    if (!fits) {
        sweep->failed = KITH_NO_MEMORY;
    }
    return fits;
}

bool kith__rows_room(struct kith__sweep *sweep)
{
    enum { ROWS = 2048 };
    sweep->rows = kith__buffer_need(&sweep->memory[KITH_SWEEP_ROWS], ROWS * sizeof *sweep->rows);
    sweep->room_rows = sweep->rows ? ROWS : 0;
    if (!sweep->rows) {
        sweep->failed = KITH_NO_MEMORY;
    }
    return sweep->rows != NULL;
}

/** Grow one buffer of all threads to the size of the largest. */
static void level_buffer(struct kith__sweep *sweeps, int n, int buffer)
{
    size_t most = 0;
    for (int t = 0; t < n; t++) {
        const size_t bytes = sweeps[t].memory[buffer].bytes;
        most = bytes > most ? bytes : most;
    }
    for (int t = 0; t < n && most > 0; t++) {
        (void)kith__buffer_need(&sweeps[t].memory[buffer], most);
    }
}

void kith__sweep_equalise(struct kith__sweep *sweeps, int n)
{
    int tile = 0;
    int spare = 0;
    for (int t = 0; t < n; t++) {
        tile = sweeps[t].tile.room > tile ? sweeps[t].tile.room : tile;
        spare = sweeps[t].spare.room > spare ? sweeps[t].spare.room : spare;
    }
    if (spare > 0) { /* sorting a tile swaps it with the spare one */
        tile = spare = tile > spare ? tile : spare;
    }
    for (int t = 0; t < n; t++) {
        struct kith__sweep *sweep = &sweeps[t];
        sweep->tile.n = 0;
        sweep->spare.n = 0;
        sweep->room_hits = 0; /* set again when hits are next collected */
        (void)(sweep->tile.room < tile && resize(&sweep->tile, tile));
        (void)(sweep->spare.room < spare && resize(&sweep->spare, spare));
    }
    for (int buffer = 0; buffer < KITH_SWEEP_OWN; buffer++) {
        level_buffer(sweeps, n, buffer);
    }
}

void kith__sweep_free(struct kith__sweep *sweep)
{
    kith__buffer_free(&sweep->tile.memory);
    kith__buffer_free(&sweep->spare.memory);
    for (int buffer = 0; buffer < KITH_SWEEP_BUFFERS; buffer++) {
        kith__buffer_free(&sweep->memory[buffer]);
    }
}
