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

/** A map of points in the unit square that is being made. Points outside it are ignored. Each
 *  point is counted, block by block; then each is added, in these blocks. */
typedef struct density_map density_map;

/** Begin a map. @param wraps  the square is periodic along u and v
 *  @return NULL without memory; density_map_end frees it */
density_map *density_map_begin(bool wraps);

/** Count the points of a block. @param uv  [n][2] coordinates u, v of the points */
void density_map_count(density_map *map, const float *uv, int64_t n);

/** Add the points of a block, when those of all blocks have been counted.
 *  @param uv       [n][2] coordinates u, v of the points
 *  @param weights  [n] weights of the points; NULL: 1 each */
void density_map_add(density_map *map, const float *uv, const float *weights, int64_t n);

/** Finish a map, and free what is not returned.
 *  @return [MAP_SIDE][MAP_SIDE], v first: the sum of the weights of the points in each cell; to be
 *  freed */
float *density_map_end(density_map *map);

#endif
