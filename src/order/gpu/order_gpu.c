/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of particles on a GPU, host side: find the extents, choose the cells on the host, by the
 * function that the CPU backend calls, then sort by keys. The host waits for the extents.
 */
#include "order_gpu.h"

#include <string.h>

#include "engine/gpu/search.h"

/** Number of a buffer of scratch memory on the device: a struct kith__gpu_extents. */
enum { EXTENTS = KITH_WORK_OF(order) };

/** Return the double whose ordered form is `bits`: the integer that `ordered` of
 *  engine/gpu/device.cuh maps it to, so that integers compare as the doubles do. */
static double from_ordered(unsigned long long bits)
{
    const uint64_t top = (uint64_t)1 << 63;
    const uint64_t plain = bits & top ? bits & ~top : ~bits;
    double value;
    memcpy(&value, &plain, sizeof value);
    return value;
}

/** Find the extents of the wrapped coordinates, and test them. Waits for the device.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; a failure */
static kith_status find_extents(struct kith__gpu_search *s, struct kith__extents *extents)
{
    kith_ctx *ctx = s->ctx;
    const struct kith__question *q = &s->sweep.grid.question;
    struct kith__gpu_extents *there = kith__gpu_need(s->gpu, EXTENTS, sizeof *there);
    struct kith__gpu_extents here;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&here, (const char *)there, sizeof here}};
    KITH_CHECK(ctx, there != NULL, KITH_NO_MEMORY, "out of device memory for extents");
    KITH_GPU_TRY(ctx, "finding extents", gpuMemsetAsync(there, 0, sizeof *there, s->gpu->stream));
    KITH_GPU_TRY(ctx, "finding extents", kith__gpu_order_extents(q, there, s->gpu->stream));
    KITH_TRY(kith__gpu_download(ctx, copies));
    if (here.bad || here.far) {
        return kith__refuse(ctx, q, "points", here.bad ? KITH_NOT_FINITE : KITH_LIMIT,
                            INT64_MAX - (int64_t)(here.bad ? here.bad : here.far));
    }
    for (int k = 0; k < 3; k++) {
        extents->lo[k] = from_ordered(~here.below[k]);
        extents->hi[k] = from_ordered(here.above[k]);
    }
    return KITH_OK;
}

/** kith__order_backend.find. Where keys have no bits, all particles are in one cell, and their
 *  order is that of the caller. */
static kith_status find(kith_ctx *ctx, const struct kith__question *question, double cell,
                        int32_t *order, kith_memory where)
{
    struct kith__gpu_search s;
    uint64_t *key[2];
    int32_t *id[2];
    struct kith__extents extents;
    KITH_TRY(kith__gpu_begin(ctx));
    if (question->a.n == 0) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_search_room(ctx, question, &s, key, id));
    const struct kith__question *q = &s.sweep.grid.question;
    gpuStream_t stream = s.gpu->stream;
    KITH_TRY(find_extents(&s, &extents));
    const struct kith__order_cells cells = kith__order_cells_of(q, &extents, cell);
    KITH_GPU_TRY(ctx, "making keys", kith__gpu_order_keys(q, &cells, key[0], id[0], stream));
    if (cells.bits > 0) {
        KITH_GPU_TRY(ctx, "sorting",
                     kith__gpu_sort_pairs(s.temporary, &s.temporary_bytes, key, id, q->a.n,
                                          cells.bits, stream));
    }
    const size_t bytes = (size_t)q->a.n * sizeof *order;
    if (where == KITH_DEVICE) {
        KITH_GPU_TRY(ctx, "copying the order",
                     gpuMemcpyAsync(order, id[0], bytes, gpuMemcpyDeviceToDevice, stream));
        KITH_TRY(kith__gpu_wait_all(ctx, "sorting"));
        return kith__proceed(ctx);
    }
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{(char *)order, (const char *)id[0], bytes}};
    return kith__gpu_download(ctx, copies);
}

const struct kith__order_backend kith__cuda_order = {.find = find};
