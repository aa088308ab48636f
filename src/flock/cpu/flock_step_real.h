/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parts of a flock's step that read and write states, for one precision. Included by
 * flock_cpu.c through core/per_precision.h, once for double and once for float: `real` is the type,
 * and KITH_REAL(name) is name_d or name_f. flock_cpu.c uses fastest, round_state and move of each.
 */

/** Return the largest |component| of a velocity in entries [begin, end) of the state. */
static double KITH_REAL(fastest)(const struct kith_flock *flock, int64_t begin, int64_t end)
{
    real most = 0;
    for (int k = 0; k < 3; k++) {
        const real *v = flock->now.v[k];
        for (int64_t s = begin; s < end; s++) {
            const real size = v[s] < 0 ? -v[s] : v[s];
            most = size > most ? size : most;
        }
    }
    return (double)most;
}

/** Convert positions and velocities of slots [begin, end) of the grid to integers, in
 *  step->quantized, and copy the state to `next` in the order of slots, so that a particle is moved
 *  in place. */
static void KITH_REAL(round_state)(const struct kith__flock_step *step, int64_t begin, int64_t end)
{
    const struct kith__sorted *a = &step->grid->a;
    const struct kith_flock *flock = step->flock;
    const real *r[3] = {a->x, a->y, a->z};
    const double offsets = 1 / step->offset_unit;
    const double velocities = 1 / step->velocity_unit;
    for (int k = 0; k < 3; k++) {
        const real *v = flock->now.v[k];
        real *next_r = flock->next.r[k], *next_v = flock->next.v[k];
        for (int64_t s = begin; s < end; s++) {
            next_r[s] = r[k][s];
            next_v[s] = v[a->id[s]];
            step->quantized.of[k][s] = kith__flock_in_units((double)next_r[s], offsets);
            step->quantized.of[3 + k][s] = kith__flock_round((double)next_v[s] * velocities);
        }
    }
    for (int64_t s = begin; s < end; s++) {
        flock->next.id[s] = flock->now.id[a->id[s]];
    }
}

/** kith__flock_step.move: advance the particle in a slot of `next` by one step. If it leaves the
 *  range of numbers, its x becomes NaN, and step->lost is set. */
static void KITH_REAL(move)(struct kith__flock_step *step, int64_t slot,
                            const struct kith__flock_sums *sums,
                            const struct kith__flock_more *more)
{
    const struct kith_flock *flock = step->flock;
    const struct kith__flock_state *next = &flock->next;
    const double unit[KITH_RULES] = {step->offset_unit, step->velocity_unit, step->offset_unit};
    const struct kith__question *q = &flock->question;
    real r[3], v[3];
    for (int k = 0; k < 3; k++) {
        r[k] = ((const real *)next->r[k])[slot];
        v[k] = ((const real *)next->v[k])[slot];
    }
    const int fits = KITH_REAL(kith__flock_move)(step->rules, &q->box_d, &q->KITH_REAL(box), sums,
                                                 more, unit, flock->step,
                                                 kith__flock_index(flock, next->id[slot]), r, v);
    for (int k = 0; k < 3; k++) {
        ((real *)next->r[k])[slot] = fits ? r[k] : (real)NAN;
        ((real *)next->v[k])[slot] = v[k];
    }
    if (!fits) {
        atomic_store(&step->lost, true);
    }
}
