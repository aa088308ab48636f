/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ladder of pair distributions of a build without a GPU compiler.
 */
#include "rung_rdf_gpu.h"

#include <stdio.h>

bool rung_rdf_gpu_climb(int64_t n, int64_t bins)
{
    (void)n;
    (void)bins;
    printf("\nno rungs for GPUs: this build has none\n");
    return true;
}
