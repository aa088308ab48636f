/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friends-of-friends on a GPU, host side: sort particles by cell and subcell, list clumps, link,
 * number the groups. The host waits for the device twice: for the numbers of clumps and dense
 * cells, and for the number of groups. Buffers are reused as soon as their contents are not needed.
 */
#include "fof_search.h"

#include "fof_batch.h"
#include "fof_roles.h"
#include "fof/groups.h"

_Static_assert(sizeof(struct kith__gpu_fof_small) <= KITH_GPU_QUESTION_BYTES,
               "the counters are part of the small data");

/** Allocate f->deferred. Labels are written last, so their memory serves where it is on the device
 *  and nodes are clumps. Where nodes are particles, more pairs of clumps are deferred. */
static void need_deferred(struct kith__gpu_fof_search *w)
{
    const unsigned long long most_of_nodes = 1ull << 20; /* 12 MB */
    struct kith__gpu_friends *f = &w->f;
    const unsigned long long of_nodes = 8 * (unsigned long long)f->particles;
    if (f->by_clump && w->out->memory == KITH_DEVICE) {
        f->deferred = (struct kith__gpu_clump_pair *)(void *)w->out->labels;
        f->deferred_room = (size_t)f->particles * sizeof *w->out->labels / sizeof *f->deferred;
    } else {
        f->deferred_room = (unsigned long long)f->particles / 8 + 1024;
        if (!f->by_clump) {
            f->deferred_room += of_nodes < most_of_nodes ? of_nodes : most_of_nodes;
        }
        f->deferred = kith__gpu_need(w->s.gpu, KITH_GPU_FOF_DEFERRED,
                                     f->deferred_room * sizeof *f->deferred);
    }
}

/** List the clumps, and make every node a tree. The buffers of the finished sort hold the clumps'
 *  keys and first slots; that of the particles' keys holds the table of cells and, once all is
 *  linked, the sizes of trees. */
static kith_status list_clumps(struct kith__gpu_fof_search *w)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    struct kith__gpu_friends *f = &w->f;
    const struct kith__gpu_grid *grid = &w->s.sweep.grid;
    uint64_t *key = (uint64_t *)(void *)w->s.counts;
    uint32_t *first = grid->marks;
    size_t bytes = w->s.temporary_bytes;
    const size_t dense_bytes = ((size_t)(f->particles / KITH_DENSE) + 1) * sizeof *f->dense;
    f->parent = kith__gpu_need(gpu, KITH_GPU_FOF_PARENT, (size_t)f->particles * sizeof *f->parent);
    w->s.temporary = kith__gpu_need(gpu, KITH_GPU_TEMPORARY,
                                    bytes > dense_bytes ? bytes : dense_bytes);
    f->dense = w->s.temporary; /* used until groups are sorted */
    need_deferred(w);
    KITH_CHECK(ctx, f->dense && f->parent && f->deferred, KITH_NO_MEMORY,
               "out of device memory for groups of %lld particles", (long long)f->particles);
    f->first = first;
    f->key = key;
    f->start = (uint32_t *)grid->a.key;
    KITH_GPU_TRY(ctx, "clearing counts",
                 gpuMemsetAsync(f->small, 0, sizeof *f->small, gpu->stream));
    KITH_GPU_TRY(ctx, "listing clumps",
                 kith__gpu_list_runs(w->s.temporary, &bytes, grid->a.key, f->particles,
                                     grid->a.id_bits, key, first, &f->small->n_clumps,
                                     gpu->stream));
    KITH_GPU_TRY(ctx, "listing clumps", kith__gpu_make_trees(f, first, gpu->stream));
    return kith__gpu_queue_small(&w->s);
}

/* The device starts with the kernel for no dense cells while the host reads how many clumps and
 * dense cells there are. */
kith_status kith__gpu_fof_link(struct kith__gpu_fof_search *w)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    struct kith__gpu_friends *f = &w->f;
    const struct kith__gpu_fof_small *small = (const void *)gpu->small->question;
    KITH_GPU_TRY(ctx, "linking", kith__gpu_link_without_dense(f, gpu->stream));
    KITH_TRY(kith__gpu_await_small(&w->s));
    f->n = small->n_clumps;
    f->nodes = f->by_clump ? f->n : f->particles;
    f->any_dense = small->n_dense > 0;
    const size_t bytes = (size_t)small->n_dense * (size_t)f->subcells.rows * sizeof *f->index;
    f->index = kith__gpu_need(gpu, KITH_GPU_FOF_INDEX, bytes);
    KITH_CHECK(ctx, f->index != NULL, KITH_NO_MEMORY, "out of device memory for %lld clumps",
               (long long)f->n);
    if (f->any_dense) {
        KITH_GPU_TRY(ctx, "indexing clumps", gpuMemsetAsync(f->index, 0, bytes, gpu->stream));
        KITH_GPU_TRY(ctx, "indexing clumps", kith__gpu_index_dense_cells(f, gpu->stream));
    }
    KITH_GPU_TRY(ctx, "linking", kith__gpu_link(f, gpu->stream));
    return KITH_OK;
}

