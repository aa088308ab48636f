/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the benchmarks of overlaps on both backends share: replicas, the right counts of some, and
 * the product of all by a library for linear algebra, to compare with.
 */
#ifndef KITH_BENCH_OVERLAP_JOB_H
#define KITH_BENCH_OVERLAP_JOB_H

#include <kith/overlap.h>

#include "bench.h"

/** What replicas hold. */
typedef struct overlap_form {
    const char *name;
    kith_precision precision;
    bool spins; /**< 1 and -1, else uniform numbers from -1 to 1 */
} overlap_form;

enum { OVERLAP_FORMS = 3 };
extern const overlap_form overlap_forms[OVERLAP_FORMS];

/** Replicas, and a context that counts them. */
typedef struct overlap_job {
    const overlap_form *form;
    void *values;
    kith_replicas replicas;
    kith_ctx *ctx;
    kith_overlaps counts;
} overlap_job;

/** Make n replicas, and open a context. @return false: a sentence is on stderr */
bool overlap_job_make(overlap_job *job, const overlap_form *form, int64_t n, const char *backend,
                      int threads);
void overlap_job_free(overlap_job *job);

/** A harness_work: count all pairs. */
bool overlap_job_count(void *job);

/** Count all pairs of replicas. Return true when the counts of the first replicas agree with brute
 *  force, and the counts of all replicas add up to the number of pairs; else print a message. */
bool overlap_job_is_right(overlap_job *job);

/** Time the product of the matrix of replicas by cuBLAS, in device memory; times->repeats stay 0 if
 *  the build has no cuBLAS. @return false: a sentence is on stderr */
bool bench_gpu_product(const overlap_job *job, double least, harness_times *times);

/** Add a result to an array, and print it. @param product  times of the whole matrix product of the
 *  replicas; repeats 0: none   @param library  the library that computed the product */
void overlap_job_report(const overlap_job *job, const harness_times *times,
                        const harness_times *product, const char *library, json_t *out);

#endif
