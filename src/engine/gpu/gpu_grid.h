/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The grid in device memory: particles sorted by cell (engine/cells.h). It is built without waiting
 * for the host: a kernel chooses the cells, and later kernels read the choice, the plan, from
 * device memory. A table of the first slot of each cell is kept while there are at most
 * kith__table_limit cells, about two for each particle; beyond that, cells are found by a search in
 * the sorted keys: in those of one row of cells, while there are at most so many rows, of which a
 * table is kept instead, else in all keys.
 *
 * All functions queue their work on a stream and return the run-time library's error code.
 */
#ifndef KITH_GPU_GRID_H
#define KITH_GPU_GRID_H

#include "engine/cells.h"
#include "gpu.h"

/* Most particles of an i-cluster, the query particles that a warp processes together
 * (gpu_sweep.cuh): KITH_GPU_CLUSTER for operations that get a mask for each candidate, with one bit
 * for each query particle; KITH_GPU_LARGE_CLUSTER for operations without masks. */
enum { KITH_GPU_CLUSTER = 32, KITH_GPU_LARGE_CLUSTER = 64 };

/** The cells that were chosen; in device memory. */
struct kith__gpu_plan {
    struct kith__axis axis[3]; /**< the cells along each row of the box */
    int64_t cells;             /**< number of all cells; 0: a set has no particles */
    int bits;                  /**< bits of the largest key */
    double near;    /**< upper bound on the distance of a pair, rounding errors included [length] */
    bool far;       /**< a subcell may hold particles that are further apart than its width
                         (kith__divide_cells), or cells were made wider so that keys fit */
    bool table;     /**< cells are few enough for a table of the first slot of each; with subcells,
                         friends-of-friends fills it */
    int64_t rows;   /**< entries of the table of the first slot of each row; 0: there is none */
    bool wrapped;   /**< at least one particle was outside the box as given */
    bool packs;     /**< shifts of pairs between the coordinates as given, not wrapped, can be
                         packed (kith__pack_shift) */
    int32_t status; /**< a kith_status; later kernels exit early unless it is KITH_OK */
    int32_t set;    /**< set of the particle that cannot be used: 0 points, 1 against */
    int64_t index;  /**< index of the particle that cannot be used */
};

/** One set of particles in cell order, in device memory. */
struct kith__gpu_set {
    int64_t n;       /**< number of particles */
    void *x, *y, *z; /**< [n] wrapped coordinates of each slot, in the precision of the points
                          [length] */
    int32_t *id;     /**< [n] index of each slot's particle in the caller's order; ascending inside
                          a cell */
    uint64_t *key;   /**< [n] number of the cell of each slot; ascending. With subcells: number of
                          cell and subcell, above id_bits bits of the index */
    int id_bits;     /**< bits of the index below the key; 0: key holds no index */

    /** [cells + 1] First slot of each cell, or [rows + 1] of each row of cells, as the plan says;
     *  not filled with subcells. */
    uint32_t *start;

    int32_t *wrap; /**< [n] boxes that wrapping subtracted from the coordinates of each slot's
                        particle, in the form of wrapping_sum() in gpu_cells.cuh; set when any
                        particle was wrapped; NULL with subcells */
};

/** The sorted particles of a question. */
struct kith__gpu_grid {
    struct kith__question question; /**< the question, with points in device memory */
    double definition_error; /**< bound on the rounding error of r^2 / cutoff^2 in the definition
                                  of a pair */
    struct kith__gpu_plan *plan; /**< the cells; in device memory */
    struct kith__gpu_set a;      /**< query particles */
    struct kith__gpu_set b;      /**< candidates; equal to a unless the question has two sets */
    int cluster;                 /**< most particles of an i-cluster */
    uint32_t *marks;             /**< [a.n / 32 + 1] one bit for each slot of a: an i-cluster begins
                                      there */
};

/** Scratch memory of a sort, in device memory. */
struct kith__gpu_sort {
    uint64_t *key;          /**< [n] second array of keys */
    int32_t *id;            /**< [n] second array of indices */
    void *temporary;        /**< scratch of the vendor's sort */
    size_t temporary_bytes; /**< size of `temporary` */
};

/** Bounds of the coordinates (kith__bounds), encoded so that atomicMax merges them: each number is
 *  larger the further out the bound is, and 0 before any bounds are merged. The ordered form of a
 *  double is an integer that compares as the double does (`ordered` in device.cuh). */
