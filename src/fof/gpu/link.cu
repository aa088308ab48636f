/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking on a GPU: each lane traverses the later clumps within reach of one clump. If there are
 * dense cells, a first pass links adjacent subcells of each cell, so that most clumps are in one
 * tree before the second pass tests the rest of the cell, and a third the forward cells. Pairs of
 * very large clumps are deferred to the end of each pass, where all warps share them.
 */
#include "traversal.cuh"

enum {
    THREADS = 128,           /**< threads of a block */
    WARPS = THREADS / LANES, /**< warps of a block */
    RESIDENT = 8 /**< blocks on a multiprocessor: memory latency is hidden by many warps */
};

/** Initialise the traversal of a clump, with no cells yet. @return the number of the clump's cell;
 *  -1: there is no clump of this number */
template <typename number>
static __device__ __forceinline__ number start_traversal(const struct kith__gpu_friends &f,
                                                         int64_t clump, int64_t n,
                                                         traversal<number> *t)
{
    const uint64_t key = clump < n ? f.key[clump] : 0;
    int subcell[3];
    kith__subcell_of(f.axis, key, subcell);
    *t = (traversal<number>){};
    t->clump = (int32_t)clump;
    t->root = f.by_clump ? (int32_t)clump : NO_ROOT;
    t->subcell = pack(subcell[0], subcell[1], subcell[2]);
    t->high = t->high_z = -1;
    return clump < n ? (number)(key >> f.subcells.bits) : -1;
}

/** Link the clumps of each cell with each other.
 *  @param sparse_too  also in cells that are not dense */
template <typename real, typename number>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    link_inside(const KITH_IN_PLACE struct kith__gpu_friends f, struct pass pass, bool sparse_too)
{
    __shared__ struct kith__subcells subcells;
    __shared__ struct pair_queue pair_queue[WARPS];
    copy_subcells(f, &subcells);
    traversal<number> t;
    struct run run = {0, 0, false, 0, 0, 0};
    int n = 0;
    const number cell = start_traversal(f, (int64_t)blockIdx.x * THREADS + threadIdx.x, f.n, &t);
    if (cell >= 0) { /* a row of one cell */
        const number at[3] = {0, 0, 0};
        start_row(f, at, 0, 0, 0, 0, &t);
        t.ahead = cell;
        enter_cell<true>(f, subcells, pass, &t, &run);
        run.n = sparse_too ? run.n : 0;
    }
    distribute_runs<real, true>(f, subcells, t, run, &pair_queue[my_warp()], &n);
    traverse<real, true>(f, subcells, pass, t, &pair_queue[my_warp()], &n);
    test_queued<real>(f, &pair_queue[my_warp()], n);
}

/** Rows of cells ahead of a clump: those in its plane, from `first` along y, then those of planes
 *  further along z, from `low` to `high` along y. */
struct forward_rows {
    int first, low,
        high; /**< first row in the clump's plane; first in other planes; last; along y */
    int n;    /**< number of rows */
};

/** Find the rows of cells ahead that are within reach of a subcell. Without dense cells, the
 *  clump's own row is not among them. */
template <bool DENSE>
static __device__ __forceinline__ struct forward_rows find_forward_rows(
    const struct kith__subcells &subcells, uint32_t subcell)
{
    struct forward_rows rows;
    rows.first = DENSE && subcells.cell_high[0][unpack(subcell, 0)] > 0 ? 0 : 1;
    rows.low = subcells.cell_low[1][unpack(subcell, 1)];
    rows.high = subcells.cell_high[1][unpack(subcell, 1)];
    rows.n = rows.high - rows.first + 1 +
             subcells.cell_high[2][unpack(subcell, 2)] * (rows.high - rows.low + 1);
    return rows;
}

/** Start on row k of the rows ahead. */
template <bool DENSE, typename number>
static __device__ __forceinline__ void start_forward_row(const struct kith__gpu_friends &f,
                                                         const struct kith__subcells &subcells,
                                                         const number at[3], int k,
                                                         traversal<number> *t)
{
    const struct forward_rows rows = find_forward_rows<DENSE>(subcells, t->subcell);
    const int x = unpack(t->subcell, 0);
    int y = rows.first + k;
    int z = 0;
    while (y > rows.high) {
        y += rows.low - rows.high - 1;
        z++;
    }
    start_row(f, at, y, z, y || z ? subcells.cell_low[0][x] : 1, subcells.cell_high[0][x], t);
}

/** Position of a clump, in shared memory. */
template <typename number> struct position {
    number at[3];     /**< coordinates of its cell */
    uint32_t subcell; /**< coordinates of its subcell; packed */
};

/** Traverse the rows of cells ahead of a warp's clumps. As the numbers of rows differ, all lanes
 *  share the rows of the warp.
 *  @param first   clump of lane 0
 *  @param n_rows  number of rows of this lane's clump
 *  @param positions   positions of the warp's clumps */
