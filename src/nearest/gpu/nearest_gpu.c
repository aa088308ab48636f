/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nearest neighbours on a GPU, host side: sort the particles along a Hilbert curve, build the tree,
 * search. All kernels are queued before the host waits for them; then it waits for the copy of the
 * state, and for the copies of the result where that is in host memory.
 */
#include "nearest_gpu.h"

#include <string.h>

#include "engine/gpu/search.h"
#include "pairs/gpu/rules_gpu.h"

/* Numbers of buffers of scratch memory on the device. COUNTS to SHIFTS are consecutive. */
enum {
    STATE = KITH_WORK_OF(nearest),
    POINTS,
    TREE,
    NODES,
    RIM,
    HARD,
    REST,
    COUNTS,
    J,
    DISTANCES,
    VECTORS,
    SHIFTS
};

/** State of one call, host side. */
struct task {
    struct kith__gpu_search s;    /**< question with its points on the device, and the temporary
                                       memory of the sort; there is no grid */
    struct kith__gpu_nearest all; /**< arguments of the kernels */
    uint64_t *key[2];             /**< device memory: keys, and the second buffer of the sort */
    int32_t *id[2];               /**< device memory: indices of particles, and the second buffer of
                                       the sort */
};

/** Return the size of a record of engine/gpu/record.cuh: three coordinates, and an integer of the
 *  size of one [bytes]. */
static size_t record_bytes(const struct kith__question *q)
{
    return 4 * (size_t)q->precision;
}

/** Begin a tree of n particles: set the number and the first node of each level. */
static void count_nodes(struct kith__gpu_tree *tree, int64_t n)
{
    *tree = (struct kith__gpu_tree){.n = n};
    int64_t nodes = (n + KITH_GPU_LEAF - 1) / KITH_GPU_LEAF;
    for (bool more = true; more;) {
        tree->count[tree->levels] = nodes;
        tree->first[tree->levels] = tree->nodes;
        tree->nodes += nodes;
        tree->levels++;
        more = nodes > KITH_GPU_FANOUT;
        nodes = (nodes + KITH_GPU_FANOUT - 1) / KITH_GPU_FANOUT;
    }
}

/** Return the bits of a sort key along each axis: enough for cells with one particle of the larger
 *  set each, and for regions 2^24 times denser. Fewer bits are sorted faster. */
static int key_bits(const struct kith__question *q)
{
    const int most = 21, denser = 8; /* keys of three axes with 21 bits each fit 64 bits */
    const int64_t n = q->a.n > q->b.n ? q->a.n : q->b.n;
    const int bits = (kith__bit_length((uint64_t)n) + 2) / 3 + denser;
    return bits < most ? bits : most;
}

/** Allocate the tree, the records of the points, the lists of groups, and the state, which is
 *  zeroed and whose stop flag becomes that of the context. */
static kith_status need_memory(struct task *t)
{
    kith_ctx *ctx = t->s.ctx;
    struct kith__gpu *gpu = t->s.gpu;
    struct kith__gpu_nearest *all = &t->all;
    struct kith__gpu_tree *tree = &all->tree;
    const struct kith__question *q = &all->question;
    count_nodes(tree, q->b.n);
    const size_t nodes = (size_t)tree->nodes;
    all->state = kith__gpu_need(gpu, STATE, sizeof *all->state);
    tree->records = kith__gpu_need(gpu, TREE,
                                   (size_t)tree->count[0] * KITH_GPU_LEAF * record_bytes(q));
    tree->bound = kith__gpu_need(gpu, NODES, nodes * (7 * sizeof(float) + sizeof(int32_t)));
    all->records = q->cross ? kith__gpu_need(gpu, POINTS, (size_t)q->a.n * record_bytes(q))
                            : tree->records;
    const size_t groups = (size_t)q->a.n / KITH_GPU_FANOUT + 1;
    all->rim = kith__gpu_need(gpu, RIM, groups * sizeof *all->rim);
    all->hard = kith__gpu_need(gpu, HARD, groups * sizeof *all->hard);
    all->rest = kith__gpu_need(gpu, REST, groups * sizeof *all->rest);
    KITH_CHECK(ctx,
               all->state && tree->records && tree->bound && all->records && all->rim &&
                   all->hard && all->rest,
               KITH_NO_MEMORY, "out of device memory for a tree of %lld particles",
               (long long)q->b.n);
    tree->radius = tree->bound + 6 * nodes;
    tree->least_id = (int32_t *)(void *)(tree->bound + 7 * nodes);
    gpu->stop = &all->state->stop;
    KITH_GPU_TRY(ctx, "preparing a tree",
                 gpuMemsetAsync(all->state, 0, sizeof *all->state, gpu->stream));
    return KITH_OK;
}

/** Queue the sort of the n particles of a set along the Hilbert curve: sets t->id[0]. */
static kith_status sort_set(struct task *t, int set, int64_t n)
{
    kith_ctx *ctx = t->s.ctx;
    KITH_GPU_TRY(ctx, "making keys",
                 kith__gpu_nearest_keys(&t->all, set, t->key[0], t->id[0], t->s.gpu->stream));
    KITH_GPU_TRY(ctx, "sorting",
                 kith__gpu_sort_pairs(t->s.temporary, &t->s.temporary_bytes, t->key, t->id, n,
                                      3 * t->all.key_bits, t->s.gpu->stream));
    return KITH_OK;
}

/** Queue the bounds, the unit of length, the tree of the candidates, and when cross the records of
 *  the points. */
