/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What gathering and developing light share.
 */
#ifndef KITH_CLI_RENDER_INTERNAL_H
#define KITH_CLI_RENDER_INTERNAL_H

#include "render.h"

enum { CHANNELS = 4, WEIGHT = 3, GLOW_BLOCK = 4, TONES = 4096 };

/** A particle as it is seen. */
typedef struct spot {
    float x, y;   /* pixels */
    float size;   /* of the spot: a third of its width [pixels] */
    float weight; /* its light in all */
    float value;
} spot;

struct render {
    int width, height;
    struct kith__pool *pool;
    void *memory; /* [memory_bytes] a mapping that holds the five arrays below */
    size_t memory_bytes;
    float *light; /* [height][width][CHANNELS]: gathered */
    float *shown; /* [height][width][3]: developed */
    uint32_t *pixels;
    float *glow, *spare; /* [blocks down][across][3]: light of squares of GLOW_BLOCK pixels */
    bool coloured;       /* the last scene had values */
    double white;        /* the weight that is shown as white; 0 before the first frame */
    spot *spots;         /* [room], those of a band of rows together */
    int64_t room;
    float rising[TONES][3];     /* light of tones from dark to bright */
    unsigned char bytes[TONES]; /* of light */
};

/** Do a loop over rows or pieces: fn(state, index, worker). */
static inline void render__loop(render *r, int64_t n, kith__piece_fn *fn, void *state)
{
    kith__pool_run(r->pool, kith__pool_threads(r->pool), n, fn, state);
}

/** Fill the tables of tones. */
void render__tones(render *r);

#endif
