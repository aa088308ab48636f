/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists: the sweep that writes the rows (packet.cuh), then the sort of the rows, then a
 * kernel that writes the entries without a neighbour, and adds up the counts.
 */
#ifndef KITH_GPU_MATRIX_CUH
#define KITH_GPU_MATRIX_CUH

#include "rows.cuh"
#include "sweep_lists.cuh"

/* Threads, and warps, of a thread block of pad_rows, and its most thread blocks: each adds its
 * totals by atomic operations. */
enum { FINISH_THREADS = 256, FINISH_WARPS = FINISH_THREADS / LANES, FINISH_BLOCKS = 4096 };

/** Sort the rows of a matrix, a warp for each row, and complete their pairs by `finish` (finish_row
 *  in rows.cuh). */
template <typename real, class Finish>
static __global__ void sort_matrix(const Finish finish, const struct kith__gpu_matrix matrix)
{
    __shared__ uint64_t keys[ROW_WARPS][ROW_FITS];
    if (!finish.is_good()) {
        return;
    }
    const int64_t step = (int64_t)gridDim.x * ROW_WARPS;
    for (int64_t i = matrix.first + (int64_t)blockIdx.x * ROW_WARPS + my_warp(); i < matrix.last;
         i += step) {
        const int64_t n = min(matrix.counts[i], matrix.width);
        finish_row<real>(finish, matrix.list, (i - matrix.first) * matrix.width, n, (int32_t)i,
                         keys[my_warp()]);
    }
}

/** Write the entries without a neighbour and the counts of some rows, a warp for each row, and add
 *  to the totals: those of a warp to those of its thread block, and these to *totals.
 *  @param finish  says by is_good() whether there are rows (rows.cuh); else nothing is written */
template <typename real, class Finish>
static __global__ void __launch_bounds__(FINISH_THREADS)
    pad_rows(const Finish finish, const struct kith__gpu_matrix matrix,
             struct kith__gpu_matrix_totals *totals)
{
    __shared__ struct kith__gpu_matrix_totals block;
    if (!finish.is_good()) {
        return;
    }
    if (threadIdx.x == 0) {
        block = {};
    }
    __syncthreads();
    const struct kith__gpu_list &list = matrix.list;
    struct kith__gpu_matrix_totals mine = {};
    const int64_t step = (int64_t)gridDim.x * FINISH_WARPS;
    for (int64_t i = matrix.first + (int64_t)blockIdx.x * FINISH_WARPS + my_warp(); i < matrix.last;
         i += step) {
        const int64_t count = matrix.counts[i];
        const int64_t begin = (i - matrix.first) * matrix.width;
        for (int64_t e = begin + count + my_lane(); e < begin + matrix.width; e += LANES) {
            list.j[e] = matrix.fill;
            if (list.distances) {
                ((real *)list.distances)[e] = (real)INFINITY;
            }
            for (int m = 0; m < 3 && list.vectors; m++) {
                ((real *)list.vectors)[3 * e + m] = 0;
            }
            for (int m = 0; m < 3 && list.shifts; m++) {
                list.shifts[3 * e + m] = 0;
            }
        }
        if (my_lane() == 0 && matrix.row_counts) {
            matrix.row_counts[i - matrix.first] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
        }
        mine.pairs += (unsigned long long)count;
        mine.widest = max(mine.widest, (unsigned long long)count);
        mine.overflowed += count > matrix.width;
    }
    if (my_lane() == 0) {
        atomicAdd(&block.pairs, mine.pairs);
        atomicMax(&block.widest, mine.widest);
        atomicAdd(&block.overflowed, mine.overflowed);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&totals->pairs, block.pairs);
        atomicMax(&totals->widest, block.widest);
        atomicAdd(&totals->overflowed, block.overflowed);
    }
}

/** Set the result of kith_pairs_enqueue, [KITH_RESULTS], from the totals, or from a status that is
 *  not KITH_OK. */
static __device__ __forceinline__ void set_result(kith_status status,
                                                  const struct kith__gpu_matrix_totals *totals,
                                                  int64_t *result)
{
    const bool fine = status == KITH_OK;
    result[KITH_RESULT_PAIRS] = fine ? (int64_t)totals->pairs : status;
    result[KITH_RESULT_WIDEST] = fine ? (int64_t)totals->widest : 0;
    result[KITH_RESULT_OVERFLOWED] = fine ? (int64_t)totals->overflowed : 0;
}

/* ---------------------------------------------------------------------------------- launchers */

/** Queue a sweep that writes the rows of a matrix. */
template <class Sweep>
static gpuError_t run_fill_matrix(const Sweep *sweep, const struct kith__rules *rules,
                                  const struct kith__gpu_matrix &matrix, gpuStream_t stream)
{
    const bool extras = has_extras(&matrix.list);
    if (matrix.list.extras_later) {
        return extras ? run_any(sweep, write_rows_to<true, ROWS_TO_SORT>(matrix), rules, stream)
                      : run_any(sweep, write_rows_to<false, ROWS_TO_SORT>(matrix), rules, stream);
    }
    return extras ? run_any(sweep, write_rows_to<true, ROWS_OF_MATRIX>(matrix), rules, stream)
                  : run_any(sweep, write_rows_to<false, ROWS_OF_MATRIX>(matrix), rules, stream);
}

/** Queue the sort of the rows, where matrix.list.extras_later says that they are to be sorted, and
 *  the writing of the entries behind their pairs.
 *  @param[in,out] totals  the totals of these rows are added; device memory */
template <typename real, class Finish>
static gpuError_t run_finish_matrix(const Finish &finish, const struct kith__gpu_matrix &matrix,
                                    struct kith__gpu_matrix_totals *totals, gpuStream_t stream)
{
    const int64_t rows = matrix.last - matrix.first;
    const int64_t wanted = (rows + FINISH_WARPS - 1) / FINISH_WARPS;
    const int64_t blocks = wanted < FINISH_BLOCKS ? wanted : FINISH_BLOCKS;
    if (rows == 0) {
        return gpuSuccess;
    }
    if (matrix.list.extras_later) {
        KITH_LAUNCH((sort_matrix<real, Finish>), blocks_of_rows(rows), ROW_WARPS * LANES, stream,
                    finish, matrix);
    }
    KITH_LAUNCH((pad_rows<real, Finish>), blocks, FINISH_THREADS, stream, finish, matrix, totals);
    return gpuGetLastError();
}

#endif
