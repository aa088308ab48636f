/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Queueing a sweep with an operation for pair lists, and the rules of the list: the sweep over a
 * grid (gpu_sweep.cuh), or that over a batch (batch_sweep.cuh, which the file with the operation
 * includes).
 */
#ifndef KITH_GPU_SWEEP_LISTS_CUH
#define KITH_GPU_SWEEP_LISTS_CUH

#include "engine/gpu/gpu_sweep.cuh"
#include "engine/gpu/systems.h"
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

/* Overloads by sweep: return the precision of the points. */

static inline kith_precision precision_of(const struct kith__gpu_sweep *sweep)
{
    return sweep->grid.question.precision;
}
static inline kith_precision precision_of(const struct kith__gpu_batch_sweep *sweep)
{
    return sweep->systems.question.precision;
}

/** Queue a sweep with an operation.
 *  @param rules  NULL: all hits are listed */
template <typename real, class Sweep, class Operation>
static gpuError_t run_list(const Sweep *sweep, const Operation &operation,
                           const struct kith__rules *rules, gpuStream_t stream)
{
    return rules ? run_sweep<real>(sweep, listed<Operation>(operation, *rules), stream)
                 : run_sweep<real>(sweep, operation, stream);
}

/** Queue a sweep with an operation whose type does not depend on that of the coordinates. */
template <class Sweep, class Operation>
static gpuError_t run_any(const Sweep *sweep, const Operation &operation,
                          const struct kith__rules *rules, gpuStream_t stream)
{
    return precision_of(sweep) == KITH_FLOAT ? run_list<float>(sweep, operation, rules, stream)
                                             : run_list<double>(sweep, operation, rules, stream);
}

/** Queue a sweep that writes the rows of a list.
 *  @param upper    a half list
 *  @param offsets  [rows + 1] first pair of each row; NULL: the pairs are appended in any order
 *  @param total    counts the pairs that are appended; not used with offsets */
template <class Sweep>
static gpuError_t run_write_rows(const Sweep *sweep, const struct kith__rules *rules, bool upper,
                                 const struct kith__gpu_list &list, const int64_t *offsets,
                                 int64_t *total, gpuStream_t stream)
{
    unsigned long long *sum = (unsigned long long *)total;
    const bool extras = has_extras(&list);
    if (upper) {
        return extras
                   ? run_any(sweep, write_list_to<true, true>(list, offsets, sum), rules, stream)
                   : run_any(sweep, write_list_to<true, false>(list, offsets, sum), rules, stream);
    }
    return extras ? run_any(sweep, write_list_to<false, true>(list, offsets, sum), rules, stream)
                  : run_any(sweep, write_list_to<false, false>(list, offsets, sum), rules, stream);
}

/** Call run_list with OPERATION<float, ...>{...} or OPERATION<double, ...>{...}, by the precision
 *  of the points.
 *  @param INITIAL  initial values of the operation's members: INITIALLY(...), as the commas of a
 *                  list in braces would divide it into several arguments of the macro
 *  @param ...      further template arguments with the comma before them: `, true` is passed by an
 *                  empty argument first, `RUN_BY_PRECISION(..., INITIAL, , true)` */
#define RUN_BY_PRECISION(sweep, rules, stream, OPERATION, INITIAL, ...) \
    (precision_of(sweep) == KITH_FLOAT \
         ? run_list<float>(sweep, OPERATION<float __VA_ARGS__> INITIAL, rules, stream) \
         : run_list<double>(sweep, OPERATION<double __VA_ARGS__> INITIAL, rules, stream))
#define INITIALLY(...) \
    { \
        __VA_ARGS__ \
    }

#endif
