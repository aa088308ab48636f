/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of particles on CPU cores: find the extents of the coordinates, compute the key of each
 * particle (order/order.h), sort. The sort is a stable radix sort of 64-bit elements, which hold
 * the key in their high bits and the index of the particle in their low bits. Where both together
 * exceed 64 bits, elements are sorted by the low bits of the keys first, then by the high bits; as
 * the sort is stable, they are then sorted by the whole key. O(n), parallel.
 */
#include "order/order.h"

#include <pthread.h>

#include "engine/bounds.h"
#include "engine/cpu/sort.h"

/** Numbers of buffers of the context's scratch memory. */
enum { ELEMENTS = KITH_WORK_OF(order), SPARE, KEYS, BINS };

/** Shared state of the parallel loops over the particles. */
struct order_loop {
    const struct kith__question *question; /**< points and box */
    struct kith__extents extents;          /**< extents of the particles read so far */
    pthread_mutex_t lock;                  /**< guards the extents */
    struct kith__order_cells cells;        /**< the cells that particles are sorted by */
    int low;                               /**< bits of an index, at the low end of an element */
    int shift;          /**< low bits of a key by which elements have been sorted already */
    uint64_t *elements; /**< [n] key >> shift, as many bits as fit, above the index */
    uint64_t *keys;     /**< [n] key of each particle; NULL: key and index together fit 64 bits */
    int32_t *order;     /**< [n] the result: index of the particle at each place */
};

/** Read the position of particle p, wrapped into the box [length]. It can be wrapped:
 *  kith__bounds_find has refused particles that are too far outside. */
static void position_of(const struct kith__question *q, int64_t p, double r[3])
{
    int32_t image[3];
    (void)kith__load(q, &q->a, p, r, image);
}

/** Extend loop->extents by particles [begin, end): a kith__range_fn, like the other loops here. */
static void find_extents(void *state, int64_t begin, int64_t end)
{
    struct order_loop *loop = state;
    struct kith__extents mine = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int64_t p = begin; p < end; p++) {
        double r[3];
        position_of(loop->question, p, r);
        for (int k = 0; k < 3; k++) {
            mine.lo[k] = r[k] < mine.lo[k] ? r[k] : mine.lo[k];
            mine.hi[k] = r[k] > mine.hi[k] ? r[k] : mine.hi[k];
        }
    }
    pthread_mutex_lock(&loop->lock);
    for (int k = 0; k < 3; k++) {
        loop->extents.lo[k] = fmin(loop->extents.lo[k], mine.lo[k]);
        loop->extents.hi[k] = fmax(loop->extents.hi[k], mine.hi[k]);
    }
    pthread_mutex_unlock(&loop->lock);
}

/** Make the elements to sort. Where key and index exceed 64 bits, the shift drops the high bits of
 *  the keys, which are kept in loop->keys. */
static void make_elements(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    for (int64_t p = begin; p < end; p++) {
        double r[3];
        position_of(loop->question, p, r);
        const uint64_t key = kith__order_key(&loop->cells, r);
        loop->elements[p] = key << loop->low | (uint64_t)p;
        if (loop->keys) {
            loop->keys[p] = key;
        }
    }
}

/** Replace the low bits of the keys in sorted elements by the high bits. */
static void set_upper_keys(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    const uint64_t index = ((uint64_t)1 << loop->low) - 1;
    for (int64_t s = begin; s < end; s++) {
        const uint64_t p = loop->elements[s] & index;
        loop->elements[s] = (loop->keys[p] >> loop->shift) << loop->low | p;
    }
}

/** Write the indices of the sorted elements to the result. */
static void write_order(void *state, int64_t begin, int64_t end)
{
    const struct order_loop *loop = state;
    const uint64_t index = ((uint64_t)1 << loop->low) - 1;
    for (int64_t s = begin; s < end; s++) {
        loop->order[s] = (int32_t)(loop->elements[s] & index);
    }
}

/** Make the elements, and sort them by key: by the low bits of the keys first where key and index
 *  together exceed 64 bits.
 *  @param spare  [n] second array of the sort
 *  @param bins   histograms of the sort, KITH_SORT_BINS for each thread */
static kith_status sort(kith_ctx *ctx, struct order_loop *loop, int64_t n, uint64_t *spare,
                        int64_t *bins)
{
    const int bits = loop->cells.bits;
    const int first = loop->keys ? 64 - loop->low : bits;
    uint64_t *const room[2] = {loop->elements, spare};
    kith__loop(ctx, n, make_elements, loop);
    loop->elements = kith__sort(ctx, room[0], room[1], n, loop->low, loop->low + first, bins);
    KITH_TRY(kith__proceed(ctx));
    if (loop->keys) {
        loop->shift = first;
        kith__loop(ctx, n, set_upper_keys, loop);
        loop->elements = kith__sort(ctx, loop->elements, room[loop->elements == room[0]], n,
                                    loop->low, loop->low + bits - first, bins);
    }
    return kith__proceed(ctx);
}

/** kith__order_backend.find */
static kith_status find(kith_ctx *ctx, const struct kith__question *q, double cell, int32_t *order,
                        kith_memory where)
{
    (void)where; /* the host's: there is no other */
    const int64_t n = q->a.n;
    struct kith__bounds bounds; /* unused, as is `inside`: the call checks the coordinates */
    bool inside;
    KITH_TRY(kith__bounds_find(ctx, q, &bounds, &inside));
    struct order_loop loop = {
        .question = q,
        .extents = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .low = kith__bit_length((uint64_t)n),
        .order = order};
    kith__loop(ctx, n, find_extents, &loop);
    KITH_TRY(kith__proceed(ctx));
    loop.cells = kith__order_cells_of(q, &loop.extents, cell);
    const bool is_long = loop.cells.bits + loop.low > 64;
    const size_t bytes = (size_t)n * sizeof(uint64_t);
    loop.elements = kith__work_need(&ctx->work, ELEMENTS, bytes);
    uint64_t *spare = kith__work_need(&ctx->work, SPARE, bytes);
    loop.keys = is_long ? kith__work_need(&ctx->work, KEYS, bytes) : NULL;
    int64_t *bins = kith__work_need(&ctx->work, BINS,
                                    (size_t)ctx->threads * KITH_SORT_BINS * sizeof *bins);
    KITH_CHECK(ctx, loop.elements && spare && bins && (loop.keys || !is_long), KITH_NO_MEMORY,
               "out of memory for sorting %lld particles", (long long)n);
    KITH_TRY(sort(ctx, &loop, n, spare, bins));
    kith__loop(ctx, n, write_order, &loop);
    return kith__proceed(ctx);
}

const struct kith__order_backend kith__cpu_order = {.find = find};