template <typename real, bool DENSE, typename number>
static __device__ __forceinline__ void traverse_forward(const struct kith__gpu_friends &f,
                                                        const struct kith__subcells &subcells,
                                                        int64_t first, int n_rows,
                                                        const position<number> positions[LANES],
                                                        traversal<number> &t,
                                                        struct pair_queue *pair_queue, int *n)
{
    const struct pass pass = {KITH_MOST_REACH, DENSE ? MIXED : 0};
    const int before = scan_lanes(n_rows, my_lane()) - n_rows;
    const int total = from_lane(before + n_rows, LANES - 1);
    for (int k = my_lane(); k - my_lane() < total; k += LANES) {
        const int owner = owner_of(before, k);
        const int row = k - from_lane(before, owner);
        t.clump = (int32_t)first + owner;
        t.root = f.by_clump ? t.clump : NO_ROOT;
        t.subcell = positions[owner].subcell;
        if (k < total) {
            start_forward_row<DENSE>(f, subcells, positions[owner].at, row, &t);
        }
        traverse<real, DENSE>(f, subcells, pass, t, pair_queue, n);
    }
}

/** Link each clump with those of forward cells. Without dense cells, each lane first traverses its
 *  clump's own row, and with it the later clumps of its cell; if there are dense cells nonetheless,
 *  the kernel exits early: the host launched it before their number was known. */
template <typename real, typename number, bool DENSE>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    link_across(const KITH_IN_PLACE struct kith__gpu_friends f)
{
    __shared__ struct kith__subcells subcells;
    __shared__ struct pair_queue all_queues[WARPS];
    __shared__ position<number> positions[THREADS];
    struct pair_queue *pair_queue = &all_queues[my_warp()];
    position<number> *position = &positions[threadIdx.x];
    const int64_t n_clumps = f.small->n_clumps;
    int n = 0;
    if (!DENSE && f.small->n_dense > 0) {
        return;
    }
    copy_subcells(f, &subcells);
    for (int64_t from = blockIdx.x; from * THREADS < n_clumps; from += gridDim.x) {
        const int64_t clump = from * THREADS + threadIdx.x;
        traversal<number> t;
        const number cell = start_traversal(f, clump, n_clumps, &t);
        const number row = row_of_cell(cell < 0 ? 0 : cell, (number)f.axis[0].n, &position->at[0]);
        position->at[2] = row_of_cell(row, (number)f.axis[1].n, &position->at[1]);
        position->subcell = t.subcell;
        sync_warp();
        if (!f.by_clump) {
            const struct kith__gpu_clump_pair self = {t.clump, t.clump, pack(0, 0, 0)};
            append_pair<real>(f, pair_queue, &n, self, cell >= 0);
        }
        if (!DENSE) {
            const int high = cell < 0 ? -1 : subcells.cell_high[0][unpack(t.subcell, 0)];
            const struct pass pass = {KITH_MOST_REACH, 0};
            start_row(f, position->at, 0, 0, 0, high, &t);
            traverse<real, DENSE>(f, subcells, pass, t, pair_queue, &n);
        }
        const int n_rows = cell < 0 ? 0 : find_forward_rows<DENSE>(subcells, t.subcell).n;
        traverse_forward<real, DENSE>(f, subcells, clump - my_lane(), n_rows, position - my_lane(),
                                      t, pair_queue, &n);
        sync_warp();
    }
    test_queued<real>(f, pair_queue, n);
}

