/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Includes the file KITH_TWICE (a path from src/) for both precisions: first with real = double and
 * names that end in _d, then with float and _f. No include guard on purpose.
 */
#define real double
#define KITH_REAL(name) name##_d
#include KITH_TWICE
#undef real
#undef KITH_REAL

#define real float
#define KITH_REAL(name) name##_f
#include KITH_TWICE
#undef real
#undef KITH_REAL

#undef KITH_TWICE
