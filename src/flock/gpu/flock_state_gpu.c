/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Transfers of a flock: it is uploaded once, before its first step, and downloaded when it is read
 * on the host; in records of four numbers, packed and unpacked on the host. Also its memory on the
 * device.
 */
#include "flock_state_gpu.h"

#include <stdlib.h>
#include <string.h>

enum { PACK = 1 << 16 }; /* records of one transfer */

size_t kith__gpu_record_bytes(const struct kith_flock *flock)
{
    return (size_t)4 * (size_t)flock->question.precision;
}

const struct kith__gpu_flock_state *kith__gpu_flock_now(const struct kith__gpu_flock *g)
{
    return g->there_is_now ? &g->step.there : &g->step.here;
}

/* ----------------------------------------------------------------------------------- transfers */

/** Write records of entries [first, first + n): three components of `from`, and the index.
 *  @param from     positions or velocities: [3][flock->n] components
 *  @param records  [n] */
static void pack(const struct kith_flock *flock, void *const from[3], int64_t first, int64_t n,
                 void *records)
{
    for (int64_t s = 0; s < n; s++) {
        const int64_t p = first + s;
        if (flock->question.precision == KITH_FLOAT) {
            float *to = (float *)records + 4 * s;
            for (int k = 0; k < 3; k++) {
                to[k] = ((const float *)from[k])[p];
            }
            ((int32_t *)records)[4 * s + 3] = flock->now.id[p];
        } else {
            double *to = (double *)records + 4 * s;
            for (int k = 0; k < 3; k++) {
                to[k] = ((const double *)from[k])[p];
            }
            ((int64_t *)records)[4 * s + 3] = flock->now.id[p];
        }
    }
}

/** Read records of entries [first, first + n) into three components, and the index unless id is
 *  NULL. */
static void unpack(const struct kith_flock *flock, const void *records, int64_t first, int64_t n,
                   void *const to[3], int32_t *id)
{
    for (int64_t s = 0; s < n; s++) {
        const int64_t p = first + s;
        for (int k = 0; k < 3; k++) {
            if (flock->question.precision == KITH_FLOAT) {
                ((float *)to[k])[p] = ((const float *)records)[4 * s + k];
            } else {
                ((double *)to[k])[p] = ((const double *)records)[4 * s + k];
            }
        }
        if (id) {
            id[p] = flock->question.precision == KITH_FLOAT
                        ? ((const int32_t *)records)[4 * s + 3]
                        : (int32_t)((const int64_t *)records)[4 * s + 3];
        }
    }
}

/** Make scratch memory of the host hold the records of one transfer, PACK of them. */
static kith_status need_records(kith_ctx *ctx, const struct kith_flock *flock, void **records)
{
    *records = kith__work_need(&ctx->work, KITH_WORK_OF(flock),
                               PACK * kith__gpu_record_bytes(flock));
    KITH_CHECK(ctx, *records != NULL, KITH_NO_MEMORY, "out of memory for transfers");
    return KITH_OK;
}

/** Upload the host's state to `there`. */
static kith_status upload(kith_ctx *ctx, const struct kith_flock *flock, struct kith__gpu_flock *g)
{
    const size_t bytes = kith__gpu_record_bytes(flock);
    void *records;
    KITH_TRY(need_records(ctx, flock, &records));
    for (int64_t first = 0; first < flock->n; first += PACK) {
        const int64_t n = flock->n - first < PACK ? flock->n - first : PACK;
        pack(flock, flock->now.r, first, n, records);
        KITH_TRY(kith__gpu_upload(ctx, (char *)g->step.there.r + (size_t)first * bytes, records,
                                  (size_t)n * bytes));
        pack(flock, flock->now.v, first, n, records);
        KITH_TRY(kith__gpu_upload(ctx, (char *)g->step.there.v + (size_t)first * bytes, records,
                                  (size_t)n * bytes));
    }
    g->there_is_now = true;
    return KITH_OK;
}

kith_status kith__gpu_flock_begin(kith_ctx *ctx)
{
    const kith_watch_fn watch = ctx->watch;
    ctx->watch = NULL;
    const kith_status status = kith__gpu_begin(ctx);
    ctx->watch = watch;
    return status;
}

kith_status kith__gpu_flock_fetch(kith_ctx *ctx, const struct kith_flock *flock)
{
    struct kith__gpu_flock *g = flock->device;
    if (!g || !g->newer) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_flock_begin(ctx));
    const size_t bytes = kith__gpu_record_bytes(flock);
    const struct kith__gpu_flock_state *state = kith__gpu_flock_now(g);
    void *records;
    KITH_TRY(need_records(ctx, flock, &records));
    for (int64_t first = 0; first < flock->n; first += PACK) {
        const int64_t n = flock->n - first < PACK ? flock->n - first : PACK;
        for (int half = 0; half < 2; half++) {
            const char *from = half ? state->v : state->r;
            struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
                {records, from + (size_t)first * bytes, (size_t)n * bytes}};
            KITH_TRY(kith__gpu_download(ctx, copies));
            unpack(flock, records, first, n, half ? flock->now.v : flock->now.r,
                   half ? NULL : flock->now.id);
        }
    }
    g->newer = false;
    return KITH_OK;
}

