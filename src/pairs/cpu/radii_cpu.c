/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists with a radius for each particle, on CPU cores: searches between classes of radius
 * (pairs/classes.h), each with a grid of its own. All lists are made by rows: the searches count
 * the hits of each particle, the prefix sum of the counts gives the offset of each row, and the
 * searches are made again and append their hits to the rows. Sorted rows are sorted last. The grid
 * of a search is built of copies of the particles of its classes; then its indices, which are those
 * of the copies, are replaced by the caller's (name_particles), so that the kernels of
 * pairs_kernel.c write the caller's indices. O(n) for each search, and O(candidates).
 */
#include "radii_cpu.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "engine/bounds.h"
#include "engine/cpu/run.h"
#include "pairs/classes.h"
#include "pairs/list.h"

/** Buffers of the context's scratch memory, behind those of rules.c. Of the first two there is one
 *  for each set. */
enum {
    KITH_RADII_ORDER = KITH_WORK_OF(pairs) + 18, /**< kith__classes.order */
    KITH_RADII_COPIES = KITH_RADII_ORDER + 2,    /**< coordinates of the particles of a search */
    KITH_RADII_FILLED = KITH_RADII_COPIES + 2,   /**< kith__list_state.filled */
    KITH_RADII_KEYS                              /**< keys of the pairs whose rows are sorted */
};

/** The making of a list. */
struct radii_list {
    kith_ctx *ctx;                         /**< context of the call */
    const struct kith__question *question; /**< all particles */
    const struct kith__list *list;         /**< form of the list */
    struct kith__rules rules;              /**< rules of the list, with no_self set for one set */
    struct kith__classes classes;          /**< the particles by class */
    int tail;                              /**< the classes from this one on are searched as one */
    struct kith__class_search search[KITH_CLASS_SEARCHES]; /**< the searches */
    int searches;                                          /**< number of searches */
    int64_t done, total; /**< for the watch callback: work blocks of the searches made so far, and
                              of all searches of the call, which are made twice: to count and to
                              fill */
};

/** Return the points of a set: 0 is a, 1 is b. */
static const kith_points *points_of(const struct kith__question *q, int set)
{
    return set ? &q->b : &q->a;
}

/* --------------------------------------------------------------------------------- the searches */

/** Shared state of the parallel loop that copies the coordinates of particles. */
struct copy_loop {
    const kith_points *from; /**< the caller's particles */
    const int32_t *index;    /**< [n] indices of the particles to copy */
    int dim;                 /**< dimensions: number of coordinates that are copied */
    void *to[3];             /**< [n] each: receive x, y and z, in the precision of `from` */
};

/** Copy the coordinates of particles [begin, end) of the loop. */
static void copy_range(void *state, int64_t begin, int64_t end)
{
    const struct copy_loop *loop = state;
    const void *const from[3] = {loop->from->x, loop->from->y, loop->from->z};
    for (int k = 0; k < loop->dim; k++) {
        if (loop->from->precision == KITH_FLOAT) {
            float *to = loop->to[k];
            for (int64_t p = begin; p < end; p++) {
                to[p] = ((const float *)from[k])[loop->index[p] * loop->from->stride];
            }
        } else {
            double *to = loop->to[k];
            for (int64_t p = begin; p < end; p++) {
                to[p] = ((const double *)from[k])[loop->index[p] * loop->from->stride];
            }
        }
    }
}

/** Copy the coordinates of the particles of a search to scratch memory, in the order of classes.
 *  @param set          0: those whose rows are written, 1: the candidates
 *  @param[out] points  the copies */
