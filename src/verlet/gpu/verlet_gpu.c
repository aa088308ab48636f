/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists that are kept over steps, on a GPU: each update searches.
 */
#include "verlet/verlet.h"

const struct kith__verlet_backend kith__cuda_verlet = {.update = NULL};
