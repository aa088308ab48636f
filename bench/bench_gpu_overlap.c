/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The product of the matrix of replicas and its transpose by cuBLAS, whose time is compared with
 * that of counting overlaps. It is computed in blocks of BLOCK x BLOCK scalar products, each of
 * which overwrites the one before in device memory. The replicas are copied there before the timing
 * begins.
 */
#include "bench.h"
#include "overlap_job.h"

#ifdef KITH_HAVE_CUBLAS
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#endif

#ifdef KITH_HAVE_CUBLAS
enum { BLOCK = 16384 }; /* replicas along each side of a block */

/** The product that is timed. */
typedef struct product {
    const overlap_job *job; /**< the replicas */
    cublasHandle_t handle;  /**< state of cuBLAS */
    void *values, *block;   /**< device memory: the replicas, a block of products */
} product;

/** A harness_work: compute all blocks. The replicas are rows, which are columns for cuBLAS. */
static bool multiply(void *user)
{
    const product *p = user;
    const int n = (int)p->job->replicas.n, dim = (int)p->job->replicas.dim;
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    bool ok = true;
    for (int64_t i = 0; i < n; i += BLOCK) {
        for (int64_t j = 0; j < n; j += BLOCK) {
            const int rows = n - i < BLOCK ? (int)(n - i) : BLOCK;
            const int columns = n - j < BLOCK ? (int)(n - j) : BLOCK;
            cublasStatus_t status;
            if (p->job->form->precision == KITH_FLOAT) {
                const float *x = p->values;
                status = cublasSgemm(p->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, dim, &one,
                                     x + i * dim, dim, x + j * dim, dim, &zero, p->block, BLOCK);
            } else {
                const double *x = p->values;
                status = cublasDgemm(p->handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, dim,
                                     &wide_one, x + i * dim, dim, x + j * dim, dim, &wide_zero,
                                     p->block, BLOCK);
            }
            ok = ok && status == CUBLAS_STATUS_SUCCESS;
        }
    }
    return cudaDeviceSynchronize() == cudaSuccess && ok;
}

bool bench_gpu_product(const overlap_job *job, double least, harness_times *all)
{
    const size_t number = (size_t)job->form->precision;
    const size_t bytes = (size_t)(job->replicas.n * job->replicas.dim) * number;
    product p = {.job = job};
    bool ok = cublasCreate(&p.handle) == CUBLAS_STATUS_SUCCESS;
    ok = ok && cudaMalloc(&p.values, bytes) == cudaSuccess &&
         cudaMalloc(&p.block, (size_t)BLOCK * BLOCK * number) == cudaSuccess &&
         cudaMemcpy(p.values, job->values, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
         harness_time(multiply, &p, least, all);
    (void)cudaFree(p.values);
    (void)cudaFree(p.block);
    if (p.handle) {
        (void)cublasDestroy(p.handle);
    }
    if (!ok) {
        fputs("kith_bench: cuBLAS failed\n", stderr);
    }
    return ok;
}
#else /* without cuBLAS nothing is compared: all->repeats stays 0 */
bool bench_gpu_product(const overlap_job *job, double least, harness_times *all)
{
    (void)job;
    (void)least;
    (void)all;
    return true;
}
#endif
