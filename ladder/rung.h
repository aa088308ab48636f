/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the rungs of the ladders share. Every rung answers a question about the pairs of points
 * within a cutoff, in open space and double precision. Those of the pair ladder list them, each
 * once with i < j, in any order; those of the ladder of groups are in rung_fof.h, those of the
 * ladder of pair distributions in rung_rdf.h.
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

/** The question. */
typedef struct rung_input {
    const double *xyz; /**< [n][3] */
    int64_t n;
    double cutoff;
    kith_ctx *ctx;        /**< for the mainline alone */
    struct rung_gpu *gpu; /**< the same points on a GPU, for its rungs alone (rung_gpu.h) */
} rung_input;

/**
 * A rung.
 * @param[in,out] list  zeroed, or from an earlier call, whose arrays are then reused; a GPU's rung
 *                      leaves it in device memory
 * @param[out] scratch  bytes held at the peak, beside the list
 * @return false when memory could not be had, or the library failed
 */
typedef bool (*rung_find)(const rung_input *in, kith_pairs *list, int64_t *scratch);

/** A rung and its name. */
typedef struct rung {
    const char *name;
    rung_find find;
} rung;

bool rung_all_pairs(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_cells(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_candidates(const rung_input *in, kith_pairs *list, int64_t *scratch);
bool rung_mainline(const rung_input *in, kith_pairs *list, int64_t *scratch);

/** Make room for that many pairs. @return false when memory could not be had. */
bool rung_reserve(kith_pairs *list, int64_t pairs);

/** Free a list, whether its arrays are a rung's or the library's. */
void rung_free(kith_pairs *list);

/** Squared distance, rounded after each operation. */
RUNG_FN double rung_r2(const double a[3], const double b[3])
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
    return (dx * dx + dy * dy) + dz * dz;
}

/** The definition. */
RUNG_FN bool rung_is_pair(const double a[3], const double b[3], double cutoff)
{
    return rung_r2(a, b) <= cutoff * cutoff;
}

/** Add a pair, the smaller index first. */
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

/** Cubes over the points, a little wider than the cutoff, at most about eight a point. */
typedef struct rung_grid {
    double low[3], scale[3]; /**< cell = (x - low) * scale */
    int32_t side[3];         /**< cells along x, y, z */
    int64_t cells;
} rung_grid;

rung_grid rung_grid_over(const rung_input *in);

/** Find the cell of a point, along x, y, z. */
RUNG_FN void rung_grid_find(const rung_grid *grid, const double x[3], int32_t cell[3])
{
    for (int k = 0; k < 3; k++) {
        cell[k] = (int32_t)((x[k] - grid->low[k]) * grid->scale[k]);
        if (cell[k] >= grid->side[k]) {
            cell[k] = grid->side[k] - 1;
        }
    }
}

/** Number the cell of a point. */
RUNG_FN int64_t rung_grid_number(const rung_grid *grid, const double x[3])
{
    int32_t cell[3];
    rung_grid_find(grid, x, cell);
    return ((int64_t)cell[2] * grid->side[1] + cell[1]) * grid->side[0] + cell[0];
}

/**
 * Number the neighbour that is one of 27 steps away; step 13 stays, 14 to 26 go forward.
 * @return -1 outside the grid
 */
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
    rung_grid grid;
    int64_t *start; /**< [cells + 1]: cell c holds the points start[c] to start[c + 1] - 1 */
    int32_t *id;    /**< [n]: where a point came from; ascends in a cell */
    double *xyz;    /**< [n][3] */
} rung_sorted;

/** Sort points by cell. Free in any case. @param[out] bytes  its memory. @return false without. */
bool rung_sort(const rung_input *in, rung_sorted *sorted, int64_t *bytes);
void rung_sorted_free(rung_sorted *sorted);

/** Find the ranges [from, to) of points ahead of point p, itself left out, so that each pair is met
 *  once: the rest of its cell, and the 13 cells ahead. @return how many there are */
int rung_ranges_ahead(const rung_sorted *sorted, int64_t p, int64_t from[14], int64_t to[14]);

#ifdef __cplusplus
}
#endif

#endif
