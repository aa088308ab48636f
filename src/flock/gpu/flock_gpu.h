/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the kernels of flocks share with the host.
 *
 * A flock stands in device memory in the order of the cells (`here`). A step takes it to `there`,
 * particle by particle, in the same places; and then back to `here`, each to its new cell.
 */
#ifndef KITH_GPU_FLOCK_H
#define KITH_GPU_FLOCK_H

#include "flock/flock.h"
#include "engine/gpu/gpu_sweep.h"

/** Particles in device memory. A record has four numbers of the precision. */
struct kith__gpu_herd {
    void *r; /**< [n] x, y, z, and the index in the caller's order */
    void *v; /**< [n] x, y, z; there: and the place in the new cell; here: and the cell, as it is
                  if all its neighbours are in the box, else ~cell */
};

enum { KITH_GPU_NOBODY = INT32_MAX, KITH_GPU_FLOCK_BEHIND = 4 /* records behind a herd */ };

/** How numbers become integers. */
struct kith__gpu_ruler {
    double inverse; /**< 1 / unit */
    float narrow; /**< the same where it is a float and all products with it fit 32 bits; else 0 */
    bool plain;   /**< they are within 2^50 */
};

/** What changes from step to step, in device memory. */
struct kith__gpu_turn {
    int64_t step;                  /**< steps done */
    unsigned long long fastest[2]; /**< bits of the largest component of a velocity there: of this
                                        turn and, 0, of the next; then they change places */
    int32_t at_rim[2];             /**< likewise, particles on the list of the rim */
    double velocity_unit;
    struct kith__gpu_ruler velocities;
    int32_t lost; /**< first particle that went where numbers end; else KITH_GPU_NOBODY, */
    bool stopped; /**< and whether the turn is over: no later one does anything */
};

/** What a predator goes for. */
struct kith__gpu_prey {
    unsigned long long distance; /**< bits of a double */
    int32_t id, slot;            /**< of equally near ones the smallest index */
};

enum kith__gpu_arrangement {
    KITH_GPU_AS_IT_IS, /**< no rule looks at others */
    KITH_GPU_COUNTED,  /**< by counting cells: all are in a table, the same at every step */
    KITH_GPU_SORTED    /**< by the sorted keys of a search */
};

/** How a step is made. */
enum kith__gpu_way { KITH_GPU_FLY, KITH_GPU_NEAR, KITH_GPU_TILES };

struct kith__gpu_flight {
    struct kith__gpu_sweep sweep; /**< grid.a is what finds the particles of a cell */
    struct kith__flock_rules rules;
    enum kith__gpu_arrangement order;
    struct kith__gpu_herd here, there;
    uint32_t *count; /**< [cells + 1] particles of each cell there, and 0; KITH_GPU_COUNTED */
    int32_t *rim;    /**< [n] slots of those in cells near the box's faces; KITH_GPU_COUNTED */
    int64_t entries; /**< of the table, or 0 */
    struct kith__axis axis[3]; /**< KITH_GPU_COUNTED: of the cells */
    struct kith__gpu_turn *turn;
    int side; /**< of turn->fastest; that of turn->at_rim when particles are arranged */
    double offset_unit;
    struct kith__gpu_ruler offsets;
    int32_t row[3][3];         /**< of the box, in units */
    double square[KITH_RULES]; /**< radius^2 by the definition */
    float unit;                /**< 1 / cutoff */
    double blur, own_blur;     /**< what the definition may round, of cutoff^2: at images, else */
    float beyond[KITH_RULES];  /**< 1 - radius^2 / cutoff^2; large where a rule is off */
    bool usual;                /**< alignment and cohesion reach as far as any rule */
    enum kith__gpu_way way;
};

#ifdef __cplusplus
extern "C" {
#endif

/** Particles came there from elsewhere: find the fastest, count the cells. */
gpuError_t kith__gpu_flock_enter(const struct kith__gpu_flight *flight, gpuStream_t stream);

/** Take everybody from there to here, and clear the counts for the next turn. A step is over if
 *  `stepped`. */
gpuError_t kith__gpu_flock_arrange(const struct kith__gpu_flight *flight, bool stepped,
                                   gpuStream_t stream);

/** One step: take everybody there. flight->way says which of them can and should; fly can all. */
gpuError_t kith__gpu_flock_near(const struct kith__gpu_flight *flight, gpuStream_t stream);
gpuError_t kith__gpu_flock_tiles(const struct kith__gpu_flight *flight, gpuStream_t stream);
gpuError_t kith__gpu_flock_fly(const struct kith__gpu_flight *flight, gpuStream_t stream);

/** Find who is nearest to a place, here. prey: device memory. Its slot leads to it. */
gpuError_t kith__gpu_flock_hunt(const struct kith__gpu_flight *flight, const double place[3],
                                struct kith__gpu_prey *prey, gpuStream_t stream);

/** Those of a herd that are chosen, to r [chosen][3] and v behind it, which has no gap. */
struct kith__gpu_glimpse {
    struct kith__gpu_herd herd;
    int64_t n, chosen;
    const int32_t *rank; /**< [n] the place of each index in the choice, or -1 */
    void *to;
    bool single; /**< precision */
};
gpuError_t kith__gpu_flock_gather(const struct kith__gpu_glimpse *glimpse, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
