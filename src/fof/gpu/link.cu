/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking on a GPU: each lane traverses the later clumps within reach of one clump. If there are
 * dense cells, a first pass links adjacent subcells of each cell, so that most clumps are in one
 * tree before the second pass tests the rest of the cell, and a third the forward cells. Pairs of
 * very large clumps are deferred to the end of each pass, where all warps share them.
 */
#include "seeker.cuh"

enum {
    THREADS = 128,           /**< threads of a block */
    WARPS = THREADS / LANES, /**< warps of a block */
    RESIDENT = 8 /**< blocks on a multiprocessor: memory latency is hidden by many warps */
};

/** Copy the geometry of subcells to shared memory. */
static __device__ __forceinline__ void copy_subcells(const struct kith__gpu_friends &f,
                                                     struct kith__subcells *subcells)
{
    for (int w = (int)threadIdx.x; w < (int)(sizeof *subcells / sizeof(int)); w += THREADS) {
        ((int *)subcells)[w] = ((const int *)&f.subcells)[w];
    }
    __syncthreads();
}

/** Initialise the traversal of a clump, with no cells yet. @return the number of the clump's cell;
 *  -1: there is no clump of this number */
template <typename number>
static __device__ __forceinline__ number sit(const struct kith__gpu_friends &f, int64_t clump,
                                             int64_t n, seeker<number> *me)
{
    const uint64_t key = clump < n ? f.key[clump] : 0;
    int subcell[3];
    kith__part_of(f.axis, key, subcell);
    *me = (seeker<number>){};
    me->clump = (int32_t)clump;
    me->root = f.by_clump ? (int32_t)clump : NO_ROOT;
    me->subcell = pack(subcell[0], subcell[1], subcell[2]);
    me->high = me->high_z = -1;
    return clump < n ? (number)(key >> f.subcells.bits) : -1;
}

/** Link the clumps of each cell with each other.
 *  @param thin  also in cells that are not dense */
template <typename real, typename number>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    link_inside(const KITH_IN_PLACE struct kith__gpu_friends f, struct look look, bool thin)
{
    __shared__ struct kith__subcells subcells;
    __shared__ struct notes notes[WARPS];
    copy_subcells(f, &subcells);
    seeker<number> me;
    struct run run = {0, 0, false, 0, 0, 0};
    int n = 0;
    const number cell = sit(f, (int64_t)blockIdx.x * THREADS + threadIdx.x, f.n, &me);
    if (cell >= 0) { /* a row of one cell */
        const number at[3] = {0, 0, 0};
        face_row(f, at, 0, 0, 0, 0, &me);
        me.ahead = cell;
        enter_cell<true>(f, subcells, look, &me, &run);
        run.n = thin ? run.n : 0;
    }
    share_out<real, true>(f, subcells, me, run, &notes[my_warp()], &n);
    seek<real, true>(f, subcells, look, me, &notes[my_warp()], &n);
    meet_noted<real>(f, &notes[my_warp()], n);
}

/** Rows of cells ahead of a clump: those in its plane, from `first` along y, then those of planes
 *  further along z, from `low` to `high` along y. */
struct ahead {
    int first, low,
        high; /**< first row in the clump's plane; first in other planes; last; along y */
    int n;    /**< number of rows */
};

/** Find the rows of cells ahead that are within reach of a subcell. Without dense cells, the
 *  clump's own row is not among them. */
template <bool DENSE>
static __device__ __forceinline__ struct ahead look_ahead(const struct kith__subcells &subcells,
                                                          uint32_t subcell)
{
    struct ahead rows;
    rows.first = DENSE && subcells.cell_high[0][unpack(subcell, 0)] > 0 ? 0 : 1;
    rows.low = subcells.cell_low[1][unpack(subcell, 1)];
    rows.high = subcells.cell_high[1][unpack(subcell, 1)];
    rows.n = rows.high - rows.first + 1 +
             subcells.cell_high[2][unpack(subcell, 2)] * (rows.high - rows.low + 1);
    return rows;
}

