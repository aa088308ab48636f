/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What groups of particles are like: masses, centres, shapes, spheres.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_HALOS_H
#define KITH_API_HALOS_H

#include <kith/fof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* KITH_TYPES: number of types of particles. KITH_SPHERES: number of densities of
 * kith_halo_input.sphere_density. */
enum { KITH_TYPES = 8, KITH_SPHERES = 4 };

/** Data of the particles beside their positions. Fill with kith_halo_input_init, then set what is
 *  available. Arrays are in the memory of the points, borrowed for the call; reals have the
 *  precision of the points. */
typedef struct kith_halo_input {
    size_t size;            /**< sizeof(kith_halo_input): set by the init call */
    const void *masses;     /**< [n] mass m of each particle, > 0; NULL: each is 1 */
    const void *velocities; /**< [n][3] v; NULL: unknown, and results that need them are 0 */
    const uint8_t *types;   /**< [n] from 0 to KITH_TYPES - 1; NULL: all are 0 */
    const void *potentials; /**< [n] the lowest marks the centre of a group; NULL: unknown */
    const void *densities;  /**< [n] the highest marks the centre of a group when there are no
                                 potentials; NULL: unknown */
    double sphere_density[KITH_SPHERES]; /**< mean density of a sphere, for kith_halo.sphere_radius
                                              [mass / length^3]; 0: no sphere. Only in 3-D, with
                                              points and halos in host memory */
} kith_halo_input;

/** Set every field to its default: nothing is available or wanted. */
KITH_API void kith_halo_input_init(kith_halo_input *input);

/** Set the fields of a struct of `size` bytes to their defaults. kith_halo_input_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_halo_input_init_sized(kith_halo_input *input, size_t size);
#define kith_halo_input_init(input) kith_halo_input_init_sized(input, sizeof(kith_halo_input))

/**
 * One group. Sums are over its members; x is a member's position unwrapped across periodic faces:
 * the box is cut, along each axis, at the end of its widest part without members. Units are those
 * of positions, masses and velocities.
 */
typedef struct kith_halo {
    int64_t members;                     /**< particles with its label, attached ones too */
    int64_t members_of_type[KITH_TYPES]; /**< particles of each type */
    double mass;                         /**< M = sum m */
    double mass_of_type[KITH_TYPES];     /**< mass of each type */
    double centre_of_mass[3];            /**< X = sum m x / M, wrapped into the box */
    double centre[3];                    /**< position of `particle`, wrapped; without it X */
    int64_t particle;                    /**< the member of lowest potential, else of highest
                                              density, else -1; of equal ones the smallest index */
    double velocity[3];                  /**< V = sum m v / M */
    double dispersion;                   /**< in one dimension: sqrt(sum m |v - V|^2 / (dim M)) */
    double radius_rms;                   /**< sqrt(sum m |x - X|^2 / M) */
    double radius_max;                   /**< largest |x - X| */
    double angular_momentum[3];          /**< sum m (x - X) x (v - V) */
    double inertia[6];                   /**< sum m (|r|^2 delta_jk - r_j r_k), r = x - X: xx, yy,
                                              zz, xy, xz, yz */
    double axis_length[3];               /**< a >= b >= c: sqrt(s), s the eigenvalues of
                                              sum m r_j r_k / M; b/a and c/a are the shape */
    double axis[3][3];                   /**< unit vectors along a, b, c */
    double sphere_radius[KITH_SPHERES];  /**< R: all particles within R of `centre`, members or not,
                                              have the mean density sphere_density; 0: there is no
                                              R up to the distance of the nearest image. Of several
                                              R, with R_g the radius of a sphere of mass M and that
                                              density, or that distance where it is smaller: if the
                                              density within R_g is higher, the first beyond R_g;
                                              else the last before R_g */
    double sphere_mass[KITH_SPHERES];    /**< 4 pi / 3 sphere_density R^3 */
} kith_halo;

/** Halos. Zero it before its first use; the fields after `owner` are used where `size` is set. */
typedef struct kith_halos {
    int64_t n;             /**< groups */
    kith_halo *halo;       /**< [n], `stride` bytes apart: halo[0] is group 1 */
    kith_memory memory;    /**< where they are: KITH_HOST unless set, before the first call */
    uint32_t size;         /**< sizeof(kith_halos) of the caller; 0: the fields of version 0.1 */
    void *owner;           /**< private to the library */
    double sphere_seconds; /**< time that finding the spheres took in the last call [s] */
    int64_t stride;        /**< sizeof(kith_halo) of the caller, a multiple of 8; fields that the
                                library does not know are 0. In device memory only the library's. 0:
                                that of version 0.1, 480, with its fields */
} kith_halos;

/**
 * Measure groups of particles. Sums are in double and in a fixed order, that of the caller's
 * particles: equal bits in every run, for any number of threads, and on every backend.
 * Cost: O(n) time; scratch memory as in kith_fof_find, where the points are. Spheres: some pair
 * searches around the centres, and the largest sphere's particles in memory.
 * @param ctx         the context
 * @param points      the particles that groups has labels of
 * @param box         NULL: open space
 * @param groups      from kith_fof_find, or labels of your own: n, points and labels are read
 * @param input       NULL: only positions are available
 * @param[in,out] out the halos. Zeroed, or from an earlier call on ctx, whose arrays are then
 *                    reused. Free with kith_halos_free.
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure n is 0, and out is still to
 *         be freed.
 */
KITH_API kith_status kith_halos_measure(kith_ctx *ctx, const kith_points *points,
                                        const kith_box *box, const kith_groups *groups,
                                        const kith_halo_input *input, kith_halos *out);

/** Free the arrays and zero the struct but for its size. @param halos  NULL or zeroed is fine. */
KITH_API void kith_halos_free(kith_halos *halos);

#ifdef __cplusplus
}
#endif

#endif
