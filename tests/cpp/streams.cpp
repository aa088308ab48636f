/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The streams of a context in C++: one that is set, the default stream, and the one that a new
 * context has of its own. A call ends after a function that sleeps on a stream exactly if its work
 * waits for that stream.
 */
#include <kith/kith.hpp>

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace
{

int failures = 0;
std::atomic<bool> slept{false};

void check(bool right, const char *what)
{
    if (!right) {
        std::printf("wrong: %s\n", what);
        failures++;
    }
}

void sleep_long(void *)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    slept = true;
}

/** Whether a call of a context waits for the work that is on a stream. */
bool waits(kith::context &ctx, cudaStream_t stream)
{
    static const double xyz[3][3] = {{0, 0, 0}, {0.5, 0, 0}, {3, 3, 3}};
    check(cudaDeviceSynchronize() == cudaSuccess, "the device fails");
    slept = false;
    check(cudaLaunchHostFunc(stream, sleep_long, nullptr) == cudaSuccess, "nothing is queued");
    check(ctx.pairs(kith::points(xyz[0], 3), 1).size() == 1, "one pair");
    const bool waited = slept;
    check(cudaDeviceSynchronize() == cudaSuccess, "the device fails");
    return waited;
}

} // namespace

int main()
{
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); // else streams may wait for one another
    kith_options options;
    kith_options_init(&options);
    options.backend = "cuda";
    try {
        kith::context ctx(&options);
        cudaStream_t stream = nullptr, blocking = nullptr;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                  cudaStreamCreate(&blocking) == cudaSuccess,
              "no streams");
        (void)waits(ctx, nullptr); // makes the scratch memory: allocations wait for all streams
        check(waits(ctx, nullptr), "a new context is not ordered with the default stream");
        check(!waits(ctx, blocking) && !waits(ctx, stream),
              "a new context has no stream of its own");
        ctx.set_stream(stream);
        kith::context moved = std::move(ctx);
        check(waits(moved, stream) && !waits(moved, blocking), "the stream that was set");
        moved.set_stream(nullptr);
        check(waits(moved, blocking), "nullptr is not the default stream");
        cudaStreamDestroy(stream);
        cudaStreamDestroy(blocking);
    } catch (const kith::error &error) {
        const bool skipped = error.status() == KITH_NO_BACKEND;
        std::printf("%s%s\n", skipped ? "skipped: " : "", error.what());
        return skipped ? 77 : 1;
    }
    return failures > 0;
}
