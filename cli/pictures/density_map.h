/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Projected density of particles, with a resolution that follows the density: coarse where
 * particles are few, fine where they are many.
 */
#ifndef KITH_CLI_DENSITY_MAP_H
#define KITH_CLI_DENSITY_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { MAP_SIDE = 1024 };

/** Make a map of weights [n] (NULL: 1 each) at places uv [n][2] in the unit square; others are left
 *  out. @param wraps  the square's opposite sides are one. @return [MAP_SIDE][MAP_SIDE], v first,
 *  the sum of all weights in it; to be freed; NULL without memory. */
float *density_map(const float *uv, const float *weights, int64_t n, bool wraps);

#endif
