/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances on a GPU, host side. When all images within the last bin count, the
 * sweep over cells finds the pairs. When only the nearest image counts, and the last bin is beyond
 * half the box, a kernel visits all pairs, O(n^2), in several launches, between which the watch
 * callback is called.
 */
#include "rdf_gpu.h"

#include <float.h>

#include "engine/gpu/search.h"

/* Numbers of buffers of scratch memory, on the device and on the host; PIECES has one for each
 * set. */
enum { UPLOADED = KITH_WORK_OF(rdf), COUNTS, PIECES, FIRST = PIECES + 2, SUMS, FORCE_SUMS };

/* Entries of the table of the caller's arrays that are uploaded. SPECIES, MOLECULES, WEIGHTS and
 * FORCES have two entries, one for each set. */
enum {
    SPECIES,
    MOLECULES = 2,
    WEIGHTS = 4,
    OFFSETS = 6,
    BONDS,
    EDGES,
    FORCES,
    OVER = FORCES + 2,
    ARRAYS
};

/** Host-side state of one call. */
struct count {
    struct kith__gpu_search s;    /**< the grid and its buffers */
    const struct kith__rdf *rdf;  /**< what is counted, in host memory */
    struct kith__gpu_scale scale; /**< what kernels are given */
};

/** Fill a table of the caller's arrays that are uploaded.
 *  @param array  empty entries; those of arrays that the call lacks stay empty */
static void list_arrays(const struct kith__question *q, const struct kith__rdf *rdf,
                        struct kith__gpu_array array[ARRAYS])
{
    const size_t n[2] = {(size_t)q->a.n, (size_t)q->b.n};
    for (int set = 0; set < (q->cross ? 2 : 1); set++) {
        array[SPECIES + set] = (struct kith__gpu_array){rdf->species[set], n[set] * sizeof(int32_t),
                                                        NULL};
        array[MOLECULES + set] = (struct kith__gpu_array){rdf->excluded.molecules[set],
                                                          n[set] * sizeof(int32_t), NULL};
        array[WEIGHTS + set] = (struct kith__gpu_array){rdf->weights[set], n[set] * sizeof(double),
                                                        NULL};
        array[FORCES + set] = (struct kith__gpu_array){rdf->forces[set],
                                                       n[set] * 3 * (size_t)q->precision, NULL};
    }
    if (rdf->excluded.bond_offsets) {
        array[OFFSETS] = (struct kith__gpu_array){rdf->excluded.bond_offsets,
                                                  (n[0] + 1) * sizeof(int64_t), NULL};
        array[BONDS] = (struct kith__gpu_array){
            rdf->excluded.bonds, (size_t)rdf->excluded.bond_offsets[n[0]] * sizeof(int32_t), NULL};
    }
    if (rdf->forces[0]) {
        array[OVER] = (struct kith__gpu_array){rdf->force_units.over,
                                               (size_t)(rdf->bins + 1) * sizeof(double), NULL};
    }
    array[EDGES] = (struct kith__gpu_array){rdf->edge2,
                                            (size_t)(rdf->bins + 1) * (size_t)q->precision, NULL};
}

/** Upload the caller's arrays, and set c->scale.rdf to their copies; scale.forces, the forces by
 *  slot, and scale.first are allocated behind the copies, and filled later. */
static kith_status bring_arrays(struct count *c, const struct kith__question *q)
{
    kith_ctx *ctx = c->s.ctx;
    struct kith__rdf *rdf = &c->scale.rdf;
    struct kith__gpu_array array[ARRAYS] = {{NULL, 0, NULL}};
    const size_t cells = (KITH_GPU_EDGE_CELLS + 1) * sizeof(int32_t);
    list_arrays(q, rdf, array);
    const int other = q->cross ? 1 : 0;
    /* where the forces by slot on set b begin, and where those on both sets end [bytes] */
    const size_t begin = rdf->forces[0] ? array[FORCES].bytes : 0;
    const size_t forces = begin + (rdf->forces[0] ? array[FORCES + other].bytes : 0);
    void *rest;
    KITH_TRY(kith__gpu_upload_arrays(ctx, UPLOADED, array, ARRAYS, forces + cells, &rest));
    c->scale.forces[0] = rest;
    c->scale.forces[1] = q->cross ? (char *)rest + begin : rest;
    c->scale.first = (void *)((char *)rest + forces);
    for (int set = 0; set < 2; set++) {
        rdf->species[set] = array[SPECIES + set * other].at;
        rdf->excluded.molecules[set] = array[MOLECULES + set * other].at;
        rdf->weights[set] = array[WEIGHTS + set * other].at;
        rdf->forces[set] = array[FORCES + set * other].at;
    }
    rdf->excluded.bond_offsets = array[OFFSETS].at;
    rdf->excluded.bonds = array[BONDS].at;
    rdf->edge2 = array[EDGES].at;
    rdf->force_units.over = array[OVER].at;
    return KITH_OK;
}

