/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves: exp(i q.r) = A^h B^k C^l, with the phase factors A, B, C = exp(2 pi i t)
 * of a particle's phases t along the three axes (waves/wave_phase.h). For a chunk, consecutive
 * particles of one species, the powers of these are tabulated once; each wave then costs two
 * products of complex numbers for each particle. Negative powers are the complex conjugates. The
 * functions are compiled for each instruction set (engine/cpu/isa.h), with equal bits.
 */
#ifndef KITH_CPU_PHASES_H
#define KITH_CPU_PHASES_H

#include <stdint.h>

#include "engine/cpu/isa.h"

enum { KITH_CHUNK = 128 }; /**< particles of a chunk */

/** Return the number of doubles in a table of powers 0 to `most` of phase factors along one axis.
 *  Its layout is [power][real, imaginary][KITH_CHUNK]. */
static inline int64_t kith__table_size(int32_t most)
{
    return 2 * (int64_t)KITH_CHUNK * (most + 1);
}

/** Fill a table with powers 0 to `most` of the phase factors of n particles, at most KITH_CHUNK;
 *  the entries of the others are 0.
 *  @param phases      phases along one axis, at phases[0], phases[3], and so on [turns]
 *  @param[out] table  [kith__table_size(most)] */
typedef void kith__fill_phases_fn(const double *phases, int n, int32_t most, double *table);
kith__fill_phases_fn KITH_EACH_ISA(fill_phases);

/** Add A^h B^k C^l of all particles of a chunk to a sum.
 *  @param hkl           h, k, l of the wave
 *  @param table         tables of the three axes, up to |h|, |k| and |l| or more; particles that
 *                       the chunk does not have are 0 there, and add 0
 *  @param[in,out] sum   real and imaginary part */
typedef void kith__add_phases_fn(const int32_t hkl[3], const double *const table[3], double sum[2]);
kith__add_phases_fn KITH_EACH_ISA(add_phases);

#endif
