/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Replicas whose overlaps are counted, checked by brute force, timed and reported.
 */
#include "overlap_job.h"

#include <math.h>
#include <random.h>
#include <stdlib.h>
#include <string.h>

const overlap_form overlap_forms[OVERLAP_FORMS] = {{"overlap", KITH_FLOAT, false},
                                                   {"overlap double", KITH_DOUBLE, false},
                                                   {"overlap spins", KITH_FLOAT, true}};

bool overlap_job_make(overlap_job *job, const overlap_form *form, int64_t n, const char *backend,
                      int threads)
{
    const int64_t dim = 1024;
    random_state random = random_start(1);
    *job = (overlap_job){.form = form,
                         .values = malloc((size_t)(n * dim) * (size_t)form->precision),
                         .ctx = bench_open(backend, threads)};
    for (int64_t at = 0; job->values && at < n * dim; at++) {
        const double value = 2 * random_unit(&random) - 1;
        io_put_real(job->values, at, form->precision, !form->spins ? value : value < 0 ? -1 : 1);
    }
    job->replicas = (kith_replicas){
        .n = n, .dim = dim, .values = job->values, .stride = dim, .type = (int)form->precision};
    if (!job->values) {
        fprintf(stderr, "kith_bench: %s: no memory\n", form->name);
    }
    return job->values && job->ctx;
}

void overlap_job_free(overlap_job *job)
{
    kith_overlaps_free(&job->counts);
    kith_close(job->ctx);
    free(job->values);
}

bool overlap_job_count(void *user)
{
    overlap_job *job = user;
    return kith_overlap_count(job->ctx, &job->replicas, NULL, &job->counts) == KITH_OK;
}

/** Return number `at` of all replicas. */
static double number(const overlap_job *job, int64_t at)
{
    return io_real(job->values, at, job->form->precision);
}

/** Return the scalar product of two replicas with the bits of the library's definition: 32 partial
 *  sums, which are added in pairs (include/kith/overlap.h). */
static double product(const overlap_job *job, int64_t i, int64_t j)
{
    double sums[32] = {0};
    const int64_t dim = job->replicas.dim;
    for (int64_t k = 0; k < dim; k++) {
        sums[k % 32] += number(job, i * dim + k) * number(job, j * dim + k);
    }
    for (int half = 16; half > 0; half /= 2) {
        for (int k = 0; k < half; k++) {
            sums[k] += sums[k + half];
        }
    }
    return sums[0];
}

/** Return true when the counts of the first replicas agree with brute force. */
static bool agrees(overlap_job *job, const kith_overlaps *found, int64_t n)
{
    bool ok = true;
    int64_t *right = calloc((size_t)found->bins, sizeof *right);
    for (int64_t i = 0; right && i < n; i++) {
        const double square = product(job, i, i);
        for (int64_t j = 0; j < i; j++) {
            const double q = product(job, i, j) / sqrt(square * product(job, j, j));
            int64_t bin = 0;
            while (bin + 1 < found->bins && q >= found->edges[bin + 1]) {
                bin++;
            }
            right[bin]++;
        }
    }
    ok = right && memcmp(right, found->counts, (size_t)found->bins * sizeof *right) == 0;
    free(right);
    return ok;
}

bool overlap_job_is_right(overlap_job *job)
{
    enum { SOME = 200 };
    kith_replicas some = job->replicas;
    kith_overlaps found = {0};
    some.n = some.n < SOME ? some.n : SOME;
    bool ok = kith_overlap_count(job->ctx, &some, NULL, &found) == KITH_OK &&
              agrees(job, &found, some.n) && overlap_job_count(job);
    int64_t all = 0;
    for (int64_t k = 0; k < job->counts.bins; k++) {
        all += job->counts.counts[k];
    }
    ok = ok && all == job->counts.pairs;
    if (!ok) {
        fprintf(stderr, "kith_bench: %s: wrong counts %s\n", job->form->name,
                kith_message(job->ctx));
    }
    kith_overlaps_free(&found);
    return ok;
}

void overlap_job_report(const overlap_job *job, const harness_times *times,
                        const harness_times *product, const char *library, json_t *out)
{
    const bool compared = product->repeats > 0;
    json_t *const row = bench_begin(out, job->form->name, job->form->spins ? "spins" : "uniform",
                                    job->replicas.n);
    put_integer(row, "dim", job->replicas.dim);
    put_integer(row, "bins", job->counts.bins);
    put_bool(row, "periodic", false);
    put_integer(row, "counted", job->counts.pairs);
    put_number(row, "million_half_pairs_per_second",
               1e-6 * (double)job->counts.pairs / times->median);
    put_text(row, "product_library", compared ? library : "none");
    put_number(row, "product_seconds", compared ? product->median : NAN);
    put_number(row, "ratio", compared ? times->median / product->median : NAN);
    bench_end(row, job->form->precision, job->ctx, times);
}
