/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From trees to numbered groups.
 */
#ifndef KITH_CPU_NUMBER_H
#define KITH_CPU_NUMBER_H

#include "../backend.h"
#include "friends.h"

/** Number the groups of at least fof->min_members particles by falling size, equal ones by their
 *  smallest particle id, and label the particles. friends->idle is overwritten.
 *  @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__number(kith_ctx *ctx, struct kith__friends *friends, const struct kith__fof *fof,
                         kith_groups *out);

#endif
