/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends with roles on a GPU, host side. The particles of each role are selected by a
 * prefix sum; with min_links those that link and have too few friends become attached, and the
 * selection is made again. The particles that link and those that are attached are sorted as the
 * two sets of one grid. The former are grouped as in fof_gpu.c; then each of the latter finds its
 * nearest friend among them, and takes its label. Where very many particles are near one, its
 * friend is found by the search for nearest neighbours. The host waits for the device for the
 * number of particles of each role, and as fof_gpu.c does; with min_links before that for the
 * number of clumps of the particles that link, and for the numbers of the second selection.
 */
#include "fof_roles.h"

#include <math.h>
#include <string.h>

#include "fof/groups.h"
#include "fof_search.h"
#include "nearest/nearest.h"

/* Buffers of scratch memory on the device. */
enum {
    ROLES = KITH_GPU_FOF_ROLES, /**< role of each particle */
    RANK,                       /**< numbers of particles of each role before each particle */
    LINK_INDEX,                 /**< struct kith__gpu_selection of the particles that link */
    LINK_XYZ,
    ATTACHED_INDEX, /**< struct kith__gpu_selection of the attached particles */
    ATTACHED_XYZ,
    ALL_IDS,         /**< ids of all particles */
    LINK_IDS,        /**< ids of the particles that link */
    LINK_VELOCITIES, /**< velocities of the particles that link */
    NEAREST,         /**< nearest friend of each attached particle */
    CROWDED,         /**< attached particles that are left to the search for nearest neighbours */
    CROWDED_XYZ,     /**< their coordinates */
    CROWDED_NEAREST, /**< their nearest friends */
    LABELS           /**< labels of all particles, where the result is in host memory */
};

_Static_assert((int)LABELS < (int)KITH_WORK_OF(fof) + (int)KITH_WORK_EACH,
               "this folder's buffers are among those of its question");

/** A search with roles, host side. */
struct task {
    kith_ctx *ctx;                      /**< context of the call */
    const struct kith__question *given; /**< points, box and linking length */
    const struct kith__fof *fof;        /**< options */
    kith_groups *out;                   /**< the result */
    struct kith__gpu_search s; /**< the question with its points in device memory, and temporary
                                    memory of the prefix sum; there is no grid */
    uint8_t *roles;            /**< [n] device: role of each particle, to be changed */
    const void *velocities;    /**< [n][3] device: velocities; NULL: none */
    struct kith__gpu_selection link;     /**< particles that link */
    struct kith__gpu_selection attached; /**< attached particles */
};

/** Allocate scratch memory on the device for n elements of `size` bytes.
 *  @param[out] out  address of the pointer to set, of any type */
static kith_status need(const struct task *t, int slot, int64_t n, size_t size, void *out)
{
    void *data = kith__gpu_need(t->ctx->state, slot, (size_t)n * size);
    KITH_CHECK(t->ctx, data != NULL, KITH_NO_MEMORY,
               "out of device memory for the roles of %lld particles", (long long)n);
    memcpy(out, &data, sizeof data);
    return KITH_OK;
}

/** Copy points, roles and velocities to the device, unless they are there, and queue the check of
 *  all coordinates. */
static kith_status upload(struct task *t)
{
    kith_ctx *ctx = t->ctx;
    struct kith__gpu *gpu = ctx->state;
    const int64_t n = t->given->a.n;
    KITH_TRY(kith__gpu_search_queue_check(ctx, t->given, &t->s));
    KITH_TRY(need(t, ROLES, n, sizeof *t->roles, &t->roles));
    if (t->fof->roles && t->fof->memory == KITH_DEVICE) {
        KITH_GPU_TRY(ctx, "selecting particles",
                     gpuMemcpyAsync(t->roles, t->fof->roles, (size_t)n, gpuMemcpyDeviceToDevice,
                                    gpu->stream));
    } else if (t->fof->roles) {
        KITH_TRY(kith__gpu_upload(ctx, t->roles, t->fof->roles, (size_t)n));
    } else {
        KITH_GPU_TRY(ctx, "selecting particles",
                     gpuMemsetAsync(t->roles, KITH_LINK, (size_t)n, gpu->stream));
    }
    if (t->fof->memory == KITH_DEVICE) {
        t->velocities = t->fof->velocities;
    } else if (t->fof->velocities) {
        const size_t bytes = 3 * (size_t)t->given->precision;
        void *velocities;
        KITH_TRY(need(t, KITH_GPU_FOF_VELOCITIES, n, bytes, &velocities));
        KITH_TRY(kith__gpu_upload(ctx, velocities, t->fof->velocities, (size_t)n * bytes));
        t->velocities = velocities;
    }
    return KITH_OK;
}

