/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting the rows of a list by j and image (rows.cuh). The extras of each pair are then computed
 * by the definition.
 */
#include "rows.cuh"

/** Completes the pairs of sorted rows by the box of the question. */
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

/** Sort the rows of a matrix, and complete their pairs. */
template <typename real>
static __global__ void sort_matrix(const struct finish_by_question<real> finish,
                                   const struct kith__gpu_matrix matrix)
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

gpuError_t kith__gpu_sort_rows(const struct kith__gpu_grid *grid, const struct kith__gpu_list *list,
                               const int64_t *offsets, int64_t first, int64_t last,
                               gpuStream_t stream)
{
    if (grid->question.precision == KITH_FLOAT) {
        const finish_by_question<float> finish = {*grid};
        return run_sort_rows<float>(finish, *list, offsets, first, last, stream);
    }
    const finish_by_question<double> finish = {*grid};
    return run_sort_rows<double>(finish, *list, offsets, first, last, stream);
}

gpuError_t kith__gpu_sort_matrix(const struct kith__gpu_grid *grid,
                                 const struct kith__gpu_matrix *matrix, gpuStream_t stream)
{
    const int64_t blocks = blocks_of_rows(matrix->last - matrix->first);
    if (blocks == 0) {
        return gpuSuccess;
    }
    if (grid->question.precision == KITH_FLOAT) {
        const finish_by_question<float> finish = {*grid};
        KITH_LAUNCH(sort_matrix<float>, blocks, ROW_WARPS * LANES, stream, finish, *matrix);
    } else {
        const finish_by_question<double> finish = {*grid};
        KITH_LAUNCH(sort_matrix<double>, blocks, ROW_WARPS * LANES, stream, finish, *matrix);
    }
    return gpuGetLastError();
}
