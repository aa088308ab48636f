/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the particles of an update, for one precision. Included by verlet_cpu.c through
 * per_precision.h.
 */

/** Read, wrap and test particles [begin, end), and find their displacements. */
static void KITH_REAL(load_particles)(struct load_loop *part, int64_t begin, int64_t end)
{
    const struct kith__question *q = &part->plan->now;
    const struct KITH_REAL(kith__lattice) *box = &q->KITH_REAL(box);
    const int64_t n = q->a.n;
    real *now = part->now;
    const real *reference = part->reference;
    struct kith__bounds bounds = {.bad = INT64_MAX, .far = INT64_MAX};
    for (int64_t p = begin; p < end; p++) {
        real r[3];
        int32_t *image = part->image + 3 * p;
        const int fits = KITH_REAL(kith__load)(box, &q->a, q->dim, p, r, image);
        KITH_REAL(kith__bounds_add)(box, p, r, fits, image, &bounds);
        for (int m = 0; m < 3; m++) {
            now[m * n + p] = r[m];
        }
        if (part->plan->keep) {
            const double x[3] = {r[0], r[1], r[2]};
            const double x0[3] = {reference[p], reference[n + p], reference[2 * n + p]};
            int32_t v[3];
            part->displacement = fmax(part->displacement,
                                      kith__verlet_displacement(&part->plan->map, x0, x, v));
            part->turn[p] = kith__verlet_pack_turn(v);
            part->turned = part->turned || part->turn[p] != 0;
        }
    }
    part->bad = bounds.bad;
    part->far = bounds.far;
}
