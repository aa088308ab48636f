/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the grid build that read coordinates, for one precision. Included by grid.c once
 * for float and once for double; no include guard on purpose.
 */

/** Particle p of the caller's, wrapped. @return false when too far away to number its image. */
static inline bool KITH_REAL(load)(const struct KITH_REAL(kith__lattice) *box,
                                   const kith_points *points, int dim, int64_t p, real r[3],
                                   int32_t image[3])
{
    const int64_t at = p * points->stride;
    r[0] = ((const real *)points->x)[at];
    r[1] = ((const real *)points->y)[at];
    r[2] = dim == 3 ? ((const real *)points->z)[at] : 0;
    return KITH_REAL(kith__wrap)(box, r, image);
}

/** Range of the coordinates, and whether all are finite and near enough to wrap. */
static void KITH_REAL(survey)(const struct kith__question *question, const kith_points *points,
                              int threads, struct survey *out)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    double lo0 = DBL_MAX, lo1 = DBL_MAX, lo2 = DBL_MAX;
    double hi0 = -DBL_MAX, hi1 = -DBL_MAX, hi2 = -DBL_MAX;
    int64_t bad = points->n;
    int64_t far = points->n;
    bool wrapped = false;
    const int dim = question->dim;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(min : lo0, lo1, lo2) \
    reduction(max : hi0, hi1, hi2) reduction(min : bad, far) reduction(|| : wrapped)
    for (int64_t p = 0; p < points->n; p++) {
        real r[3];
        int32_t image[3];
        const bool fits = KITH_REAL(load)(box, points, dim, p, r, image);
        if (!(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]))) {
            bad = p < bad ? p : bad;
            continue;
        }
        far = !fits && p < far ? p : far;
        wrapped = wrapped || image[0] || image[1] || image[2];
        const double f0 = KITH_REAL(kith__fraction)(box, r, 0);
        const double f1 = KITH_REAL(kith__fraction)(box, r, 1);
        const double f2 = KITH_REAL(kith__fraction)(box, r, 2);
        lo0 = fmin(lo0, f0);
        lo1 = fmin(lo1, f1);
        lo2 = fmin(lo2, f2);
        hi0 = fmax(hi0, f0);
        hi1 = fmax(hi1, f1);
        hi2 = fmax(hi2, f2);
    }
    const double lo[3] = {lo0, lo1, lo2};
    const double hi[3] = {hi0, hi1, hi2};
    for (int k = 0; k < 3; k++) {
        out->lo[k] = fmin(out->lo[k], lo[k]);
        out->hi[k] = fmax(out->hi[k], hi[k]);
    }
    out->bad = bad;
    out->far = far;
    out->wrapped = out->wrapped || wrapped;
}

/** Fractional coordinates of one particle. */
static void KITH_REAL(locate)(const struct kith__question *question, const kith_points *points,
                              int64_t p, double f[3])
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    real r[3];
    int32_t image[3];
    KITH_REAL(load)(box, points, question->dim, p, r, image);
    for (int k = 0; k < 3; k++) {
        f[k] = KITH_REAL(kith__fraction)(box, r, k);
    }
}

/** Write the coordinates in cell order. */
static void KITH_REAL(gather)(const struct kith__question *question, const kith_points *points,
                              int threads, struct kith__sorted *sorted)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    real *x = sorted->x;
    real *y = sorted->y;
    real *z = sorted->z;
    const int32_t *id = sorted->id;
    const int dim = question->dim;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t s = 0; s < sorted->n; s++) {
        real r[3];
        int32_t image[3];
        KITH_REAL(load)(box, points, dim, id[s], r, image);
        x[s] = r[0];
        y[s] = r[1];
        z[s] = r[2];
    }
}