kith_status kith__gpu_flock_bring(kith_ctx *ctx, const kith_points *points, int dim, void *to)
{
    const void *const from[3] = {points->x, points->y, points->z};
    const size_t real = (size_t)points->precision;
    const size_t step = (size_t)points->stride * real;
    const size_t bytes = ((size_t)points->n - 1) * step + real;
    struct kith__buffer strided = {NULL, 0};
    char *const rows = kith__buffer_need(&strided, bytes);
    KITH_CHECK(ctx, rows != NULL, KITH_NO_MEMORY, "out of memory for a flock of %lld",
               (long long)points->n);
    kith_status status = kith__gpu_flock_begin(ctx);
    for (int k = 0; k < dim && status == KITH_OK; k++) {
        struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{rows, from[k], bytes}};
        status = kith__gpu_download(ctx, copies);
        char *const component = (char *)to + (size_t)k * (size_t)points->n * real;
        for (int64_t p = 0; p < points->n && status == KITH_OK; p++) {
            memcpy(component + (size_t)p * real, rows + (size_t)p * step, real);
        }
    }
    kith__buffer_free(&strided);
    return status;
}

kith_status kith__gpu_flock_read(kith_ctx *ctx, struct kith_flock *flock, void *positions,
                                 void *velocities)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_TRY(kith__gpu_flock_begin(ctx));
    KITH_TRY(kith__gpu_flock_open(ctx, flock));
    const struct kith__gpu_subset_read read = {
        .state = *kith__gpu_flock_now(flock->device),
        .n = flock->n,
        .r = positions,
        .v = velocities,
        .single = flock->question.precision == KITH_FLOAT,
    };
    KITH_GPU_TRY(ctx, "reading the flock", kith__gpu_flock_gather(&read, gpu->stream));
    return KITH_OK;
}

kith_status kith__gpu_flock_look_up(kith_ctx *ctx, void *to, const void *from, size_t bytes)
{
    const struct kith__gpu *gpu = ctx->state;
    KITH_GPU_TRY(ctx, "reading the flock",
                 gpuMemcpyAsync(gpu->small, from, bytes, gpuMemcpyDeviceToHost, gpu->stream));
    KITH_TRY(kith__gpu_wait_all(ctx, "stepping the flock"));
    memcpy(to, gpu->small, bytes);
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------- memory */

void *kith__gpu_flock_need(kith_ctx *ctx, struct kith__gpu_flock *g, int buffer, size_t bytes)
{
    void *data = kith__gpu_buffer_need(&g->buffer[buffer], bytes);
    if (!data) {
        (void)kith__fail(ctx, KITH_NO_MEMORY, "out of device memory for a flock");
    }
    return data;
}

/** Allocate the states, with KITH_GPU_FLOCK_BEHIND zero records after them, and the small
 *  structs. */
static kith_status lay_out(kith_ctx *ctx, struct kith_flock *flock, struct kith__gpu_flock *g)
{
    const struct kith__gpu *gpu = ctx->state;
    const size_t record = kith__gpu_record_bytes(flock);
    const size_t bytes = (size_t)flock->n * record;
    const size_t behind = KITH_GPU_FLOCK_BEHIND * record;
    void **const wanted[] = {&g->step.here.r, &g->step.here.v, &g->step.there.r, &g->step.there.v};
    for (int b = 0; b < 4; b++) {
        *wanted[b] = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_HERE_R + b, bytes + behind);
        if (!*wanted[b]) {
            return KITH_NO_MEMORY;
        }
        KITH_GPU_TRY(ctx, "making room for a flock",
                     gpuMemsetAsync((char *)*wanted[b] + bytes, 0, behind, gpu->stream));
    }
    struct kith__gpu_flock_small *small = kith__gpu_flock_need(ctx, g, KITH_GPU_FLOCK_SMALL,
                                                               sizeof *small);
    if (!small) {
        return KITH_NO_MEMORY;
    }
    g->step.progress = &small->progress;
    const struct kith__gpu_flock_progress progress = {.step = flock->step,
                                                      .lost = KITH_GPU_NO_PARTICLE};
    return kith__gpu_upload(ctx, g->step.progress, &progress, sizeof progress);
}

kith_status kith__gpu_flock_open(kith_ctx *ctx, struct kith_flock *flock)
{
    if (flock->device) {
        return KITH_OK;
    }
    struct kith__gpu_flock *g = calloc(1, sizeof *g);
    KITH_CHECK(ctx, g != NULL, KITH_NO_MEMORY, "out of memory for a flock");
    g->at_once = 1;
    flock->device = g;
    kith_status status = lay_out(ctx, flock, g);
    if (status == KITH_OK) {
        status = upload(ctx, flock, g);
    }
    if (status != KITH_OK) {
        kith__gpu_flock_forget(flock);
    }
    return status;
}

void kith__gpu_flock_drop_recording(struct kith__gpu_flock *g)
{
    if (g && g->graph) {
        (void)gpuGraphExecDestroy(g->graph);
        g->graph = NULL;
        memset(&g->recorded, 0, sizeof g->recorded);
    }
}

void kith__gpu_flock_forget(struct kith_flock *flock)
{
    struct kith__gpu_flock *g = flock->device;
    for (int b = 0; b < KITH_GPU_FLOCK_BUFFERS && g; b++) {
        kith__gpu_buffer_free(&g->buffer[b]);
    }
    kith__gpu_flock_drop_recording(g);
    kith__gpu_flock_drop_subset(g);
    free(g);
    flock->device = NULL;
}