static kith_status copy_points(const struct radii_list *r, const struct kith__class_search *search,
                               int set, kith_points *points)
{
    const struct kith__question *q = r->question;
    const int64_t n = search->last[set] - search->first[set];
    const size_t bytes = (size_t)n * (size_t)q->precision;
    char *to = kith__work_need(&r->ctx->work, KITH_RADII_COPIES + set, 3 * bytes);
    KITH_CHECK(r->ctx, to != NULL, KITH_NO_MEMORY, "out of memory for %lld particles",
               (long long)n);
    struct copy_loop loop = {.from = points_of(q, set),
                             .index = r->classes.order[set] + search->first[set],
                             .dim = q->dim,
                             .to = {to, to + bytes, to + 2 * bytes}};
    kith__loop(r->ctx, n, copy_range, &loop);
    *points = kith_points_split(to, to + bytes, to + 2 * bytes, n, q->precision);
    return kith__proceed(r->ctx);
}

/** Build the grid of copies of the particles of a search, as for a question between two sets, as
 *  its rows and its candidates are of different classes. The grid's indices are those of the
 *  copies.
 *  @param[out] q  question of the search: its points are the copies */
static kith_status build_grid(const struct radii_list *r, const struct kith__class_search *search,
                              struct kith__question *q, struct kith__grid *grid)
{
    *q = *r->question;
    q->cross = true;
    q->cutoff = search->cutoff;
    KITH_TRY(copy_points(r, search, 0, &q->a));
    KITH_TRY(copy_points(r, search, 1, &q->b));
    return kith__grid_build(r->ctx, q, grid);
}

/** Estimate the mean number of candidates of a query particle: the particles of set b in its cell,
 *  times 27, the number of cells around it in three dimensions. Both sets are sorted by key, so one
 *  pass over both finds the particles of each cell. */
static double candidates_of_each(const struct kith__grid *grid)
{
    enum { AROUND = 27 };
    const struct kith__sorted *a = &grid->a;
    const struct kith__sorted *b = &grid->b;
    double sum = 0;
    int64_t sb = 0;
    for (int64_t sa = 0; sa < a->n && grid->cells > 0;) {
        const uint64_t cell = a->key[sa];
        const int64_t first_a = sa;
        while (sa < a->n && a->key[sa] == cell) {
            sa++;
        }
        while (sb < b->n && b->key[sb] < cell) {
            sb++;
        }
        const int64_t first_b = sb;
        while (sb < b->n && b->key[sb] == cell) {
            sb++;
        }
        sum += (double)(sa - first_a) * (double)(sb - first_b);
    }
    return a->n > 0 ? AROUND * sum / (double)a->n : 0;
}

/** Choose r->tail, the first of the classes that are searched as one: the lowest class that is
 *  tried for which the first search of the tail (kith__class_tail) has few candidates.
 *  KITH_CLASSES, no tail, where it would have fewer than two classes with particles. */
static kith_status choose_tail(struct radii_list *r)
{
    static const double few = 300; /* candidates whose tests cost less than one more search */
    struct kith__class_search search;
    int step = 1;
    for (r->tail = 0; r->tail < KITH_CLASSES; r->tail += step) {
        const int classes = kith__class_tail(&r->classes, r->question->precision,
                                             r->question->cutoff, r->tail, &search);
        if (classes < 2) {
            break;
        }
        struct kith__question q;
        struct kith__grid grid;
        KITH_TRY(build_grid(r, &search, &q, &grid));
        const double each = candidates_of_each(&grid);
        if (each <= few) {
            return KITH_OK;
        }
        /* The next class has half the radius. At uniform density it has an eighth of the
         * candidates, or more: `step` is the least number of classes to go on by that can bring
         * `each` down to `few`. */
        step = (int)ceil(log2(each / few) / 3);
    }
    r->tail = KITH_CLASSES;
    return KITH_OK;
}

/** Replace the indices of sorted copies by those of the caller's particles.
 *  @param index  [sorted->n] the caller's index of each copy */
static void name_particles(struct kith__sorted *sorted, const int32_t *index)
{
    for (int64_t s = 0; s < sorted->n; s++) {
        sorted->id[s] = index[sorted->id[s]];
    }
}

/** What all threads do in the searches. */
struct operation {
    kith__work_fn *const *kernel;  /**< [instruction sets] the kernel */
    bool upper;                    /**< only pairs of a half list: (i, j, S) with j after i, or j =
                                        i and S after 0 */
    struct kith__list_state state; /**< copied to the state of each thread; the rules are added */
    int64_t begin, end;            /**< rows that are counted or written: [begin, end) */
};

