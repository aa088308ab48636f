/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmarks, and what they share: options, contexts, sets of points. Names that begin with
 * rung_ are those of ladder/, whose algorithms check kith's answers. "seconds" and "store rate" of
 * a result are described in results/README.md.
 */
#ifndef KITH_BENCH_H
#define KITH_BENCH_H

#include <io.h> /* arrays of either precision */
#include <kith.h>

#include "harness.h"
#include "rung.h"
#include "rung_hash.h"

enum { BENCH_MOST_THREADS = 16 };

/** Options of kith_bench. */
typedef struct bench_options {
    int threads[BENCH_MOST_THREADS]; /**< numbers of threads to run with, 0 at the end; first 0: one
                                          run with all there are */
    const char *backend;             /**< backend of contexts, but for cases that are run with each
                                          instruction set */
    const char *only;                /**< what names of cases to run begin with; NULL: all */
    int64_t n;                       /**< points of the standard case */
    double least_seconds;            /**< timed work is repeated for at least so long [s] */
    int64_t store_bytes;             /**< size of the buffer in which the store rate is measured,
                                          see harness_store_rate [byte] */
    bool *any;                       /**< becomes true when a case is to run */
} bench_options;

/** Return true when --only selects a case, or when there is no --only. Sets *options->any if so. */
bool bench_wants(const bench_options *options, const char *name);

/** Return true when the backend is a GPU. */
bool bench_on_gpu(const bench_options *options);

/** Return true when each case has a run number t, with options->threads[t] threads. Run 0 always
 *  exists. */
bool bench_has_run(const bench_options *options, int t);

/* Each of the following verifies, then times every case, adds arrays of results, with the quoted
 * names, to the object `out`, and prints the results to stdout.
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
/** "study": steps of boids by the kernels of a course and by the library, against their number, and
 *  on a GPU against the shape of blocks and cells */
bool bench_study(const bench_options *options, json_t *out);
/** "busy": small work with the default number of threads and with one thread: alone, while other
 *  processes spin, and in several processes at a time */
bool bench_busy(const bench_options *options, json_t *out);
/** "cores": the gain of an arithmetic loop from all threads, a bound on the gain of other work */
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

/** "gpu", its description; "results", of pair lists from device memory to device memory; and the
 *  arrays of all other benchmarks that run on a GPU */
bool bench_gpu(const bench_options *options, json_t *out);
/** Friends of friends. @param out  the array "results"; the cases of --case are named by their set,
 *  "fof uniform" */
bool bench_gpu_fof(const bench_options *options, json_t *out);
/** Lists that are kept over steps, beside searches.
 *  @param store_rate  how fast device memory can be written [bytes/s]
 *  @param out         the array "results" */
bool bench_gpu_kept(const bench_options *options, double store_rate, json_t *out);
/** "waves", from points in host memory to sums there */
bool bench_gpu_waves(const bench_options *options, json_t *out);
/** "debye" */
bool bench_gpu_debye(const bench_options *options, json_t *out);

/** Add the object "gpu", and print the name of the device. @param[out] store_rate  [bytes/s]
 *  @return false, reported, on failure */
bool bench_gpu_describe(const bench_options *options, json_t *out, double *store_rate);

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

/** Round points of the unit cube to float, in place and in a copy. Rounding does not raise a
 *  coordinate to 1. @param xyz  NULL: nothing is done
 *  @return the copy, [n][3] floats, to be freed; NULL: xyz is NULL, or no memory */
float *bench_round_points(double *xyz, int64_t n);

/** Sort points, [n][3], in the order of kith_order_find. @param cell  side of the cells, in whose
 *  order they are sorted row by row; 0: along a space-filling curve
 *  @return false on failure */
bool bench_reorder(double *xyz, int64_t n, double cell);

/** Return the hash of the set of pairs of a list of any layout, and of their shifts, in host
 *  memory. It does not depend on the order of the pairs.
 *  @param shifts  [pairs->n][3]; NULL: none. A KITH_MATRIX list has none */
rung_hash bench_hash(const kith_pairs *pairs, const int32_t *shifts);

/** Return "float" or "double". */
const char *bench_name_of(kith_precision precision);

/** Begin a result of kith: append an object to an array, with "program", "version", "case" (the
 *  name), "set" and "n". @return the object, which the array owns */
json_t *bench_begin(json_t *list, const char *name, const char *set, int64_t n);

/** End a result of bench_begin, to which other members were added: print it, and add "precision",
 *  "backend", "threads", the times and "scratch_bytes_per_particle" of the context. */
void bench_end(json_t *row, kith_precision precision, const kith_ctx *ctx,
               const harness_times *times);

#endif
