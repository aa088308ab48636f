/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The definition of a pair for one precision. Included by pair.h through per_precision.h, which
 * defines the type `real` and KITH_REAL(name), the name with the suffix _d or _f. Every operation
 * is rounded once: contraction to fused multiply-add is off in C (-ffp-contract=off), and the _rn
 * intrinsics prevent it in CUDA. So all backends compute identical bits.
 */

/** The box, rounded to the precision of the coordinates. */
struct KITH_REAL(kith__lattice) {
    real origin[3];       /**< corner of the box [length] */
    real row[3][3];       /**< edge vectors a, b, c of the box [length]; unit vectors along open
                               axes */
    double inverse[3][3]; /**< inverse of the rows, of which the periodic ones are rounded
                               [1 / length]: fractional coordinate f_k = inverse[k] . (r -
                               origin) */
    int periodic[3];      /**< 1 along periodic axes, 0 along open ones */
    int orthorhombic;     /**< 1 when row k lies along axis k in the positive direction */
};

/** Return fractional coordinate k of position r: 0 to 1 inside the box. Computed in double for both
 *  precisions. */
KITH_FN double KITH_REAL(kith__fraction)(const struct KITH_REAL(kith__lattice) *lattice,
                                         const real r[3], int k)
{
    const double dx = KITH_SUB_d((double)r[0], (double)lattice->origin[0]);
    const double dy = KITH_SUB_d((double)r[1], (double)lattice->origin[1]);
    const double dz = KITH_SUB_d((double)r[2], (double)lattice->origin[2]);
    const double fxy = KITH_ADD_d(KITH_MUL_d(lattice->inverse[k][0], dx),
                                  KITH_MUL_d(lattice->inverse[k][1], dy));
    return KITH_ADD_d(fxy, KITH_MUL_d(lattice->inverse[k][2], dz));
}

/** Wrap one coordinate into [lo, lo + length).
 *  @param[out] w  number of boxes that were subtracted
 *  @return the wrapped coordinate */
KITH_FN real KITH_REAL(kith__wrap_axis)(real x, real lo, real length, real *w)
{
    const real hi = KITH_ADD(lo, length);
    *w = 0;
    if (x >= lo && x < hi) {
        return x;
    }
    real t = (real)floor((double)KITH_DIV(KITH_SUB(x, lo), length));
    x = KITH_SUB(x, KITH_MUL(t, length));
    if (x >= hi) { /* rounding may leave t one too small or, below, one too large */
        x = KITH_SUB(x, length);
        t = KITH_ADD(t, 1);
    }
    if (x < lo) {
        x = KITH_ADD(x, length);
        t = KITH_SUB(t, 1);
    }
    *w = t;
    return x >= hi ? lo : x; /* x just below lo, plus length, may be rounded up to hi */
}

/** Wrap position r into the box along its periodic axes: subtract image[0] a + image[1] b +
 *  image[2] c, c first. In a triclinic box rounding may leave the result outside, far outside
 *  after many boxes (kith__outside_along in cells.h); it is not corrected.
 *  @param[out] image  number of boxes that were subtracted along each axis
 *  @return 1; 0 when a coordinate is more than kith__farthest_image boxes outside: image is then
 *          undefined */
KITH_FN int KITH_REAL(kith__wrap)(const struct KITH_REAL(kith__lattice) *lattice, real r[3],
                                  int32_t image[3])
{
    real w[3] = {0, 0, 0};
    if (lattice->orthorhombic) {
        for (int k = 0; k < 3; k++) {
            if (lattice->periodic[k]) {
                r[k] = KITH_REAL(kith__wrap_axis)(r[k], lattice->origin[k], lattice->row[k][k],
                                                  &w[k]);
            }
        }
    } else {
        for (int k = 0; k < 3; k++) {
            if (lattice->periodic[k]) {
                w[k] = (real)floor(KITH_REAL(kith__fraction)(lattice, r, k));
            }
        }
        for (int k = 2; k >= 0; k--) {
            for (int m = 0; m < 3; m++) {
                r[m] = KITH_SUB(r[m], KITH_MUL(w[k], lattice->row[k][m]));
            }
        }
    }
    const real most = KITH_REAL(kith__farthest_image);
    int fits = 1;
    for (int k = 0; k < 3; k++) {
        fits = fits && w[k] >= -most && w[k] <= most;
        image[k] = fits ? (int32_t)w[k] : 0;
    }
    return fits;
}

/** Return the squared distance of two particles in phase space, in units of the linking lengths of
 *  position and of velocity: r2 / length^2 + |v - u|^2 / speed^2. Two particles are friends in
 *  phase-space friends-of-friends when it is at most 1.
 *  @param r2      squared distance of their positions [length^2]
 *  @param length  linking length of positions [length]
 *  @param u, v    their velocities [speed]
 *  @param speed   linking length of velocities [speed] */
KITH_FN real KITH_REAL(kith__phase)(real r2, real length, const real u[3], const real v[3],
                                    real speed)
{
    const real dx = KITH_SUB(v[0], u[0]);
    const real dy = KITH_SUB(v[1], u[1]);
    const real dz = KITH_SUB(v[2], u[2]);
    const real v2 = KITH_ADD(KITH_ADD(KITH_MUL(dx, dx), KITH_MUL(dy, dy)), KITH_MUL(dz, dz));
    return KITH_ADD(KITH_DIV(r2, KITH_MUL(length, length)), KITH_DIV(v2, KITH_MUL(speed, speed)));
}

/** Compute the vector d from position ri to image S of position rj, both wrapped into the box: d =
 *  rj - ri + S[0] a + S[1] b + S[2] c, added in the order c, b, a [length].
 *  @return r^2, the square of d [length^2] */
KITH_FN real KITH_REAL(kith__separation)(const struct KITH_REAL(kith__lattice) *lattice,
                                         const real ri[3], const real rj[3], const int32_t s[3],
                                         real d[3])
{
    for (int m = 0; m < 3; m++) {
        d[m] = KITH_SUB(rj[m], ri[m]);
    }
    if (s[0] | s[1] | s[2]) {
        for (int k = 2; k >= 0; k--) {
            for (int m = 0; m < 3; m++) {
                d[m] = KITH_ADD(d[m], KITH_MUL((real)s[k], lattice->row[k][m]));
            }
        }
    }
    return KITH_ADD(KITH_ADD(KITH_MUL(d[0], d[0]), KITH_MUL(d[1], d[1])), KITH_MUL(d[2], d[2]));
}
