/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pictures of particles, drawn without a screen. Each particle adds a soft spot of light to its
 * pixels, and the sums are shown on an asinh scale. Any number of threads gives identical bits.
 */
#ifndef KITH_CLI_RENDER_H
#define KITH_CLI_RENDER_H

#include "camera.h"
#include "palette.h"

#include <pool.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct render render;

/** What is drawn. */
typedef struct render_scene {
    int64_t n;          /**< number of particles */
    const float *pos;   /**< [n][3] positions; those that are not finite are skipped */
    const float *value; /**< [n] places on the palette, 0 to 1; NULL: colours show density */
    palette palette;    /**< of the values */
    float afterglow;    /**< fraction of the light of the last scene that is kept, 0 to below 1 */
    camera camera;      /**< view of the particles */
} render_scene;

/** @param pool  threads to draw with, borrowed until render_close. Once it is stopped
 *               (kith__pool_stopped), calls return early, and what is drawn is undefined
 *  @return NULL without memory. */
render *render_open(int width, int height, struct kith__pool *pool);
void render_close(render *r);

/** Add the light of a scene. @return false without memory. */
bool render_gather(render *r, const render_scene *scene);

/** The sums of light: [height][width][4], red, green, blue and the weight of spots; a spot at the
 *  centre of the camera has weight 1. Row 0 is at the top. */
const float *render_gathered(const render *r);

/** Convert the light to [height][width] of 0xffRRGGBB, valid until the next call. The brightness
 *  scale follows the brightest pixels, slowly from frame to frame. */
uint32_t *render_develop(render *r);

#endif
