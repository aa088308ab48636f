/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "check.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

void *device_make(const void *from, size_t bytes)
{
    void *to = NULL;
    if (cudaMalloc(&to, bytes + 8) != cudaSuccess ||
        (bytes > 0 && cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess))
        exit(check_skip("no device memory"));
    return to;
}

kith_points device_points(const stored *s, void **memory)
{
    kith_points points = s->points;
    const size_t real = (size_t)points.precision;
    const char *low = points.x, *high = points.x;
    const char *axis[3] = {points.x, points.y, points.z};
    for (int k = 1; k < 3; k++) {
        low = axis[k] < low ? axis[k] : low;
        high = axis[k] > high ? axis[k] : high;
    }
    const size_t bytes = points.n == 0 ? 0
                                       : (size_t)(high - low) +
                                             ((size_t)((points.n - 1) * points.stride) + 1) * real;
    *memory = device_make(low, bytes);
    points.x = (char *)*memory + (axis[0] - low);
    points.y = (char *)*memory + (axis[1] - low);
    points.z = (char *)*memory + (axis[2] - low);
    points.memory = KITH_DEVICE;
    return points;
}

int device_holds(const void *device, const void *host, size_t bytes)
{
    void *copy = check_malloc(bytes + 8);
    if (bytes > 0)
        CHECK(cudaMemcpy(copy, device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess,
              "copy to host");
    const int same = bytes == 0 || memcmp(copy, host, bytes) == 0;
    free(copy);
    return same;
}

device_batch device_batch_make(const random_batch *batch, int cross)
{
    const size_t bytes = (size_t)(batch->systems + 1) * 8;
    device_batch made = {.given = batch_public(batch, cross)};
    made.a = device_points(&batch->points, &made.memory[0]);
    made.b = device_points(&batch->other, &made.memory[1]);
    made.memory[2] = device_make(batch->a, bytes);
    made.memory[3] = device_make(batch->b, bytes);
    made.memory[4] = device_make(batch->boxes, (size_t)batch->systems * sizeof *batch->boxes);
    made.given.memory = KITH_DEVICE;
    made.given.offsets = made.memory[2];
    made.given.against_offsets = cross ? made.memory[3] : NULL;
    made.given.boxes = batch->has_boxes ? made.memory[4] : NULL;
    made.given.dim = batch->systems > 0 ? batch->boxes[0].dim : 0;
    return made;
}

void device_batch_free(device_batch *made)
{
    for (int k = 0; k < 5; k++)
        cudaFree(made->memory[k]);
}
