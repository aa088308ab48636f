/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phases of a particle for plane waves that fit the box, for every backend. A wave is a vector q of
 * the reciprocal lattice, q = 2 pi (h a* + k b* + l c*) with integers h, k, l; a phase is a
 * fractional coordinate, in turns.
 */
#ifndef KITH_WAVE_PHASE_H
#define KITH_WAVE_PHASE_H

#include <kith/waves.h>

#include "engine/question.h"

/* Largest |h|, |k|, |l|: the CPU backend tabulates the powers of a phase factor, exp(2 pi i phase),
 * up to it. */
enum { KITH_MOST_POWER = 1 << 14 };

/** Compute the phases of particle p: its fractional coordinates, less the nearest integers, which
 *  change no wave: of an open axis, where they would, the power h, k or l is 0. With the position r
 *  relative to the origin of the box, exp(i q.r) = exp(2 pi i (h t[0] + k t[1] + l t[2])).
 *  @param p       caller's index
 *  @param[out] t  phases along the axes, -1/2 to 1/2 [turns]; undefined on failure
 *  @return KITH_OK; KITH_NOT_FINITE; KITH_LIMIT: the particle is too far outside the box */
KITH_FN kith_status kith__wave_phase(const struct kith__question *q, int64_t p, double t[3])
{
    const double farthest = q->precision == KITH_FLOAT ? (double)kith__farthest_image_f
                                                       : (double)kith__farthest_image_d;
    double r[3];
    kith__position(&q->a, q->dim, q->precision, p, r);
    kith_status status = kith__is_finite(r) ? KITH_OK : KITH_NOT_FINITE;
    for (int k = 0; k < 3; k++) {
        const double f = kith__fraction_d(&q->box_d, r, k);
        if (status == KITH_OK && q->box_d.periodic[k] && !(fabs(f) <= farthest)) {
            status = KITH_LIMIT;
        }
        t[k] = KITH_SUB_d(f, rint(f));
    }
    return status;
}

#endif
