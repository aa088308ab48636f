/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing a table of cutoffs to device memory as parameters of kernels. A captured graph keeps the
 * parameters; a copy would read the host's memory again at each replay, when it may have changed.
 */
#include "engine/gpu/device.cuh"
#include <string.h>
#include "pairs_gpu.h"

enum { PUT_WORDS = 512 /**< words of a piece: 2 KiB of the 4 KiB for a kernel's parameters */ };

/** A piece of an array, as a parameter of a kernel. */
struct put_piece {
    uint32_t word[PUT_WORDS]; /**< contents of the piece */
};

/** Write the first n words of a piece, a word by each of PUT_WORDS threads. */
static __global__ void put(uint32_t *to, const struct put_piece piece, int n)
{
    const int w = (int)threadIdx.x;
    if (w < n) {
        to[w] = piece.word[w];
    }
}

gpuError_t kith__gpu_put(void *to, const void *from, size_t bytes, gpuStream_t stream)
{
    gpuError_t error = gpuSuccess;
    for (size_t at = 0; at < bytes && error == gpuSuccess; at += sizeof(struct put_piece)) {
        const size_t left = bytes - at;
        const size_t now = left < sizeof(struct put_piece) ? left : sizeof(struct put_piece);
        struct put_piece piece = {};
        memcpy(&piece, (const char *)from + at, now);
        KITH_LAUNCH(put, 1, PUT_WORDS, stream, (uint32_t *)((char *)to + at), piece,
                    (int)(now / sizeof(uint32_t)));
        error = gpuGetLastError();
    }
    return error;
}
