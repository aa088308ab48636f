/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A kernel that traps: a launch failure, after which no CUDA call works in the process.
 */
#include <cuda_runtime.h>

static __global__ void trap_kernel(void)
{
    __trap();
}

/** Queue it. @return whether it was queued */
extern "C" int trap_queue(void)
{
    trap_kernel<<<1, 1>>>();
    return cudaGetLastError() == cudaSuccess;
}
