/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halo properties on a GPU, host side: check all particles, sort them by group, measure the groups.
 * Large groups are those of more than one piece (halos_gpu.h). The host waits for the device three
 * times: for a fault, for the number of large groups, and at the end.
 */
#include "halos_gpu.h"

#include "engine/gpu/search.h"

_Static_assert(sizeof(struct kith__gpu_halos_small) <= KITH_GPU_QUESTION_BYTES,
               "the counters are part of the small data");

/* Buffers of scratch memory on the device: the uploaded arrays, the halos, frames and sums of large
 * groups. SUMS shares memory with the coordinates of a grid, as no grid is built at that time. */
enum { INPUT = KITH_WORK_OF(halos), RESULTS, SUMS = KITH_GPU_X };

/** State of one measurement, host side. */
struct task {
    struct kith__gpu_search s; /**< buffers of a grid, of which the sort's are used */
    struct kith__gpu_halos h;  /**< what kernels are given */
    uint64_t *key[2];          /**< [points + 1] sort keys, and the sort's second buffer; [0] is the
                                    one that holds the result */
    int32_t *id[2]; /**< [points + 1] particles, and the sort's second buffer, as `key` */
};

/* Arrays of the caller that are uploaded when they are in host memory. */
enum { MASSES, VELOCITIES, TYPES, POTENTIALS, DENSITIES, LABELS, ARRAYS };

/** Upload the arrays that are in host memory, and set t->h.members: `given`, with all arrays in
 *  device memory. */
static kith_status upload_members(struct task *t, const struct kith__members *given)
{
    struct kith__members *m = &t->h.members;
    const kith_halo_input *input = &given->input;
    const size_t n = (size_t)given->points.n, real = (size_t)given->points.precision;
    struct kith__gpu_array array[ARRAYS] = {
        [MASSES] = {input->masses, n * real, NULL},
        [VELOCITIES] = {input->velocities, 3 * n * real, NULL},
        [TYPES] = {input->types, n, NULL},
        [POTENTIALS] = {input->potentials, n * real, NULL},
        [DENSITIES] = {input->densities, n * real, NULL},
        [LABELS] = {given->labels, n * sizeof *given->labels, NULL},
    };
    const bool on_device = given->points.memory == KITH_DEVICE;
    void *rest;
    *m = *given;
    m->points = t->s.sweep.grid.question.a;
    for (int a = 0; a < ARRAYS; a++) {
        /* not uploaded: array[a].at stays NULL */
        if (a == LABELS ? given->labels_memory == KITH_DEVICE : on_device) {
            array[a].from = NULL;
        }
    }
    KITH_TRY(kith__gpu_upload_arrays(t->s.ctx, INPUT, array, ARRAYS, 1, &rest));
    m->labels = array[LABELS].at ? array[LABELS].at : given->labels;
    if (!on_device) {
        m->input.masses = array[MASSES].at;
        m->input.velocities = array[VELOCITIES].at;
        m->input.types = array[TYPES].at;
        m->input.potentials = array[POTENTIALS].at;
        m->input.densities = array[DENSITIES].at;
    }
    return KITH_OK;
}

/** Check all particles. @return KITH_OK, or the status of the first fault or of a failure */
static kith_status check(struct task *t)
{
    kith_ctx *ctx = t->s.ctx;
    const struct kith__gpu *gpu = t->s.gpu;
    const struct kith__gpu_halos_small *small = (const void *)gpu->small->question;
    /* all bits are 1: no fault, no empty group */
    KITH_GPU_TRY(ctx, "checking particles",
                 gpuMemsetAsync(t->h.small, 0xff, sizeof *small, gpu->stream));
    KITH_GPU_TRY(ctx, "checking particles", kith__gpu_halo_check(&t->h, gpu->stream));
    KITH_TRY(kith__gpu_queue_small(&t->s));
    KITH_TRY(kith__gpu_await_small(&t->s));
    if (small->fault == UINT64_MAX) {
        return KITH_OK;
    }
    const int64_t fault = (int64_t)small->fault;
    KITH_GPU_TRY(ctx, "checking particles", kith__gpu_halo_value(&t->h, fault, gpu->stream));
    KITH_TRY(kith__gpu_queue_small(&t->s));
    KITH_TRY(kith__gpu_await_small(&t->s));
    return kith__halo_refuse(ctx, &t->s.sweep.grid.question, &t->h.members, fault, small->value);
}

/** Sort the particles by group, find the range of each group, and list the large groups. The second
 *  buffers of the sort then hold begin and size of the groups, and the list.
 *  @return KITH_INVALID for a group without particles, or another status of a failure */
