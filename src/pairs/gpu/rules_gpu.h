/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rules of a list (pairs/rules.h) on a GPU, host side: their arrays in device memory.
 */
#ifndef KITH_GPU_RULES_H
#define KITH_GPU_RULES_H

#include "engine/gpu/search.h"
#include "pairs/pairs.h"

/** A list whose rules have their arrays in device memory. */
struct kith__gpu_ruled {
    struct kith__list list;   /**< the list; list.rules is NULL, or &rules */
    struct kith__rules rules; /**< the rules, with arrays in device memory */
};

/** Copy the arrays of a list's rules to the device, where they are in host memory: the table of
 *  cutoffs is always, the other arrays are where the points are.
 *  @param enqueued  nothing may wait for the device, and the call may be captured in a graph
 *  @param[out] ruled  the list for launchers; not to be copied, as its members refer to each other
 *  @return KITH_OK; KITH_NO_MEMORY; KITH_UNSUPPORTED for a table that is too large to be captured
 *          in a graph; a failure */
kith_status kith__gpu_bring_rules(kith_ctx *ctx, const struct kith__question *question,
                                  const struct kith__list *list, bool enqueued,
                                  struct kith__gpu_ruled *ruled);

#endif
