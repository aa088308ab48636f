/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stream that a context of a GPU works on. A host function that sleeps is queued on a stream,
 * then a call is made, which ends after the sleep exactly if its work waits for that stream. This
 * tells the stream of the options, that of kith_set_stream, the default stream, the default stream
 * of the thread, and the context's own. Then every call of the library is made while the stream is
 * being captured.
 */
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

#define CU(call) CHECK((call) == cudaSuccess, "%s", cudaGetErrorString(cudaGetLastError()))

static atomic_bool slept;

/** Function of a stream: what is queued behind it waits. */
static void sleep_long(void *user)
{
    (void)user;
    usleep(150000);
    atomic_store(&slept, true);
}

/** @return whether a call of a context waits for the work that is on a stream */
static bool waits(kith_ctx *ctx, cudaStream_t stream)
{
    static const double xyz[4][3] = {{0, 0, 0}, {0.5, 0, 0}, {0, 0.5, 0}, {3, 3, 3}};
    const kith_points points = kith_points_packed(xyz, 4, KITH_DOUBLE);
    int64_t n = 0;
    CU(cudaDeviceSynchronize());
    atomic_store(&slept, false);
    CU(cudaLaunchHostFunc(stream, sleep_long, NULL));
    CHECK(kith_pairs_count(ctx, &points, NULL, 1, NULL, &n, NULL) == KITH_OK && n == 3,
          "%lld pairs: %s", (long long)n, kith_message(ctx));
    const bool waited = atomic_load(&slept);
    CU(cudaDeviceSynchronize());
    return waited;
}

static kith_ctx *open_on(const char *backend, cudaStream_t stream)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = backend;
    options.stream = stream;
    kith_ctx *ctx = NULL;
    if (CHECK(kith_open(&options, &ctx) == KITH_OK, "%s", kith_message(NULL)))
        (void)waits(ctx, stream); /* makes the scratch memory: allocations wait for all streams */
    return ctx;
}

static void must_set_stream(kith_ctx *ctx, cudaStream_t stream)
{
    CHECK(kith_set_stream(ctx, stream) == KITH_OK, "%s", kith_message(ctx));
}

/** The stream that is named when a context is opened. */
static void check_options(const char *backend, cudaStream_t stream, cudaStream_t blocking)
{
    kith_ctx *ctx = open_on(backend, stream);
    CHECK(waits(ctx, stream), "options.stream: the work is on another stream");
    CHECK(!waits(ctx, blocking), "options.stream: the call waits for all streams");
    kith_close(ctx);

    ctx = open_on(backend, NULL);
    CHECK(waits(ctx, NULL), "the context's own stream is not ordered with the default stream");
    CHECK(!waits(ctx, blocking) && !waits(ctx, stream), "the context has no stream of its own");
    kith_close(ctx);

    ctx = open_on(backend, cudaStreamPerThread);
    CHECK(waits(ctx, cudaStreamPerThread), "options.stream 2 is not the thread's default stream");
    CHECK(!waits(ctx, blocking), "options.stream 2 is the default stream of the process");
    kith_close(ctx);
}

/** The stream of an open context; after a refusal it is the old one. */
static void check_set(const char *backend, cudaStream_t stream, cudaStream_t blocking)
{
    kith_ctx *ctx = open_on(backend, NULL);
    must_set_stream(ctx, stream);
    CHECK(waits(ctx, stream) && !waits(ctx, blocking), "kith_set_stream: another stream");
    must_set_stream(ctx, NULL);
    CHECK(waits(ctx, blocking), "NULL is not the default stream");
    CHECK(!waits(ctx, stream), "the old stream is waited for");
    must_set_stream(ctx, cudaStreamPerThread);
    CHECK(waits(ctx, cudaStreamPerThread), "2 is not the thread's default stream");
    CHECK(!waits(ctx, blocking), "2 is the default stream of the process");

    must_set_stream(ctx, stream);
    cudaGraph_t graph = NULL;
    CU(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeThreadLocal));
    CHECK(kith_set_stream(ctx, NULL) == KITH_UNSUPPORTED, "%s", kith_message(ctx));
    CHECK(strstr(kith_message(ctx), "captured"), "%s", kith_message(ctx));
    CU(cudaStreamEndCapture(blocking, &graph));
    CU(cudaGraphDestroy(graph));
    CHECK(waits(ctx, stream) && !waits(ctx, blocking), "a refused change has changed the stream");
    kith_close(ctx);
}

/** What a call returns while its stream is captured. Calls that use the host alone are done: rows
 *  of overlaps, changes of a flock's memory there, and what a kept list notes for its next update.
 *  Nothing was taken that kith_glance_see could show. */
static kith_status expected(const char *name)
{
    static const char *const on_host[] = {
        "kith_overlap_rows", "kith_flock_open",  "kith_flock_change",  "kith_glance_choose",
        "kith_verlet_open",  "kith_verlet_read", "kith_verlet_rebuild"};
    for (size_t k = 0; k < sizeof on_host / sizeof *on_host; k++)
        if (strcmp(name, on_host[k]) == 0)
            return KITH_OK;
    return strcmp(name, "kith_glance_see") == 0 ? KITH_INVALID : KITH_UNSUPPORTED;
}

/** No call becomes a part of a graph, and none makes its capture fail. */
static void check_captured(const char *backend, cudaStream_t stream)
{
    world *w = world_open(backend, NULL, NULL);
    for (int c = 0; c < n_calls; c++)
        CHECK(calls[c].make(w, NO_FAULT) == KITH_OK, "%s: %s", calls[c].name, kith_message(w->ctx));
    CHECK(kith_flock_step(w->flock, 1) == KITH_OK, "%s", kith_message(w->ctx));
    must_set_stream(w->ctx, stream);
    cudaGraph_t graph = NULL;
    size_t nodes = 0;
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int c = 0; c < n_calls; c++) {
        const kith_status status = calls[c].make(w, NO_FAULT);
        CHECK(status == expected(calls[c].name), "%s: %s: %s", calls[c].name,
              kith_status_name(status), kith_message(w->ctx));
    }
    if (CU(cudaStreamEndCapture(stream, &graph))) {
        CU(cudaGraphGetNodes(graph, NULL, &nodes));
        CHECK(nodes == 0, "%zu nodes of refused calls", nodes);
        CU(cudaGraphDestroy(graph));
    }
    for (int c = 0; c < n_calls; c++)
        CHECK(calls[c].make(w, NO_FAULT) == KITH_OK, "%s after the capture: %s", calls[c].name,
              kith_message(w->ctx));
    world_close(w);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); /* else streams may wait for one another */
    kith_close(check_open(backend, 1));
    cudaStream_t stream, blocking;
    CU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CU(cudaStreamCreate(&blocking));
    check_options(backend, stream, blocking);
    check_set(backend, stream, blocking);
    check_captured(backend, stream);
    CU(cudaStreamDestroy(stream));
    CU(cudaStreamDestroy(blocking));
    return check_done();
}
