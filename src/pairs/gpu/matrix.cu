/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists on a GPU: rows of a fixed width. One sweep writes the hits of each particle to
 * its row, as many as fit, and counts all of them (packet.cuh); no sweep counts first.
 */
#include "matrix.cuh"

gpuError_t kith__gpu_fill_matrix(const struct kith__gpu_sweep *sweep,
                                 const struct kith__rules *rules,
                                 const struct kith__gpu_matrix *matrix, gpuStream_t stream)
{
    return run_fill_matrix(sweep, rules, *matrix, stream);
}

gpuError_t kith__gpu_finish_matrix(const struct kith__gpu_grid *grid,
                                   const struct kith__gpu_matrix *matrix,
                                   struct kith__gpu_matrix_totals *totals, gpuStream_t stream)
{
    if (grid->question.precision == KITH_FLOAT) {
        const finish_by_question<float> finish = {*grid};
        return run_finish_matrix<float>(finish, *matrix, totals, stream);
    }
    const finish_by_question<double> finish = {*grid};
    return run_finish_matrix<double>(finish, *matrix, totals, stream);
}

/** Set result from the totals, or from the status of the plan. */
static __global__ void write_totals(const struct kith__gpu_plan *plan,
                                    const struct kith__gpu_matrix_totals *totals, int64_t *result)
{
    set_result((kith_status)plan->status, totals, result);
}

gpuError_t kith__gpu_write_totals(const struct kith__gpu_grid *grid,
                                  const struct kith__gpu_matrix_totals *totals, int64_t *result,
                                  gpuStream_t stream)
{
    KITH_LAUNCH(write_totals, 1, 1, stream, grid->plan, totals, result);
    return gpuGetLastError();
}
