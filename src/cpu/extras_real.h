/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distance and vector of a pair, for one precision. Included by kernel.c once for float and once
 * for double; no include guard on purpose.
 */

static void KITH_REAL(write_vector)(const struct kith__sweep *sweep, int64_t p,
                                    const struct ends *e)
{
    /* A forward pair may have been turned round; both ends are then in the same set. */
    const struct kith__sorted *a = &sweep->grid->a;
    const struct kith__sorted *b = &sweep->grid->b;
    const int64_t i = e->slot_i;
    const int64_t j = e->slot_j;
    const real ri[3] = {((real *)a->x)[i], ((real *)a->y)[i], ((real *)a->z)[i]};
    const real rj[3] = {((real *)b->x)[j], ((real *)b->y)[j], ((real *)b->z)[j]};
    real d[3];
    const real r2 = KITH_REAL(kith__separation)(&sweep->question->KITH_REAL(box), ri, rj, e->s, d);
    if (sweep->out->distances) {
        ((real *)sweep->out->distances)[p] = (real)sqrt((double)r2);
    }
    if (sweep->out->vectors) {
        memcpy((real *)sweep->out->vectors + 3 * p, d, sizeof d);
    }
}
