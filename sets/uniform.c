/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Uniform random points.
 */
#include "random.h"
#include "sets.h"

void sets_uniform(double *xyz, int64_t n, uint64_t seed)
{
    random_state random = random_start(seed);
    for (int64_t k = 0; k < 3 * n; k++) {
        xyz[k] = random_unit(&random);
    }
}
