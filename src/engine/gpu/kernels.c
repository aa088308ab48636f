/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The list of all kernels. A query of a kernel's attributes makes the driver load its code.
 */
#include "kernels.h"

#include <assert.h>
#include <stddef.h>

static struct kith__gpu_kernel *all_kernels; /* the list */

bool kith__gpu_list_kernel(struct kith__gpu_kernel *entry, const void *function)
{
    *entry = (struct kith__gpu_kernel){function, all_kernels};
    all_kernels = entry;
    return true;
}

gpuError_t kith__gpu_load_kernels(void)
{
    gpuError_t error = gpuSuccess;
    assert(all_kernels != NULL);
    for (const struct kith__gpu_kernel *k = all_kernels; k && error == gpuSuccess; k = k->next) {
        gpuFuncAttributes attributes;
        error = gpuFuncGetAttributes(&attributes, k->function);
    }
    return error;
}
