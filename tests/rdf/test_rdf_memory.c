/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of histograms: a second call of the same size allocates nothing, and every allocation made
 * to fail, one by one and from one on, gives KITH_NO_MEMORY, leaks nothing, and adds nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "points.h"

enum { N = 1200 };

typedef struct use {
    const char *backend;
    kith_points points;
    kith_box box;
    kith_rdf_options options;
} use;

static int64_t total(const kith_histogram *h)
{
    int64_t sum = 0;
    for (int64_t at = 0; at < h->partials * h->bins; at++)
        sum += h->counts[at];
    return sum;
}

/* What a failing allocation left to be tried again may be allocated by a second call. */
static kith_status run(const use *u, int failing, int64_t *counted)
{
    kith_options options;
    kith_options_init(&options);
    options.backend = u->backend;
    options.threads = 2;
    kith_ctx *ctx = NULL;
    kith_histogram h = {0};
    kith_status status = kith_open(&options, &ctx);
    if (status != KITH_OK)
        return status;
    status = kith_rdf_count(ctx, &u->points, &u->box, &u->options, &h);
    if (status == KITH_NO_MEMORY) {
        CHECK(strlen(kith_message(ctx)) > 0, "no message");
        CHECK(total(&h) == 0 && h.frames == 0, "a frame that failed was added");
        alloc_fail(0, 0);
        CHECK(kith_rdf_count(ctx, &u->points, &u->box, &u->options, &h) == KITH_OK,
              "the context is not usable: %s", kith_message(ctx));
    }
    alloc_fail(0, 0);
    *counted = total(&h);
    const int64_t before = alloc_count();
    if (status == KITH_OK) {
        CHECK(kith_rdf_count(ctx, &u->points, &u->box, &u->options, &h) == KITH_OK, "again");
        CHECK(failing || alloc_count() == before, "a second call allocates");
        CHECK(total(&h) == 2 * *counted && h.frames == 2, "a second frame was not added");
    }
    kith_histogram_free(&h);
    kith_close(ctx);
    return status;
}

static void check_no_memory(const use *u, int64_t times)
{
    int64_t expected = 0, counted = 0, k = 0;
    CHECK(run(u, 0, &expected) == KITH_OK && expected > 0, "a run with memory fails");
    for (kith_status status = KITH_NO_MEMORY; status != KITH_OK && k < 1000; k++) {
        const int64_t live = alloc_live();
        counted = expected;
        alloc_fail(k, times);
        status = run(u, 1, &counted);
        alloc_fail(0, 0);
        CHECK(status == KITH_OK || status == KITH_NO_MEMORY, "allocation %lld: %s", (long long)k,
              kith_status_name(status));
        CHECK(alloc_live() == live, "allocation %lld leaks", (long long)k);
        CHECK(counted == expected, "allocation %lld: %lld pairs, expected %lld", (long long)k,
              (long long)counted, (long long)expected);
    }
    CHECK(k > 5, "only %lld allocations: nothing was made to fail", (long long)k);
}

int main(int argc, char **argv)
{
    use u = {.backend = check_backend(argc, argv), .box = kith_box_periodic(1, 1, 1)};
    kith_close(check_open(u.backend, 2));
    rng r = {13};
    double *xyz = points_in_box(&r, N, &u.box);
    int32_t species[N];
    double weights[N];
    for (int p = 0; p < N; p++) {
        species[p] = p % 2;
        weights[p] = 1;
    }
    u.points = kith_points_packed(xyz, N, KITH_DOUBLE);
    for (int form = 0; form < 4; form++) {
        kith_rdf_options_init(&u.options);
        u.options.bins = 100;
        u.options.r_max = form % 2 ? 0.8 : 0.15;
        u.options.minimum_image = form % 2;
        u.options.species = form > 1 ? species : NULL;
        u.options.n_species = form > 1 ? 2 : 1;
        u.options.weights = form > 1 ? weights : NULL;
        check_no_memory(&u, 1);
        check_no_memory(&u, INT64_MAX);
    }
    free(xyz);
    return check_done();
}
