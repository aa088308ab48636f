/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring groups: look at all particles, sort the members by group, and sum over each group.
 * Large groups are shared among threads, small ones group by group. Sorting takes the memory of a
 * grid's.
 */
#include <stdlib.h>

#include "../halo_sums.h"
#include "sort.h"
#include "state.h"

/* Members that a thread sums up before it takes others. */
enum { BLOCK = KITH_HALO_PIECE * KITH_HALO_PIECE, LARGE = 8 * BLOCK };

/** Members sorted by group. */
struct sorted {
    uint64_t *elements; /**< label << 32 | particle; */
    int32_t *order;     /**< then the particles, */
    int64_t *begin;     /**< [groups + 1] and where each group begins among them */
    int64_t n;
    int threads;
};

/** The first fault, and how many particles are in groups. */
static int64_t look(const kith_ctx *ctx, const struct kith__members *members, int64_t *in_groups)
{
    const kith_precision precision = members->points.precision;
    const int64_t n = members->points.n;
    int64_t first = KITH_NO_FAULT, count = 0;
#pragma omp parallel for num_threads(kith__threads_for(ctx, n)) reduction(min : first) \
    reduction(+ : count)
    for (int64_t p = 0; p < n; p++) {
        const int fault = kith__particle_fault(members, precision, p);
        if (fault < KITH_FAULTS && p * KITH_FAULTS + fault < first) {
            first = p * KITH_FAULTS + fault;
        }
        count += members->labels[p] > 0;
    }
    *in_groups = count;
    return first;
}

static kith_status need_sorted(kith_ctx *ctx, const struct kith__members *members,
                               struct sorted *out, uint64_t **spare, int64_t **bins)
{
    const size_t room = (size_t)out->n * sizeof **spare;
    const size_t bin_bytes = (size_t)out->threads * KITH_SORT_BINS * sizeof **bins;
    const size_t begin_bytes = (size_t)(members->groups + 1) * sizeof *out->begin;
    out->elements = kith__work_need(&ctx->work, KITH_GRID_ELEMENTS, room);
    *spare = kith__work_need(&ctx->work, KITH_GRID_XYZ, room);
    *bins = kith__work_need(&ctx->work, KITH_GRID_BINS, bin_bytes);
    out->begin = kith__work_need(&ctx->work, KITH_FOF_GROUPS, begin_bytes);
    KITH_CHECK(ctx, out->elements && *spare && *bins && out->begin, KITH_NO_MEMORY,
               "out of memory for %lld members of %lld groups", (long long)out->n,
               (long long)members->groups);
    return KITH_OK;
}

/** List the particles that are in groups. @param bins  [threads] at least */
static void list_members(const struct kith__members *members, struct sorted *out, int64_t *bins)
{
    const int32_t *labels = members->labels;
    const int64_t n = members->points.n;
#pragma omp parallel num_threads(out->threads)
    {
        const struct kith__share own = kith__my_share(n);
        int64_t many = 0;
        for (int64_t p = own.begin; p < own.end; p++) {
            many += labels[p] > 0;
        }
        int64_t at = kith__my_place(many, bins);
        for (int64_t p = own.begin; p < own.end; p++) {
            if (labels[p] > 0) {
                out->elements[at++] = (uint64_t)labels[p] << 32 | (uint64_t)p;
            }
        }
    }
}

/** Sort by group, stable. */
static kith_status sort_members(kith_ctx *ctx, const struct kith__members *members,
                                struct sorted *out)
{
    enum { LABEL = 32 };
    uint64_t *spare;
    int64_t *bins;
    int bits = 0;
    KITH_TRY(need_sorted(ctx, members, out, &spare, &bins));
    while (members->groups >> bits) {
        bits++;
    }
    list_members(members, out, bins);
    uint64_t *const sorted = kith__sort(out->elements, spare, out->n, LABEL, LABEL + bits, bins,
                                        out->threads);
    out->order = (int32_t *)(void *)(sorted == spare ? out->elements : spare);
    for (int64_t g = 0; g <= members->groups; g++) {
        out->begin[g] = out->n;
    }
#pragma omp parallel for num_threads(out->threads)
    for (int64_t at = 0; at < out->n; at++) {
        const int64_t g = (int64_t)(sorted[at] >> LABEL) - 1;
        if (at == 0 || (int64_t)(sorted[at - 1] >> LABEL) - 1 != g) {
            out->begin[g] = at;
        }
        out->order[at] = (int32_t)(uint32_t)sorted[at];
    }
    for (int64_t g = 0; g < members->groups; g++) {
        if (out->begin[g] == out->n) {
            return kith__halo_empty(ctx, g + 1);
        }
    }
    return KITH_OK;
}