/**
 * Set the constants of `scale` from distances to bins, with a bound on the error of bins that are
 * found from roots. scale->rdf is set before.
 *
 * Relative errors, in units of 2^-24: for float coordinates, r^2 by fused multiply-add and r^2 by
 * the definition are each within 3 roundings of the exact sum of squares, a product and two sums.
 * So they differ by at most 6, and their roots by 3. For double, r^2 counts as exact. The
 * approximate root adds 2, the rounding of the factor 1, the rounding of the edge and its square in
 * float 1.5, or for double that of r^2 to float 1, and the product of root and factor, where it is
 * not rounded down, 1. The sum, 8.5 for float and 5 for double, is less than 9 and 7.
 */
static void set_scale(struct kith__gpu_scale *scale, const struct kith__question *q)
{
    const double unit = 1 / 16777216.0;
    const struct kith__rdf *rdf = &scale->rdf;
    const bool single = q->precision == KITH_FLOAT;
    const double square = q->cutoff * q->cutoff;
    const double off = (single ? 9 : 7) * unit;
    scale->rooted = rdf->linear && rdf->r_min == 0;
    scale->reach = scale->rooted ? rdf->width * ((double)rdf->bins + 0.5) : q->cutoff;
    const double beyond = scale->reach * scale->reach;
    scale->inverse2 = single ? 1 : 1 / beyond;
    scale->beyond = (float)(single ? beyond : 1);
    scale->per_cell = (float)(KITH_GPU_EDGE_CELLS / (single ? square : 1));
    const double widths = (single ? 1 : scale->reach) / rdf->width;
    for (int side = 0; side < 2; side++) {
        scale->factor[side] = (float)(widths * (1 + (side ? off : -off)));
    }
    /* squares near the limits of float's range, or bins with an error of more than a quarter */
    scale->wild = (single && (square < 1e-16 || square > 1e30)) ||
                  (scale->rooted && off * (double)rdf->bins > 0.25);
}

int kith__gpu_choose_copies(int64_t n, int64_t wanted, int64_t most)
{
    int copies = n * (int64_t)sizeof(uint32_t) <= most ? 1 : 0;
    while (copies > 0 && copies < KITH_GPU_MOST_COPIES &&
           (int64_t)2 * copies * n * (int64_t)sizeof(uint32_t) <= wanted) {
        copies *= 2;
    }
    return copies;
}

/** Return true when no pair is excluded, and there are no weights. */
static bool is_plain(const struct kith__rdf *rdf)
{
    return kith__excludes_none(&rdf->excluded) && !rdf->weights[0];
}

/** Return the most shared memory for the counters of a thread block of the sweep [bytes]: half of
 *  what a thread block can have beside its other shared memory. */
static int64_t most_shared(const struct kith__gpu *gpu)
{
    return (gpu->shared - (int64_t)kith__gpu_tally_static_bytes()) / 2;
}

/** Return true when the sweep counts pairs one by one; its i-clusters are then small. */
static bool counts_one_by_one(const struct kith__gpu *gpu, const struct kith__question *q,
                              const struct kith__rdf *rdf)
{
    struct kith__gpu_scale scale = {.rdf = *rdf, .plain = is_plain(rdf)};
    set_scale(&scale, q);
    scale.copies = kith__gpu_choose_copies(rdf->partials * rdf->bins, 0, most_shared(gpu));
    return kith__gpu_counts_one_by_one(&scale);
}

