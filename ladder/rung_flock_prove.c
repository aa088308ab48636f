/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random boids from a fixed seed, and the check of a rung of the ladder of flocks: it must
 * reproduce the steps of rung_flock_naive, and must not reproduce them with a fault.
 */
#include "rung_flock.h"

#include <math.h>
#include <sets.h>
#include <stdio.h>
#include <stdlib.h>

static const double rounding = 5e-5; /* tolerance for sums of floats after RUNG_STEPS steps */
static const double wrong = 5e-4;    /* at least, by a fault */
static const int64_t boids = 1200;
/* 23 and 182 neighbours; 6 and 3 cells along an axis, a little wider than the radius, so that a
 * table soon is stale. */
static const double sides[RUNG_HERDS] = {30.2, 15.1};

static const char *const faults[RUNG_FAULTS] = {
    [RUNG_SQUARE] = "distance compared with the square of the radius",
    [RUNG_STALE] = "table of cells left stale",
    [RUNG_LAST] = "last particle of a cell skipped"};

bool rung_herd_make(rung_herd *h, int64_t n, double side)
{
    const size_t room = (size_t)n * 3 + 1;
    double *const xyz = malloc(room * sizeof *xyz);
    *h = (rung_herd){.n = n, .side = (double)(float)side};
    h->r = malloc(room * sizeof *h->r);
    h->v = malloc(room * sizeof *h->v);
    if (!xyz || !h->r || !h->v) {
        free(xyz);
        return false;
    }
    for (int turn = 0; turn < 2; turn++) {
        sets_uniform(xyz, n, (uint64_t)turn + 1);
        for (int64_t e = 0; e < 3 * n; e++) {
            (turn ? h->v : h->r)[e] = (float)(turn ? 2 * xyz[e] - 1 : xyz[e] * side * 0.9999999);
        }
    }
    free(xyz);
    return true;
}

void rung_herd_free(rung_herd *h)
{
    free(h->r);
    free(h->v);
}

bool rung_truth_make(rung_truth *truth)
{
    bool ok = true;
    rung_flock naive = {.fault = RUNG_SOUND};
    *truth = (rung_truth){.at = {{{.n = 0}}}};
    for (int h = 0; ok && h < RUNG_HERDS; h++) {
        rung_herd *const at = truth->at[h];
        for (int s = 0; ok && s <= RUNG_STEPS; s++) {
            ok = rung_herd_make(&at[s], boids, sides[h]) &&
                 (s == 0 || rung_flock_naive(&naive, &at[s - 1], &at[s]));
        }
    }
    if (!ok) {
        fprintf(stderr, "ladder_flock: no memory\n");
    }
    return ok;
}

void rung_truth_free(rung_truth *truth)
{
    for (int h = 0; h < RUNG_HERDS; h++) {
        for (int s = 0; s <= RUNG_STEPS; s++) {
            rung_herd_free(&truth->at[h][s]);
        }
    }
}

/* Compute the largest difference of a velocity over all steps. */
static bool compare(const rung_herd at[RUNG_STEPS + 1], rung_step step, rung_flock *state,
                    double *worst)
{
    rung_herd got = {0};
    bool ok = rung_herd_make(&got, boids, at[0].side);
    for (int s = 0; ok && s < RUNG_STEPS; s++) {
        ok = step(state, &at[s], &got);
        for (int64_t e = 0; ok && e < 3 * boids; e++) {
            *worst = fmax(*worst, fabs((double)got.v[e] - (double)at[s + 1].v[e]));
        }
    }
    rung_flock_free(state);
    rung_herd_free(&got);
    return ok;
}

bool rung_flock_prove(const rung_truth *truth, const char *name, rung_step step, rung_flock *state)
{
    const rung_flock fresh = *state;
    double worst = 0;
    for (int h = 0; h < RUNG_HERDS; h++) {
        *state = fresh;
        if (!compare(truth->at[h], step, state, &worst)) {
            fprintf(stderr, "ladder_flock: rung \"%s\": no memory, or the library failed\n", name);
            return false;
        }
    }
    if (fresh.fault != RUNG_SOUND && worst < wrong) {
        fprintf(stderr, "ladder_flock: rung \"%s\": a fault was not found: %s\n", name,
                faults[fresh.fault]);
        return false;
    }
    if (fresh.fault == RUNG_SOUND && !(worst <= rounding)) {
        fprintf(stderr, "ladder_flock: rung \"%s\" is wrong: a velocity is off by %g\n", name,
                worst);
        return false;
    }
    return true;
}