/** Select the particles of each role. Waits for their numbers, and for the check of coordinates.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; a failure */
static kith_status select_roles(struct task *t)
{
    kith_ctx *ctx = t->ctx;
    struct kith__gpu *gpu = ctx->state;
    const int64_t n = t->given->a.n;
    const size_t row = 3 * (size_t)t->given->precision;
    int64_t *rank;
    int64_t found;
    KITH_TRY(need(t, RANK, n + 1, sizeof *rank, &rank));
    KITH_TRY(kith__gpu_need_temporary(&t->s, n));
    KITH_GPU_TRY(ctx, "selecting particles", kith__gpu_count_roles(t->roles, n, rank, gpu->stream));
    KITH_GPU_TRY(ctx, "selecting particles",
                 kith__gpu_scan(t->s.temporary, &t->s.temporary_bytes, rank, n + 1, gpu->stream));
    KITH_TRY(kith__gpu_read_back(&t->s, rank + n, &found));
    t->link.n = found & 0xffffffff;
    t->attached.n = found >> KITH_GPU_ATTACHED_BIT;
    KITH_TRY(need(t, LINK_INDEX, t->link.n, sizeof *t->link.index, &t->link.index));
    KITH_TRY(need(t, LINK_XYZ, t->link.n, row, &t->link.xyz));
    KITH_TRY(need(t, ATTACHED_INDEX, t->attached.n, sizeof *t->link.index, &t->attached.index));
    KITH_TRY(need(t, ATTACHED_XYZ, t->attached.n, row, &t->attached.xyz));
    KITH_GPU_TRY(ctx, "selecting particles",
                 kith__gpu_select_roles(&t->s.sweep.grid.question, t->roles, rank, &t->link,
                                        &t->attached, gpu->stream));
    return KITH_OK;
}

/** Return packed points in device memory. */
static kith_points packed(const struct task *t, const struct kith__gpu_selection *selection)
{
    kith_points points = kith_points_packed(selection->xyz, selection->n, t->given->precision);
    points.memory = KITH_DEVICE;
    return points;
}

/** Begin the search among the particles that link: sort them, and list their clumps.
 *  @param attached     true: the attached particles are sorted too, as the second set of the grid
 *  @param every_image  as in kith__subcells_init
 *  @param[out] near    what the kernels that search are given
 *  @param[out] fits    as kith__gpu_fof_list sets it */
static kith_status begin(const struct task *t, bool attached, bool every_image,
                         struct kith__gpu_fof_search *w, struct kith__gpu_near *near, bool *fits)
{
    kith_ctx *ctx = t->ctx;
    const struct kith__gpu *gpu = ctx->state;
    struct kith__question question = *t->given;
    *w = (struct kith__gpu_fof_search){.fof = t->fof, .out = t->out};
    if (t->velocities) {
        void *velocities;
        KITH_TRY(need(t, LINK_VELOCITIES, t->link.n, 3 * (size_t)question.precision, &velocities));
        KITH_GPU_TRY(ctx, "selecting particles",
                     kith__gpu_select_vectors(&t->link, question.precision, t->velocities,
                                              velocities, gpu->stream));
        w->velocities = velocities;
    }
    question.a = packed(t, &t->link);
    question.b = attached ? packed(t, &t->attached) : question.a;
    question.cross = attached;
    KITH_TRY(kith__gpu_search_begin(ctx, &question, true, KITH_GPU_CLUSTER, &w->s));
    KITH_TRY(kith__gpu_fof_list(w, every_image, fits));
    const struct kith__gpu_plan *plan = &gpu->small->plan;
    *near = (struct kith__gpu_near){
        .slack = plan->far ? INFINITY : (float)(2 * (plan->near / question.cutoff - 1)),
        .inverse_square = 1 / (question.cutoff * question.cutoff),
        .min_links = t->fof->min_links,
        .attached = w->s.sweep.grid.b,
        .link_index = t->link.index,
        .attached_index = t->attached.index,
        .velocities = t->velocities};
    for (int k = 0; k < 3; k++) {
        const struct kith__axis *axis = &plan->axis[k];
        near->width[k] = (float)(question.height[k] / (axis->scale * axis->subcells) /
                                 question.cutoff);
    }
    return KITH_OK;
}

/** Give the role KITH_ATTACH to particles that link and have fewer than min_links friends, and
 *  select the particles of each role again. @param[out] fits  as kith__gpu_fof_list sets it */
