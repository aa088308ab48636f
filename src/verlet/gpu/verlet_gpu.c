/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists that are kept on a GPU. The kept pairs, the candidates, are those within cutoff + skin at
 * the last rebuild. An update that makes a list in device memory queues all its work before the
 * host waits: the particles are read and wrapped, and their longest displacement is found; a kernel
 * decides by it whether the list can be made from the kept pairs; if so, later kernels find the
 * pairs of the list among them, and write them to the list's arrays as far as these have room. Then
 * the host reads the decision and the number of pairs. A list in host memory is written after that,
 * in parts. Where the list cannot be made so, the host rebuilds: it searches the pairs within
 * cutoff + skin, in rows, and makes the list of them. O(n + candidates).
 */
#include "verlet_gpu.h"

#include <stdlib.h>

#include "engine/gpu/search.h"
#include "pairs/gpu/parts.h"
#include "pairs/list.h"

/* Buffers of scratch memory on the device. */
enum {
    COUNTS = KITH_WORK_OF(verlet), /**< [words + 1] number of pairs of each word (verlet_gpu.h);
                                        after the prefix sum, its first pair in the list */
    MASK,                          /**< [words] which candidates are pairs */
    OFFSETS,                       /**< [n + 1] rows of a list for the host */
    FOUND                          /**< a struct kith__verlet_found */
};

/* Most pairs of a part of a list for the host. */
static const int64_t most_of_part = (int64_t)1 << 24;

/** A list that is kept on a GPU: kith_verlet.data. The buffers are in device memory. Records have a
 *  position and a number (engine/gpu/record.cuh). */
struct kept {
    struct kith__buffer now;         /**< [n] records of the update */
    struct kith__buffer reference;   /**< [n] records of the last rebuild */
    struct kith__buffer i;           /**< [candidates] row of each, int32_t */
    struct kith__buffer shift;       /**< [candidates] S0, shifts at the last rebuild, packed,
                                          int32_t */
    struct kith__buffer band;        /**< [candidates] bands (kith__verlet_scale), int8_t */
    kith_pairs skin;                 /**< the kept list, with offsets (CSR), in device memory */
    struct kith__verlet_scale scale; /**< the bands */
};

/** An update. */
struct work {
    kith_ctx *ctx;                        /**< context of the call */
    struct kith_verlet *v;                /**< the list */
    struct kept *kept;                    /**< v->data */
    const struct kith__verlet_plan *plan; /**< what is known before coordinates are read */
    struct kith__gpu_search s;        /**< the points in device memory, and scratch memory of the
                                           prefix sum; there is no grid */
    struct kith__verlet_rows rows;    /**< the kept pairs */
    int64_t words;                    /**< number of words of the kept pairs (kith__verlet_rows) */
    int64_t *counts;                  /**< buffer COUNTS, in device memory */
    void *mask;                       /**< buffer MASK, in device memory */
    struct kith__verlet_found *found; /**< results of the kernels, in device memory */
    struct kith__verlet_found read;   /**< copy of *found in host memory */
    int64_t total;                    /**< number of pairs of the list */
};

/** Make the arrays of an update hold its particles, and the buffer through which what kernels find
 *  is copied to the host (kith__gpu_need_transfers). The arrays of the last rebuild stay as they
 *  are. */
static kith_status need_particles(struct work *w)
{
    kith_ctx *ctx = w->ctx;
    struct kith__gpu *gpu = ctx->state;
    const size_t n = (size_t)w->plan->now.a.n;
    const size_t bytes = n * kith__verlet_record_bytes(w->plan->now.precision);
    w->found = kith__gpu_need(gpu, FOUND, sizeof *w->found);
    KITH_CHECK(ctx, w->found && kith__gpu_buffer_need(&w->kept->now, bytes), KITH_NO_MEMORY,
               "out of device memory for a list of %lld particles", (long long)n);
    return kith__gpu_need_transfers(ctx, sizeof *w->found + sizeof w->total);
}

/** Queue the reading of the particles, and the search for their displacements where the plan is to
 *  keep pairs. Clears *w->found before. */
static kith_status load(struct work *w)
{
    kith_ctx *ctx = w->ctx;
    gpuStream_t stream = w->s.gpu->stream;
    const struct kith__verlet_particles particles = {.question = w->s.sweep.grid.question,
                                                     .keep = w->plan->keep,
                                                     .map = w->plan->map,
                                                     .reference = w->kept->reference.data,
                                                     .now = w->kept->now.data};
    KITH_GPU_TRY(ctx, "reading the particles",
                 gpuMemsetAsync(w->found, 0, sizeof *w->found, stream));
    KITH_GPU_TRY(ctx, "reading the particles",
                 kith__verlet_load_particles(&particles, w->found, stream));
    return KITH_OK;
}

