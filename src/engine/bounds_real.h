/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bounds of coordinates that need no wrapping, for one precision. Included by bounds.c through
 * per_precision.h, which defines the type `real` and KITH_REAL(name), the name with _d or _f.
 */

/** Find the smallest and largest of n values, separately for each residue of the index modulo
 *  `every`: the three axes of packed coordinates (3), or one axis (1). BLOCK independent minima and
 *  maxima let the compiler vectorise the loop; BLOCK is a multiple of 3, so that each of them sees
 *  one axis only, and of 8, so that they fill whole vectors of 2, 4 or 8 lanes.
 *  @param v           [n] the values
 *  @param every       1 or 3
 *  @param[in,out] lo  [every] smaller values replace these
 *  @param[in,out] hi  [every] larger values replace these
 *  @return false when a value is not finite */
static bool KITH_REAL(find_range)(const real *v, int64_t n, int every, real lo[3], real hi[3])
{
    enum { BLOCK = 24 };
    real least[BLOCK], most[BLOCK], zero[BLOCK];
    for (int l = 0; l < BLOCK; l++) {
        least[l] = (real)INFINITY;
        most[l] = -(real)INFINITY;
        zero[l] = 0;
    }
    int64_t at = 0;
    for (; at + BLOCK <= n; at += BLOCK) {
        for (int l = 0; l < BLOCK; l++) {
            const real x = v[at + l];
            least[l] = x < least[l] ? x : least[l];
            most[l] = x > most[l] ? x : most[l];
            zero[l] += x - x; /* becomes and stays NaN when x is not finite */
        }
    }
    for (; at < n; at++) {
        const int l = (int)(at % BLOCK);
        least[l] = v[at] < least[l] ? v[at] : least[l];
        most[l] = v[at] > most[l] ? v[at] : most[l];
        zero[l] += v[at] - v[at];
    }
    real sum = 0;
    for (int l = 0; l < BLOCK; l++) {
        lo[l % every] = least[l] < lo[l % every] ? least[l] : lo[l % every];
        hi[l % every] = most[l] > hi[l % every] ? most[l] : hi[l % every];
        sum += zero[l];
    }
    return sum == 0;
}

/** Extend bounds *out by particles [begin, end), from their smallest and largest coordinates alone.
 *  @return false, with *out unchanged, when that is not possible: the box is triclinic, a particle
 *          is not finite or outside the box along a periodic axis, the range is empty, or the
 *          layout in memory is neither packed, [n][3] in three dimensions, nor split, one array [n]
 *          for each axis */
static bool KITH_REAL(bounds_of_extremes)(const struct kith__question *question,
                                          const kith_points *points, int64_t begin, int64_t end,
                                          struct kith__bounds *out)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    const real *axis[3] = {points->x, points->y, points->z};
    const bool packed = points->stride == 3 && question->dim == 3 && axis[1] == axis[0] + 1 &&
                        axis[2] == axis[0] + 2;
    if (!box->orthorhombic || !(packed || points->stride == 1) || begin == end) {
        return false;
    }
    real lo[3] = {(real)INFINITY, (real)INFINITY, (real)INFINITY};
    real hi[3] = {-(real)INFINITY, -(real)INFINITY, -(real)INFINITY};
    if (question->dim == 2) {
        lo[2] = hi[2] = 0;
    }
    bool fine = true;
    if (packed) {
        fine = KITH_REAL(find_range)(axis[0] + 3 * begin, 3 * (end - begin), 3, lo, hi);
    }
    for (int k = 0; k < question->dim && !packed; k++) {
        fine = KITH_REAL(find_range)(axis[k] + begin, end - begin, 1, &lo[k], &hi[k]) && fine;
    }
    for (int k = 0; k < 3; k++) {
        fine = fine && (!box->periodic[k] ||
                        (lo[k] >= box->origin[k] && hi[k] < box->origin[k] + box->row[k][k]));
    }
    if (fine) {
        const int32_t none[3] = {0, 0, 0};
        KITH_REAL(kith__bounds_add)(box, begin, lo, 1, none, out);
        KITH_REAL(kith__bounds_add)(box, begin, hi, 1, none, out);
    }
    return fine;
}
