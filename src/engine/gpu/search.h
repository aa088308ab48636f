/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A search under way on a GPU: scratch, coordinates on the device, the grid.
 */
#ifndef KITH_GPU_SEARCH_H
#define KITH_GPU_SEARCH_H

#include "fof/gpu/fof_gpu.h"
#include "halos/gpu/halos_gpu.h"
#include "gpu_state.h"
#include "gpu_sweep.h"

/** Small things in device memory, in slot KITH_GPU_PLAN. */
struct kith__gpu_small {
    struct kith__gpu_plan plan;
    struct kith__gpu_survey survey[2];
    unsigned long long total;
    unsigned next;
    struct kith__gpu_fof_small fof;
    struct kith__gpu_halos_small halos;
};

/** A search under way. */
struct kith__gpu_search {
    kith_ctx *ctx;
    struct kith__gpu *gpu;
    const struct kith__list *list;
    struct kith__gpu_sweep sweep;
    bool empty; /**< no particles: nothing to sweep */
    int64_t streets;
    void *temporary;
    size_t temporary_bytes;
    int64_t *counts; /**< [a.n + 1] device memory: counts, then offsets, of streets or rows */
};

/** Bring the coordinates to the device: s->sweep.grid.question. kith__gpu_begin comes before this
 *  and all that follows. */
kith_status kith__gpu_bring_question(struct kith__gpu_search *s,
                                     const struct kith__question *question);

/** Queue the grid of a question, and the homes where cells have no parts.
 *  @param wait  the number of cells may be asked for, so that fewer bits are sorted; without,
 *               nothing waits for the device
 *  @param home  the most particles in a home */
kith_status kith__gpu_search_begin(kith_ctx *ctx, const struct kith__question *question,
                                   const struct kith__list *list, bool wait, int home,
                                   struct kith__gpu_search *s);

/** Bring the question to the device and check the coordinates there, for what needs no grid. Waits.
 *  @return KITH_OK, or what is wrong with them. */
kith_status kith__gpu_search_check(kith_ctx *ctx, const struct kith__question *question,
                                   struct kith__gpu_search *s);

/** Bring the question to the device, and make room for sorting its particles by other keys than a
 *  grid's: key and id as kith__gpu_sort_pairs wants them. There is no plan. */
kith_status kith__gpu_search_room(kith_ctx *ctx, const struct kith__question *question,
                                  struct kith__gpu_search *s, uint64_t *key[2], int32_t *id[2]);

/** Queue a copy of the small things to gpu->small. What is queued next runs while the host waits
 *  for them. */
kith_status kith__gpu_ask_small(const struct kith__gpu_search *s);

/** Wait for what was asked for. */
kith_status kith__gpu_learn_small(const struct kith__gpu_search *s);

/** What kith__gpu_read_back brings without a total, for kith__gpu_download beside other copies. */
struct kith__gpu_copy kith__gpu_copy_of_plan(const struct kith__gpu_search *s);

/** @return KITH_OK, or what the plan that has come says is wrong with the coordinates. */
kith_status kith__gpu_judge_plan(const struct kith__gpu_search *s);

/** Wait for the device, and learn its plan, in gpu->small, and *total from device memory.
 *  @param total  NULL: not wanted
 *  @return KITH_OK, or what is wrong with the coordinates. */
kith_status kith__gpu_read_back(struct kith__gpu_search *s, const void *total, int64_t *n);

#endif