/** Make one search: build its grid, and run the operation for all of its query particles. */
static kith_status search_classes(struct radii_list *r, const struct kith__class_search *search,
                                  const struct operation *operation)
{
    kith_ctx *ctx = r->ctx;
    struct kith__grid grid;
    struct kith__question q;
    KITH_TRY(build_grid(r, search, &q, &grid));
    name_particles(&grid.a, r->classes.order[0] + search->first[0]);
    name_particles(&grid.b, r->classes.order[1] + search->first[1]);
    /* pairs_kernel.c reads the points by the caller's indices, for shifts between the coordinates
     * as given (image_of) */
    q.a = r->question->a;
    q.b = r->question->b;
    KITH_TRY(kith__run_prepare(ctx, &q, &grid, KITH_ALL, sizeof(struct kith__list_state)));
    for (int t = 0; t < ctx->threads; t++) {
        struct kith__sweep *sweep = kith__sweep_of(ctx, t);
        *kith__list_of(sweep) = operation->state;
        kith__list_of(sweep)->rules = &r->rules;
        sweep->keep_slots = operation->state.extras != 0;
        sweep->upper = operation->upper;
        sweep->id_begin = (int32_t)operation->begin;
        sweep->id_end = operation->end == r->question->a.n ? INT32_MAX : (int32_t)operation->end;
    }
    const int64_t blocks = kith__work_blocks(&grid);
    struct kith__run run = {.ctx = ctx,
                            .last = blocks,
                            .watch_from = r->done,
                            .watch_to = r->done + blocks,
                            .watch_total = r->total,
                            .block = operation->kernel[kith__isa(ctx)]};
    r->done += blocks;
    return kith__run(&run);
}

/** Make all searches. */
static kith_status search_all(struct radii_list *r, const struct operation *operation)
{
    for (int s = 0; s < r->searches; s++) {
        KITH_TRY(search_classes(r, &r->search[s], operation));
    }
    return KITH_OK;
}

/** Divide the particles into classes, and choose the searches.
 *  @return KITH_OK, with r->searches 0 where all radii are of one class: one search with the
 *          largest radius is then as good; KITH_NOT_FINITE, KITH_LIMIT, KITH_NO_MEMORY,
 *          KITH_CANCELLED */
static kith_status begin(kith_ctx *ctx, const struct kith__question *q,
                         const struct kith__list *list, struct radii_list *r)
{
    *r = (struct radii_list){.ctx = ctx, .question = q, .list = list, .rules = *list->rules};
    const void *radii[2];
    for (int set = 0; set < 2; set++) {
        const int64_t n = points_of(q, set)->n;
        radii[set] = (const char *)r->rules.radii[set] +
                     (size_t)r->rules.first[set] * (size_t)q->precision;
        r->classes.order[set] = kith__work_need(&ctx->work, KITH_RADII_ORDER + set,
                                                (size_t)n * sizeof(int32_t));
        KITH_CHECK(ctx, r->classes.order[set] != NULL, KITH_NO_MEMORY,
                   "out of memory for classes of %lld radii", (long long)n);
    }
    const uint8_t *active = r->rules.active ? r->rules.active + r->rules.first[0] : NULL;
    if (kith__classes_find(q, &r->rules, radii, active, &r->classes) < 2) {
        return KITH_OK;
    }
    /* Coordinates are checked here, as the message of a grid of copies would have the index of a
     * copy. */
    KITH_TRY(kith__bounds_check(ctx, q));
    r->rules.no_self = !q->cross;
    KITH_TRY(choose_tail(r));
    r->searches = kith__class_searches_to(&r->classes, q->precision, q->cutoff, r->tail, r->search);
    for (int s = 0; s < r->searches; s++) {
        /* twice: once to count the hits, once to write them */
        r->total += 2 * ((r->search[s].last[0] - r->search[s].first[0]) / KITH_WORK_BLOCK + 1);
    }
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------- the rows */

/** Count the hits of each particle, by all searches.
 *  @param upper        count only pairs of a half list
 *  @param[out] counts  [a.n] the numbers */
static kith_status count_hits_of(struct radii_list *r, bool upper, int64_t *counts)
{
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(count_rows)};
    const int64_t n = r->question->a.n;
    memset(counts, 0, (size_t)n * sizeof *counts);
    const struct operation operation = {
        .kernel = kernel, .upper = upper, .state = {.counts = counts}, .end = n};
    return search_all(r, &operation);
}

