/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The struct that gathering light (render.c) and developing it (render_develop.c) share. Light is
 * linear, so that spots add up; sRGB values are made last.
 */
#ifndef KITH_CLI_RENDER_INTERNAL_H
#define KITH_CLI_RENDER_INTERNAL_H

#include "render.h"

enum {
    CHANNELS = 4,   /* floats of a pixel's gathered light: red, green, blue, weight */
    WEIGHT = 3,     /* index of the weight, the sum of the weights of spots */
    GLOW_BLOCK = 4, /* width of a block, a square of pixels whose mean light is blurred [pixels] */
    TONES = 4096    /* entries of the tables of brightness */
};

/** A particle as it is seen. */
typedef struct spot {
    float x, y;   /**< middle [pixels] */
    float size;   /**< a third of the spot's width [pixels] */
    float weight; /**< its light, added over all pixels; 1 at the centre of the camera */
    float value;  /**< place on the palette, 0 to 1 */
} spot;

struct render {
    int width, height;       /**< size of the picture [pixels] */
    struct kith__pool *pool; /**< borrowed threads */
    void *memory;            /**< [memory_bytes] a mapping that holds the next five arrays */
    size_t memory_bytes;     /**< size of the mapping */
    float *light;            /**< [height][width][CHANNELS] gathered light */
    float *shown;            /**< [height][width][3] developed light */
    uint32_t *pixels;        /**< [height][width] the picture, 0xffRRGGBB */
    /** [blocks down][blocks across][3] each: mean light of blocks, then blurred along both axes;
     *  and the light that is blurred along x alone, between the two steps. */
    float *glow, *spare;
    bool coloured;              /**< the last scene had values: spots have colours of their own */
    double white;               /**< weight that is shown as white; 0 before the first frame */
    spot *spots;                /**< [room] spots of a scene, sorted by band of rows */
    int64_t room;               /**< capacity of spots */
    float rising[TONES][3];     /**< light of PALETTE_RISING without that of its dark end */
    unsigned char bytes[TONES]; /**< sRGB value of linear light k / (TONES - 1) */
};

/** Run a parallel loop over n rows or pieces: fn(state, index, worker). */
static inline void render__loop(render *r, int64_t n, kith__piece_fn *fn, void *state)
{
    kith__pool_run(r->pool, kith__pool_threads(r->pool), n, fn, state);
}

/** Fill the tables `rising` and `bytes`. */
void render__tones(render *r);

#endif
