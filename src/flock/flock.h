/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks: the state of a simulation, double buffered and in any order of the particles, the checked
 * rules, and the operations that each backend offers.
 */
#ifndef KITH_FLOCK_H
#define KITH_FLOCK_H

#include "core/backend.h"
#include "flock_rules.h"
#include "engine/question.h"

/** State of all particles at one time. An entry is an index of its arrays: the position of a
 *  particle in the state, in any order of the particles. Arrays of r and v have the precision of
 *  the question. */
struct kith__flock_state {
    void *r[3];  /**< [n] each: wrapped coordinates [length] */
    void *v[3];  /**< [n] each: velocities [length / time] */
    int32_t *id; /**< [n] index of each entry's particle in the caller's order */
};

/** A subset of the particles that is read repeatedly, for a live view (kith/glance.h). */
struct kith__subset {
    int64_t n;      /**< particles of the subset */
    int64_t choice; /**< number of subsets chosen so far, which identifies this one; 0: none */
    bool taken;     /**< a copy was taken of this subset */
    /** int32_t [flock->n], by the caller's index: number of the particle in the subset; -1: it is
     *  not in the subset. */
    struct kith__buffer rank;
    struct kith__buffer copy; /**< copies of positions and velocities on the host */
    const void *r, *v;        /**< [n][3] positions and velocities, in `copy` or in memory of the
                                   backend; valid after the copy has arrived */
};

/** A flock: one simulation; or the part of one that a rank of a team steps (team/flock_team.c). Of
 *  a part, the caller's order is that of the team, which puts the particles that the rank advances
 *  first, and copies of those of other ranks after them. */
struct kith_flock {
    kith_ctx *ctx;                  /**< context of all calls */
    int64_t n;                      /**< number of particles, copies included */
    int64_t first;                  /**< index in the whole flock of the first particle as it was
                                         given; 0 but for parts */
    int64_t all;                    /**< particles of the whole flock; n but for parts */
    int64_t own;                    /**< particles that are advanced: those whose index in the
                                         caller's order is smaller; n but for parts */
    const int64_t *global;          /**< [n] index of each particle in the flock of all ranks, by
                                         its index in the caller's order; NULL: the flock is whole,
                                         and this is that index */
    const int32_t *order;           /**< [n] place of each particle among those of the part in the
                                         order of `global`, by its index in the caller's order, for
                                         `nearest`; NULL: that index */
    struct kith__question question; /**< box, and as cutoff the largest radius of a rule; while all
                                         rules are off (rules.reach is 0) the cutoff is not used,
                                         and may be an earlier one. Its points are the positions
                                         of the current state, after a step on a GPU in device
                                         memory */
    struct kith__flock_rules rules; /**< checked options */
    kith_box box;                   /**< the box, as the caller gave it */
    struct kith__buffer species;    /**< uint8_t [n] species of the particles, in the caller's
                                         order; empty where rules.n_species is 0 */
    struct kith__buffer heed;       /**< struct kith__flock_heed [n_species][n_species]: how the
                                         first species heeds the second; empty where there are no
                                         species */
    int64_t edition;                /**< number of times that the two were set */
    int64_t step;                   /**< steps done */
    /** First step at which all particles are inside the reflecting walls: the step after the last
     *  call of kith_flock_change that added a wall. */
    int64_t walled;
    struct kith__flock_state now;  /**< state at `step` */
    struct kith__flock_state next; /**< state that is being computed; not used where the backend
                                        keeps the state on a device */
    struct kith__buffer memory;    /**< memory of `now`, and of `next` where it is used */
    struct kith__subset subset;    /**< subset for a live view */
    void *device;                  /**< the backend's own state; NULL: none yet */
};

/** Return the index of a particle in the whole flock, which decides between equally near particles
 *  and which random numbers it gets. @param id  index in the caller's order */
static inline int64_t kith__flock_index(const struct kith_flock *flock, int32_t id)
{
    return flock->global ? flock->global[id] : id;
}

/** Nearest particle to a predator. */
struct kith__prey {
    double distance; /**< distance from the predator [length]; INFINITY: there is no particle */
    double way[3];   /**< vector from the predator [length] */
    int64_t id;      /**< index in the whole flock, the smallest of equally near particles */
};