/** Count the hits of each row, and find the offsets of the rows.
 *  @param[out] offsets  [a.n + 1] first pair of each row, in scratch memory of the context */
static kith_status find_offsets(struct radii_list *r, int64_t **offsets)
{
    const int64_t n = r->question->a.n;
    const size_t bytes = (size_t)(n + 1) * sizeof **offsets;
    int64_t *offset = kith__work_need(&r->ctx->work, KITH_CPU_OFFSETS, bytes);
    KITH_CHECK(r->ctx, offset && kith__work_need(&r->ctx->work, KITH_RADII_FILLED, bytes),
               KITH_NO_MEMORY, "out of memory for %lld rows", (long long)n);
    KITH_TRY(count_hits_of(r, !r->list->full, offset + 1));
    offset[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        offset[p + 1] += offset[p];
    }
    *offsets = offset;
    return KITH_OK;
}

/** Shared state of the parallel loop that sorts rows. */
struct sort_loop {
    const kith_pairs *out;    /**< the list */
    kith_precision precision; /**< precision of its distances and vectors */
    const int64_t *offsets;   /**< [rows + 1] first pair of each row in the whole list */
    int64_t first;            /**< first row */
    int64_t base;             /**< number of the pair at index 0 of the arrays */
    uint64_t *keys;           /**< [pairs of the arrays] scratch memory */
};

/** Sort n keys: insertion sort of few, heap sort of many. */
static void sort_keys(uint64_t *key, int64_t n)
{
    enum { FEW = 24 };
    if (n <= FEW) {
        for (int64_t k = 1; k < n; k++) {
            const uint64_t one = key[k];
            int64_t at = k;
            for (; at > 0 && key[at - 1] > one; at--) {
                key[at] = key[at - 1];
            }
            key[at] = one;
        }
        return;
    }
    /* while root > 0 the heap is built; then each step moves its largest key to its end, and makes
     * it shorter by one */
    for (int64_t root = n / 2, end = n; end > 1;) {
        uint64_t one;
        if (root > 0) {
            one = key[--root];
        } else {
            one = key[--end];
            key[end] = key[0];
        }
        int64_t at = root;
        for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
            child += child + 1 < end && key[child] < key[child + 1];
            if (key[child] <= one) {
                break;
            }
            key[at] = key[child];
            at = child;
        }
        key[at] = one;
    }
}

/** Permute the elements of a row of an array, in place, cycle by cycle.
 *  @param element      size of an element [bytes]
 *  @param[in,out] key  [n] low 32 bits of key[k]: present index of the element that moves to index
 *                      k; the high 32 bits become `stamp`, which marks index k as done
 *  @param stamp        a number that no high half has yet */
static void order_elements(char *row, size_t element, uint64_t *key, int64_t n, uint64_t stamp)
{
    enum { LARGEST = 3 * sizeof(double) };
    char kept[LARGEST];
    for (int64_t start = 0; start < n; start++) {
        if (key[start] >> 32 == stamp) {
            continue;
        }
        memcpy(kept, row + (size_t)start * element, element);
        int64_t to = start;
        int64_t from = (int64_t)(key[to] & UINT32_MAX);
        for (; from != start; from = (int64_t)(key[to] & UINT32_MAX)) {
            memcpy(row + (size_t)to * element, row + (size_t)from * element, element);
            key[to] = stamp << 32 | (uint64_t)from;
            to = from;
        }
        memcpy(row + (size_t)to * element, kept, element);
        key[to] = stamp << 32 | (uint64_t)from;
    }
}

