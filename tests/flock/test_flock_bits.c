/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same bits for any number of threads, and when a flock is read and opened again midway; and
 * the same as every other instruction set's, whose sum over the bits is written here.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flock_case.h"

enum { N = 2500, STEPS = 6, KINDS = 6 };

/* FNV-1a. */
static uint64_t sum_bits(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t b = 0; b < bytes; b++)
        h = (h ^ at[b]) * 0x100000001b3u;
    return h;
}

static flock_case make(int kind)
{
    kith_box box = kith_box_periodic(35, 30, 25);
    box.dim = kind == 3 ? 2 : 3;
    if (kind == 4)
        box.periodic[0] = 0;
    if (kind == 5)
        box = kith_box_open();
    flock_case c = flock_case_make("bits", N, 25, box, kind % 2 ? KITH_FLOAT : KITH_DOUBLE, 0,
                                   (uint64_t)kind + 1);
    kith_flock_options *o = &c.options;
    o->seed = 7;
    o->noise = 0.3;
    switch (kind) {
    case 1: o->model = KITH_VICSEK_ANGULAR; break;
    case 2: o->model = KITH_VICSEK_VECTORIAL; break;
    case 3: o->nearest = 7; break;
    case 4:
        o->blind_angle = 1.5;
        o->relative = 1;
        o->reflecting[0] = 1;
        break;
    default: break;
    }
    return c;
}

/* Fly, with a stop after `first` steps at which the flock is opened anew. */
static void fly(const char *backend, int threads, const flock_case *c, int first, void *r, void *v)
{
    kith_ctx *ctx = check_open(backend, threads);
    kith_flock *flock = flock_case_open(ctx, c);
    kith_flock_measures measures; /* in the midst, with the context's memory */
    CHECK(kith_flock_step(flock, 1) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_measure(flock, &measures) == KITH_OK, "%s", kith_message(ctx));
    CHECK(kith_flock_step(flock, first - 1) == KITH_OK, "%s", kith_message(ctx));
    if (first < STEPS) {
        kith_flock_read(flock, r, v);
        kith_flock_options o = c->options;
        o.first_step = kith_flock_steps(flock);
        CHECK(o.first_step == first, "%lld steps", (long long)o.first_step);
        kith_flock_close(flock);
        flock = NULL;
        const kith_points points = kith_points_packed(r, N, c->precision);
        const kith_points velocities = kith_points_packed(v, N, c->precision);
        CHECK(kith_flock_open(ctx, &points, &velocities, &c->box, &o, &flock) == KITH_OK, "%s",
              kith_message(ctx));
        CHECK(kith_flock_step(flock, STEPS - first) == KITH_OK, "%s", kith_message(ctx));
    }
    kith_flock_read(flock, r, v);
    kith_flock_close(flock);
    kith_close(ctx);
}

/* Of r and v after the flight; no backend may differ. */
static const uint64_t known[KINDS] = {0xff75bd6e54202c41, 0xc4994b669c2ab095, 0xfafd16d9f615074,
                                      0xe4cca1f8c44a793f, 0xa014205aad7517c9, 0x67f055fa2918d150};

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    double *r[2], *v[2];
    for (int k = 0; k < 2; k++) {
        r[k] = check_malloc(3 * N * sizeof(double));
        v[k] = check_malloc(3 * N * sizeof(double));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        flock_case c = make(kind);
        const size_t bytes = 3 * N * (size_t)c.precision;
        fly(backend, 1, &c, STEPS, r[0], v[0]);
        const uint64_t sum = sum_bits(r[0], bytes) + 3 * sum_bits(v[0], bytes);
        CHECK(sum == known[kind], "kind %d: 0x%llx", kind, (unsigned long long)sum);
        for (int other = 0; other < 3; other++) {
            fly(backend, other + 1, &c, other == 0 ? 2 : STEPS, r[1], v[1]);
            CHECK(memcmp(r[0], r[1], bytes) == 0 && memcmp(v[0], v[1], bytes) == 0, "kind %d: %s",
                  kind, other == 0 ? "opened again" : "threads");
        }
        flock_case_free(&c);
    }
    for (int k = 0; k < 2; k++) {
        free(r[k]);
        free(v[k]);
    }
    return check_done();
}
