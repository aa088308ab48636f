/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups of all systems of a batch at once on a GPU, host side: sort the particles of all systems,
 * unite friends by one sweep, sort the groups by system and size. The host waits for the number of
 * groups, and at the end; where offsets are in device memory, also for the size of the largest
 * system.
 */
#include "fof_batch.h"

#include "engine/gpu/batch_search.h"
#include "fof/groups.h"

/* Buffers of scratch memory on the device, behind those of fof_gpu.c. */
enum { PARENT = KITH_WORK_OF(fof) + 8, SIZE, ROOTS, FOUND, KEYS, LABELS, MEMBERS, OFFSETS };

/** Return true when no system in host memory is large; those in device memory are not read. */
static bool may_be_small(const struct kith__batch *batch)
{
    bool small = true;
    for (int64_t s = 0; s < batch->systems && batch->memory == KITH_HOST; s++) {
        small = small && batch->a[s + 1] - batch->a[s] <= KITH_FOF_SMALL;
    }
    return small;
}

/** Unite friends, and list the roots of groups, ascending, in all->root. Waits for nothing.
 *  @param[out] found  pointer to the number of groups, which is in device memory */
static kith_status list_roots(struct kith__gpu_batch *b, struct kith__gpu_fof_batch *all,
                              int64_t min_members, int32_t **found)
{
    kith_ctx *ctx = b->ctx;
    gpuStream_t stream = b->gpu->stream;
    const size_t n = (size_t)all->sweep.systems.a.n;
    size_t bytes = b->temporary_bytes;
    all->parent = kith__gpu_need(b->gpu, PARENT, n * sizeof *all->parent);
    all->size = kith__gpu_need(b->gpu, SIZE, n * sizeof *all->size);
    /* room for twice as many roots as there can be: the second half serves the sort */
    all->root = kith__gpu_need(b->gpu, ROOTS, 2 * n * sizeof *all->root);
    *found = kith__gpu_need(b->gpu, FOUND, sizeof **found);
    KITH_CHECK(ctx, all->parent && all->size && all->root && *found, KITH_NO_MEMORY,
               "out of device memory for groups of %lld particles", (long long)n);
    KITH_GPU_TRY(ctx, "linking", kith__gpu_fof_unite(all, stream));
    KITH_GPU_TRY(ctx, "listing groups",
                 kith__gpu_select_counts(b->temporary, &bytes, all->size, (int64_t)n, min_members,
                                         all->root, *found, stream));
    return KITH_OK;
}

/** Sort the groups by system and falling size; equal ones stay in the order of their roots. Sets
 *  all->key and all->root to the sorted arrays. */
static kith_status sort_groups(struct kith__gpu_batch *b, struct kith__gpu_fof_batch *all)
{
    kith_ctx *ctx = b->ctx;
    gpuStream_t stream = b->gpu->stream;
    const int64_t n = all->n_groups;
    size_t bytes = b->temporary_bytes;
    all->key = kith__gpu_need(b->gpu, KEYS, 2 * (size_t)n * sizeof *all->key);
    KITH_CHECK(ctx, all->key != NULL, KITH_NO_MEMORY, "out of device memory for %lld groups",
               (long long)n);
    uint64_t *key[2] = {all->key, all->key + n};
    int32_t *root[2] = {all->root, all->root + n};
    const int bits = KITH_GPU_FOF_SIZE_BITS + kith__bit_length((uint64_t)all->sweep.systems.n);
    KITH_GPU_TRY(ctx, "sorting groups", kith__gpu_fof_keys(all, stream));
    KITH_GPU_TRY(ctx, "sorting groups",
                 kith__gpu_sort_pairs(b->temporary, &bytes, key, root, n, bits, stream));
    all->key = key[0];
    all->root = root[0];
    return KITH_OK;
}

/** Number the groups, and copy labels, members and offsets to the host. Waits for the device. */
static kith_status write_groups(struct kith__gpu_batch *b, const struct kith__gpu_fof_batch *all,
                                kith_groups *out)
{
    kith_ctx *ctx = b->ctx;
    const size_t n = (size_t)all->sweep.systems.a.n, systems = (size_t)all->sweep.systems.n;
    const size_t bytes[] = {n * sizeof *out->labels, (size_t)out->n * sizeof *out->members,
                            (systems + 1) * sizeof *out->offsets};
    int32_t *labels = kith__gpu_need(b->gpu, LABELS, bytes[0]);
    int64_t *members = kith__gpu_need(b->gpu, MEMBERS, bytes[1]);
    int64_t *offsets = kith__gpu_need(b->gpu, OFFSETS, bytes[2]);
    KITH_CHECK(ctx, labels && members && offsets, KITH_NO_MEMORY,
               "out of device memory for labels of %lld particles", (long long)n);
    KITH_GPU_TRY(ctx, "labelling",
                 kith__gpu_fof_number(all, labels, members, offsets, b->gpu->stream));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)out->labels, (const char *)labels, bytes[0]},
        {(char *)out->members, (const char *)members, bytes[1]},
        {(char *)out->offsets, (const char *)offsets, bytes[2]}};
    return kith__gpu_download(ctx, copies);
}

kith_status kith__gpu_fof_together(kith_ctx *ctx, const struct kith__batch *batch,
                                   const struct kith__fof *fof, kith_groups *out, bool *done)
{
    struct kith__gpu_batch b;
    int32_t *found, n_groups = 0;
    *done = false;
    if (batch->whole.a.n == 0 || !may_be_small(batch)) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_batch_begin(ctx, batch, true, false, &b));
    if (batch->memory == KITH_DEVICE) { /* the size of the largest system */
        KITH_TRY(kith__gpu_batch_read(&b, NULL));
        if (b.small.most > KITH_FOF_SMALL) {
            return KITH_OK;
        }
    }
    struct kith__gpu_fof_batch all = {.sweep = b.sweep};
    KITH_TRY(list_roots(&b, &all, fof->min_members, &found));
    KITH_TRY(kith__gpu_batch_read(&b, NULL));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&n_groups, (const char *)found, sizeof n_groups}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    all.n_groups = n_groups;
    KITH_TRY(kith__groups_need(ctx, batch->whole.a.n, out));
    KITH_TRY(kith__groups_systems(ctx, batch->systems, out));
    KITH_TRY(kith__groups_number(ctx, n_groups, out));
    KITH_TRY(n_groups > 0 ? sort_groups(&b, &all) : KITH_OK);
    KITH_TRY(write_groups(&b, &all, out));
    *done = true;
    return KITH_OK;
}
