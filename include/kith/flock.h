/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks: boids and Vicsek's models.
 *
 * See kith.h for pairs, boxes, memory, threads and errors.
 */
#ifndef KITH_API_FLOCK_H
#define KITH_API_FLOCK_H

#include <kith/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a particle's new velocity follows from those of its neighbours. */
typedef enum kith_flock_model {
    KITH_BOIDS = 0,           /**< separation, alignment and cohesion (Reynolds 1987, SIGGRAPH) */
    KITH_VICSEK_ANGULAR = 1,  /**< the mean direction of the particle and of those within
                                   alignment.radius, turned by a random angle (Vicsek et al. 1995,
                                   PRL 75, 1226) */
    KITH_VICSEK_VECTORIAL = 2 /**< the sum of these directions, to which a random vector is added
                                   before it is normalised (Gregoire & Chate 2004, PRL 92,
                                   025702) */
} kith_flock_model;

/** A rule is a sum over the neighbours within a radius. With a radius or weight of 0 it is off. */
typedef struct kith_flock_rule {
    double radius, weight; /**< radius [length], and weight of the sum; of repulsion [1 / time] */
} kith_flock_rule;

enum { KITH_MOST_SPECIES = 256 }; /**< largest number of species of a flock */
/** How particles of one species heed those of another: factors of the terms that these add to the
 *  sums of the rules. From -64 to 64, rounded to multiples of 2^-24; 1: as without species; 0: they
 *  are ignored, so that n of the rule does not count them; below 0 the rule is reversed. */
typedef struct kith_flock_factors {
    double separation, alignment, cohesion; /**< of each rule; Vicsek: alignment alone */
} kith_flock_factors;

/** Kinds of obstacles and attractors, which bend the paths of particles: they change u, from which
 *  the new velocity v' follows (A STEP at kith_flock). */
typedef enum kith_flock_kind {
    KITH_POINT = 0,   /**< attracts particles within `reach`: u gains weight d / |d|, d from the
                           particle to `place`. A weight below 0 repels; reach 0: all particles */
    KITH_SPHERE = 1,  /**< an obstacle of `radius` around `place`. Particles within `reach` of its
                           surface turn away: u gains weight (1 - gap / reach) along its outward
                           normal, with gap the distance from the surface. Particles that would end
                           inside are put on the surface, and the inward component of v' is
                           reversed */
    KITH_WALL = 2,    /**< an obstacle that fills the space behind the plane through `place` with
                           `normal`, within the box; acts like KITH_SPHERE. A particle that would
                           cross a periodic axis to a place behind the plane, or past it from an
                           image behind it, stays where it is, and v' is reflected by the face */
    KITH_PREDATOR = 3 /**< starts at `place` and moves with `speed` towards the nearest particle, of
                           equally near ones that of the smallest index. Repels, like a KITH_POINT
                           whose weight is -weight */
} kith_flock_kind;

enum { KITH_MOST_THINGS = 16 }; /**< largest number of obstacles and attractors */
/** An obstacle or attractor. The nearest image in fractional coordinates acts; planes have none. */
typedef struct kith_flock_thing {
    kith_flock_kind kind; /**< what the obstacle or attractor does */
    double place[3];      /**< position [length] */
    double normal[3];     /**< KITH_WALL: outward normal, of any length above 0 */
    double radius;        /**< KITH_SPHERE: > 0 [length] */
    double speed;         /**< KITH_PREDATOR: [length / time] */
    double reach;         /**< distance up to which the obstacle or attractor acts [length] */
    double weight;        /**< strength; KITH_PREDATOR: 0 or more */
} kith_flock_thing;

