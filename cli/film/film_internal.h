/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of films share.
 */
#ifndef KITH_CLI_FILM_INTERNAL_H
#define KITH_CLI_FILM_INTERNAL_H

#include "pictures/camera.h"
#include "film.h"

#include <pool.h>

/** The space that a film shows; positions are given from its middle. */
typedef struct stage {
    kith_box box;         /**< its middle is at 0 */
    double middle[3];     /**< of space as the particles have it */
    double inverse[3][3]; /**< of the rows, column by column, for those that wrap */
    bool wraps;
} stage;

/** A frame of ours. */
typedef struct picture {
    int64_t n;
    float *pos;   /**< [n][3] from the middle of the stage */
    float *value; /**< [n] */
    bool valued;
    stage stage;
    int64_t number;
    char caption[128];
} picture;

/** The stage of a box; of all particles where it has none. */
stage stage_of(const kith_box *box, const io_particles *particles);

/** Copy positions: wrapped, from the middle of the stage. @param out  [n][3] */
void stage_place(const stage *s, const io_particles *particles, struct kith__pool *pool,
                 float *out);

/** Write on a frame: the edges of the box, the caption, in 2-D a bar of a round length. */
void overlay_draw(uint32_t *pixels, int width, int height, const picture *shown, const camera *c);

#endif