struct kith__gpu_bounds {
    unsigned long long below[3]; /**< inverted bits of the ordered form of the lower bounds */
    unsigned long long above[3]; /**< ordered form of the upper bounds */
    unsigned long long bad;      /**< INT64_MAX - index of the first particle that is not finite */
    unsigned long long far;      /**< INT64_MAX - index of the first particle too far outside */
    int32_t wrapped;             /**< as kith__bounds.wrapped */
    unsigned blocks;             /**< thread blocks that have merged their bounds */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Queue the bounds of the coordinates and the choice of the cells: sets *grid->plan.
 *  @param bounds  [2] device memory, zero; it is zero again when the kernels have finished */
gpuError_t kith__gpu_choose_cells(const struct kith__gpu_grid *grid,
                                  struct kith__gpu_bounds *bounds, gpuStream_t stream);

/** Queue the keys and indices of one set.
 *  @param set   0: set a, 1: set b
 *  @param bits  upper bound on the bits of a key, where the host knows one; 0: the plan's */
gpuError_t kith__gpu_make_keys(const struct kith__gpu_grid *grid, int set, int bits,
                               gpuStream_t stream);

/** Queue the sort of one set by its keys, and the copy of its coordinates in that order. The arrays
 *  key and id of the set may be exchanged with those of `sort`.
 *  @param set   0: set a, 1: set b
 *  @param bits  bits to sort by: the number given to kith__gpu_make_keys; the plan's when that was
 *               0 */
gpuError_t kith__gpu_sort_set(struct kith__gpu_grid *grid, int set, int bits,
                              struct kith__gpu_sort *sort, gpuStream_t stream);

/** Queue the division of set a into i-clusters: sets grid->marks. */
gpuError_t kith__gpu_find_clusters(const struct kith__gpu_grid *grid, gpuStream_t stream);

/* Sort, scan and select of the vendor's library (primitives.cu). When `temporary` is NULL they only
 * set *bytes to the size of the scratch memory that they need. */

/** Stable sort of n pairs (key, id) by the lowest bits of the keys. Element 0 of `key` and `id`
 *  holds the array to sort, and the sorted array afterwards; element 1 is a second array. Elements
 *  0 and 1 may be exchanged. */
gpuError_t kith__gpu_sort_pairs(void *temporary, size_t *bytes, uint64_t *key[2], int32_t *id[2],
                                int64_t n, int bits, gpuStream_t stream);

/** Stable sort of n words by bits [low, high). word[0] is the array to sort, and the sorted array
 *  afterwards; word[1] is a second array. The two may be exchanged. */
gpuError_t kith__gpu_sort_words(void *temporary, size_t *bytes, uint64_t *word[2], int64_t n,
                                int low, int high, gpuStream_t stream);

/** Exclusive prefix sum in place: count[k] becomes the sum of the counts before it. */
gpuError_t kith__gpu_scan(void *temporary, size_t *bytes, int64_t *count, int64_t n,
                          gpuStream_t stream);

/** Exclusive prefix sum: start[k] becomes the sum of the counts before count[k]. */
gpuError_t kith__gpu_scan_table(void *temporary, size_t *bytes, const uint32_t *count,
                                uint32_t *start, int64_t n, gpuStream_t stream);

/** List the runs of words that are equal above their lowest bits (run-length encoding).
 *  @param word         [n] the words
 *  @param lowest       number of low bits that are ignored
 *  @param[out] key     [*n_runs] word >> lowest of each run
 *  @param[out] first   [*n_runs] index of the first word of each run
 *  @param[out] n_runs  number of runs; device memory */
gpuError_t kith__gpu_list_runs(void *temporary, size_t *bytes, const uint64_t *word, int64_t n,
                               int lowest, uint64_t *key, uint32_t *first, int32_t *n_runs,
                               gpuStream_t stream);

/** List the indices k with count[k] >= least, in ascending order (stream compaction).
 *  @param[out] selected   [*n_selected] the indices
 *  @param[out] n_selected  their number; device memory */
gpuError_t kith__gpu_select_counts(void *temporary, size_t *bytes, const int32_t *count, int64_t n,
                                   int64_t least, int32_t *selected, int32_t *n_selected,
                                   gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