/** Test the pairs of clumps that were deferred: a warp for each pair. */
template <typename real>
static __global__ void link_deferred(const KITH_IN_PLACE struct kith__gpu_friends f)
{
    const unsigned long long all = f.small->n_deferred;
    const unsigned long long n = all < f.deferred_room ? all : f.deferred_room;
    const unsigned long long warps = (unsigned long long)gridDim.x * WARPS;
    for (unsigned long long k = ((unsigned long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
         k < n; k += warps) {
        warp_test<real>(f, f.deferred[k]);
    }
}

/** Return true, in all threads of the block, when a condition holds in any of them. All threads
 *  call it. __syncthreads_or does this too, but HIP's compiler lacks it for some GPUs. */
static __device__ __forceinline__ bool is_any(bool holds)
{
    __shared__ bool any;
    __syncthreads(); /* all threads have read the last answer */
    if (threadIdx.x == 0) {
        any = false;
    }
    __syncthreads();
    if (holds) {
        any = true;
    }
    __syncthreads();
    return any;
}

/** Test all pairs of particles of the pairs of clumps that were deferred: a block for each pair of
 *  clumps, then all blocks together for each pair of very large clumps. */
template <typename real>
static __global__ void compare_deferred(const KITH_IN_PLACE struct kith__gpu_friends f)
{
    /* pairs of particles, some milliseconds of a block */
    const int64_t very_many = (int64_t)1 << 20;
    const unsigned long long all = f.small->n_deferred;
    const unsigned long long n = all < f.deferred_room ? all : f.deferred_room;
    for (unsigned long long k = blockIdx.x; k < n && !is_stopped(f); k += gridDim.x) {
        if (pairs_of(f, f.deferred[k]) <= very_many) {
            compare_share<real>(f, f.deferred[k], threadIdx.x, THREADS);
        }
    }
    for (unsigned long long from = 0; from < n; from += THREADS) {
        const unsigned long long mine = from + threadIdx.x;
        if (!is_any(mine < n && pairs_of(f, f.deferred[mine]) > very_many)) {
            continue;
        }
        for (unsigned long long k = from; k < n && k < from + THREADS && !is_stopped(f); k++) {
            if (pairs_of(f, f.deferred[k]) > very_many) {
                compare_share<real>(f, f.deferred[k], blockIdx.x * THREADS + threadIdx.x,
                                    gridDim.x * THREADS);
            }
        }
    }
}

/** Test the pairs of clumps that a pass deferred. */
template <typename real>
static gpuError_t finish_pass(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = 1024;
    if (f->by_clump) {
        KITH_LAUNCH(link_deferred<real>, blocks, THREADS, stream, *f);
    } else {
        KITH_LAUNCH(compare_deferred<real>, blocks, THREADS, stream, *f);
    }
    return gpuGetLastError();
}

/** Point clumps at their roots, so that one read shows most pairs that are in one tree. Flag the
 *  dense cells whose clumps are in several trees. */
template <typename number>
static __global__ void flatten(const KITH_IN_PLACE struct kith__gpu_friends f, uint32_t mixed)
{
    const int64_t clump = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (clump >= f.n) {
        return;
    }
    const int32_t root = root_of(f.parent, (int32_t)clump);
    f.parent[clump] = root;
    const number cell = (number)(f.key[clump] >> f.subcells.bits);
    const int32_t begin = first_clump(f, cell);
    const int32_t end = first_clump(f, (number)(cell + 1));
    if (end - begin >= KITH_DENSE && root_of(f.parent, begin) != root) {
        atomicOr(&f.dense[begin / KITH_DENSE], mixed);
    }
}

/** Link the insides of cells: one pass, and the pairs that it deferred. */
template <typename real, typename number>
static gpuError_t link_cells_inside(const struct kith__gpu_friends *f, struct pass pass,
                                    bool sparse_too, uint32_t mixed, gpuStream_t stream)
{
    const int64_t blocks = (f->n + THREADS - 1) / THREADS;
    unsigned long long *n_deferred = &f->small->n_deferred;
    KITH_LAUNCH((link_inside<real, number>), blocks, THREADS, stream, *f, pass, sparse_too);
    const gpuError_t error = finish_pass<real>(f, stream);
    if (f->by_clump && error == gpuSuccess) {
        KITH_LAUNCH(flatten<number>, blocks, THREADS, stream, *f, mixed);
    }
    return error == gpuSuccess ? gpuMemsetAsync(n_deferred, 0, sizeof *n_deferred, stream) : error;
}

template <typename real, typename number>
static gpuError_t link_cells(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const struct pass beside = {1, 0};
    const struct pass around = {KITH_MOST_REACH, f->by_clump ? MIXED_BEFORE : 0};
    gpuError_t error = gpuSuccess;
    if (f->by_clump) {
        error = link_cells_inside<real, number>(f, beside, true, MIXED_BEFORE, stream);
    }
    return error == gpuSuccess
               ? link_cells_inside<real, number>(f, around, !f->by_clump, MIXED, stream)
               : error;
}

/** Return true when there is a table of the first clump of each cell, and cell numbers fit 32
 *  bits. */
static bool has_table(const struct kith__gpu_friends *f)
{
    return f->table && f->cells < INT32_MAX;
}

template <typename real>
static gpuError_t link_without_dense(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t all = (f->particles + THREADS - 1) / THREADS;
    const int64_t enough =
        4096; /* to keep a device busy; with less, what is noted fills more lanes */
    const int64_t some = all / 4 > enough ? all / 4 : enough;
    KITH_LAUNCH((link_across<real, int32_t, false>), some < all ? some : all, THREADS, stream, *f);
    return finish_pass<real>(f, stream);
}

gpuError_t kith__gpu_link_without_dense(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    if (!has_table(f)) {
        return gpuSuccess;
    }
    return f->question.precision == KITH_FLOAT ? link_without_dense<float>(f, stream)
                                               : link_without_dense<double>(f, stream);
}

template <typename real>
static gpuError_t link_all(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = (f->n + THREADS - 1) / THREADS;
    gpuError_t error;
    if (has_table(f)) {
        error = link_cells<real, int32_t>(f, stream);
        KITH_LAUNCH((link_across<real, int32_t, true>), blocks, THREADS, stream, *f);
    } else {
        error = link_cells<real, int64_t>(f, stream);
        KITH_LAUNCH((link_across<real, int64_t, true>), blocks, THREADS, stream, *f);
    }
    return error == gpuSuccess ? finish_pass<real>(f, stream) : error;
}

gpuError_t kith__gpu_link(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    if (!f->any_dense && has_table(f)) {
        return gpuSuccess; /* kith__gpu_link_without_dense has linked all */
    }
    return f->question.precision == KITH_FLOAT ? link_all<float>(f, stream)
                                               : link_all<double>(f, stream);
}
