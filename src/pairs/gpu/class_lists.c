/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists with a radius for each particle on a GPU, host side. The host divides the particles into
 * classes of radius. For each search between classes (pairs/classes.h), kernels copy the particles
 * of these classes, build a grid of the copies, replace the indices of the copies by those of the
 * caller's particles, and sweep: once to count the hits of each row, and once to write them.
 */
#include "class_lists.h"

#include "radii_gpu.h"

/* Buffers of scratch memory: of the device, and, named HOST_..., of the context on the host, which
 * are numbered independently. Of HOST_ORDER and HOST_RADII there is one for each set. */
enum {
    ORDER = KITH_WORK_OF(pairs) + 17, /**< kith__class_lists.order of both sets */
    POINTS,              /**< two buffers, one for each set: copies of the particles of a search */
    COUNTS = POINTS + 2, /**< kith__class_lists.counts */
    FILLED,              /**< kith__class_lists.filled */
    HOST_ORDER = KITH_WORK_OF(pairs) + 18, /**< kith__classes.order */
    HOST_RADII = HOST_ORDER + 2,           /**< radii that were in device memory */
    HOST_ACTIVE = HOST_RADII + 2           /**< kith__rules.active that was in device memory */
};

/** Return the points of a set: 0 is a, 1 is b. */
static const kith_points *points_of(const struct kith__question *q, int set)
{
    return set ? &q->b : &q->a;
}

/** Copy an array of the caller's to scratch memory on the host, where it is in device memory. Waits
 *  for the copy.
 *  @param memory         where the array is
 *  @param slot           number of the host buffer that receives it
 *  @param bytes          size of the array
 *  @param[in,out] array  the array; afterwards in host memory. NULL: there is none */
static kith_status fetch(kith_ctx *ctx, kith_memory memory, int slot, size_t bytes,
                         const void **array)
{
    if (memory == KITH_HOST || !*array) {
        return KITH_OK;
    }
    void *to = kith__work_need(&ctx->work, slot, bytes);
    KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %zu bytes of radii", bytes);
    KITH_TRY(ctx->backend->fetch(ctx, to, *array, bytes));
    *array = to;
    return KITH_OK;
}

/** Divide the particles into classes, on the host.
 *  @param host    the rules, whose arrays are the caller's
 *  @param[out] n  number of classes that have particles (kith__classes_find) */
static kith_status find_classes(kith_ctx *ctx, const struct kith__question *q,
                                const struct kith__rules *host, struct kith__classes *classes,
                                int *n)
{
    const void *radii[2] = {host->radii[0], host->radii[1]};
    const void *active = host->active;
    for (int set = 0; set < 2; set++) {
        const size_t particles = (size_t)points_of(q, set)->n;
        KITH_TRY(fetch(ctx, host->memory, HOST_RADII + set, particles * (size_t)q->precision,
                       &radii[set]));
        classes->order[set] = kith__work_need(&ctx->work, HOST_ORDER + set,
                                              particles * sizeof(int32_t));
        KITH_CHECK(ctx, classes->order[set] != NULL, KITH_NO_MEMORY,
                   "out of memory for classes of %zu radii", particles);
    }
    KITH_TRY(fetch(ctx, host->memory, HOST_ACTIVE, (size_t)q->a.n, &active));
    *n = kith__classes_find(q, host, radii, active, classes);
    return KITH_OK;
}

kith_status kith__gpu_classes_begin(kith_ctx *ctx, const struct kith__question *question,
                                    const struct kith__rules *host, struct kith__list *ruled,
                                    struct kith__class_lists *lists, struct kith__gpu_search *s)
{
    int n;
    struct kith__gpu *gpu = ctx->state;
    const int64_t rows = question->a.n;
    KITH_TRY(find_classes(ctx, question, host, &lists->classes, &n));
    if (n < 2) {
        return KITH_OK;
    }
    /* Uploads the points, and checks them here, as a message about a copy would have its index. */
    KITH_TRY(kith__gpu_search_check(ctx, question, s));
    struct kith__gpu_array array[2] = {{NULL, 0, NULL}};
    for (int set = 0; set < 2; set++) {
        array[set].from = lists->classes.order[set];
        array[set].bytes = (size_t)points_of(question, set)->n * sizeof(int32_t);
    }
    void *rest; /* not used: no room is left behind the arrays */
    KITH_TRY(kith__gpu_upload_arrays(ctx, ORDER, array, 2, 0, &rest));
    lists->order[0] = array[0].at;
    lists->order[1] = array[1].at;
    lists->counts = kith__gpu_need(gpu, COUNTS, (size_t)(rows + 1) * sizeof *lists->counts);
    lists->filled = kith__gpu_need(gpu, FILLED, (size_t)(rows + 1) * sizeof *lists->filled);
    KITH_CHECK(ctx, lists->counts && lists->filled, KITH_NO_MEMORY,
               "out of device memory for %lld rows", (long long)rows);
    lists->rules = *ruled->rules;
    lists->rules.no_self = !question->cross;
    lists->searches = kith__class_searches(&lists->classes, question->precision, question->cutoff,
                                           lists->search);
    s->counts = lists->counts;
    s->empty = false;
    ruled->classes = lists;
    return KITH_OK;
}

