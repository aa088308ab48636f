/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Overlaps where memory runs out, and a second call that needs none.
 */
#include "alloc.h"
#include "check.h"
#include "no_memory.h"
#include "overlap_case.h"

typedef struct use {
    kith_replicas replicas;
    kith_overlap_options options;
    kith_overlaps found;
} use;

static kith_status work(void *user, kith_ctx *ctx, int64_t *seen)
{
    use *u = user;
    const kith_status status = kith_overlap_count(ctx, &u->replicas, &u->options, &u->found);
    *seen = 0;
    for (int64_t k = 0; k < u->found.bins; k++) {
        *seen += (k + 1) * u->found.counts[k];
    }
    return status;
}

static void release(void *user)
{
    kith_overlaps_free(&((use *)user)->found);
}

static void check_second_call(use *u, const char *backend)
{
    kith_ctx *ctx = check_open(backend, 2);
    CHECK(kith_overlap_count(ctx, &u->replicas, &u->options, &u->found) == KITH_OK, "%s",
          kith_message(ctx));
    const int64_t before = alloc_count();
    CHECK(kith_overlap_count(ctx, &u->replicas, &u->options, &u->found) == KITH_OK, "%s",
          kith_message(ctx));
    CHECK(alloc_count() == before, "a second call allocates");
    kith_overlaps_free(&u->found);
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_close(check_open(backend, 2));
    rng r = {13};
    for (int form = 0; form < 3; form++) {
        const overlap_kind kind = form < 2 ? OVERLAP_NORMAL : OVERLAP_SPINS;
        overlap_case c = overlap_case_make(&r, kind, 300, 20, form < 2 ? KITH_FLOAT : KITH_BITS, 1);
        use u = {.replicas = c.replicas};
        kith_overlap_options_init(&u.options);
        u.options.subtract_mean = form == 1;
        check_second_call(&u, backend);
        no_memory_check(
            &(no_memory_use){.backend = backend, .work = work, .release = release, .user = &u});
        overlap_case_free(&c);
    }
    return check_done();
}
