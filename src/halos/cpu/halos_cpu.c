/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halo properties on CPU cores: check all particles, radix sort the members by group, and sum over
 * each group (halo_sums.h). All threads together measure a large group; other groups are measured
 * by one thread each. O(n). Sorting uses the scratch memory of the grid, which is not needed here.
 */
#include <assert.h>

#include "core/atomics.h"
#include "halos/halo.h"
#include "halos/halo_sums.h"
#include "engine/cpu/sort.h"
#include "engine/cpu/cpu_state.h"

/* BLOCK: members in one unit of work, KITH_HALO_PIECE pieces. LARGE: a group of more members is
 * shared by all threads. */
enum { BLOCK = KITH_HALO_PIECE * KITH_HALO_PIECE, LARGE = 8 * BLOCK };

enum { LABEL = 32 }; /* lowest bit of the label in an element */

/** Members of groups, sorted by group. */
struct sorted {
    uint64_t *elements; /**< [n] label << LABEL | particle, before sorting */
    int32_t *order;     /**< [n] particles by group, ascending in each group; in the memory of the
                             array of the sort that does not hold its result */
    int64_t *begin;     /**< [groups + 1] first entry of each group in `order`, then n */
    int64_t n;          /**< members of all groups */
};

/** State of the loop that checks all particles. */
struct check_loop {
    const struct kith__members *members; /**< the input */
    _Atomic int64_t first_fault; /**< smallest p * KITH_FAULTS + fault so far; else KITH_NO_FAULT */
    _Atomic int64_t in_groups;   /**< particles that are in a group so far */
};

/** Check particles [begin, end), and count those in groups. */
static void check_range(void *state, int64_t begin, int64_t end)
{
    struct check_loop *loop = state;
    const struct kith__members *members = loop->members;
    int64_t count = 0;
    for (int64_t p = begin; p < end; p++) {
        const int fault = kith__particle_fault(members, members->points.precision, p);
        if (fault < KITH_FAULTS) {
            kith__atomic_min64(&loop->first_fault, p * KITH_FAULTS + fault);
        }
        count += members->labels[p] > 0;
    }
    atomic_fetch_add(&loop->in_groups, count);
}

/** Numbers of the buffers of the context's scratch memory: sorted.begin, and the sums over the
 *  blocks of a large group. */
enum { BEGIN = KITH_WORK_OF(halos), BLOCKS };

/** Allocate out->elements and begin, and scratch memory of the sort (engine/cpu/sort.h).
 *  @param[out] spare  [out->n] second array of the sort
 *  @param[out] bins   [ctx->threads][KITH_SORT_BINS] histograms of the sort */
static kith_status need_sorted(kith_ctx *ctx, const struct kith__members *members,
                               struct sorted *out, uint64_t **spare, int64_t **bins)
{
    const size_t bytes = (size_t)out->n * sizeof **spare;
    const size_t bin_bytes = (size_t)ctx->threads * KITH_SORT_BINS * sizeof **bins;
    const size_t begin_bytes = (size_t)(members->groups + 1) * sizeof *out->begin;
    out->elements = kith__work_need(&ctx->work, KITH_GRID_ELEMENTS, bytes);
    *spare = kith__work_need(&ctx->work, KITH_GRID_XYZ, bytes);
    *bins = kith__work_need(&ctx->work, KITH_GRID_BINS, bin_bytes);
    out->begin = kith__work_need(&ctx->work, BEGIN, begin_bytes);
    KITH_CHECK(ctx, out->elements && *spare && *bins && out->begin, KITH_NO_MEMORY,
               "out of memory for %lld members of %lld groups", (long long)out->n,
               (long long)members->groups);
    return KITH_OK;
}

/** State of the list of the particles in groups. */
struct member_list {
    const int32_t *labels; /**< [n] group of each particle; 0: none */
    uint64_t *elements;    /**< label << LABEL | particle, for each member */
};

/** Count the members among particles [begin, end). */
static int64_t count_members(void *state, int64_t begin, int64_t end)
{
    const struct member_list *members = state;
    int64_t n = 0;
    for (int64_t p = begin; p < end; p++) {
        n += members->labels[p] > 0;
    }
    return n;
}

/** Write the members from particle `begin` on to elements [at, stop). */
static void write_members(void *state, int64_t begin, int64_t at, int64_t stop)
{
    const struct member_list *members = state;
    for (int64_t p = begin; at < stop; p++) {
        if (members->labels[p] > 0) {
            members->elements[at++] = (uint64_t)members->labels[p] << LABEL | (uint64_t)p;
        }
    }
}

/** State of the loop that finds the first member of each group, and copies the particles. */
struct begin_loop {
    const uint64_t *sorted; /**< label << LABEL | particle, ascending */
    int64_t *begin;         /**< [groups] first element of each group; not written where a group
                                 has none */
    int32_t *order;         /**< particle of each element */
};

