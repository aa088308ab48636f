/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums on a GPU (debye/debye.h). A thread block has a piece, and each thread a particle of
 * it, whose pairs with all later particles it sums; for each pair a recurrence gives sin(q r) / r
 * at the values of q of a run, in double. Sums are added in a fixed order.
 */
#include "engine/gpu/device.cuh"
#include "engine/gpu/gpu_sweep.h"
#include "debye_gpu.h"

enum { THREADS = KITH_DEBYE_PIECE, DEBYE_WARPS = THREADS / LANES };

/** Add sin(q r) / r of a thread's particle with particles [begin, end) of the tile in shared
 *  memory. The loop over the values of q is unrolled, so that all sums are in registers.
 *  @param q     first value of q of the run [1 / length]
 *  @param i     position of the thread's particle [length]
 *  @param sums  one for each value of q of a whole run */
static __device__ __forceinline__ void add_tile(const struct kith__debye &d, double q,
                                                const double3 &i, const double3 *tile, int begin,
                                                int end, double sums[KITH_DEBYE_RUN])
{
    for (int j = begin; j < end; j++) {
        const double x = tile[j].x - i.x, y = tile[j].y - i.y, z = tile[j].z - i.z;
        const double r = fmax(sqrt(x * x + y * y + z * z), d.least);
        const double part = 1 / r;
        double now = part * sin(q * r);
        double before = part * sin((q - d.q_width) * r);
        const double twice = 2 * cos(d.q_width * r);
#pragma unroll
        for (int k = 0; k < KITH_DEBYE_RUN; k++) {
            sums[k] += now;
            const double next = twice * now - before;
            before = now;
            now = next;
        }
    }
}

/** Add the sums of all threads of a block, and write those of the first n_q values of q.
 *  @param[out] to  [n_q] */
static __device__ __forceinline__ void write_sums(const double sums[KITH_DEBYE_RUN], int n_q,
                                                  double *to)
{
    __shared__ double part[DEBYE_WARPS][KITH_DEBYE_RUN];
#pragma unroll
    for (int k = 0; k < KITH_DEBYE_RUN; k++) {
        const double sum = sum_lanes(sums[k]);
        if (my_lane() == 0) {
            part[my_warp()][k] = sum;
        }
    }
    __syncthreads();
    const int k = (int)threadIdx.x;
    if (k < n_q) {
        double sum = 0;
        for (int w = 0; w < DEBYE_WARPS; w++) {
            sum += part[w][k];
        }
        to[k] = sum;
    }
    __syncthreads();
}

/** Sum the pairs of one piece with each species at one run of q; one thread block for each piece.
 *  @param first_piece  piece of the first block
 *  @param first        number of the first value of q of the run
 *  @param n_q          values of q of the run
 *  @param q            first value of q of the run [1 / length]
 *  @param stop         the stop flag in device memory */
static __global__ void __launch_bounds__(THREADS)
    debye_kernel(const struct kith__debye d, int64_t first_piece, int64_t first, int n_q, double q,
                 const unsigned *stop)
{
    __shared__ double3 tile[THREADS];
    __shared__ bool is_stopped; /* the host has set the stop flag: read once a tile */
    const int64_t piece = first_piece + blockIdx.x;
    const struct kith__piece p = d.piece[piece];
    const int me = (int)threadIdx.x;
    const int64_t mine = p.begin + me;
    const bool there = mine < p.end;
    const int64_t at = there ? mine : p.begin;
    const double3 i = make_double3(d.xyz[0][at], d.xyz[1][at], d.xyz[2][at]);
    for (int32_t b = p.species; b < d.n_species; b++) {
        double sums[KITH_DEBYE_RUN];
#pragma unroll
        for (int k = 0; k < KITH_DEBYE_RUN; k++) {
            sums[k] = 0;
        }
        const int64_t end = d.first[b + 1];
        const int64_t start = b == p.species ? p.begin : d.first[b];
        for (int64_t from = start; from < end; from += THREADS) {
            const int64_t j = from + me;
            __syncthreads();
            if (me == 0) {
                is_stopped = *(const volatile unsigned *)stop >= KITH_GPU_STOP;
            }
            if (j < end) {
                tile[me] = make_double3(d.xyz[0][j], d.xyz[1][j], d.xyz[2][j]);
            }
            __syncthreads();
            if (is_stopped) {
                break;
            }
            const int n = end - from < THREADS ? (int)(end - from) : THREADS;
            /* the first tile of the piece's own species begins with the piece: the thread's own
             * particle is number me of it, and later ones follow */
            const int own = b == p.species && from == start ? me + 1 : 0;
            add_tile(d, q, i, tile, own, there ? n : 0, sums);
        }
        write_sums(sums, n_q, d.sums + (piece * d.n_species + b) * d.n_q + first);
    }
}

gpuError_t kith__gpu_debye_run(const struct kith__debye *d, int64_t run, int64_t piece,
                               int64_t pieces, const unsigned *stop, gpuStream_t stream)
{
    const int64_t first = run * KITH_DEBYE_RUN;
    const int64_t left = d->n_q - first;
    const int n_q = left < KITH_DEBYE_RUN ? (int)left : KITH_DEBYE_RUN;
    KITH_LAUNCH(debye_kernel, pieces, THREADS, stream, *d, piece, first, n_q,
                d->q_min + (double)first * d->q_width, stop);
    return gpuGetLastError();
}
