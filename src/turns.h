/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where particles are for waves that fit the box, for every backend.
 */
#ifndef KITH_TURNS_H
#define KITH_TURNS_H

#include <kith_waves.h>

#include "question.h"

/* |h|, |k|, |l| at most: the CPU tabulates all powers up to there. */
enum { KITH_MOST_POWER = 1 << 14 };

/** Coordinate k of a point. */
KITH_FN double kith__coordinate(const kith_points *points, int64_t p, int k)
{
    const void *const axis = k == 0 ? points->x : k == 1 ? points->y : points->z;
    const int64_t at = p * points->stride;
    return points->precision == KITH_FLOAT ? (double)((const float *)axis)[at]
                                           : ((const double *)axis)[at];
}

/** Fractional coordinates of particle p less the nearest whole numbers: exp(i q.r) is that of
 *  2 pi (h t[0] + k t[1] + l t[2]). @return KITH_OK, KITH_NOT_FINITE, KITH_LIMIT: too far out. */
KITH_FN kith_status kith__turns(const struct kith__question *q, int64_t p, double t[3])
{
    const double farthest = q->precision == KITH_FLOAT ? 1048576 : 1073741824; /* as for wrapping */
    double r[3] = {0, 0, 0};
    kith_status status = KITH_OK;
    for (int k = 0; k < q->dim; k++) {
        r[k] = kith__coordinate(&q->a, p, k);
        status = isfinite(r[k]) ? status : KITH_NOT_FINITE;
    }
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(&q->box_d, r, k);
        if (status == KITH_OK && q->box_d.periodic[k] && !(fabs(f) <= farthest)) {
            status = KITH_LIMIT;
        }
        t[k] = KITH_SUB_D(f, rint(f));
    }
    return status;
}

#endif
