/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Debye's sums (debye/debye.h): sin(q r) / r of LANES pairs at a time on every instruction set, so
 * that sums are added in one order. Compiled once for each instruction set.
 */
#include "debye_cpu.h"

#include <math.h>
#include <string.h>

/* LANES: pairs at a time. START: cost of start_block, in steps of the recurrence. */
enum { LANES = 8, START = 16 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/** State of the recurrence in q for LANES pairs. */
struct pair_block {
    lanes before, now; /**< sin(q r) / r at the value of q before, and at the current one
                            [1 / length] */
    lanes twice;       /**< 2 cos(q_width r) */
};

/** Return the state of the recurrence at a value of q for the pairs of particle i with particles
 *  [j, j + LANES); pairs with particles outside [begin, end) are 0, and add 0.
 *  @param i, j  positions in the order by species; coordinates up to j + LANES - 1 are readable */
static struct pair_block start_block(const struct kith__debye *d, double q, int64_t i, int64_t j,
                                     int64_t begin, int64_t end)
{
    struct pair_block block;
    for (int l = 0; l < LANES; l++) {
        const double x = d->xyz[0][j + l] - d->xyz[0][i];
        const double y = d->xyz[1][j + l] - d->xyz[1][i];
        const double z = d->xyz[2][j + l] - d->xyz[2][i];
        const double r = fmax(sqrt(x * x + y * y + z * z), d->least);
        const double part = j + l >= begin && j + l < end ? 1 / r : 0;
        block.now[l] = part * sin(q * r);
        block.before[l] = part * sin((q - d->q_width) * r);
        block.twice[l] = 2 * cos(d->q_width * r);
    }
    return block;
}

void KITH_OF_ISA(sum_sines)(struct kith__sweep *sweep, int64_t task)
{
    const struct kith__debye *d = sweep->job;
    const int64_t piece = task % d->pieces, run = task / d->pieces;
    const struct kith__piece *p = &d->piece[piece];
    const int64_t first = run * KITH_DEBYE_RUN;
    const int n_q = d->n_q - first < KITH_DEBYE_RUN ? (int)(d->n_q - first) : KITH_DEBYE_RUN;
    const double q = d->q_min + (double)first * d->q_width;
    for (int32_t b = p->species; b < d->n_species; b++) {
        lanes sums[KITH_DEBYE_RUN];
        memset(sums, 0, sizeof sums);
        int64_t pairs = 0;
        for (int64_t i = p->begin; i < p->end && !sweep->failed; i++) {
            const int64_t begin = b == p->species ? i + 1 : d->first[b];
            const int64_t end = d->first[b + 1];
            pairs += end - begin;
            /* blocks begin at multiples of LANES, so that particle j is in lane j % LANES for every
             * i; the lanes before `begin` add 0 */
            for (int64_t j = begin / LANES * LANES;
                 j < end && kith__sweep_goes_on(sweep, LANES * (n_q + START)); j += LANES) {
                struct pair_block block = start_block(d, q, i, j, begin, end);
                for (int k = 0; k < n_q; k++) {
                    sums[k] += block.now;
                    const lanes next = block.twice * block.now - block.before;
                    block.before = block.now;
                    block.now = next;
                }
            }
        }
        double *to = d->sums + (piece * d->n_species + b) * d->n_q + first;
        for (int k = 0; k < n_q; k++) {
            for (int l = 0; l < LANES; l++) {
                to[k] += sums[k][l];
            }
        }
        if (q == 0) { /* every pair contributes 1 */
            to[0] = (double)pairs;
        }
    }
}
