/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The push of a pair: how its forces drive it apart, written once and read by the C and the CUDA
 * compiler. With d from i to j in double, p = (F_j - F_i).d is summed, and p (e / r)^dim, e the
 * upper edge of the bin (r at least that of push.least2). Sums are of integers, so that their order
 * does not matter: terms are rounded to 2^-40 of the next power of 2 above the largest that the
 * forces allow, and 2^22 of them never overflow 63 bits.
 */
#ifndef KITH_PUSH_H
#define KITH_PUSH_H

#include <string.h>

#include "rdf.h"

/** Sums of integers of 64 bits. */
__extension__ typedef __int128 kith__wide;

enum { KITH_PUSH_TERMS = 1 << 22 /**< that never overflow 63 bits */ };

/** Where sum `which` (0: p, 1: p / r^dim) of a counter is: below the first edge, then the bins. */
KITH_FN int64_t kith__push_at(const struct kith__rdf *rdf, int32_t partial, int which, int64_t k)
{
    return (2 * (int64_t)partial + which) * (rdf->bins + 1) + k;
}

/** The nearest whole number, for |x| < 2^51: what is left of it when 1.5 * 2^52 is added. */
KITH_FN int64_t kith__push_whole(double x)
{
    const double shifted = KITH_ADD_d(x, 6755399441055744.0);
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return bits - 0x4338000000000000;
}

/** 1 / sqrt(x) to some units in the last place, for x within 1e-150 and 1e150: a guess from the
 *  bits, good to 3.5%, and the series of (1 - e)^(-1/2) to the second and to the third power. Has
 *  the same bits on all processors, and takes neither a root nor a quotient. */
KITH_FN double kith__push_over_root(double x)
{
    uint64_t bits;
    double y;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5fe6eb50c7b537a9 - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    double e = KITH_SUB_d(1, KITH_MUL_d(KITH_MUL_d(x, y), y));
    y = KITH_ADD_d(y, KITH_MUL_d(KITH_MUL_d(y, e), KITH_ADD_d(0.5, KITH_MUL_d(0.375, e))));
    e = KITH_SUB_d(1, KITH_MUL_d(KITH_MUL_d(x, y), y));
    const double more = KITH_MUL_d(e, KITH_ADD_d(0.375, KITH_MUL_d(0.3125, e)));
    return KITH_ADD_d(y, KITH_MUL_d(KITH_MUL_d(y, e), KITH_ADD_d(0.5, more)));
}

/** The two terms of a pair with p and r2; over: push.over of its counter. */
KITH_FN void kith__push_terms(const struct kith__push_units *unit, double over, int dim, double p,
                              double r2, int64_t term[2])
{
    const double least2 = unit->least2;
    const double one = kith__push_over_root(r2 < least2 ? least2 : r2);
    const double square = KITH_MUL_d(one, one);
    const double power = dim == 3 ? KITH_MUL_d(square, one) : square;
    term[0] = kith__push_whole(KITH_MUL_d(p, unit->plain));
    term[1] = kith__push_whole(KITH_MUL_d(KITH_MUL_d(p, power), over));
}

/** What a sum of terms is in the caller's units; k as in kith__push_at. */
static inline double kith__push_sum(const struct kith__rdf *rdf, int which, int64_t k,
                                    kith__wide sum)
{
    return (double)sum / (which == 0 ? rdf->push.plain : rdf->push.over[k]);
}

/** Check the forces, if there are any. @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE. */
kith_status kith__push_check(kith_ctx *ctx, const kith_rdf_options *options,
                             const struct kith__question *question, struct kith__rdf *rdf);

/** Choose the units of forces that were checked. @param over  [bins + 1] room for rdf->push.over */
void kith__push_units(const struct kith__question *question, const double *edges, double *over,
                      struct kith__rdf *rdf);

#endif
