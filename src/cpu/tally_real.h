/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From r2 to its counter by the definition, for one precision. Included by tally.c once for float
 * and once for double; no include guard on purpose.
 */

/** The last bin that begins at or below r2, or 0. */
static int64_t KITH_REAL(last_begun)(const struct kith__rdf *rdf, const real *edge2, real r2)
{
    int64_t k = 0;
    if (rdf->linear) { /* all but right */
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

int32_t KITH_REAL(kith__counter)(const struct kith__scale *scale, real r2)
{
    const struct kith__rdf *rdf = scale->rdf;
    const real *edge2 = rdf->edge2;
    if (r2 < edge2[0]) {
        return 0;
    }
    if (r2 > edge2[rdf->bins]) {
        return (int32_t)rdf->bins + 1;
    }
    return (int32_t)KITH_REAL(last_begun)(rdf, edge2, r2) + 1;
}
