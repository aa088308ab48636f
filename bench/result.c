/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One timed list as JSON.
 */
#include "result.h"

#include "bench.h"

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

void bench_result_write(json *out, const bench_result *r)
{
    const double bytes = bench_result_bytes(r);
    bench_begin(out, r->name, r->set, r->n);
    json_number(out, "cutoff", r->cutoff);
    json_bool(out, "periodic", r->periodic);
    json_text(out, "list", r->count_only ? "count" : r->list.layout == KITH_CSR ? "csr" : "ij");
    json_bool(out, "full", r->list.full);
    json_bool(out, "sorted", r->list.sorted);
    json_bool(out, "distances", r->list.extras & KITH_DISTANCES);
    json_bool(out, "shifts", r->list.extras & KITH_SHIFTS);
    json_integer(out, "pairs", r->pairs);
    json_number(out, "million_half_pairs_per_second", 1e-6 * bench_result_rate(r));
    json_number(out, "gigabytes_per_second", 1e-9 * bytes / r->times.median);
    json_number(out, "store_floor_seconds", bytes / r->store_rate);
}
