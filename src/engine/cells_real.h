/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and wrapping the caller's coordinates, and their bounds, for one precision. Included by
 * cells.h through per_precision.h, which defines the type `real` and KITH_REAL(name), the name with
 * the suffix _d or _f.
 */

/** Read particle p of the caller's points and wrap it into the box.
 *  @param dim         dimensions; 2: z is 0, and points->z is not read
 *  @param[out] r      wrapped position [length]
 *  @param[out] image  number of boxes that were subtracted along each axis
 *  @return 1; 0 when the particle is too far outside the box to wrap */
KITH_FN int KITH_REAL(kith__load)(const struct KITH_REAL(kith__lattice) *box,
                                  const kith_points *points, int dim, int64_t p, real r[3],
                                  int32_t image[3])
{
    const int64_t at = p * points->stride;
    r[0] = ((const real *)points->x)[at];
    r[1] = ((const real *)points->y)[at];
    r[2] = dim == 3 ? ((const real *)points->z)[at] : 0;
    return KITH_REAL(kith__wrap)(box, r, image);
}

/** Compute the fractional coordinates f of position r. For an orthorhombic box the products with
 *  the zeros of the inverse matrix are skipped. */
KITH_FN void KITH_REAL(kith__fractions)(const struct KITH_REAL(kith__lattice) *box, const real r[3],
                                        double f[3])
{
    for (int k = 0; k < 3; k++) {
        f[k] = box->orthorhombic ? ((double)r[k] - (double)box->origin[k]) * box->inverse[k][k]
                                 : KITH_REAL(kith__fraction)(box, r, k);
    }
}

/** Return true when a wrapped position with fractional coordinates f lies more than a box outside,
 *  along a periodic axis.
 *  This occurs in a triclinic box for a particle that was so far away that wrapping was rounded by
 *  more than a box. */
KITH_FN bool KITH_REAL(kith__lies_outside)(const struct KITH_REAL(kith__lattice) *box,
                                           const double f[3])
{
    bool outside = false;
    for (int k = 0; k < 3; k++) {
        outside = outside || (box->periodic[k] && (f[k] < -1 || f[k] > 2));
    }
    return outside;
}

/** Extend the bounds *s by particle p: lo, hi and wrapped when it can be used, else bad or far.
 *  @param p      index of the particle in the caller's order
 *  @param r      wrapped position [length]
 *  @param fits   0: the particle is too far outside the box to wrap
 *  @param image  number of boxes that wrapping subtracted along each axis */
KITH_FN void KITH_REAL(kith__bounds_add)(const struct KITH_REAL(kith__lattice) *box, int64_t p,
                                         const real r[3], int fits, const int32_t image[3],
                                         struct kith__bounds *s)
{
    /* 0, or NaN when a coordinate is not finite */
    const real zero = (r[0] - r[0]) + (r[1] - r[1]) + (r[2] - r[2]);
    double f[3];
    KITH_REAL(kith__fractions)(box, r, f);
    if (!fits || zero != 0 || KITH_REAL(kith__lies_outside)(box, f)) {
        s->bad = zero != 0 && p < s->bad ? p : s->bad;
        s->far = zero == 0 && p < s->far ? p : s->far;
        return;
    }
    for (int k = 0; k < 3; k++) {
        s->wrapped |= image[k] < 0 ? -image[k] : image[k]; /* the OR is at least the maximum */
        s->lo[k] = f[k] < s->lo[k] ? f[k] : s->lo[k];
        s->hi[k] = f[k] > s->hi[k] ? f[k] : s->hi[k];
    }
}
