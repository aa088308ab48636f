/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs 7 and 8: the library on a GPU. Points sorted by cell as before, but a warp takes up to 32
 * points beside each other, and each of its lanes decides one candidate, held in registers, against
 * all of them; hits are packed in shared memory and written in full lines; no candidate is ever
 * stored. A list that is the same in each run takes two passes, one in any order a single one.
 */
#include "rung_gpu.h"

static bool fill(const rung_input *in, int unordered, kith_pairs *list, int64_t *scratch)
{
    kith_ctx *const ctx = in->gpu->ctx;
    kith_points points = kith_points_packed(in->gpu->xyz, in->n, KITH_DOUBLE);
    kith_pairs_options options;
    kith_pairs_options_init(&options);
    options.unordered = unordered;
    points.memory = KITH_DEVICE;
    list->memory = KITH_DEVICE;
    kith_status status = kith_pairs_fill(ctx, &points, NULL, in->cutoff, &options, list);
    if (status == KITH_CAPACITY && rung_gpu_reserve(list, list->n)) {
        status = kith_pairs_fill(ctx, &points, NULL, in->cutoff, &options, list);
    }
    *scratch = kith_scratch_bytes(ctx);
    return status == KITH_OK;
}

bool rung_gpu_fill(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    return fill(in, 0, list, scratch);
}

bool rung_gpu_fill_unordered(const rung_input *in, kith_pairs *list, int64_t *scratch)
{
    return fill(in, 1, list, scratch);
}