/** Sort the groups by one key; stable. @param bits  of the key @param least  for KITH_GPU_BY_ID */
static kith_status sort_groups(struct kith__gpu_fof_search *w, enum kith__gpu_order order, int bits,
                               const uint64_t *least)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    const int64_t n = w->n_groups;
    size_t bytes = w->s.temporary_bytes;
    uint64_t *key[2] = {w->key, w->key + n};
    int32_t *root[2] = {w->root, w->root + n};
    KITH_GPU_TRY(ctx, "sorting groups",
                 kith__gpu_group_keys(&w->f, w->root, n, order, least, w->key, gpu->stream));
    KITH_GPU_TRY(ctx, "sorting groups",
                 kith__gpu_sort_pairs(w->s.temporary, &bytes, key, root, n, bits, gpu->stream));
    if (root[0] != w->root) {
        KITH_GPU_TRY(ctx, "sorting groups",
                     gpuMemcpyAsync(w->root, root[0], (size_t)n * sizeof *w->root,
                                    gpuMemcpyDeviceToDevice, gpu->stream));
    }
    return KITH_OK;
}

/** Sort the groups by falling size, ties by their smallest id, ties of that by their root. */
static kith_status sort_by_id(struct kith__gpu_fof_search *w)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    const int64_t particles = w->f.particles;
    const int64_t n = w->ids ? 0 : particles; /* ids to upload */
    int64_t *ids = kith__gpu_need(gpu, KITH_GPU_FOF_IDS,
                                  (size_t)(n + w->n_groups) * sizeof(int64_t));
    KITH_CHECK(ctx, ids != NULL, KITH_NO_MEMORY, "out of device memory for %lld ids",
               (long long)particles);
    uint64_t *least = (uint64_t *)(ids + n);
    const int bits = kith__bit_length((uint64_t)particles);
    if (!w->ids) {
        KITH_TRY(kith__gpu_upload(ctx, ids, w->fof->ids, (size_t)n * sizeof *ids));
        w->ids = ids;
    }
    KITH_TRY(sort_groups(w, KITH_GPU_BY_ROOT, bits, NULL)); /* order of groups with equal ids */
    KITH_GPU_TRY(ctx, "finding ids",
                 kith__gpu_least_ids(&w->f, w->root, w->n_groups, w->ids, least, gpu->stream));
    KITH_TRY(sort_groups(w, KITH_GPU_BY_ID, 64, least));
    return sort_groups(w, KITH_GPU_BY_SIZE, bits, NULL);
}

/** List and sort the groups. */
static kith_status order_groups(struct kith__gpu_fof_search *w)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    struct kith__gpu_friends *f = &w->f;
    const struct kith__gpu_fof_small *small = (const void *)gpu->small->question;
    int32_t *listed = (int32_t *)w->s.counts;    /* held the clumps' keys; linking is over */
    f->below = (int32_t *)w->s.sweep.grid.a.key; /* held the table of cells */
    f->mark = f->below + f->nodes;
    KITH_GPU_TRY(ctx, "measuring groups",
                 kith__gpu_measure(f, w->fof->min_members, listed, gpu->stream));
    KITH_TRY(kith__gpu_queue_small(&w->s));
    KITH_GPU_TRY(ctx, "labelling",
                 gpuMemsetAsync(w->labels, 0, (size_t)f->particles * sizeof(int32_t), gpu->stream));
    KITH_TRY(kith__gpu_await_small(&w->s));
    w->n_groups = small->n_groups;
    const size_t n = (size_t)w->n_groups;
    w->key = kith__gpu_need(gpu, KITH_GPU_Y, /* held coordinates, not needed any more */
                            2 * n * (sizeof *w->key + sizeof *w->root) + 1);
    KITH_CHECK(ctx, w->key != NULL, KITH_NO_MEMORY, "out of device memory for %lld groups",
               (long long)n);
    w->root = (int32_t *)(w->key + 2 * n);
    if (n == 0) {
        return KITH_OK;
    }
    KITH_GPU_TRY(
        ctx, "listing groups",
        gpuMemcpyAsync(w->root, listed, n * sizeof *w->root, gpuMemcpyDeviceToDevice, gpu->stream));
    const int bits = kith__bit_length((uint64_t)f->particles);
    return w->fof->ids ? sort_by_id(w) : sort_groups(w, KITH_GPU_BY_LEADER, 2 * bits, NULL);
}

