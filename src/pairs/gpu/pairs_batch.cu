/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pair lists of a batch: the operations of packet.cuh in the sweep over a batch (batch_sweep.cuh),
 * and the sort of rows. All lists are made by rows, also (i, j) lists, except those of which any
 * order is permitted: a single sweep appends their pairs.
 */
#include "engine/gpu/batch_sweep.cuh"
#include "matrix.cuh"
#include "pairs_batch_gpu.h"

#include "engine/box.h"

/* Accessors for an i-cluster of this sweep; extras.cuh has those for the sweep over a grid. */

template <typename real>
static __device__ __forceinline__ const struct kith__gpu_set &set_a(const batch_cluster<real> &c)
{
    return c.sweep->systems.a;
}
template <typename real>
static __device__ __forceinline__ const struct kith__gpu_set &set_b(const batch_cluster<real> &c)
{
    return c.sweep->systems.b;
}
template <typename real>
static __device__ __forceinline__ const struct kith__question &question_of(
    const batch_cluster<real> &c)
{
    return c.sweep->systems.question;
}
template <typename real>
static __device__ __forceinline__ const typename definition<real>::lattice &box_of(
    const batch_cluster<real> &c)
{
    return system_box(c.system, real());
}
template <typename real>
static __device__ __forceinline__ struct images images_of(const batch_cluster<real> &c)
{
    const struct kith__gpu_batch_small *small = c.sweep->systems.small;
    return {small->wrapped > 0, small->wrapped < WRAPPED_PACKS && !small->far_images};
}
/** Return a mask of the query particles that have a pair with j in a half list: those of lower
 *  index, which come first, as indices ascend in an i-cluster (one cell); and j itself at images
 *  after image 0 in the order of packed shifts.
 *  @param j      index in the caller's order
 *  @param shift  image of j, packed */
template <typename real>
static __device__ __forceinline__ uint32_t upper_mask(const batch_cluster<real> &c, int32_t j,
                                                      int32_t shift)
{
    int below = 0; /* number of query particles with an index below j, by binary search */
    for (int step = BATCH_CLUSTER / 2; step > 0; step /= 2) {
        below += below + step <= c.n && c.shared->id[below + step - 1] < j ? step : 0;
    }
    below += below < c.n && c.shared->id[below] < j;
    uint32_t mask = below < BATCH_CLUSTER ? (1u << below) - 1 : ~0u;
    if (below < c.n && c.shared->id[below] == j && shift > no_shift) {
        mask |= 1u << below;
    }
    return mask;
}

/** Completes the pairs of sorted rows of a batch, by the boxes of their systems: a Finish
 *  (rows.cuh). */
template <typename real> struct finish_by_system {
    struct kith__gpu_systems all; /**< the batch */
    __device__ bool is_good() const
    {
        return !all.small->offsets_failed && !all.small->failed;
    }
    __device__ void operator()(const struct kith__gpu_list &list, int64_t p, int32_t i) const
    {
        finish_pair<real>(system_box(&all.system[all.of_a[i]], real()), all.question, list, p, i,
                          all.small->wrapped > 0);
    }
};

/* ---------------------------------------------------------------------------------- launchers */

gpuError_t kith__gpu_batch_count(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rules *rules, int64_t *counts,
                                 gpuStream_t stream)
{
    return sweep->upper ? run_any(sweep, count_rows<true>{counts, 0}, rules, stream)
                        : run_any(sweep, count_rows<false>{counts, 0}, rules, stream);
}

gpuError_t kith__gpu_batch_write(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rules *rules, const struct kith__gpu_list *list,
                                 const int64_t *offsets, gpuStream_t stream)
{
    return run_write_rows(sweep, rules, sweep->upper, *list, offsets, &sweep->systems.small->total,
                          stream);
}

gpuError_t kith__gpu_batch_sort(const struct kith__gpu_systems *systems,
                                const struct kith__gpu_list *list, const int64_t *offsets,
                                gpuStream_t stream)
{
    const int64_t rows = systems->a.n;
    if (systems->question.precision == KITH_FLOAT) {
        const finish_by_system<float> finish = {*systems};
        return run_sort_rows<float>(finish, *list, offsets, 0, rows, stream);
    }
    const finish_by_system<double> finish = {*systems};
    return run_sort_rows<double>(finish, *list, offsets, 0, rows, stream);
}

/* ------------------------------------------------------------------------------------- results */

/** Return the status of a batch: KITH_OK, or that of the first offset or system that cannot be
 *  used. The low byte of the inverted bits of small->failed says what is wrong with the system: a
 *  KITH_BOX_... (engine/box.h) or, above these, a KITH_SYSTEM_... (engine/gpu/systems.h). */
static __device__ __forceinline__ kith_status status_of(const struct kith__gpu_batch_small *small)
{
    const int fault = (int)(~small->failed & 255);
    return small->offsets_failed             ? KITH_INVALID
           : !small->failed                  ? KITH_OK
           : fault >= KITH_SYSTEM_FAR        ? KITH_LIMIT
           : fault >= KITH_SYSTEM_NOT_FINITE ? KITH_NOT_FINITE
           : fault >= KITH_BOX_SHORT         ? KITH_LIMIT /* or KITH_BOX_ROUNDED */
                                             : KITH_INVALID;
}

/** Set *result to the number of pairs, or to the status of the batch. */
static __global__ void write_result(const struct kith__gpu_batch_small *small, const int64_t *total,
                                    int64_t *result)
{
    const kith_status status = status_of(small);
    *result = status == KITH_OK ? *total : status;
}

gpuError_t kith__gpu_batch_result(const struct kith__gpu_systems *systems, const int64_t *total,
                                  int64_t *result, gpuStream_t stream)
{
    KITH_LAUNCH(write_result, 1, 1, stream, systems->small, total, result);
    return gpuGetLastError();
}

/* -------------------------------------------------------------------------------------- matrix */

gpuError_t kith__gpu_batch_fill_matrix(const struct kith__gpu_batch_sweep *sweep,
                                       const struct kith__rules *rules,
                                       const struct kith__gpu_matrix *matrix, gpuStream_t stream)
{
    return run_fill_matrix(sweep, rules, *matrix, stream);
}

gpuError_t kith__gpu_batch_finish_matrix(const struct kith__gpu_systems *systems,
                                         const struct kith__gpu_matrix *matrix,
                                         struct kith__gpu_matrix_totals *totals, gpuStream_t stream)
{
    if (systems->question.precision == KITH_FLOAT) {
        const finish_by_system<float> finish = {*systems};
        return run_finish_matrix<float>(finish, *matrix, totals, stream);
    }
    const finish_by_system<double> finish = {*systems};
    return run_finish_matrix<double>(finish, *matrix, totals, stream);
}

/** Set result from the totals, or from the status of the batch. */
static __global__ void write_totals(const struct kith__gpu_batch_small *small,
                                    const struct kith__gpu_matrix_totals *totals, int64_t *result)
{
    set_result(status_of(small), totals, result);
}

gpuError_t kith__gpu_batch_write_totals(const struct kith__gpu_systems *systems,
                                        const struct kith__gpu_matrix_totals *totals,
                                        int64_t *result, gpuStream_t stream)
{
    KITH_LAUNCH(write_totals, 1, 1, stream, systems->small, totals, result);
    return gpuGetLastError();
}
