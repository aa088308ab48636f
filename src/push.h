/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The push of a pair: how its forces drive it apart, written once and read by the C and the CUDA
 * compiler. With d from i to j in double, p = (F_j - F_i).d is summed, and p (e / r)^dim, e the
 * upper edge of the bin (r at least that of push.least2). Sums are of integers, so that their order
 * does not matter: terms are cut to 2^-40 of the next power of 2 above the largest that the forces
 * allow, and 2^22 of them never overflow 63 bits.
 */
#ifndef KITH_PUSH_H
#define KITH_PUSH_H

#include "backend.h"

/** Sums of integers of 64 bits. */
__extension__ typedef __int128 kith__wide;

enum { KITH_PUSH_TERMS = 1 << 22 /**< that never overflow 63 bits */ };

/** Where sum `which` (0: p, 1: p / r^dim) of a counter is: below the first edge, then the bins. */
KITH_FN int64_t kith__push_at(const struct kith__rdf *rdf, int32_t partial, int which, int64_t k)
{
    return (2 * (int64_t)partial + which) * (rdf->bins + 1) + k;
}

/** The two terms of a pair, for F_j - F_i = force; over: push.over of its counter. */
KITH_FN void kith__push(const struct kith__push_units *unit, double over, int dim,
                        const double d[3], const double force[3], int64_t term[2])
{
    const double p = KITH_ADD_D(KITH_ADD_D(KITH_MUL_D(force[0], d[0]), KITH_MUL_D(force[1], d[1])),
                                KITH_MUL_D(force[2], d[2]));
    double r2 = KITH_ADD_D(KITH_ADD_D(KITH_MUL_D(d[0], d[0]), KITH_MUL_D(d[1], d[1])),
                           KITH_MUL_D(d[2], d[2]));
    r2 = r2 < unit->least2 ? unit->least2 : r2;
    const double power = dim == 3 ? KITH_MUL_D(r2, sqrt(r2)) : r2;
    term[0] = (int64_t)KITH_MUL_D(p, unit->plain);
    term[1] = (int64_t)KITH_MUL_D(KITH_DIV_D(p, power), over);
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
