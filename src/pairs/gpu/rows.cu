/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting the rows of a list of one system by j and image (rows.cuh). The extras of each pair are
 * then computed by the definition.
 */
#include "rows.cuh"

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
