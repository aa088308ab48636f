/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rungs of the ladder of flocks, as in lectures on GPU programming (UPenn, CIS 565).
 *
 * Rung 1 tests each boid against all others. Rung 2 sorts indices by cells as wide as the largest
 * radius and tests 27 cells; positions and velocities are not moved, so that each neighbour is a
 * random access to memory. Rung 3 first copies them into the order of the cells: neighbours are
 * then adjacent in memory. Rung 4, the library, keeps them in that order from step to step, reads a
 * tile of candidates once for all boids of a few cells, tests sixteen at a time, and sums integers.
 *
 * Published kernels of this kind have faults that a comparison with rung 1 finds (rung_fault).
 */
#include "rung_flock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double radius[3] = {3, 5, 5}, weight[3] = {0.1, 0.1, 0.01}, time_step = 0.2;
enum { SEPARATION, ALIGNMENT, COHESION };

/* Sums over the neighbours of one boid, for separation, alignment and cohesion. */
typedef struct sums {
    double n[3], separation[3], velocity[3], cohesion[3];
} sums;

/* Add boid j to the sums of boid i if it is within a radius. The distance is computed in float, in
   the order of operations by which the library defines it. */
static void add_neighbour(sums *s, const rung_herd *now, const float *ri, const float *rj,
                          const float *vj, rung_fault fault)
{
    const float side = (float)now->side;
    float d[3], square[3];
    for (int k = 0; k < 3; k++) {
        d[k] = rj[k] - ri[k];
        d[k] += d[k] > side / 2 ? -side : d[k] < -side / 2 ? side : 0;
        square[k] = d[k] * d[k];
    }
    const float r2 = (square[0] + square[1]) + square[2];
    const float measure = fault == RUNG_SQUARE ? sqrtf(r2) : r2;
    if (measure > (float)(radius[COHESION] * radius[COHESION])) {
        return;
    }
    const bool close = measure <= (float)(radius[SEPARATION] * radius[SEPARATION]);
    s->n[ALIGNMENT]++;
    for (int k = 0; k < 3; k++) {
        s->cohesion[k] += (double)d[k];
        s->velocity[k] += (double)vj[k];
        s->separation[k] += close ? (double)d[k] : 0;
    }
}

static void move(const sums *s, const rung_herd *now, rung_herd *next, const float *r,
                 const float *v, int64_t p)
{
    double u[3], speed = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (double)v[k] - weight[SEPARATION] * s->separation[k];
        if (s->n[ALIGNMENT] > 0) {
            u[k] += (weight[COHESION] * s->cohesion[k] + weight[ALIGNMENT] * s->velocity[k]) /
                    s->n[ALIGNMENT];
        }
        speed += u[k] * u[k];
    }
    speed = sqrt(speed);
    for (int k = 0; k < 3; k++) {
        next->v[3 * p + k] = (float)(speed > 1 ? u[k] / speed : u[k]);
        double x = (double)r[k] + (double)next->v[3 * p + k] * time_step;
        x -= now->side * floor(x / now->side);
        next->r[3 * p + k] = (float)x < (float)now->side ? (float)x : 0;
    }
}

bool rung_flock_naive(rung_flock *state, const rung_herd *now, rung_herd *next)
{
    for (int64_t i = 0; i < now->n; i++) {
        sums s = {.n = {0}};
        for (int64_t j = 0; j < now->n; j++) {
            if (j != i) {
                add_neighbour(&s, now, now->r + 3 * i, now->r + 3 * j, now->v + 3 * j,
                              state->fault);
            }
        }
        move(&s, now, next, now->r + 3 * i, now->v + 3 * i, i);
    }
    return true;
}

/* Allocate memory for n boids in the first step. */
static bool prepare(rung_flock *state, const rung_herd *now)
{
    if (state->start) {
        return true;
    }
    const size_t n = (size_t)now->n + 1;
    state->cells = (int64_t)(now->side / radius[COHESION]);
    const size_t cells = (size_t)(state->cells * state->cells * state->cells);
    state->start = calloc(cells + 2, sizeof *state->start);
    state->order = calloc(n, sizeof *state->order);
    state->cell = calloc(n, sizeof *state->cell);
    state->r = calloc(3 * n, sizeof *state->r);
    state->v = calloc(3 * n, sizeof *state->v);
    return state->start && state->order && state->cell && state->r && state->v;
}

