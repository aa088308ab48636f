/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sweep's operations for pair lists. All arrays are in device memory. Launchers queue their
 * work on the stream and return the run-time's error code.
 */
#ifndef KITH_GPU_PAIRS_H
#define KITH_GPU_PAIRS_H

#include "engine/gpu/gpu_sweep.h"

/** The part of a list that is written: pairs [base, base + capacity) go to where arrays begin. */
struct kith__gpu_list {
    int64_t base, capacity;
    int32_t *i; /**< NULL: not wanted */
    int32_t *j;
    void *distances, *vectors;
    int32_t *shifts;
    bool later; /**< rows will be sorted: store each pair's image in its extras' place for now */
};

#ifdef __cplusplus
extern "C" {
#endif

/** counts[s]: hits of street s; the others, up to n, become 0. */
gpuError_t kith__gpu_count_streets(const struct kith__gpu_sweep *sweep, int64_t *counts, int64_t n,
                                   gpuStream_t stream);

/** counts[i]: neighbours of i, by the caller's index. upper: only j > i, as in half lists. */
gpuError_t kith__gpu_count_rows(const struct kith__gpu_sweep *sweep, bool upper, int64_t *counts,
                                gpuStream_t stream);

/** Append pairs. @param offsets  where each street's pairs go; NULL: wherever there is room first.
 *  @param total  device memory: receives the number of pairs when offsets is NULL */
gpuError_t kith__gpu_append(const struct kith__gpu_sweep *sweep, const struct kith__gpu_list *list,
                            const int64_t *offsets, unsigned long long *total, gpuStream_t stream);

/** Write rows. @param offsets  [a.n + 1] where the row of each i begins */
gpuError_t kith__gpu_fill_rows(const struct kith__gpu_sweep *sweep, bool upper,
                               const struct kith__gpu_list *list, const int64_t *offsets,
                               gpuStream_t stream);

/** Sort each row that list holds by j and image, and write its extras. Rows [first, last). */
gpuError_t kith__gpu_sort_rows(const struct kith__gpu_grid *grid, const struct kith__gpu_list *list,
                               const int64_t *offsets, int64_t first, int64_t last,
                               gpuStream_t stream);

/** *result becomes the number of pairs, or the status of what failed. */
gpuError_t kith__gpu_conclude(const struct kith__gpu_grid *grid, const int64_t *total,
                              int64_t *result, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
