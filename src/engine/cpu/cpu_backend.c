/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The CPU backend: the choice of an instruction set, and the life cycle of its data in a context.
 */
#include "core/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_state.h"

/* Instruction sets that this build has code for, from slow to fast, in the order of KITH_EACH_ISA
 * (isa.h): the index of a name is that of its function in an array {KITH_EACH_ISA(function)}. */
static const char *const isas[] = {
    "baseline",
#ifdef KITH_HAVE_AVX2
    "avx2",
#endif
#ifdef KITH_HAVE_AVX512
    "avx512",
#endif
};

/** Return true when this processor has the instruction set of this name, with the extensions that
 *  its kernels use: they are compiled for x86-64-v3 ("avx2") or x86-64-v4 ("avx512"). Compared by
 *  name, as the index of a set depends on the build. */
static bool can_run(const char *isa)
{
    bool can = strcmp(isa, "baseline") == 0;
#if defined(KITH_HAVE_AVX2) || defined(KITH_HAVE_AVX512)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2");
    can = can || (avx2 && strcmp(isa, "avx2") == 0) ||
          (avx2 && strcmp(isa, "avx512") == 0 && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#endif
    return can;
}

/** Return the index of the instruction set of this name in `isas`, or for the name "" that of the
 *  fastest one that this processor has; -1 when this build or the processor does not have it. */
static int choose(const char *name)
{
    int isa = (int)(sizeof isas / sizeof isas[0]) - 1;
    while (isa >= 0 && ((*name && strcmp(name, isas[isa]) != 0) || !can_run(isas[isa]))) {
        isa--;
    }
    return isa;
}

/** Return true when this is the name of an instruction set, or "", the choice of the fastest one;
 *  whether or not this build has code for it. */
static bool is_known(const char *variant)
{
    static const char *const known[] = {"", "baseline", "avx2", "avx512"};
    bool found = false;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        found = found || strcmp(variant, known[k]) == 0;
    }
    return found;
}

/** kith__backend.open: choose the instruction set, and allocate a struct kith__sweep for each
 *  thread; its buffers are allocated when they are first needed. Sets ctx->state and ctx->name. */
static kith_status cpu_open(kith_ctx *ctx, const char *variant)
{
    KITH_CHECK(ctx, is_known(variant), KITH_INVALID,
               "backend \"cpu:%s\" is unknown; known are cpu, cpu:baseline, cpu:avx2, cpu:avx512",
               variant);
    const int isa = choose(variant);
    KITH_CHECK(
        ctx, isa >= 0, KITH_NO_BACKEND,
        "backend \"cpu:%s\": this processor does not have the instruction set, or this build "
        "has no code for it",
        variant);

    struct kith__cpu *cpu = calloc(1, sizeof *cpu);
    struct kith__sweep *sweeps = calloc((size_t)ctx->threads, sizeof *sweeps);
    if (!cpu || !sweeps) {
        free(cpu);
        free(sweeps);
        return kith__fail(ctx, KITH_NO_MEMORY, "out of memory for %d threads", ctx->threads);
    }
    *cpu = (struct kith__cpu){.isa = isa, .sweeps = sweeps};
    for (int t = 0; t < ctx->threads; t++) {
        sweeps[t].ctx = ctx;
    }
    ctx->state = cpu;
    snprintf(ctx->name, sizeof ctx->name, "cpu:%s", isas[isa]);
    return KITH_OK;
}

/** kith__backend.close */
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

/** kith__backend.scratch_bytes: the working memory of all threads, without `staging`. */
static int64_t cpu_scratch_bytes(const kith_ctx *ctx)
{
    const struct kith__cpu *cpu = ctx->state;
    int64_t bytes = 0;
    for (int t = 0; t < ctx->threads; t++) {
        const struct kith__sweep *s = &cpu->sweeps[t];
        bytes += (int64_t)(sizeof *s + s->tile.memory.bytes + s->spare.memory.bytes);
        for (int b = 0; b < KITH_SWEEP_BUFFERS; b++) {
            bytes += (int64_t)s->memory[b].bytes;
        }
    }
    return bytes;
}

/* The table of operations of each question (core/questions.h), defined in src/QUESTION/cpu/. */
#define DECLARE(question) extern const struct kith__##question##_backend kith__cpu_##question;
KITH_QUESTIONS(DECLARE)

const struct kith__backend kith__cpu_backend = {.name = "cpu",
                                                .open = cpu_open,
                                                .close = cpu_close,
                                                .scratch_bytes = cpu_scratch_bytes,
#define ENTRY(question) .question = &kith__cpu_##question,
                                                KITH_QUESTIONS(ENTRY)};
