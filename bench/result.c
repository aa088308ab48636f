/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Write a timed list as a result. "store_floor_seconds" is the time to write the bytes of the list
 * at the store rate, a lower bound of the time of any algorithm.
 */
#include "result.h"

#include "bench.h"

/** Return the bytes of a list; 0 when pairs were only counted. */
static double list_bytes(const bench_result *r)
{
    int64_t each = sizeof(int32_t);
    each += r->list.layout == KITH_IJ ? (int64_t)sizeof(int32_t) : 0;
    each += r->list.extras & KITH_DISTANCES ? (int64_t)r->precision : 0;
    each += r->list.extras & KITH_VECTORS ? 3 * (int64_t)r->precision : 0;
    each += r->list.extras & KITH_SHIFTS ? 3 * (int64_t)sizeof(int32_t) : 0;
    const bool matrix = r->list.layout == KITH_MATRIX;
    const int64_t rows = r->list.layout == KITH_CSR ? (r->n + 1) * (int64_t)sizeof(int64_t)
                         : matrix                   ? r->n * (int64_t)sizeof(int32_t)
                                                    : 0;
    const int64_t entries = matrix ? r->n * r->list.width : r->pairs;
    return r->count_only ? 0 : (double)(entries * each + rows);
}

void bench_result_write(json_t *list, const bench_result *r)
{
    static const char *const layouts[] = {"ij", "csr", "matrix"};
    const double bytes = list_bytes(r), half_pairs = (double)r->pairs / (r->list.full ? 2 : 1);
    json_t *const row = bench_begin(list, r->name, r->set, r->n);
    put_number(row, "cutoff", r->cutoff);
    put_bool(row, "periodic", r->periodic);
    put_text(row, "list", r->count_only ? "count" : layouts[r->list.layout]);
    put_bool(row, "full", r->list.full);
    put_bool(row, "sorted", r->list.sorted);
    put_bool(row, "distances", r->list.extras & KITH_DISTANCES);
    put_bool(row, "shifts", r->list.extras & KITH_SHIFTS);
    put_integer(row, "pairs", r->pairs);
    put_number(row, "million_half_pairs_per_second", 1e-6 * half_pairs / r->times.median);
    put_number(row, "gigabytes_per_second", 1e-9 * bytes / r->times.median);
    put_number(row, "store_floor_seconds", bytes / r->store_rate);
    if (r->queued) {
        put_bool(row, "unordered", r->list.unordered);
        put_number(row, "device_seconds", r->queued->median);
        put_number(row, "device_seconds_min", r->queued->least);
        put_number(row, "device_seconds_max", r->queued->most);
    }
    bench_end(row, r->precision, r->ctx, &r->times);
}
