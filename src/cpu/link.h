/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: which clumps are united. Compiled for each instruction set.
 */
#ifndef KITH_CPU_LINK_H
#define KITH_CPU_LINK_H

#include "friends.h"
#include "isa.h"
#include "sweep.h"

/** Each deals with the cells that begin in block number `block`. The sweep is the thread's: its
 *  memory for sorting is used, and no_memory is set where that is not enough. */
struct kith__linker {
    /** Unite the clumps of a cell that touch. */
    void (*inside)(struct kith__friends *friends, struct kith__sweep *sweep, int64_t block);
    /** Unite the clumps of a cell with those of the cells ahead that they touch. */
    void (*across)(struct kith__friends *friends, struct kith__sweep *sweep, int64_t block);
};

KITH_DECLARE_FOR_ISAS(linker);

#endif
