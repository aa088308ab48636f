/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The geometry of a box of any shape.
 */
#ifndef KITH_CLI_BOX_H
#define KITH_CLI_BOX_H

#include <kith.h>

/** Compute the face normals of a box: normal[k] is perpendicular to the two rows other than k, and
 *  its scalar product with row k is the volume. Its length is the area of the face [length^2]. In
 *  2-D, the third row is taken to have length 1 along z.
 *  @return the volume [length^3], negative in a left-handed box */
double box_normals(const kith_box *box, double normal[3][3]);

/** Return the length of a vector. */
double box_vector_length(const double v[3]);

/** Return the volume of a box, left-handed or not, which is not negative [length^3]; in 2-D its
 *  area [length^2]. */
double box_volume(const kith_box *box);

/** Bring a position into the box along its periodic axes; in 2-D its z is that of the origin. A box
 *  without volume is open: nothing is done. */
void box_wrap(const kith_box *box, double r[3]);

/** Return half the smallest distance of two opposite faces of a box [length]. */
double box_half_height(const kith_box *box);

#endif