static kith_status demote(struct task *t, bool *fits)
{
    kith_ctx *ctx = t->ctx;
    struct kith__gpu *gpu = ctx->state;
    const struct kith__gpu_fof_small *small = (const void *)gpu->small->question;
    struct kith__gpu_fof_search w;
    struct kith__gpu_near near;
    KITH_TRY(begin(t, false, true, &w, &near, fits));
    if (!*fits) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_await_small(&w.s));
    w.f.n = small->n_clumps;
    near.f = w.f;
    KITH_GPU_TRY(ctx, "counting links", kith__gpu_demote(&near, t->roles, gpu->stream));
    return select_roles(t);
}

/** Select the ids of the particles that link, after an upload where they are in host memory. */
static kith_status select_ids(const struct task *t, struct kith__gpu_fof_search *w)
{
    kith_ctx *ctx = t->ctx;
    const struct kith__gpu *gpu = ctx->state;
    const int64_t n = t->given->a.n;
    const int64_t *all = t->fof->ids;
    int64_t *ids;
    KITH_TRY(need(t, LINK_IDS, t->link.n, sizeof *ids, &ids));
    if (t->fof->memory == KITH_HOST) {
        int64_t *copy;
        KITH_TRY(need(t, ALL_IDS, n, sizeof *copy, &copy));
        KITH_TRY(kith__gpu_upload(ctx, copy, all, (size_t)n * sizeof *copy));
        all = copy;
    }
    KITH_GPU_TRY(ctx, "selecting particles", kith__gpu_select_ids(&t->link, all, ids, gpu->stream));
    w->ids = ids;
    return KITH_OK;
}

/** Find the nearest friends of the crowded particles by the search for nearest neighbours, whose
 *  order of neighbours at equal distances is that of friends: by index. Overwrites the grid.
 *  @param crowded          [n] device: ids of the particles
 *  @param[in,out] nearest  device: as kith__gpu_attach has left it */
static kith_status attach_crowded(const struct task *t, int32_t *crowded, int64_t n,
                                  int32_t *nearest)
{
    kith_ctx *ctx = t->ctx;
    const struct kith__gpu *gpu = ctx->state;
    struct kith__question question = *t->given;
    struct kith__gpu_selection selection = {.n = n, .index = crowded};
    kith_nearest found = {.rows = n, .k = 1, .memory = KITH_DEVICE};
    KITH_TRY(need(t, CROWDED_XYZ, n, 3 * (size_t)question.precision, &selection.xyz));
    KITH_TRY(need(t, CROWDED_NEAREST, n, sizeof *found.j, &found.j));
    KITH_GPU_TRY(ctx, "attaching particles",
                 kith__gpu_select_vectors(&selection, question.precision, t->attached.xyz,
                                          selection.xyz, gpu->stream));
    question.subcell = 0;
    question.a = packed(t, &selection);
    question.b = packed(t, &t->link);
    question.cross = true;
    KITH_TRY(ctx->backend->nearest->find(ctx, &question, NULL, &found));
    KITH_GPU_TRY(ctx, "attaching particles",
                 kith__gpu_set_nearest(crowded, found.j, n, nearest, gpu->stream));
    return KITH_OK;
}

/** Group the particles that link, and attach the others.
 *  @param[out] labels  [n] device: labels of all particles
 *  @param[out] fits    as kith__gpu_fof_list sets it */
static kith_status group(const struct task *t, int32_t *labels, bool *fits)
{
    kith_ctx *ctx = t->ctx;
    const struct kith__gpu *gpu = ctx->state;
    const struct kith__gpu_fof_small *small = (const void *)gpu->small->question;
    struct kith__gpu_fof_search w;
    struct kith__gpu_near near;
    int32_t *nearest = NULL;
    int32_t *crowded = NULL;
    KITH_TRY(begin(t, t->attached.n > 0, false, &w, &near, fits));
    if (!*fits) {
        return KITH_OK;
    }
    KITH_TRY(kith__gpu_fof_link(&w));
    if (t->attached.n > 0) {
        KITH_TRY(need(t, NEAREST, t->attached.n, sizeof *nearest, &nearest));
        KITH_TRY(need(t, CROWDED, t->attached.n, sizeof *crowded, &crowded));
        near.f = w.f;
        KITH_GPU_TRY(ctx, "attaching particles",
                     kith__gpu_attach(&near, nearest, crowded, gpu->stream));
    }
    if (t->fof->ids) {
        KITH_TRY(select_ids(t, &w));
    }
    w.labels = w.s.sweep.grid.a.x; /* coordinates are not needed any more */
    KITH_TRY(kith__gpu_fof_number_groups(&w));
    if (small->n_crowded > 0) { /* the labels are in memory that this search does not use */
        KITH_TRY(attach_crowded(t, crowded, small->n_crowded, nearest));
    }
    /* pairs of clumps that were deferred may lie in the memory of the labels until here */
    KITH_GPU_TRY(ctx, "labelling",
                 gpuMemsetAsync(labels, 0, (size_t)t->given->a.n * sizeof *labels, gpu->stream));
    KITH_GPU_TRY(
        ctx, "labelling",
        kith__gpu_label_roles(&t->link, &t->attached, w.labels, nearest, labels, gpu->stream));
    return kith__gpu_fof_deliver(&w, labels, t->given->a.n);
}

