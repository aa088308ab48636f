/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing the rows of the result. The search stores the packed shift of each neighbour
 * (kith__pack_shift) in the first 4 bytes of its shift, or of its vector where shifts are not
 * wanted. A second kernel, a thread for each entry, replaces it by shift and vector (write_image).
 */
#ifndef KITH_GPU_NEAREST_ROWS_CUH
#define KITH_GPU_NEAREST_ROWS_CUH

#include "nearest_list.cuh"
#include "nearest_node.cuh"

/** Write the last n entries of a list, those that are used, to a row of the result: index, distance
 *  and packed shift.
 *  @param row     index of the particle
 *  @param done    entries of the row that earlier passes have written
 *  @param packed  packed shift of all entries of a list without images
 *  @return entries that hold a neighbour */
template <typename real, int K, bool IMAGES>
static __device__ __forceinline__ int write_entries(const kith_nearest &out,
                                                    const neighbour_list<real, K, IMAGES> &list,
                                                    int64_t row, int64_t done, int n,
                                                    int32_t packed)
{
    int count = 0;
#pragma unroll
    for (int e = 0; e < K; e++) {
        const int64_t at = row * out.k + done + e - (K - n);
        const bool some = list.entry[e].j() != KITH_EMPTY;
        if (e < K - n) {
            continue;
        }
        count += some;
        out.j[at] = some ? (int32_t)list.entry[e].j() : -1;
        if (out.distances) {
            ((real *)out.distances)[at] = some ? square_root(list.entry[e].r2()) : (real)INFINITY;
        }
        const int32_t shift = IMAGES ? list.shift[IMAGES ? e : 0] : packed;
        if (out.shifts) {
            out.shifts[3 * at] = shift;
        } else if (out.vectors) {
            *(int32_t *)((real *)out.vectors + 3 * at) = shift;
        }
    }
    return count;
}

/** Write vector and shift of an entry of the result, whose packed shift write_entries has stored in
 *  their memory. The shift is for the coordinates as given: the boxes that wrapping subtracted are
 *  taken into account.
 *  @param q    the points
 *  @param box  their box
 *  @param at   index of the entry among all of the result */
template <typename real>
static __device__ __forceinline__ void write_image(const struct kith__question &q,
                                                   const typename definition<real>::lattice &box,
                                                   const kith_nearest &out, int64_t at)
{
    typedef definition<real> def;
    const int64_t j = out.j[at];
    int32_t *const shifts = out.shifts + 3 * at;
    real *const vectors = (real *)out.vectors + 3 * at;
    real d[3] = {0, 0, 0};
    int32_t shift[3] = {0, 0, 0};
    if (j >= 0 && j < q.b.n) { /* a search that was stopped leaves entries unset */
        real ri[3], rj[3];
        int32_t wi[3], wj[3], s[3];
        def::load(box, q.a, q.dim, at / out.k, ri, wi);
        def::load(box, q.b, q.dim, j, rj, wj);
        kith__unpack_shift(out.shifts ? *shifts : *(const int32_t *)vectors, s);
        def::separation(box, ri, rj, s, d);
        for (int m = 0; m < 3; m++) {
            shift[m] = s[m] - wj[m] + wi[m];
        }
    }
    for (int m = 0; m < 3; m++) {
        if (out.vectors) {
            vectors[m] = d[m] + 0; /* never -0 */
        }
        if (out.shifts) {
            shifts[m] = shift[m];
        }
    }
}

#endif
