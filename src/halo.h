/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sums over one group of particles, and what follows from them.
 */
#ifndef KITH_HALO_H
#define KITH_HALO_H

#include "question.h"

/* Particles summed one after another: sums of pieces are added in order, so that a sum does not
 * depend on who computed which piece. */
enum { KITH_HALO_PIECE = 4096 };

/** What is known of all particles. */
struct kith__members {
    const struct kith__question *question;
    const kith_halo_input *input;
    const int32_t *order; /**< particles, group by group, ascending in each */
};

/** Sums over a piece of a group, or over all of it. */
struct kith__halo_sums {
    uint64_t used[3]; /**< 64ths of the box, along each axis, that hold members */
    int64_t members_of_type[KITH_TYPES];
    double mass_of_type[KITH_TYPES];
    double moment[3];   /**< sum m d, d from a place near the members */
    double momentum[3]; /**< sum m v */
    double second[6];   /**< sum m r_j r_k: xx, yy, zz, xy, xz, yz */
    double spin[3];     /**< sum m r x u, u = v - V */
    double stir;        /**< sum m u^2 */
    double farthest;    /**< largest r^2 */
    double best;        /**< of potentials or minus densities */
    int64_t particle;   /**< that has it; -1: none */
};

/**
 * Measure the group of the members order[first] to order[first + n - 1], n >= 1; not its spheres.
 * @param parts    [ceil(n / KITH_HALO_PIECE)] scratch
 * @param threads  that share the pieces
 */
void kith__halo_measure(const struct kith__members *members, int64_t first, int64_t n,
                        struct kith__halo_sums *parts, int threads, kith_halo *out);

/** Element k of an array of reals. */
static inline double kith__real_at(const void *data, int64_t k, kith_precision precision)
{
    return precision == KITH_FLOAT ? (double)((const float *)data)[k] : ((const double *)data)[k];
}

/** Position of particle p as the caller gave it. */
static inline void kith__position(const struct kith__question *q, int64_t p, double r[3])
{
    r[0] = kith__real_at(q->a.x, p * q->a.stride, q->precision);
    r[1] = kith__real_at(q->a.y, p * q->a.stride, q->precision);
    r[2] = q->dim == 3 ? kith__real_at(q->a.z, p * q->a.stride, q->precision) : 0;
}

#endif