/** Queue the decision whether the list can be made from the kept pairs, which sets w->found->keep,
 *  inner and outer.
 *  @param fresh  the kept pairs were searched just now, so it can */
static kith_status decide(struct work *w, bool fresh)
{
    kith_ctx *ctx = w->ctx;
    const struct kith__verlet_plan *plan = w->plan;
    const struct kith__verlet_choice choice = {.fresh = fresh,
                                               .with_skin = plan->with_skin,
                                               .allowed = plan->allowed,
                                               .map = plan->map,
                                               .limits = fresh ? plan->fresh : plan->limits,
                                               .scale = w->kept->scale};
    KITH_GPU_TRY(ctx, "comparing displacements",
                 kith__verlet_decide(&choice, w->found, w->s.gpu->stream));
    return KITH_OK;
}

/** Wait for the queued work, and copy *w->found to w->read, and the number of pairs to w->total.
 *  @param counted  the pairs were counted: w->total is set; it has no meaning unless w->read.keep
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; a failure */
static kith_status read_found(struct work *w, bool counted)
{
    const int64_t *total = counted ? w->counts + w->words : NULL;
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&w->read, (const char *)w->found, sizeof w->read},
        {(char *)&w->total, (const char *)total, counted ? sizeof w->total : 0}};
    KITH_TRY(kith__gpu_download(w->ctx, copies));
    if (w->read.bad || w->read.far) {
        /* INT64_MAX - p of the first particle p (kith__verlet_found) */
        const unsigned long long first = w->read.bad ? w->read.bad : w->read.far;
        return kith__refuse(w->ctx, &w->plan->now, "points",
                            w->read.bad ? KITH_NOT_FINITE : KITH_LIMIT, INT64_MAX - (int64_t)first);
    }
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------ the list */

/** Set w->rows, and make scratch memory for the counts and masks of their words.
 *  @param records  [n] of the update, in device memory
 *  @param turned   kith__verlet_rows.turned */
static kith_status set_rows(struct work *w, const void *records, bool turned)
{
    const struct kept *d = w->kept;
    struct kith__gpu *gpu = w->s.gpu;
    w->words = kith__verlet_words(d->skin.n);
    w->counts = kith__gpu_need(gpu, COUNTS, (size_t)(w->words + 1) * sizeof *w->counts);
    w->mask = kith__gpu_need(gpu, MASK, (size_t)w->words * sizeof(uint64_t));
    KITH_CHECK(w->ctx, w->counts && w->mask, KITH_NO_MEMORY,
               "out of device memory for a list of %lld pairs", (long long)d->skin.n);
    w->rows = (struct kith__verlet_rows){.question = w->s.sweep.grid.question,
                                         .n = d->skin.n,
                                         .offsets = d->skin.offsets,
                                         .i = d->i.data,
                                         .j = d->skin.j,
                                         .shift = d->shift.data,
                                         .band = d->band.data,
                                         .now = records,
                                         .turned = turned};
    return kith__gpu_need_temporary(&w->s, w->words);
}

/** Queue the finding of the pairs, and the prefix sum of their counts: w->mask and w->counts. */
static kith_status queue_counts(struct work *w)
{
    kith_ctx *ctx = w->ctx;
    gpuStream_t stream = w->s.gpu->stream;
    size_t bytes = w->s.temporary_bytes;
    KITH_GPU_TRY(ctx, "counting pairs",
                 kith__verlet_count(&w->rows, w->found, w->mask, w->counts, stream));
    KITH_GPU_TRY(ctx, "summing counts",
                 kith__gpu_scan(w->s.temporary, &bytes, w->counts, w->words + 1, stream));
    return KITH_OK;
}

/** Queue the writing of the pairs from pair `base` of the list on, as many as the arrays hold. */
static kith_status queue_pairs(struct work *w, const kith_pairs *arrays, int64_t base)
{
    kith_ctx *ctx = w->ctx;
    const struct kith__gpu_list part = kith__gpu_part_of(&w->plan->list, arrays, base);
    KITH_GPU_TRY(
        ctx, "writing pairs",
        kith__verlet_write(&w->rows, w->found, &part, w->mask, w->counts, w->s.gpu->stream));
    return KITH_OK;
}

/** Queue the writing of the offsets of rows. @param to  [n + 1] in device memory */
static kith_status queue_offsets(struct work *w, int64_t *to)
{
    kith_ctx *ctx = w->ctx;
    KITH_GPU_TRY(
        ctx, "writing offsets",
        kith__verlet_offsets(&w->rows, w->found, w->mask, w->counts, to, w->s.gpu->stream));
    return KITH_OK;
}

