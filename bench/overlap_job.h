/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the benchmarks of overlaps on CPU cores and on a GPU share: replicas, their counts and a
 * check of these; and the matrix product of all replicas by a library for linear algebra, whose
 * time is compared, as it does the arithmetic of all overlaps.
 */
#ifndef KITH_BENCH_OVERLAP_JOB_H
#define KITH_BENCH_OVERLAP_JOB_H

#include <kith/overlap.h>

#include "bench.h"

/** A case: what replicas hold. */
typedef struct overlap_form {
    const char *name;         /**< name of the case */
    kith_precision precision; /**< precision of the numbers */
    bool spins;               /**< numbers are 1 and -1; else uniform from -1 to 1 */
} overlap_form;

enum { OVERLAP_FORMS = 3 };
extern const overlap_form overlap_forms[OVERLAP_FORMS]; /* the cases */

/** Replicas, and a context that counts their overlaps. */
typedef struct overlap_job {
    const overlap_form *form; /**< the case */
    void *values;             /**< [replicas.n][replicas.dim] numbers */
    kith_replicas replicas;   /**< the replicas, of 1,024 numbers each */
    kith_ctx *ctx;            /**< context of the job */
    kith_overlaps counts;     /**< result of overlap_job_count */
} overlap_job;

/** Make n replicas, and open a context; overlap_job_free the job also on failure.
 *  @return false: a sentence is on stderr */
bool overlap_job_make(overlap_job *job, const overlap_form *form, int64_t n, const char *backend,
                      int threads);

/** Free replicas, counts and context. */
void overlap_job_free(overlap_job *job);

/** A harness_work: count the overlaps of all pairs. @param job  an overlap_job */
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
