/* SPDX-License-Identifier: BSD-3-Clause
 *
 * THE SEAM. A backend is a const table of whole operations, chosen by name when a context opens.
 * Arguments arrive checked (question.h); a NULL operation is not offered.
 */
#ifndef KITH_BACKEND_H
#define KITH_BACKEND_H

#include "debye.h"
#include "halo.h"

/** What list is wanted: kith_pairs_options, checked. */
struct kith__list {
    bool full, sorted, unordered;
    kith_layout layout;
    unsigned extras;
    int64_t block_pairs;
};

/** What groups are wanted: kith_fof_options, checked. */
struct kith__fof {
    int64_t min_members, min_links;
    const int64_t *ids;
    const uint8_t *roles;
    const void *velocities;
    double velocity_length; /**< rounded to the precision */
};

/** Units of the pushes of pairs; see push.h. */
struct kith__push_units {
    double plain;  /**< 1 / unit of p, a power of 2 */
    double least2; /**< squared distance below which pairs are taken as that near */
    /** [bins + 1] e^dim / unit of p (e / r)^dim; of pairs below the first edge, then of bins. */
    const double *over;
};

/** What is counted by distance: kith_rdf_options, checked. Index 0 is of the points, 1 of the other
 *  set; where there is none, the same again. */
struct kith__rdf {
    int64_t bins;
    int32_t n_species, partials;
    bool linear;         /**< edges are r_min + k * width, but for rounding */
    bool nearest;        /**< only the nearest image counts, and there may be others in reach */
    double r_min, width; /**< of linear bins */
    const double *edges; /**< [bins + 1] */
    const void *edge2;   /**< [bins + 1] squares, precision of the points */
    const int32_t *species[2];
    const int32_t *molecules[2];
    const int64_t *bond_offsets;
    const int32_t *bonds;
    const double *weights[2];
    double weight_scale; /**< a power of 2 that brings every product of weights below 2^62 */
    int dim;
    const void *forces[2]; /**< [n][3] precision of the points; NULL: no pushes are wanted */
    double most_force;     /**< the sum of the largest components of both */
    struct kith__push_units push;
    int64_t *counts; /**< [partials][bins] zero; written on success alone */
    double *sums;    /**< [partials][bins] likewise; NULL without weights */
    double *pushes;  /**< [partials][2][bins + 1] likewise; NULL without forces */
};

/** Waves to sum: kith_waves, checked. */
struct kith__waves {
    int64_t n;
    const int32_t *hkl; /**< [n][3] */
    const int32_t *species;
    int32_t n_species;
    double *sums; /**< [n][n_species][2] */
};

/** Number of the partial of species a and b. */
KITH_FN int32_t kith__partial(int32_t n_species, bool cross, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b;
    const int32_t high = a < b ? b : a;
    return cross ? a * n_species + b : low * n_species - low * (low - 1) / 2 + high - low;
}

struct kith__overlap; /**< overlap.h */

struct kith__backend {
    const char *name; /**< what stands before the colon */

    /** Where lists in device memory get it; NULL: points and lists can only be in host memory. */
    const struct kith__memory *device_memory;

    /** Prepare ctx->state and ctx->name. @param variant  what stands behind the colon, or "".
     *  @return KITH_OK, KITH_INVALID (unknown variant), KITH_NO_BACKEND, KITH_NO_MEMORY. */
    kith_status (*open)(kith_ctx *ctx, const char *variant);
    void (*close)(kith_ctx *ctx);
    int64_t (*scratch_bytes)(const kith_ctx *ctx);

    /** End a call of what is below; NULL: there is nothing to end. @return the status, or what is
     *  behind it. */
    kith_status (*leave)(kith_ctx *ctx, kith_status status);

    kith_status (*pairs_count)(kith_ctx *ctx, const struct kith__question *question,
                               const struct kith__list *list, int64_t *n, int64_t *neighbours);
    /** grow: the arrays are the library's and may be allocated; otherwise the caller's, and
     *  KITH_CAPACITY with out->n set when they are too small. */
    kith_status (*pairs_fill)(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *list, bool grow, kith_pairs *out);
    kith_status (*pairs_each)(kith_ctx *ctx, const struct kith__question *question,
                              const struct kith__list *list, kith_block_fn fn, void *user);
    /** Queue only; points, list and result are in device memory. */
    kith_status (*pairs_enqueue)(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__list *list, const kith_pairs *out,
                                 int64_t *result);

    /** The question has parts whose particles are friends. labels [a.n] are the library's. */
    kith_status (*fof_find)(kith_ctx *ctx, const struct kith__question *question,
                            const struct kith__fof *fof, kith_groups *out);

    /** Measure groups: look at all particles, then fill out->halo [members->groups], which is where
     *  out->memory says; not the spheres. The input is in the memory of the points. */
    kith_status (*halos_measure)(kith_ctx *ctx, const struct kith__question *question,
                                 const struct kith__members *members, kith_halos *out);

    /** The question's cutoff is the last edge. */
    kith_status (*rdf_count)(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__rdf *rdf);

    /** Count all pairs of different replicas. */
    kith_status (*overlap_count)(kith_ctx *ctx, const struct kith__overlap *overlap);

    /** The question has no cutoff. */
    kith_status (*waves_sum)(kith_ctx *ctx, const struct kith__question *question,
                             const struct kith__waves *waves);

    /** Sum over the pairs of a cluster. */
    kith_status (*debye_sum)(kith_ctx *ctx, const struct kith__debye *debye);

    /** Go `steps` further: after each, the states have changed places, flock->step is one more and
     *  kith__flock_aim was called. On failure `now` and step are those of the last whole step. */
    kith_status (*flock_step)(kith_ctx *ctx, struct kith_flock *flock, int64_t steps);
    /** Bring the state to `now`, before the host reads it; NULL: it is always there, and in `next`
     *  while a step is under way, which no other backend needs. */
    kith_status (*flock_fetch)(kith_ctx *ctx, const struct kith_flock *flock);
    /** Begin to copy those in flock->glance, as they are; NULL: the host does it. */
    kith_status (*flock_glance)(kith_ctx *ctx, struct kith_flock *flock);
    /** Wait until they are there; sets glance.r and v. NULL: they are. */
    kith_status (*flock_glanced)(kith_ctx *ctx, struct kith_flock *flock);
    /** Free flock->device; NULL: there is none. */
    void (*flock_forget)(struct kith_flock *flock);
};

extern const struct kith__backend kith__cpu_backend;
extern const struct kith__backend kith__cuda_backend;

/** What every call of an operation goes through. */
static inline kith_status kith__leave(kith_ctx *ctx, kith_status status)
{
    return ctx->backend->leave ? ctx->backend->leave(ctx, status) : status;
}

/** Where arrays that the caller wants there get their memory. */
const struct kith__memory *kith__memory_of(const kith_ctx *ctx, kith_memory where);

/** Choose by name and open; sets ctx->backend. */
kith_status kith__backend_open(kith_ctx *ctx, const char *name);

#endif
