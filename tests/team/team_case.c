/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs for teams, and ways to split them.
 */
#include "team_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double *fill_fn(rng *r, int64_t *n, const kith_box *box);

static double *uniform(rng *r, int64_t *n, const kith_box *box)
{
    return points_in_box(r, *n, box);
}

/** Nine tenths of the particles in a thousandth of the box. */
static double *zoom(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = points_in_box(r, *n, box);
    for (int64_t p = 0; p < *n; p++) {
        for (int k = 0; k < 3 && rng_below(r, 10) > 0; k++) {
            const double o = box->origin[k];
            xyz[3 * p + k] = k < box->dim ? o + (xyz[3 * p + k] - o) * 0.1 : xyz[3 * p + k];
        }
    }
    return xyz;
}

static double *one_point(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = points_in_box(r, *n, box);
    for (int64_t p = 1; p < *n; p++) {
        memcpy(xyz + 3 * p, xyz, 3 * sizeof *xyz);
    }
    return xyz;
}

/** On few planes across each axis, so that planes of the decomposition go through particles. */
static double *planes(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = check_malloc(3 * (size_t)*n * sizeof *xyz);
    for (int64_t p = 0; p < *n; p++) {
        double f[3];
        for (int k = 0; k < 3; k++) {
            f[k] = k < box->dim ? (double)rng_below(r, 5) / 4 : 0; /* 1 is the far face */
        }
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = box->origin[m] + f[0] * box->row[0][m] + f[1] * box->row[1][m] +
                             f[2] * box->row[2][m];
        }
        if (rng_below(r, 4) == 0) {
            xyz[3 * p] = -xyz[3 * p]; /* and -0 */
        }
    }
    return xyz;
}

/** A cubic lattice in random order, whose spacing is a sixteenth of the box. */
static double *lattice_points(rng *r, int64_t *n, const kith_box *box)
{
    int cells = 2;
    while (cells < 16 && (box->dim == 3 ? cells * cells * cells : cells * cells) < *n) {
        cells++;
    }
    const int depth = box->dim == 3 ? cells : 1;
    *n = (int64_t)cells * cells * depth;
    double *xyz = check_malloc(3 * (size_t)*n * sizeof *xyz);
    for (int64_t p = 0; p < *n; p++) {
        const int64_t at[3] = {p % cells, p / cells % cells, p / cells / cells};
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = box->origin[m] + (double)at[m] / 16 * box->row[m][m];
        }
    }
    for (int64_t p = *n - 1; p > 0; p--) {
        const int64_t q = rng_below(r, p + 1);
        for (int m = 0; m < 3; m++) {
            const double x = xyz[3 * p + m];
            xyz[3 * p + m] = xyz[3 * q + m];
            xyz[3 * q + m] = x;
        }
    }
    return xyz;
}

/** A thread that winds through all of the box. */
static double *spiral(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = check_malloc(3 * (size_t)*n * sizeof *xyz);
    (void)r;
    for (int64_t p = 0; p < *n; p++) {
        const double t = (double)p / (double)*n;
        const double f[3] = {0.5 + 0.45 * cos(40 * t), 0.5 + 0.45 * sin(40 * t),
                             box->dim == 3 ? t : 0};
        for (int m = 0; m < 3; m++) {
            xyz[3 * p + m] = box->origin[m] + f[0] * box->row[0][m] + f[1] * box->row[1][m] +
                             f[2] * box->row[2][m];
        }
    }
    return xyz;
}

/** Uniform, each particle moved by up to 2^19 boxes. */
static double *far_away(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = points_in_box(r, *n, box);
    points_drift(r, xyz, *n, box, 1 << 19);
    return xyz;
}

/** Uniform, each particle moved by up to two boxes. */
static double *outside(rng *r, int64_t *n, const kith_box *box)
{
    double *xyz = points_in_box(r, *n, box);
    points_drift(r, xyz, *n, box, 2);
    return xyz;
}

static const struct {
    const char *name;
    fill_fn *fill;
} fills[] = {
    {"uniform", uniform},        {"zoom", zoom},     {"one point", one_point}, {"planes", planes},
    {"lattice", lattice_points}, {"spiral", spiral}, {"outside", outside}};
enum { FILLS = sizeof fills / sizeof fills[0], BOXES = 8, CUTOFFS = 4 };