/** Sort rows [begin, end) of the loop by j. A key is j in the high half and the present position in
 *  the row in the low half, so images of one particle stay in their order: one search has found
 *  them, in the order of their shifts. */
static void sort_range(void *state, int64_t begin, int64_t end)
{
    const struct sort_loop *loop = state;
    const kith_pairs *out = loop->out;
    const size_t real = (size_t)loop->precision;
    for (int64_t row = loop->first + begin; row < loop->first + end; row++) {
        const int64_t at = loop->offsets[row] - loop->base;
        const int64_t n = loop->offsets[row + 1] - loop->offsets[row];
        uint64_t *key = loop->keys + at;
        for (int64_t p = 0; p < n; p++) {
            key[p] = (uint64_t)(uint32_t)out->j[at + p] << 32 | (uint64_t)p;
        }
        sort_keys(key, n);
        for (int64_t p = 0; p < n; p++) {
            out->j[at + p] = (int32_t)(key[p] >> 32);
            key[p] &= UINT32_MAX;
        }
        if (out->distances) {
            order_elements((char *)out->distances + (size_t)at * real, real, key, n, 1);
        }
        if (out->vectors) {
            order_elements((char *)out->vectors + 3 * (size_t)at * real, 3 * real, key, n, 2);
        }
        if (out->shifts) {
            order_elements((char *)(out->shifts + 3 * at), 3 * sizeof *out->shifts, key, n, 3);
        }
    }
}

/** Write rows [begin, end) to out, from its beginning, and sort them in a sorted list. All searches
 *  are made for it.
 *  @param offsets  [a.n + 1] first pair of each row in the whole list
 *  @param out      arrays that the form of the list does not have are NULL (wanted_arrays) */
static kith_status fill_range(struct radii_list *r, const int64_t *offsets, int64_t begin,
                              int64_t end, const kith_pairs *out)
{
    static kith__work_fn *const kernel[] = {KITH_EACH_ISA(fill_rows)};
    kith_ctx *ctx = r->ctx;
    int64_t *filled = ctx->work.buffer[KITH_RADII_FILLED].data;
    memset(filled + begin, 0, (size_t)(end - begin) * sizeof *filled);
    const struct operation operation = {.kernel = kernel,
                                        .upper = !r->list->full,
                                        .state = {.extras = r->list->extras,
                                                  .out = out,
                                                  .offsets = offsets,
                                                  .filled = filled,
                                                  .base = offsets[begin]},
                                        .begin = begin,
                                        .end = end};
    KITH_TRY(search_all(r, &operation));
    if (!r->list->sorted) {
        return KITH_OK;
    }
    const int64_t pairs = offsets[end] - offsets[begin];
    struct sort_loop loop = {
        .out = out,
        .precision = r->question->precision,
        .offsets = offsets,
        .first = begin,
        .base = offsets[begin],
        .keys = kith__work_need(&ctx->work, KITH_RADII_KEYS, (size_t)pairs * sizeof(uint64_t)),
    };
    KITH_CHECK(ctx, loop.keys != NULL, KITH_NO_MEMORY, "out of memory for sorting %lld pairs",
               (long long)pairs);
    kith__loop(ctx, end - begin, sort_range, &loop);
    return kith__proceed(ctx);
}

/** Make the arrays of the context's staging list hold some pairs, as an (i, j) list.
 *  @param[out] staging  the staging list */
static kith_status stage(struct radii_list *r, int64_t pairs, kith_pairs **staging)
{
    struct kith__cpu *cpu = r->ctx->state;
    *staging = &cpu->staging;
    struct kith__list list = *r->list;
    list.layout = KITH_IJ;
    return kith__list_need(r->ctx, &list, r->question->precision, r->question->a.n, pairs, pairs,
                           *staging);
}

/* ------------------------------------------------------------------------------- KITH_MATRIX */

