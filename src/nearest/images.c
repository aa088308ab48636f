/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The planes between which the images of a box lie.
 */
#include "images.h"

#include <string.h>

#include "engine/cells.h"

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

/** Return a bound on |S[k]| of the pairs within the cutoff: their fractional coordinates differ by
 *  cutoff / height at most, but for rounding errors (kith__cell_side), and those of wrapped
 *  particles are in [0, 1), or a box outside. Where an open axis is not perpendicular to the
 *  periodic ones, this bounds images that the planes do not. */
static int32_t most_images(const struct kith__question *q, int k)
{
    const double most = KITH_MAX_IMAGES + 1;
    if (!q->cutoff_name) {
        return (int32_t)most;
    }
    const double error = kith__epsilon(q) * q->period_sum * (16 + 8 * kith__most_images(q));
    const double reach = q->cutoff * (1 + KITH_CELL_MARGIN) + error;
    return (int32_t)fmin(ceil(reach / q->height[k]) + 3, most);
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
            planes->most[k] = most_images(question, k);
            planes->least_sine = fmin(planes->least_sine,
                                      planes->period[k] / sqrt(dot(box->row[k], box->row[k])));
        }
    }
}
