/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the grid build that read coordinates, for one precision. Included by grid.c once
 * for float and once for double; no include guard on purpose.
 */

/** Fractional coordinates of particle p of the caller's. */
static inline void KITH_REAL(locate)(const struct kith__question *question,
                                     const kith_points *points, int64_t p, double f[3])
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    real r[3];
    int32_t image[3];
    KITH_REAL(kith__load)(box, points, question->dim, p, r, image);
    KITH_REAL(kith__fractions)(box, r, f);
}

/** Range of the coordinates of particles [begin, end), and which of them cannot be used. */
static void KITH_REAL(survey)(const struct kith__question *question, const kith_points *points,
                              int64_t begin, int64_t end, struct kith__survey *out)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    struct kith__survey s = *out;
    for (int64_t p = begin; p < end; p++) {
        real r[3];
        int32_t image[3];
        const int fits = KITH_REAL(kith__load)(box, points, question->dim, p, r, image);
        KITH_REAL(kith__survey_add)(box, p, r, fits, image, &s);
    }
    *out = s;
}

/** Elements to sort for particles [begin, end): the key above `low` bits of index, as far as it
 *  fits; whole keys go to keys, where wanted. */
static void KITH_REAL(make_elements)(const struct kith__question *question,
                                     const kith_points *points, const struct kith__grid *grid,
                                     int64_t begin, int64_t end, int low, uint64_t *elements,
                                     uint64_t *keys)
{
    const bool parts = question->part > 0;
    for (int64_t p = begin; p < end; p++) {
        double f[3];
        KITH_REAL(locate)(question, points, p, f);
        const int64_t cx = axis_cell(&grid->axis[0], f[0]);
        const int64_t cy = axis_cell(&grid->axis[1], f[1]);
        const int64_t cz = axis_cell(&grid->axis[2], f[2]);
        uint64_t key = (uint64_t)((cz * grid->axis[1].n + cy) * grid->axis[0].n + cx);
        if (parts) {
            for (int k = 2; k >= 0; k--) {
                key = key << grid->part_bits[k] | (uint64_t)kith__part(&grid->axis[k], f[k]);
            }
        }
        elements[p] = key << low | (uint64_t)p;
        if (keys) {
            keys[p] = key;
        }
    }
}

/** Write the coordinates of places [begin, end) in cell order. */
static void KITH_REAL(gather)(const struct kith__question *question, const kith_points *points,
                              int64_t begin, int64_t end, struct kith__sorted *sorted)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    real *x = sorted->x;
    real *y = sorted->y;
    real *z = sorted->z;
    const int32_t *id = sorted->id;
    const int dim = question->dim;
    for (int64_t s = begin; s < end; s++) {
        real r[3];
        int32_t image[3];
        KITH_REAL(kith__load)(box, points, dim, id[s], r, image);
        x[s] = r[0];
        y[s] = r[1];
        z[s] = r[2];
    }
}
