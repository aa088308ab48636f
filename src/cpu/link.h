/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linking: which clumps are united. Compiled for each instruction set.
 */
#ifndef KITH_CPU_LINK_H
#define KITH_CPU_LINK_H

#include "friends.h"

struct kith__linker {
    const char *name;
    /** Unite the clumps of the cells that begin in block number `block` with all near them that
     *  come later. @return false without memory. */
    bool (*link)(struct kith__friends *friends, int64_t block);
};

extern const struct kith__linker kith__linker_baseline;
extern const struct kith__linker kith__linker_avx2;
extern const struct kith__linker kith__linker_avx512;

#endif
