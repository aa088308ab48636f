/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters of nearest images by the definition, for one precision. Included by all_pairs_kernel.c,
 * after its struct borderline_pairs, through per_precision.h, which defines `real` and KITH_REAL:
 * each function here becomes two, in double (suffix _d) and in float (_f).
 */

/** Return the smallest |d| of the images of a difference of two coordinates: |d| or
 *  | |d| - side |, rounded as by the definition.
 *  @param d     the difference, |d| < side [length]
 *  @param side  side of the box along the axis; infinite: there are no images [length] */
static inline real KITH_REAL(folded)(real d, real side)
{
    const real far = d < 0 ? -d : d;
    const real moved = far - side < 0 ? side - far : far - side;
    return moved < far ? moved : far;
}

/** Compute the squared distances of n pairs, of particles i[o] of a and j[o] of b, by the
 *  definition of a pair (engine/pair.h), at their nearest images.
 *  @param[out] r2  [n] squared distances [length^2] */
static void KITH_REAL(squares_by_definition)(const struct kith__all_pairs *all, const int32_t *i,
                                             const int32_t *j, int n, real *r2)
{
    const struct KITH_REAL(kith__lattice) *box = &all->scale->question->KITH_REAL(box);
    const real *ax = all->a.xyz[0], *ay = all->a.xyz[1], *az = all->a.xyz[2];
    const real *bx = all->b.xyz[0], *by = all->b.xyz[1], *bz = all->b.xyz[2];
    const real none = (real)INFINITY;
    const real sx = box->row[0][0], sy = box->row[1][1];      /* periodic: check_nearest of rdf.c */
    const real sz = box->periodic[2] ? box->row[2][2] : none; /* in 2-D there is no third axis */
    for (int o = 0; o < n; o++) { /* the compiler vectorises this loop */
        const real dx = KITH_REAL(folded)(bx[j[o]] - ax[i[o]], sx);
        const real dy = KITH_REAL(folded)(by[j[o]] - ay[i[o]], sy);
        const real dz = KITH_REAL(folded)(bz[j[o]] - az[i[o]], sz);
        r2[o] = (dx * dx + dy * dy) + dz * dz;
    }
}

/** Replace the guessed counters of borderline pairs by those of the definition. */
static void KITH_REAL(resolve)(const struct kith__all_pairs *all,
                               struct borderline_pairs *borderline)
{
    enum { AT_ONCE = 64 };
    real r2[AT_ONCE];
    for (int first = 0; first < borderline->n; first += AT_ONCE) {
        const int n = borderline->n - first < AT_ONCE ? borderline->n - first : AT_ONCE;
        KITH_REAL(squares_by_definition)(all, borderline->i + first, borderline->j + first, n, r2);
        for (int o = 0; o < n; o++) {
            int32_t *counter = &borderline->counter[first + o];
            *counter = KITH_REAL(kith__counter_from_guess)(all->scale->rdf, r2[o], *counter);
        }
    }
}
