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

/** A picture in progress: light that is added by scenes, and its conversion to pixels. */
typedef struct render render;

/** Particles to draw, their colours, and the camera. */
typedef struct render_scene {
    int64_t n;          /**< number of particles */
    const float *pos;   /**< [n][3] positions; those that are not finite are skipped */
    const float *value; /**< [n] places on the palette, 0 to 1; NULL: colours show density */
    palette palette;    /**< palette of the values */
    float afterglow;    /**< fraction of the light gathered before that is kept, 0 to below 1 */
    camera camera;      /**< view of the particles */
} render_scene;

/** Open a black picture.
 *  @param width, height  its size [pixels]
 *  @param pool  threads to draw with, borrowed until render_close. Once it is stopped
 *               (kith__pool_stopped), calls return early, and the picture's content is undefined
 *  @return NULL without memory. */
render *render_open(int width, int height, struct kith__pool *pool);
void render_close(render *r);

/** Add the light of a scene. @return false without memory. */
bool render_gather(render *r, const render_scene *scene);

/** The sums of light: [height][width][4], red, green, blue and the weight of spots; a spot at the
 *  centre of the camera has weight 1. Row 0 is at the top. */
const float *render_gathered(const render *r);

/** Convert the light to [height][width] of 0xffRRGGBB, valid until the next call. The brightness
 *  scale follows the brightest pixels with a delay of some ten calls, so that a film does not
 *  flicker. */
uint32_t *render_develop(render *r);

#endif
