/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproducible random numbers: SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), a counter passed
 * through a mixing function. It uses integer arithmetic and one word of state, gives equal bits on
 * every machine, and passes BigCrush.
 */
#ifndef KITH_SETS_RANDOM_H
#define KITH_SETS_RANDOM_H

#include <stdint.h>

/** State of a generator. */
typedef struct random_state {
    uint64_t counter; /**< the counter, before the next increment */
} random_state;

/** Mix the bits of a counter: a bijection of 64-bit integers. */
static inline uint64_t random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** Return 64 random bits. */
static inline uint64_t random_bits(random_state *state)
{
    state->counter += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(state->counter);
}

/** Start a stream. The seed is mixed, so that the streams of seeds 1, 2, 3 do not overlap. */
static inline random_state random_start(uint64_t seed)
{
    return (random_state){random_mix(seed + UINT64_C(0x9e3779b97f4a7c15))};
}

/** Return a number that is uniform in [0, 1), a multiple of 2^-53. */
static inline double random_unit(random_state *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/** Draw a vector that is uniform in the ball r^2 < limit, by rejection from the cube.
 *  @param limit  at most 1
 *  @return r^2 of the vector */
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
