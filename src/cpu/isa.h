/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of what is compiled once for each instruction set: a table of loops, struct kith__WHAT, is
 * defined as KITH_OF_ISA(WHAT) in a file of KITH_KERNEL_SOURCES, where the build says which
 * KITH_ISA it is for.
 */
#ifndef KITH_CPU_ISA_H
#define KITH_CPU_ISA_H

#define KITH_DECLARE_FOR_ISAS(what) \
    extern const struct kith__##what kith__##what##_baseline, kith__##what##_avx2, \
        kith__##what##_avx512

#define KITH_PASTE(a, b) a##b
#define KITH_PASTE_ISA(what, isa) KITH_PASTE(what, isa)
#define KITH_OF_ISA(what) KITH_PASTE_ISA(kith__##what##_, KITH_ISA)

#endif
