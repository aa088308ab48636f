/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scalar product by the definition (kith/overlap.h), for numbers of one precision. Included by
 * overlap.h through per_precision.h, which defines `real` and KITH_REAL: kith__dot_d for doubles,
 * kith__dot_f for floats.
 */

/** Return the scalar product of two vectors of n numbers, in double: number k is in partial sum
 *  k % KITH_OVERLAP_SUMS; the upper half of the partial sums is then added to the lower half, and
 *  so on, until one is left. */
static inline double KITH_REAL(kith__dot)(const real *x, const real *y, int64_t n)
{
    enum { SUMS = KITH_OVERLAP_SUMS };
    double s[SUMS] = {0};
    int64_t k = 0;
    for (; k + SUMS <= n; k += SUMS) {
        for (int l = 0; l < SUMS; l++) {
            s[l] += (double)x[k + l] * (double)y[k + l];
        }
    }
    for (int l = 0; k + l < n; l++) {
        s[l] += (double)x[k + l] * (double)y[k + l];
    }
    for (int half = SUMS / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            s[l] += s[l + half];
        }
    }
    return s[0];
}
