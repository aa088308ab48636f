/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums on CPU cores: one task for each piece and run of q (debye.h). The tasks run as the
 * work blocks of a sweep over an empty grid (engine/cpu/run.h), which provides threads and the test
 * for cancellation.
 */
#include "engine/cpu/run.h"
#include "debye_cpu.h"

/** kith__debye_backend.sum */
static kith_status sum_debye(kith_ctx *ctx, const struct kith__debye *debye)
{
    static kith__work_fn *const sum_sines[] = {KITH_EACH_ISA(sum_sines)};
    struct kith__debye job = *debye;
    const int64_t tasks = (debye->n_q + KITH_DEBYE_RUN - 1) / KITH_DEBYE_RUN * debye->pieces;
    struct kith__question none = {.cutoff = 1}; /* kith__run_prepare divides by the cutoff */
    struct kith__grid grid = {.cells = 0};
    struct kith__run run = kith__run_of(ctx, tasks);
    run.block = sum_sines[kith__isa(ctx)];
    run.job = &job;
    KITH_TRY(kith__run_prepare(ctx, &none, &grid, KITH_ALL, 0));
    return tasks > 0 ? kith__run(&run) : KITH_OK;
}

const struct kith__debye_backend kith__cpu_debye = {
    .sum = sum_debye,
};
