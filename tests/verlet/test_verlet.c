/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random histories of a kept list, in boxes of all kinds and both precisions: small steps, wraps,
 * jumps, boxes that are sheared, compressed and replaced, particles that are added and removed.
 * After each step the list has the bits of a fresh search.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "verlet_case.h"

enum { MOST = 220, STEPS = 40 };

/* How a box changes with the steps. */
typedef enum change { FIXED, SHEARED, COMPRESSED, TUMBLED, SHIFTED, CHANGES } change;

/* A history. */
typedef struct history {
    rng r;
    double xyz[3 * MOST];
    int64_t n;
    kith_box first, box;
    int has_box, affine;
    change change;
    double speed; /* of a step, in skins */
} history;

/* Boxes of the kinds that matter. */
static kith_box make_box(int kind, double side, int *has_box)
{
    kith_box box = kith_box_periodic(side, side, side);
    *has_box = kind != 0;
    switch (kind) {
    case 0: return kith_box_open();
    case 1: return box;
    case 2: box.periodic[1] = 0; return box;
    case 3: return kith_box_triclinic(side, side, side, 0.4 * side, -0.3 * side, 0.45 * side);
    case 4: /* rows in any direction, and far away */
        box = kith_box_triclinic(side, 0.8 * side, 1.1 * side, 1.7 * side, -side, 2.3 * side);
        for (int k = 0; k < 3; k++) {
            const double x = box.row[k][0], y = box.row[k][1];
            box.row[k][0] = 0.6 * x - 0.8 * y;
            box.row[k][1] = 0.8 * x + 0.6 * y;
            box.origin[k] = 40 * side * (k - 1);
        }
        return box;
    case 5: box.dim = 2; return box;
    case 6: /* shorter than the cutoff */
        return kith_box_periodic(0.21 * side, 1.3 * side, 0.6 * side);
    case 7: box.origin[0] = 1000 * side; return box;
    case 8: /* a skewed slab: open along c */
        box = kith_box_triclinic(side, side, side, 0.9 * side, 0, 0);
        box.periodic[2] = 0;
        return box;
    default: /* a skewed plane */
        box = kith_box_triclinic(side, side, 1, 0.5 * side, 0, 0);
        box.dim = 2;
        return box;
    }
}
enum { KINDS = 10 };

/* Set the box of a step. */
static void change_box(history *h, int step)
{
    h->box = h->first;
    const double side = h->first.row[0][0];
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++) {
            double *to = &h->box.row[k][m];
            if (h->change == COMPRESSED)
                *to *= 1 + 0.004 * step * (k == 1 ? -1 : 1);
            if (h->change == TUMBLED)
                *to += 0.01 * side * sin(0.1 * step * (k + 2 * m + 1));
        }
    if (h->change == SHEARED) { /* flips to an equivalent shape */
        const double strain = 0.02 * step;
        for (int m = 0; m < 3; m++)
            h->box.row[1][m] += (strain - rint(strain)) * h->box.row[0][m];
    }
    if (h->change == SHIFTED)
        for (int k = 0; k < 3; k++)
            h->box.origin[k] += 0.01 * step * side;
}

/* Positions with the fractional coordinates that they had in another box. */
static void follow(history *h, const kith_box *from)
{
    double f[3];
    for (int64_t p = 0; p < h->n; p++) {
        double *x = h->xyz + 3 * p;
        oracle_fractions(from, KITH_DOUBLE, x, f);
        for (int m = 0; m < 3; m++) {
            x[m] = h->box.origin[m];
            for (int k = 0; k < 3; k++)
                x[m] += f[k] * h->box.row[k][m];
        }
    }
}

static void add_particle(history *h)
{
    double *one = points_in_box(&h->r, 1, &h->box);
    memcpy(h->xyz + 3 * h->n++, one, 3 * sizeof *one);
    free(one);
}

