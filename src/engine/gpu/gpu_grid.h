/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The grid in device memory. It is built without asking the host: the cells are chosen by a kernel,
 * and later kernels read the choice from device memory. As on the CPU, a table of all cells is kept
 * while it is no larger than a few n, and beyond that cells are found in the sorted keys: in those
 * of their row while a table of rows is not too large.
 *
 * Everything here is queued on the context's stream. Launchers return the run-time's error code.
 */
#ifndef KITH_GPU_GRID_H
#define KITH_GPU_GRID_H

#include "engine/cells.h"
#include "gpu.h"

/* A home holds at most this many particles: one bit each in a candidate's mask; where no masks are
 * made, more. */
enum { KITH_GPU_HOME = 32, KITH_GPU_LARGE_HOME = 64 };

/** The cells chosen, in device memory. */
struct kith__gpu_plan {
    struct kith__axis axis[3];
    int64_t cells;
    int bits;       /**< of the largest key */
    double near;    /**< what is further apart is no pair, however it was rounded */
    bool far;       /**< some part of a cell may hold particles farther apart than it is wide */
    bool table;     /**< a table of cells is kept; */
    int64_t rows;   /**< else of so many rows; 0: not of these either, search the keys */
    bool wrapped;   /**< some particle was outside the box */
    int32_t status; /**< a kith_status: no later kernel does anything unless KITH_OK */
    int32_t set;    /**< of a failure: 0 points, 1 against, */
    int64_t index;  /**< and the first particle */
};

/** One set of particles in cell order, in device memory. */
struct kith__gpu_set {
    int64_t n;
    void *x, *y, *z; /**< wrapped, precision of the points */
    int32_t *id;     /**< index in the caller's order; ascending inside a cell */
    uint64_t *key;   /**< cell of each; ascending. Where cells have parts: cell, part, */
    int id_bits;     /**< and below them so many bits of the index */
    uint32_t *start; /**< [cells + 1] first particle of each cell, or [rows + 1] of each row, as
                          the plan says; not filled where cells have parts */
};

/** What the sweep reads. */
struct kith__gpu_grid {
    struct kith__question question; /**< with points in device memory */
    double blur;
    struct kith__gpu_plan *plan;
    struct kith__gpu_set a, b; /**< b is a unless the question has two sets */
    int home;                  /**< the most particles in a home */
    uint32_t *marks;           /**< [a.n / 32 + 1] a bit for each particle: a home begins there */
};

/** Memory that a build uses and then leaves to others. */
struct kith__gpu_sort {
    uint64_t *key; /**< [n] */
    int32_t *id;   /**< [n] */
    void *temporary;
    size_t temporary_bytes;
};

/** What one look at the coordinates tells, in a form that atomics can merge: the largest of each
 *  number stays, and 0 is what no particle tells. */
struct kith__gpu_survey {
    unsigned long long below[3], above[3]; /**< of the bounds, numbers that have their order */
    unsigned long long bad, far;           /**< INT64_MAX less the first such particle */
    int32_t images;
    unsigned blocks; /**< that have merged theirs */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Can this build's kernels be loaded here? */
gpuError_t kith__gpu_try_kernel(void);

/** Look at the coordinates and choose the cells: fills grid->plan.
 *  @param surveys  [2] all 0, and again when it is done */
gpuError_t kith__gpu_choose_cells(const struct kith__gpu_grid *grid,
                                  struct kith__gpu_survey *surveys, gpuStream_t stream);

/** Write the keys and indices of one set. @param bits  of the largest key; 0: what the plan will
 *  say */
gpuError_t kith__gpu_make_keys(const struct kith__gpu_grid *grid, int set, int bits,
                               gpuStream_t stream);

/** Sort one set by its keys. The set's keys and ids may end in the memory of sort, which then gets
 *  theirs. @param bits  of the largest key: as they were made for, or the plan's */
gpuError_t kith__gpu_sort_set(struct kith__gpu_grid *grid, int set, int bits,
                              struct kith__gpu_sort *sort, gpuStream_t stream);

/** Divide set a into homes: fills grid->marks. */
gpuError_t kith__gpu_find_homes(const struct kith__gpu_grid *grid, gpuStream_t stream);

/* Sort, scan and select are the vendor's (primitives.cu). With temporary NULL they only say how
 * many bytes they want there. */

/** Stable sort of n (key, id) by the lowest bits of the keys. There are two arrays of each: [0]
 *  holds what is to be sorted, and afterwards what is; the two may have changed places. */
gpuError_t kith__gpu_sort_pairs(void *temporary, size_t *bytes, uint64_t *key[2], int32_t *id[2],
                                int64_t n, int bits, gpuStream_t stream);

/** Sort of n words by their bits from `low` to before `high`; otherwise likewise. */
gpuError_t kith__gpu_sort_words(void *temporary, size_t *bytes, uint64_t *word[2], int64_t n,
                                int low, int high, gpuStream_t stream);

/** In place, count[k] becomes the sum of those before it. */
gpuError_t kith__gpu_scan(void *temporary, size_t *bytes, int64_t *count, int64_t n,
                          gpuStream_t stream);

/** start[k] becomes the sum of the counts before it. */
gpuError_t kith__gpu_scan_table(void *temporary, size_t *bytes, const uint32_t *count,
                                uint32_t *start, int64_t n, gpuStream_t stream);

/** List the runs of equal words among n, but for their lowest bits: what is above these, the place
 *  of the first word, and how many runs there are. */
gpuError_t kith__gpu_list_runs(void *temporary, size_t *bytes, const uint64_t *word, int64_t n,
                               int lowest, uint64_t *key, uint32_t *first, int32_t *n_runs,
                               gpuStream_t stream);

/** Write the places of n where a count is `least` or more, ascending, and their number. */
gpuError_t kith__gpu_select_counts(void *temporary, size_t *bytes, const int32_t *count, int64_t n,
                                   int64_t least, int32_t *places, int32_t *n_places,
                                   gpuStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
