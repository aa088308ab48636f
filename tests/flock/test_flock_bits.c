/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same bits for any number of threads, and when a flock is read and opened again midway; and
 * the same as every other instruction set's, whose sum over the bits is written here. Crowds too,
 * in which many pairs are just as far apart as a radius.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "flock_case.h"

enum { N = 2500, STEPS = 6, KINDS = 16, CROWDS = 18, FAR = 14, CROWD_STEPS = 3, CHANGES = 8 };

/* FNV-1a. */
static uint64_t sum_bits(const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t b = 0; b < bytes; b++)
        h = (h ^ at[b]) * 0x100000001b3u;
    return h;
}

/* The state of a case must be the one known. */
static void check_known(const flock_case *c, int kind, uint64_t known, const void *r, const void *v)
{
    const size_t bytes = 3 * (size_t)c->n * (size_t)c->precision;
    const uint64_t sum = sum_bits(r, bytes) + 3 * sum_bits(v, bytes);
    CHECK(sum == known, "%s %d: 0x%llx", c->name, kind, (unsigned long long)sum);
}

static const kith_flock_factors alike[4] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
static const kith_flock_factors heed[9] = {{1, 1, 1},       {0, 0, 0},     {2.3, 0, -0.7},
                                           {1, -0.31, 0.1}, {0, 1, 3.3},   {64, 0.5, 0.25},
                                           {0, 2, 1},       {-64, 0, 0.1}, {1e-7, 0, 1}};
static uint8_t species[N];

static flock_case make(int kind)
{
    if (kind == 14) { /* species that heed each other as if there were none */
        flock_case c = make(4);
        c.options.factors = alike;
        c.options.n_species = 2;
        return c;
    }
    kith_box box = kith_box_periodic(35, 30, 25);
    box.dim = kind == 3 || kind == 8 || kind == 10 ? 2 : 3;
    if (kind == 4)
        box.periodic[0] = 0;
    if (kind == 5)
        box = kith_box_open();
    flock_case c = flock_case_make("bits", N, 25, box, kind % 2 ? KITH_FLOAT : KITH_DOUBLE, 0,
                                   (uint64_t)kind + 1);
    kith_flock_options *o = &c.options;
    o->seed = 7;
    o->noise = kind == 1 || kind == 2 || kind > 5 ? 0.3 : 0;
    o->gaussian = kind == 7 || kind == 8 || kind == 10;
    o->turn_rate = kind == 8 || kind == 9 ? 0.8 : 0;
    switch (kind) {
    case 1:
    case 8: o->model = KITH_VICSEK_ANGULAR; break;
    case 2: o->model = KITH_VICSEK_VECTORIAL; break;
    case 3: o->nearest = 7; break;
    case 4:
        o->blind_angle = 1.5;
        o->relative = 1;
        o->reflecting[0] = 1;
        break;
    case 10:
        o->repulsion = (kith_flock_rule){1.5, 2};
        o->separation.radius = o->alignment.radius = o->cohesion.radius = 0;
        break;
    case 11:
        o->repulsion = (kith_flock_rule){4, 0.5};
        o->nearest = 5;
        break;
    case 12:
        o->factors = heed;
        o->n_species = 3;
        break;
    case 13:
        o->factors = heed;
        o->n_species = 3;
        o->species = species;
        o->repulsion = (kith_flock_rule){1.5, 0.5};
        o->nearest = 12;
        o->relative = 1;
        break;
    case 15:
        o->leaders = 0.2;
        o->leader_weight = 0.4;
        o->leader_direction[0] = 1;
        o->leader_direction[2] = -2;
        break;
    default: break;
    }
    return c;
}

/* Crowds stand on a grid at first: many pairs are just as far apart as a radius. Every other
 * pair of them has a rule of a shorter reach. The last are hundreds of radii from the origin. */
