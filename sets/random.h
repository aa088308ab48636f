/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random numbers that are the same everywhere: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), a
 * counter put through a mixing function. Integer arithmetic, one state word, passes BigCrush.
 */
#ifndef KITH_SETS_RANDOM_H
#define KITH_SETS_RANDOM_H

#include <stdint.h>

typedef struct random_state {
    uint64_t counter;
} random_state;

static inline uint64_t random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t random_bits(random_state *state)
{
    state->counter += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(state->counter);
}

/** Start a stream. The seed is mixed, so that seeds 1, 2, 3 do not start streams that overlap. */
static inline random_state random_start(uint64_t seed)
{
    return (random_state){random_mix(seed + UINT64_C(0x9e3779b97f4a7c15))};
}

/** Uniform in [0, 1): a multiple of 2^-53. */
static inline double random_unit(random_state *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/** Uniform in the ball r2 < limit, limit <= 1, by rejection from the cube. @return r2. */
static inline double random_in_ball(random_state *state, double limit, double v[3])
{
    for (;;) {
        for (int k = 0; k < 3; k++) {
            v[k] = 2 * random_unit(state) - 1;
        }
        const double r2 = (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
        if (r2 < limit) {
            return r2;
        }
    }
}

#endif
