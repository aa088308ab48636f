/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of all kernels, and their loading. The driver copies the code of a kernel to the device
 * when the kernel is first launched ("lazy loading"). While a launch waits for that behind a long
 * kernel, work on other streams does not begin, among it the copy of the stop flag by which a call
 * is cancelled (kith__gpu.stop in gpu_state.h). So a context loads all kernels when it is opened.
 */
#ifndef KITH_GPU_KERNELS_H
#define KITH_GPU_KERNELS_H

#include <stdbool.h>

#include "gpu.h"

/** A kernel of the list. */
struct kith__gpu_kernel {
    const void *function;          /**< the kernel */
    struct kith__gpu_kernel *next; /**< next kernel of the list; NULL at its end */
};

#ifdef __cplusplus
extern "C" {
#endif

/** Add a kernel to the list. Called by static initialisers (device.cuh), before main() begins.
 *  @return true */
bool kith__gpu_list_kernel(struct kith__gpu_kernel *entry, const void *function);

/** Load all kernels of the list to the current device.
 *  @return gpuSuccess; an error when this build's code does not run on the device */
gpuError_t kith__gpu_load_kernels(void);

#ifdef __cplusplus
}
#endif

#endif
