/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding cells among the sorted particles, and the division of the particles into i-clusters:
 * query particles that a warp processes together (gpu_sweep.cuh).
 */
#ifndef KITH_GPU_CELLS_CUH
#define KITH_GPU_CELLS_CUH

#include "device.cuh"
#include "gpu_grid.h"

/** Return a / b, neither negative. Uses a 32-bit division where possible: 64-bit divisions are
 *  slow, and seldom needed. */
static __device__ __forceinline__ int64_t divide(int64_t a, int64_t b)
{
    return (a | b) >> 32 == 0 ? (int64_t)((uint32_t)a / (uint32_t)b) : a / b;
}

/** Split the number of a cell, row * nx + x, into its row and x. */
static __device__ __forceinline__ int64_t row_of_cell(int64_t cell, int64_t nx, int64_t *x)
{
    const int64_t row = divide(cell, nx);
    *x = cell - row * nx;
    return row;
}

/** Split the number of a cell, row * nx + x, into its row and x, in 32 bits. */
static __device__ __forceinline__ int32_t row_of_cell(int32_t cell, int32_t nx, int32_t *x)
{
    const int32_t row = (int32_t)((uint32_t)cell / (uint32_t)nx);
    *x = cell - row * nx;
    return row;
}

/** Return the first slot of [from, from + n) whose key is at least `cell`; from + n when there is
 *  none. Binary search. */
