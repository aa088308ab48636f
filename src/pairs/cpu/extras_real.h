/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances and vectors of the pairs of a row, and the hits that the rules of a list permit, for
 * one precision. Included by pairs_kernel.c through per_precision.h.
 */

/** Separations of a query particle and some of its hits. */
struct KITH_REAL(separations) {
    real d[3][KITH_SEPARATIONS]; /**< x, y and z of the vector to each hit [length] */
    real r2[KITH_SEPARATIONS];   /**< squared distance of each hit [length^2] */
};

/** Compute the separations of a query particle and n hits, by the definition of a pair
 *  (engine/pair.h).
 *  @param ri     position of the query particle [length]
 *  @param slot   [n] slot of each hit in grid->b
 *  @param shift  [n] shift S of each hit, packed; NULL, known at compile time: all shifts are 0 */
KITH_INLINE void KITH_REAL(find_separations)(const struct kith__sweep *sweep, const real ri[3],
                                             const int32_t *restrict slot, const int32_t *shift,
                                             int n,
                                             struct KITH_REAL(separations) *restrict separations)
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
        separations->r2[h] = KITH_REAL(kith__separation)(&sweep->question->KITH_REAL(box), ri, rj,
                                                         s, d);
        for (int m = 0; m < 3; m++) {
            separations->d[m][h] = d[m];
        }
    }
}

/** Write the distances and vectors of collected hits [first, first + row->n), those of one row, to
 *  the list, from pair p on. */
static void KITH_REAL(write_vectors)(const struct kith__sweep *sweep, const struct kith__row *row,
                                     int64_t first, int64_t p)
{
    const struct kith__sorted *a = &sweep->grid->a;
    const real ri[3] = {((real *)a->x)[row->slot], ((real *)a->y)[row->slot],
                        ((real *)a->z)[row->slot]};
    real *distance = kith__list_of(sweep)->out->distances;
    real *vector = kith__list_of(sweep)->out->vectors;
    for (int64_t h = first; h < first + row->n; h += KITH_SEPARATIONS, p += KITH_SEPARATIONS) {
        const int64_t left = first + row->n - h;
        const int n = left < KITH_SEPARATIONS ? (int)left : KITH_SEPARATIONS;
        struct KITH_REAL(separations) separations;
        if (row->moved) {
            KITH_REAL(find_separations)(sweep, ri, sweep->hit_slot + h, sweep->hit_shift + h, n,
                                        &separations);
        } else {
            KITH_REAL(find_separations)(sweep, ri, sweep->hit_slot + h, NULL, n, &separations);
        }
        for (int l = 0; l < n && distance; l++) {
            distance[p + l] = KITH_REAL(root)(separations.r2[l]);
        }
        for (int l = 0; l < n && vector; l++) {
            const real sign = is_reversed(sweep, row, sweep->hit_id[h + l]) ? -1 : 1;
            for (int m = 0; m < 3; m++) {
                vector[3 * (p + l) + m] = sign * separations.d[m][l] + 0; /* never -0 */
            }
        }
    }
}

/** Remove the hits that the rules do not list.
 *  @param[in,out] hit  [n] indices in the tile
 *  @return the number of hits that are left */
static int KITH_REAL(keep_listed)(const struct kith__sweep *sweep, const struct query_particle *i,
                                  int n, int32_t *hit)
{
    const struct kith__rules *rules = kith__list_of(sweep)->rules;
    const struct kith__tile *tile = &sweep->tile;
    const struct kith__sorted *a = &sweep->grid->a;
    const real ri[3] = {((real *)a->x)[i->slot], ((real *)a->y)[i->slot], ((real *)a->z)[i->slot]};
    int kept = 0;
    for (int h = 0; h < n; h += KITH_SEPARATIONS) {
        const int m = n - h < KITH_SEPARATIONS ? n - h : KITH_SEPARATIONS;
        int32_t slot[KITH_SEPARATIONS];
        int32_t shift[KITH_SEPARATIONS];
        struct KITH_REAL(separations) separations;
        for (int l = 0; l < m; l++) {
            slot[l] = tile->slot[hit[h + l]];
            shift[l] = tile_shift(sweep, hit[h + l]);
            separations.r2[l] = 0;
        }
        if (rules->by_distance && tile->shifted) {
            KITH_REAL(find_separations)(sweep, ri, slot, shift, m, &separations);
        } else if (rules->by_distance) {
            KITH_REAL(find_separations)(sweep, ri, slot, NULL, m, &separations);
        }
        for (int l = 0; l < m; l++) {
            const int32_t j = tile->id[hit[h + l]];
            const bool is_self = rules->no_self && j == i->id && shift[l] == no_shift;
            hit[kept] = hit[h + l];
            kept += !is_self && KITH_REAL(kith__is_listed)(rules, i->id, j, separations.r2[l]);
        }
    }
    return kept;
}
