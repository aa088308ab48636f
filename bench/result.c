/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One timed list as JSON.
 */
#include "result.h"

double bench_result_rate(const bench_result *r)
{
    return (double)r->pairs / (r->list.full ? 2 : 1) / r->times.median;
}

double bench_result_bytes(const bench_result *r)
{
    int64_t each = sizeof(int32_t);
    each += r->list.layout == KITH_IJ ? (int64_t)sizeof(int32_t) : 0;
    each += r->list.extras & KITH_DISTANCES ? (int64_t)r->precision : 0;
    each += r->list.extras & KITH_VECTORS ? 3 * (int64_t)r->precision : 0;
    each += r->list.extras & KITH_SHIFTS ? 3 * (int64_t)sizeof(int32_t) : 0;
    const int64_t rows = r->list.layout == KITH_CSR ? (r->n + 1) * (int64_t)sizeof(int64_t) : 0;
    return r->count_only ? 0 : (double)(r->pairs * each + rows);
}

double bench_result_scratch(const bench_result *r)
{
    return (double)kith_scratch_bytes(r->ctx) / (double)r->n;
}

void bench_result_write(json *out, const bench_result *r)
{
    const double bytes = bench_result_bytes(r);
    json_text(out, "program", "kith");
    json_text(out, "version", kith_version());
    json_text(out, "case", r->name);
    json_text(out, "set", r->set);
    json_integer(out, "n", r->n);
    json_number(out, "cutoff", r->cutoff);
    json_bool(out, "periodic", r->periodic);
    json_text(out, "precision", r->precision == KITH_FLOAT ? "float" : "double");
    json_text(out, "list", r->count_only ? "count" : r->list.layout == KITH_CSR ? "csr" : "ij");
    json_bool(out, "full", r->list.full);
    json_bool(out, "sorted", r->list.sorted);
    json_bool(out, "distances", r->list.extras & KITH_DISTANCES);
    json_bool(out, "shifts", r->list.extras & KITH_SHIFTS);
    json_text(out, "backend", kith_backend(r->ctx));
    json_integer(out, "threads", kith_threads(r->ctx));
    json_integer(out, "pairs", r->pairs);
    harness_write_times(out, &r->times);
    json_number(out, "seconds_first", r->times.first);
    json_number(out, "million_half_pairs_per_second", 1e-6 * bench_result_rate(r));
    json_number(out, "gigabytes_per_second", 1e-9 * bytes / r->times.median);
    json_number(out, "store_floor_seconds", bytes / r->store_rate);
    json_number(out, "scratch_bytes_per_particle", bench_result_scratch(r));
}