/** Set up c->scale: allocate and zero the counters in device memory, upload arrays, fill tables. */
static kith_status prepare(struct count *c, const struct kith__question *q)
{
    kith_ctx *ctx = c->s.ctx;
    const struct kith__gpu *gpu = c->s.gpu;
    const struct kith__rdf *rdf = c->rdf;
    const size_t n = (size_t)(rdf->partials * rdf->bins);
    const size_t force_sums = rdf->force_sums ? (size_t)kith__force_sum_at(rdf, rdf->partials, 0, 0)
                                              : 0;
    /* one word for each count, and two for each sum of weights and of forces, in this order */
    const size_t bytes = ((rdf->sums ? 3 : 1) * n + 2 * force_sums) * sizeof *c->scale.counts;
    c->scale = (struct kith__gpu_scale){
        .rdf = *rdf,
        .cross = q->cross,
        .plain = is_plain(rdf),
        .counts = kith__gpu_need(c->s.gpu, COUNTS, bytes),
    };
    KITH_CHECK(ctx, c->scale.counts != NULL, KITH_NO_MEMORY,
               "out of device memory for %lld counters", (long long)n);
    c->scale.sums = rdf->sums ? c->scale.counts + n : NULL;
    c->scale.force_sums = c->scale.counts + (rdf->sums ? 3 : 1) * n;
    KITH_TRY(bring_arrays(c, q));
    set_scale(&c->scale, q);
    KITH_GPU_TRY(ctx, "clearing counters", gpuMemsetAsync(c->scale.counts, 0, bytes, gpu->stream));
    if (!c->scale.rooted) {
        KITH_GPU_TRY(ctx, "sorting edges", kith__gpu_edge_cells(&c->scale, q, gpu->stream));
    }
    return KITH_OK;
}

/** Return host memory for n integers of 128 bits: n low words, then n high ones; NULL: there is
 *  none. @param slot  number of the buffer */
static uint64_t *need_wide(kith_ctx *ctx, int slot, int64_t n)
{
    return kith__work_need(&ctx->work, slot, 2 * (size_t)n * sizeof(uint64_t));
}

/** Return integer `at` of n integers of 128 bits (need_wide). */
static kith__wide wide_at(const uint64_t *low, int64_t n, int64_t at)
{
    const kith__wide high = (int64_t)low[n + at];
    return high * ((kith__wide)1 << 64) + low[at];
}

/** Download counts and sums to the arrays of c->rdf, and check the plan of the grid, which has the
 *  status of the coordinates: one wait for the device. */
static kith_status fetch(struct count *c)
{
    kith_ctx *ctx = c->s.ctx;
    const struct kith__rdf *rdf = c->rdf;
    const int64_t n = rdf->partials * rdf->bins;
    const int64_t m = rdf->force_sums ? kith__force_sum_at(rdf, rdf->partials, 0, 0) : 0;
    const size_t bytes = (size_t)n * sizeof(int64_t);
    uint64_t *sums = rdf->sums ? need_wide(ctx, SUMS, n) : NULL;
    uint64_t *force_sums = m > 0 ? need_wide(ctx, FORCE_SUMS, m) : NULL;
    KITH_CHECK(ctx, (sums || !rdf->sums) && (force_sums || m == 0), KITH_NO_MEMORY,
               "out of memory for %lld sums", (long long)(n + m));
    struct kith__gpu_copy copies[KITH_GPU_COPIES] = {
        kith__gpu_copy_of_plan(&c->s),
        {(char *)rdf->counts, (const char *)c->scale.counts, bytes},
        {(char *)sums, (const char *)c->scale.sums, sums ? 2 * bytes : 0},
        {(char *)force_sums, (const char *)c->scale.force_sums,
         2 * (size_t)m * sizeof *force_sums}};
    KITH_TRY(kith__gpu_download(ctx, copies));
    KITH_TRY(kith__gpu_check_plan(&c->s));
    for (int64_t at = 0; at < n && sums; at++) {
        if (rdf->wide_sums) {
            rdf->wide_sums[at] = wide_at(sums, n, at);
        } else {
            rdf->sums[at] = (double)wide_at(sums, n, at) / rdf->weight_scale;
        }
    }
    for (int64_t at = 0; at < m && rdf->wide_force_sums; at++) {
        rdf->wide_force_sums[at] = wide_at(force_sums, m, at);
    }
    for (int64_t at = 0; at < m && !rdf->wide_force_sums; at++) {
        const int64_t row = at / (rdf->bins + 1);
        rdf->force_sums[at] = kith__force_sum_value(rdf, (int)(row % 2), at % (rdf->bins + 1),
                                                    wide_at(force_sums, m, at));
    }
    return KITH_OK;
}

