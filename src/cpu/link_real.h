/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether particles are near each other, for one precision. Included by link.c once for float and
 * once for double; no include guard on purpose.
 */

/** Is image s of particle j a friend of particle i? Both by place in the grid. */
KITH_INLINE bool KITH_REAL(near)(const struct kith__friends *f, int64_t i, int64_t j,
                                 const struct image *s)
{
    const struct kith__sorted *a = &f->grid->a;
    const real *x = a->x;
    const real *y = a->y;
    const real *z = a->z;
    const real cutoff = (real)f->question->cutoff;
    real r2;
    if (__builtin_expect(s->moved, 0)) {
        const real ri[3] = {x[i], y[i], z[i]};
        const real rj[3] = {x[j], y[j], z[j]};
        real d[3];
        r2 = KITH_REAL(kith__separation)(&f->question->KITH_REAL(box), ri, rj, s->shift, d);
    } else {
        const real dx = x[j] - x[i];
        const real dy = y[j] - y[i];
        const real dz = z[j] - z[i];
        r2 = (dx * dx + dy * dy) + dz * dz;
    }
    return r2 <= cutoff * cutoff;
}

/** Is some particle of clump a a friend of one of clump b? */
KITH_INLINE bool KITH_REAL(touch)(const struct kith__friends *f, int64_t a, int64_t b,
                                  const struct image *s)
{
    for (int64_t i = f->first[a]; i < f->first[a + 1]; i++) {
        for (int64_t j = f->first[b]; j < f->first[b + 1]; j++) {
            if (KITH_REAL(near)(f, i, j, s)) {
                return true;
            }
        }
    }
    return false;
}
