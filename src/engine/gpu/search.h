/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The start of a search on a GPU, which all questions (core/questions.h) share: coordinates on the
 * device, the grid, parameters of the sweep, and results that are copied back to the host.
 */
#ifndef KITH_GPU_SEARCH_H
#define KITH_GPU_SEARCH_H

#include "gpu_state.h"
#include "gpu_sweep.h"

/* Bytes of kith__gpu_small that a question has for counters of its own. */
enum { KITH_GPU_QUESTION_BYTES = 64 };

/** Small data in device memory, in buffer KITH_GPU_PLAN, copied to the host as a whole. */
struct kith__gpu_small {
    struct kith__gpu_plan plan;        /**< the cells, and whether the coordinates can be used */
    struct kith__gpu_bounds bounds[2]; /**< bounds of set a and b */
    unsigned long long total;          /**< pairs appended to an unordered list */
    unsigned next;                     /**< work queue counter of the sweep */
    /** Counters of the running question, as a struct of its own. */
    uint64_t question[KITH_GPU_QUESTION_BYTES / sizeof(uint64_t)];
};

/** A search that has begun. */
struct kith__gpu_search {
    kith_ctx *ctx;                /**< context of the call */
    struct kith__gpu *gpu;        /**< ctx->state */
    struct kith__gpu_sweep sweep; /**< the grid and the parameters of the sweep */
    bool empty;                   /**< a set has no particles: nothing to sweep */
    int64_t work_blocks;          /**< number of work blocks */
    void *temporary;        /**< scratch of the vendor's sort, scan and select; on the device */
    size_t temporary_bytes; /**< size of `temporary` */
    int64_t *counts; /**< [a.n + 1] counts, then offsets, of work blocks or rows; device memory */
};

/** Copy the coordinates of a question to the device, and set s->sweep.grid.question.
 *  kith__gpu_begin must have been called before this and all functions below. */
kith_status kith__gpu_upload_question(struct kith__gpu_search *s,
                                      const struct kith__question *question);

/** Begin a search: queue the grid of a question, and without subcells the division into i-clusters.
 *  @param wait     true: the host may wait for the number of cells, so that fewer bits are sorted;
 *                  false: nothing waits for the device; not with subcells
 *  @param cluster  most particles of an i-cluster (gpu_grid.h)
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT, where the host waits, when coordinates cannot be
 *          used; KITH_NO_MEMORY, KITH_CANCELLED, or a failure of the device */
kith_status kith__gpu_search_begin(kith_ctx *ctx, const struct kith__question *question, bool wait,
                                   int cluster, struct kith__gpu_search *s);

/** Copy the coordinates of a question to the device, and queue their check there, for operations
 *  that need no grid of it: kith__gpu_read_back returns what was found.
 *  @return KITH_OK or a failure */
kith_status kith__gpu_search_queue_check(kith_ctx *ctx, const struct kith__question *question,
                                         struct kith__gpu_search *s);

/** Copy the coordinates of a question to the device, and check them there, for operations that need
 *  no grid. Waits for the device.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; a failure */
kith_status kith__gpu_search_check(kith_ctx *ctx, const struct kith__question *question,
                                   struct kith__gpu_search *s);

/** Copy the coordinates of a question to the device, and allocate the arrays for sorting the
 *  particles of its larger set by keys other than those of a grid. There is no plan.
 *  @param[out] key, id  arrays for kith__gpu_sort_pairs */
kith_status kith__gpu_search_room(kith_ctx *ctx, const struct kith__question *question,
                                  struct kith__gpu_search *s, uint64_t *key[2], int32_t *id[2]);

/** Allocate the scratch memory of the vendor's sort, scan and select of up to n elements: sets
 *  s->temporary. */
kith_status kith__gpu_need_temporary(struct kith__gpu_search *s, int64_t n);

/** Queue a copy of the small data to gpu->small on the host. Work that is queued after it runs
 *  while the host waits for the copy. */
kith_status kith__gpu_queue_small(const struct kith__gpu_search *s);

/** Wait for the copy that kith__gpu_queue_small queued. */
kith_status kith__gpu_await_small(const struct kith__gpu_search *s);

/** Return the copy of the small data to the host, to be made by kith__gpu_download together with
 *  other copies. */
struct kith__gpu_copy kith__gpu_copy_of_plan(const struct kith__gpu_search *s);

/** Test the status of the plan that was copied to the host.
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used */
kith_status kith__gpu_check_plan(const struct kith__gpu_search *s);

/** Wait for all queued work, and copy the small data to gpu->small, and *total to *n.
 *  @param total   an int64_t in device memory; NULL: not wanted
 *  @param[out] n  *total; not set when total is NULL
 *  @return KITH_OK; KITH_NOT_FINITE or KITH_LIMIT when coordinates cannot be used; a failure */
kith_status kith__gpu_read_back(struct kith__gpu_search *s, const void *total, int64_t *n);

#endif
