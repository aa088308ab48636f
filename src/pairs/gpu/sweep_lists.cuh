/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queueing the sweep over a grid (gpu_sweep.cuh) with an operation for pair lists, and the rules of
 * the list.
 */
#ifndef KITH_GPU_GRID_LISTS_CUH
#define KITH_GPU_GRID_LISTS_CUH

#include "engine/gpu/gpu_sweep.cuh"
#include "listed.cuh"

/* Overloads of the functions that the sweep calls before and after the i-clusters of a work block:
 * call those of the operation that receives the hits. */
template <typename real, class Operation>
static __device__ __forceinline__ void begin_work_block(const visit<real> &v,
                                                        listed<Operation> &operation)
{
    begin_work_block(v, static_cast<Operation &>(operation));
}
template <typename real, class Operation>
static __device__ __forceinline__ void end_work_block(const visit<real> &v,
                                                      listed<Operation> &operation,
                                                      typename Operation::shared *shared)
{
    end_work_block(v, static_cast<Operation &>(operation), shared);
}

/** Queue the sweep with an operation.
 *  @param rules  NULL: all hits are listed */
template <typename real, class Operation>
static gpuError_t run_list(const struct kith__gpu_sweep *sweep, const Operation &operation,
                           const struct kith__rules *rules, gpuStream_t stream)
{
    return rules ? run_sweep<real>(sweep, listed<Operation>(operation, *rules), stream)
                 : run_sweep<real>(sweep, operation, stream);
}

/** Queue an operation whose type does not depend on that of the coordinates. */
template <class Operation>
static gpuError_t run_any(const struct kith__gpu_sweep *sweep, const Operation &operation,
                          const struct kith__rules *rules, gpuStream_t stream)
{
    return sweep->grid.question.precision == KITH_FLOAT
               ? run_list<float>(sweep, operation, rules, stream)
               : run_list<double>(sweep, operation, rules, stream);
}

/** Call run_list with OPERATION<float, ...>{...} or OPERATION<double, ...>{...}, by the precision
 *  of the points.
 *  @param INITIAL  initial values of the operation's members: INITIALLY(...), as the commas of a
 *                  list in braces would divide it into several arguments of the macro
 *  @param ...      further template arguments with the comma before them: `, true` is passed by an
 *                  empty argument first, `RUN_BY_PRECISION(..., INITIAL, , true)` */
#define RUN_BY_PRECISION(sweep, rules, stream, OPERATION, INITIAL, ...) \
    ((sweep)->grid.question.precision == KITH_FLOAT \
         ? run_list<float>(sweep, OPERATION<float __VA_ARGS__> INITIAL, rules, stream) \
         : run_list<double>(sweep, OPERATION<double __VA_ARGS__> INITIAL, rules, stream))
#define INITIALLY(...) \
    { \
        __VA_ARGS__ \
    }

#endif