static int64_t cell_of(const rung_flock *state, const rung_herd *now, const float *r)
{
    int64_t c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = (int64_t)((double)r[k] / now->side * (double)state->cells);
        c[k] = c[k] < state->cells ? c[k] : state->cells - 1;
    }
    return (c[2] * state->cells + c[1]) * state->cells + c[0];
}

/* Sort the indices by counting sort: order[start[c]] to order[start[c + 1] - 1] are in cell c. */
static bool sort(rung_flock *state, const rung_herd *now)
{
    const bool stale = state->start && state->fault == RUNG_STALE;
    if (!prepare(state, now)) {
        return false;
    }
    if (stale) {
        return true;
    }
    const int64_t cells = state->cells * state->cells * state->cells;
    memset(state->start, 0, (size_t)(cells + 2) * sizeof *state->start);
    for (int64_t p = 0; p < now->n; p++) {
        state->cell[p] = (int32_t)cell_of(state, now, now->r + 3 * p);
        state->start[state->cell[p] + 2]++;
    }
    for (int64_t c = 1; c <= cells; c++) {
        state->start[c + 1] += state->start[c];
    }
    for (int64_t p = 0; p < now->n; p++) {
        state->order[state->start[state->cell[p] + 1]++] = (int32_t)p;
    }
    return true;
}

/* Add the neighbours of boid i in the 27 cells around it. r and v are in the order of the cells if
   coherent. */
static void add_neighbours(const rung_flock *state, const rung_herd *now, const float *r,
                           const float *v, bool coherent, int64_t i, sums *s)
{
    const int64_t m = state->cells;
    const int64_t cell = cell_of(state, now, r + 3 * i);
    const int64_t at[3] = {cell % m, cell / m % m, cell / m / m};
    for (int near = 0; near < 27; near++) {
        const int64_t c[3] = {(at[0] + near % 3 - 1 + m) % m, (at[1] + near / 3 % 3 - 1 + m) % m,
                              (at[2] + near / 9 - 1 + m) % m};
        const int64_t other = (c[2] * m + c[1]) * m + c[0];
        const int32_t end = state->start[other + 1] - (state->fault == RUNG_LAST);
        for (int32_t k = state->start[other]; k < end; k++) {
            const int64_t j = coherent ? k : state->order[k];
            if (j != i) {
                add_neighbour(s, now, r + 3 * i, r + 3 * j, v + 3 * j, state->fault);
            }
        }
    }
}

bool rung_flock_scattered(rung_flock *state, const rung_herd *now, rung_herd *next)
{
    if (!sort(state, now)) {
        return false;
    }
    for (int64_t i = 0; i < now->n; i++) {
        sums s = {.n = {0}};
        add_neighbours(state, now, now->r, now->v, false, i, &s);
        move(&s, now, next, now->r + 3 * i, now->v + 3 * i, i);
    }
    return true;
}

bool rung_flock_coherent(rung_flock *state, const rung_herd *now, rung_herd *next)
{
    if (!sort(state, now)) {
        return false;
    }
    for (int64_t k = 0; k < now->n; k++) {
        memcpy(state->r + 3 * k, now->r + 3 * (int64_t)state->order[k], 3 * sizeof *state->r);
        memcpy(state->v + 3 * k, now->v + 3 * (int64_t)state->order[k], 3 * sizeof *state->v);
    }
    for (int64_t k = 0; k < now->n; k++) {
        sums s = {.n = {0}};
        add_neighbours(state, now, state->r, state->v, true, k, &s);
        move(&s, now, next, state->r + 3 * k, state->v + 3 * k, state->order[k]);
    }
    return true;
}

bool rung_flock_mainline(rung_flock *state, const rung_herd *now, rung_herd *next)
{
    if (!state->flock) {
        const kith_points r = kith_points_packed(now->r, now->n, KITH_FLOAT);
        const kith_points v = kith_points_packed(now->v, now->n, KITH_FLOAT);
        const kith_box box = kith_box_periodic(now->side, now->side, now->side);
        if (kith_flock_open(state->ctx, &r, &v, &box, NULL, &state->flock) != KITH_OK) {
            return false;
        }
    }
    return kith_flock_step(state->flock, 1) == KITH_OK &&
           kith_flock_read(state->flock, next->r, next->v) == KITH_OK;
}

void rung_flock_free(rung_flock *state)
{
    kith_flock_close(state->flock);
    free(state->start);
    free(state->order);
    free(state->cell);
    free(state->r);
    free(state->v);
    *state = (rung_flock){.ctx = state->ctx};
}
