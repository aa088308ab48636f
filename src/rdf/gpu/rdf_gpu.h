/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pair distances in device memory. The functions here launch kernels: they queue on
 * the stream and return the run time's error code. All arrays are in device memory.
 */
#ifndef KITH_GPU_RDF_H
#define KITH_GPU_RDF_H

#include "rdf/counter.h"
#include "engine/pieces.h"
#include "engine/gpu/gpu_sweep.h"
#include "engine/gpu/systems.h"

enum {
    KITH_GPU_EDGE_CELLS = 8192, /**< cells of the table for bins that are not linear */
    KITH_GPU_PIECE = 2048,      /**< particles of a, held in the registers of one block */
    KITH_GPU_MOST_COPIES = 32   /**< one copy for each lane: no two lanes add to one counter */
};

/** Tables from distances to counters. */
struct kith__gpu_scale {
    struct kith__rdf rdf; /**< what is counted; its arrays are in device memory */
    bool cross;           /**< there are two sets */
    bool plain;           /**< every pair counts, and there are no weights */

    /** Linear bins from 0: with r^2 in units of 1 / inverse2, the bin is floor(sqrt(r^2) factor) if
     *  that is equal for factor[0] and factor[1]; else the edge between decides. */
    bool rooted;
    double reach;    /**< half a bin beyond the last one, to which distances are clamped [length] */
    double inverse2; /**< 1 in float, 1 / reach^2 in double [1 / length^2] */
    float beyond;    /**< reach^2 in units of 1 / inverse2 */
    float factor[2]; /**< bins per unit of the root, less and plus the error bound */

    /** Other bins: floor(r^2 * per_cell) is a cell of the table; r^2 in units of 1 / inverse2. */
    float per_cell;
    /** [KITH_GPU_EDGE_CELLS + 1] number of edges below a cell with at most one edge; -1: the cell
     *  has several edges. */
    int32_t *first;
    bool wild; /**< floats do not separate the bins: r^2 is compared with the edges */

    unsigned long long *counts; /**< [partials][bins] pairs */
    unsigned long long *sums; /**< [2][partials][bins] products of weights, low words, then high */
    /** [2][partials][2][bins + 1] pair-force sums, low words, then high. */
    unsigned long long *force_sums;
    void *forces[2]; /**< [n][3] forces by slot */
    int copies; /**< copies of a block's counters in shared memory, a power of 2; 0: they do not
                     fit, and pairs are counted in device memory */
};

/** A set of particles, sorted by species. */
struct kith__gpu_ranked {
    void *positions;   /**< [n][4] x, y, z wrapped, and padding, in the points' precision
                            [length] */
    const int32_t *id; /**< [n] caller's index of each */
    const struct kith__piece *piece; /**< [pieces] */
    int32_t pieces;                  /**< number of pieces */
};

/** All pairs under minimum image. A task is a piece of a with a part of a piece of b. */
struct kith__gpu_nearest {
    struct kith__gpu_scale scale;   /**< from distances to counters */
    struct kith__question question; /**< points and box */
    struct kith__gpu_ranked a, b;   /**< the sets; b equals a when there is one */
    int parts;                      /**< parts into which pieces of b are divided */
    int64_t begin, end;             /**< tasks of one launch */
    unsigned *next;                 /**< work counter: tasks taken */
    int blocks;                     /**< number of blocks that fill the device */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Number of copies, a power of 2, of n counters in a block's shared memory: as many as fit
 *  `wanted` bytes; 1 when one fits `most` bytes alone; 0 when none does. */
int kith__gpu_choose_copies(int64_t n, int64_t wanted, int64_t most);

/** Shared memory of a block of the sweep beside its counters [bytes]. */
size_t kith__gpu_tally_static_bytes(void);
/** Shared memory of a block of the all-pairs kernel beside its counters [bytes]. */
size_t kith__gpu_nearest_static_bytes(void);

/** Return true when the sweep counts pairs one by one: pairs may be excluded or have weights, or
 *  the counters are in device memory. */
bool kith__gpu_counts_one_by_one(const struct kith__gpu_scale *scale);

/** Blocks of the sweep that a multiprocessor is meant to hold. */
int kith__gpu_tally_blocks(void);
/** Blocks of the all-pairs kernel that a multiprocessor is meant to hold. */
int kith__gpu_nearest_blocks(void);

/** Fill scale->first from the edges. */
gpuError_t kith__gpu_edge_cells(const struct kith__gpu_scale *scale, const struct kith__question *q,
                                gpuStream_t stream);

/** Count the pairs of a sweep. */
gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream);

/** Copy the forces on set 0 (a) or 1 (b) to the order of slots. */
gpuError_t kith__gpu_sort_forces(const struct kith__gpu_grid *grid, int which, const void *from,
                                 void *to, gpuStream_t stream);

/** Count the pairs of a sweep, and add their pair-force sums; forces are by slot.
 *  @param most  shared memory that a block may have [bytes] */
gpuError_t kith__gpu_force_sums(const struct kith__gpu_sweep *sweep, struct kith__gpu_scale *scale,
                                size_t most, gpuStream_t stream);

/** Count the pairs of all systems of a batch: each unordered pair of one set once.
 *  @param[out] counts  [bins] the numbers; cleared by the caller */
gpuError_t kith__gpu_tally_batch(const struct kith__gpu_batch_sweep *sweep,
                                 const struct kith__rdf *rdf, unsigned long long *counts,
                                 gpuStream_t stream);

/** Write the positions of set 0 (a) or 1 (b). */
gpuError_t kith__gpu_write_positions(const struct kith__gpu_nearest *all, int set,
                                     gpuStream_t stream);

/** Count the pairs of tasks [begin, end). */
gpuError_t kith__gpu_tally_nearest(const struct kith__gpu_nearest *all, gpuStream_t stream);

/** kith__rdf_backend.count_batch (rdf_batch_gpu.c). */
kith_status kith__gpu_count_frames(kith_ctx *ctx, const struct kith__batch *batch,
                                   const struct kith__rdf *rdf);

#ifdef __cplusplus
}
#endif

#endif
