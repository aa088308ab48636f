/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Projected density of particles, with a resolution that follows the density: coarse where
 * particles are few, fine where they are many.
 */
#ifndef KITH_CLI_DENSITY_MAP_H
#define KITH_CLI_DENSITY_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { MAP_SIDE = 1024 }; /* cells of a map along u, and along v */

/** Make a density map of points in the unit square. Points outside it are ignored.
 *  @param uv       [n][2] coordinates u, v of the points
 *  @param weights  [n] weights of the points; NULL: 1 each
 *  @param wraps    the square is periodic along u and v
 *  @return [MAP_SIDE][MAP_SIDE], v first: the sum of the weights of the points in each cell; to be
 *  freed; NULL without memory */
float *density_map(const float *uv, const float *weights, int64_t n, bool wraps);

#endif
