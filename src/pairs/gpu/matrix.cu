/* SPDX-License-Identifier: BSD-3-Clause
 *
 * KITH_MATRIX lists on a GPU: rows of a fixed width. One sweep writes the hits of each particle to
 * its row, as many as fit, and counts all of them; no sweep counts first. A kernel then writes the
 * entries without a neighbour, and adds up the counts.
 *
 * Where a row that will be sorted overflows, it keeps its first entries in the order of the sort:
 * each further hit replaces the last one, if it comes before it.
 */
#include "extras.cuh"
#include "engine/gpu/gpu_sweep.cuh"

enum { FINISH_THREADS = 256, FINISH_WARPS = FINISH_THREADS / LANES, FINISH_BLOCKS = 4096 };

/** Replace the last entry of a full row, in the order of the sort, by a hit that comes before it.
 *  The whole warp must call.
 *  @param key  j above the packed image of the hit, as in row_in_list */
template <typename real>
static __device__ __noinline__ void replace_last(const struct kith__gpu_list &list, int64_t begin,
                                                 int64_t width, uint64_t key, int lane)
{
    const struct row_in_list<real> row = {
        &list, begin
    };
    uint64_t last = 0;
    int64_t at = -1;
    for (int64_t e = lane; e < width; e += LANES) {
        const uint64_t one = row.get(e);
        if (one >= last) {
            last = one;
            at = e;
        }
    }
    for (int bits = LANES / 2; bits > 0; bits /= 2) {
        const uint64_t other = from_partner(last, bits);
        const int64_t other_at = from_partner(at, bits);
        if (other > last || (other == last && other_at > at)) {
            last = other;
            at = other_at;
        }
    }
    if (lane == 0 && key < last) {
        row.set(at, key);
    }
    sync_warp();
}

/** Operation: fill the rows of a KITH_MATRIX list. With SORTED, rows that overflow keep their first
 *  entries in the order of the sort; the call for that costs the inner loop registers. */
