/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The particles of a batch, many systems in one call (kith_batch), in device memory: those of each
 * system are sorted by the cells of that system, which follow those of the systems before it. So
 * one sort, and one sweep, serve systems of all sizes: a small system is one cell. It is built
 * without waiting for the host.
 *
 * All functions queue their work on a stream and return the run-time library's error code.
 */
#ifndef KITH_GPU_SYSTEMS_H
#define KITH_GPU_SYSTEMS_H

#include "engine/cells.h"
#include "gpu.h"
#include "gpu_grid.h"

enum {
    KITH_GPU_ONE_CELL = 64, /**< systems of up to so many particles are one cell */
    KITH_GPU_CELL_FILL = 8  /**< other systems have at most one cell for so many particles */
};

/** What is wrong with a system, beside its box (engine/box.h). */
enum {
    KITH_SYSTEM_NOT_FINITE = 32, /**< a coordinate is not finite; + 1: of set b */
    KITH_SYSTEM_FAR = 34         /**< a particle is too far outside; + 1: of set b */
};

/** What is wrong with the offsets. */
enum {
    KITH_OFFSETS_FIRST = 1, /**< the first is not 0 */
    KITH_OFFSETS_DESCEND,   /**< one is less than the one before it */
    KITH_OFFSETS_LAST       /**< the last is not the number of particles */
};

/** One system; in device memory. */
struct kith__gpu_system {
    struct kith__lattice_d box_d; /**< box of the system, in double */
    struct kith__lattice_f box_f; /**< box of the system, rounded to float */
    double height[3];             /**< kith__question.height */
    double period_sum;            /**< kith__question.period_sum */
    double definition_error; /**< bound on the rounding error of r^2 / cutoff^2 in the definition
                                  of a pair */
    float span;      /**< largest length of the box along a periodic axis [cutoff]; negative in a
                          triclinic or very long box, where candidates must not be moved to images
                          in float arithmetic */
    float length[3]; /**< length of the box along each axis, where it is orthorhombic [cutoff] */
    int images[3];   /**< with one_cell: images in reach on each side of the box; 0 along open
                          axes */
    struct kith__axis axis[3]; /**< cells of the system along each row of the box */
    bool one_cell;             /**< the system is a single cell */
    int64_t first_cell;        /**< number of the system's first cell in the batch */
    int fault;                 /**< what is wrong with the box (engine/box.h); 0: nothing */
};

/** Small data about the batch, in device memory, copied to the host as a whole. */
struct kith__gpu_batch_small {
    unsigned long long offsets_failed; /**< 0: offsets are good; else the inverted bits of set << 40
                                            | index << 4 | what is wrong, the smallest */
    unsigned long long failed; /**< 0: all systems are good; else the inverted bits of system << 8 |
                                    what is wrong, the smallest */
    int64_t most;              /**< particles of the largest system, in set a or set b */
    int64_t total;             /**< number of pairs, of a sweep that counts them */
    int64_t detail;            /**< after a failure: index of the particle in its system, or the
                                    offset */
    int64_t expected;          /**< after a failure of an offset: the offset before it */
    unsigned long long refused; /**< 0, or the inverted number of the first system that the running
                                     question cannot answer; set by its kernels */
    int32_t wrapped;            /**< as kith__bounds.wrapped */
    int32_t far_images; /**< 1: images in reach of a system are too many for images_pack() */
    unsigned next;      /**< work queue counter of the sweep */
};

/** A batch, in device memory. */
struct kith__gpu_systems {
    struct kith__question question; /**< the question of all systems, with points in device memory;
                                         its box is that of all where `boxes` is NULL */
    int64_t n;                      /**< number of systems */
    const int64_t *first_a;         /**< [n + 1] first particle of each system in set a */
    const int64_t *first_b; /**< [n + 1] first particle of each system in set b; first_a for one
                                 set */
    const kith_box *boxes;  /**< [n] boxes as given; NULL: one box for all */
    struct kith__gpu_batch_small *small; /**< small data; zero at the beginning */
    struct kith__gpu_bounds *bounds;     /**< [2][n] bounds of each system; zero at the beginning */
    struct kith__gpu_system *system;     /**< [n] the systems */
    int64_t *cells;         /**< [n + 1] number of cells of each system; after the prefix sum,
                                 number of the first cell of each system in the batch */
    int32_t *of_a;          /**< [a.n] system of each particle of set a, and of each slot */
    int32_t *of_b;          /**< [b.n] system of each particle of set b; of_a for one set */
    struct kith__gpu_set a; /**< set a in the order of cells; key is the number of the cell in the
                                 batch, and start is [most_cells + 1] */
    struct kith__gpu_set b; /**< set b; equal to a for one set */
    int64_t most_cells;     /**< upper bound on the number of all cells */
    bool by_number; /**< cells are as small as the number of particles permits, whatever the cutoff,
                         and consecutive cells of a system touch; else they are as wide as the
                         cutoff */
};

/** The parameters of a sweep over a batch. */
struct kith__gpu_batch_sweep {
    struct kith__gpu_systems systems; /**< the particles */
    double unit;                      /**< 1 / cutoff */
    bool upper;                       /**< pairs of a half list alone: j after i */
    int blocks;                       /**< thread blocks to launch: enough to fill the device */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Queue the check of the offsets in device memory, and the size of the largest system. */
gpuError_t kith__gpu_check_offsets(const struct kith__gpu_systems *systems, gpuStream_t stream);

/** Queue boxes, bounds and numbers of cells of all systems. */
gpuError_t kith__gpu_plan_systems(const struct kith__gpu_systems *systems, gpuStream_t stream);

/** Queue the keys of one set, as words with the index of the particle in the low bits; with set a,
 *  also kith__gpu_system.first_cell. systems->cells holds the prefix sum of the numbers of cells.
 *  @param set        0: set a, 1: set b
 *  @param[out] word  [n] the words */
gpuError_t kith__gpu_make_system_keys(const struct kith__gpu_systems *systems, int set,
                                      uint64_t *word, gpuStream_t stream);

/** Queue the copy of a set in the order of its sorted words: id, key, coordinates and start. */
gpuError_t kith__gpu_gather_systems(const struct kith__gpu_systems *systems, int set,
                                    const uint64_t *word, gpuStream_t stream);

/** Queue the search for what is wrong with the first particle or offset that is bad: sets
 *  small->detail and small->expected. */
gpuError_t kith__gpu_find_fault(const struct kith__gpu_systems *systems, gpuStream_t stream);

/** Queue the addition of a number to those of n indices that are not negative. */
gpuError_t kith__gpu_add_to_indices(int32_t *index, int64_t n, int32_t by, gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
