/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flocks in device memory: what kernels share with the host. All arrays are in device memory.
 *
 * The state is `here`, in the order of cells. A step computes the next state `there`, each particle
 * in its old entry, and then moves all particles back to `here`, each to its new cell: it arranges
 * them. The rim are the cells that have, within their reach, cells beyond a face of the box, so
 * that candidates may be images. The functions of this file launch kernels: they queue on the
 * stream and return the run time's error code.
 */
#ifndef KITH_GPU_FLOCK_H
#define KITH_GPU_FLOCK_H

#include "flock/flock.h"
#include "engine/gpu/gpu_sweep.h"

/** State of all particles, in records (engine/gpu/record.cuh): three components in the flock's
 *  precision, and an integer of the size of one. KITH_GPU_FLOCK_BEHIND records follow the [n]
 *  of each array. */
struct kith__gpu_flock_state {
    void *r; /**< [n] x, y, z, and the index in the caller's order */
    void *v; /**< [n] velocity x, y, z, and an integer. In `there` it is the rank of the particle
                  within its new cell, 0 without a table of cells; in `here`, where cells stay from
                  step to step (KITH_GPU_COUNTED), the number of its cell, or ~cell at the rim */
};

enum {
    KITH_GPU_NO_PARTICLE = INT32_MAX, /**< kith__gpu_flock_progress.lost: no particle is lost */
    KITH_GPU_FLOCK_BEHIND = 4 /**< records after the end of a state's arrays that kernels may read,
                                   and ignore: flock_near.cu reads 4 candidates at a time */
};

/** Conversion of coordinates or velocities to integers of a unit, modulo 2^32. */
struct kith__gpu_quantizer {
    double inverse; /**< 1 / unit */
    float narrow;   /**< 1 / unit in float, by which floats are converted without double arithmetic:
                         exact, as the unit is a power of 2. 0 when 1 / unit may not be a normal
                         float, or when a product might not fit 32 bits: then `inverse` is used */
    bool plain;     /**< all numbers are within 2^50 units, as kith__flock_round_near needs */
};

/** State that changes from step to step; in device memory. */
struct kith__gpu_flock_progress {
    int64_t step;                  /**< steps done */
    unsigned long long fastest[2]; /**< bits of the largest absolute velocity component in `there`,
                                        a double: not negative, so that their order as integers,
                                        by which atomicMax works, is that of the numbers. Element
                                        kith__gpu_flock_step.side is of this step; the other is 0,
                                        for the next step */
    int32_t at_rim[2];             /**< length of the list of the rim: element
                                        kith__gpu_flock_step.side counts the list that arranging the
                                        particles after this step makes; the other has the length of
                                        the present list */
    double velocity_unit;          /**< unit of velocities in sums [length / time] */
    struct kith__gpu_quantizer velocities; /**< from velocities to units */
    int32_t lost; /**< smallest index of a particle that left the range of numbers; else
                       KITH_GPU_NO_PARTICLE */
    bool stopped; /**< a particle was lost: all later kernels exit early, so that `here` stays the
                       state before the step */
};

/** Nearest particle to a predator. */
struct kith__gpu_prey {
    unsigned long long distance; /**< bits of the distance, a double [length] */
    int32_t id, slot; /**< index, the smallest of equally near particles; and entry in `here` */
};

/** Order of particles in `here`. */
enum kith__gpu_arrangement {
    KITH_GPU_AS_IT_IS, /**< any order: all rules are off */
    KITH_GPU_COUNTED,  /**< by counting sort into a table of cells that stays from step to step */
    KITH_GPU_SORTED    /**< by the sorted keys of a grid that is built at each step */
};

/** Kernel that makes a step. */
enum kith__gpu_way {
    KITH_GPU_EACH, /**< any rules and order: one thread for each particle (flock_gpu.cu) */
    KITH_GPU_NEAR, /**< few neighbours: threads that record hits as bit masks (flock_near.cu) */
    KITH_GPU_TILES /**< many neighbours: matrix unit (flock_tiles.cu) */
};

