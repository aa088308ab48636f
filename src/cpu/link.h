/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: which clumps are united. Compiled for each instruction set.
 */
#ifndef KITH_CPU_LINK_H
#define KITH_CPU_LINK_H

#include "friends.h"
#include "isa.h"
#include "sweep.h"

/** The sweep is the thread's: its memory for sorting is used, and no_memory is set where that is
 *  not enough. */
struct kith__linker {
    /** Unite the clumps of a crowded cell that touch, for KITH_CROWD_BLOCK places of friends->crowd
     *  from block * KITH_CROWD_BLOCK on. */
    void (*crowds)(struct kith__friends *friends, struct kith__sweep *sweep, int64_t block);
    /** After that: unite all others that touch, where a cell of one of them begins in block number
     *  `block` of clumps, and is not behind the other's. */
    void (*cells)(struct kith__friends *friends, struct kith__sweep *sweep, int64_t block);
};

KITH_DECLARE_FOR_ISAS(linker);

#endif
