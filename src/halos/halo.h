/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups to be measured, as every backend takes them, and what can be wrong with their particles.
 */
#ifndef KITH_HALO_H
#define KITH_HALO_H

#include "core/backend.h"
#include "engine/question.h"

/** What is known of all particles, where the backend can reach it. */
struct kith__members {
    kith_points points;
    struct kith__lattice_d box;
    int dim;
    kith_halo_input input;
    const int32_t *labels; /**< [points.n] */
    kith_memory labels_memory;
    int64_t groups;
};

/** What is found first. */
enum kith__fault {
    KITH_FAULT_FINITE, /**< a coordinate */
    KITH_FAULT_FAR,    /**< too far out to be wrapped */
    KITH_FAULT_MASS,
    KITH_FAULT_VELOCITY,
    KITH_FAULT_POTENTIAL,
    KITH_FAULT_DENSITY,
    KITH_FAULT_TYPE,
    KITH_FAULT_LABEL,
    KITH_FAULTS
};

/* Faults are numbered, those of the first particle first. */
#define KITH_NO_FAULT INT64_MAX

/** Say what is wrong with a particle.
 *  @param fault  particle * KITH_FAULTS + what
 *  @param value  that is wrong; of a coordinate it does not matter
 *  @return the status. */
kith_status kith__halo_refuse(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__members *members, int64_t fault, double value);

/** Say that group g, from 1, has no particle. @return the status. */
kith_status kith__halo_empty(kith_ctx *ctx, int64_t g);

/** Make room for n halos. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__halos_need(kith_ctx *ctx, int64_t n, kith_halos *out);

/** Fill in sphere_radius and sphere_mass where input->sphere_density wants them: spheres of a given
 *  mean density about the centres. Uses the pair search of ctx. @return as kith_pairs_each. */
kith_status kith__spheres_measure(kith_ctx *ctx, const kith_box *box,
                                  const struct kith__question *question,
                                  const kith_halo_input *input, kith_halos *halos);

/** The floor, without a call; of what fits an int64_t. */
KITH_FN double kith__floor(double x)
{
    const double t = (double)(int64_t)x;
    return t - (x < t);
}

/** Is element k of an array, if there is one, no finite number? */
KITH_FN bool kith__real_is_bad(const void *data, int64_t k, kith_precision precision)
{
    return data && !isfinite(kith__real_at(data, k, precision));
}

/** What is wrong with particle p; KITH_FAULTS: nothing. */
KITH_FN int kith__particle_fault(const struct kith__members *of, kith_precision precision,
                                 int64_t p)
{
    const kith_halo_input *input = &of->input;
    double r[3];
    int32_t image[3];
    kith__position(&of->points, of->dim, precision, p, r);
    if (!isfinite(r[0] + r[1] + r[2])) {
        return KITH_FAULT_FINITE;
    }
    if (!kith__wrap_d(&of->box, r, image)) {
        return KITH_FAULT_FAR;
    }
    if (kith__real_is_bad(input->masses, p, precision) ||
        (input->masses && !(kith__real_at(input->masses, p, precision) > 0))) {
        return KITH_FAULT_MASS;
    }
    for (int k = 0; k < 3; k++) {
        if (kith__real_is_bad(input->velocities, 3 * p + k, precision)) {
            return KITH_FAULT_VELOCITY;
        }
    }
    if (kith__real_is_bad(input->potentials, p, precision)) {
        return KITH_FAULT_POTENTIAL;
    }
    if (kith__real_is_bad(input->densities, p, precision)) {
        return KITH_FAULT_DENSITY;
    }
    if (input->types && input->types[p] >= KITH_TYPES) {
        return KITH_FAULT_TYPE;
    }
    return of->labels[p] < 0 || of->labels[p] > of->groups ? KITH_FAULT_LABEL : KITH_FAULTS;
}

/** The number that a fault is about. */
KITH_FN double kith__fault_value(const struct kith__members *of, int64_t fault)
{
    const kith_halo_input *input = &of->input;
    const kith_precision precision = of->points.precision;
    const int64_t p = fault / KITH_FAULTS;
    int k = 0;
    switch (fault % KITH_FAULTS) {
    case KITH_FAULT_MASS: return kith__real_at(input->masses, p, precision);
    case KITH_FAULT_VELOCITY:
        while (!kith__real_is_bad(input->velocities, 3 * p + k, precision)) {
            k++;
        }
        return kith__real_at(input->velocities, 3 * p + k, precision);
    case KITH_FAULT_POTENTIAL: return kith__real_at(input->potentials, p, precision);
    case KITH_FAULT_DENSITY: return kith__real_at(input->densities, p, precision);
    case KITH_FAULT_TYPE: return input->types[p];
    case KITH_FAULT_LABEL: return of->labels[p];
    default: return 0;
    }
}

/** What a backend offers. */
struct kith__halos_backend {
    /** Measure groups: look at all particles, then fill out->halo [members->groups], which is where
     *  out->memory says; not the spheres. The input is in the memory of the points. */
    kith_status (*measure)(kith_ctx *ctx, const struct kith__question *question,
                           const struct kith__members *members, kith_halos *out);
};

extern const struct kith__halos_backend kith__cpu_halos, kith__cuda_halos;

#endif