/** Everything that the kernels of a step need. */
struct kith__gpu_flock_step {
    struct kith__gpu_sweep sweep;   /**< its grid: question, plan of the cells, and in
                                             grid.a.start the first entry of each cell in `here` */
    struct kith__flock_rules rules; /**< checked options */
    /** [n] species of the particles, in the caller's order; NULL: there are none */
    const uint8_t *species;
    /** [n_species][n_species]: how the first species heeds the second; NULL: no species */
    const struct kith__flock_heed *heed;
    enum kith__gpu_arrangement order;   /**< order of particles in `here` */
    struct kith__gpu_flock_state here;  /**< state at the current step */
    struct kith__gpu_flock_state there; /**< next state, before it is arranged */
    uint32_t *count; /**< [cells + 1] particles of each cell in `there`, and 0; KITH_GPU_COUNTED */
    int32_t *rim;    /**< [n] entries, in `here`, of the particles at the rim, in any order;
                          KITH_GPU_COUNTED */
    int64_t entries; /**< cells + 1; 0 when there is no table */
    struct kith__axis axis[3];                 /**< axes of the cells; KITH_GPU_COUNTED */
    struct kith__gpu_flock_progress *progress; /**< state that changes from step to step */
    int side;           /**< 0 or 1, and the other one after each arranging: element of
                             progress->fastest that this step sets, and of progress->at_rim that
                             arranging its result sets */
    double offset_unit; /**< unit of offsets in sums; 0: the arguments are not prepared [length] */
    struct kith__gpu_quantizer offsets; /**< from coordinates to units */
    int32_t row[3][3];                  /**< rows of the box, modulo 2^32 [units] */
    double square[KITH_RULES];          /**< radius^2, rounded as in the definition of a pair
                                             [length^2] */
    float unit;                         /**< 1 / cutoff [1 / length] */
    double blur;     /**< error bound of the definition's r^2 / cutoff^2, for images */
    double own_blur; /**< error bound of the definition's r^2 / cutoff^2, for candidates that are no
                          images */
    float beyond[KITH_RULES]; /**< 1 - radius^2 / cutoff^2: added to r^2 / cutoff^2 - 1, it gives a
                                   number below 0 for neighbours within the radius (find_hits in
                                   flock_tile.cuh); 1e30 when the rule is off, so that there are
                                   none [cutoff^2] */
    bool usual;               /**< alignment and cohesion have the largest radius, and separation is
                                   on */
    enum kith__gpu_way way;   /**< kernel of the step */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Start with particles that the host has written to `there`: find the largest absolute component
 *  of a velocity, count the particles of each cell, and store the rank of each particle in its
 *  cell. */
gpuError_t kith__gpu_flock_enter(const struct kith__gpu_flock_step *step, gpuStream_t stream);

/** Move all particles from `there` to `here`, list those at the rim, set the unit of velocities for
 *  the next step, and clear its counts. Does nothing after a particle was lost but to set
 *  progress->stopped.
 *  @param stepped  `there` is the result of a step: progress->step is incremented */
gpuError_t kith__gpu_flock_arrange(const struct kith__gpu_flock_step *step, bool stepped,
                                   gpuStream_t stream);

/** Compute the next state in `there`, with few neighbours: step->way must be KITH_GPU_NEAR. */
gpuError_t kith__gpu_flock_near(const struct kith__gpu_flock_step *step, gpuStream_t stream);
/** Compute the next state in `there`, with many neighbours: step->way must be KITH_GPU_TILES. */
gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flock_step *step, gpuStream_t stream);
/** Compute the next state in `there`, for any rules and order. */
gpuError_t kith__gpu_flock_each(const struct kith__gpu_flock_step *step, gpuStream_t stream);

/** Find the particle of `here` that is nearest to a position.
 *  @param place      the position [length]
 *  @param[out] prey  in device memory */
gpuError_t kith__gpu_flock_find_prey(const struct kith__gpu_flock_step *step, const double place[3],
                                     struct kith__gpu_prey *prey, gpuStream_t stream);

/** Arguments of a subset read. */
struct kith__gpu_subset_read {
    struct kith__gpu_flock_state state; /**< the state */
    int64_t n;                          /**< particles of the state */
    const int32_t *rank; /**< [n] by the caller's index: number of the particle in the subset, or
                              -1. NULL: all particles, numbered by their index */
    void *r, *v;         /**< [particles of the subset][3], receive positions and velocities; NULL:
                              not wanted */
    bool single;         /**< the precision is float */
};
/** Copy the particles of a subset to read->r and v. */
gpuError_t kith__gpu_flock_gather(const struct kith__gpu_subset_read *read, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