static flock_case make_crowd(int kind)
{
    static const double neighbours[CROWDS / 2] = {15, 31, 61, 50, 500, 100, 4, 4, 31};
    const double volume = 4.0 / 3 * 3.14159265358979 * 125;
    const double side = rint(cbrt(N * volume / neighbours[kind / 2]));
    kith_box box = kith_box_periodic(side, side, side);
    if (kind >= FAR) {
        box.origin[0] = 3000;
        box.origin[1] = -3000;
        box.origin[2] = 3000;
    }
    flock_case c = flock_case_make("crowd", N, side, box, kind % 2 ? KITH_FLOAT : KITH_DOUBLE, 0.5,
                                   (uint64_t)kind + 1);
    if (kind / 2 % 2)
        c.options.alignment.radius = 3;
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
static const uint64_t known[KINDS] = {
    0xff75bd6e54202c41, 0xc4994b669c2ab095, 0xfafd16d9f615074,  0xe4cca1f8c44a793f,
    0xa014205aad7517c9, 0x67f055fa2918d150, 0xc4a52c803aa8fd31, 0xfeb0c0e7a639dc82,
    0x5503f4a5aa063e67, 0x96d7fac60e149d6e, 0x3d5e33a44339ffcb, 0xcd38bb6050d2c924,
    0x3065bcbb8213b58d, 0x975635f7fab073f1, 0xa014205aad7517c9, 0xab58e65bebd74aa};

static const uint64_t known_crowds[CROWDS] = {
    0x712608d07ec4e514, 0x6adb9389b32030c8, 0x9589187090e8f645, 0x9dd1e049f638999e,
    0xd3a4981a060a1ba3, 0x16c0bdb4746b9dda, 0xb75e5e6e7161363d, 0x369506efae15ec7b,
    0xa5a43f4132c883a,  0x2ce1d123222ebd41, 0x359bb52c16c8d0e1, 0xc6f855af4631f3b5,
    0xd6ac41d8ad7c75f5, 0x86b0a14fa1037f7,  0x7855fa29b35772bb, 0x2ee77f76fb21433,
    0x642c3ef05ab28878, 0xf3acff4a6466898};

static void fly_crowds(const char *backend, void *r, void *v)
{
    kith_ctx *ctx = check_open(backend, 2);
    for (int kind = 0; kind < CROWDS; kind++) {
        flock_case c = make_crowd(kind);
        kith_flock *flock = flock_case_open(ctx, &c);
        CHECK(kith_flock_step(flock, CROWD_STEPS) == KITH_OK, "%s", kith_message(ctx));
        kith_flock_read(flock, r, v);
        check_known(&c, kind, known_crowds[kind], r, v);
        kith_flock_close(flock);
        flock_case_free(&c);
    }
    kith_close(ctx);
}

/* Flocks that are changed between two steps and changed back; many thin ones, and one in 2-D. */
static flock_case make_changing(int kind, kith_flock_options *other)
{
    const double volume = 4.0 / 3 * 3.14159265358979 * 125;
    const int64_t n = kind / 2 == 0 ? 200001 : N;
    const double side = rint(kind / 2 == 1 ? sqrt((double)n * 13) : cbrt((double)n * volume / 6));
    kith_box box = kith_box_periodic(side, side, side);
    box.dim = kind / 2 == 1 ? 2 : 3;
    for (int k = 0; k < 3 && kind / 2 == 2; k++) {
        box.periodic[k] = 0;
        box.origin[k] = 1980; /* 2048 from the origin units of floats end */
    }
    flock_case c = flock_case_make("changing", n, side, box, kind % 2 ? KITH_FLOAT : KITH_DOUBLE, 0,
                                   (uint64_t)kind + 100);
    *other = c.options;
    switch (kind / 2) {
    case 2: /* no walls */
        c.options.reflecting[0] = c.options.reflecting[1] = c.options.reflecting[2] = 1;
        other->time_step = 30;
        break;
    case 3: other->blind_angle = 1.5; break;
    default: other->alignment.radius = 3; break;
    }
    return c;
}

static const uint64_t known_changing[CHANGES] = {
    0x21bf44ec836f0b1,  0xb516ab89867132f5, 0xb38bfdc40508a2aa, 0x13354b8231b88d50,
    0x39a046cc55ba9364, 0x17cd789bf8d1feb9, 0x2f332fd636ece7,   0xb80540dd648d834b};

static void fly_changing(const char *backend)
{
    kith_ctx *ctx = check_open(backend, 2);
    for (int kind = 0; kind < CHANGES; kind++) {
        kith_flock_options other;
        flock_case c = make_changing(kind, &other);
        const size_t bytes = 3 * (size_t)c.n * (size_t)c.precision;
        void *r = check_malloc(bytes), *v = check_malloc(bytes);
        kith_flock *flock = flock_case_open(ctx, &c);
        const kith_flock_options *const in_turn[] = {&c.options, &other, &c.options};
        for (int turn = 0; turn < 3; turn++) {
            CHECK(kith_flock_change(flock, in_turn[turn]) == KITH_OK, "%s", kith_message(ctx));
            CHECK(kith_flock_step(flock, turn == 1 ? 1 : 2) == KITH_OK, "%s", kith_message(ctx));
        }
        kith_flock_read(flock, r, v);
        check_known(&c, kind, known_changing[kind], r, v);
        kith_flock_close(flock);
        flock_case_free(&c);
        free(r);
        free(v);
    }
    kith_close(ctx);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    double *r[2], *v[2];
    for (int k = 0; k < 2; k++) {
        r[k] = check_malloc(3 * N * sizeof(double));
        v[k] = check_malloc(3 * N * sizeof(double));
    }
    for (int p = 0; p < N; p++)
        species[p] = (uint8_t)(p * 7 / 5 % 3);
    for (int kind = 0; kind < KINDS; kind++) {
        flock_case c = make(kind);
        const size_t bytes = 3 * N * (size_t)c.precision;
        fly(backend, 1, &c, STEPS, r[0], v[0]);
        check_known(&c, kind, known[kind], r[0], v[0]);
        for (int other = 0; other < 3; other++) {
            fly(backend, other + 1, &c, other == 0 ? 2 : STEPS, r[1], v[1]);
            CHECK(memcmp(r[0], r[1], bytes) == 0 && memcmp(v[0], v[1], bytes) == 0, "kind %d: %s",
                  kind, other == 0 ? "opened again" : "threads");
        }
        flock_case_free(&c);
    }
    fly_crowds(backend, r[0], v[0]);
    fly_changing(backend);
    for (int k = 0; k < 2; k++) {
        free(r[k]);
        free(v[k]);
    }
    return check_done();
}
