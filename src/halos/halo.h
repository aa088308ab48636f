/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Halo properties: the checked input of a measurement, the checks of single particles that the C
 * and the CUDA compiler share, and the operation that each backend offers.
 */
#ifndef KITH_HALO_H
#define KITH_HALO_H

#include "core/backend.h"
#include "engine/question.h"

/** Particles and their groups, in memory that the backend can read. */
struct kith__members {
    kith_points points;         /**< the particles */
    struct kith__lattice_d box; /**< the box, in double */
    int dim;                    /**< 2 or 3 dimensions */
    kith_halo_input input;      /**< masses, velocities and so on, in the points' precision */
    const int32_t *labels;      /**< [points.n] group of each particle, from 1; 0: none */
    kith_memory labels_memory;  /**< where the labels are */
    int64_t groups;             /**< number of groups */
};

/** Reasons why a particle cannot be measured, called faults, in the order in which they are tested.
 *  The kind of a fault is one of these; its number also has the particle (KITH_NO_FAULT). */
enum kith__fault {
    KITH_FAULT_FINITE,    /**< a coordinate is not finite */
    KITH_FAULT_FAR,       /**< the position is too far out to be wrapped into the box */
    KITH_FAULT_MASS,      /**< the mass is not a finite number above 0 */
    KITH_FAULT_VELOCITY,  /**< a component of the velocity is not finite */
    KITH_FAULT_POTENTIAL, /**< the potential is not finite */
    KITH_FAULT_DENSITY,   /**< the density is not finite */
    KITH_FAULT_TYPE,      /**< the type is KITH_TYPES or more */
    KITH_FAULT_LABEL,     /**< the label is not in [0, groups] */
    KITH_FAULTS           /**< number of kinds; as the kind of a particle's fault: it has none */
};

/* A fault of particle p has the number p * KITH_FAULTS + fault. The smallest number of all
 * particles is reported; KITH_NO_FAULT: there is none. */
#define KITH_NO_FAULT INT64_MAX

/** Read the caller's input; its arrays are not read.
 *  @param given       the caller's struct; NULL: the defaults
 *  @param[out] input  a struct of the library's size (core/sized.h)
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__halo_input(kith_ctx *ctx, const kith_halo_input *given, kith_halo_input *input);

/** Refuse a stride that no version has, or that the memory of the result does not allow.
 *  @param stride  kith_halos.stride of the caller: bytes from one halo to the next; 0: the size of
 *                 kith_halo in version 0.1
 *  @param memory  kith_halos.memory of the caller
 *  @return KITH_OK, KITH_INVALID, KITH_UNSUPPORTED */
kith_status kith__halos_check_stride(kith_ctx *ctx, int64_t stride, kith_memory memory);

/** Copy halos to an array of the caller's stride, unless that is sizeof(kith_halo). Fields that the
 *  library does not have are 0 there.
 *  @param stride        kith_halos.stride of the caller
 *  @param owner         kith_halos.owner of the result, which then owns that array too
 *  @param[in,out] halo  pointer to the n halos; then to the array
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__halos_spread(kith_ctx *ctx, int64_t stride, int64_t n, void *owner,
                               kith_halo **halo);

/** Store the message of a fault in the context.
 *  @param fault  number of the fault: particle * KITH_FAULTS + enum kith__fault
 *  @param value  the faulty value; unused for faults of the position
 *  @return the status of the failed call */
kith_status kith__halo_refuse(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__members *members, int64_t fault, double value);

/** Store the message that group g, counted from 1, has no particles.
 *  @return KITH_INVALID */
kith_status kith__halo_empty(kith_ctx *ctx, int64_t g);

/** Allocate out->halo for n halos, and set out->n. @return KITH_OK or KITH_NO_MEMORY. */
kith_status kith__halos_need(kith_ctx *ctx, int64_t n, kith_halos *out);

/** Set sphere_radius and sphere_mass of each halo for each non-zero input->sphere_density: spheres
 *  about the halos' centres whose mean density is that value (spheres.c). The other fields of the
 *  halos must be set. Uses the pair search of ctx; all arrays are in host memory.
 *  @return as kith_pairs_each. */
kith_status kith__spheres_measure(kith_ctx *ctx, const kith_box *box,
                                  const struct kith__question *question,
                                  const kith_halo_input *input, kith_halos *halos);

/** Return true when a sphere is wanted. */
bool kith__spheres_wanted(const kith_halo_input *input);

/** Refuse densities of spheres that are not finite, or below 0, or wanted in two dimensions.
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__spheres_check(kith_ctx *ctx, int dim, const kith_halo_input *input);

/** Choose the first search radius of each halo: kith__spheres_measure in rounds, which ranks that
 *  have particles of their own can make together.
 *  @param[out] reach  [halos->n] search radius [length] */
void kith__spheres_begin(const struct kith__question *question, const kith_halo_input *input,
                         const kith_halos *halos, double *reach);

/** Return true when a centre with this search radius may share a search with one that has the
 *  largest. */
bool kith__spheres_share(double reach, double largest);

/** Search once around the centres of all halos that have a search radius, and set their spheres.
 *  @param question       all particles within the largest search radius, in the order of all
 *  @param input          masses of these particles, and densities of spheres
 *  @param[in,out] reach  [halos->n] search radius [length]; 0: none. Then the one of the next round
 *  @param[out] again     halos that have one
 *  @return as kith_pairs_each */
kith_status kith__spheres_round(kith_ctx *ctx, const kith_box *box,
                                const struct kith__question *question, const kith_halo_input *input,
                                kith_halos *halos, double *reach, int64_t *again);

/** Return floor(x), without a function call; floor(x) must fit an int64_t. */
KITH_FN double kith__floor(double x)
{
    const double t = (double)(int64_t)x;
    return t - (x < t);
}

/** Return true when element k of an array is not finite; false when there is no array. */
KITH_FN bool kith__real_is_bad(const void *data, int64_t k, kith_precision precision)
{
    return data && !isfinite(kith__real_at(data, k, precision));
}

/** Return the kind of the first fault of particle p; KITH_FAULTS: none.
 *  @param of         the particles
 *  @param precision  precision of the points, which may be a constant at compile time */
KITH_FN int kith__particle_fault(const struct kith__members *of, kith_precision precision,
                                 int64_t p)
{
    const kith_halo_input *input = &of->input;
    double r[3];
    int32_t image[3];
    kith__position(&of->points, of->dim, precision, p, r);
    if (!kith__is_finite(r)) {
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

/** Return the value that is the reason of a fault; 0 for faults of the position.
 *  @param fault  number of the fault: particle * KITH_FAULTS + enum kith__fault */
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

/** Operations that a backend offers; NULL: not offered. */
struct kith__halos_backend {
    /** Check all particles, then measure the groups, except their spheres (spheres.c).
     *  @param members   the particles and their groups, in the memory of the points
     *  @param[out] out  out->halo [members->groups], in out->memory
     *  @return KITH_OK, KITH_NO_MEMORY, KITH_CANCELLED, or the status of a fault */
    kith_status (*measure)(kith_ctx *ctx, const struct kith__question *question,
                           const struct kith__members *members, kith_halos *out);
};

extern const struct kith__halos_backend kith__cpu_halos, kith__cuda_halos;

#endif