/** Set all labels to 0, where no particle links. */
static kith_status label_none(const struct task *t, int32_t *labels)
{
    kith_ctx *ctx = t->ctx;
    struct kith__gpu_fof_search w = {.s = {.ctx = ctx, .gpu = ctx->state}, .out = t->out};
    const size_t bytes = (size_t)t->given->a.n * sizeof *labels;
    KITH_TRY(kith__groups_number(ctx, 0, t->out));
    KITH_GPU_TRY(ctx, "labelling", gpuMemsetAsync(labels, 0, bytes, w.s.gpu->stream));
    return kith__gpu_fof_deliver(&w, labels, t->given->a.n);
}

/** Copy points from device memory to host memory, with the gaps that their stride leaves.
 *  @param[in,out] points  afterwards the copy */
static kith_status fetch_points(kith_ctx *ctx, int dim, kith_points *points)
{
    const size_t bytes = ((size_t)(points->n - 1) * (size_t)points->stride + 1) *
                         (size_t)points->precision;
    const void *axis[3] = {points->x, points->y, points->z};
    char *copy = kith__work_need(&ctx->work, KITH_FOF_FETCHED_BUFFER, (size_t)dim * bytes);
    KITH_CHECK(ctx, copy != NULL, KITH_NO_MEMORY, "out of memory for %lld particles",
               (long long)points->n);
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {{NULL, NULL, 0}};
    for (int k = 0; k < dim; k++) {
        copies[k] = (struct kith__gpu_copy){copy + (size_t)k * bytes, axis[k], bytes};
        axis[k] = copy + (size_t)k * bytes;
    }
    KITH_TRY(kith__gpu_download(ctx, copies));
    points->x = axis[0];
    points->y = axis[1];
    points->z = axis[2];
    points->memory = KITH_HOST;
    return KITH_OK;
}

/** Find the groups from copies of the points in host memory, as subcells do not suit the box. */
static kith_status find_on_host(const struct task *t)
{
    kith_ctx *ctx = t->ctx;
    struct kith__question question = *t->given;
    kith_points *points = &question.a;
    struct kith__fof fof = *t->fof;
    kith_groups host = {0};
    KITH_TRY(kith__gpu_fof_fetch(ctx, points->n, question.precision, &fof));
    if (points->memory == KITH_DEVICE) {
        KITH_TRY(fetch_points(ctx, question.dim, points));
        question.b = question.a;
    }
    if (t->out->memory == KITH_HOST) {
        return kith__fof_by_roles(ctx, &question, &fof, t->out);
    }
    kith_status status = kith__fof_by_roles(ctx, &question, &fof, &host);
    if (status == KITH_OK) {
        status = kith__gpu_fof_send(ctx, &host, t->out);
    }
    kith_groups_free(&host);
    return status;
}

kith_status kith__gpu_fof_by_roles(kith_ctx *ctx, const struct kith__question *question,
                                   const struct kith__fof *fof, kith_groups *out)
{
    struct task t = {.ctx = ctx, .given = question, .fof = fof, .out = out};
    const int64_t n = question->a.n;
    int32_t *labels = NULL;
    bool fits = true;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_fof_check(ctx, n, question->precision, fof));
    KITH_TRY(kith__groups_need(ctx, n, out));
    if (n == 0) {
        return kith__groups_number(ctx, 0, out);
    }
    KITH_TRY(upload(&t));
    KITH_TRY(select_roles(&t));
    if (fof->min_links > 0 && t.link.n > 0) {
        KITH_TRY(demote(&t, &fits));
    }
    labels = out->labels;
    if (out->memory == KITH_HOST) {
        KITH_TRY(need(&t, LABELS, n, sizeof *labels, &labels));
    }
    if (t.link.n == 0) {
        return label_none(&t, labels);
    }
    if (fits) {
        KITH_TRY(group(&t, labels, &fits));
    }
    return fits ? KITH_OK : find_on_host(&t);
}
