/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of flocks of a build without a GPU compiler.
 */
#include "rung_flock_gpu.h"

#include <stdio.h>

bool rung_flock_gpu_climb(const rung_truth *truth, int64_t most)
{
    (void)truth;
    (void)most;
    printf("\nno rungs for GPUs: this build has none\n");
    return true;
}
