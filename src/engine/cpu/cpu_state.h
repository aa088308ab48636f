/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU backend's part of a context.
 */
#ifndef KITH_CPU_STATE_H
#define KITH_CPU_STATE_H

#include "core/backend.h"
#include "isa.h"
#include "sweep.h"

struct kith__cpu {
    int isa;                    /**< index into KITH_EACH_ISA */
    struct kith__sweep *sweeps; /**< one a thread */
    kith_pairs staging;         /**< pairs on their way to a block callback */
};

/** The context's instruction set, an index into KITH_EACH_ISA. */
static inline int kith__isa(const kith_ctx *ctx)
{
    return ((const struct kith__cpu *)ctx->state)->isa;
}

/** The sweep of one of the context's threads. */
static inline struct kith__sweep *kith__sweep_of(const kith_ctx *ctx, int thread)
{
    return &((const struct kith__cpu *)ctx->state)->sweeps[thread];
}

#endif
