/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rungs 7 and 8: the library on a GPU. Points are sorted by cell, but a warp has up to 32 adjacent
 * points, and each of its lanes holds one candidate in registers and tests it against all of them.
 * Hits are packed in shared memory and written as complete cache lines; candidates are never
 * stored. A list with a reproducible order takes two passes, a list in any order one.
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
