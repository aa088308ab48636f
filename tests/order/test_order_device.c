/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of particles in device memory, found and filled: those of the CPU.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "points.h"

enum { N = 100000 };

static void check_device(kith_ctx *cpu, kith_ctx *gpu, const double *xyz, kith_precision precision,
                         const kith_box *box, double cell)
{
    const size_t bytes = N * sizeof(int32_t), size = (size_t)N * 3 * (size_t)precision;
    stored host = stored_make(xyz, N, precision, LAYOUT_PACKED);
    void *x = NULL;
    int32_t *array = NULL, *copy = check_malloc(bytes);
    CHECK(cudaMalloc(&x, size) == cudaSuccess &&
              cudaMalloc((void **)&array, bytes) == cudaSuccess &&
              cudaMemcpy(x, host.points.x, size, cudaMemcpyHostToDevice) == cudaSuccess,
          "device memory");
    kith_points points = kith_points_packed(x, N, precision);
    points.memory = KITH_DEVICE;
    kith_order right = {.size = sizeof right};
    kith_order found = {.size = sizeof found, .memory = KITH_DEVICE};
    kith_order filled = {.size = sizeof filled, .memory = KITH_DEVICE, .order = array};
    CHECK(kith_order_find(cpu, &host.points, box, cell, &right) == KITH_OK, "%s",
          kith_message(cpu));
    CHECK(kith_order_find(gpu, &points, box, cell, &found) == KITH_OK, "%s", kith_message(gpu));
    CHECK(kith_order_fill(gpu, &points, box, cell, &filled) == KITH_OK, "%s", kith_message(gpu));
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMemcpy(copy, k ? array : found.order, bytes, cudaMemcpyDeviceToHost) ==
                  cudaSuccess,
              "copy");
        CHECK(memcmp(copy, right.order, bytes) == 0, "cell %g: %s differs from the CPU's", cell,
              k ? "filled" : "found");
    }
    kith_order_free(&right);
    kith_order_free(&found);
    cudaFree(x);
    cudaFree(array);
    free(copy);
    stored_free(&host);
}

int main(int argc, char **argv)
{
    kith_ctx *gpu = check_open(check_backend(argc, argv), 1), *cpu = check_open("cpu", 2);
    rng r = {43};
    const kith_box box = kith_box_periodic(1.0, 1.25, 0.75);
    double *xyz = points_in_box(&r, N, &box);
    points_drift(&r, xyz, N, &box, 2);
    for (int p = 0; p < 2; p++)
        for (int c = 0; c < 3; c++)
            for (int b = 0; b < 2; b++)
                check_device(cpu, gpu, xyz, p ? KITH_DOUBLE : KITH_FLOAT, b ? &box : NULL,
                             (double[]){0, 0.03, 1e-7}[c]);
    free(xyz);
    kith_close(cpu);
    kith_close(gpu);
    return check_done();
}