/* A step: all particles move, and now and then something else happens. */
static void move(history *h, int step, double skin)
{
    const kith_box before = h->box;
    const int all_periodic = h->has_box && h->box.periodic[0] && h->box.periodic[1] &&
                             h->box.periodic[2] && h->box.dim == 3;
    change_box(h, step);
    if (h->affine && all_periodic)
        follow(h, &before);
    for (int64_t p = 0; p < 3 * h->n; p++)
        h->xyz[p] += h->speed * skin * rng_normal(&h->r);
    const int64_t what = rng_below(&h->r, 12);
    if (what == 0 && h->n > 0) /* a jump */
        h->xyz[3 * rng_below(&h->r, h->n)] += 3 * skin;
    if (what == 1 && h->n < MOST)
        add_particle(h);
    if (what == 2 && h->n > 0)
        memmove(h->xyz, h->xyz + 3, 3 * (size_t)--h->n * sizeof *h->xyz);
    if (what == 3 && h->n > 1) { /* two exchange their indices */
        double *a = h->xyz, *b = h->xyz + 3 * (h->n - 1), one[3];
        memcpy(one, a, sizeof one);
        memcpy(a, b, sizeof one);
        memcpy(b, one, sizeof one);
    }
    if (h->has_box && what > 5)
        points_drift(&h->r, h->xyz, h->n, &h->box, what == 6 ? 100 : 1);
}

static history make_history(uint64_t seed, int kind, change how, double side)
{
    history h = {.r = {seed}, .change = how};
    h.first = h.box = make_box(kind, side, &h.has_box);
    h.n = (int64_t[]){MOST - 5, 40, 2, 0}[rng_below(&h.r, 8) % 5 % 4];
    h.affine = (int)rng_below(&h.r, 2);
    h.speed = (double[]){0.003, 0.02, 0.1, 0}[rng_below(&h.r, 4)];
    const kith_box all = kith_box_periodic(side, side, side);
    double *xyz = points_in_box(&h.r, h.n, h.has_box ? &h.box : &all);
    memcpy(h.xyz, xyz, 3 * (size_t)h.n * sizeof *xyz);
    free(xyz);
    return h;
}

/* A kept list over a history. */
static void check_history(kith_ctx *ctx, uint64_t seed, int kind, change how)
{
    char name[128];
    const double side = 10;
    history h = make_history(seed, kind, how, side);
    kith_verlet_options o;
    kith_verlet_options_init(&o);
    o.cutoff = side * rng_uniform(&h.r, 0.1, 0.25);
    o.skin = side * (double[]){0.001, 0.02, 0.05, 0.1}[rng_below(&h.r, 4)];
    o.full = (int)rng_below(&h.r, 2);
    o.layout = rng_below(&h.r, 2) ? KITH_CSR : KITH_IJ;
    o.extras = (unsigned)rng_below(&h.r, 8);
    o.with_skin = rng_below(&h.r, 4) == 0;
    kith_precision precision = rng_below(&h.r, 2) ? KITH_FLOAT : KITH_DOUBLE;
    snprintf(name, sizeof name, "seed %llu, box %d, change %d, %s", (unsigned long long)seed, kind,
             (int)how, precision == KITH_FLOAT ? "float" : "double");
    kept k = kept_open(ctx, &o, name);
    int good = 1;
    for (int step = 0; step < STEPS && good; step++) {
        if (step == STEPS / 2 && seed % 4 == 0)
            precision = precision == KITH_FLOAT ? KITH_DOUBLE : KITH_FLOAT;
        if (rng_below(&h.r, 20) == 0)
            kith_verlet_rebuild(k.verlet);
        stored s = stored_make(h.xyz, h.n, precision, (layout)(rng_below(&h.r, LAYOUTS)));
        good = kept_check(&k, &s.points, h.has_box ? &h.box : NULL);
        stored_free(&s);
        move(&h, step, o.skin);
    }
    kept_close(&k);
}

int main(int argc, char **argv)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx[2] = {check_open(backend, 1), check_open(backend, 3)};
    const int rounds = check_deep() ? 400 : 6 / (1 + check_brief());
    for (int round = 0; round <= rounds; round++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int how = 0; how < CHANGES; how++)
                check_history(ctx[(round + how) % 2],
                              (uint64_t)(1000 * round + 100 * kind + how + 1), kind, (change)how);
    kith_close(ctx[0]);
    kith_close(ctx[1]);
    return check_done();
}