static __device__ __forceinline__ int64_t find_key(const uint64_t *key, int64_t from, int64_t n,
                                                   int64_t cell)
{
    while (n > 0) {
        const int64_t half = n / 2;
        if (key[from + half] < (uint64_t)cell) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
}

/** Return the first slot of the set whose cell is at least `cell`.
 *  @param table  there is a table of all cells; else the keys are searched */
static __device__ __forceinline__ int64_t first_of_cell(const struct kith__gpu_set &set, bool table,
                                                        int64_t cell)
{
    return table ? set.start[cell] : find_key(set.key, 0, set.n, cell);
}

/** Return the first slot of the set whose cell is at least `cell`, from the table of cells, from
 *  the table of rows and a search in the row, or from a search of the keys, as the plan says. */
static __device__ __forceinline__ int64_t first_of_cell(const struct kith__gpu_set &set,
                                                        const struct kith__gpu_plan &plan,
                                                        int64_t cell)
{
    if (plan.rows == 0) {
        return first_of_cell(set, plan.table, cell);
    }
    const int64_t row = divide(cell, plan.axis[0].n);
    if (row >= plan.rows) {
        return set.n;
    }
    const int64_t from = set.start[row];
    return find_key(set.key, from, set.start[row + 1] - from, cell);
}

/** Return a number that is added to a packed shift (kith__pack_shift) to add the number of boxes
 *  along each axis. It has no fields of its own: negative numbers borrow from the bits above, and
 *  the sum is right where the shift that results can be packed. */
static __device__ __forceinline__ int32_t wrapping_sum(const int32_t image[3])
{
    return image[0] + image[1] * (1 << 10) + image[2] * (1 << 20);
}

/* Images of pairs between the coordinates as given can be packed when wrapping moved all particles
 * by less than this number of boxes, and the cells reach over few enough (images_pack). */
enum { WRAPPED_PACKS = 128 };

/** Return true when images of pairs along an axis can be packed even after the wrapping of both
 *  particles was subtracted.
 *  @param wrapped  kith__bounds.wrapped: largest number of boxes that wrapping subtracted */
static __device__ __forceinline__ bool images_pack(int32_t wrapped, const struct kith__axis &axis)
{
    const int64_t images = axis.periodic ? axis.reach / axis.n + 1 : 0;
    return wrapped < WRAPPED_PACKS && images < KITH_MOST_SHIFT - 2 * WRAPPED_PACKS;
}

/** Fill the entries of a table of first items for item s of n: those of the cells after the cell of
 *  item s - 1, up to its own, which is key[s] >> bits; item n stands for the end. Some items have
 *  many entries and many have none, so the lanes of a warp fill the entries of all their items
 *  together: all lanes must call.
 *  @param key         sorted: an array, or an object with operator[]
 *  @param cells       number of cells
 *  @param[out] start  [cells + 1] the table */
template <typename keys>
static __device__ __forceinline__ void fill_table(int64_t s, int64_t n, const keys &key, int bits,
                                                  int64_t cells, uint32_t *start)
{
    const int64_t few = LANES;
    int64_t from = 0;
    int64_t to = -1; /* no entries */
    if (s <= n) {
        from = s == 0 ? 0 : (int64_t)(key[s - 1] >> bits) + 1;
        to = s == n ? cells : (int64_t)(key[s] >> bits);
    }
    const int lane = my_lane();
    const bool many = to - from >= few;
    const int mine = many || to < from ? 0 : (int)(to - from) + 1;
    const int before = scan_lanes(mine, lane) - mine;
    const int total = from_lane(before + mine, LANES - 1);
    for (int k = lane; k - lane < total; k += LANES) {
        const int owner = owner_of(before, k);
        const uint32_t cell = from_lane((uint32_t)from - (uint32_t)before, owner) + (uint32_t)k;
        if (k < total) {
            start[cell] = (uint32_t)(s - lane + owner);
        }
    }
    for (lanes_t left = which_lanes(many); left; left &= left - 1) {
        const int filler = first_lane(left);
        const int64_t first = from_lane(from, filler);
        const int64_t last = from_lane(to, filler);
        for (int64_t cell = first + lane; cell <= last; cell += LANES) {
            start[cell] = (uint32_t)(s - lane + filler);
        }
    }
}

/** Return true when there is a slot `other`, and it is in the cell of slot p. */
static __device__ __forceinline__ bool is_beside(const struct kith__gpu_set &set, int64_t p,
                                                 int64_t other)
{
    return other >= 0 && other < set.n && set.key[other] == set.key[p];
}

/** Return true when an i-cluster begins at slot p, where i-clusters are the widest aligned runs of
 *  cells with at most `enough` particles. The run that contains p lies within `enough` slots of p,
 *  so only these are searched: a run that also contains slot p - enough or p + enough has too many
 *  particles.
 *  @param nx      cells of a row
 *  @param enough  most particles of a run */
static __device__ inline bool begins_run(const struct kith__gpu_set &set, int64_t nx,
                                         uint32_t enough, int64_t p)
{
    const int64_t cell = (int64_t)set.key[p];
    const int64_t low = p > enough ? p - enough : 0;
    const int64_t high = p + enough < set.n ? p + enough : set.n;
    const int64_t before = p >= enough ? (int64_t)set.key[low] : -1;
    const int64_t after = high < set.n ? (int64_t)set.key[high] : INT64_MAX;
    int64_t x;
    row_of_cell(cell, nx, &x);
    for (int64_t width = 64; width > 1; width /= 2) {
        const int64_t from = cell - (x & (width - 1));
        const int64_t to = from + width < cell - x + nx ? from + width : cell - x + nx;
        if (before >= from || after < to) {
            continue;
        }
        const int64_t begin = find_key(set.key, low, p - low, from);
        if (find_key(set.key, p, high - p, to) - begin <= enough) {
            return p == begin;
        }
    }
    return true;
}

/** Return true when an i-cluster begins at slot p of the sorted set. An i-cluster is the widest
 *  aligned run of 2, 4, 8, ..., 64 cells of a row that has at most most / 2 particles. A cell that
 *  is in no run is an i-cluster of its own; with more than `most` particles it is divided into
 *  i-clusters of equal size, the last one being smaller where they do not divide evenly.
 *  @param most  most particles of an i-cluster */
static __device__ inline bool begins_cluster(const struct kith__gpu_set &set,
                                             const struct kith__gpu_plan &plan, uint32_t most,
                                             int64_t p)
{
    const uint32_t enough = most / 2;
    const int64_t cell = (int64_t)set.key[p];
    int64_t first = p;
    uint32_t n = 1;
    if (plan.table || is_beside(set, p, p - 1) || is_beside(set, p, p + 1)) {
        first = first_of_cell(set, plan, cell); /* slow by keys: avoided for a single particle */
        n = (uint32_t)(first_of_cell(set, plan, cell + 1) - first);
    }
    const uint32_t before = (uint32_t)(p - first); /* particles of the cell before slot p */
    if (n > most) {
        const uint32_t parts = (n + most - 1) / most;
        return before % ((n + parts - 1) / parts) == 0;
    }
    if (before > 0 || n > enough) {
        return before == 0; /* most threads return here, before the slow divisions */
    }
    return begins_run(set, plan.axis[0].n, enough, p);
}

#endif