template <typename real, bool EXTRAS, bool SORTED> struct fill_matrix {
    /** State of an i-cluster's rows. */
    struct shared {
        int64_t begin[KITH_GPU_CLUSTER]; /**< index of the row's first entry in the arrays; -1: the
                                              row is not in this part */
        int64_t hits[KITH_GPU_CLUSTER];  /**< hits of each query particle so far */
    };
    struct kith__gpu_matrix matrix; /**< the part of the list that is written */
    bool plain; /**< fast path: only j and images are written, and the images need no correction for
                     wrapping */

    /** Begin the rows of an i-cluster.
     *  @return true when one of them is in the part that is written */
    __device__ bool begin(const visit<real> &v, shared *rows)
    {
        const struct kith__gpu_list &list = matrix.list;
        bool inside = false;
        if (v.lane < v.n) {
            const int32_t i = v.shared->id[v.lane];
            inside = matrix.first <= i && i < matrix.last;
            rows->begin[v.lane] = inside ? (i - matrix.first) * matrix.width : -1;
            rows->hits[v.lane] = 0;
        }
        sync_warp();
        plain = !EXTRAS ||
                (!has_vector(list) && !list.extras_later && !v.sweep->grid.plan->wrapped);
        return which_lanes(inside) != 0;
    }

    /** Write the hits of query particle k with the candidates of all lanes to its row, as far as
     *  there is room.
     *  @return the number of these hits */
    template <bool PLAIN>
    __device__ __forceinline__ int add_to_row(const visit<real> &v, const shared *rows, int k,
                                              const struct candidate c[DEEP], const int32_t j[DEEP],
                                              const int32_t image[DEEP][3],
                                              const uint32_t mask[DEEP])
    {
        const struct kith__gpu_list &list = matrix.list;
        const lanes_t below = lanes_below(v.lane);
        const int64_t begin = rows->begin[k];
        const int64_t room = begin < 0 ? 0 : matrix.width - rows->hits[k];
        const int64_t at = begin + rows->hits[k];
        int n = 0;
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            const bool hit = mask[d] >> k & 1;
            const lanes_t with = which_lanes(hit);
            const int p = n + count_lanes(with & below);
            const bool fits = hit && p < room;
            if (PLAIN) {
                store_where(fits, list.j + at + p, j[d]);
                for (int m = 0; m < 3 && EXTRAS; m++) {
                    store_where(fits, list.shifts + 3 * (at + p) + m, image[d][m]);
                }
            } else if (fits) {
                write(v, at + p, k, j[d], c[d]);
            }
            n += count_lanes(with);
            if (SORTED && n > room && begin >= 0 && matrix.width > 0) {
                keep_first(begin, which_lanes(hit && !fits), j[d], c[d].shift, v.lane);
            }
        }
        return n;
    }

    /** Keep the first entries of a full row, in the order of the sort, among these and some hits.
     *  @param late      lanes whose hits are not in the row
     *  @param j, shift  index and packed image of this lane's hit */
    __device__ __forceinline__ void keep_first(int64_t begin, lanes_t late, int32_t j,
                                               int32_t shift, int lane)
    {
        const uint64_t key = (uint64_t)(uint32_t)j << 32 | (EXTRAS ? (uint32_t)shift : 0);
        sync_warp();
        for (; late; late &= late - 1) {
            replace_last<real>(matrix.list, begin, matrix.width, from_lane(key, first_lane(late)),
                               lane);
        }
    }

    __device__ __forceinline__ void take(const visit<real> &v, shared *rows,
                                         const struct candidate c[DEEP], const uint32_t mask[DEEP])
    {
        int32_t j[DEEP];
        int32_t image[DEEP][3];
        int hits = 0; /* hits of query particle number `lane` */
        for (int d = 0; d < DEEP; d++) {
            j[d] = mask[d] ? v.sweep->grid.b.id[c[d].slot] : 0;
            kith__unpack_shift(c[d].shift, image[d]);
        }
        if (plain) {
#pragma unroll 4
            for (int k = 0; k < v.n; k++) {
                const int n = add_to_row<true>(v, rows, k, c, j, image, mask);
                hits = v.lane == k ? n : hits;
            }
        } else {
#pragma unroll 2
            for (int k = 0; k < v.n; k++) {
                const int n = add_to_row<false>(v, rows, k, c, j, image, mask);
                hits = v.lane == k ? n : hits;
            }
        }
        sync_warp();
        if (v.lane < v.n) {
            rows->hits[v.lane] += hits;
        }
        sync_warp();
    }

    __device__ __forceinline__ void write(const visit<real> &v, int64_t p, int k, int32_t j,
                                          const struct candidate &c)
    {
        const struct kith__gpu_list &list = matrix.list;
        list.j[p] = j;
        if (EXTRAS && list.extras_later) {
            *kept_shift<real>(list, p) = c.shift;
        } else if (EXTRAS) {
            write_extras(v, list, p, v.begin + k, c.slot, c.shift, v.shared->id[k], j, false);
        }
    }

    __device__ void end(const visit<real> &v, shared *rows)
    {
        if (v.lane < v.n) {
            matrix.counts[v.shared->id[v.lane]] = rows->hits[v.lane];
        }
    }
};

/** Write the entries without a neighbour and the counts of some rows, and add to the totals: a warp
 *  for each row. */
