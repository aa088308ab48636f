/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances and vectors of a row's pairs, for one precision. Included by kernel.c, see twice.h.
 */

/** Write distances and vectors of buffered hits [first, first + row->n) from pair p on. */
static void KITH_REAL(write_vectors)(const struct kith__sweep *sweep, const struct kith__row *row,
                                     int64_t first, int64_t p)
{
    const struct kith__sorted *a = &sweep->grid->a;
    const real *bx = sweep->grid->b.x;
    const real *by = sweep->grid->b.y;
    const real *bz = sweep->grid->b.z;
    const real ri[3] = {((real *)a->x)[row->slot], ((real *)a->y)[row->slot],
                        ((real *)a->z)[row->slot]};
    real *distance = sweep->out->distances;
    real *vector = sweep->out->vectors;
    for (int64_t h = first; h < first + row->n; h++, p++) {
        const int64_t slot = sweep->hit_slot[h];
        const real rj[3] = {bx[slot], by[slot], bz[slot]};
        int32_t s[3];
        kith__unpack_shift(sweep->hit_shift[h], s);
        real d[3];
        const real r2 = KITH_REAL(kith__separation)(&sweep->question->KITH_REAL(box), ri, rj, s, d);
        if (distance) {
            distance[p] = (real)sqrt((double)r2);
        }
        if (vector) {
            const real sign = turned(sweep, row, h) ? -1 : 1;
            for (int m = 0; m < 3; m++) {
                vector[3 * p + m] = sign * d[m] + 0; /* never -0 */
            }
        }
    }
}