/** Sum over a block of members, piece by piece. */
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

/** Do a pass over all members; blocks[0] receives the sums. */
static void run(const struct kith__halo_group *group, enum kith__halo_pass pass,
                const struct kith__halo_frame *frame, struct kith__halo_sums *blocks, int threads)
{
    const int64_t n = (group->n + BLOCK - 1) / BLOCK;
    if (threads == 1) {
        for (int64_t b = 0; b < n; b++) {
            sum_block(group, pass, frame, b * BLOCK, &blocks[b]);
        }
    } else {
#pragma omp parallel for num_threads(threads)
        for (int64_t b = 0; b < n; b++) {
            sum_block(group, pass, frame, b * BLOCK, &blocks[b]);
        }
    }
    for (int64_t apart = 1; apart < n; apart *= KITH_HALO_PIECE) {
        for (int64_t b = 0; b < n; b += apart * KITH_HALO_PIECE) {
            kith__halo_gather(&blocks[b], apart, n - b);
        }
    }
}

/** Measure a group. @param blocks  [ceil(n / BLOCK)] scratch */
static void measure_group(const struct kith__halo_group *group, struct kith__halo_sums *blocks,
                          int threads, kith_halo *out)
{
    struct kith__halo_frame frame;
    if (group->n <= KITH_HALO_PIECE) {
        kith__halo_small(group, out);
        return;
    }
    if (kith__is_periodic(&group->of->box)) {
        run(group, KITH_PASS_SLICES, NULL, blocks, threads);
    }
    kith__halo_cut(group, &blocks[0], &frame);
    run(group, KITH_PASS_MEANS, &frame, blocks, threads);
    kith__halo_middle(group, &blocks[0], &frame, out);
    run(group, KITH_PASS_MOMENTS, &frame, blocks, threads);
    kith__halo_finish(&blocks[0], group->of->dim, out);
}

static struct kith__halo_group group_of(const struct kith__members *members,
                                        const struct sorted *sorted, int64_t g)
{
    return (struct kith__halo_group){members, members->points.precision,
                                     sorted->order + sorted->begin[g],
                                     sorted->begin[g + 1] - sorted->begin[g]};
}

static kith_status measure(kith_ctx *ctx, const struct kith__members *members,
                           const struct sorted *sorted, kith_halo *halo)
{
    int64_t most = 0;
    for (int64_t g = 0; g < members->groups; g++) {
        const int64_t n = sorted->begin[g + 1] - sorted->begin[g];
        most = n > most ? n : most;
    }
    struct kith__halo_sums *blocks = kith__alloc((size_t)(most / BLOCK + 1) * sizeof *blocks);
    KITH_CHECK(ctx, blocks, KITH_NO_MEMORY, "out of memory for a group of %lld", (long long)most);
    for (int64_t g = 0; g < members->groups && most > LARGE; g++) {
        const struct kith__halo_group group = group_of(members, sorted, g);
        if (group.n > LARGE) {
            measure_group(&group, blocks, sorted->threads, &halo[g]);
        }
    }
    free(blocks);
#pragma omp parallel for num_threads(sorted->threads) schedule(dynamic, 64)
    for (int64_t g = 0; g < members->groups; g++) {
        const struct kith__halo_group group = group_of(members, sorted, g);
        struct kith__halo_sums own[LARGE / BLOCK];
        if (group.n <= LARGE) {
            measure_group(&group, own, 1, &halo[g]);
        }
    }
    return KITH_OK;
}

kith_status kith__cpu_halos_measure(kith_ctx *ctx, const struct kith__question *q,
                                    const struct kith__members *members, kith_halos *out)
{
    struct sorted sorted = {.threads = kith__threads_for(ctx, members->points.n)};
    KITH_TRY(kith__halos_need(ctx, members->groups, out));
    const int64_t fault = look(ctx, members, &sorted.n);
    if (fault != KITH_NO_FAULT) {
        return kith__halo_refuse(ctx, q, members, fault, kith__fault_value(members, fault));
    }
    KITH_TRY(sort_members(ctx, members, &sorted));
    return measure(ctx, members, &sorted, out->halo);
}
