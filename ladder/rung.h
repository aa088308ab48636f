/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladders share. Every rung computes something about the
 * pairs of points within a cutoff, in open space and double precision. The rungs of the ladder of
 * pair lists list them, each once with i < j, in any order. The rungs of the ladder of groups are
 * in rung_fof.h, those of the ladder of pair distributions in rung_rdf.h.
 */
#ifndef KITH_RUNG_H
#define KITH_RUNG_H

#include <kith.h>
#include <stdbool.h>

/* What the GPU's rungs use too. Their products are not fused either (CMakeLists.txt). */
#ifdef __CUDACC__
#define RUNG_FN static inline __host__ __device__
#else
#define RUNG_FN static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Input of a rung. */
typedef struct rung_input {
    const double *xyz;    /**< points [n][3] */
    int64_t n;            /**< number of points */
    double cutoff;        /**< cutoff [length] */
    kith_ctx *ctx;        /**< context of the library, for its rung alone */
    struct rung_gpu *gpu; /**< copy of the points on a GPU, for rungs on a GPU alone (rung_gpu.h) */
} rung_input;

/** A rung.
 *  @param[in,out] list  zeroed, or from an earlier call, whose arrays are then reused; that of a
 *  rung on a GPU is in device memory
 *  @param[out] scratch  largest amount of memory held, without the list [byte]
 *  @return false if memory is exhausted or the library fails */
typedef bool (*rung_find)(const rung_input *in, kith_pairs *list, int64_t *scratch);

/** A rung and its name. */
typedef struct rung {
    const char *name; /**< name of the rung */
    rung_find find;   /**< the rung */
} rung;

bool rung_all_pairs(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_cells(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_mainline(const rung_input *in, kith_pairs *list, int64_t *scratch);

/** Grow a list to a capacity of so many pairs. @return false if memory is exhausted */
bool rung_reserve(kith_pairs *list, int64_t pairs);

/** Free a list, whether its arrays are a rung's or the library's. */
void rung_free(kith_pairs *list);

/** Squared distance, rounded after each operation. */
RUNG_FN double rung_r2(const double a[3], const double b[3])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    return (dx * dx + dy * dy) + dz * dz;
}

/** The definition of a pair. */
RUNG_FN bool rung_is_pair(const double a[3], const double b[3], double cutoff)
{
    return rung_r2(a, b) <= cutoff * cutoff;
}

/** Append a pair, the smaller index first. @return false if memory is exhausted */
static inline bool rung_append(kith_pairs *list, int32_t a, int32_t b)
{
    if (list->n == list->capacity && !rung_reserve(list, 2 * list->capacity + 1024)) {
        return false;
    }
    list->i[list->n] = a < b ? a : b;
    list->j[list->n] = a < b ? b : a;
    list->n++;
    return true;
}

/** A grid of cubic cells over the bounding box of the points, slightly wider than the cutoff. There
 *  are at most about eight cells for each point. */
typedef struct rung_grid {
    double low[3];   /**< low corner of the bounding box [length] */
    double scale[3]; /**< 1 / width of a cell: the cell of x is (x - low) * scale */
    int32_t side[3]; /**< number of cells along x, y, z */
    int64_t cells;   /**< number of cells */
} rung_grid;

/** Make a grid over the points. */
rung_grid rung_grid_over(const rung_input *in);

/** Compute the coordinates of the cell of a point. */
RUNG_FN void rung_grid_find(const rung_grid *grid, const double x[3], int32_t cell[3])
{
    for (int k = 0; k < 3; k++) {
        cell[k] = (int32_t)((x[k] - grid->low[k]) * grid->scale[k]);
        if (cell[k] >= grid->side[k]) {
            cell[k] = grid->side[k] - 1;
        }
    }
}

/** Compute the index of the cell of a point. */
RUNG_FN int64_t rung_grid_number(const rung_grid *grid, const double x[3])
{
    int32_t cell[3];
    rung_grid_find(grid, x, cell);
    return ((int64_t)cell[2] * grid->side[1] + cell[1]) * grid->side[0] + cell[0];
}

/** Compute the index of one of the 27 cells around a cell. Step 13 is the cell itself; steps 14 to
 *  26 are the cells ahead: of two neighbouring cells, one is ahead of the other.
 *  @return -1: outside the grid */
RUNG_FN int64_t rung_grid_step(const rung_grid *grid, const int32_t cell[3], int step)
{
    const int32_t x = cell[0] + step % 3 - 1;
    const int32_t y = cell[1] + step / 3 % 3 - 1;
    const int32_t z = cell[2] + step / 9 - 1;
    if (x < 0 || y < 0 || z < 0 || x >= grid->side[0] || y >= grid->side[1] || z >= grid->side[2]) {
        return -1;
    }
    return ((int64_t)z * grid->side[1] + y) * grid->side[0] + x;
}

/** Points sorted by cell. */
typedef struct rung_sorted {
    rung_grid grid; /**< the grid */
    int64_t *
        start; /**< first point of each cell [cells + 1]: cell c has start[c] to start[c + 1] - 1 */
    int32_t *id; /**< index of each point in the input [n]; ascending in a cell */
    double *xyz; /**< sorted points [n][3] */
} rung_sorted;

/** Sort points by cell. Free with rung_sorted_free, also on failure.
 *  @param[out] bytes  memory of the result [byte]
 *  @return false if memory is exhausted */
bool rung_sort(const rung_input *in, rung_sorted *sorted, int64_t *bytes);
void rung_sorted_free(rung_sorted *sorted);

/** Find the ranges [from, to) of sorted points with which point p must be tested, so that each pair
 *  is tested once: the later points of its cell, and those of the 13 cells ahead.
 *  @return the number of ranges */
int rung_ranges_ahead(const rung_sorted *sorted, int64_t p, int64_t from[14], int64_t to[14]);

#ifdef __cplusplus
}
#endif

#endif