/** Begin a search between classes: build the grid of copies of their particles, as for a question
 *  between two sets, and replace its indices by the caller's.
 *  @param all       the search of all particles, with the points in device memory
 *  @param[out] one  the search */
static kith_status begin_search(const struct kith__gpu_search *all,
                                const struct kith__class_lists *lists,
                                const struct kith__class_search *search,
                                struct kith__gpu_search *one)
{
    kith_ctx *ctx = all->ctx;
    struct kith__gpu *gpu = all->gpu;
    const struct kith__question *whole = &all->sweep.grid.question;
    struct kith__question q = *whole;
    q.cross = true;
    q.cutoff = search->cutoff;
    for (int set = 0; set < 2; set++) {
        const int64_t n = search->last[set] - search->first[set];
        const size_t axis = (size_t)n * (size_t)q.precision;
        char *to = kith__gpu_need(gpu, POINTS + set, 3 * axis);
        KITH_CHECK(ctx, to != NULL, KITH_NO_MEMORY, "out of device memory for %lld particles",
                   (long long)n);
        KITH_GPU_TRY(ctx, "copying particles",
                     kith__gpu_copy_points(points_of(whole, set), q.dim,
                                           lists->order[set] + search->first[set], n, to,
                                           gpu->stream));
        kith_points *points = set ? &q.b : &q.a;
        *points = kith_points_split(to, to + axis, to + 2 * axis, n, q.precision);
        points->memory = KITH_DEVICE;
    }
    KITH_TRY(kith__gpu_search_begin(ctx, &q, true, KITH_GPU_CLUSTER, one));
    struct kith__gpu_grid *grid = &one->sweep.grid;
    KITH_GPU_TRY(ctx, "naming particles",
                 kith__gpu_name_particles(grid->a.id, lists->order[0] + search->first[0], grid->a.n,
                                          gpu->stream));
    KITH_GPU_TRY(ctx, "naming particles",
                 kith__gpu_name_particles(grid->b.id, lists->order[1] + search->first[1], grid->b.n,
                                          gpu->stream));
    /* write_shift (extras.cuh) reads the caller's particles by their indices */
    grid->question.a = whole->a;
    grid->question.b = whole->b;
    one->sweep.forward = false;
    return KITH_OK;
}

kith_status kith__gpu_classes_offsets(struct kith__gpu_search *s, const struct kith__list *list)
{
    kith_ctx *ctx = s->ctx;
    const struct kith__class_lists *lists = list->classes;
    const int64_t n = s->sweep.grid.question.a.n;
    gpuStream_t stream = s->gpu->stream;
    KITH_GPU_TRY(ctx, "clearing counts",
                 gpuMemsetAsync(s->counts, 0, (size_t)(n + 1) * sizeof *s->counts, stream));
    for (int k = 0; k < lists->searches; k++) {
        struct kith__gpu_search one;
        KITH_TRY(begin_search(s, lists, &lists->search[k], &one));
        KITH_GPU_TRY(
            ctx, "counting rows",
            kith__gpu_count_more(&one.sweep, &lists->rules, !list->full, s->counts, stream));
    }
    KITH_TRY(kith__gpu_need_temporary(s, n));
    size_t bytes = s->temporary_bytes;
    KITH_GPU_TRY(ctx, "summing counts",
                 kith__gpu_scan(s->temporary, &bytes, s->counts, n + 1, stream));
    return KITH_OK;
}

kith_status kith__gpu_classes_fill(struct kith__gpu_search *s, const struct kith__list *list,
                                   const struct kith__gpu_list *part, int64_t first, int64_t last)
{
    kith_ctx *ctx = s->ctx;
    const struct kith__class_lists *lists = list->classes;
    const int64_t n = s->sweep.grid.question.a.n;
    gpuStream_t stream = s->gpu->stream;
    KITH_GPU_TRY(ctx, "clearing counts",
                 gpuMemsetAsync(lists->filled, 0, (size_t)(n + 1) * sizeof *lists->filled, stream));
    for (int k = 0; k < lists->searches; k++) {
        struct kith__gpu_search one;
        KITH_TRY(begin_search(s, lists, &lists->search[k], &one));
        KITH_GPU_TRY(ctx, "filling rows",
                     kith__gpu_append_rows(&one.sweep, &lists->rules, !list->full, part, s->counts,
                                           lists->filled, stream));
        if (list->sorted && k == lists->searches - 1) {
            /* All rows are complete. The sort uses the grid of the last search, whose plan says
             * only whether one of its copies was wrapped, but the rows have particles of all
             * searches: set plan->wrapped, a bool, so that write_shift computes the wrapping. */
            KITH_GPU_TRY(ctx, "sorting rows",
                         gpuMemsetAsync(&one.sweep.grid.plan->wrapped, 1, 1, stream));
            struct kith__gpu_grid grid = one.sweep.grid;
            grid.question.cross = s->sweep.grid.question.cross;
            KITH_GPU_TRY(ctx, "sorting rows",
                         kith__gpu_sort_rows(&grid, part, s->counts, first, last, stream));
        }
    }
    return KITH_OK;
}
