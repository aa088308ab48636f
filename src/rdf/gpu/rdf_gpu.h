/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of distances in device memory. Launchers queue on the stream and return the run-time's
 * error code.
 */
#ifndef KITH_GPU_RDF_H
#define KITH_GPU_RDF_H

#include "rdf/counter.h"
#include "engine/pieces.h"
#include "engine/gpu/gpu_sweep.h"

enum {
    KITH_GPU_EDGE_CELLS = 8192, /**< of the table for bins that are not linear */
    KITH_GPU_PIECE = 2048,      /**< particles that a block holds in registers */
    KITH_GPU_MOST_COPIES = 32   /**< one a lane: no two then meet */
};

/** From distances to counters. All arrays are in device memory. */
struct kith__gpu_scale {
    struct kith__rdf rdf;
    bool cross;
    bool plain; /**< every pair counts, and without weights */

    /** Linear bins from 0: with r2 in units of 1 / inverse2, the bin is sqrt(r2) * factor rounded
     *  down, if that is the same for [0] and [1]; else look at the edge between. */
    bool rooted;
    double reach;    /**< half a bin beyond the last one: what is further is taken to be there */
    double inverse2; /**< 1 in float, in double 1 / reach^2 */
    float beyond;    /**< reach^2 in these units */
    float factor[2];

    /** Other bins: r2 * per_cell is the number of a cell, with the edges before it and none or one
     *  in it; or -1, where there are several. */
    float per_cell;
    int32_t *first; /**< [KITH_GPU_EDGE_CELLS + 1] */
    bool wild;      /**< floats do not tell one bin from another: look at the edges */

    unsigned long long *counts; /**< [partials][bins] */
    unsigned long long *sums;   /**< [2][partials][bins] low words, then high ones */
    unsigned long long *pushes; /**< [2][partials][2][bins + 1] likewise */
    void *forces[2];            /**< room for forces in the order of the cells */
    int copies;                 /**< of a block's counters in its shared memory, a power of 2; 0:
                                     they do not fit, count in device memory */
};

/** A set sorted by species, in device memory. */
struct kith__gpu_ranked {
    void *place;       /**< [n] 4 reals: x, y, z, wrapped, and nothing */
    const int32_t *id; /**< [n] the caller's index */
    const struct kith__piece *piece;
    int32_t pieces;
};

/** All pairs under minimum image. */
struct kith__gpu_nearest {
    struct kith__gpu_scale scale;
    struct kith__question question; /**< with points in device memory */
    struct kith__gpu_ranked a, b;   /**< b is a unless there are two sets */
    int parts;                      /**< into which pieces of b are divided */
    int64_t begin, end;             /**< tasks: a piece of a with a part of one of b */
    unsigned *next;                 /**< counts the tasks taken */
    int blocks;                     /**< that fill the device */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Copies, a power of 2, of n counters in a block's shared memory: as many as `wanted` bytes hold,
 *  one where `most` hold no more, 0 where not even that. */
int kith__gpu_choose_copies(int64_t n, int64_t wanted, int64_t most);

/** Shared memory of the kernels beside the counters [bytes]. */
size_t kith__gpu_tally_static_bytes(void);
size_t kith__gpu_nearest_static_bytes(void);

/** Whether pairs are counted one by one: so that each can be left out, weighed, or counted in
 *  device memory. */
bool kith__gpu_is_careful(const struct kith__gpu_scale *scale);

/** Blocks of the kernels that a multiprocessor is meant to hold. */
int kith__gpu_tally_blocks(void);
int kith__gpu_nearest_blocks(void);

/** Fill scale->first from the edges. */
gpuError_t kith__gpu_edge_cells(const struct kith__gpu_scale *scale, const struct kith__question *q,
                                gpuStream_t stream);

/** Count the pairs of a sweep. */
gpuError_t kith__gpu_tally(const struct kith__gpu_sweep *sweep, const struct kith__gpu_scale *scale,
                           gpuStream_t stream);

/** Write the forces on set 0 (a) or 1 (b) in the order of the cells. */
gpuError_t kith__gpu_place_forces(const struct kith__gpu_grid *grid, int which, const void *from,
                                  void *to, gpuStream_t stream);

/** Count them and sum their pushes; forces are in the order of the cells.
 *  @param most  bytes of shared memory that a block may have */
gpuError_t kith__gpu_push(const struct kith__gpu_sweep *sweep, struct kith__gpu_scale *scale,
                          size_t most, gpuStream_t stream);

/** Write the places of set 0 (a) or 1 (b). */
gpuError_t kith__gpu_place(const struct kith__gpu_nearest *all, int set, gpuStream_t stream);

/** Count the pairs of tasks [begin, end). */
gpuError_t kith__gpu_tally_nearest(const struct kith__gpu_nearest *all, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
