/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Taking a flock in and handing it out, for one precision. Included by flock.c, see twice.h.
 */

/** Is r within the walls? */
static bool KITH_REAL(enclosed)(const struct kith__flock_rules *rules, const real r[3])
{
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        inside = inside && (!rules->reflecting[k] ||
                            ((double)r[k] >= rules->lo[k] && (double)r[k] <= rules->hi[k]));
    }
    return inside;
}

/** Copy the caller's particles, wrapped. @return KITH_OK; KITH_NOT_FINITE, KITH_LIMIT or
 *  KITH_INVALID (outside the walls) with the first bad one of *set. */
static kith_status KITH_REAL(load)(struct kith_flock *flock, const kith_points *points,
                                   const kith_points *velocities, const char **set, int64_t *bad)
{
    const struct kith__question *q = &flock->question;
    const struct KITH_REAL(kith__lattice) nowhere = {.orthorhombic = 1};
    for (int64_t p = 0; p < flock->n; p++) {
        real r[3], v[3];
        int32_t image[3];
        *bad = p;
        const int fits = KITH_REAL(kith__load)(&q->KITH_REAL(box), points, q->dim, p, r, image);
        (void)KITH_REAL(kith__load)(&nowhere, velocities, q->dim, p, v, image);
        if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2])) {
            *set = "velocities";
            return KITH_NOT_FINITE;
        }
        if (!isfinite(r[0]) || !isfinite(r[1]) || !isfinite(r[2])) {
            return KITH_NOT_FINITE;
        }
        if (!fits) {
            return KITH_LIMIT;
        }
        if (!KITH_REAL(enclosed)(&flock->rules, r)) {
            return KITH_INVALID;
        }
        for (int k = 0; k < 3; k++) {
            ((real *)flock->now.r[k])[p] = r[k];
            ((real *)flock->now.v[k])[p] = v[k];
        }
        flock->now.id[p] = (int32_t)p;
    }
    return KITH_OK;
}

/** Write vectors [n][3] in the caller's order. */
static void KITH_REAL(read)(const struct kith_flock *flock, void *const from[3], void *to)
{
    if (!to) {
        return;
    }
#pragma omp parallel for num_threads(kith__threads_for(flock->ctx, flock->n)) schedule(static)
    for (int64_t s = 0; s < flock->n; s++) {
        for (int k = 0; k < 3; k++) {
            ((real *)to)[3 * (int64_t)flock->now.id[s] + k] = ((const real *)from[k])[s];
        }
    }
}