/** Shared state of the parallel loop that copies rows to a KITH_MATRIX list. */
struct matrix_loop {
    const struct kith__list *list; /**< form of the list */
    kith_precision precision;      /**< precision of distances and vectors */
    const int64_t *offsets;        /**< [rows + 1] rows of `from` */
    const kith_pairs *from;        /**< the rows, one behind the other */
    const kith_pairs *out;         /**< the list */
};

/** Copy n elements of an array, where there is one, from index `begin` to index `at`. */
static void copy_row(void *to, int64_t at, const void *from, int64_t begin, int64_t n,
                     size_t element)
{
    if (to && n > 0) {
        memcpy((char *)to + (size_t)at * element, (const char *)from + (size_t)begin * element,
               (size_t)n * element);
    }
}

/** Copy rows [begin, end) to the KITH_MATRIX list, as many pairs as fit, and pad them. */
static void copy_rows(void *state, int64_t begin, int64_t end)
{
    const struct matrix_loop *loop = state;
    const kith_pairs *from = loop->from;
    const kith_pairs *out = loop->out;
    const size_t real = (size_t)loop->precision;
    for (int64_t row = begin; row < end; row++) {
        const int64_t first = loop->offsets[row];
        const int64_t count = loop->offsets[row + 1] - first;
        const int64_t n = count < out->width ? count : out->width;
        const int64_t at = row * out->width;
        copy_row(out->j, at, from->j, first, n, sizeof *out->j);
        copy_row(out->distances, at, from->distances, first, n, real);
        copy_row(out->vectors, at, from->vectors, first, n, 3 * real);
        copy_row(out->shifts, at, from->shifts, first, n, 3 * sizeof *out->shifts);
        kith__matrix_pad(loop->precision, loop->list->extras, loop->list->fill, at + n,
                         at + out->width, out);
        if (out->counts) {
            out->counts[row] = count < INT32_MAX ? (int32_t)count : INT32_MAX;
        }
    }
}

/** Set the totals of a KITH_MATRIX list with rows of out->width entries: rows, n, widest and
 *  overflowed.
 *  @param offsets  [rows + 1] first pair of each row in a list without gaps */
static void count_matrix(const int64_t *offsets, int64_t rows, kith_pairs *out)
{
    out->rows = rows;
    out->n = offsets[rows];
    out->widest = out->overflowed = 0;
    for (int64_t row = 0; row < rows; row++) {
        const int64_t count = offsets[row + 1] - offsets[row];
        out->widest = count > out->widest ? count : out->widest;
    }
    for (int64_t row = 0; row < rows; row++) {
        out->overflowed += offsets[row + 1] - offsets[row] > out->width;
    }
}

/** Make a KITH_MATRIX list: the rows one behind the other in the staging list first, as in CSR. */
static kith_status fill_matrix(struct radii_list *r, const int64_t *offsets, bool grow,
                               kith_pairs *out)
{
    const struct kith__list *list = r->list;
    const int64_t rows = r->question->a.n;
    kith_pairs *staging;
    count_matrix(offsets, rows, out);
    if (grow) {
        const int64_t width = out->widest > list->width ? out->widest : list->width;
        KITH_TRY(kith__matrix_need(r->ctx, list, r->question->precision, rows, width, out));
        count_matrix(offsets, rows, out);
    }
    KITH_TRY(stage(r, offsets[rows], &staging));
    kith_pairs from = *staging;
    from.i = NULL; /* not copied to the matrix */
    KITH_TRY(fill_range(r, offsets, 0, rows, &from));
    struct matrix_loop loop = {list, r->question->precision, offsets, &from, out};
    kith__loop(r->ctx, rows, copy_rows, &loop);
    KITH_TRY(kith__proceed(r->ctx));
    return kith__matrix_fits(r->ctx, out);
}

/* ---------------------------------------------------------------------------------- operations */