static kith_status build_tree(struct task *t)
{
    kith_ctx *ctx = t->s.ctx;
    gpuStream_t stream = t->s.gpu->stream;
    const struct kith__question *q = &t->all.question;
    if (q->a.n > 0) {
        KITH_GPU_TRY(ctx, "finding bounds", kith__gpu_nearest_bounds(&t->all, 0, stream));
    }
    if (q->cross && q->b.n > 0) {
        KITH_GPU_TRY(ctx, "finding bounds", kith__gpu_nearest_bounds(&t->all, 1, stream));
    }
    KITH_GPU_TRY(ctx, "finding bounds", kith__gpu_nearest_unit(&t->all, stream));
    if (q->cross && q->a.n > 0) {
        KITH_TRY(sort_set(t, 0, q->a.n));
        KITH_GPU_TRY(ctx, "sorting", kith__gpu_nearest_points(&t->all, t->id[0], stream));
    }
    if (q->b.n > 0) {
        KITH_TRY(sort_set(t, q->cross, q->b.n));
        KITH_GPU_TRY(ctx, "building a tree", kith__gpu_nearest_tree(&t->all, t->id[0], stream));
    }
    return KITH_OK;
}

kith_status kith__gpu_nearest_rows(kith_ctx *ctx, int64_t rows, kith_precision precision,
                                   const kith_nearest *out, kith_nearest *there,
                                   struct kith__gpu_copy *copies)
{
    const size_t n = (size_t)rows * (size_t)out->k;
    const size_t real = (size_t)precision;
    *there = *out;
    if (out->memory == KITH_DEVICE) {
        return KITH_OK;
    }
    const struct {
        void *host;
        size_t bytes;
    } array[KITH_GPU_COPIES] = {
        {out->counts, (size_t)rows * sizeof *out->counts},
        {out->j, n * sizeof *out->j},
        {out->distances, n * real},
        {out->vectors, 3 * n * real},
        {out->shifts, 3 * n * sizeof *out->shifts},
    };
    void *at[KITH_GPU_COPIES] = {NULL};
    bool ok = true;
    for (int a = 0; a < KITH_GPU_COPIES; a++) {
        if (array[a].host) {
            at[a] = kith__gpu_need(ctx->state, COUNTS + a, array[a].bytes);
            ok = ok && at[a];
            copies[a] = (struct kith__gpu_copy){array[a].host, at[a], array[a].bytes};
        }
    }
    KITH_CHECK(ctx, ok, KITH_NO_MEMORY,
               "out of device memory for %lld neighbours of each of "
               "%lld particles",
               (long long)out->k, (long long)rows);
    there->counts = at[COUNTS - COUNTS];
    there->j = at[J - COUNTS];
    there->distances = at[DISTANCES - COUNTS];
    there->vectors = at[VECTORS - COUNTS];
    there->shifts = at[SHIFTS - COUNTS];
    return KITH_OK;
}

/** Copy the state to the host, and test it.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; KITH_LIMIT when
 *          neighbours may be too many boxes away */
static kith_status check_state(struct task *t)
{
    kith_ctx *ctx = t->s.ctx;
    struct kith__gpu_nearest_state state;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&state, (const char *)t->all.state, sizeof state}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    for (int set = 0; set < 2; set++) {
        const struct kith__gpu_extent *e = &state.extent[set];
        if (e->bad || e->far) {
            return kith__refuse(ctx, &t->all.question, set ? "against" : "points",
                                e->bad ? KITH_NOT_FINITE : KITH_LIMIT,
                                INT64_MAX - (int64_t)(e->bad ? e->bad : e->far));
        }
    }
    return state.status == KITH_OK ? KITH_OK : kith__nearest_too_far(ctx, t->all.out.k);
}

/** Copy the radii to the device, where they are in host memory.
 *  @param rules  NULL: there are none */
static kith_status bring_radii(struct task *t, const struct kith__rules *rules)
{
    const struct kith__list list = {.rules = rules};
    struct kith__gpu_ruled ruled;
    KITH_TRY(kith__gpu_bring_rules(t->s.ctx, &t->all.question, &list, false, &ruled));
    t->all.has_radii = rules != NULL;
    if (rules) {
        t->all.rules = ruled.rules;
    }
    return KITH_OK;
}

/** kith__nearest_backend.find */
static kith_status find(kith_ctx *ctx, const struct kith__question *question,
                        const struct kith__rules *rules, const kith_nearest *out)
{
    struct task t;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{NULL, NULL, 0}};
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_search_room(ctx, question, &t.s, t.key, t.id));
    t.all = (struct kith__gpu_nearest){.question = t.s.sweep.grid.question};
    if (question->b.n > 0) {
        kith__find_image_planes(question, &t.all.planes);
    } else {
        /* Without candidates there are none in images either: the planes stay zero, and with a sum
         * of 0 kernels search no images, for which they would need bounds of the candidates. */
        t.all.question.period_sum = 0;
    }
    t.all.key_bits = key_bits(question);
    KITH_TRY(need_memory(&t));
    KITH_TRY(bring_radii(&t, rules));
    KITH_TRY(
        kith__gpu_nearest_rows(ctx, question->a.n, question->precision, out, &t.all.out, copies));
    KITH_TRY(build_tree(&t));
    if (question->a.n > 0 && out->k <= KITH_GPU_FILTER_MOST && !rules) {
        KITH_GPU_TRY(ctx, "finding neighbours", kith__gpu_nearest_filter(&t.all, t.s.gpu->stream));
    }
    if (question->a.n > 0) {
        KITH_GPU_TRY(ctx, "finding neighbours", kith__gpu_nearest_search(&t.all, t.s.gpu->stream));
    }
    KITH_TRY(kith__gpu_wait_all(ctx, "finding neighbours"));
    KITH_TRY(kith__proceed(ctx));
    KITH_TRY(check_state(&t));
    return kith__gpu_download(ctx, copies);
}

const struct kith__nearest_backend kith__cuda_nearest = {
    .find = find, .find_together = kith__gpu_nearest_find_together};
