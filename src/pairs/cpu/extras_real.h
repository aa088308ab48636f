/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances and vectors of the pairs of a row, for one precision. Included by pairs_kernel.c
 * through per_precision.h.
 */

/** Separations of a query particle and some of its hits. */
struct KITH_REAL(way) {
    real d[3][KITH_WAYS]; /**< x, y and z of the vector to each hit [length] */
    real r2[KITH_WAYS];   /**< squared distance of each hit [length^2] */
};

/** Compute the separations of a query particle and n hits, by the definition.
 *  @param ri     position of the query particle
 *  @param slot   [n] slot of each hit
 *  @param shift  [n] image of each hit, packed; a constant NULL: no hit is an image */
KITH_INLINE void KITH_REAL(find_ways)(const struct kith__sweep *sweep, const real ri[3],
                                      const int32_t *restrict slot, const int32_t *shift, int n,
                                      struct KITH_REAL(way) *restrict way)
{
    const struct kith__sorted *b = &sweep->grid->b;
    const real *restrict bx = b->x;
    const real *restrict by = b->y;
    const real *restrict bz = b->z;
    for (int h = 0; h < n; h++) {
        const real rj[3] = {bx[slot[h]], by[slot[h]], bz[slot[h]]};
        int32_t s[3] = {0, 0, 0};
        real d[3];
        if (shift) {
            kith__unpack_shift(shift[h], s);
        }
        way->r2[h] = KITH_REAL(kith__separation)(&sweep->question->KITH_REAL(box), ri, rj, s, d);
        for (int m = 0; m < 3; m++) {
            way->d[m][h] = d[m];
        }
    }
}

/** Write the distances and vectors of collected hits [first, first + row->n) to the list, from pair
 *  p on. */
static void KITH_REAL(write_vectors)(const struct kith__sweep *sweep, const struct kith__row *row,
                                     int64_t first, int64_t p)
{
    const struct kith__sorted *a = &sweep->grid->a;
    const real ri[3] = {((real *)a->x)[row->slot], ((real *)a->y)[row->slot],
                        ((real *)a->z)[row->slot]};
    real *distance = kith__list_of(sweep)->out->distances;
    real *vector = kith__list_of(sweep)->out->vectors;
    for (int64_t h = first; h < first + row->n; h += KITH_WAYS, p += KITH_WAYS) {
        const int64_t left = first + row->n - h;
        const int n = left < KITH_WAYS ? (int)left : KITH_WAYS;
        struct KITH_REAL(way) way;
        if (row->moved) {
            KITH_REAL(find_ways)(sweep, ri, sweep->hit_slot + h, sweep->hit_shift + h, n, &way);
        } else {
            KITH_REAL(find_ways)(sweep, ri, sweep->hit_slot + h, NULL, n, &way);
        }
        for (int l = 0; l < n && distance; l++) {
            distance[p + l] = KITH_REAL(root)(way.r2[l]);
        }
        for (int l = 0; l < n && vector; l++) {
            const real sign = turned(sweep, row, sweep->hit_id[h + l]) ? -1 : 1;
            for (int m = 0; m < 3; m++) {
                vector[3 * (p + l) + m] = sign * way.d[m][l] + 0; /* never -0 */
            }
        }
    }
}