/** Find the groups that begin in elements [begin, end), and copy the particles. */
static void find_begins(void *state, int64_t begin, int64_t end)
{
    const struct begin_loop *loop = state;
    for (int64_t at = begin; at < end; at++) {
        const int64_t g = (int64_t)(loop->sorted[at] >> LABEL) - 1;
        if (at == 0 || (int64_t)(loop->sorted[at - 1] >> LABEL) - 1 != g) {
            loop->begin[g] = at;
        }
        loop->order[at] = (int32_t)(uint32_t)loop->sorted[at];
    }
}

/** Sort the members by group; stable, so that those of a group ascend by index. Sets order and
 *  begin. out->n must be set.
 *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or KITH_INVALID for a group without members */
static kith_status sort_members(kith_ctx *ctx, const struct kith__members *members,
                                struct sorted *out)
{
    uint64_t *spare;
    int64_t *bins;
    int bits = 0;
    KITH_TRY(need_sorted(ctx, members, out, &spare, &bins));
    while (members->groups >> bits) {
        bits++;
    }
    struct member_list member_list = {members->labels, out->elements};
    struct kith__listing list = {.n = members->points.n,
                                 .ranges = kith__threads_for(ctx, members->points.n),
                                 .first = bins,
                                 .state = &member_list,
                                 .count = count_members,
                                 .write = write_members};
    KITH_TRY(kith__list_count(ctx, &list));
    kith__list_write(ctx, &list);
    uint64_t *const sorted = kith__sort(ctx, out->elements, spare, out->n, LABEL, LABEL + bits,
                                        bins);
    out->order = (int32_t *)(void *)(sorted == spare ? out->elements : spare);
    for (int64_t g = 0; g <= members->groups; g++) { /* n marks a group without members */
        out->begin[g] = out->n;
    }
    struct begin_loop find = {sorted, out->begin, out->order};
    kith__loop(ctx, out->n, find_begins, &find);
    KITH_TRY(kith__proceed(ctx));
    for (int64_t g = 0; g < members->groups; g++) {
        if (out->begin[g] == out->n) {
            return kith__halo_empty(ctx, g + 1);
        }
        assert(out->begin[g] >= 0 && (g == 0 || out->begin[g] > out->begin[g - 1]));
    }
    return KITH_OK;
}

/** Sum over a block of members: sum each piece, and add the sums in order.
 *  @param first  first member of the block */
static void sum_block(const struct kith__halo_group *group, enum kith__halo_pass pass,
                      const struct kith__halo_frame *frame, int64_t first,
                      struct kith__halo_sums *out)
{
    const int64_t last = group->n - first < BLOCK ? group->n : first + BLOCK;
    for (int64_t at = first; at < last; at += KITH_HALO_PIECE) {
        const int64_t n = last - at < KITH_HALO_PIECE ? last - at : KITH_HALO_PIECE;
        struct kith__halo_sums sums;
        kith__halo_piece(group, pass, frame, at, n, &sums);
        if (at == first) {
            *out = sums;
        } else {
            kith__halo_add(out, &sums);
        }
    }
}

/** State of one pass over the members of a group. */
struct pass_loop {
    kith_ctx *ctx;                        /**< context, for cancellation */
    const struct kith__halo_group *group; /**< the group */
    enum kith__halo_pass pass;            /**< which sums */
    const struct kith__halo_frame
        *frame;                     /**< results of earlier passes; NULL in KITH_PASS_SLICES */
    struct kith__halo_sums *blocks; /**< [ceil(n / BLOCK)] sums over each block */
};

/** Sum over one block, the unit of the parallel loop of `run`. */
static void do_block(void *state, int64_t block, int worker)
{
    (void)worker;
    const struct pass_loop *loop = state;
    if (kith__cancelled(loop->ctx)) {
        return;
    }
    sum_block(loop->group, loop->pass, loop->frame, block * BLOCK, &loop->blocks[block]);
}

/** Make one pass over all members of a group; blocks[0] receives the sums.
 *  @param blocks  [ceil(n / BLOCK)] scratch memory
 *  @param pool    threads that share the group; NULL: the calling thread alone
 *  @return false when the call was cancelled */
static bool run(kith_ctx *ctx, const struct kith__halo_group *group, enum kith__halo_pass pass,
                const struct kith__halo_frame *frame, struct kith__halo_sums *blocks,
                struct kith__pool *pool)
{
    const int64_t n = (group->n + BLOCK - 1) / BLOCK;
    struct pass_loop loop = {ctx, group, pass, frame, blocks};
    kith__pool_run(pool, kith__pool_threads(pool), n, do_block, &loop);
    if (kith__cancelled(ctx)) {
        return false;
    }
    /* the next levels of the tree of sums (halo_sums.h): blocks are its first level above pieces */
    for (int64_t apart = 1; apart < n; apart *= KITH_HALO_PIECE) {
        for (int64_t b = 0; b < n; b += apart * KITH_HALO_PIECE) {
            kith__halo_gather(&blocks[b], apart, n - b);
        }
    }
    return true;
}

