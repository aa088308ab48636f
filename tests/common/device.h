/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of a test in device memory.
 */
#ifndef KITH_TEST_DEVICE_H
#define KITH_TEST_DEVICE_H

#include "batches.h"

/** Copy an array to device memory; where there is none, skip the test. Free with cudaFree. */
void *device_make(const void *from, size_t bytes);

/** Copy a set to device memory: the span of its coordinates.
 *  @param[out] memory  what to free */
kith_points device_points(const stored *s, void **memory);

/** Return 1 when an array in device memory has the bytes of one in host memory. */
int device_holds(const void *device, const void *host, size_t bytes);

/** A batch in device memory. */
typedef struct device_batch {
    kith_points a, b;
    kith_batch given;
    void *memory[5]; /* points, their offsets, boxes */
} device_batch;

/** Copy a batch to device memory. @param cross  there are two sets */
device_batch device_batch_make(const random_batch *batch, int cross);

void device_batch_free(device_batch *made);

#endif
