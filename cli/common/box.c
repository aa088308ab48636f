/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Volume, heights and wrapping of a box, from the vector products of its rows.
 */
#include "box.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double box_normals(const kith_box *box, double normal[3][3])
{
    double r[3][3];
    memcpy(r, box->row, sizeof r);
    if (box->dim == 2) {
        r[0][2] = r[1][2] = r[2][0] = r[2][1] = 0;
        r[2][2] = 1;
    }
    for (int k = 0; k < 3; k++) {
        const double *u = r[(k + 1) % 3], *v = r[(k + 2) % 3];
        for (int a = 0; a < 3; a++) {
            normal[k][a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3];
        }
    }
    return dot(normal[0], box->row[0]);
}

double box_half_height(const kith_box *box)
{
    double n[3][3], least = INFINITY;
    box_normals(box, n);
    for (int k = 0; k < box->dim; k++) {
        least = fmin(least, fabs(dot(n[k], box->row[k])) / sqrt(dot(n[k], n[k])));
    }
    return least / 2;
}

void box_wrap(const kith_box *box, double r[3])
{
    double n[3][3];
    const double volume = box_normals(box, n);
    if (volume == 0 || !isfinite(volume)) {
        return;
    }
    for (int k = 0; k < box->dim; k++) {
        const double from[3] = {r[0] - box->origin[0], r[1] - box->origin[1],
                                r[2] - box->origin[2]};
        const double boxes = box->periodic[k] ? floor(dot(n[k], from) / volume) : 0;
        for (int a = 0; a < box->dim; a++) {
            r[a] -= boxes * box->row[k][a];
        }
    }
    if (box->dim == 2) {
        r[2] = box->origin[2];
    }
}

/* Squares of any double are in the range of a long double of more than 64 bits. hypot() would do
 * too, but programs that call it need glibc 2.35. */
double box_vector_length(const double v[3])
{
    const long double x = v[0], y = v[1], z = v[2];
    return (double)sqrtl(x * x + y * y + z * z);
}

double box_volume(const kith_box *box)
{
    double n[3][3];
    return fabs(box_normals(box, n));
}