/** Start on row k of the rows ahead. */
template <bool DENSE, typename number>
static __device__ __forceinline__ void face_ahead(const struct kith__gpu_friends &f,
                                                  const struct kith__subcells &subcells,
                                                  const number at[3], int k, seeker<number> *me)
{
    const struct ahead rows = look_ahead<DENSE>(subcells, me->subcell);
    const int x = unpack(me->subcell, 0);
    int y = rows.first + k;
    int z = 0;
    while (y > rows.high) {
        y += rows.low - rows.high - 1;
        z++;
    }
    face_row(f, at, y, z, y || z ? subcells.cell_low[0][x] : 1, subcells.cell_high[0][x], me);
}

/** Position of a clump, in shared memory. */
template <typename number> struct seat {
    number at[3];     /**< coordinates of its cell */
    uint32_t subcell; /**< coordinates of its subcell; packed */
};

/** Traverse the rows of cells ahead of a warp's clumps. As the numbers of rows differ, all lanes
 *  share the rows of the warp.
 *  @param first   clump of lane 0
 *  @param n_rows  number of rows of this lane's clump
 *  @param seats   positions of the warp's clumps */
template <typename real, bool DENSE, typename number>
static __device__ __forceinline__ void seek_ahead(const struct kith__gpu_friends &f,
                                                  const struct kith__subcells &subcells,
                                                  int64_t first, int n_rows,
                                                  const seat<number> seats[LANES],
                                                  seeker<number> &me, struct notes *notes, int *n)
{
    const struct look look = {KITH_MOST_REACH, DENSE ? MIXED : 0};
    const int before = scan_lanes(n_rows, my_lane()) - n_rows;
    const int total = from_lane(before + n_rows, LANES - 1);
    for (int k = my_lane(); k - my_lane() < total; k += LANES) {
        const int owner = owner_of(before, k);
        const int row = k - from_lane(before, owner);
        me.clump = (int32_t)first + owner;
        me.root = f.by_clump ? me.clump : NO_ROOT;
        me.subcell = seats[owner].subcell;
        if (k < total) {
            face_ahead<DENSE>(f, subcells, seats[owner].at, row, &me);
        }
        seek<real, DENSE>(f, subcells, look, me, notes, n);
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
    __shared__ struct notes all_notes[WARPS];
    __shared__ seat<number> seats[THREADS];
    struct notes *notes = &all_notes[my_warp()];
    seat<number> *seat = &seats[threadIdx.x];
    const int64_t n_clumps = f.small->n_clumps;
    int n = 0;
    if (!DENSE && f.small->n_dense > 0) {
        return;
    }
    copy_subcells(f, &subcells);
    for (int64_t from = blockIdx.x; from * THREADS < n_clumps; from += gridDim.x) {
        const int64_t clump = from * THREADS + threadIdx.x;
        seeker<number> me;
        const number cell = sit(f, clump, n_clumps, &me);
        const number row = row_of_cell(cell < 0 ? 0 : cell, (number)f.axis[0].n, &seat->at[0]);
        seat->at[2] = row_of_cell(row, (number)f.axis[1].n, &seat->at[1]);
        seat->subcell = me.subcell;
        sync_warp();
        if (!f.by_clump) {
            const struct kith__gpu_two self = {me.clump, me.clump, pack(0, 0, 0)};
            note<real>(f, notes, &n, self, cell >= 0);
        }
        if (!DENSE) {
            const int high = cell < 0 ? -1 : subcells.cell_high[0][unpack(me.subcell, 0)];
            const struct look look = {KITH_MOST_REACH, 0};
            face_row(f, seat->at, 0, 0, 0, high, &me);
            seek<real, DENSE>(f, subcells, look, me, notes, &n);
        }
        const int n_rows = cell < 0 ? 0 : look_ahead<DENSE>(subcells, me.subcell).n;
        seek_ahead<real, DENSE>(f, subcells, clump - my_lane(), n_rows, seat - my_lane(), me, notes,
                                &n);
        sync_warp();
    }
    meet_noted<real>(f, notes, n);
}

/** Test the pairs of clumps that were deferred: a warp for each pair. */
template <typename real>
static __global__ void link_later(const KITH_IN_PLACE struct kith__gpu_friends f)
{
    const unsigned long long all = f.small->n_later;
    const unsigned long long n = all < f.room_later ? all : f.room_later;
    const unsigned long long warps = (unsigned long long)gridDim.x * WARPS;
    for (unsigned long long k = ((unsigned long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
         k < n; k += warps) {
        warp_meet<real>(f, f.later[k]);
    }
}

/** Test all pairs of particles of the pairs of clumps that were deferred: a block for each pair of
 *  clumps, all blocks for a pair of very large ones. */
template <typename real>
static __global__ void compare_later(const KITH_IN_PLACE struct kith__gpu_friends f)
{
    const int64_t very_many = (int64_t)1
                              << 20; /* pairs of particles, some milliseconds of a block */
    const unsigned long long all = f.small->n_later;
    const unsigned long long n = all < f.room_later ? all : f.room_later;
    for (unsigned long long k = 0; k < n && !is_stopped(f); k++) {
        const struct kith__gpu_two two = f.later[k];
        const bool together = pairs_of(f, two) > very_many;
        if (!together && k % gridDim.x != blockIdx.x) {
            continue;
        }
        const int64_t first = f.first[two.a] + threadIdx.x +
                              (together ? (int64_t)blockIdx.x * THREADS : 0);
        const int64_t step = together ? (int64_t)gridDim.x * THREADS : THREADS;
        for (int64_t i = first; i < f.first[two.a + 1]; i += step) {
            compare_with_all<real>(f, two, i);
        }
    }
}

/** Test the pairs of clumps that a pass deferred. */
template <typename real>
static gpuError_t finish_pass(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t blocks = 1024;
    if (f->by_clump) {
        KITH_LAUNCH(link_later<real>, blocks, THREADS, stream, *f);
    } else {
        KITH_LAUNCH(compare_later<real>, blocks, THREADS, stream, *f);
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
static gpuError_t look_inside(const struct kith__gpu_friends *f, struct look look, bool thin,
                              uint32_t mixed, gpuStream_t stream)
{
    const int64_t blocks = (f->n + THREADS - 1) / THREADS;
    unsigned long long *n_later = &f->small->n_later;
    KITH_LAUNCH((link_inside<real, number>), blocks, THREADS, stream, *f, look, thin);
    const gpuError_t error = finish_pass<real>(f, stream);
    if (f->by_clump && error == gpuSuccess) {
        KITH_LAUNCH(flatten<number>, blocks, THREADS, stream, *f, mixed);
    }
    return error == gpuSuccess ? gpuMemsetAsync(n_later, 0, sizeof *n_later, stream) : error;
}

template <typename real, typename number>
static gpuError_t link_cells(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const struct look beside = {1, 0};
    const struct look around = {KITH_MOST_REACH, f->by_clump ? MIXED_BEFORE : 0};
    gpuError_t error = gpuSuccess;
    if (f->by_clump) {
        error = look_inside<real, number>(f, beside, true, MIXED_BEFORE, stream);
    }
    return error == gpuSuccess ? look_inside<real, number>(f, around, !f->by_clump, MIXED, stream)
                               : error;
}

/** Whether there is a table, and cell numbers fit 32 bits. */
static bool has_table(const struct kith__gpu_friends *f)
{
    return f->table && f->cells < INT32_MAX;
}

template <typename real>
static gpuError_t link_thin(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    const int64_t all = (f->particles + THREADS - 1) / THREADS;
    const int64_t enough =
        4096; /* to keep a device busy; with less, what is noted fills more lanes */
    const int64_t some = all / 4 > enough ? all / 4 : enough;
    KITH_LAUNCH((link_across<real, int32_t, false>), some < all ? some : all, THREADS, stream, *f);
    return finish_pass<real>(f, stream);
}

gpuError_t kith__gpu_link_thin(const struct kith__gpu_friends *f, gpuStream_t stream)
{
    if (!has_table(f)) {
        return gpuSuccess;
    }
    return f->question.precision == KITH_FLOAT ? link_thin<float>(f, stream)
                                               : link_thin<double>(f, stream);
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
        return gpuSuccess; /* kith__gpu_link_thin has linked all */
    }
    return f->question.precision == KITH_FLOAT ? link_all<float>(f, stream)
                                               : link_all<double>(f, stream);
}
