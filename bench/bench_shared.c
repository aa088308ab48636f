/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions that the benchmarks share: sets of points, hashes of lists, and results.
 */
#include "bench.h"

#include <ladder_driver.h>
#include <math.h>
#include <sets.h>
#include <stdlib.h>
#include <string.h>

bool bench_wants(const bench_options *options, const char *name)
{
    const bool wanted = !options->only || strncmp(name, options->only, strlen(options->only)) == 0;
    *options->any = *options->any || wanted;
    return wanted;
}

bool bench_on_gpu(const bench_options *options)
{
    return strncmp(options->backend, "cuda", 4) == 0;
}

bool bench_has_run(const bench_options *options, int t)
{
    return t == 0 || options->threads[t] > 0;
}

kith_ctx *bench_open(const char *backend, int threads)
{
    return ladder_open("kith_bench", backend, threads);
}

double *bench_make_set(const char *set, int64_t n)
{
    double *const xyz = malloc(((size_t)n + 1) * 3 * sizeof *xyz);
    if (xyz && strcmp(set, "uniform") == 0) {
        sets_uniform(xyz, n, 1);
    } else if (xyz && strcmp(set, "clustered") == 0) {
        sets_clustered(xyz, n, 1);
    } else if (xyz && strcmp(set, "soneira_peebles") == 0) {
        sets_soneira_peebles(xyz, n, 1);
    } else {
        free(xyz);
        return NULL;
    }
    return xyz;
}

float *bench_round_points(double *xyz, int64_t n)
{
    float *const single = xyz ? malloc(((size_t)n + 1) * 3 * sizeof *single) : NULL;
    for (int64_t k = 0; single && k < 3 * n; k++) {
        single[k] = fminf((float)xyz[k], nextafterf(1, 0));
        xyz[k] = (double)single[k];
    }
    return single;
}

bool bench_reorder(double *xyz, int64_t n, double cell)
{
    const kith_points points = kith_points_packed(xyz, n, KITH_DOUBLE);
    kith_order order = {.size = sizeof order};
    kith_ctx *ctx = bench_open("cpu", 0);
    double *const old = malloc(sizeof(double[3]) * (size_t)n);
    const bool ok = ctx && old && kith_order_find(ctx, &points, NULL, cell, &order) == KITH_OK;
    if (ok) {
        memcpy(old, xyz, sizeof(double[3]) * (size_t)n);
        for (int64_t k = 0; k < n; k++) {
            memcpy(xyz + 3 * k, old + 3 * (int64_t)order.order[k], sizeof(double[3]));
        }
    }
    free(old);
    kith_order_free(&order);
    kith_close(ctx);
    return ok;
}

rung_hash bench_hash(const kith_pairs *pairs, const int32_t *shifts)
{
    rung_hash hash = {{0}};
    int64_t i = 0;
    for (int64_t row = 0; pairs->counts && row < pairs->rows; row++) {
        for (int64_t k = 0; k < pairs->counts[row] && k < pairs->width; k++) {
            rung_hash_add(&hash, (int32_t)row, pairs->j[row * pairs->width + k]);
        }
    }
    for (int64_t p = 0; p < pairs->n && !pairs->counts; p++) {
        while (!pairs->i && p >= pairs->offsets[i + 1]) {
            i++;
        }
        rung_hash_add(&hash, pairs->i ? pairs->i[p] : (int32_t)i, pairs->j[p]);
        if (shifts) { /* mixed with j by arbitrary factors: only the hash is compared */
            rung_hash_add(&hash, pairs->j[p] ^ shifts[3 * p] * 65599,
                          shifts[3 * p + 1] * 1024 + shifts[3 * p + 2]);
        }
    }
    return hash;
}

const char *bench_name_of(kith_precision precision)
{
    return precision == KITH_FLOAT ? "float" : "double";
}

json_t *bench_begin(json_t *list, const char *name, const char *set, int64_t n)
{
    json_t *const row = put_object(list, NULL);
    put_text(row, "program", "kith");
    put_text(row, "version", kith_version());
    put_text(row, "case", name);
    put_text(row, "set", set);
    put_integer(row, "n", n);
    return row;
}

/** Print the numbers of a result, and the names of flags that are true. */
static void print_facts(json_t *row)
{
    const char *key, *separator = "    ";
    json_t *value;
    json_object_foreach(row, key, value)
    {
        if (json_is_integer(value)) {
            printf("%s%s %lld", separator, key, (long long)json_integer_value(value));
        } else if (json_is_real(value)) {
            printf("%s%s %.4g", separator, key, json_real_value(value));
        } else if (json_is_true(value)) {
            printf("%s%s", separator, key);
        } else {
            continue;
        }
        separator = ", ";
    }
    putchar('\n');
}

void bench_end(json_t *row, kith_precision precision, const kith_ctx *ctx,
               const harness_times *times)
{
    const double n = (double)json_integer_value(json_object_get(row, "n"));
    const double scratch = (double)kith_scratch_bytes(ctx) / n;
    printf("%s %s, %s, %s, %d threads: %.4g ms (%.4g to %.4g, first %.4g), scratch %.1f B each\n",
           json_string_value(json_object_get(row, "case")),
           json_string_value(json_object_get(row, "set")), bench_name_of(precision),
           kith_backend(ctx), kith_threads(ctx), 1e3 * times->median, 1e3 * times->least,
           1e3 * times->most, 1e3 * times->first, scratch);
    print_facts(row);
    fflush(stdout);
    put_text(row, "precision", bench_name_of(precision));
    put_text(row, "backend", kith_backend(ctx));
    put_integer(row, "threads", kith_threads(ctx));
    harness_write_times(row, times);
    put_number(row, "seconds_first", times->first);
    put_number(row, "scratch_bytes_per_particle", scratch);
}
