/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting the rows of a list by j and packed image, with a bitonic sort: each warp sorts a row, in
 * shared memory where it fits, else in place, and then completes each pair: writes its extras.
 * Cost: O(n log^2 n) for a row of n pairs.
 *
 * Finish, a template parameter, is a struct with the members
 *     is_good()                 false: the particles cannot be used, and there are no rows
 *     operator()(list, p, i)    complete pair p of the arrays, in the row of particle i
 */
#ifndef KITH_GPU_ROWS_CUH
#define KITH_GPU_ROWS_CUH

#include "extras.cuh"

enum {
    ROW_WARPS = 4, /**< warps of a thread block */
    ROW_FITS = 512 /**< longest row that is sorted in shared memory [pairs] */
};

/** A row in shared memory. */
struct row_in_shared {
    uint64_t *key; /**< [row length] keys of the pairs, as row_in_list (extras.cuh) defines them */
    __device__ uint64_t get(int64_t e) const
    {
        return key[e];
    }
    __device__ void set(int64_t e, uint64_t value) const
    {
        key[e] = value;
    }
};

/** Compare and exchange: order elements e and `other` of a row of n, when e < other < n; else do
 *  nothing. Row is row_in_shared or row_in_list. */
template <class Row>
static __device__ __forceinline__ void order(const Row &row, int64_t n, int64_t e, int64_t other)
{
    if (other > e && other < n) {
        const uint64_t a = row.get(e);
        const uint64_t b = row.get(other);
        if (b < a) {
            row.set(e, b);
            row.set(other, a);
        }
    }
}

/** Bitonic sort in the form in which all comparisons are ascending. Elements that are missing up to
 *  a power of two count as larger than any other, so they are never exchanged (Knuth, The Art of
 *  Computer Programming 3, 5.3.4). The first comparisons of each merge are mirrored, e with
 *  e ^ (size - 1), which spares the descending halves. The whole warp must call.
 *  @param n     elements of the row
 *  @param lane  number of this lane */
template <class Row> static __device__ void sort_row(const Row &row, int64_t n, int lane)
{
    for (int64_t size = 2; size / 2 < n; size *= 2) {
        for (int64_t e = lane; e < n; e += LANES) {
            order(row, n, e, e ^ (size - 1));
        }
        sync_warp();
        for (int64_t distance = size / 4; distance > 0; distance /= 2) {
            for (int64_t e = lane; e < n; e += LANES) {
                order(row, n, e, e ^ distance);
            }
            sync_warp();
        }
    }
}

/** Completes the pairs of sorted rows of a list of one system: a Finish. */
template <typename real> struct finish_by_question {
    struct kith__gpu_grid grid; /**< the grid of the search */
    __device__ bool is_good() const
    {
        return grid.plan->status == KITH_OK;
    }
    __device__ void operator()(const struct kith__gpu_list &list, int64_t p, int32_t i) const
    {
        finish_pair<real>(definition<real>::box(grid.question), grid.question, list, p, i,
                          grid.plan->wrapped);
    }
};

/** Sort a row by j and image, and complete its pairs by finish(list, p, i): pair p of the arrays,
 *  in the row of particle i. The whole warp must call.
 *  @param begin  index of the row's first pair in the arrays
 *  @param n      pairs of the row
 *  @param i      particle of the row
 *  @param keys   [ROW_FITS] shared memory of the warp */
template <typename real, class Finish>
static __device__ void finish_row(const Finish &finish, const struct kith__gpu_list &list,
                                  int64_t begin, int64_t n, int32_t i, uint64_t *keys)
{
    const int lane = my_lane();
    const struct row_in_list<real> row = {
        &list, begin
    };
    const struct row_in_shared copy = {keys};
    sync_warp();
    if (n <= ROW_FITS) {
        for (int64_t e = lane; e < n; e += LANES) {
            copy.set(e, row.get(e));
        }
        sync_warp();
        sort_row(copy, n, lane);
        for (int64_t e = lane; e < n; e += LANES) {
            row.set(e, copy.get(e));
        }
    } else {
        sort_row(row, n, lane);
    }
    sync_warp();
    for (int64_t e = lane; e < n; e += LANES) {
        finish(list, begin + e, i);
    }
}

/** Sort rows [first, last) of the list, a warp for each row, and complete their pairs by `finish`
 *  (finish_row). Rows that the arrays do not hold as a whole are skipped.
 *  @param offsets  [a.n + 1] first pair of each row in the list */
template <typename real, class Finish>
static __global__ void sort_rows(const Finish finish, const struct kith__gpu_list list,
                                 const int64_t *offsets, int64_t first, int64_t last)
{
    __shared__ uint64_t keys[ROW_WARPS][ROW_FITS];
    if (!finish.is_good()) {
        return;
    }
    const int64_t step = (int64_t)gridDim.x * ROW_WARPS;
    for (int64_t i = first + (int64_t)blockIdx.x * ROW_WARPS + my_warp(); i < last; i += step) {
        const int64_t begin = offsets[i] - list.base;
        const int64_t n = offsets[i + 1] - list.base - begin;
        if (begin < 0 || begin + n > list.capacity) {
            continue; /* the arrays were too small for this row */
        }
        finish_row<real>(finish, list, begin, n, (int32_t)i, keys[my_warp()]);
    }
}

/** Return the number of thread blocks that sort n rows. */
static int64_t blocks_of_rows(int64_t n)
{
    const int64_t most = 65536; /* each warp then takes several rows */
    const int64_t wanted = (n + ROW_WARPS - 1) / ROW_WARPS;
    return wanted < most ? wanted : most;
}

/** Queue the sort of rows [first, last). */
template <typename real, class Finish>
static gpuError_t run_sort_rows(const Finish &finish, const struct kith__gpu_list &list,
                                const int64_t *offsets, int64_t first, int64_t last,
                                gpuStream_t stream)
{
    const int64_t blocks = blocks_of_rows(last - first);
    if (blocks == 0) {
        return gpuSuccess;
    }
    KITH_LAUNCH((sort_rows<real, Finish>), blocks, ROW_WARPS * LANES, stream, finish, list, offsets,
                first, last);
    return gpuGetLastError();
}

#endif
