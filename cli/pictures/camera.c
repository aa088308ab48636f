/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A camera that stands still before a box that turns about its upright axis, z. The scale is the
 * one at which the box fits into the picture at any angle, so that it does not change in a film.
 */
#include "camera.h"

#include <math.h>

static const double FILLED = 0.92;  /* part of the picture's width or height that the box spans */
static const double DISTANCE = 1.8; /* of the eye from the middle, in diagonals of the box */

/** Set the camera's unit vectors.
 *  @param turn    angle of the box about z [radians]
 *  @param raised  angle of the eye above the x-y plane [radians] */
static void aim(camera *c, double turn, double raised)
{
    const double co = cos(turn), si = sin(turn), up = sin(raised), level = cos(raised);
    const double row[3][3] = {
        {co, -si, 0}, {up * si, up * co, level}, {level * si, level * co, -up}};
    for (int k = 0; k < 3; k++) {
        for (int a = 0; a < 3; a++) {
            c->row[k][a] = (float)row[k][a];
        }
    }
}

void camera_corner(const kith_box *box, int which, float r[3])
{
    for (int a = 0; a < 3; a++) {
        double x = box->origin[a];
        for (int k = 0; k < box->dim; k++) {
            x += which >> k & 1 ? box->row[k][a] : 0;
        }
        r[a] = (float)x;
    }
}

/** Widen bounds so that they contain the projected corners of a box.
 *  @param bounds  least and greatest x, least and greatest y [pixels] */
static void widen(const camera *c, const kith_box *box, double bounds[2][2])
{
    for (int which = 0; which < 1 << box->dim; which++) {
        float r[3], seen[3];
        camera_corner(box, which, r);
        camera_see(c, r, seen);
        for (int k = 0; k < 2; k++) {
            bounds[k][0] = fmin(bounds[k][0], (double)seen[k]);
            bounds[k][1] = fmax(bounds[k][1], (double)seen[k]);
        }
    }
}

camera camera_look(const kith_box *box, double turn, int width, int height)
{
    const int angles = box->dim == 3 ? 48 : 1; /* of a full turn, at which the box must fit */
    const double raised = box->dim == 3 ? M_PI / 9 : M_PI / 2;
    camera c = {.scale = 1}; /* and x = y = 0: bounds are relative to the middle of the picture */
    float low[3], high[3];
    camera_corner(box, 0, low);
    camera_corner(box, (1 << box->dim) - 1, high);
    double square = 0, bounds[2][2] = {{0}};
    for (int a = 0; a < 3; a++) {
        c.centre[a] = (low[a] + high[a]) / 2;
        square += pow((double)high[a] - (double)low[a], 2);
    }
    c.near = box->dim == 3 ? (float)(1 / (DISTANCE * sqrt(square))) : 0;
    for (int k = 0; k < angles; k++) {
        aim(&c, 2 * M_PI * k / angles, raised);
        widen(&c, box, bounds);
    }
    aim(&c, box->dim == 3 ? turn * M_PI / 180 : 0, raised);
    c.scale = (float)(FILLED * fmin(width / (bounds[0][1] - bounds[0][0]),
                                    height / (bounds[1][1] - bounds[1][0])));
    c.x = (float)(width - (double)c.scale * (bounds[0][0] + bounds[0][1])) / 2;
    c.y = (float)(height - (double)c.scale * (bounds[1][0] + bounds[1][1])) / 2;
    return c;
}
