/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Instantiates code for both precisions. The includer first defines KITH_PER_PRECISION, a path from
 * src/ in quotes, for example "engine/cells_real.h". This file includes that one twice: with
 * real = double and KITH_REAL(name) = name_d, then with real = float and KITH_REAL(name) = name_f.
 * All three macros are undefined at the end. There is no include guard: a source file may include
 * this several times, for different files.
 */
#define real double
#define KITH_REAL(name) name##_d
#include KITH_PER_PRECISION
#undef real
#undef KITH_REAL

#define real float
#define KITH_REAL(name) name##_f
#include KITH_PER_PRECISION
#undef real
#undef KITH_REAL

#undef KITH_PER_PRECISION
