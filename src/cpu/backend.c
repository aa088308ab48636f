/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU backend: one kernel source, compiled for several instruction sets, picked here.
 */
#include "../backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

/** The best instructions that run here, of those with that name, if it is not ""; NULL: none. */
static const struct kith__kernel *choose(const char *name)
{
    const struct kith__kernel *runs[3]; /* on this processor; best first */
    int n = 0;
#ifdef KITH_HAVE_AVX2
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
#ifdef KITH_HAVE_AVX512
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        runs[n++] = &kith__kernel_avx512;
    }
#endif
    if (avx2) {
        runs[n++] = &kith__kernel_avx2;
    }
#endif
    runs[n++] = &kith__kernel_baseline;
    for (int k = 0; k < n; k++) {
        if (!*name || strcmp(name, runs[k]->name) == 0) {
            return runs[k];
        }
    }
    return NULL;
}

static bool is_known(const char *variant)
{
    static const char *const known[] = {"", "baseline", "avx2", "avx512"};
    bool found = false;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        found = found || strcmp(variant, known[k]) == 0;
    }
    return found;
}

static kith_status cpu_open(kith_ctx *ctx, const char *variant)
{
    KITH_CHECK(ctx, is_known(variant), KITH_INVALID,
               "backend \"cpu:%s\" is unknown; known are cpu, cpu:baseline, cpu:avx2, cpu:avx512",
               variant);
    const struct kith__kernel *kernel = choose(variant);
    KITH_CHECK(ctx, kernel != NULL, KITH_NO_BACKEND,
               "backend \"cpu:%s\": this processor or build has no such instructions", variant);

    struct kith__cpu *cpu = calloc(1, sizeof *cpu);
    struct kith__sweep *sweeps = calloc((size_t)ctx->threads, sizeof *sweeps);
    if (!cpu || !sweeps) {
        free(cpu);
        free(sweeps);
        return kith__fail(ctx, KITH_NO_MEMORY, "out of memory for %d threads", ctx->threads);
    }
    *cpu = (struct kith__cpu){.kernel = kernel, .sweeps = sweeps};
    ctx->state = cpu;
    snprintf(ctx->name, sizeof ctx->name, "cpu:%s", kernel->name);
    return KITH_OK;
}

static void cpu_close(kith_ctx *ctx)
{
    struct kith__cpu *cpu = ctx->state;
    for (int t = 0; t < ctx->threads; t++) {
        kith__sweep_free(&cpu->sweeps[t]);
    }
    kith_pairs_free(&cpu->staging);
    free(cpu->sweeps);
    free(cpu);
}

static int64_t cpu_scratch_bytes(const kith_ctx *ctx)
{
    const struct kith__cpu *cpu = ctx->state;
    int64_t bytes = 0;
    for (int t = 0; t < ctx->threads; t++) {
        const struct kith__sweep *s = &cpu->sweeps[t];
        bytes += (int64_t)(sizeof *s + s->tile.memory.bytes + s->spare.memory.bytes +
                           s->tally.memory.bytes);
        for (int b = 0; b < KITH_SWEEP_BUFFERS; b++) {
            bytes += (int64_t)s->memory[b].bytes;
        }
    }
    return bytes;
}

const struct kith__backend kith__cpu_backend = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .scratch_bytes = cpu_scratch_bytes,
    .pairs_count = kith__cpu_pairs_count,
    .pairs_fill = kith__cpu_pairs_fill,
    .pairs_each = kith__cpu_pairs_each,
    .fof_find = kith__cpu_fof_find,
    .halos_measure = kith__cpu_halos_measure,
    .rdf_count = kith__cpu_rdf_count,
    .waves_sum = kith__cpu_waves_sum,
    .debye_sum = kith__cpu_debye_sum,
    .flock_step = kith__cpu_flock_step,
    .overlap_count = kith__cpu_overlap_count,
};
