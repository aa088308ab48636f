/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums on CPU cores: threads take a piece and a run of q at a time.
 */
#include "run.h"

kith_status kith__cpu_debye_sum(kith_ctx *ctx, const struct kith__debye *debye)
{
    struct kith__debye job = *debye;
    const int64_t tasks = (debye->n_q + KITH_DEBYE_RUN - 1) / KITH_DEBYE_RUN * debye->pieces;
    struct kith__question none = {.cutoff = 1};
    struct kith__grid grid = {.cells = 0};
    struct kith__run run = kith__run_of(ctx, tasks);
    run.block = kith__kernel_of(ctx)->sum_sines;
    run.job = &job;
    kith__run_prepare(ctx, &none, &grid, KITH_ALL);
    return tasks > 0 ? kith__run(&run) : KITH_OK;
}
