/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counter of one pair by the definition, from a guess, for one precision. Included by bins.h
 * once for float and once for double; no include guard on purpose.
 */

/** Counter of a pair with this r2, which is mostly the guessed one or beside it. */
static inline int32_t KITH_REAL(settled)(const struct kith__scale *scale, real r2, int32_t guess)
{
    const real *edge2 = scale->rdf->edge2;
    const int32_t most = (int32_t)scale->rdf->bins - 1;
    int32_t k = guess - 1;
    k = k < 0 ? 0 : k > most ? most : k;
    k += (r2 >= edge2[k + 1]) - (r2 < edge2[k]);
    if (k >= 0 && k <= most && r2 >= edge2[k] && r2 < edge2[k + 1]) {
        return k + 1;
    }
    return KITH_REAL(kith__counter)(scale, r2);
}
