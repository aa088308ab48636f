/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory: a second call of the same size allocates nothing, and scratch stays within 64 bytes a
 * particle, whether the points fill their space or lie in two clumps 10^6 cutoffs apart.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "points.h"

enum { N = 1000000, BYTES_A_PARTICLE = 64 };

static int skip_block(void *user, const kith_pairs *block, int64_t first)
{
    *(int64_t *)user = first + block->n;
    return 0;
}

static void check_second_calls(kith_ctx *ctx, const kith_points *points, const kith_box *box)
{
    for (int form = 0; form < 4; form++) {
        kith_pairs_options o;
        kith_pairs_options_init(&o);
        o.full = form > 1;
        o.sorted = form == 1;
        o.layout = form == 3 ? KITH_CSR : KITH_IJ;
        o.extras = form > 0 ? KITH_DISTANCES | KITH_VECTORS | KITH_SHIFTS : 0;
        o.block_pairs = 5000;
        kith_pairs list = {0};
        int64_t counted = 0, streamed = 0, first_calls = 0;
        for (int call = 0; call < 3; call++) {
            const int64_t before = alloc_count();
            const int good = kith_pairs_find(ctx, points, box, 0.05, &o, &list) == KITH_OK &&
                             kith_pairs_count(ctx, points, box, 0.05, &o, &counted, NULL) ==
                                 KITH_OK &&
                             kith_pairs_each(ctx, points, box, 0.05, &o, skip_block, &streamed) ==
                                 KITH_OK;
            CHECK(good, "form %d: %s", form, kith_message(ctx));
            CHECK(list.n == counted && list.n == streamed, "form %d: %lld, %lld, %lld pairs", form,
                  (long long)list.n, (long long)counted, (long long)streamed);
            const int64_t made = alloc_count() - before;
            if (call == 0)
                first_calls = made;
            else
                CHECK(made == 0, "form %d, call %d: %lld allocations, %lld in the first", form,
                      call, (long long)made, (long long)first_calls);
        }
        CHECK(first_calls > 0, "form %d: the first call allocated nothing", form);
        kith_pairs_free(&list);
    }
}

/* The limit holds in a fresh context for what is documented: beyond the list. */
static void check_scratch(const char *backend, const char *what, const kith_points *points,
                          const kith_box *box, double cutoff)
{
    kith_ctx *ctx = check_open(backend, 2);
    kith_pairs list = {0};
    CHECK(kith_pairs_find(ctx, points, box, cutoff, NULL, &list) == KITH_OK, "%s: %s", what,
          kith_message(ctx));
    CHECK(list.n > points->n, "%s: only %lld pairs", what, (long long)list.n);
    const double each = (double)kith_scratch_bytes(ctx) / (double)points->n;
    /* a device needs a copy of points that are in host memory */
    const double copied = strncmp(backend, "cuda", 4) == 0 ? 3 * sizeof(double) : 0;
    CHECK(each - copied <= BYTES_A_PARTICLE, "%s: %.1f bytes of scratch a particle", what, each);
    CHECK(each > 0.0, "%s: no scratch", what);
    kith_pairs_free(&list);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    rng r = {11};
    const kith_box box = kith_box_periodic(1.0, 1.0, 1.0);
    double *xyz = points_in_box(&r, N, &box);
    const kith_points all = kith_points_packed(xyz, N, KITH_DOUBLE);
    const kith_points part = kith_points_packed(xyz, 20000, KITH_DOUBLE);
    check_second_calls(ctx, &part, NULL);
    check_second_calls(ctx, &part, &box);
    kith_close(ctx);

    const double cutoff = 0.012;
    check_scratch(backend, "uniform", &all, NULL, cutoff);
    check_scratch(backend, "uniform, periodic", &all, &box, cutoff);
    for (int p = 0; p < N; p += 2)
        for (int k = 0; k < 3; k++)
            xyz[3 * p + k] += 1e6 * cutoff;
    check_scratch(backend, "two clumps", &all, NULL, cutoff);
    free(xyz);
    return check_done();
}