/** How a flock moves. Fill with kith_flock_options_init, then change what you need. */
typedef struct kith_flock_options {
    size_t size;            /**< sizeof(kith_flock_options): set by the init call */
    kith_flock_model model; /**< how velocities change */
    kith_flock_rule separation, alignment, cohesion; /**< Vicsek: alignment.radius alone */
    int relative;       /**< 1: alignment with the mean of the neighbours' v minus one's own, as in
                             Conrad Parker's boids; 0: with that mean alone */
    double min_speed;   /**< smallest |v'| [length / time] */
    double max_speed;   /**< largest |v'| [length / time], 0: no limit. Vicsek: |v'| is max_speed,
                             > 0 */
    double time_step;   /**< > 0 [time] */
    int reflecting[3];  /**< 1: an open axis of an orthorhombic box has walls at origin and origin +
                             row, which reflect positions and velocities as often
                             as a step meets one */
    int64_t nearest;    /**< k up to 64: only the k nearest neighbours count, within the largest
                             radius; of equally near ones those of smallest index (Ballerini et
                             al. 2008, PNAS 105, 1232: 7). 0: all count */
    double blind_angle; /**< full angle [radian] of the cone behind v, 0 to 2 pi, in which
                             neighbours are not seen; 0: all are */
    double noise;       /**< eta, 0 to 1. Boids and Vicsek, angular: u is turned by up to eta pi,
                             uniform in angle (2-D) or on the sphere's cap (3-D); vectorial: a
                             random vector of length eta (n + 1) max_speed is added */
    const kith_flock_thing *things; /**< [n_things] copied; NULL: none */
    int64_t n_things;               /**< up to KITH_MOST_THINGS */
    uint64_t seed;      /**< random numbers are a function of seed, step and index alone */
    int64_t first_step; /**< steps done before: continues a flock whose state was read by
                             kith_flock_read */
    int gaussian;       /**< 1: the angle of the noise is normal, of standard deviation eta pi; in
                             3-D it is so in both directions at right angles to u, wrapped round
                             the sphere. Not vectorial. 0: uniform */
    double turn_rate;   /**< largest angle from v to v' / time_step [radian / time]; a further turn
                             ends there, at the speed of u. 0: no limit */
    kith_flock_rule repulsion; /**< soft spheres of diameter radius: r' gains time_step weight
                                    sum (radius - |d|) (-d / |d|) over all particles that overlap,
                                    seen or not; v' does not change. Any model; weight 0 or more.
                                    With gaussian noise and min_speed = max_speed: active Brownian
                                    particles (Fily & Marchetti 2012, PRL 108, 235702) */
    const kith_flock_factors *factors; /**< [n_species][n_species] copied: element [a][b] is how
                                            particles of species a heed those of species b.
                                            `nearest` does not count those whose factors of all
                                            rules that are on are 0. Repulsion, obstacles and
                                            attractors are alike for all species */
    int64_t n_species;      /**< 0: particles have no species; else up to KITH_MOST_SPECIES */
    const uint8_t *species; /**< [n] copied: species of each particle, in the caller's order, below
                                 n_species; NULL: particle i is of species i modulo n_species */
    double leaders;         /**< share of the particles that lead, 0 to 1: the first
                                      floor(leaders n + 1/2) in the caller's order. They turn
                                      towards leader_direction, the others know nothing of it
                                      (Couzin et al. 2005, Nature 433, 513) */
    double leader_weight;   /**< w of leader_direction against the rules, 0 to 1e9 */
    double leader_direction[3]; /**< of any length above 0, where leaders and leader_weight are not
                                      0; in 2-D z is not read */
} kith_flock_options;

/** Set every field to its default: boids with radii 3, 5, 5, weights 0.1, 0.1, 0.01, max_speed 1,
 *  time_step 0.2 (the constants of UPenn's CIS 565); repulsion of radius 0, weight 1. */
KITH_API void kith_flock_options_init(kith_flock_options *options);

/** Set the fields of a struct of `size` bytes to their defaults. kith_flock_options_init is a
 *  macro that passes sizeof, so that a library of a later version knows which fields there are;
 *  the function of that name sets those of version 0.1. */
KITH_API void kith_flock_options_init_sized(kith_flock_options *options, size_t size);
#define kith_flock_options_init(options) \
    kith_flock_options_init_sized(options, sizeof(kith_flock_options))

/**
 * A simulation of moving particles, kept by the library in the order of cells. Opaque; made by
 * kith_flock_open.
 *
 * A STEP takes all particles at once from the old state r, v to the new one r', v'. Sums are over
 * the others j, and their images, that are pairs with i (kith.h) for the rule's radius, with
 * d = r_j - r_i:
 *     boids:      u = v + cohesion.weight sum d / n - separation.weight sum d
 *                       + alignment.weight (sum v_j / n  [- v])
 *                 of several species: sum f d, sum f v_j [- (sum f) v / n], f from factors[a][b]
 *     Vicsek:     u = v + sum v_j, or v + sum v_j + noise (n + 1) max_speed x, |x| = 1
 *     and u gains the terms of obstacles and attractors,
 *     leaders: u = |u| e, e along u / |u| + leader_weight g, |g| = 1 along leader_direction
 *              (u / |u| is 0 where u is; u stays where the sum is 0),
 *     v' = u with |u| between the speeds, turned by the noise, no further from v than turn_rate
 *     time_step,   r' = r + v' time_step, wrapped or reflected,
 *     where repulsion adds its displacement to r' before it is wrapped or reflected.
 * Surfaces of spheres and walls, and reflecting axes, turn v' at once, beyond turn_rate. A particle
 * at rest may turn to any side; one that is to turn round turns to its left in 2-D. In double; v'
 * and r' are rounded to the precision of the points. When u is 0 but min_speed is
 * not, u is replaced by v.
 *
 * EQUAL BITS come out for any number of threads, any backend, and when a flock is read
 * and opened again. Sums are of integers, so that their order does not matter: the wrapped r and
 * the rows of the box are first rounded to multiples of 2^-23 R, v to multiples of 2^-23 V. R and V
 * are the powers of 2 next above the largest radius and the largest component of a velocity. The
 * blind cone is around v as given, and contains j by the rounded d; if d or v is 0, j is seen.
 * Repulsion is by the rounded d, too, and each of its terms is rounded to 2^-23 R; 0 where d is 0.
 */
typedef struct kith_flock kith_flock;

