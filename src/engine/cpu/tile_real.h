/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The functions of the sweep that read coordinates from the grid, for one precision. Included by
 * tile.h through per_precision.h, which defines the type `real` and KITH_REAL(name), the name with
 * _d or _f.
 */

/** Compute the centre, size and error bound of the query block, and the coordinates of its
 *  particles relative to the centre: query->begin and end are set, and all other members except the
 *  cells, self and filled follow from them. */
static void KITH_REAL(load_query_block)(struct kith__sweep *sweep)
{
    struct kith__query_block *query = &sweep->query;
    const struct kith__sorted *a = &sweep->grid->a;
    const real *coordinate[3] = {a->x, a->y, a->z};
    float *scaled[3] = {query->x, query->y, query->z};
    const int n = (int)(query->end - query->begin);
    double extent[3];
    for (int k = 0; k < 3; k++) {
        const real *c = coordinate[k] + query->begin;
        real low = c[0];
        real high = c[0];
        for (int h = 1; h < n; h++) {
            low = c[h] < low ? c[h] : low;
            high = c[h] > high ? c[h] : high;
        }
        query->centre[k] = 0.5 * (double)low + 0.5 * (double)high;
        extent[k] = ((double)high - query->centre[k]) / sweep->question->cutoff;
    }
    set_error_bound(sweep, extent);
    for (int k = 0; k < 3; k++) {
        const real *c = coordinate[k] + query->begin;
        for (int h = 0; h < n; h++) {
            const double d = ((double)c[h] - query->centre[k]) * query->inverse_cutoff;
            scaled[k][h] = query->inverse_cutoff > 0 ? (float)d : 0; /* 0: d may be NaN */
        }
    }
}

/** Append the candidates of slots [begin, end) that may be near the query block to the tile:
 *  compute their coordinates relative to the block, CHUNK at a time, and pass them to append_near.
 *  @param move   vector that is added to their positions [length]
 *  @param shift  shift S of their image, packed */
static void KITH_REAL(append)(struct kith__sweep *sweep, int64_t begin, int64_t end,
                              const double move[3], int32_t shift)
{
    enum { CHUNK = 64 };
    const struct kith__query_block *query = &sweep->query;
    const struct kith__sorted *b = &sweep->grid->b;
    const real *bx = b->x;
    const real *by = b->y;
    const real *bz = b->z;
    const double ox = query->centre[0] - move[0];
    const double oy = query->centre[1] - move[1];
    const double oz = query->centre[2] - move[2];
    const double unit = query->inverse_cutoff;
    for (int64_t s = begin; s < end; s += CHUNK) {
        const int n = (int)(end - s < CHUNK ? end - s : CHUNK);
        float x[CHUNK + W], y[CHUNK + W], z[CHUNK + W];
        if (unit > 0) {
            for (int l = 0; l < n; l++) {
                x[l] = (float)(((double)bx[s + l] - ox) * unit);
                y[l] = (float)(((double)by[s + l] - oy) * unit);
                z[l] = (float)(((double)bz[s + l] - oz) * unit);
            }
        } else { /* the block is too wide: all candidates are kept, and are borderline cases */
            memset(x, 0, sizeof x);
            memset(y, 0, sizeof y);
            memset(z, 0, sizeof z);
        }
        append_near(sweep, s, n, x, y, z, shift);
    }
}

/** Return the squared distance of slot i of set a and the image with shift s of slot `slot` of set
 *  b, by the definition of a pair (engine/pair.h) [length^2]. */
static real KITH_REAL(apart)(const struct kith__sweep *sweep, int64_t i, int64_t slot,
                             const int32_t s[3])
{
    const struct kith__sorted *a = &sweep->grid->a;
    const struct kith__sorted *b = &sweep->grid->b;
    const real ri[3] = {((real *)a->x)[i], ((real *)a->y)[i], ((real *)a->z)[i]};
    const real rj[3] = {((real *)b->x)[slot], ((real *)b->y)[slot], ((real *)b->z)[slot]};
    real d[3];
    return KITH_REAL(kith__separation)(&sweep->question->KITH_REAL(box), ri, rj, s, d);
}
