/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inner loop of Debye's sums, compiled once for each instruction set.
 */
#ifndef KITH_CPU_SINER_H
#define KITH_CPU_SINER_H

#include "../debye.h"
#include "isa.h"

struct kith__siner {
    /** Add the pairs of a piece with each species at the q of one run to debye->sums. */
    void (*sum)(const struct kith__debye *debye, int32_t piece, int64_t run);
};

KITH_DECLARE_FOR_ISAS(siner);

#endif
