/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the benchmarks share.
 */
#include "bench.h"

#include <climb.h>
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

kith_ctx *bench_open(const char *backend, int threads)
{
    return climb_open("kith_bench", backend, threads);
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

rung_hash bench_hash(const kith_pairs *pairs, const int32_t *shifts)
{
    rung_hash hash = {{0}};
    int64_t i = 0;
    for (int64_t p = 0; p < pairs->n; p++) {
        while (!pairs->i && p >= pairs->offsets[i + 1]) {
            i++;
        }
        rung_hash_add(&hash, pairs->i ? pairs->i[p] : (int32_t)i, pairs->j[p]);
        if (shifts) {
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

void bench_begin(json *out, const char *name, const char *set, int64_t n)
{
    json_open(out, NULL, '{');
    json_text(out, "program", "kith");
    json_text(out, "version", kith_version());
    json_text(out, "case", name);
    json_text(out, "set", set);
    json_integer(out, "n", n);
}

double bench_end(json *out, kith_precision precision, const kith_ctx *ctx, int64_t n,
                 const harness_times *times)
{
    const double scratch = (double)kith_scratch_bytes(ctx) / (double)n;
    json_text(out, "precision", bench_name_of(precision));
    json_text(out, "backend", kith_backend(ctx));
    json_integer(out, "threads", kith_threads(ctx));
    harness_write_times(out, times);
    json_number(out, "seconds_first", times->first);
    json_number(out, "scratch_bytes_per_particle", scratch);
    json_close(out, '}');
    return scratch;
}