kith_status kith__radii_count(kith_ctx *ctx, const struct kith__question *q,
                              const struct kith__list *list, int64_t *n, int64_t *neighbours,
                              bool *done)
{
    struct radii_list r;
    KITH_TRY(begin(ctx, q, list, &r));
    *done = r.searches > 0;
    if (!*done) {
        return KITH_OK;
    }
    int64_t *counts = neighbours ? neighbours
                                 : kith__work_need(&ctx->work, KITH_CPU_OFFSETS,
                                                   (size_t)(q->a.n + 1) * sizeof *counts);
    KITH_CHECK(ctx, counts != NULL, KITH_NO_MEMORY, "out of memory for %lld rows",
               (long long)q->a.n);
    r.total /= 2;
    KITH_TRY(count_hits_of(&r, false, counts));
    int64_t sum = 0;
    for (int64_t p = 0; p < q->a.n; p++) {
        sum += counts[p];
    }
    *n = list->full ? sum : sum / 2;
    return KITH_OK;
}

kith_status kith__radii_fill(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__list *list, bool grow, kith_pairs *out, bool *done)
{
    struct radii_list r;
    int64_t *offsets;
    const int64_t rows = q->a.n;
    KITH_TRY(begin(ctx, q, list, &r));
    *done = r.searches > 0;
    if (!*done) {
        return KITH_OK;
    }
    KITH_TRY(find_offsets(&r, &offsets));
    if (list->layout == KITH_MATRIX) {
        return fill_matrix(&r, offsets, grow, out);
    }
    if (grow) {
        KITH_TRY(kith__list_grow(ctx, list, q->precision, rows, offsets[rows], out));
    }
    KITH_TRY(kith__list_set(ctx, offsets[rows], rows, out));
    if (list->layout == KITH_CSR) {
        memcpy(out->offsets, offsets, (size_t)(rows + 1) * sizeof *offsets);
    }
    return fill_range(&r, offsets, 0, rows, out);
}

/** Pass the first n pairs of a list to the callback, in blocks of at most list->block_pairs.
 *  @param all                an (i, j) list in host memory
 *  @param[in,out] delivered  number of pairs that were passed so far */
static kith_status deliver(const struct radii_list *r, const kith_pairs *all, int64_t n,
                           kith_block_fn fn, void *user, int64_t *delivered)
{
    const int64_t most = r->list->block_pairs;
    for (int64_t at = 0; at < n; at += most) {
        const kith_pairs piece = kith__list_piece(all, r->question->precision, at,
                                                  n - at < most ? n - at : most);
        KITH_CHECK(r->ctx, fn(user, &piece, *delivered) == 0, KITH_CANCELLED,
                   "stopped by the block callback");
        *delivered += piece.n;
    }
    return KITH_OK;
}

kith_status kith__radii_each(kith_ctx *ctx, const struct kith__question *q,
                             const struct kith__list *list, kith_block_fn fn, void *user,
                             bool *done)
{
    /* Each part of the list takes all searches again, so a part has up to this many pairs, also
     * when the blocks of the callback are shorter. */
    static const int64_t least = (int64_t)1 << 22;
    struct radii_list r;
    int64_t *offsets;
    int64_t delivered = 0;
    KITH_TRY(begin(ctx, q, list, &r));
    *done = r.searches > 0;
    if (!*done) {
        return KITH_OK;
    }
    KITH_TRY(find_offsets(&r, &offsets));
    const int64_t most = list->block_pairs > least ? list->block_pairs : least;
    const int64_t half = r.total / 2;
    for (int64_t begin = 0, end; begin < q->a.n; begin = end) {
        end = begin + 1;
        while (end < q->a.n && offsets[end + 1] - offsets[begin] <= most) {
            end++;
        }
        kith_pairs *staging;
        const int64_t pairs = offsets[end] - offsets[begin];
        if (pairs == 0) {
            continue;
        }
        KITH_TRY(stage(&r, pairs, &staging));
        r.done = half; /* each part makes all searches: the second half of the progress, again */
        KITH_TRY(fill_range(&r, offsets, begin, end, staging));
        KITH_TRY(deliver(&r, staging, pairs, fn, user, &delivered));
    }
    return KITH_OK;
}