static kith_status sort_members(struct task *t)
{
    kith_ctx *ctx = t->s.ctx;
    const struct kith__gpu *gpu = t->s.gpu;
    struct kith__gpu_halos *h = &t->h;
    const int64_t groups = h->members.groups;
    const struct kith__gpu_halos_small *small = (const void *)gpu->small->question;
    size_t bytes = t->s.temporary_bytes;
    KITH_GPU_TRY(ctx, "sorting members", kith__gpu_halo_keys(h, t->key[0], t->id[0], gpu->stream));
    KITH_GPU_TRY(ctx, "sorting members",
                 kith__gpu_sort_pairs(t->s.temporary, &bytes, t->key, t->id, h->members.points.n,
                                      kith__bit_length((uint64_t)groups), gpu->stream));
    int32_t *large = t->id[1];
    h->label = t->key[0];
    h->order = t->id[0];
    h->begin = (uint32_t *)t->key[1];
    h->size = (int32_t *)(h->begin + groups + 1);
    h->large = large;
    KITH_GPU_TRY(
        ctx, "listing groups",
        gpuMemsetAsync(h->begin, 0xff, (size_t)(groups + 1) * sizeof *h->begin, gpu->stream));
    KITH_GPU_TRY(ctx, "listing groups", kith__gpu_halo_groups(h, gpu->stream));
    bytes = t->s.temporary_bytes;
    KITH_GPU_TRY(ctx, "listing groups",
                 kith__gpu_select_counts(t->s.temporary, &bytes, h->size, groups,
                                         KITH_HALO_PIECE + 1, large, &h->small->n_large,
                                         gpu->stream));
    KITH_TRY(kith__gpu_queue_small(&t->s));
    KITH_TRY(kith__gpu_await_small(&t->s));
    if (small->empty != UINT32_MAX) {
        return kith__halo_empty(ctx, small->empty);
    }
    h->first = small->first;
    h->n_large = small->n_large;
    return KITH_OK;
}

/** Allocate sums and results, measure, and download the results if they are wanted in host
 *  memory. */
static kith_status measure(struct task *t, kith_halos *out)
{
    kith_ctx *ctx = t->s.ctx;
    struct kith__gpu *gpu = t->s.gpu;
    struct kith__gpu_halos *h = &t->h;
    const bool on_device = out->memory == KITH_DEVICE;
    const size_t halo_bytes = (size_t)h->members.groups * sizeof *h->halo;
    const size_t frame_bytes = (size_t)h->n_large * sizeof *h->frame;
    const size_t sum_bytes = (size_t)kith__gpu_halo_pieces(h) * sizeof *h->sums;
    h->halo = on_device ? out->halo : kith__gpu_need(gpu, RESULTS, halo_bytes);
    h->frame = kith__gpu_need(gpu, SUMS, frame_bytes + sum_bytes);
    KITH_CHECK(ctx, h->halo && h->frame, KITH_NO_MEMORY, "out of device memory for %lld halos",
               (long long)h->members.groups);
    h->sums = (struct kith__halo_sums *)(void *)(h->frame + h->n_large);
    if (h->n_large > 0) {
        KITH_GPU_TRY(ctx, "measuring groups", kith__gpu_halo_large(h, gpu->stream));
    }
    if (h->n_large < h->members.groups) {
        KITH_GPU_TRY(ctx, "measuring groups", kith__gpu_halo_small(h, gpu->stream));
    }
    if (on_device) {
        KITH_TRY(kith__gpu_wait_all(ctx, "measuring groups"));
        return kith__proceed(ctx);
    }
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)out->halo, (const char *)h->halo, halo_bytes}};
    return kith__gpu_download(ctx, copies);
}

/** kith__halos_backend.measure */
static kith_status measure_halos(kith_ctx *ctx, const struct kith__question *q,
                                 const struct kith__members *members, kith_halos *out)
{
    struct task t;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__halos_need(ctx, members->groups, out));
    KITH_TRY(kith__gpu_search_room(ctx, q, &t.s, t.key, t.id));
    t.h = (struct kith__gpu_halos){
        .small = (void *)((struct kith__gpu_small *)t.s.gpu->slot[KITH_GPU_PLAN].data)->question};
    KITH_TRY(upload_members(&t, members));
    if (members->points.n > 0) {
        KITH_TRY(check(&t));
    }
    if (members->groups == 0) {
        return KITH_OK;
    }
    KITH_TRY(sort_members(&t));
    return measure(&t, out);
}

const struct kith__halos_backend kith__cuda_halos = {
    .measure = measure_halos,
};
