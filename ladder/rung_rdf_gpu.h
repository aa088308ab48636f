/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the GPU's rungs of the ladder of pair distributions share. Every rung answers the same
 * question: how many pairs of points in the periodic unit cube are how far apart, each pair by its
 * nearest image, in bins of equal width.
 */
#ifndef KITH_RUNG_RDF_GPU_H
#define KITH_RUNG_RDF_GPU_H

#include <kith.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rung_rdf_gpu {
    kith_ctx *ctx;    /**< backend "cuda" */
    const float *xyz; /**< [n][3] in [0, 1) */
    int64_t n;
    float *on_device;    /**< [n][3] the same */
    void *counts_device; /**< [bins] 8 bytes each */
    int64_t bins;
    double r_max;
} rung_rdf_gpu;

/** Count. The points are on the device already. @param[out] counts  [bins]
 *  @return false when memory could not be had, or the library failed */
typedef bool (*rung_rdf_gpu_count)(const rung_rdf_gpu *in, int64_t *counts);

bool rung_rdf_gpu_float(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_global(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_shared(const rung_rdf_gpu *in, int64_t *counts);
bool rung_rdf_gpu_mainline(const rung_rdf_gpu *in, int64_t *counts);

/** Check the rungs, and time them where there is a GPU. n up to 2^24, bins up to 8192.
 *  @return false when one is wrong */
bool rung_rdf_gpu_run_all(int64_t n, int64_t bins);

/** Bring the points to the device. @return false without memory */
bool rung_rdf_gpu_put(rung_rdf_gpu *in);
void rung_rdf_gpu_free(rung_rdf_gpu *in);

#ifdef __cplusplus
}
#endif

#endif