/** Box k: open, periodic, mixed, triclinic, long, thin, 2-D. */
static kith_box box_of(int k, const char **name)
{
    static const char *const names[BOXES] = {"open",      "periodic", "mixed",    "triclinic",
                                             "very long", "2-D",      "2-D open", "drifted"};
    kith_box box = kith_box_periodic(16, 16, 16);
    *name = names[k];
    switch (k) {
    case 0: box.periodic[0] = box.periodic[1] = box.periodic[2] = 0; break;
    case 2: box.periodic[1] = 0; break;
    case 3: box = kith_box_triclinic(16, 14, 12, 5, -4, 3); break;
    case 4: box = kith_box_periodic(256, 4, 8); break;
    case 5: box.dim = 2; break;
    case 6:
        box.dim = 2;
        box.periodic[0] = box.periodic[1] = 0;
        break;
    default: break;
    }
    box.origin[0] = k == 3 ? -3 : 0;
    return box;
}

int team_inputs(void)
{
    return FILLS * BOXES * CUTOFFS;
}

void team_try_inputs(kith_ctx *ctx, const char *backend, uint64_t seed, team_try_fn *try_input)
{
    rng r = {seed};
    const int step = 1 + check_brief() / 3;
    const int rounds = check_deep() ? 100 : 1;
    for (int k = 0; k < rounds * team_inputs(); k += step) {
        try_input(ctx, backend, &r, k % team_inputs(), (int)rng_below(&r, 1 << 20));
    }
}

int team_main(int argc, char **argv, uint64_t seed, team_try_fn *try_input)
{
    const char *backend = check_backend(argc, argv);
    kith_ctx *ctx = check_open(backend, 2);
    team_try_inputs(ctx, backend, seed, try_input);
    kith_close(ctx);
    return check_done();
}

team_run team_run_of(const char *backend, int how)
{
    static const int ranks[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 64};
    static const int64_t chunks[] = {0, 1, 40, 1000};
    return (team_run){.backend = backend,
                      .ranks = ranks[how % (int)(sizeof ranks / sizeof ranks[0])],
                      .chunk_bytes = chunks[how / 3 % 4],
                      .deal = (team_deal)(how / 5 % DEALS)};
}

team_input team_input_make(rng *r, int k, int64_t n)
{
    /* short, the lattice's spacing, beyond half the box, beyond the box */
    static const double cutoffs[CUTOFFS] = {0.7, 1, 9.5, 20};
    static const int64_t share[CUTOFFS] = {1, 1, 4, 12};
    team_input in;
    const char *name;
    const int c = k / FILLS / BOXES % CUTOFFS;
    in.box = box_of(k / FILLS % BOXES, &name);
    in.cutoff = cutoffs[c];
    in.n = 1 + n / share[c];
    if (in.box.row[0][0] > 100) {
        in.cutoff = c < 2 ? in.cutoff
                          : 5; /* beyond half of the second row, not hundreds of images */
    }
    in.xyz = (k / FILLS % BOXES == 7 ? far_away : fills[k % FILLS].fill)(r, &in.n, &in.box);
    snprintf(in.name, sizeof in.name, "input %d: %s, %s, cutoff %g, %lld particles", k,
             fills[k % FILLS].name, name, in.cutoff, (long long)in.n);
    return in;
}

int32_t *team_random_column(rng *r, int64_t n, int64_t most)
{
    int32_t *column = check_malloc((size_t)n * sizeof *column);
    for (int64_t p = 0; p < n; p++) {
        column[p] = (int32_t)rng_below(r, most) - (most > 8);
    }
    return column;
}

int32_t *team_random_bonds(rng *r, int64_t n, int64_t m, int64_t **offsets)
{
    enum { MOST = 30 };
    int32_t *bonds = check_malloc((size_t)(MOST * n + 1) * sizeof *bonds);
    int64_t *begin = check_malloc((size_t)(n + 1) * sizeof *begin);
    begin[0] = 0;
    for (int64_t p = 0; p < n; p++) {
        begin[p + 1] = begin[p] + (m > 0 && p % 3 ? rng_below(r, MOST) : 0);
        for (int64_t at = begin[p]; at < begin[p + 1]; at++) {
            bonds[at] = (int32_t)rng_below(r, m);
        }
    }
    *offsets = begin;
    return bonds;
}

void team_split_at(team_split how, int64_t n, int ranks, int64_t *first)
{
    for (int r = 0; r <= ranks; r++) {
        const double part = (double)r / ranks;
        first[r] = how == SPLIT_EVEN     ? n * r / ranks
                   : how == SPLIT_UNEVEN ? (int64_t)((double)n * part * part * part)
                   : how == SPLIT_GAPS   ? n * (r / 2 * 2) / ranks
                                         : 0;
    }
    first[0] = 0;
    first[ranks] = n;
}

kith_points team_slice(const kith_points *all, int64_t begin, int64_t end)
{
    kith_points part = *all;
    const size_t at = (size_t)(begin * all->stride) * (size_t)all->precision;
    part.n = end - begin;
    part.x = (const char *)all->x + at;
    part.y = (const char *)all->y + at;
    part.z = all->z ? (const char *)all->z + at : NULL;
    return part;
}
