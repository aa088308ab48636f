/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Launchers for lists with a radius for each particle on a GPU, which are made by searches between
 * classes of radius (pairs/classes.h). class_lists.c calls them. All arrays are in device memory.
 */
#ifndef KITH_GPU_RADII_H
#define KITH_GPU_RADII_H

#include "pairs/classes.h"
#include "pairs_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Copy the coordinates of some particles.
 *  @param from     points in device memory
 *  @param dim      dimensions; in two z becomes 0, and from->z is not read
 *  @param order    [n] their indices
 *  @param[out] to  [3][n] x, then y, then z, in the precision of the points */
gpuError_t kith__gpu_copy_points(const kith_points *from, int dim, const int32_t *order, int64_t n,
                                 void *to, gpuStream_t stream);

/** Replace indices of copies by those of the particles: id[s] = order[id[s]].
 *  @param[in,out] id  [n] */
gpuError_t kith__gpu_name_particles(int32_t *id, const int32_t *order, int64_t n,
                                    gpuStream_t stream);

/** Add the hits of a search between classes to the count of each particle.
 *  @param rules           which hits are listed; NULL: all
 *  @param upper           count only pairs of a half list
 *  @param[in,out] counts  [n of the points] numbers by the caller's index */
gpuError_t kith__gpu_count_more(const struct kith__gpu_sweep *sweep,
                                const struct kith__rules *rules, bool upper, int64_t *counts,
                                gpuStream_t stream);

/** Append the hits of a search between classes to the rows of a list, as far as the arrays have
 *  room.
 *  @param rules           which hits are listed; NULL: all
 *  @param upper           rows hold only pairs of a half list
 *  @param offsets         [n of the points + 1] first pair of each row in the list
 *  @param[in,out] filled  [n of the points] pairs that were appended to each row so far, also those
 *                         without room; rows that are not in the arrays may not be counted */
gpuError_t kith__gpu_append_rows(const struct kith__gpu_sweep *sweep,
                                 const struct kith__rules *rules, bool upper,
                                 const struct kith__gpu_list *list, const int64_t *offsets,
                                 int64_t *filled, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
