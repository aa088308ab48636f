/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counter of a pair's nearest image by the definition, for one precision. Included by
 * all_pairs.c once for float and once for double; no include guard on purpose.
 */

static int32_t KITH_REAL(settle)(const struct kith__all_pairs *all, int32_t i, int32_t j,
                                 int32_t guess)
{
    const real *const *a = (const real *const *)all->a.xyz;
    const real *const *b = (const real *const *)all->b.xyz;
    const real ri[3] = {a[0][i], a[1][i], a[2][i]};
    const real rj[3] = {b[0][j], b[1][j], b[2][j]};
    const struct KITH_REAL(kith__lattice) *box = &all->scale->question->KITH_REAL(box);
    int32_t s[3];
    real d[3];
    KITH_REAL(kith__nearest)(box, ri, rj, s);
    const real r2 = KITH_REAL(kith__separation)(box, ri, rj, s, d);
    return KITH_REAL(kith__settled)(all->scale->rdf, r2, guess);
}
