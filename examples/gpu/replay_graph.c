/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A CUDA graph with a search: each replay copies new coordinates to the GPU, finds the pairs, and
 * copies their number back, by one call of the driver. Checks the numbers with plain calls.
 */
#include <kith.h>

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>

enum { N = 20000, STEPS = 10, CAPACITY = 400000, SKIPPED = 77 };

int main(void)
{
    const size_t bytes = sizeof(double[N][3]);
    kith_options options;
    kith_options_init(&options);
    options.backend = "cuda";
    kith_ctx *ctx = NULL;
    if (kith_open(&options, &ctx) != KITH_OK) {
        printf("skipped: %s\n", kith_message(NULL));
        return SKIPPED;
    }
    cudaStream_t stream;
    double(*xyz)[3], *x;
    int64_t *n, *result;
    kith_pairs list = {.capacity = CAPACITY, .memory = KITH_DEVICE};
    if (cudaStreamCreate(&stream) || cudaMallocHost((void **)&xyz, bytes) ||
        cudaMallocHost((void **)&n, sizeof *n) || cudaMalloc((void **)&x, bytes) ||
        cudaMalloc((void **)&list.i, CAPACITY * sizeof *list.i) ||
        cudaMalloc((void **)&list.j, CAPACITY * sizeof *list.j) ||
        cudaMalloc((void **)&result, sizeof *result) || cudaMemset(x, 0, bytes)) {
        puts("no memory");
        return 1;
    }
    kith_points points = kith_points_packed(x, N, KITH_DOUBLE);
    points.memory = KITH_DEVICE;
    const kith_box box = kith_box_periodic(1, 1, 1);
    const double cutoff = 0.05;

    /* The call before the capture makes the scratch memory that the graph uses. */
    cudaGraph_t graph;
    cudaGraphExec_t step;
    kith_status status = kith_set_stream(ctx, stream);
    if (status == KITH_OK) {
        status = kith_pairs_enqueue(ctx, &points, &box, cutoff, NULL, &list, result);
    }
    if (status == KITH_OK && !cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal)) {
        cudaMemcpyAsync(x, xyz, bytes, cudaMemcpyHostToDevice, stream);
        status = kith_pairs_enqueue(ctx, &points, &box, cutoff, NULL, &list, result);
        cudaMemcpyAsync(n, result, sizeof *n, cudaMemcpyDeviceToHost, stream);
    }
    if (status != KITH_OK || cudaStreamEndCapture(stream, &graph) ||
        cudaGraphInstantiate(&step, graph, 0)) {
        printf("no graph: %s\n", kith_message(ctx));
        return 1;
    }

    int wrong = 0;
    for (int t = 0; t < STEPS; t++) {
        for (int p = 0; p < N; p++) { /* a spiral that turns */
            const double turn = 0.37 * p + 0.1 * t, radius = 0.4 * sqrt((double)p / N);
            xyz[p][0] = 0.5 + radius * cos(turn);
            xyz[p][1] = 0.5 + radius * sin(turn);
            xyz[p][2] = fmod(0.618 * p + 0.01 * t * (p % 7), 1);
        }
        int64_t expected = 0;
        if (cudaGraphLaunch(step, stream) || cudaStreamSynchronize(stream) ||
            kith_pairs_count(ctx, &points, &box, cutoff, NULL, &expected, NULL) != KITH_OK) {
            printf("step %d: %s\n", t, kith_message(ctx));
            return 1;
        }
        printf("step %d: %lld pairs\n", t, (long long)*n);
        wrong += *n != expected || *n > CAPACITY;
    }
    kith_close(ctx); /* after the last replay */
    cudaGraphExecDestroy(step);
    cudaGraphDestroy(graph);
    cudaFree(list.i);
    cudaFree(list.j);
    cudaFree(result);
    cudaFree(x);
    cudaFreeHost(xyz);
    cudaFreeHost(n);
    cudaStreamDestroy(stream);
    return wrong ? 1 : 0;
}
