/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the grid build that read coordinates, for one precision. Included by grid.c, see
 * twice.h.
 */

/** Particle p of the caller's, wrapped. Plain: all are known to be inside the box. */
static inline
    __attribute__((always_inline)) void KITH_REAL(take)(const struct kith__question *question,
                                                        const kith_points *points, int64_t p,
                                                        bool plain, real r[3])
{
    if (plain) {
        const int64_t at = p * points->stride;
        r[0] = ((const real *)points->x)[at];
        r[1] = ((const real *)points->y)[at];
        r[2] = question->dim == 3 ? ((const real *)points->z)[at] : 0;
    } else {
        int32_t image[3];
        KITH_REAL(kith__load)(&question->KITH_REAL(box), points, question->dim, p, r, image);
    }
}

/** Fractional coordinates of particle p of the caller's. */
static inline void KITH_REAL(locate)(const struct kith__question *question,
                                     const kith_points *points, int64_t p, double f[3])
{
    real r[3];
    KITH_REAL(take)(question, points, p, false, r);
    KITH_REAL(kith__fractions)(&question->KITH_REAL(box), r, f);
}

/** Smallest and largest of `every`-th of n values, for each place among them, if all are finite.
 *  Written for vectors: a block holds whole cycles of 1 or 3 places. */
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
            zero[l] += x - x; /* NaN for ever if not finite */
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

/** Survey particles [begin, end) by their extremes alone. @return false when that is not enough:
 *  some are outside the box, or not finite, or lie in memory in an unusual way. */
static bool KITH_REAL(glance)(const struct kith__question *question, const kith_points *points,
                              int64_t begin, int64_t end, struct kith__survey *out)
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
    bool fine = true;
    if (packed) {
        fine = KITH_REAL(find_range)(axis[0] + 3 * begin, 3 * (end - begin), 3, lo, hi);
    } else {
        lo[2] = hi[2] = 0;
        for (int k = 0; k < 3 && k < question->dim; k++) {
            lo[k] = (real)INFINITY;
            hi[k] = -(real)INFINITY;
            fine = KITH_REAL(find_range)(axis[k] + begin, end - begin, 1, &lo[k], &hi[k]) && fine;
        }
    }
    for (int k = 0; k < 3; k++) {
        fine = fine && (!box->periodic[k] ||
                        (lo[k] >= box->origin[k] && hi[k] < box->origin[k] + box->row[k][k]));
    }
    if (fine) {
        const int32_t none[3] = {0, 0, 0};
        KITH_REAL(kith__survey_add)(box, begin, lo, 1, none, out);
        KITH_REAL(kith__survey_add)(box, begin, hi, 1, none, out);
    }
    return fine;
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
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    const bool parts = question->part > 0;
    const bool plain = grid->plain;
    const int part_bits = kith__part_bits(grid->axis);
    for (int64_t p = begin; p < end; p++) {
        real r[3];
        double f[3];
        KITH_REAL(take)(question, points, p, plain, r);
        KITH_REAL(kith__fractions)(box, r, f);
        int64_t cell[3];
        uint64_t key = 0;
        for (int k = 2; k >= 0; k--) {
            const struct kith__axis *axis = &grid->axis[k];
            if (parts) {
                int part;
                cell[k] = kith__plain_part(axis, f[k], &part);
                key = key << axis->part_bits | (uint64_t)part;
            } else {
                cell[k] = kith__plain_cell(axis, f[k]);
            }
            if (axis->n_places) {
                cell[k] = axis_rank(axis, cell[k]);
            }
        }
        const int64_t number = (cell[2] * grid->axis[1].n + cell[1]) * grid->axis[0].n + cell[0];
        key |= (uint64_t)number << part_bits;
        elements[p] = key << low | (uint64_t)p;
        if (keys) {
            keys[p] = key;
        }
    }
}

/** Write the coordinates of places [begin, end) in cell order. */
static void KITH_REAL(gather)(const struct kith__question *question, const kith_points *points,
                              int64_t begin, int64_t end, bool plain, struct kith__sorted *sorted)
{
    real *x = sorted->x;
    real *y = sorted->y;
    real *z = sorted->z;
    const int32_t *id = sorted->id;
    for (int64_t s = begin; s < end; s++) {
        real r[3];
        KITH_REAL(take)(question, points, id[s], plain, r);
        x[s] = r[0];
        y[s] = r[1];
        z[s] = r[2];
    }
}
