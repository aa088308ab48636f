/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The data that the CPU backend keeps in a context.
 */
#ifndef KITH_CPU_STATE_H
#define KITH_CPU_STATE_H

#include "core/backend.h"
#include "isa.h"
#include "sweep.h"

/** The data of the CPU backend. */
struct kith__cpu {
    int isa; /**< instruction set, an index into the functions that KITH_EACH_ISA lists (isa.h) */
    struct kith__sweep *sweeps; /**< [threads] working memory of each thread */
    kith_pairs staging;         /**< list in which pairs are gathered before they are passed to the
                                     callback of kith_pairs_each, or copied to a KITH_MATRIX list
                                     (radii_cpu.c) */
};

/** Return the context's instruction set, an index into the functions that KITH_EACH_ISA lists. */
static inline int kith__isa(const kith_ctx *ctx)
{
    return ((const struct kith__cpu *)ctx->state)->isa;
}

/** Return the working memory of one of the context's threads, 0 to ctx->threads - 1. */
static inline struct kith__sweep *kith__sweep_of(const kith_ctx *ctx, int thread)
{
    return &((const struct kith__cpu *)ctx->state)->sweeps[thread];
}

#endif