/** Queue the count of all images within the last edge, by the sweep over cells, with pair-force
 *  sums: sort the forces by slot before. */
static kith_status sweep_forces(struct count *c)
{
    kith_ctx *ctx = c->s.ctx;
    const struct kith__gpu *gpu = c->s.gpu;
    c->s.sweep.forward = !c->scale.cross;
    for (int set = 0; set < 2; set++) {
        const void **from = &c->scale.rdf.forces[set];
        if (set == 0 || c->scale.cross) {
            KITH_GPU_TRY(ctx, "placing forces",
                         kith__gpu_sort_forces(&c->s.sweep.grid, set, *from, c->scale.forces[set],
                                               gpu->stream));
        }
        *from = c->scale.forces[set];
    }
    KITH_GPU_TRY(
        ctx, "summing pair forces",
        kith__gpu_force_sums(&c->s.sweep, &c->scale, (size_t)gpu->shared / 2, gpu->stream));
    return KITH_OK;
}

/** Queue the count of all images within the last edge, by the sweep over cells. */
static kith_status sweep_cells(struct count *c)
{
    kith_ctx *ctx = c->s.ctx;
    const struct kith__gpu *gpu = c->s.gpu;
    const struct kith__rdf *rdf = c->rdf;
    const int resident = kith__gpu_tally_blocks();
    const int64_t taken = (int64_t)kith__gpu_tally_static_bytes();
    /* As many copies as leave room for `resident` thread blocks on a multiprocessor. For each, CUDA
     * reserves 1024 bytes of the shared memory, from compute capability 8.0 on. */
    c->scale.copies = kith__gpu_choose_copies(
        rdf->partials * rdf->bins, gpu->shared_all / resident - taken - 1024, most_shared(gpu));
    const int most = resident * gpu->processors; /* more blocks would only flush more counters */
    c->s.sweep.blocks = c->s.sweep.blocks < most ? c->s.sweep.blocks : most;
    c->s.sweep.forward = !c->scale.cross;
    KITH_GPU_TRY(ctx, "counting pairs", kith__gpu_tally(&c->s.sweep, &c->scale, gpu->stream));
    return KITH_OK;
}

/* ------------------------------------------------------------------------------------ nearest */

/** Sort a set by species, cut it into pieces, upload these, and queue the kernel that writes its
 *  positions.
 *  @param[in,out] all  question is set; a or b is set here
 *  @param set          0: a; 1: b */
static kith_status upload_set(struct count *c, struct kith__gpu_nearest *all, int set)
{
    kith_ctx *ctx = c->s.ctx;
    const int64_t n = set ? all->question.b.n : all->question.a.n;
    const int32_t kinds = c->rdf->n_species;
    const size_t ids = ((size_t)n * sizeof(int32_t) + KITH_ALIGN - 1) / KITH_ALIGN * KITH_ALIGN;
    const size_t room = ids + (size_t)kith__most_pieces(n, kinds, KITH_GPU_PIECE) *
                                  sizeof(struct kith__piece);
    char *here = kith__work_need(&ctx->work, PIECES, room);
    int64_t *first = kith__work_need(&ctx->work, FIRST, ((size_t)kinds + 2) * sizeof *first);
    char *there = kith__gpu_need(c->s.gpu, PIECES + set,
                                 room + (size_t)n * 4 * (size_t)all->question.precision);
    KITH_CHECK(ctx, here && first, KITH_NO_MEMORY,
               "out of memory to sort %lld particles by species", (long long)n);
    KITH_CHECK(ctx, there != NULL, KITH_NO_MEMORY, "out of device memory for %lld particles",
               (long long)n);
    const int32_t pieces = kith__cut_pieces(c->rdf->species[set], n, kinds, KITH_GPU_PIECE, first,
                                            (int32_t *)(void *)here,
                                            (struct kith__piece *)(void *)(here + ids));
    char *place = there + (size_t)n * 4 * (size_t)all->question.precision; /* keeps alignment */
    KITH_TRY(kith__gpu_upload(ctx, place, here, ids + (size_t)pieces * sizeof(struct kith__piece)));
    const struct kith__gpu_ranked ranked = {
        .positions = there,
        .id = (const int32_t *)(const void *)place,
        .piece = (const struct kith__piece *)(const void *)(place + ids),
        .pieces = pieces,
    };
    *(set ? &all->b : &all->a) = ranked;
    KITH_GPU_TRY(ctx, "placing particles", kith__gpu_write_positions(all, set, c->s.gpu->stream));
    return KITH_OK;
}

