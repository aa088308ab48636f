/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The projected density of particles, smooth everywhere: where particles are few the map is coarse,
 * where they are many it is fine.
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
