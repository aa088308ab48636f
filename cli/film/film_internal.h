/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structs and functions that the files of cli/film/ share: the copy of a frame that is drawn, its
 * space, and its obstacles.
 */
#ifndef KITH_CLI_FILM_INTERNAL_H
#define KITH_CLI_FILM_INTERNAL_H

#include "pictures/camera.h"
#include "film.h"

#include <pool.h>

/** The space that a film shows. Its origin is the middle of the box. */
typedef struct stage {
    kith_box box;         /**< the box, with its middle at 0 */
    double middle[3];     /**< middle of the box in coordinates of the particles */
    double inverse[3][3]; /**< inverse[k] . r is coordinate k of r in units of row k */
    bool wraps; /**< the box has a volume: positions are wrapped along its periodic axes */
} stage;

/** A copy of a film_frame in coordinates of the stage, to be drawn. */
typedef struct picture {
    int64_t n;                                 /**< number of particles */
    float *pos;                                /**< [n][3] positions from the middle of the stage */
    float *value;                              /**< [n] colours from 0 to 1 */
    bool valued;                               /**< `value` is used; else colours show density */
    stage stage;                               /**< the space */
    int64_t number;                            /**< number of the frame in the name of its PNG */
    int64_t step;                              /**< step of the run */
    char caption[128];                         /**< text on the frame; "": none */
    kith_flock_thing things[KITH_MOST_THINGS]; /**< [n_things], from the middle of the stage */
    int64_t n_things;                          /**< number of obstacles and attractors */
} picture;

/** A spherical obstacle of a frame, or a periodic image of one. */
typedef struct film_sphere {
    float centre[3]; /**< position relative to the middle of the stage */
    float radius;    /**< [length] */
} film_sphere;

enum {
    FILM_SPHERES = 8 * KITH_MOST_THINGS, /* room for spheres and images; more are not drawn */
    FILM_CORNERS = 6                     /* most corners of a plane's section with a box */
};

/** List the spheres of a frame: those of its things, and their images that reach into the box.
 *  @return their number */
int things_spheres(const picture *shown, film_sphere out[FILM_SPHERES]);

/** Find the part of a wall within the box: a polygon, in 2-D a line.
 *  @param[out] corner  corners in order   @return their number; 0: the wall misses the box */
int things_wall(const stage *s, const kith_flock_thing *wall, float corner[FILM_CORNERS][3]);

/** Set the positions of particles that spheres hide from the camera to NaN. */
void things_hide(picture *shown, const camera *c, struct kith__pool *pool);

/** Return the stage of a box, or, if the box has no volume, of a box around the particles. */
stage stage_of(const kith_box *box, const io_particles *particles);

/** Copy positions relative to the middle of the stage, wrapped along periodic axes.
 *  @param[out] out  [n][3] */
void stage_place(const stage *s, const io_particles *particles, struct kith__pool *pool,
                 float *out);

/** Draw over a frame: the edges of the box, the things, the caption, and in 2-D a scale bar.
 *  Without cairo it does nothing (pictures/no_cairo.c).
 *  @param pixels  [height][width] of 0xffRRGGBB */
void overlay_draw(uint32_t *pixels, int width, int height, const picture *shown, const camera *c);

#endif