/** Count nearest images alone, by all pairs, in several launches, after each of which the host
 *  waits and calls the watch callback. */
static kith_status tally_nearest(struct count *c)
{
    static const int64_t many_pairs = (int64_t)1 << 36; /* some 10 ms: pairs of one launch */
    kith_ctx *ctx = c->s.ctx;
    const struct kith__gpu *gpu = c->s.gpu;
    const int64_t resident = kith__gpu_nearest_blocks();
    const int64_t taken = (int64_t)kith__gpu_nearest_static_bytes();
    /* 1024: shared memory that CUDA reserves for a thread block (sweep_cells) */
    c->scale.copies = kith__gpu_choose_copies(
        c->rdf->bins, gpu->shared_all / resident - taken - 1024, gpu->shared - taken);
    struct kith__gpu_nearest all = {.scale = c->scale,
                                    .question = c->s.sweep.grid.question,
                                    .next = c->s.sweep.next,
                                    .parts = 1,
                                    .blocks = (int)resident * gpu->processors};
    KITH_TRY(upload_set(c, &all, 0));
    all.b = all.a;
    if (c->scale.cross) {
        KITH_TRY(upload_set(c, &all, 1));
    }
    const int64_t squares = (int64_t)all.a.pieces * all.b.pieces;
    /* for load balance, divide until there are 16 tasks for each block, or parts of 64 particles */
    while (all.parts < KITH_GPU_PIECE / 64 && squares * all.parts < 16 * (int64_t)all.blocks) {
        all.parts *= 2;
    }
    const int64_t tasks = squares * all.parts;
    const int64_t run = many_pairs / ((int64_t)KITH_GPU_PIECE * KITH_GPU_PIECE / all.parts);
    for (all.begin = 0; all.begin < tasks; all.begin = all.end) {
        all.end = all.begin + run < tasks ? all.begin + run : tasks;
        KITH_GPU_TRY(ctx, "counting pairs", kith__gpu_tally_nearest(&all, gpu->stream));
        KITH_TRY(kith__gpu_wait_all(ctx, "counting pairs"));
        KITH_CHECK(ctx, !kith__watch(ctx, all.end, tasks), KITH_CANCELLED,
                   "cancelled by the watch callback");
    }
    return KITH_OK;
}

/** kith__rdf_backend.count */
static kith_status count_distances(kith_ctx *ctx, const struct kith__question *q,
                                   const struct kith__rdf *rdf)
{
    struct count c = {.rdf = rdf, .s = {.ctx = ctx, .gpu = ctx->state}};
    /* most query particles of an i-cluster */
    const int home = rdf->forces[0] || counts_one_by_one(ctx->state, q, rdf)
                         ? KITH_GPU_CLUSTER
                         : KITH_GPU_LARGE_CLUSTER;
    KITH_TRY(kith__gpu_begin(ctx));
    KITH_TRY(prepare(&c, q)); /* the calls below upload the coordinates */
    KITH_TRY(rdf->nearest ? kith__gpu_search_check(ctx, q, &c.s)
                          : kith__gpu_search_begin(ctx, q, true, home, &c.s));
    if (c.s.empty) {
        return KITH_OK; /* the counts are 0 */
    }
    KITH_TRY(rdf->nearest     ? tally_nearest(&c)
             : rdf->forces[0] ? sweep_forces(&c)
                              : sweep_cells(&c));
    return fetch(&c);
}

const struct kith__rdf_backend kith__cuda_rdf = {
    .count = count_distances,
    .count_batch = kith__gpu_count_frames,
};