kith_status kith__gpu_fof_number_groups(struct kith__gpu_fof_search *w)
{
    kith_groups *out = w->out;
    kith_ctx *ctx = w->s.ctx;
    KITH_TRY(order_groups(w));
    KITH_TRY(kith__groups_number(ctx, w->n_groups, out));
    /* the keys of groups are not needed any more */
    int64_t *members = out->memory == KITH_DEVICE ? out->members : (int64_t *)w->key;
    if (w->n_groups > 0) {
        KITH_GPU_TRY(
            ctx, "labelling",
            kith__gpu_label(&w->f, w->root, w->n_groups, members, w->labels, w->s.gpu->stream));
    }
    return KITH_OK;
}

kith_status kith__gpu_fof_deliver(struct kith__gpu_fof_search *w, const int32_t *labels, int64_t n)
{
    kith_groups *out = w->out;
    kith_ctx *ctx = w->s.ctx;
    if (out->memory == KITH_DEVICE) {
        KITH_TRY(kith__gpu_wait_all(ctx, "labelling"));
        return kith__proceed(ctx);
    }
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)out->labels, (const char *)labels, (size_t)n * sizeof *labels},
        {(char *)out->members, (const char *)w->key, (size_t)w->n_groups * sizeof *out->members}};
    return kith__gpu_download(ctx, copies);
}

kith_status kith__gpu_fof_send(kith_ctx *ctx, const kith_groups *from, kith_groups *to)
{
    KITH_TRY(kith__groups_need(ctx, from->points, to));
    KITH_TRY(kith__groups_number(ctx, from->n, to));
    KITH_TRY(
        kith__gpu_upload(ctx, to->labels, from->labels, (size_t)from->points * sizeof *to->labels));
    KITH_TRY(
        kith__gpu_upload(ctx, to->members, from->members, (size_t)from->n * sizeof *to->members));
    KITH_TRY(kith__gpu_wait_all(ctx, "sending groups"));
    return KITH_OK;
}

kith_status kith__gpu_fof_check(kith_ctx *ctx, int64_t n, kith_precision precision,
                                const struct kith__fof *fof)
{
    struct kith__gpu *gpu = ctx->state;
    struct kith__gpu_fof_faults faults;
    uint8_t role;
    if (fof->memory == KITH_HOST || n == 0 || !(fof->roles || fof->velocities)) {
        return KITH_OK;
    }
    struct kith__gpu_fof_faults *there = kith__gpu_need(gpu, KITH_GPU_FOF_FAULTS, sizeof *there);
    KITH_CHECK(ctx, there != NULL, KITH_NO_MEMORY, "out of device memory for checks");
    KITH_GPU_TRY(ctx, "checking options", gpuMemsetAsync(there, 0, sizeof *there, gpu->stream));
    KITH_GPU_TRY(
        ctx, "checking options",
        kith__gpu_find_faults(fof->roles, fof->velocities, precision, n, there, gpu->stream));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {(char *)&faults, (const char *)there, sizeof faults}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    if (faults.role) {
        const int64_t p = INT64_MAX - (int64_t)faults.role;
        struct kith__gpu_copy one[KITH_GPU_COPIES] = {
            {(char *)&role, (const char *)fof->roles + p, sizeof role}};
        KITH_TRY(kith__gpu_download(ctx, one));
        return kith__fof_refuse_role(ctx, p, role);
    }
    return faults.velocity ? kith__fof_refuse_velocity(ctx, INT64_MAX - (int64_t)faults.velocity)
                           : KITH_OK;
}

kith_status kith__gpu_fof_fetch(kith_ctx *ctx, int64_t n, kith_precision precision,
                                struct kith__fof *fof)
{
    const size_t ids = fof->ids ? (size_t)n * sizeof *fof->ids : 0;
    const size_t velocities = fof->velocities ? 3 * (size_t)n * (size_t)precision : 0;
    const size_t roles = fof->roles ? (size_t)n : 0;
    if (fof->memory == KITH_HOST) {
        return KITH_OK;
    }
    char *to = kith__work_need(&ctx->work, KITH_FOF_FETCHED_BUFFER + 1, ids + velocities + roles);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for the options of %lld particles",
               (long long)n);
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        {to, (const char *)fof->ids, ids},
        {to + ids, fof->velocities, velocities},
        {to + ids + velocities, (const char *)fof->roles, roles}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    fof->ids = fof->ids ? (const int64_t *)(const void *)to : NULL;
    fof->velocities = fof->velocities ? to + ids : NULL;
    fof->roles = fof->roles ? (const uint8_t *)to + ids + velocities : NULL;
    fof->memory = KITH_HOST;
    return KITH_OK;
}