/**
 * Start a flock. Cost: two states, 28 bytes for each particle and state in float, 52 in double; on
 * a GPU one, and 96 or 160 bytes for each particle there, where it stays from the first step on.
 * @param ctx         the context that advances it; to be closed after the flock
 * @param points      r; in a 2-D box z is not read. The host reads them: those in device memory are
 *                    copied to the host, this once
 * @param velocities  v: n of them in the precision of the points, laid out in any way
 * @param box         NULL: open space. A radius reaches no further than a periodic axis is long
 * @param options     NULL: the defaults
 * @param[out] out    the flock; kith_flock_close it. NULL on failure
 * @return KITH_OK; KITH_INVALID; KITH_NOT_FINITE; KITH_LIMIT; KITH_NO_MEMORY; KITH_CANCELLED;
 *         KITH_UNSUPPORTED.
 */
KITH_API kith_status kith_flock_open(kith_ctx *ctx, const kith_points *points,
                                     const kith_points *velocities, const kith_box *box,
                                     const kith_flock_options *options, kith_flock **out);

/**
 * Change the options from the next step on. first_step is ignored.
 * @param options  NULL: the defaults
 * @return KITH_OK; KITH_INVALID; KITH_LIMIT; KITH_NO_MEMORY: nothing is changed.
 */
KITH_API kith_status kith_flock_change(kith_flock *flock, const kith_flock_options *options);

/**
 * Advance by some steps. Cost of each: O(n + pairs).
 * @param steps  0 or more
 * @return KITH_OK; KITH_NOT_FINITE, KITH_LIMIT when a particle left the range of numbers;
 *         KITH_NO_MEMORY; KITH_CANCELLED; KITH_UNSUPPORTED; KITH_DEVICE_LOST. On failure the flock
 *         is in the state after its last whole step (kith_flock_steps).
 */
KITH_API kith_status kith_flock_step(kith_flock *flock, int64_t steps);

/** Return the steps done, first_step included; 0 if flock is NULL. */
KITH_API int64_t kith_flock_steps(const kith_flock *flock);

/**
 * Copy the state, in the caller's order. A flock that is opened with it, with first_step =
 * kith_flock_steps and equal options, continues with equal bits.
 * @param[out] positions   [n][3], precision of the points, wrapped; z is 0 in a 2-D box. NULL: not
 *                         wanted
 * @param[out] velocities  [n][3], precision of the points. NULL: not wanted
 * @return KITH_OK; KITH_INVALID; on a GPU KITH_NO_MEMORY, KITH_DEVICE_LOST too. On failure nothing
 *         is written.
 */
KITH_API kith_status kith_flock_read(const kith_flock *flock, void *positions, void *velocities);

/**
 * Copy the state to device memory, in the caller's order. Nothing is copied to the host, and
 * nothing waits: the copy is done in the order of the context's stream. The first call uploads a
 * flock that has not made a step.
 * @param[out] positions   [n][3] in device memory, precision of the points, wrapped; z is 0 in a
 *                         2-D box. NULL: not wanted
 * @param[out] velocities  [n][3] in device memory, precision of the points. NULL: not wanted
 * @return KITH_OK; KITH_INVALID; KITH_UNSUPPORTED on a CPU; KITH_NO_MEMORY; KITH_DEVICE_LOST. On
 *         failure the arrays are undefined.
 */
KITH_API kith_status kith_flock_read_device(kith_flock *flock, void *positions, void *velocities);

/** Copy obstacles and attractors as they are now: predators have moved.
 *  @param[out] things  [n_things] of the options; NULL: nothing is copied */
KITH_API void kith_flock_read_things(const kith_flock *flock, kith_flock_thing *things);

/** Order parameters of a flock. Sums are in double, in the caller's order. */
typedef struct kith_flock_measures {
    double polarisation; /**< |sum v/|v|| / n: 1 when all move in one direction. NaN without
                              particles */
    double milling; /**< |sum s x v| / sum |s| |v|, s from the centre: 1 when all circle round it.
                         The centre is the mean; along periodic axes that of the angles 2 pi f
                         (Bai & Breen 2008), s the nearest image */
    double mean_speed; /**< sum |v| / n [length / time] */
    double neighbours; /**< mean number of others within the largest radius */
} kith_flock_measures;

/**
 * Measure a flock in its current state. Cost: O(n + pairs), less than a step; 48 bytes of scratch
 * memory for each particle.
 * @param[out] out  written on success alone
 * @return KITH_OK; KITH_INVALID; KITH_NO_MEMORY; KITH_CANCELLED; KITH_DEVICE_LOST.
 */
KITH_API kith_status kith_flock_measure(kith_flock *flock, kith_flock_measures *out);

/** Measure a flock, into the first `size` bytes of the struct. kith_flock_measure is a macro that
 *  passes sizeof; the function of that name writes the fields of version 0.1.
 *  @return as kith_flock_measure */
KITH_API kith_status kith_flock_measure_sized(kith_flock *flock, kith_flock_measures *out,
                                              size_t size);
#define kith_flock_measure(flock, out) \
    kith_flock_measure_sized(flock, out, sizeof(kith_flock_measures))

/** Free a flock. Not during a call on its context. @param flock  NULL is fine. */
KITH_API void kith_flock_close(kith_flock *flock);

#ifdef __cplusplus
}
#endif

#endif
