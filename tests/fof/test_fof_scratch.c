/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of the search for groups: a second call of the same size allocates nothing, and scratch is
 * what kith.h says, uniform or clustered, at 0.2 of the mean spacing.
 */
#include <math.h>
#include <sets.h>
#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "check.h"

/* 28 bytes of a particle, 40 in double, both with what does not grow with their number. */
enum { N = 1000000, FEW = 20000, BYTES_IN_FLOAT = 28, BYTES_IN_DOUBLE = 40 };

static void check_set(const char *backend, const char *what, const void *xyz, int64_t n,
                      kith_precision precision, const kith_box *box,
                      const kith_fof_options *options)
{
    kith_ctx *ctx = check_open(backend, 2);
    const kith_points points = kith_points_packed(xyz, n, precision);
    const int most = precision == KITH_FLOAT ? BYTES_IN_FLOAT : BYTES_IN_DOUBLE;
    const double length = 0.2 / cbrt((double)n);
    kith_groups groups = {0};
    const int64_t before = alloc_count();
    CHECK(kith_fof_find(ctx, &points, box, length, options, &groups) == KITH_OK, "%s: %s", what,
          kith_message(ctx));
    const int64_t first = alloc_count();
    const int64_t found = groups.n;
    CHECK(kith_fof_find(ctx, &points, box, length, options, &groups) == KITH_OK &&
              groups.n == found,
          "%s, again: %lld groups, %lld before", what, (long long)groups.n, (long long)found);
    CHECK(first > before && alloc_count() == first, "%s: %lld allocations, then %lld", what,
          (long long)(first - before), (long long)(alloc_count() - first));
    const double each = (double)kith_scratch_bytes(ctx) / (double)n;
    CHECK(each > 0 && (n < N || each <= most), "%s: %.1f bytes of scratch a particle", what, each);
    kith_groups_free(&groups);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    static const struct set {
        const char *name;
        void (*make)(double *xyz, int64_t n, uint64_t seed);
        int64_t n;
        kith_precision precision;
    } sets[] = {{"uniform", sets_uniform, N, KITH_DOUBLE},
                {"clustered", sets_clustered, N, KITH_FLOAT},
                {"Soneira-Peebles", sets_soneira_peebles, N, KITH_DOUBLE},
                {"a few clustered", sets_clustered, FEW, KITH_FLOAT},
                {"a few Soneira-Peebles", sets_soneira_peebles, FEW, KITH_FLOAT}};
    const char *backend = check_backend(argc, argv);
    const kith_box box = kith_box_periodic(1, 1, 1);
    double *xyz = check_malloc(sizeof(double) * 3 * N);
    float *single = check_malloc(sizeof(float) * 3 * N);
    for (int s = 0; s < 5; s++) {
        sets[s].make(xyz, sets[s].n, 1);
        for (int64_t k = 0; k < 3 * sets[s].n; k++) {
            single[k] = (float)xyz[k];
        }
        const bool is_float = sets[s].precision == KITH_FLOAT;
        check_set(backend, sets[s].name, is_float ? (void *)single : (void *)xyz, sets[s].n,
                  sets[s].precision, sets[s].n == N ? &box : NULL, NULL);
    }
    static uint8_t roles[FEW];
    for (int p = 0; p < FEW; p++) {
        roles[p] = (uint8_t)(p % 3);
    }
    kith_fof_options options;
    kith_fof_options_init(&options);
    options.roles = roles;
    options.min_links = 2;
    options.velocities = single;
    options.velocity_length = 1;
    check_set(backend, "roles", single, FEW, KITH_FLOAT, &box, &options);
    free(single);
    free(xyz);
    return check_done();
}