template <typename real>
static __global__ void __launch_bounds__(FINISH_THREADS)
    finish_rows(const struct kith__gpu_plan *plan, const struct kith__gpu_matrix matrix,
                struct kith__gpu_matrix_totals *totals)
{
    __shared__ struct kith__gpu_matrix_totals block;
    if (plan->status != KITH_OK) {
        return;
    }
    if (threadIdx.x == 0) {
        block = {};
    }
    __syncthreads();
    const struct kith__gpu_list &list = matrix.list;
    struct kith__gpu_matrix_totals mine = {};
    const int64_t step = (int64_t)gridDim.x * FINISH_WARPS;
    for (int64_t i = matrix.first + (int64_t)blockIdx.x * FINISH_WARPS + my_warp(); i < matrix.last;
         i += step) {
        const int64_t count = matrix.counts[i];
        const int64_t begin = (i - matrix.first) * matrix.width;
        for (int64_t e = begin + count + my_lane(); e < begin + matrix.width; e += LANES) {
            list.j[e] = matrix.fill;
            if (list.distances) {
                ((real *)list.distances)[e] = (real)INFINITY;
            }
            for (int m = 0; m < 3 && list.vectors; m++) {
                ((real *)list.vectors)[3 * e + m] = 0;
            }
            for (int m = 0; m < 3 && list.shifts; m++) {
                list.shifts[3 * e + m] = 0;
            }
        }
        if (my_lane() == 0 && matrix.row_counts) {
            matrix.row_counts[i - matrix.first] = (int32_t)(count < INT32_MAX ? count : INT32_MAX);
        }
        mine.pairs += (unsigned long long)count;
        mine.widest = max(mine.widest, (unsigned long long)count);
        mine.overflowed += count > matrix.width;
    }
    if (my_lane() == 0) {
        atomicAdd(&block.pairs, mine.pairs);
        atomicMax(&block.widest, mine.widest);
        atomicAdd(&block.overflowed, mine.overflowed);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&totals->pairs, block.pairs);
        atomicMax(&totals->widest, block.widest);
        atomicAdd(&totals->overflowed, block.overflowed);
    }
}

/** Set the result of kith_pairs_enqueue from the totals, or from the status of the plan. */
static __global__ void write_totals(const struct kith__gpu_plan *plan,
                                    const struct kith__gpu_matrix_totals *totals, int64_t *result)
{
    const bool fine = plan->status == KITH_OK;
    result[KITH_RESULT_PAIRS] = fine ? (int64_t)totals->pairs : plan->status;
    result[KITH_RESULT_WIDEST] = fine ? (int64_t)totals->widest : 0;
    result[KITH_RESULT_OVERFLOWED] = fine ? (int64_t)totals->overflowed : 0;
}

/* ---------------------------------------------------------------------------------- launchers */

/** Queue the filling of rows that are sorted afterwards (SORTED), or not. */
template <bool SORTED>
static gpuError_t fill_matrix_of(const struct kith__gpu_sweep *sweep,
                                 const struct kith__gpu_matrix *matrix, gpuStream_t stream)
{
    return has_extras(&matrix->list) ? RUN_BY_PRECISION(sweep, stream, fill_matrix,
                                                        INITIALLY(*matrix, false), , true, SORTED)
                                     : RUN_BY_PRECISION(sweep, stream, fill_matrix,
                                                        INITIALLY(*matrix, false), , false, SORTED);
}

gpuError_t kith__gpu_fill_matrix(const struct kith__gpu_sweep *sweep,
                                 const struct kith__gpu_matrix *matrix, gpuStream_t stream)
{
    return matrix->list.extras_later ? fill_matrix_of<true>(sweep, matrix, stream)
                                     : fill_matrix_of<false>(sweep, matrix, stream);
}

gpuError_t kith__gpu_finish_matrix(const struct kith__gpu_grid *grid,
                                   const struct kith__gpu_matrix *matrix,
                                   struct kith__gpu_matrix_totals *totals, gpuStream_t stream)
{
    const int64_t wanted = (matrix->last - matrix->first + FINISH_WARPS - 1) / FINISH_WARPS;
    const int64_t blocks = wanted < FINISH_BLOCKS ? wanted : FINISH_BLOCKS;
    if (blocks == 0) {
        return gpuSuccess;
    }
    if (grid->question.precision == KITH_FLOAT) {
        KITH_LAUNCH(finish_rows<float>, blocks, FINISH_THREADS, stream, grid->plan, *matrix,
                    totals);
    } else {
        KITH_LAUNCH(finish_rows<double>, blocks, FINISH_THREADS, stream, grid->plan, *matrix,
                    totals);
    }
    return gpuGetLastError();
}

gpuError_t kith__gpu_write_totals(const struct kith__gpu_grid *grid,
                                  const struct kith__gpu_matrix_totals *totals, int64_t *result,
                                  gpuStream_t stream)
{
    KITH_LAUNCH(write_totals, 1, 1, stream, grid->plan, totals, result);
    return gpuGetLastError();
}
