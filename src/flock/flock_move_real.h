/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One step of one particle, for one precision. Included by flock_rules.h through
 * core/per_precision.h, once for double and once for float: `real` is the type, KITH_REAL(name) is
 * name_d or name_f, and KITH_ROUND rounds to it (engine/pair.h). Defines kith__flock_move_d and
 * kith__flock_move_f; flock_rules.h defines the functions that they call before.
 */

/** Advance a particle with position r and velocity v by one time step, from its neighbour sums.
 *  @param rules         checked options
 *  @param box           the box, in double
 *  @param lattice       the box, in the precision of the coordinates
 *  @param more          sums that few flocks need; NULL: there are none
 *  @param unit          units of the sums, for each rule [length] or [length / time]
 *  @param step          number of the step: with `id` it determines the random numbers
 *  @param id            index of the particle in the caller's order
 *  @param[in,out] r, v  position and velocity, replaced by those after the step
 *  @return 1; 0 when the result is out of the range of numbers, or too far outside the box to wrap:
 *          r and v are then undefined */
KITH_FN int KITH_REAL(kith__flock_move)(const struct kith__flock_rules *rules,
                                        const struct kith__lattice_d *box,
                                        const struct KITH_REAL(kith__lattice) *lattice,
                                        const struct kith__flock_sums *sums,
                                        const struct kith__flock_more *more,
                                        const double unit[KITH_RULES], int64_t step, int64_t id,
                                        real r[3], real v[3])
{
    double from[3], x[3], old[3], u[3];
    const int pushed = more && rules->push_radius > 0;
    for (int k = 0; k < 3; k++) {
        from[k] = x[k] = (double)r[k];
        old[k] = (double)v[k];
    }
    kith__flock_velocity(rules, box, sums, more, unit, step, id, x, old, u);
    for (int k = 0; k < 3 && pushed; k++) {
        const double push = (double)more->push[k] * unit[KITH_SEPARATION];
        x[k] += rules->push_rate * push * rules->time_step;
    }
    for (int k = 0; k < 3; k++) {
        u[k] = KITH_ROUND(u[k]);
        x[k] += u[k] * rules->time_step;
        if (rules->reflecting[k]) {
            /* the repulsion may take a particle through a wall from which its velocity points: the
             * first reflection then leaves the velocity as it is */
            const int beyond = x[k] < rules->lo[k] || x[k] > rules->hi[k];
            const int inward = x[k] < rules->lo[k] ? u[k] >= 0 : u[k] <= 0;
            double turned = pushed && beyond && inward ? -u[k] : u[k];
            kith__flock_reflect(rules, k, &x[k], &turned);
            u[k] = turned;
        }
    }
    if (rules->n_things > 0) { /* copies, as the arguments of a function that is not inlined */
        double place[3] = {x[0], x[1], x[2]};
        double speed[3] = {u[0], u[1], u[2]};
        kith__flock_keep_outside(rules, box, place, speed);
        for (int k = 0; k < 3; k++) { /* the surface of an obstacle may be outside a wall */
            if (rules->reflecting[k]) {
                kith__flock_reflect(rules, k, &place[k], &speed[k]);
            }
        }
        memcpy(x, place, sizeof place);
        memcpy(u, speed, sizeof speed);
    }
    int fits = 1;
    for (int k = 0; k < 3; k++) {
        r[k] = (real)x[k];
        x[k] = (double)r[k];
        v[k] = (real)u[k];
        fits = fits && isfinite(r[k]) && isfinite(v[k]);
    }
    int32_t image[3];
    fits = fits && KITH_REAL(kith__wrap)(lattice, r, image);
    if (fits && rules->n_things > 0 && (image[0] != 0 || image[1] != 0 || image[2] != 0)) {
        double shift[3];
        for (int k = 0; k < 3; k++) {
            shift[k] = (image[0] * box->row[0][k] + image[1] * box->row[1][k]) +
                       image[2] * box->row[2][k];
        }
        if (kith__flock_passes_wall(rules, box, from, x, shift)) {
            kith__flock_turn_at_faces(box, image, u);
            for (int k = 0; k < 3; k++) {
                r[k] = (real)from[k];
                v[k] = (real)u[k];
            }
        }
    }
    return fits;
}