/** What a step needs to know of all particles before it can advance one. */
struct kith__flock_survey {
    double fastest; /**< largest absolute component of a velocity; 0 while all rules are off */
    struct kith__prey prey[KITH_MOST_THINGS]; /**< of each thing that is a predator, by the index of
                                                   the thing */
};

/** Return true when a is nearer than b; of equally near ones, when its index is smaller. */
static inline bool kith__is_nearer(const struct kith__prey *a, const struct kith__prey *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->id < b->id);
}

/** Make a public call of a flock: KITH_CALL (core/context.h) with the flock's context. NULL is
 *  refused: KITH_INVALID.
 *  @param status  receives the status
 *  @param work    expression of the call, a kith_status */
#define KITH_FLOCK_CALL(flock, status, work) \
    do { \
        if (flock) { \
            KITH_CALL((flock)->ctx, status, work); \
        } else { \
            *(status) = kith__fail(NULL, KITH_INVALID, "flock is NULL"); \
        } \
    } while (0)

/** Read options, of any size that kith_flock_options_init_sized sets, and check that arrays are
 *  there where they are needed.
 *  @param options   NULL: the defaults
 *  @param[out] own  the options, of full size
 *  @return KITH_OK, KITH_INVALID */
kith_status kith__flock_options_read(kith_ctx *ctx, const kith_flock_options *options,
                                     kith_flock_options *own);

/** Refuse options of which a field after leader_direction is not at its default: a rule that was
 *  added later is on.
 *  @param own   from kith__flock_options_read
 *  @param what  what does not take them, for the message
 *  @return KITH_OK, KITH_UNSUPPORTED */
kith_status kith__flock_options_known(kith_ctx *ctx, const kith_flock_options *own,
                                      const char *what);

/** Check options against the flock's n, precision and box, and set flock->question and rules. On
 *  failure these are unchanged.
 *  @param options          NULL: the defaults
 *  @param[out] first_step  options.first_step
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT, KITH_NO_MEMORY */
kith_status kith__flock_rules_init(struct kith_flock *flock, const kith_flock_options *options,
                                   int64_t *first_step);

/** Copy the state at the current step to flock->now on the host, where the backend keeps it
 *  elsewhere. */
kith_status kith__flock_fetch(const struct kith_flock *flock);

/** Store the message that position or velocity of a particle overflow in the next step.
 *  @param particle  its index in the whole flock
 *  @return KITH_NOT_FINITE */
kith_status kith__flock_refuse_lost(const struct kith_flock *flock, int64_t particle);

/** Set all members of a new flock but ctx, and of a part `first` and `all`, from the arguments of
 *  kith_flock_open.
 *  @return as kith_flock_open */
kith_status kith__flock_start(struct kith_flock *flock, const kith_points *points,
                              const kith_points *velocities, const kith_box *box,
                              const kith_flock_options *options);

/** Allocate the states of flock->n particles, and set the pointers to their arrays. What the states
 *  held is lost. @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__flock_lay_out(struct kith_flock *flock);

/** Change the options from the next step on (kith_flock_change).
 *  @return KITH_OK, KITH_INVALID, KITH_LIMIT, KITH_NO_MEMORY: nothing is changed */
kith_status kith__flock_change(struct kith_flock *flock, const kith_flock_options *options);

/** Make the next state, which kith__flock_backend.advance computed, the current one: move predators
 *  towards their prey, and count the step. */
void kith__flock_commit(struct kith_flock *flock, const struct kith__flock_survey *survey);

enum {
    KITH_CENTRE_TERMS = 9, /**< sums from which the centre of a flock follows */
    KITH_MOTION_TERMS = 8  /**< sums from which the other order parameters follow */
};

/** Particles whose order parameters are computed, in double and in the caller's order. */
struct kith__flock_view {
    int64_t n;        /**< number of particles */
    double *r, *v;    /**< [n][3] positions [length], velocities [length / time] */
    double centre[3]; /**< centre of the flock, in fractional coordinates */
    double (*terms)[KITH_CENTRE_TERMS]; /**< terms of a batch of particles */
};