/** Queue the writing of the list to arrays in device memory, as far as they have room. */
static kith_status queue_list(struct work *w, const kith_pairs *arrays)
{
    if (arrays->offsets) {
        KITH_TRY(queue_offsets(w, arrays->offsets));
    }
    return queue_pairs(w, arrays, 0);
}

/** Make the caller's arrays hold a number of pairs. A capacity that suffices stays; else 1/16 more
 *  than `pairs` is allocated, for later steps. */
static kith_status need_list(struct work *w, int64_t pairs, kith_pairs *out)
{
    const bool fits = out->owner && out->capacity > 0 && out->capacity >= pairs;
    return kith__list_need(w->ctx, &w->plan->list, w->plan->now.precision, w->plan->now.a.n, pairs,
                           fits ? out->capacity : pairs + pairs / 16, out);
}

/** Make the list in device memory, if w->read.keep is true on return: else the arrays are left with
 *  no meaning. The host waits once, and once more if the arrays were too small. */
static kith_status list_on_device(struct work *w, kith_pairs *out)
{
    kith_ctx *ctx = w->ctx;
    const bool empty = !out->owner || out->capacity == 0;
    KITH_TRY(
        need_list(w, empty ? kith__verlet_guess(w->plan, w->kept->skin.n) : out->capacity, out));
    KITH_TRY(queue_counts(w));
    KITH_TRY(queue_list(w, out));
    KITH_TRY(read_found(w, true));
    if (!w->read.keep) {
        return KITH_OK;
    }
    if (w->total > out->capacity) {
        KITH_TRY(need_list(w, w->total, out));
        KITH_TRY(queue_list(w, out));
        KITH_TRY(kith__gpu_wait_all(ctx, "writing pairs"));
        KITH_TRY(kith__proceed(ctx));
    }
    out->n = w->total;
    return KITH_OK;
}

/** Make the offsets of rows, and copy them to the host. */
static kith_status fetch_offsets(struct work *w, const kith_pairs *out)
{
    const size_t bytes = (size_t)(out->rows + 1) * sizeof *out->offsets;
    int64_t *offsets = kith__gpu_need(w->s.gpu, OFFSETS, bytes);
    KITH_CHECK(w->ctx, offsets != NULL, KITH_NO_MEMORY, "out of device memory for %lld rows",
               (long long)out->rows);
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)out->offsets, (const char *)offsets, bytes}};
    KITH_TRY(kith__gpu_need_transfers(w->ctx, bytes));
    KITH_TRY(queue_offsets(w, offsets));
    return kith__gpu_download(w->ctx, copies);
}

/** Make the list in host memory, in parts that are copied from device memory, if w->read.keep is
 *  true on return. The host waits for the decision, and for each part. */
static kith_status list_on_host(struct work *w, kith_pairs *out)
{
    kith_ctx *ctx = w->ctx;
    kith_pairs *staging = &w->s.gpu->staging;
    const kith_precision precision = w->plan->now.precision;
    KITH_TRY(queue_counts(w));
    KITH_TRY(read_found(w, true));
    if (!w->read.keep) {
        return KITH_OK;
    }
    KITH_TRY(need_list(w, w->total, out));
    if (out->offsets) {
        KITH_TRY(fetch_offsets(w, out));
    }
    for (int64_t base = 0; base < w->total; base += most_of_part) {
        const int64_t left = w->total - base;
        const int64_t n = left < most_of_part ? left : most_of_part;
        staging->memory = KITH_DEVICE;
        KITH_TRY(kith__list_need(ctx, &w->plan->list, precision, 0, n, n, staging));
        staging->n = n;
        KITH_TRY(kith__gpu_need_transfers(ctx, 2 * (size_t)n * sizeof(int32_t)));
        KITH_TRY(queue_pairs(w, staging, base));
        KITH_TRY(kith__gpu_fetch_part(ctx, &w->plan->list, precision, staging, out, base));
    }
    out->n = w->total;
    return KITH_OK;
}

/** Queue the decision, and make the list of the kept pairs if it can be made from them: if
 *  w->read.keep is true on return.
 *  @param fresh  the pairs were searched just now */
static kith_status make_list(struct work *w, bool fresh, kith_pairs *out)
{
    KITH_TRY(decide(w, fresh));
    return out->memory == KITH_DEVICE ? list_on_device(w, out) : list_on_host(w, out);
}

/* ---------------------------------------------------------------------------------- rebuilding */

/** Search the pairs within cutoff + skin: d->skin. In an orthorhombic box, where wrapping a wrapped
 *  position changes nothing, the wrapped coordinates are searched, so that the shifts need no
 *  correction. The host waits for the number of pairs alone (kith__list.queued). */
