/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel of Debye's sums on CPU cores.
 */
#ifndef KITH_CPU_DEBYE_H
#define KITH_CPU_DEBYE_H

#include "debye/debye.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"

/** Sum over the pairs of a piece with each species, at a run of q: task piece + run pieces.
 *  sweep->job is a struct kith__debye. */
kith__work_fn KITH_EACH_ISA(sum_sines);

#endif
