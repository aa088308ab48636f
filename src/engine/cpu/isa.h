/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of functions that are compiled once for each instruction set: the functions of files named
 * *_kernel.c. src/CMakeLists.txt compiles these files with KITH_ISA, the name of the instruction
 * set, in which KITH_OF_ISA(sum) is a name like kith__sum_avx2. It compiles all files, these
 * included, with KITH_HAVE_AVX2 and KITH_HAVE_AVX512 where this build has code for these
 * instruction sets. A header declares a function for all instruction sets of this build by
 *
 *     kith__work_fn KITH_EACH_ISA(sum);
 *
 * which expands to kith__sum_baseline, kith__sum_avx2, kith__sum_avx512. The caller chooses one by
 * the context's instruction set:
 *
 *     static kith__work_fn *const sum[] = {KITH_EACH_ISA(sum)};
 *     run.block = sum[kith__isa(ctx)];
 */
#ifndef KITH_CPU_ISA_H
#define KITH_CPU_ISA_H

/* The name of a function for AVX2 (AVX-512), with a comma before it; nothing where this build has
 * no code for that instruction set. */
#ifdef KITH_HAVE_AVX2
#define KITH_AVX2_OF(name) , kith__##name##_avx2
#else
#define KITH_AVX2_OF(name)
#endif
#ifdef KITH_HAVE_AVX512
#define KITH_AVX512_OF(name) , kith__##name##_avx512
#else
#define KITH_AVX512_OF(name)
#endif
#define KITH_EACH_ISA(name) kith__##name##_baseline KITH_AVX2_OF(name) KITH_AVX512_OF(name)

/* Two steps, since arguments of ## are not expanded: KITH_ISA must be, before it is pasted. */
#define KITH_PASTE(a, b) a##b
#define KITH_PASTE_ISA(what, isa) KITH_PASTE(what, isa)
#define KITH_OF_ISA(what) KITH_PASTE_ISA(kith__##what##_, KITH_ISA)

#endif
