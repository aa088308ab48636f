/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The counter of a squared distance by the definition, for one precision: counter 0 below the first
 * edge, k + 1 in bin k, bins + 1 above the last edge. Included by counter.h through
 * per_precision.h, which defines `real` and KITH_REAL: each function here becomes two, in double
 * (suffix _d) and in float (_f). All r2 and squared edges are in that precision.
 */

/** Return the last bin whose squared lower edge is at most r2; 0 when there is none. Linear bins: a
 *  guess and steps from it; others: binary search. */
KITH_FN int64_t KITH_REAL(kith__last_begun)(const struct kith__rdf *rdf, real r2)
{
    const real *edge2 = (const real *)rdf->edge2;
    int64_t k = 0;
    if (rdf->linear) { /* the guess is off by one bin at most, except for huge numbers of bins */
        const double guess = (sqrt((double)r2) - rdf->r_min) / rdf->width;
        const double most = (double)(rdf->bins - 1);
        k = (int64_t)(guess > 0 ? guess < most ? guess : most : 0);
        while (k > 0 && r2 < edge2[k]) {
            k--;
        }
        while (k < rdf->bins - 1 && r2 >= edge2[k + 1]) {
            k++;
        }
        return k;
    }
    for (int64_t n = rdf->bins; n > 1;) {
        const int64_t half = n / 2;
        k += r2 >= edge2[k + half] ? half : 0;
        n -= half;
    }
    return k;
}

/** Return the counter, within its partial, of a pair with squared distance r2 [length^2]. */
KITH_FN int32_t KITH_REAL(kith__counter)(const struct kith__rdf *rdf, real r2)
{
    const real *edge2 = (const real *)rdf->edge2;
    if (r2 < edge2[0]) {
        return 0;
    }
    if (r2 > edge2[rdf->bins]) {
        return (int32_t)rdf->bins + 1;
    }
    return (int32_t)KITH_REAL(kith__last_begun)(rdf, r2) + 1;
}

/** Return kith__counter of r2. Fastest when it is `guess` or next to it, and in a bin.
 *  @param guess  counter where the search begins; it need not be near */
KITH_FN int32_t KITH_REAL(kith__counter_from_guess)(const struct kith__rdf *rdf, real r2,
                                                    int32_t guess)
{
    const real *edge2 = (const real *)rdf->edge2;
    const int32_t most = (int32_t)rdf->bins - 1;
    int32_t k = guess - 1;
    k = k < 0 ? 0 : k > most ? most : k;
    k += (r2 >= edge2[k + 1]) - (r2 < edge2[k]);
    if (k >= 0 && k <= most && r2 >= edge2[k] && r2 < edge2[k + 1]) {
        return k + 1;
    }
    return KITH_REAL(kith__counter)(rdf, r2);
}
