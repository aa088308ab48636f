/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The planes between which the images of a box lie.
 */
#include "images.h"

#include <string.h>

static double dot(const double u[3], const double v[3])
{
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
}

/** Scale v to length 1. */
static void normalise(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int m = 0; m < 3; m++) {
        v[m] /= length;
    }
}

/** Compute the unit vector perpendicular to all periodic rows but row k, on the side of row k. */
static void find_normal(const struct kith__lattice_d *box, int k, double normal[3])
{
    double v[3]; /* unit vector along the only other periodic row */
    const int one = (k + 1) % 3, other = (k + 2) % 3;
    memcpy(normal, box->row[k], 3 * sizeof *normal);
    if (box->periodic[one] && box->periodic[other]) {
        memcpy(normal, box->inverse[k], 3 * sizeof *normal);
    } else if (box->periodic[one] || box->periodic[other]) {
        memcpy(v, box->row[box->periodic[one] ? one : other], sizeof v);
        normalise(v);
        normalise(normal);
        for (int times = 0; times < 2; times++) { /* the second time removes rounding errors */
            const double along = dot(normal, v);
            for (int m = 0; m < 3; m++) {
                normal[m] -= along * v[m];
            }
        }
    }
    normalise(normal);
}

void kith__find_image_planes(const struct kith__question *question,
                             struct kith__image_planes *planes)
{
    const struct kith__lattice_d *box = &question->box_d;
    *planes = (struct kith__image_planes){.least_sine = 1};
    for (int k = 0; k < 3; k++) {
        planes->periodic[k] = box->periodic[k];
        if (box->periodic[k]) {
            find_normal(box, k, planes->normal[k]);
            planes->period[k] = dot(planes->normal[k], box->row[k]);
            planes->least_sine = fmin(planes->least_sine,
                                      planes->period[k] / sqrt(dot(box->row[k], box->row[k])));
        }
    }
}
