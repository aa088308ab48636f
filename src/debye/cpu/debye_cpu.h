/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The declaration of the kernel of Debye's sums on CPU cores (debye_kernel.c).
 */
#ifndef KITH_CPU_DEBYE_H
#define KITH_CPU_DEBYE_H

#include "debye/debye.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/sweep.h"

/** Sum over the pairs of one piece with each species, at one run of q, in debye->sums: task number
 *  piece + run * pieces. sweep->job is the struct kith__debye. */
kith__work_fn KITH_EACH_ISA(sum_sines);

#endif