/** Make the arrays of a view of n particles, in the context's scratch memory; r and v are not set.
 *  @return KITH_OK, KITH_NO_MEMORY */
kith_status kith__flock_view_need(kith_ctx *ctx, int64_t n, struct kith__flock_view *view);

/** Add the terms of the centre of all particles of a view, one after the other.
 *  @param[in,out] sum  [KITH_CENTRE_TERMS] 0, or the sums over the particles before them */
void kith__flock_add_centre(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__flock_view *view, double *sum);

/** Set view->centre. @param n  number of particles of the whole flock */
void kith__flock_set_centre(const struct kith__question *q, const double *sum, int64_t n,
                            struct kith__flock_view *view);

/** Add the terms of the motion, as kith__flock_add_centre.
 *  @param[in,out] sum  [KITH_MOTION_TERMS] */
void kith__flock_add_motion(kith_ctx *ctx, const struct kith__question *q,
                            const struct kith__flock_view *view, double *sum);

/** Compute the order parameters of a flock of n particles.
 *  @param sum        of the motion of all particles
 *  @param pairs      pairs within the largest radius
 *  @param[out] out   the first `size` bytes are written */
void kith__flock_write_measures(const double *sum, int64_t n, int64_t pairs,
                                kith_flock_measures *out, size_t size);

/** Set the points of flock->question to the positions of `now`. */
void kith__flock_set_points(struct kith_flock *flock);

/** Operations that a backend offers. */
struct kith__flock_backend {
    /** Advance by `steps` steps. On the host, `now` and `next` are swapped after each. At the end
     *  flock->step is the number of steps done, and the points of flock->question are those of the
     *  state. After a failure the state is that of the last whole step. */
    kith_status (*step)(kith_ctx *ctx, struct kith_flock *flock, int64_t steps);
    /** Find what a step needs to know of the particles of this part. NULL: the backend does not
     *  step parts of flocks. */
    kith_status (*survey)(kith_ctx *ctx, const struct kith_flock *flock,
                          struct kith__flock_survey *out);
    /** Compute the next state of this part, for kith__flock_commit.
     *  @param survey     of all parts
     *  @param nth, of    it is step nth, from 0, of `of` steps of the call, for progress
     *  @param[out] lost  smallest index in the whole flock of a particle of this part that leaves
     *                    the range of numbers; INT64_MAX: none does */
    kith_status (*advance)(kith_ctx *ctx, struct kith_flock *flock,
                           const struct kith__flock_survey *survey, int64_t nth, int64_t of,
                           int64_t *lost);
    /** Copy the state to `now` on the host, for a backend that keeps it on a device; `next` is not
     *  allocated then. NULL: the state is always in `now`, on the host, and the backend computes
     *  `next`. */
    kith_status (*fetch)(kith_ctx *ctx, const struct kith_flock *flock);
    /** Copy coordinates from device memory to host memory, without the gaps of their stride. NULL:
     *  the backend has no device memory.
     *  @param points   one particle or more, in device memory
     *  @param[out] to  [dim][n], precision of the points */
    kith_status (*bring)(kith_ctx *ctx, const kith_points *points, int dim, void *to);
    /** Queue a copy of the state to device memory, in the caller's order. NULL: the backend has no
     *  device memory.
     *  @param positions, velocities  [n][3]; NULL: not wanted */
    kith_status (*read)(kith_ctx *ctx, struct kith_flock *flock, void *positions, void *velocities);
    /** Start to copy the subset flock->subset, which is not empty, to the host, and set subset.r
     *  and v to where the copy will be; NULL: the host copies it. */
    kith_status (*subset)(kith_ctx *ctx, struct kith_flock *flock);
    /** Wait until the copy has arrived, so that subset.r and v can be read; NULL: nothing to wait
     *  for. */
    kith_status (*wait_subset)(kith_ctx *ctx, struct kith_flock *flock);
    /** Free flock->device; NULL: there is none. */
    void (*forget)(struct kith_flock *flock);
};

extern const struct kith__flock_backend kith__cpu_flock, kith__cuda_flock;

#endif
