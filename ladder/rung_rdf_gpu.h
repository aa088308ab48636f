/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Types and functions that the rungs of the ladder of pair distributions on a GPU share. Every rung
 * makes a histogram of the distances of all pairs of points in the periodic unit cube, by nearest
 * image, in bins of equal width.
 */
#ifndef KITH_RUNG_RDF_GPU_H
#define KITH_RUNG_RDF_GPU_H

#include <kith.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Input of a rung on a GPU. */
typedef struct rung_rdf_gpu {
    kith_ctx *ctx;       /**< context of the library, backend "cuda" */
    const float *xyz;    /**< points in [0, 1), in host memory [n][3] */
    int64_t n;           /**< number of points */
    float *on_device;    /**< copy of the points in device memory [n][3] */
    void *counts_device; /**< counters of 8 bytes in device memory [bins] */
    int64_t bins;        /**< number of bins */
    double r_max;        /**< upper edge of the last bin [length] */
} rung_rdf_gpu;

/** A rung: count the pairs of points that are in device memory. @param[out] counts  [bins]
 *  @return false if memory is exhausted or the library fails */
typedef bool (*rung_rdf_gpu_count)(const rung_rdf_gpu *in, int64_t *counts);

bool rung_rdf_gpu_float(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_global(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_shared(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_mainline(const rung_rdf_gpu *in, int64_t *counts);

/** Check and time the rungs, if there is a GPU. n is at most 2^24, bins at most 8192.
 *  @return false if a rung is wrong */
bool rung_rdf_gpu_run_all(int64_t n, int64_t bins);

/** Copy the points to the device. @return false if memory is exhausted */
bool rung_rdf_gpu_put(rung_rdf_gpu *in);
void rung_rdf_gpu_free(rung_rdf_gpu *in);

#ifdef __cplusplus
}
#endif

#endif
