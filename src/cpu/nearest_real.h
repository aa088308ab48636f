/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placing particles for all pairs, for one precision. Included by nearest.c, see twice.h.
 */

/** Write coordinates and fractions of places [0, n) of a set; id is there already. */
static void KITH_REAL(place)(const struct kith__question *q, const kith_points *points,
                             struct kith__ranked *ranked)
{
    const struct KITH_REAL(kith__lattice) *box = &q->KITH_REAL(box);
    for (int64_t s = 0; s < ranked->n; s++) {
        real r[3];
        int32_t image[3];
        (void)KITH_REAL(kith__load)(box, points, q->dim, ranked->id[s], r, image);
        double f[3];
        KITH_REAL(kith__fractions)(box, r, f);
        for (int k = 0; k < 3; k++) {
            const double whole = box->periodic[k] ? f[k] * whole_side : 0;
            ((real *)ranked->xyz[k])[s] = r[k];
            ranked->fraction[k][s] = (int32_t)(uint32_t)(int64_t)(whole + 0.5);
        }
    }
}