static kith_status search(struct work *w)
{
    struct kept *d = w->kept;
    struct kith__question q = w->plan->skin;
    struct kith__list kept = w->plan->kept;
    q.a = w->s.sweep.grid.question.a;
    if (q.box_d.orthorhombic) {
        char *now = d->now.data;
        const size_t real = (size_t)q.precision;
        q.a = kith_points_split(now, now + real, now + 2 * real, q.a.n, q.precision);
        q.a.stride = 4; /* numbers of a record */
        q.a.memory = KITH_DEVICE;
    }
    q.b = q.a;
    kept.queued = true;
    d->skin.size = sizeof d->skin;
    d->skin.memory = KITH_DEVICE;
    return w->ctx->backend->pairs->fill(w->ctx, &q, &kept, true, &d->skin);
}

/** Search the pairs to keep, pack their shifts, and find their bands. The present coordinates
 *  become those of the reference; the buffer of the old reference serves the next update. */
static kith_status rebuild(struct work *w)
{
    kith_ctx *ctx = w->ctx;
    struct kith_verlet *v = w->v;
    struct kept *d = w->kept;
    v->valid = false;
    v->rebuilt = true;
    KITH_TRY(search(w));
    const size_t pairs = (size_t)d->skin.n;
    KITH_CHECK(ctx,
               kith__gpu_buffer_need(&d->i, pairs * sizeof(int32_t)) &&
                   kith__gpu_buffer_need(&d->shift, pairs * sizeof(int32_t)) &&
                   kith__gpu_buffer_need(&d->band, pairs),
               KITH_NO_MEMORY, "out of device memory for a list of %lld pairs",
               (long long)d->skin.n);
    const struct kith__buffer now = d->now;
    d->now = d->reference;
    d->reference = now;
    d->scale = kith__verlet_scale_of(w->plan);
    v->reference = w->plan->skin;
    v->state.kept = d->skin.n;
    KITH_TRY(set_rows(w, d->reference.data, false));
    KITH_GPU_TRY(ctx, "packing shifts",
                 kith__verlet_adopt(&w->rows, &d->scale, d->skin.shifts,
                                    !w->plan->skin.box_d.orthorhombic, w->found, w->s.gpu->stream));
    return KITH_OK;
}

/** Make the list of the kept pairs, if it can be made from them. Sets v->displacement where the
 *  plan is to keep pairs. Returns after the particles were read, so those that cannot be used are
 *  refused.
 *  @param[out] made  the list was made; false: the caller rebuilds */
static kith_status make_of_kept(struct work *w, kith_pairs *out, bool *made)
{
    struct kith_verlet *v = w->v;
    if (!w->plan->keep) {
        *made = false;
        return read_found(w, false);
    }
    KITH_TRY(set_rows(w, w->kept->now.data, true));
    KITH_TRY(make_list(w, false, out));
    v->displacement = w->plan->now.a.n > 0 ? w->read.displacement : 0;
    *made = w->read.keep;
    return KITH_OK;
}

/** kith__verlet_backend.update. */
static kith_status update(kith_ctx *ctx, struct kith_verlet *v,
                          const struct kith__verlet_plan *plan, kith_pairs *out)
{
    v->data = v->data ? v->data : calloc(1, sizeof(struct kept));
    KITH_CHECK(ctx, v->data != NULL, KITH_NO_MEMORY, "out of memory for a list");
    struct work w = {.ctx = ctx, .v = v, .kept = v->data, .plan = plan};
    bool made = false;
    v->rebuilt = false;
    KITH_TRY(kith__gpu_begin(ctx));
    w.s = (struct kith__gpu_search){.ctx = ctx, .gpu = ctx->state};
    KITH_TRY(kith__gpu_upload_question(&w.s, &plan->now));
    KITH_TRY(need_particles(&w));
    KITH_TRY(load(&w));
    KITH_TRY(make_of_kept(&w, out, &made));
    if (!made) {
        KITH_TRY(rebuild(&w));
        KITH_TRY(make_list(&w, true, out));
        v->valid = w.read.most <= KITH_VERLET_MOST_SHIFT;
    }
    return KITH_OK;
}

/** kith__verlet_backend.forget. */
static void forget(struct kith_verlet *v)
{
    struct kept *d = v->data;
    struct kith__buffer *const all[] = {&d->now, &d->reference, &d->i, &d->shift, &d->band};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
        kith__gpu_buffer_free(all[b]);
    }
    kith_pairs_free(&d->skin);
    free(d);
    v->data = NULL;
}

const struct kith__verlet_backend kith__cuda_verlet = {.update = update, .forget = forget};
