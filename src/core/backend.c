/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing a backend by its name: "auto", "cpu", "cpu:avx2", "cuda:1". "auto" is the first of the
 * table `backends` that can be opened. The part after the colon, the variant, goes to the backend.
 */
#include "backend.h"

#include <string.h>

#ifndef KITH_HAVE_CUDA
/** Open the cuda backend in a build without it: fails with a message. */
static kith_status absent_open(kith_ctx *ctx, const char *variant)
{
    (void)variant;
    return kith__fail(ctx, KITH_NO_BACKEND,
                      "backend \"cuda\" is not in this build of kith: configure with a CUDA "
                      "compiler and KITH_CUDA=ON");
}

const struct kith__backend kith__cuda_backend = {.name = "cuda", .open = absent_open};
#endif

/** All backends, in the order in which "auto" tries them. */
static const struct kith__backend *const backends[] = {&kith__cuda_backend, &kith__cpu_backend};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

const struct kith__memory *kith__memory_of(const kith_ctx *ctx, kith_memory where)
{
    static const struct kith__memory host = {kith__buffer_need, kith__buffer_free};
    return where == KITH_DEVICE ? ctx->backend->device_memory : &host;
}

kith_status kith__backend_open(kith_ctx *ctx, const char *name)
{
    if (strcmp(name, "auto") == 0) {
        kith_status status = KITH_NO_BACKEND;
        for (int b = 0; b < BACKENDS && status == KITH_NO_BACKEND; b++) {
            ctx->backend = backends[b];
            status = backends[b]->open(ctx, "");
        }
        return status;
    }
    for (int b = 0; b < BACKENDS; b++) {
        const size_t length = strlen(backends[b]->name);
        /* the character after the backend's name; 'x' when `name` begins otherwise */
        const char next = strncmp(name, backends[b]->name, length) == 0 ? name[length] : 'x';
        if (next == '\0' || (next == ':' && name[length + 1])) {
            ctx->backend = backends[b];
            return backends[b]->open(ctx, next == ':' ? name + length + 1 : "");
        }
    }
    return kith__fail(ctx, KITH_INVALID,
                      "backend \"%s\" is unknown; known are auto, cpu, cpu:baseline, cpu:avx2, "
                      "cpu:avx512, cuda, cuda:N",
                      name);
}
