/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rung 4: the library. A thread holds some points in registers, so that each point in shared memory
 * is read once for all of them; bins are exact; counters in shared memory are replicated, so that
 * the lanes of a warp seldom have bank conflicts.
 */
#include "rung_rdf.h"
#include "rung_rdf_gpu.h"

bool rung_rdf_gpu_mainline(const rung_rdf_gpu *in, int64_t *counts)
{
    const kith_box box = kith_box_periodic(1, 1, 1);
    kith_points points = kith_points_packed(in->on_device, in->n, KITH_FLOAT);
    points.memory = KITH_DEVICE;
    return rung_rdf_ask(in->ctx, &points, &box, in->bins, in->r_max, counts);
}
