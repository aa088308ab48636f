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
