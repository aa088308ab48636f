/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps of replicas of 1,024 numbers each, from replicas in host memory to counts there: a
 * hundredth as many replicas as the standard case has points, on a GPU a tenth. Their time is
 * compared with that of the product of the matrix of replicas and its transpose, computed in blocks
 * that are overwritten: on CPU cores by OpenBLAS with as many threads, timed alternately; on a GPU
 * by cuBLAS. The product has all pairs twice, and makes no histogram. Spins, of a bit each, are
 * timed alone: BLAS has no product of bits.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "overlap_job.h"

enum {
    PART = 100,       /* points of -n for a replica, on CPU cores */
    PART_ON_GPU = 10, /* points of -n for a replica, on a GPU */
    BLOCK = 2000      /* replicas along each side of a block of the product */
};

/* Arguments and functions of CBLAS, as its header has them: row order, no transpose, transpose. The
 * library is opened at run time. */
enum { ROW_ORDER = 101, AS_IS = 111, TURNED = 112 };
typedef void (*sgemm_fn)(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef void (*dgemm_fn)(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
                         const double *a, int lda, const double *b, int ldb, double beta, double *c,
                         int ldc);

/** A BLAS that was opened. */
typedef struct blas {
    sgemm_fn sgemm;             /**< matrix product in float */
    dgemm_fn dgemm;             /**< matrix product in double */
    void (*set_threads)(int n); /**< set the number of its threads */
    const char *name;           /**< path of the library */
} blas;

/** Find a function of a library. dlsym returns an object pointer, which C cannot cast to a function
 *  pointer, so its bytes are copied. @param function  address of the function pointer */
static void find(void *library, const char *name, void *function)
{
    void *const symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

/** Open the BLAS of KITH_BENCH_BLAS, an absolute path, else OpenBLAS. @return false when it, or a
 *  function, is not found; out->name is then set, too */
static bool blas_open(blas *out)
{
    const char *const given = getenv("KITH_BENCH_BLAS");
    const char *const path = given ? given : "libopenblas.so.0";
    const bool relative = given && *given != '/'; /* refused: it could name a planted file */
    void *const library = relative ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *out = (blas){.name = path};
    if (library) {
        find(library, "cblas_sgemm", &out->sgemm);
        find(library, "cblas_dgemm", &out->dgemm);
        find(library, "openblas_set_num_threads", &out->set_threads);
    }
    return out->sgemm && out->dgemm && out->set_threads;
}

/** The product and the counts that are timed alternately. */
typedef struct product {
    const blas *library; /**< the BLAS */
    overlap_job *job;    /**< the replicas */
    void *block;         /**< [BLOCK][BLOCK] products in the precision of the replicas */
} product;

/** A harness_work: compute all blocks of the product. */
static bool multiply(void *user)
{
    const product *p = user;
    const int n = (int)p->job->replicas.n, dim = (int)p->job->replicas.dim;
    for (int64_t i = 0; i < n; i += BLOCK) {
        for (int64_t j = 0; j < n; j += BLOCK) {
            const int rows = n - i < BLOCK ? (int)(n - i) : BLOCK;
            const int columns = n - j < BLOCK ? (int)(n - j) : BLOCK;
            if (p->job->form->precision == KITH_FLOAT) {
                const float *x = p->job->values;
                p->library->sgemm(ROW_ORDER, AS_IS, TURNED, rows, columns, dim, 1, x + i * dim, dim,
                                  x + j * dim, dim, 0, p->block, BLOCK);
            } else {
                const double *x = p->job->values;
                p->library->dgemm(ROW_ORDER, AS_IS, TURNED, rows, columns, dim, 1, x + i * dim, dim,
                                  x + j * dim, dim, 0, p->block, BLOCK);
            }
        }
    }
    return true;
}

/** A harness_work: count all overlaps. */
static bool count(void *user)
{
    const product *p = user;
    return overlap_job_count(p->job);
}

/** Time counts and product alternately, with equal numbers of threads.
 *  @param[out] times  of the counts, of the product */
static bool time_both(overlap_job *job, const blas *library, double least, harness_times times[2])
{
    product p = {library, job, malloc((size_t)BLOCK * BLOCK * (size_t)job->form->precision)};
    library->set_threads(kith_threads(job->ctx));
    const bool ok = p.block &&
                    harness_time_turns((const harness_work[]){count, multiply}, &p, least, times);
    free(p.block);
    return ok;
}

/** Verify, then time a case. @param library  NULL: nothing is compared on CPU cores
 *  @return false, reported, on failure */
static bool run(const overlap_form *form, const bench_options *options, int threads,
                const blas *library, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    /* one more on CPU cores, so that the last block of pairs is not full */
    const int64_t n = gpu ? options->n / PART_ON_GPU : options->n / PART + 1;
    const double least = options->least_seconds;
    overlap_job job;
    harness_times times[2] = {{0}};
    bool ok = overlap_job_make(&job, form, n, options->backend, threads) &&
              overlap_job_is_right(&job);
    if (ok && library && !form->spins) {
        ok = time_both(&job, library, least, times);
    } else if (ok) {
        ok = harness_time(overlap_job_count, &job, least, &times[0]) &&
             (!gpu || form->spins || bench_gpu_product(&job, least, &times[1]));
    }
    if (ok) {
        overlap_job_report(&job, &times[0], &times[1], library ? library->name : "cuBLAS", out);
    }
    overlap_job_free(&job);
    return ok;
}

bool bench_overlap(const bench_options *options, json_t *out)
{
    const bool gpu = bench_on_gpu(options);
    bool ok = true;
    blas library;
    const bool has_blas = !gpu && blas_open(&library);
    if (!gpu && !has_blas) {
        printf("%s is not found, or no absolute path: nothing to compare with\n", library.name);
    }
    json_t *const list = put_array(out, gpu ? "overlaps" : "results");
    for (int f = 0; ok && f < OVERLAP_FORMS; f++) {
        if (!bench_wants(options, overlap_forms[f].name)) {
            continue;
        }
        for (int t = 0; ok && bench_has_run(options, t); t++) {
            ok = run(&overlap_forms[f], options, options->threads[t], has_blas ? &library : NULL,
                     list);
        }
    }
    return ok;
}
