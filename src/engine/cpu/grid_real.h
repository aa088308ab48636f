/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The passes of the grid build that read coordinates, for one precision. Included by grid.c through
 * per_precision.h, which defines the type `real` and KITH_REAL(name), the name with _d or _f.
 */

/** Read particle p of the caller's points and wrap it into the box. It can be wrapped:
 *  kith__bounds_find has refused particles that are too far outside.
 *  @param plain  all particles are known to be inside the box, so that none needs wrapping */
static inline __attribute__((always_inline)) void KITH_REAL(read_wrapped)(
    const struct kith__question *question, const kith_points *points, int64_t p, bool plain,
    real r[3])
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

/** Write the elements to sort for particles [begin, end): the index in the `low` lowest bits, and
 *  the key (kith__axis in cells.h) in the bits above them; the high bits of a key that does not fit
 *  are lost, and then `keys` is not NULL: sort_keys in grid.c sorts by them later.
 *  @param elements  [n] the elements, by the caller's index of the particle
 *  @param keys      [n] the whole keys are written here; NULL: they are not written */
static void KITH_REAL(make_elements)(const struct kith__question *question,
                                     const kith_points *points, const struct kith__grid *grid,
                                     int64_t begin, int64_t end, int low, uint64_t *elements,
                                     uint64_t *keys)
{
    const struct KITH_REAL(kith__lattice) *box = &question->KITH_REAL(box);
    const bool subcells = question->subcell > 0;
    const bool plain = grid->plain;
    const int subcell_bits = kith__subcell_bits(grid->axis);
    for (int64_t p = begin; p < end; p++) {
        real r[3];
        double f[3];
        KITH_REAL(read_wrapped)(question, points, p, plain, r);
        KITH_REAL(kith__fractions)(box, r, f);
        int64_t cell[3];
        uint64_t key = 0;
        for (int k = 2; k >= 0; k--) {
            const struct kith__axis *axis = &grid->axis[k];
            if (subcells) {
                int subcell;
                cell[k] = kith__uncompressed_subcell(axis, f[k], &subcell);
                key = key << axis->subcell_bits | (uint64_t)subcell;
            } else {
                cell[k] = kith__uncompressed_cell(axis, f[k]);
            }
            if (axis->n_occupied) {
                cell[k] = axis_rank(axis, cell[k]);
            }
        }
        const int64_t number = (cell[2] * grid->axis[1].n + cell[1]) * grid->axis[0].n + cell[0];
        key |= (uint64_t)number << subcell_bits;
        elements[p] = key << low | (uint64_t)p;
        if (keys) {
            keys[p] = key;
        }
    }
}

/** Copy the coordinates of the particles of slots [begin, end), wrapped, to sorted->x, y, z.
 *  @param plain  all particles are known to be inside the box, so that none needs wrapping */
static void KITH_REAL(gather)(const struct kith__question *question, const kith_points *points,
                              int64_t begin, int64_t end, bool plain, struct kith__sorted *sorted)
{
    real *x = sorted->x;
    real *y = sorted->y;
    real *z = sorted->z;
    const int32_t *id = sorted->id;
    for (int64_t s = begin; s < end; s++) {
        real r[3];
        KITH_REAL(read_wrapped)(question, points, id[s], plain, r);
        x[s] = r[0];
        y[s] = r[1];
        z[s] = r[2];
    }
}
