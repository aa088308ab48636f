/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks, and what they share: options, contexts, sets of points.
 */
#ifndef KITH_BENCH_H
#define KITH_BENCH_H

#include <io.h> /* arrays of either precision */
#include <kith.h>

#include "harness.h"
#include "rung.h"
#include "rung_hash.h"

enum { BENCH_MOST_THREADS = 16 };

typedef struct bench_options {
    int threads[BENCH_MOST_THREADS]; /**< numbers of threads to run with, 0 at the end; first 0: one
                                          run with all there are */
    const char *backend;             /**< where no list of instruction sets is run */
    const char *only;                /**< what names of cases to run begin with; NULL: all */
    int64_t n;                       /**< points of the standard case */
    double least_seconds;            /**< every list is made again for at least so long */
    int64_t store_bytes;             /**< buffer in which the store rate is measured */
    bool *any;                       /**< becomes true when a case is to run */
} bench_options;

/** Return true when --only selects a case, or when there is no --only. Sets *options->any if so. */
bool bench_wants(const bench_options *options, const char *name);

/** Return true when the backend is a GPU. */
bool bench_on_gpu(const bench_options *options);

/** Return true when each case has a run number t, with options->threads[t] threads. Run 0 always
 *  exists. */
bool bench_has_run(const bench_options *options, int t);

/* Each verifies, then times every case, adds an array of results, and prints them to stdout.
 * @return false when an answer is wrong or a call failed; stderr says which */

/** "store", how fast memory can be written, and "results" */
bool bench_pairs(const bench_options *options, json_t *out);
/** "results" of lists that are kept over steps, beside searches, and of lists by radii */
bool bench_lists(const bench_options *options, json_t *out);
/** "results" */
bool bench_fof(const bench_options *options, json_t *out);
/** "results", on a GPU "distributions"; and "forces", of bench_force */
bool bench_rdf(const bench_options *options, json_t *out);
/** "results", on a GPU "flocks", whose state stays in device memory */
bool bench_flock(const bench_options *options, json_t *out);
/** "results", timed alternately with the matrix product of a BLAS on as many cores, if a BLAS is
 *  installed: the environment's KITH_BENCH_BLAS (an absolute path), else libopenblas.so.0. On a GPU
 *  "overlaps", and the product by cuBLAS, if the build has it */
bool bench_overlap(const bench_options *options, json_t *out);
/** "busy": small work with the default number of threads and with one thread: alone, while other
 *  processes spin, and in several processes at a time */
bool bench_busy(const bench_options *options, json_t *out);
/** "cores": what an arithmetic loop gains from all threads, beside which other gains are put */
bool bench_cores(const bench_options *options, json_t *out);
/** "results", on a GPU "nearest" and "orders": k nearest neighbours, orders of particles */
bool bench_nearest(const bench_options *options, json_t *out);
/** "results", on a GPU "batches": lists, nearest neighbours, groups and g(r) of many systems in one
 *  call */
bool bench_batch(const bench_options *options, json_t *out);
/** "forces": pair distributions from forces, and histograms of the points without forces */
bool bench_force(const bench_options *options, json_t *out);

/** Return true when there is a usable GPU; else print a sentence to stderr. */
bool bench_gpu_can_run(void);

/** "gpu", what it is; "results", of pair lists from device memory to device memory; all below */
bool bench_gpu(const bench_options *options, json_t *out);
/** Into "results", which is open; cases are named by their set as "fof uniform" */
bool bench_gpu_fof(const bench_options *options, json_t *out);
/** Into "results", which is open: lists that are kept over steps, beside searches
 *  @param store_rate  how fast device memory can be written [bytes/s] */
bool bench_gpu_kept(const bench_options *options, double store_rate, json_t *out);
/** "waves", from points in host memory to sums there */
bool bench_gpu_waves(const bench_options *options, json_t *out);
/** "debye" */
bool bench_gpu_debye(const bench_options *options, json_t *out);

/** Return true when host and device memory suffice for n particles.
 *  @param host, device  bytes per particle */
bool bench_gpu_has_room(int64_t n, int64_t host, int64_t device);

/** Copy from host to device memory. @return the copy; NULL: no GPU, or no memory there */
void *bench_gpu_upload(const void *from, size_t bytes);

/** Copy from device to host memory. @return the copy, to be freed; NULL: from is NULL, or the copy
 *  failed */
void *bench_gpu_fetch(const void *from, size_t bytes);

/** Free device memory of bench_gpu_upload. */
void bench_gpu_free(void *memory);

/** Open a context. @param threads  0: all cores. @return NULL: failed, a sentence is on stderr */
kith_ctx *bench_open(const char *backend, int threads);

/** Make a set by name ("uniform", "clustered", "soneira_peebles").
 *  @return [n][3]; NULL: an unknown name, or no memory */
double *bench_make_set(const char *set, int64_t n);

/** Round points to float, in the unit cube still, there and in a copy. @return the copy: [n][3];
 *  NULL: no points, or no memory */
float *bench_round_points(double *xyz, int64_t n);

/** Move points, [n][3], to the order of kith_order_find. @param cell  0: along the curve */
bool bench_reorder(double *xyz, int64_t n, double cell);

/** Hash of the pairs of a list, and of their shifts, in host memory. @param shifts  NULL: none, as
 *  for a KITH_MATRIX list */
rung_hash bench_hash(const kith_pairs *pairs, const int32_t *shifts);

/** "float" or "double" */
const char *bench_name_of(kith_precision precision);

/** Add a result of kith to an array: "program", "version", "case", "set", "n". @return it */
json_t *bench_begin(json_t *list, const char *name, const char *set, int64_t n);

/** End a result: print it, and add "precision", "backend", "threads", the times and
 *  "scratch_bytes_per_particle". */
void bench_end(json_t *row, kith_precision precision, const kith_ctx *ctx,
               const harness_times *times);

#endif