/** Measure a group. *out is incomplete after cancellation.
 *  @param blocks  [ceil(n / BLOCK)] scratch memory; not used for a group of one piece
 *  @param pool    threads that share the group; NULL: the calling thread alone */
static void measure_group(kith_ctx *ctx, const struct kith__halo_group *group,
                          struct kith__halo_sums *blocks, struct kith__pool *pool, kith_halo *out)
{
    struct kith__halo_frame frame;
    if (group->n <= KITH_HALO_PIECE) {
        kith__halo_small(group, out);
        return;
    }
    if (kith__is_periodic(&group->of->box)) {
        if (!run(ctx, group, KITH_PASS_SLICES, NULL, blocks, pool)) {
            return;
        }
    }
    kith__halo_cut(group, &blocks[0], &frame);
    if (run(ctx, group, KITH_PASS_MEANS, &frame, blocks, pool)) {
        kith__halo_middle(group, &blocks[0], &frame, out);
        if (run(ctx, group, KITH_PASS_MOMENTS, &frame, blocks, pool)) {
            kith__halo_finish(&blocks[0], group->of->dim, out);
        }
    }
}

/** Return the members of group g, counted from 0. */
static struct kith__halo_group group_of(const struct kith__members *members,
                                        const struct sorted *sorted, int64_t g)
{
    return (struct kith__halo_group){members, members->points.precision,
                                     sorted->order + sorted->begin[g],
                                     sorted->begin[g + 1] - sorted->begin[g]};
}

/** State of the loop over groups that are not large. */
struct group_loop {
    kith_ctx *ctx;                       /**< context, for cancellation */
    const struct kith__members *members; /**< the input */
    const struct sorted *sorted;         /**< members by group */
    kith_halo *halo;                     /**< [groups] results */
};

/** Measure those of groups [begin, end) that are not large. */
static void measure_small(void *state, int64_t begin, int64_t end)
{
    const struct group_loop *loop = state;
    for (int64_t g = begin; g < end; g++) {
        const struct kith__halo_group group = group_of(loop->members, loop->sorted, g);
        struct kith__halo_sums blocks[LARGE / BLOCK];
        if (group.n <= LARGE) {
            measure_group(loop->ctx, &group, blocks, NULL, &loop->halo[g]);
        }
    }
}

/** Measure all groups: large ones first, each by all threads; then the others, each by one thread.
 *  @param[out] halo  [members->groups] results, except spheres */
static kith_status measure(kith_ctx *ctx, const struct kith__members *members,
                           const struct sorted *sorted, kith_halo *halo)
{
    enum { GROUPS = 64 }; /* groups in one unit of work */
    int64_t most = 0;
    for (int64_t g = 0; g < members->groups; g++) {
        const int64_t n = sorted->begin[g + 1] - sorted->begin[g];
        most = n > most ? n : most;
    }
    struct kith__halo_sums *blocks = kith__work_need(&ctx->work, BLOCKS,
                                                     (size_t)(most / BLOCK + 1) * sizeof *blocks);
    KITH_CHECK(ctx, blocks, KITH_NO_MEMORY, "out of memory for a group of %lld", (long long)most);
    for (int64_t g = 0; g < members->groups && most > LARGE; g++) {
        const struct kith__halo_group group = group_of(members, sorted, g);
        if (group.n > LARGE) {
            measure_group(ctx, &group, blocks, ctx->pool, &halo[g]);
        }
    }
    struct group_loop loop = {ctx, members, sorted, halo};
    kith__pool_chunks(ctx->pool, kith__threads_for(ctx, members->points.n), members->groups, GROUPS,
                      measure_small, &loop);
    return kith__proceed(ctx);
}

/** kith__halos_backend.measure */
static kith_status measure_halos(kith_ctx *ctx, const struct kith__question *q,
                                 const struct kith__members *members, kith_halos *out)
{
    KITH_TRY(kith__halos_need(ctx, members->groups, out));
    struct check_loop check = {.members = members, .first_fault = KITH_NO_FAULT};
    kith__loop(ctx, members->points.n, check_range, &check);
    KITH_TRY(kith__proceed(ctx));
    struct sorted sorted = {.n = check.in_groups};
    const int64_t fault = check.first_fault;
    if (fault != KITH_NO_FAULT) {
        return kith__halo_refuse(ctx, q, members, fault, kith__fault_value(members, fault));
    }
    KITH_TRY(sort_members(ctx, members, &sorted));
    return measure(ctx, members, &sorted, out->halo);
}

const struct kith__halos_backend kith__cpu_halos = {
    .measure = measure_halos,
};
