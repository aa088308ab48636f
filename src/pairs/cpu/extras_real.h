/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distances and vectors of the pairs of a row (write_vectors), and the hits that the rules of a
 * list permit (keep_listed), for one precision. Included by pairs_kernel.c through per_precision.h,
 * which defines the type `real` and KITH_REAL(name), the name with _d or _f. Before, pairs_kernel.c
 * defines KITH_SEPARATIONS, is_reversed and has_radii_alone, and includes engine/cpu/lanes.h (root)
 * and engine/cpu/visit.h (tile_shift, no_shift).
 */

/** Separations of a query particle and up to KITH_SEPARATIONS of its hits. */
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
 *  the arrays of the list, from index p on. An array that is NULL is not written. */
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
                /* + 0: -0 becomes 0, as the sign of a zero depends on which end of the pair was the
                 * query particle */
                vector[3 * (p + l) + m] = sign * separations.d[m][l] + 0;
            }
        }
    }
}

/** Remove the hits that are beyond their radii, for rules that have radii alone
 *  (has_radii_alone): the tests of kith__is_listed without branches, as they would be mispredicted.
 *  Each hit is stored, and the next one overwrites it unless it is kept.
 *  @param i            index of the query particle in the caller's order, less rules->first[0]
 *  @param id           [n] indices of the hits in the caller's order, less rules->first[1]
 *  @param self         [n] 1 for a hit that is not listed by kith__rules.no_self
 *  @param r2           [n] squared distances [length^2]
 *  @param n            number of hits, at most KITH_SEPARATIONS
 *  @param[in] hit      [n] indices in the tile
 *  @param[out] listed  receives those that are left; may be `hit`, or a lower address of one array
 *  @return the number of hits that are left */
static int KITH_REAL(keep_within_radii)(const struct kith__rules *rules, int32_t i,
                                        const int32_t *restrict id, const uint8_t *restrict self,
                                        const real *restrict r2, int n, const int32_t *hit,
                                        int32_t *listed)
{
    const real *own = (const real *)rules->radii[0] + rules->first[0];
    const real *other = (const real *)rules->radii[1] + rules->first[1];
    real h[KITH_SEPARATIONS];
    if (rules->radius_rule == KITH_RADIUS_GATHER) {
        for (int l = 0; l < n; l++) {
            h[l] = own[i];
        }
    } else {
        for (int l = 0; l < n; l++) {
            h[l] = KITH_REAL(kith__radius_of_pair)(rules->radius_rule, own[i], other[id[l]]);
        }
    }
    int kept = 0;
    for (int l = 0; l < n; l++) {
        listed[kept] = hit[l];
        kept += (h[l] >= 0) & (r2[l] <= KITH_MUL(h[l], h[l])) & !self[l];
    }
    return kept;
}

/** Remove the hits that the rules do not list, with kith__rules.no_self also the query particle
 *  itself at shift 0.
 *  @param i            the query particle
 *  @param n            number of hits
 *  @param[in,out] hit  [n] indices in the tile; those that are left come first
 *  @return the number of hits that are left */
static int KITH_REAL(keep_listed)(const struct kith__sweep *sweep, const struct query_particle *i,
                                  int n, int32_t *hit)
{
    const struct kith__rules *rules = kith__list_of(sweep)->rules;
    const struct kith__tile *tile = &sweep->tile;
    const struct kith__sorted *a = &sweep->grid->a;
    const real ri[3] = {((real *)a->x)[i->slot], ((real *)a->y)[i->slot], ((real *)a->z)[i->slot]};
    const bool radii_alone = has_radii_alone(rules);
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
        int32_t id[KITH_SEPARATIONS];
        uint8_t self[KITH_SEPARATIONS];
        for (int l = 0; l < m; l++) {
            id[l] = tile->id[hit[h + l]];
            self[l] = rules->no_self & (id[l] == i->id) & (shift[l] == no_shift);
        }
        if (radii_alone) {
            kept += KITH_REAL(keep_within_radii)(rules, i->id, id, self, separations.r2, m, hit + h,
                                                 hit + kept);
            continue;
        }
        for (int l = 0; l < m; l++) {
            hit[kept] = hit[h + l];
            kept += !self[l] && KITH_REAL(kith__is_listed)(rules, i->id, id[l], separations.r2[l]);
        }
    }
    return kept;
}