/** Find the groups by the pair search, as subcells do not fit. Gives up the grid that is being
 *  sorted; what is queued of it ends first, as all work is queued on one stream. */
static kith_status find_by_pairs(kith_ctx *ctx, const struct kith__question *q,
                                 const struct kith__fof *fof, kith_groups *out)
{
    struct kith__fof here = *fof;
    KITH_TRY(kith__gpu_fof_fetch(ctx, q->a.n, q->precision, &here));
    if (out->memory == KITH_HOST) {
        return kith__fof_by_pairs(ctx, q, &here, out);
    }
    kith_groups host = {0};
    kith_status status = kith__fof_by_pairs(ctx, q, &here, &host);
    if (status == KITH_OK) {
        status = kith__gpu_fof_send(ctx, &host, out);
    }
    kith_groups_free(&host);
    return status;
}

kith_status kith__gpu_fof_list(struct kith__gpu_fof_search *w, bool every_image, bool *fits)
{
    kith_ctx *ctx = w->s.ctx;
    struct kith__gpu *gpu = w->s.gpu;
    const struct kith__fof *fof = w->fof;
    const struct kith__gpu_grid *grid = &w->s.sweep.grid;
    const struct kith__question *q = &grid->question;
    const struct kith__gpu_plan plan = gpu->small->plan;
    struct kith__gpu_friends *f = &w->f;
    *f = (struct kith__gpu_friends){
        .question = *q,
        .axis = {plan.axis[0], plan.axis[1], plan.axis[2]},
        .table = plan.table,
        .by_clump = !plan.far && !fof->velocities,
        .cells = plan.cells,
        .particles = q->a.n,
        .x = grid->a.x,
        .y = grid->a.y,
        .z = grid->a.z,
        .id = grid->a.id,
        .small = (void *)((struct kith__gpu_small *)gpu->slot[KITH_GPU_PLAN].data)->question,
        .stop = w->s.sweep.next};
    KITH_GPU_TRY(ctx, "linking", gpuMemsetAsync(w->s.sweep.next, 0, sizeof *f->stop, gpu->stream));
    *fits = kith__subcells_init(q, f->axis, plan.near, every_image, &f->subcells);
    if (!*fits) {
        return KITH_OK;
    }
    if (fof->velocities && !w->velocities) {
        const size_t bytes = 3 * (size_t)q->a.n * (size_t)q->precision;
        void *velocities = kith__gpu_need(gpu, KITH_GPU_FOF_VELOCITIES, bytes);
        KITH_CHECK(ctx, velocities != NULL, KITH_NO_MEMORY,
                   "out of device memory for %lld velocities", (long long)q->a.n);
        KITH_TRY(kith__gpu_upload(ctx, velocities, fof->velocities, bytes));
        w->velocities = velocities;
    }
    f->velocities = w->velocities;
    f->velocity_length = fof->velocity_length;
    return list_clumps(w);
}

static kith_status find_groups(kith_ctx *ctx, const struct kith__question *q,
                               const struct kith__fof *fof, kith_groups *out)
{
    struct kith__gpu_fof_search w = {.fof = fof, .out = out};
    bool fits;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(kith__gpu_fof_check(ctx, q->a.n, q->precision, fof));
    if (fof->memory == KITH_DEVICE) {
        w.ids = fof->ids;
        w.velocities = fof->velocities;
    }
    KITH_TRY(kith__groups_need(ctx, q->a.n, out));
    KITH_TRY(kith__gpu_search_begin(ctx, q, true, KITH_GPU_CLUSTER, &w.s));
    if (w.s.empty) {
        return kith__groups_number(ctx, 0, out);
    }
    KITH_TRY(kith__gpu_fof_list(&w, false, &fits));
    if (!fits) {
        return find_by_pairs(ctx, q, fof, out);
    }
    KITH_TRY(kith__gpu_fof_link(&w));
    /* a coordinate buffer is not needed any more */
    w.labels = out->memory == KITH_DEVICE ? out->labels : (int32_t *)w.s.sweep.grid.a.x;
    KITH_TRY(kith__gpu_fof_number_groups(&w));
    return kith__gpu_fof_deliver(&w, w.labels, q->a.n);
}

const struct kith__fof_backend kith__cuda_fof = {
    .find = find_groups,
    .find_by_roles = kith__gpu_fof_by_roles,
    .find_together = kith__gpu_fof_together,
};
