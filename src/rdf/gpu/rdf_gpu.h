/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances in device memory. The functions that take a stream launch kernels:
 * they queue on it and return the run time's error code. All arrays are in device memory.
 */
#ifndef KITH_GPU_RDF_H
#define KITH_GPU_RDF_H

#include "rdf/counter.h"
#include "engine/pieces.h"
#include "engine/gpu/gpu_sweep.h"
#include "engine/gpu/systems.h"

enum {
    KITH_GPU_EDGE_CELLS = 8192, /**< cells of the table for bins that are not linear */
    KITH_GPU_PIECE = 2048,    /**< most particles of a piece: a thread block of the all-pairs kernel
                                     holds one piece in its registers */
    KITH_GPU_MOST_COPIES = 32 /**< one copy for each lane: no two lanes add to one counter */
};

/** Tables from distances to counters. Here bin k has counter k (not k + 1, as in rdf/counter.h):
 *  distances in no bin have none. */
struct kith__gpu_scale {
    struct kith__rdf rdf; /**< what is counted; its arrays are in device memory */
    bool cross;           /**< there are two sets */
    bool plain;           /**< no pair is excluded, and there are no weights */

    /** Linear bins from 0: with r^2 in units of 1 / inverse2, the bin is floor(sqrt(r^2) factor) if
     *  that is equal for factor[0] and factor[1]; else the edge between decides. */
    bool rooted;
    /** If rooted: half a bin beyond the last one, to which distances are clamped; else the cutoff
     *  [length]. */
    double reach;
    /** Factor of r^2 before it is rounded to float: 1 / reach^2 for points in double
     *  [1 / length^2]; 1 for points in float. */
    double inverse2;
    float beyond;    /**< reach^2 in units of 1 / inverse2 */
    float factor[2]; /**< bins per unit of sqrt(r^2 inverse2), less and plus the error bound */

    /** Other bins: floor(r^2 * per_cell) is a cell of the table; r^2 in units of 1 / inverse2. */
    float per_cell;
    /** [KITH_GPU_EDGE_CELLS + 1] number of edges below a cell with at most one edge; -1: the cell
     *  has several edges, and r^2 is compared with the edges. */
    int32_t *first;
    bool wild; /**< floats do not separate the bins: r^2 is compared with the edges */

    unsigned long long *counts; /**< [partials][bins] pairs */
    /** [2][partials][bins] sums of products of weights [1 / weight_scale], integers of 128 bits:
     *  the low words of all, then the high words. NULL without weights. */
    unsigned long long *sums;
    /** [2][partials][2][bins + 1] pair-force sums in fixed point (kith__force_sum_at), integers of
     *  128 bits: the low words of all, then the high words. Unused without forces. */
    unsigned long long *force_sums;
    void *forces[2]; /**< [n][3] forces on each set, by slot, in the points' precision [force] */
    int copies; /**< copies of a thread block's counters in shared memory, a power of 2; 0: they do
                     not fit, and pairs are counted in device memory */
};

/** A set of particles, sorted by species. A particle's number by species is its position in that
 *  order. */
struct kith__gpu_ranked {
    void *positions;   /**< [n][4] x, y, z wrapped, and padding, in the points' precision
                            [length] */
    const int32_t *id; /**< [n] caller's index of each */
    const struct kith__piece *piece; /**< [pieces] at most KITH_GPU_PIECE particles of one species
                                          each */
    int32_t pieces;                  /**< number of pieces */
};

/** All pairs under minimum image: only the nearest image of a pair counts. A task is the pairs of a
 *  piece of a with a part of a piece of b: piece p, and part k of piece q, are task
 *  (p * b.pieces + q) * parts + k. */
struct kith__gpu_nearest {
    struct kith__gpu_scale scale;   /**< from distances to counters */
    struct kith__question question; /**< points and box */
    struct kith__gpu_ranked a, b;   /**< the sets; b equals a when there is one */
    int parts;                      /**< parts into which each piece of b is divided, so that there
                                         are enough tasks for all blocks */
    int64_t begin, end;             /**< tasks of one launch */
    unsigned *next;                 /**< work queue counter: tasks of the launch that are claimed */
    int blocks;                     /**< thread blocks to launch: as many as fill the device */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Return the number of copies, a power of 2, of n counters of 32 bits in a thread block's shared
 *  memory: as many as fit `wanted` bytes, up to KITH_GPU_MOST_COPIES; 1 when a single one fits
 *  `most` bytes alone; 0 when none does. */
int kith__gpu_choose_copies(int64_t n, int64_t wanted, int64_t most);

/** Return an upper bound on the shared memory of a thread block of the sweep beside its counters
 *  [bytes]. */
size_t kith__gpu_tally_static_bytes(void);
/** Return an upper bound on the shared memory of a thread block of the all-pairs kernel beside its
 *  counters [bytes]. */
size_t kith__gpu_nearest_static_bytes(void);

/** Return true when the sweep counts pairs one by one: pairs may be excluded or have weights, the
 *  counters are in device memory, or floats do not separate the bins. */
bool kith__gpu_counts_one_by_one(const struct kith__gpu_scale *scale);

/** Return how many thread blocks of the sweep a multiprocessor is meant to hold. */
int kith__gpu_tally_blocks(void);
/** Return how many thread blocks of the all-pairs kernel a multiprocessor is meant to hold. */
int kith__gpu_nearest_blocks(void);

/** Fill the table scale->first from the edges scale->rdf.edge2. */
gpuError_t kith__gpu_edge_cells(const struct kith__gpu_scale *scale, const struct kith__question *q,
                                gpuStream_t stream);

/** Count the pairs of a sweep: add them to scale->counts, and products of their weights to
 *  scale->sums. */
gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream);

/** Copy the forces on a set to the order of slots, that of the cells of the grid.
 *  @param which  0: set a; 1: set b
 *  @param from   [n][3] forces in the caller's order, in the points' precision
 *  @param to     [n][3] forces by slot */
gpuError_t kith__gpu_sort_forces(const struct kith__gpu_grid *grid, int which, const void *from,
                                 void *to, gpuStream_t stream);

/** Count the pairs of a sweep, and add their pair-force sums to scale->force_sums.
 *  @param scale  scale->rdf.forces are by slot; copies is set here, to 0 or 1
 *  @param most   shared memory that a thread block may have [bytes] */
gpuError_t kith__gpu_force_sums(const struct kith__gpu_sweep *sweep, struct kith__gpu_scale *scale,
                                size_t most, gpuStream_t stream);

/** Count the pairs of all systems of a batch together: each unordered pair of one set once.
 *  @param rdf             what is counted; edge2 and species are in device memory
 *  @param[in,out] counts  [partials][bins] pairs are added; zero before */
gpuError_t kith__gpu_tally_batch(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rdf *rdf, unsigned long long *counts,
                                 gpuStream_t stream);

/** Write all->a.positions (set 0) or all->b.positions (set 1), by all->question. */
gpuError_t kith__gpu_write_positions(const struct kith__gpu_nearest *all, int set,
                                     gpuStream_t stream);

/** Count the pairs of tasks [all->begin, all->end), in all->scale.counts. Resets *all->next. */
gpuError_t kith__gpu_tally_nearest(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** kith__rdf_backend.count_batch (rdf_batch_gpu.c). */
kith_status kith__gpu_count_frames(kith_ctx *ctx, const struct kith__batch *batch,
                                   const struct kith__rdf *rdf);

#ifdef __cplusplus
}
#endif

#endif
