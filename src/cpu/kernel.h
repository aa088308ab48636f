/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is compiled once for each instruction set: the sweep with each of its operations.
 */
#ifndef KITH_CPU_KERNEL_H
#define KITH_CPU_KERNEL_H

#include "isa.h"
#include "sweep.h"

/** Each sweeps block number `block` of the grid (kith__blocks) and does one thing at its pairs.
 *  Without memory for its buffers it sets sweep->no_memory and stops. */
struct kith__kernel {
    const char *name;
    /** Add to sweep->hits. */
    void (*count)(struct kith__sweep *sweep, int64_t block);
    /** Store each particle's hits in sweep->counts. */
    void (*count_rows)(struct kith__sweep *sweep, int64_t block);
    /** Collect rows in sweep->buffer, calling sweep->flush when full; the last are left there. */
    void (*collect)(struct kith__sweep *sweep, int64_t block);
    /** Write the collected rows to sweep->out from pair `at` on, as (i, j) with i <= j where the
     *  stencil is KITH_FORWARD, and empty the buffer. */
    void (*write)(struct kith__sweep *sweep, int64_t at);
    /** Write each particle's row to sweep->out at sweep->offsets. */
    void (*fill_rows)(struct kith__sweep *sweep, int64_t block);
    /** Count pairs by distance in sweep->tally, with sweep->scale. */
    void (*tally)(struct kith__sweep *sweep, int64_t block);
    /** Move each particle by its sums over its neighbours, with sweep->flight. */
    void (*flock)(struct kith__sweep *sweep, int64_t block);
};

KITH_DECLARE_FOR_ISAS(kernel);

#endif
