/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A camera: from points in space to pixels of a picture.
 */
#ifndef KITH_CLI_CAMERA_H
#define KITH_CLI_CAMERA_H

#include <kith.h>

typedef struct camera {
    float row[3][3]; /**< unit vectors to the right, up, and away from the eye */
    float centre[3]; /**< point that is in the middle of the picture */
    float x, y;      /**< middle of the picture [pixels]; y grows downwards */
    float scale;     /**< pixels per unit of length at the centre */
    float near;      /**< 1 / distance of the eye from the centre; 0: parallel projection */
} camera;

/** Look at the whole of a box: in 2-D from above, in 3-D from the side and a little from above.
 *  @param box   a shape of three (in 2-D two) sides that are not 0
 *  @param turn  of the box about z [degrees]; it fits at any angle. 3-D alone */
camera camera_look(const kith_box *box, double turn, int width, int height);

/** A corner of a box. @param which  bit k: at the end of side k */
void camera_corner(const kith_box *box, int which, float r[3]);

/** Project r. @param[out] seen  x, y [pixels], and magnification relative to the centre; 0: r is
 *  behind the eye */
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
