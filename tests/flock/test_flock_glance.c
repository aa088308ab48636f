/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A glance at some of a flock is what reading all of it gave when it was taken, however far the
 * flock has gone since.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flock_case.h"
#include <kith/glance.h>

enum { N = 3000 };

/* Every 7919th, counted round: none twice, in no order of theirs. */
static void choose(int32_t *index, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        index[k] = (int32_t)(k * 7919 % N);
}

static void same(const char *what, const void *some, const void *all, const int32_t *index,
                 int64_t n, size_t bytes)
{
    for (int64_t k = 0; k < n; k++) {
        CHECK(memcmp((const char *)some + (size_t)k * bytes,
                     (const char *)all + (size_t)index[k] * bytes, bytes) == 0,
              "%s of %lld of %lld", what, (long long)k, (long long)n);
    }
}

static void look(kith_ctx *ctx, const flock_case *c, int64_t n)
{
    const size_t bytes = 3 * (size_t)c->precision;
    void *r = check_malloc(N * bytes), *v = check_malloc(N * bytes);
    int32_t *index = check_malloc((size_t)(n + 1) * sizeof *index);
    const void *some_r = NULL, *some_v = NULL;
    kith_flock *flock = flock_case_open(ctx, c);
    choose(index, n);
    CHECK(kith_glance_take(flock) == KITH_INVALID, "nobody chosen");
    CHECK(kith_glance_choose(flock, index, n) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_glance_see(flock, &some_r, &some_v) == KITH_INVALID, "no glance");
    for (int turn = 0; turn < 4; turn++) { /* read before or after, gone on or not */
        if (turn % 2 == 0)
            CHECK(kith_flock_read(flock, r, v) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_glance_take(flock) == KITH_OK, "%s", kith_message(ctx));
        if (turn % 2 == 1)
            CHECK(kith_flock_read(flock, r, v) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_flock_step(flock, turn) == KITH_OK, "%s", kith_message(ctx));
        CHECK(kith_glance_see(flock, &some_r, NULL) == KITH_OK &&
                  kith_glance_see(flock, NULL, &some_v) == KITH_OK,
              "%s", kith_message(ctx));
        same("positions", some_r, r, index, n, bytes);
        same("velocities", some_v, v, index, n, bytes);
    }
    if (n > 1) {
        index[1] = index[0];
        CHECK(kith_glance_choose(flock, index, n) == KITH_INVALID, "twice");
        index[1] = N;
        CHECK(kith_glance_choose(flock, index, n) == KITH_INVALID, "not of the flock");
        CHECK(kith_glance_see(flock, &some_r, &some_v) == KITH_OK, "the old choice stays");
    }
    CHECK(kith_glance_choose(flock, index, N + 1) == KITH_INVALID, "more than there are");
    CHECK(kith_glance_choose(flock, NULL, 1) == KITH_INVALID, "NULL");
    choose(index, n / 2); /* another choice, of other size */
    CHECK(kith_glance_choose(flock, index, n / 2) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_glance_take(flock) == KITH_OK && kith_flock_read(flock, r, v) == KITH_OK &&
              kith_glance_see(flock, &some_r, &some_v) == KITH_OK,
          "%s", kith_message(ctx));
    same("positions", some_r, r, index, n / 2, bytes);
    CHECK(kith_glance_take(flock) == KITH_OK, "%s", kith_message(ctx));
    kith_flock_close(flock); /* while it is on its way */
    free(index);
    free(v);
    free(r);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    for (int kind = 0; kind < 4; kind++) {
        kith_box box = kind < 3 ? kith_box_periodic(35, 30, 25) : kith_box_open();
        box.dim = kind == 2 ? 2 : 3;
        flock_case c = flock_case_make("glance", N, 25, box, kind % 2 ? KITH_FLOAT : KITH_DOUBLE, 0,
                                       (uint64_t)kind + 1);
        look(ctx, &c, kind == 0 ? N : 500);
        if (kind == 1)
            look(ctx, &c, 0);
        flock_case_free(&c);
    }
    kith_close(ctx);
    return check_done();
}
