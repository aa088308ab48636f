/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distance tests by vectors, and bounding boxes, for one precision. Included by link_real.h.
 */

/** Bounding box of some particles. */
struct KITH_REAL(block) {
    real lo[3], hi[3]; /**< lower and upper corner [length] */
};

/** Bit k is set when particle k of n, up to LANES, is within the cutoff of `at`; no images. */
KITH_INLINE unsigned KITH_REAL(near_lanes)(const real *x, const real *y, const real *z,
                                           const real at[3], real cutoff2, int64_t n)
{
    unsigned hits = 0;
    for (int l = 0; l < LANES && l < n; l += KITH_REAL(SIDE_BY_SIDE)) {
        const KITH_REAL(vector) dx = KITH_REAL(load)(x + l) - at[0];
        const KITH_REAL(vector) dy = KITH_REAL(load)(y + l) - at[1];
        const KITH_REAL(vector) dz = KITH_REAL(load)(z + l) - at[2];
        hits |= KITH_REAL(lanes_to)((dx * dx + dy * dy) + dz * dz, cutoff2) << l;
    }
    return n < LANES ? hits & ((1u << n) - 1) : hits;
}

/** Bounding box of n > 0 particles. */
static struct KITH_REAL(block)
    KITH_REAL(block_around)(const real *x, const real *y, const real *z, int64_t n)
{
    const real *const axis[3] = {x, y, z};
    struct KITH_REAL(block) e;
    for (int k = 0; k < 3; k++) {
        e.lo[k] = e.hi[k] = axis[k][0];
        int64_t p = 0;
        if (n >= KITH_REAL(SIDE_BY_SIDE)) {
            KITH_REAL(vector) lo = KITH_REAL(load)(axis[k] + n - KITH_REAL(SIDE_BY_SIDE));
            KITH_REAL(vector) hi = lo;
            for (; p < n - KITH_REAL(SIDE_BY_SIDE); p += KITH_REAL(SIDE_BY_SIDE)) {
                lo = KITH_REAL(smaller)(lo, KITH_REAL(load)(axis[k] + p));
                hi = KITH_REAL(larger)(hi, KITH_REAL(load)(axis[k] + p));
            }
            for (int l = 0; l < KITH_REAL(SIDE_BY_SIDE); l++) {
                e.lo[k] = lo[l] < e.lo[k] ? lo[l] : e.lo[k];
                e.hi[k] = hi[l] > e.hi[k] ? hi[l] : e.hi[k];
            }
            p = n;
        }
        for (; p < n; p++) {
            e.lo[k] = axis[k][p] < e.lo[k] ? axis[k][p] : e.lo[k];
            e.hi[k] = axis[k][p] > e.hi[k] ? axis[k][p] : e.hi[k];
        }
    }
    return e;
}

/** Squared distance of two bounding boxes; 0 when they overlap [length^2]. */
KITH_INLINE real KITH_REAL(gap2)(const struct KITH_REAL(block) *a, const struct KITH_REAL(block) *b)
{
    real sum = 0;
    for (int k = 0; k < 3; k++) {
        const real above = b->lo[k] - a->hi[k];
        const real below = a->lo[k] - b->hi[k];
        const real gap = above > below ? above : below;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}
