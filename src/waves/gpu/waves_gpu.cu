/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over plane waves on a GPU. A thread adds exp(i q.r) of one wave over the particles of a
 * piece, which are of one species, one after another; the sums of pieces are added in order. Phases
 * are integers in units of 2^-64 turns: h times a phase wraps modulo 2^64, one turn, without
 * rounding.
 */
#include "waves_gpu.h"

#include "engine/gpu/device.cuh"
#include "waves/wave_phase.h"

enum {
    THREADS = 128, /**< threads of a block */
    TILE = 256     /**< particles in shared memory */
};

/** Compute the phases of each particle, one in each thread, and all.bad. */
static __global__ void phases_kernel(const struct kith__gpu_waves all)
{
    const struct kith__question &q = all.question;
    const int64_t s = my_item();
    if (s >= q.a.n) {
        return;
    }
    double t[3];
    const int32_t p = all.id[s];
    const kith_status status = kith__wave_phase(&q, p, t);
    if (status != KITH_OK) {
        atomicMin(all.bad, 2ull * (unsigned long long)p + (status == KITH_LIMIT));
    }
    for (int k = 0; k < 3; k++) {
        const double half_turns = 9223372036854775808.0; /* 2^63 */
        /* rounded to 2^-63 turns, as t * 2^64 may exceed an int64_t; 0 for a bad particle */
        all.phases[k][s] = status == KITH_OK ? (uint64_t)(int64_t)rint(t[k] * half_turns) << 1 : 0;
    }
}

/** Sum waves over pieces: each block sums THREADS waves, one in each thread, over one piece. The
 *  blocks of piece 0 come first. */
static __global__ void __launch_bounds__(THREADS) add_kernel(const struct kith__gpu_waves all)
{
    __shared__ uint64_t tile[3][TILE];
    const int64_t n = all.end - all.begin;
    const int64_t blocks = (n + THREADS - 1) / THREADS; /* blocks of each piece */
    const int64_t number = blockIdx.x / blocks;         /* of the piece */
    const struct kith__piece piece = all.piece[number];
    const int64_t w = blockIdx.x % blocks * THREADS + threadIdx.x; /* wave, from all.begin on */
    uint64_t power[3] = {0, 0, 0};
    for (int k = 0; k < 3 && w < n; k++) {
        power[k] = (uint64_t)(int64_t)all.hkl[3 * (all.begin + w) + k];
    }
    double real = 0, imaginary = 0;
    for (int32_t begin = piece.begin; begin < piece.end; begin += TILE) {
        const int here = piece.end - begin < TILE ? piece.end - begin : TILE;
        __syncthreads();
        for (int p = (int)threadIdx.x; p < here; p += THREADS) {
            for (int k = 0; k < 3; k++) {
                tile[k][p] = all.phases[k][begin + p];
            }
        }
        __syncthreads();
#pragma unroll 2
        for (int p = 0; p < here; p++) {
            const uint64_t phase = power[0] * tile[0][p] + power[1] * tile[1][p] +
                                   power[2] * tile[2][p];
            double s, c;
            /* as a signed integer, the phase is -2^63 to 2^63 - 1: -1/2 to 1/2 turns */
            sincospi((double)(int64_t)phase * (1 / 9223372036854775808.0), &s, &c);
            real += c;
            imaginary += s;
        }
    }
    if (w < n) {
        all.part[number * n + w][0] = real;
        all.part[number * n + w][1] = imaginary;
    }
}

/** Add the sums of the pieces of one species for one wave, in order; one thread for each wave and
 *  species. */
static __global__ void finish_kernel(const struct kith__gpu_waves all)
{
    const int64_t n = all.end - all.begin;
    const int64_t at = my_item();
    const int64_t w = at % n;
    const int64_t species = at / n;
    if (species >= all.n_species) {
        return;
    }
    double real = 0, imaginary = 0;
    for (int64_t p = 0; p < all.pieces; p++) {
        if (all.piece[p].species == species) {
            real += all.part[p * n + w][0];
            imaginary += all.part[p * n + w][1];
        }
    }
    double *const sum = all.sums[(all.begin + w) * all.n_species + species];
    sum[0] = real;
    sum[1] = imaginary;
}

gpuError_t kith__gpu_compute_phases(const struct kith__gpu_waves *waves, gpuStream_t stream)
{
    KITH_LAUNCH(phases_kernel, blocks_for(waves->question.a.n, THREADS), THREADS, stream, *waves);
    return gpuGetLastError();
}

gpuError_t kith__gpu_add_waves(const struct kith__gpu_waves *waves, gpuStream_t stream)
{
    const int64_t n = waves->end - waves->begin;
    KITH_LAUNCH(add_kernel, blocks_for(n, THREADS) * waves->pieces, THREADS, stream, *waves);
    KITH_LAUNCH(finish_kernel, blocks_for(n * waves->n_species, THREADS), THREADS, stream, *waves);
    return gpuGetLastError();
}
