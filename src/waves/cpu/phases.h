/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves: exp(i q.r) = A^h B^k C^l, with A, B, C the phase factors of a particle's
 * fractional coordinates. For a chunk of particles the powers of these are tabulated once; each
 * wave then costs two products of complex numbers for each particle. Compiled for each instruction
 * set, with equal bits.
 */
#ifndef KITH_CPU_PHASES_H
#define KITH_CPU_PHASES_H

#include <stdint.h>

#include "engine/cpu/isa.h"

enum { KITH_CHUNK = 128 }; /**< particles of a chunk */

/** Numbers in a table of powers 0 to `most` of phase factors along one axis: [power][real,
 *  imaginary][KITH_CHUNK]. */
static inline int64_t kith__table_size(int32_t most)
{
    return 2 * (int64_t)KITH_CHUNK * (most + 1);
}

/** Fill a table with powers 0 to `most` of the phase factors of n particles; other entries are 0.
 *  @param phases  phases along one axis, at phases[0], phases[3], and so on [turns] */
typedef void kith__fill_phases_fn(const double *phases, int n, int32_t most, double *table);
kith__fill_phases_fn KITH_EACH_ISA(fill_phases);

/** Add A^h B^k C^l over a chunk of particles to the real and imaginary part of a sum. */
typedef void kith__add_phases_fn(const int32_t hkl[3], const double *const table[3], double sum[2]);
kith__add_phases_fn KITH_EACH_ISA(add_phases);

#endif
