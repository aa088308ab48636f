/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The geometry of a box of any shape.
 */
#ifndef KITH_CLI_BOX_H
#define KITH_CLI_BOX_H

#include <kith.h>

/** Vectors normal to the rows of a box, each to the two others: row k times normal k is the volume.
 *  In 2-D the third row is of length 1 along z. */
void box_normals(const kith_box *box, double normal[3][3]);

/** Volume of a box [length^3]; in 2-D its area [length^2]. */
double box_volume(const kith_box *box);

/** Half the smallest height of a box over its faces [length]. */
double box_half_height(const kith_box *box);

#endif
