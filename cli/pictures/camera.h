/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A camera: from points in space to pixels of a picture.
 */
#ifndef KITH_CLI_CAMERA_H
#define KITH_CLI_CAMERA_H

#include <kith.h>

/** A projection; camera_see applies it. */
typedef struct camera {
    float row[3][3]; /**< unit vectors to the right, up, and away from the eye */
    float centre[3]; /**< point that is in the middle of the picture */
    float x, y;      /**< pixel onto which the centre is projected; y grows downwards */
    float scale;     /**< pixels per unit of length at the centre */
    float near;      /**< 1 / distance of the eye from the centre; 0: parallel projection */
} camera;

/** Return a camera that sees the whole of a box: in 2-D from above by a parallel projection, in 3-D
 *  in perspective from the side and 20 degrees above it.
 *  @param box   its rows 0 to dim - 1 are not 0
 *  @param turn  angle of the box about z [degrees]; the scale does not depend on it. Unused in 2-D
 *  @param width, height  size of the picture [pixels] */
camera camera_look(const kith_box *box, double turn, int width, int height);

/** Compute a corner of a box: its origin plus some of its rows.
 *  @param which  bit k is set: row k is added
 *  @param[out] r  position of the corner */
void camera_corner(const kith_box *box, int which, float r[3]);

/** Project r. @param[out] seen  x, y [pixels], and magnification relative to the centre; 0: r is
 *  behind the eye, or nearer to it than 1/20 of the centre's distance */
static inline void camera_see(const camera *c, const float r[3], float seen[3])
{
    const float d[3] = {r[0] - c->centre[0], r[1] - c->centre[1], r[2] - c->centre[2]};
    float at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = c->row[k][0] * d[0] + c->row[k][1] * d[1] + c->row[k][2] * d[2];
    }
    const float away = 1 + at[2] * c->near;
    const float larger = away > 0.05F ? 1 / away : 0;
    seen[0] = c->x + c->scale * larger * at[0];
    seen[1] = c->y - c->scale * larger * at[1];
    seen[2] = larger;
}

#endif
